"""Learning from a text file that need not fit into memory, reading included, against Vowpal Wabbit on the same text.

Every run is a process of its own (``_train_file``), so CPU time and peak memory are its own; imports are not
counted. Vowpal Wabbit parses in a second thread, whose CPU time counts; it reads the file in one native call,
without Python per example.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np

from ._data import HELD_OUT_SEED, svmlight_file, vw_file
from ._measure import REPEATS, installed
from ._report import Table, skipped
from ._train_file import CHOICE_ROWS, R_CHOSEN

OURS = ("AROW, drop", R_CHOSEN, "Pegasos", "l1-RDA")
VW_LOSSES = ("squared", "logistic", "hinge")


def run(quick: bool) -> list[Table]:
    n_rows, n_test, repeats = (45_000, 5_000, 2) if quick else (900_000, 20_000, REPEATS)
    train = svmlight_file("stream", n_rows, decimals=6)
    test = svmlight_file("stream", n_test, decimals=6, seed=HELD_OUT_SEED)
    jobs = {f"thresher {name}": ("thresher", name, train, test) for name in OURS}
    missing = []
    if installed("vowpalwabbit"):
        files = vw_file(train), vw_file(test)
        jobs |= {f"vw {loss}": ("vw", loss, *files) for loss in VW_LOSSES}
    else:
        missing.append("vowpalwabbit")
    runs: dict[str, list[dict[str, float]]] = {name: [] for name in jobs}
    for _ in range(repeats):
        for name, job in jobs.items():
            runs[name].append(_in_own_process(*job))
    megabytes = train.stat().st_size / 1e6
    title = f"Training from {megabytes:,.0f} MB of svmlight text, {n_rows:,} rows, one pass"
    notes = [
        f"Best of {repeats} processes in turn; memory is their median; {n_test:,} rows held out.",
        f"{R_CHOSEN}: r = 1, 3 and 10 learn the first {CHOICE_ROWS:,} rows; the one with the fewest mistakes goes on.",
    ]
    return [_table(runs, title, [*notes, *skipped(missing)])]


def _table(runs: dict[str, list[dict[str, float]]], title: str, notes: list[str]) -> Table:
    best = {name: min(run["seconds"] for run in each) for name, each in runs.items()}
    peers = [name for name in runs if name.startswith("vw")]
    fastest = min(peers, key=lambda name: best[name]) if peers else None
    columns = [
        "learner",
        "CPU s",
        f"of {fastest or 'vw'}",
        "target",
        "held-out accuracy",
        "peak MB",
        "MB at start",
    ]
    table = Table(title, columns, notes=notes)
    for name, each in runs.items():
        share = f"{best[name] / best[fastest]:.2f}" if fastest else ""
        peak, start = (f"{np.median([run[key] for run in each]):.0f}" for key in ("peak_mb", "start_mb"))
        target = "" if name in peers else "0.5"
        table.rows.append([name, f"{best[name]:.2f}", share, target, f"{each[-1]['accuracy']:.4f}", peak, start])
    return table


def _in_own_process(library: str, name: str, train: Path, test: Path) -> dict[str, float]:
    command = [sys.executable, "-m", "benchmarks._train_file", library, name, str(train), str(test)]
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
    figures: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return figures
