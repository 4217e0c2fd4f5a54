"""Groups of weights: a pass over rows of 75 non-zeros at 10^7 features in 10^6 groups, against the plain l1 learner.

The columns are uniform over all features, so hardly two non-zeros of a row share a group, and hardly a weight is in
cache: the worst case for anything kept per group. No accuracy: the labels are random. Memory is what the fitted model
holds, groups included.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from thresher.dual_averaging import GroupFOBOSClassifier, GroupRDAClassifier, L1RDAClassifier

from ._measure import REPEATS, Case, take_turns
from ._report import Table

NNZ, MEMBERS = 75, 10
TARGETS = {"GroupRDA": "4"}


def run(quick: bool) -> list[Table]:
    n_features, n_rows = (10**6, 5_000) if quick else (10**7, 40_000)
    X, y = _rows(n_features, n_rows)
    groups = np.arange(n_features) // MEMBERS
    models = {
        "L1RDA": L1RDAClassifier(),
        "GroupRDA": GroupRDAClassifier(groups),
        "GroupRDA, all groups in use": GroupRDAClassifier(groups, alpha=1e-9),
        "GroupRDA, l1_weight=0.5": GroupRDAClassifier(groups, l1_weight=0.5),
        'GroupRDA, norm="inf"': GroupRDAClassifier(groups, norm="inf"),
        "GroupFOBOS": GroupFOBOSClassifier(groups),
    }
    for model in models.values():
        model.partial_fit(X, y, classes=[-1, 1])  # memory is mapped, groups are read

    def feed(model: Any) -> None:
        model.partial_fit(X, y)

    timings = take_turns({name: Case(feed, lambda model=model: model) for name, model in models.items()})
    table = Table(
        f"{n_features:,} features in {n_features // MEMBERS:,} groups, rows of {NNZ} non-zeros",
        ["learner", "µs a row", "of L1RDA's", "target", "model, MB"],
        notes=[f"Best of {REPEATS} repetitions in turn, each of {n_rows:,} rows."],
    )
    base = timings["L1RDA"].best
    for name, model in models.items():
        best = timings[name].best
        cost = [f"{1e6 * best / n_rows:.1f}", f"{best / base:.1f}"]
        table.rows.append([name, *cost, TARGETS.get(name, ""), f"{_megabytes(model):.0f}"])
    return [table]


def _rows(n_features: int, n_rows: int) -> tuple[Any, Any]:
    rng = np.random.default_rng(0)
    columns = np.sort(rng.integers(n_features, size=(n_rows, NNZ)), axis=1).astype(np.int32).ravel()
    starts = np.arange(0, n_rows * NNZ + 1, NNZ)
    X = sparse.csr_array((rng.normal(size=len(columns)), columns, starts), shape=(n_rows, n_features))
    X.sum_duplicates()
    return X, np.where(rng.random(n_rows) < 0.5, 1, -1)


def _megabytes(model: Any) -> float:
    held = sum(a.nbytes for a in model.state_.arrays.values())
    kept = getattr(model, "_grouping", None)
    if kept is not None:  # members, starts, and for each column its group and the group's size
        held += kept["members"].nbytes + kept["starts"].nbytes + 8 * len(kept["members"])
    return held / 1e6
