"""Learning from a text file that does not fit into a budget of memory, reading included, against those who can.

Every run is a process of its own (``_train_file``), so CPU time and peak memory are its own; imports are not
counted. Vowpal Wabbit parses in a second thread, whose CPU time counts; it reads the file in one native call,
without Python per example. River and dask-ml would take minutes: they learn from the first tenth of the file, and so
does one of ours, for comparison.
"""

from __future__ import annotations

import json
import subprocess
import sys
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from ._data import HELD_OUT_SEED, cached_file, svmlight_file, vw_file
from ._front import FrontLine, cell, number
from ._measure import installed
from ._report import Table, skipped
from ._train_file import BUDGET_MB, CHOICE_ROWS, R_CHOSEN, VW

REPEATS = 3
PART = 10  # of which slow libraries learn from one
OURS = ("AROW, drop", R_CHOSEN, "Pegasos", "l1-RDA", "FTRL")
Runs = dict[str, list[dict[str, float]]]


class Job(NamedTuple):
    library: str
    name: str
    train: Path
    test: Path


def run(quick: bool) -> list[Table]:
    n_rows, n_test, repeats = (45_000, 5_000, 1) if quick else (900_000, 20_000, REPEATS)
    train = svmlight_file("stream", n_rows, decimals=6)
    test = svmlight_file("stream", n_test, decimals=6, seed=HELD_OUT_SEED)
    jobs = {f"thresher {name}": Job("thresher", name, train, test) for name in OURS}
    if installed("vowpalwabbit"):
        files = vw_file(train), vw_file(test)
        jobs |= {f"vw {name}": Job("vw", name, *files) for name in VW}
        jobs["vw hinge, its cache, as in a second pass"] = Job("vw", "hinge", _vw_cache(files[0]), files[1])
    part = _head(train, n_rows // PART)
    slow = {"thresher AROW, drop": Job("thresher", "AROW, drop", part, test)}
    if installed("river"):
        names = ("PAClassifier", "LogisticRegression, SGD(1)")
        slow |= {f"river {name}": Job("river", name, part, test) for name in names}
    if installed("dask_ml"):
        slow["dask-ml Incremental(SGDClassifier)"] = Job("dask-ml", "", part, test)
    missing = [name for name in ("vowpalwabbit", "river", "dask_ml") if not installed(name)]

    megabytes = train.stat().st_size / 1e6
    whole = _whole(
        _in_turns(jobs, repeats), f"Training from {megabytes:,.0f} MB of svmlight text, {n_rows:,} rows, one pass"
    )
    whole.notes[:0] = [
        f"Best of {repeats} processes in turn; memory is their median; {n_test:,} rows held out. Beside "
        f"its libraries no process may have more than {BUDGET_MB} MB of data; the file is larger (RLIMIT_DATA; pages "
        "of a mapped file do not count)."
        if megabytes > BUDGET_MB
        else f"Best of {repeats} processes; the file fits into the budget of {BUDGET_MB} MB in a quick run."
    ]
    whole.notes += [
        f"{R_CHOSEN}: r = 1, 3 and 10 learn the first {CHOICE_ROWS:,} rows; the one with the fewest mistakes goes on.",
        "The cache of Vowpal Wabbit is its binary form of the rows, written before; ours parse the text in every pass.",
        *skipped(missing),
    ]
    return [whole, _part(_in_turns(slow, 1), f"The first {n_rows // PART:,} rows of the same text", missing)]


def _whole(runs: Runs, title: str) -> Table:
    best = {name: min(run["seconds"] for run in each) for name, each in runs.items()}
    peers = [name for name in runs if name.startswith("vw") and "cache" not in name]
    fastest = min(peers, key=lambda name: best[name]) if peers else None
    columns = [
        "learner",
        "CPU s",
        "wall s",
        f"of {fastest or 'vw'}",
        "target",
        "held-out accuracy",
        "peak MB",
        "MB at start",
    ]
    table = Table(title, columns)
    for name, each in runs.items():
        share = f"{best[name] / best[fastest]:.2f}" if fastest else ""
        target = "0.5" if name.startswith("thresher") else ""
        table.rows.append([name, *_seconds(each), share, target, *_rest(each)])
    return table


def _part(runs: Runs, title: str, missing: list[str]) -> Table:
    table = Table(
        title,
        [
            "learner",
            "CPU s",
            "wall s",
            "CPU s for all rows, by proportion",
            "held-out accuracy",
            "peak MB",
            "MB at start",
        ],
        notes=[
            "One process each. River reads with its iter_libsvm; dask-ml reads partitions with scikit-learn's "
            "load_svmlight_file, one after the other.",
            *skipped(missing),
        ],
    )
    for name, each in runs.items():
        table.rows.append([name, *_seconds(each), f"{PART * each[0]['seconds']:.1f}", *_rest(each)])
    return table


def _seconds(runs: list[dict[str, float]]) -> list[str]:
    return [f"{min(run[key] for run in runs):.2f}" for key in ("seconds", "wall")]


def _rest(runs: list[dict[str, float]]) -> list[str]:
    memory = [f"{np.median([run[key] for run in runs]):.0f}" for key in ("peak_mb", "start_mb")]
    return [f"{runs[-1]['accuracy']:.4f}", *memory]


def _head(path: Path, n_rows: int) -> Path:
    def write(out: Path) -> None:
        with open(path, "rb") as source, open(out, "wb") as file:
            file.writelines(islice(source, n_rows))

    return cached_file(f"{path.stem}-first-{n_rows}.svm", write)


def _vw_cache(text: Path) -> Path:
    def write(path: Path) -> None:
        from vowpalwabbit import Workspace

        Workspace(f"-d {text} --cache_file {path} -b 18 --quiet").finish()

    return cached_file(f"{text.stem}.vw-cache", write)


def _in_turns(jobs: dict[str, Job], repeats: int) -> Runs:
    runs: Runs = {name: [] for name in jobs}
    for _ in range(repeats):
        for name, job in jobs.items():
            runs[name].append(_in_own_process(job))
    return runs


def _in_own_process(job: Job) -> dict[str, float]:
    command = [sys.executable, "-m", "benchmarks._train_file", *map(str, job)]
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
    figures: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return figures


def front(tables: list[Table]) -> list[FrontLine]:
    """The fastest of Vowpal Wabbit from text, and dask-ml on a part."""
    lines = []
    whole, part = tables
    ours = f"thresher {R_CHOSEN}"
    peers = [row[0] for row in whole.rows if row[0].startswith("vw") and "cache" not in row[0]]
    if peers:
        lines.append(_line(whole, min(peers, key=lambda name: number(whole, name, "CPU s")), ours))
    slow = [row[0] for row in part.rows if row[0].startswith("dask-ml")]
    return lines + [_line(part, name, "thresher AROW, drop") for name in slow]


def _line(table: Table, peer: str, ours: str) -> FrontLine:
    costs = (number(table, name, "CPU s") for name in (peer, ours))
    qualities = (cell(table, name, "held-out accuracy") for name in (peer, ours))
    what = table.title[0].lower() + table.title[1:]
    return FrontLine(what, peer, ours.removeprefix("thresher "), *costs, "held-out accuracy", *qualities)
