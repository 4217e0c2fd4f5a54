"""The pictures of lab.md: the lab in a browser, on the table of ``thresher demo --lab``.

From the root of the project, after ``make test-browser``: ``python docs/figures/lab.py``.
"""

from __future__ import annotations

import io
import secrets
import sys
import tempfile
from pathlib import Path

from PIL import Image

from thresher.demo import write_customers

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parents[1] / "tests"))

from browser.lab_browser import LabProcess, LabTab, browser  # noqa: E402

WIDTH = 1120


def picture(tab: LabTab, name: str, height: int) -> None:
    tab.size(WIDTH, height)
    shot = Image.open(io.BytesIO(tab.driver.get_screenshot_as_png())).convert("RGB")
    shot.save(HERE / f"lab_{name}.png", optimize=True)


def walk(tab: LabTab, lab: LabProcess) -> None:
    tab.size(WIDTH)
    tab.driver.execute_cdp_cmd("Emulation.setScrollbarsHidden", {"hidden": True})
    tab.driver.get(lab.address_with_token)
    tab.see(".drop")
    picture(tab, "home", 560)
    tab.go("file/customers.csv")
    tab.see(".end button")
    picture(tab, "look", 800)
    tab.js("document.querySelector('section[aria-labelledby=questions]').scrollIntoView({behavior: 'instant'})")
    picture(tab, "questions", 760)
    tab.click(".end button")
    tab.see(".plot", lambda plot: len(tab.all(".plot .dot")) >= 10)
    picture(tab, "live", 860)
    tab.click(".between .button")
    tab.see("#tab-result")
    tab.click("#tab-why")
    tab.text(".answer", "The model answers")
    picture(tab, "why", 860)
    tab.click("#tab-threshold")
    tab.see(".matrix")
    picture(tab, "threshold", 890)


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as place, browser() as tab:
        folder, token = Path(place, "thresher-demo"), Path(place, "token")
        folder.mkdir()
        write_customers(folder / "customers.csv")
        token.write_text(secrets.token_urlsafe(32))
        token.chmod(0o600)
        lab = LabProcess(folder, token)
        try:
            walk(tab, lab)
        finally:
            lab.end()
