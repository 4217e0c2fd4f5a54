"""Ten to the six rows of three million features, one in a hundred positive: how fast, and with how much memory?

The rows are made batch by batch and never held; making them is not counted. Each learner runs in a process of its own.
"""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Any

from ._report import Table
from ._wide_rows import ONE_IN

P = 50
CALL = 4_096  # rows of one call of partial_fit
# family, class, parameters, and the share of the stream that it learns from
LEARNERS: dict[str, tuple[str, str, dict[str, Any], float]] = {
    "AROW, diagonal": ("online", "AROWClassifier", {}, 1.0),
    "AROW-K": ("online", "AROWClassifier", {"n_features_to_select": P}, 1.0),
    "POOL, cost 0.5": ("confidence", "PoolCWClassifier", {"n_features_to_select": P, "cost": 0.5}, 1.0),
    "POOL, scout, cost 0.5": (
        "confidence",
        "PoolCWClassifier",
        {"n_features_to_select": P, "cost": 0.5, "scout": True},
        0.2,
    ),
    "POOL, nine costs": ("confidence", "PoolCWClassifier", {"n_features_to_select": P}, 0.05),
    "SBCW": ("confidence", "SBCWClassifier", {"n_features_to_select": P}, 0.05),
    "ASCW": ("confidence", "ASCWClassifier", {"n_features_to_select": P}, 0.05),
}


def run(quick: bool) -> list[Table]:
    n_rows, widths = (3 * CALL, (300_000, 3_000_000)) if quick else (1_000_000, (3_000_000, 30_000_000))
    return [_rates(n_rows, widths[0]), _memory(widths)]


def _rates(n_rows: int, n_features: int) -> Table:
    table = Table(
        f"A stream of {n_features:,} features, 1:{ONE_IN}",
        ["learner", "rows", "non-zeros a row", "CPU s", "rows a second", "AUPRC, last tenth"],
        notes=[
            f"Calls of partial_fit with {CALL:,} rows; AUPRC of scores made before the last tenth of the rows was "
            f"learned from, where {1 / (ONE_IN + 1):.3f} is chance. At most {P} features in use, but for plain AROW.",
        ],
    )
    for name, spec in LEARNERS.items():
        f = _in_own_process(spec, max(1, int(spec[3] * n_rows / CALL)) * CALL, n_features)
        rate = f"{f['n_rows'] / f['seconds']:,.0f}"
        cells = [f"{f['n_rows']:,}", f"{f['nnz']:.0f}", f"{f['seconds']:.1f}", rate, f"{f['average_precision']:.3f}"]
        table.rows.append([name, *cells])
    return table


def _memory(widths: tuple[int, int]) -> Table:
    table = Table(
        f"Memory beyond the rows of a call, {2 * CALL:,} rows in two calls",
        ["learner", *(f"MB, d = {d:,}" for d in widths), "bytes a feature"],
        notes=["Peak of the process during the calls, less what it held with the first rows in memory."],
    )
    for name, spec in LEARNERS.items():
        beyond = [_in_own_process(spec, 2 * CALL, d)["beyond_mb"] for d in widths]
        growth = (beyond[1] - beyond[0]) * 2**20 / (widths[1] - widths[0])
        table.rows.append([name, *(f"{mb:.0f}" for mb in beyond), f"{growth:.1f}"])
    return table


def _in_own_process(spec: tuple[str, str, dict[str, Any], float], n_rows: int, n_features: int) -> dict[str, float]:
    family, kind, params, _ = spec
    job = {"family": family, "kind": kind, "params": params, "n_rows": n_rows, "n_features": n_features, "call": CALL}
    command = [sys.executable, "-m", "benchmarks._wide_run", json.dumps(job)]
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
    figures: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return figures
