"""``thresher train`` on a file of 2 GB: speed beside that of the parser alone, and memory; and the CPU time of whole
commands on 200 rows, most of which is their start, in an environment of their own: an editable install looks for
modules in other ways than users have.

The parser's own speed is that of one thread over text in memory, making arrays and nothing else. Training
reads the file, parses it in a thread and learns in another; it is timed from the first byte to the last row, without
imports. Memory is the largest resident set of the process, and the largest anonymous part of it, sampled.
"""

from __future__ import annotations

import json
import os
import re
import resource
import shutil
import subprocess
import sys
import sysconfig
import tempfile
import time
import venv
from pathlib import Path
from statistics import mean

import numpy as np

import thresher
from thresher import _core
from thresher.streams import write_svmlight

from ._data import svmlight_file
from ._measure import SINGLE_THREAD
from ._report import Table

_BLOCK = 1 << 21


def run(quick: bool) -> list[Table]:
    path, n_rows, repeats = svmlight_file("stream", 45_000, decimals=6), 45_000, 2
    if not quick:
        path, n_rows, repeats = _two_gigabytes(path), 1_845_000, 5
    megabytes = path.stat().st_size / 1e6
    with path.open("rb") as file:
        text = file.read(1 << 28)
    parsers, runs = [], []
    for _ in range(repeats):
        parsers.append(_parse(text))
        runs.append(_train(path))
    table = Table(
        f"thresher train on {megabytes:,.0f} MB of svmlight text, {n_rows:,} rows",
        ["what", "MB / s", "of the parser's", "target", "peak RSS MB", "peak anonymous MB", "limit"],
        notes=[f"Best of {repeats} in turn; wall time on an otherwise idle machine; two threads when training."],
    )
    parser = max(parsers)
    table.rows.append(["parser alone, one thread", f"{parser:.0f}", "1", "", "", "", ""])
    speed = max(megabytes / figures["seconds"] for figures in runs)
    rss, anonymous = (max(figures[key] for figures in runs) for key in ("rss", "anonymous"))
    row = [
        "thresher train, AROW",
        f"{speed:.0f}",
        f"{speed / parser:.2f}",
        "0.7",
        f"{rss:.0f}",
        f"{anonymous:.0f}",
        "400",
    ]
    table.rows.append(row)
    return [table, _small_files(3 if quick else 10)]


def _small_files(repeats: int) -> Table:
    """CPU time of the processes that train on 200 rows and predict them."""
    table = Table(
        "thresher train and predict on 200 rows, CPU s of the whole processes",
        ["file", "train", "predict", "both", "target"],
        notes=[
            f"Mean of {repeats} in turn, user and system time, all options and the number of threads at their "
            "defaults; the package as a wheel leaves it, files and compiled modules in the cache of the disk."
        ],
    )
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 10)).round(3)
    y = X[:, 0] - X[:, 1] + 0.5 * rng.normal(size=200) > 0
    with tempfile.TemporaryDirectory() as folder:
        csv, svmlight, model = (Path(folder, name) for name in ("rows.csv", "rows.svm", "m.thresher"))
        names = [f"x{j}" for j in range(X.shape[1])]
        lines = [",".join([*map(str, row), "yes" if label else "no"]) for row, label in zip(X.tolist(), y, strict=True)]
        csv.write_text("\n".join([",".join([*names, "y"]), *lines, ""]))
        write_svmlight(svmlight, X, np.where(y, 1, -1))
        commands = {
            (path.name, name): [name, *((path, "--model", model) if name == "train" else (model, path))]
            for path in (csv, svmlight)
            for name in ("train", "predict")
        }
        times: dict[tuple[str, str], list[float]] = {key: [] for key in commands}
        installed = _as_installed(Path(folder, "environment"))
        for _ in range(repeats + 1):
            for key, command in commands.items():
                times[key].append(_cpu_seconds([*installed, *map(str, command)]))
    for name in ("rows.csv", "rows.svm"):
        train, predict = (mean(times[name, command][1:]) for command in ("train", "predict"))
        table.rows.append([name, f"{train:.2f}", f"{predict:.2f}", f"{train + predict:.2f}", "0.3"])
    return table


def _as_installed(folder: Path) -> list[str]:
    """The command of an environment with a copy of the package where a wheel has it, beside our other packages."""
    venv.create(folder, symlinks=True)
    site = Path(sysconfig.get_path("purelib", "venv", {"base": str(folder)}))
    shutil.copytree(Path(thresher.__file__).parent, site / "thresher", ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(_core.__file__, site / "thresher")
    others = [path for path in sys.path if Path(path).name == "site-packages"]
    (site / "others.pth").write_text("\n".join([*others, ""]))
    (site / f"thresher-{thresher.__version__}.dist-info").mkdir()
    script = folder / "bin" / "thresher"
    script.write_text("import sys\nfrom thresher.cli import main\nsys.exit(main())\n")
    return [str(folder / "bin" / "python"), str(script)]


def _cpu_seconds(command: list[str]) -> float:
    environment = {name: value for name, value in os.environ.items() if name not in SINGLE_THREAD}
    for name in ("PYTHONDONTWRITEBYTECODE", "PYTHONPATH"):
        environment.pop(name, None)
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, check=True, capture_output=True, env=environment)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def _two_gigabytes(small: Path) -> Path:
    """A large file twice and a small one: making as many new rows would take minutes."""
    large = svmlight_file("stream", 900_000, decimals=6)
    whole = large.with_name("stream-two-gigabytes.svm")
    if not whole.exists():
        with whole.open("wb") as out:
            for part in (large, large, small):
                with part.open("rb") as file:
                    shutil.copyfileobj(file, out, 1 << 24)
    return whole


def _parse(text: bytes) -> float:
    """MB/s over blocks, as a stream hands them over."""
    view, position = memoryview(text), 0
    begin = time.perf_counter()
    while position + _BLOCK <= len(text):
        position += _core.parse_svmlight(view[position : position + _BLOCK], final=False)[5]
    return position / 1e6 / (time.perf_counter() - begin)


def _train(path: Path) -> dict[str, float]:
    command = [sys.executable, "-m", "thresher", "train", str(path), "--method", "arow", "--classes", "2", "--json"]
    out = tempfile.TemporaryFile("w+")  # noqa: SIM115 (a pipe would be full before it is read)
    process = subprocess.Popen(command, stdout=out, stderr=subprocess.DEVNULL)
    peak = {"VmHWM": 0, "RssAnon": 0}
    while process.poll() is None:
        try:
            status = Path(f"/proc/{process.pid}/status").read_text()
        except OSError:
            break
        for key in peak:
            found = re.search(rf"{key}:\s+(\d+)", status)
            peak[key] = max(peak[key], int(found[1]) if found else 0)
        time.sleep(0.02)
    process.wait()
    out.seek(0)
    return {"seconds": json.load(out)["seconds"], "rss": peak["VmHWM"] / 1024, "anonymous": peak["RssAnon"] / 1024}
