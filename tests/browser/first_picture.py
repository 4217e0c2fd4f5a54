"""How soon the lab shows something of a file of 10,000 rows and 50 columns: ``python -m tests.browser.first_picture``.

Prints the seconds from opening the file to its columns with their histograms, and from beginning a run of 30 seconds to
the first model that was measured and to the answer. They depend on what else the machine does, so the load is printed,
too.
"""

from __future__ import annotations

import os
import secrets
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
from tests.browser.lab_browser import LabProcess, LabTab, browser


def write_rows(path: Path, n_rows: int = 10_000, n_columns: int = 50) -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n_rows, n_columns - 1)).round(4)
    labels = np.where(X[:, 0] - X[:, 1] + rng.normal(size=n_rows) > 0, "yes", "no")
    names = [*(f"x{j}" for j in range(1, n_columns)), "label"]
    lines = (",".join([*map(str, row), label]) for row, label in zip(X.tolist(), labels, strict=True))
    path.write_text("\n".join([",".join(names), *lines]) + "\n")


def seconds_until_seen(tab: LabTab, act: Callable[[], None], selector: str) -> float:
    begin = time.monotonic()
    act()
    tab.see(selector)
    return time.monotonic() - begin


def main() -> None:
    with tempfile.TemporaryDirectory() as place, browser() as tab:
        folder, token = Path(place, "lab"), Path(place, "token")
        folder.mkdir()
        write_rows(folder / "rows.csv")
        token.write_text(secrets.token_urlsafe(32))
        token.chmod(0o600)
        lab = LabProcess(folder, token)
        try:
            tab.size(1280)
            tab.driver.get(lab.address_with_token)
            tab.see(".drop")
            looked = seconds_until_seen(tab, lambda: tab.go("file/rows.csv"), "tbody svg")
            tab.click("[data-key='max_seconds=30 s']")
            tab.see("[data-key='max_seconds=30 s']", lambda each: each.is_selected())
            tab.see(".end button", lambda button: button.is_enabled())
            begin = time.monotonic()
            learned = seconds_until_seen(tab, lambda: tab.click(".end button"), ".plot .dot")
            tab.see("#tab-result")
            answered = time.monotonic() - begin
        finally:
            lab.end()
    print(f"columns with histograms after {looked:.1f} s", end="; ")
    print(f"first model after {learned:.1f} s, the answer after {answered:.1f} s", end="; ")
    print(f"load {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores")


if __name__ == "__main__":
    main()
