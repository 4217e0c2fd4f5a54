"""A lab in a process of its own, and a browser that looks at it."""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
DRIVER = shutil.which("chromedriver")
PATIENCE = 240  # seconds; a busy machine is slow, not broken
AXE = Path(__file__).parents[2] / "build" / "browser" / "node_modules" / "axe-core" / "axe.min.js"
_STARTS = 3  # a browser that does not come up on a busy machine is started again
_FLAGS = (
    "--headless --no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking "
    "--disable-component-update --disable-sync --disable-dev-shm-usage"
)


class BrowserMissing(Exception):
    """There is a browser, but it does not start."""


class LabProcess:
    """``thresher lab`` of a folder, with a token that stays when it is started again on its port."""

    def __init__(self, folder: Path, token_file: Path, errors: int | None = None) -> None:
        self.folder, self._token_file, self._errors, self.port = folder, token_file, errors, 0
        self.start()

    def start(self) -> None:
        command = [sys.executable, "-m", "thresher", "lab", str(self.folder), "--no-open", "--port", str(self.port)]
        self._process = subprocess.Popen(
            [*command, "--token-file", str(self._token_file)], stdout=subprocess.PIPE, stderr=self._errors, text=True
        )
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        found = re.fullmatch(r"http://127\.0\.0\.1:(\d+)/\n", line)
        assert found, line
        self.port = int(found[1])

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.port}/"

    @property
    def address_with_token(self) -> str:
        return f"{self.address}?token={self.token}"

    @property
    def token(self) -> str:
        return self._token_file.read_text().strip()

    def kill(self) -> None:
        self._process.kill()
        self._process.wait()

    def workers(self) -> list[int]:
        """The processes of its runs."""
        found = []
        for place in Path("/proc").iterdir():
            try:
                is_worker = place.name.isdigit() and b"_lab_worker" in (place / "cmdline").read_bytes()
                if is_worker and Path(os.readlink(place / "cwd")) == self.folder.resolve():
                    found.append(int(place.name))
            except OSError:
                continue
        return found

    def wait_for_workers(self) -> None:
        """Wait until no run is going on."""
        end = time.monotonic() + PATIENCE
        while self.workers():
            assert time.monotonic() < end, "a run does not end"
            time.sleep(0.05)

    def end(self) -> None:
        self.kill()
        for pid in self.workers():
            os.kill(pid, signal.SIGKILL)


class LabTab:
    """A window of a browser on a lab."""

    def __init__(self, driver: Any) -> None:
        self.driver = driver

    def size(self, width: int, height: int = 900) -> None:
        metrics = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 500}
        self.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)

    def scheme(self, name: str) -> None:
        features = [{"name": "prefers-color-scheme", "value": name}]
        self.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": features})

    def go(self, place: str) -> None:
        """Go to a page of the lab, by its address behind the #."""
        self.js("location.hash = arguments[0]", f"#/{place}")

    def leave(self) -> None:
        """Leave the lab for an empty page as wide as a desk, with nothing kept; returns when nothing can be logged."""
        self.driver.get("about:blank")
        self.size(1280)
        self.scheme("light")
        self.errors()

    def errors(self) -> list[Any]:
        """What the browser has called an error since it was last asked."""
        return [entry for entry in self.driver.get_log("browser") if entry["level"] == "SEVERE"]

    def until(self, holds: Callable[[], bool], what: str) -> None:
        """Wait until something holds."""
        end = time.monotonic() + PATIENCE
        while not holds():
            assert time.monotonic() < end, f"{what}; the page says:\n{self.all('body')[0].text[:2000]}"
            time.sleep(0.1)

    def settle(self) -> None:
        """Wait until the page has drawn what there is to draw, and pictures were loaded or not."""
        self.driver.execute_async_script(
            "const done = arguments[0], left = [...document.images].filter((image) => !image.complete);"
            "Promise.all(left.map((image) => new Promise((end) => { image.onload = image.onerror = end; })))"
            "  .then(() => requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(done))))"
        )

    def js(self, script: str, *values: Any) -> Any:
        return self.driver.execute_script(script, *values)

    def all(self, selector: str) -> list[Any]:
        return self.driver.find_elements("css selector", selector)

    def see(self, selector: str, having: Callable[[Any], bool] = lambda element: True) -> Any:
        """Wait until an element is shown for which something holds."""
        from selenium.common.exceptions import WebDriverException

        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            for element in self.all(selector):
                try:
                    if element.is_displayed() and having(element):
                        return element
                except WebDriverException:  # it was drawn anew
                    continue
            time.sleep(0.1)
        shown = self.driver.find_element("css selector", "body").text
        raise AssertionError(f"there is no {selector} as wanted on the page:\n{shown[:2000]}")

    def text(self, selector: str, part: str) -> str:
        """Wait for an element that has a text; returns all of it."""
        return self.see(selector, lambda element: part in element.text).text

    def click(self, selector: str) -> None:
        from selenium.common.exceptions import WebDriverException

        for _ in range(20):
            try:
                element = self.see(selector, lambda each: each.is_enabled())
                self.js("arguments[0].scrollIntoView({block: 'center', behavior: 'instant'})", element)
                return element.click()
            except WebDriverException:  # drawn anew, or covered for a moment
                time.sleep(0.2)
        raise AssertionError(f"{selector} cannot be clicked")

    def drop(self, path: Path) -> None:
        """Drop a file on the page, as from a desktop."""
        self.js(
            "const data = new DataTransfer();"
            "data.items.add(new File([arguments[1]], arguments[0]));"
            "document.querySelector('.drop').dispatchEvent("
            "  new DragEvent('drop', {dataTransfer: data, bubbles: true, cancelable: true}));",
            path.name,
            path.read_text("utf-8"),
        )


@contextmanager
def browser() -> Iterator[LabTab]:
    """A browser without a screen, with nothing in its memory."""
    from selenium import webdriver
    from selenium.webdriver.chrome.options import Options
    from selenium.webdriver.chrome.service import Service

    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        options = Options()
        options.binary_location = CHROMIUM
        for flag in (*_FLAGS.split(), f"--user-data-dir={profile}"):
            options.add_argument(flag)
        options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
        driver = _started(lambda: webdriver.Chrome(options=options, service=Service(DRIVER)))
        driver.set_script_timeout(PATIENCE)
        try:
            yield LabTab(driver)
        finally:
            driver.quit()


def _started(start: Callable[[], Any]) -> Any:
    from selenium.common.exceptions import WebDriverException

    for _ in range(_STARTS):
        try:
            return start()
        except WebDriverException as problem:
            said = problem.msg or str(problem)
            time.sleep(5)
    raise BrowserMissing(said.strip().partition("\n")[0])
