"""The picture of a report in README.md: that of ``thresher demo``, its top and one section, by a browser.

From the root of the project: ``python docs/figures/report.py``. Needs Chromium.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path

from PIL import Image

HERE = Path(__file__).parent
SHOWN = "<style>nav, section:not(#ranking) { display: none !important }</style></head>"
BROWSER = [
    *("chromium", "--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking"),
    *("--hide-scrollbars", "--force-device-scale-factor=1", "--window-size=1000,980"),
]

if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        report, picture = Path(folder, "thresher-demo.html"), Path(folder, "report.png")
        subprocess.run([sys.executable, "-m", "thresher", "demo"], check=True, cwd=folder)
        report.write_text(report.read_text("utf-8").replace("</head>", SHOWN), "utf-8")
        subprocess.run(
            [*BROWSER, f"--user-data-dir={folder}/user", f"--screenshot={picture}", report.as_uri()], check=True
        )
        Image.open(picture).quantize(64).save(HERE / "report.png", optimize=True)
