"""Learning one row at a time: ``partial_fit`` with one CSR row of 75 non-zeros, and how its cost depends on the width.

The rows are different ones, their columns uniform over all features, so at 10^7 features hardly a weight is in
cache. The weights are in memory already; the last column shows what it costs when the operating system must still
supply it, page by page. No accuracy: the labels are random. River learns from a dict of 75 items.

The second table is that of dicts from names to values: ``predict_one``, then ``learn_one`` of each row, here and in
River. All names are known before; with 10^7 features, keys are column numbers.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import clone
from sklearn.linear_model import SGDClassifier

from thresher.online import AROWClassifier

from ._front import FrontLine, has, number
from ._learners import learners
from ._measure import REPEATS, Case, installed, take_turns
from ._report import Table, skipped

NNZ = 75
NARROW, WIDE = 10_000, 10_000_000
CLASSES = np.array([-1.0, 1.0])


def run(quick: bool) -> list[Table]:
    n_rows = 300 if quick else 2_000
    n_wide_peer = 3 if quick else 10  # it copies all its weights in every call
    narrow, wide = _rows(NARROW, n_rows), _rows(WIDE, n_rows)
    cases = {"SGD": _feed(SGDClassifier(), narrow), "SGD wide": _feed(SGDClassifier(), wide[: n_wide_peer + 1])}
    missing = []
    if installed("river"):
        cases |= _river(narrow)
    else:
        missing.append("river")
    for name, model in learners().items():
        cases[name] = _feed(model, narrow, _touch)
        cases[f"{name} wide"] = _feed(model, wide, _touch)
        cases[f"{name} untouched"] = _feed(model, wide)
    timings = take_turns(cases)

    cost = {name: 1e6 * t.best / (n_wide_peer if name == "SGD wide" else n_rows - 1) for name, t in timings.items()}
    table = Table(
        f"One row of {NNZ} non-zeros at a time",
        ["learner", "µs, d = 10^4", "µs, d = 10^7", "ratio", "target", "of SGD's", "target", "µs, untouched memory"],
        notes=[f"Best of {REPEATS} repetitions in turn, each of {n_rows:,} rows and a new model.", *skipped(missing)],
    )
    for name in learners():
        here, there = cost[name], cost[f"{name} wide"]
        share = f"{here / cost['SGD']:.3f}"
        untouched = f"{cost[f'{name} untouched']:.1f}"
        table.rows.append([name, f"{here:.1f}", f"{there:.1f}", f"{there / here:.2f}", "1.5", share, "0.1", untouched])
    wide_peer = f"{cost['SGD wide'] / cost['SGD']:.0f}"
    table.rows.append(["SGDClassifier", f"{cost['SGD']:.1f}", f"{cost['SGD wide']:.0f}", wide_peer, "", "1", "", ""])
    for name in cost:
        if name.startswith("river"):
            table.rows.append([name, f"{cost[name]:.1f}", "", "", "", f"{cost[name] / cost['SGD']:.3f}", "", ""])
    return [table, _dicts(n_rows)]


def _dicts(n_rows: int) -> Table:
    """One row from a dict, predicted and then learned from."""
    rows, wide = (_as_dicts(_rows(width, n_rows), named) for width, named in ((NARROW, True), (WIDE, False)))
    names = [f"f{j}" for j in range(NARROW)]
    ours = learners() | {"AROW, r = auto": AROWClassifier()}
    cases = {name: _one_by_one(model, rows, dict.fromkeys(names, 0.0)) for name, model in ours.items()}
    cases |= {f"{name} wide": _one_by_one(model, wide, {WIDE - 1: 0.0}) for name, model in ours.items()}
    peers = {}
    if installed("river"):
        from river import linear_model

        peers = {f"river {cls.__name__}": cls for cls in (linear_model.PAClassifier, linear_model.LogisticRegression)}
        cases |= {name: Case(_prequential(rows), _knowing(make, names)) for name, make in peers.items()}
    cost = {name: 1e6 * timing.best / n_rows for name, timing in take_turns(cases).items()}
    table = Table(
        f"One row of {NNZ} values from a dict: predict_one, then learn_one",
        ["learner", "µs", "µs, d = 10^7", *(f"{name} / ours" for name in peers)],
        notes=[
            f"Best of {REPEATS} repetitions in turn, each of {n_rows:,} rows and a new model that knows all names.",
            *skipped([] if peers else ["river"]),
        ],
    )
    for name in ours:
        ratios = (f"{cost[peer] / cost[name]:.2f}" for peer in peers)
        table.rows.append([name, f"{cost[name]:.1f}", f"{cost[f'{name} wide']:.1f}", *ratios])
    table.rows += [[name, f"{cost[name]:.1f}", "", *[""] * len(peers)] for name in peers]
    return table


def _as_dicts(rows: list[tuple[Any, Any]], named: bool) -> list[tuple[dict[Any, float], bool]]:
    """The same rows as dicts, with names or with column numbers."""
    keys = [[f"f{j}" for j in X.indices.tolist()] if named else X.indices.tolist() for X, _ in rows]
    return [
        (dict(zip(each, X.data.tolist(), strict=True)), bool(y[0] > 0)) for each, (X, y) in zip(keys, rows, strict=True)
    ]


def _prequential(rows: list[tuple[dict[Any, float], bool]]) -> Callable[[Any], None]:
    def feed(model: Any) -> None:
        for x, y in rows:
            model.predict_one(x)
            model.learn_one(x, y)

    return feed


def _one_by_one(model: Any, rows: list[tuple[dict[Any, float], bool]], first: dict[Any, float]) -> Case:
    def setup() -> Any:
        fresh = clone(model).learn_one(first, True, classes=[False, True])
        _touch(fresh)
        return fresh

    return Case(_prequential(rows), setup)


def _knowing(make: Callable[[], Any], names: list[str]) -> Callable[[], Any]:
    def setup() -> Any:
        fresh = make()
        fresh.learn_one(dict.fromkeys(names, 1e-9), True)
        return fresh

    return setup


def front(tables: list[Table]) -> list[FrontLine]:
    """At 10^7 features against scikit-learn, which copies its weights, and at 10^4 against River."""
    arrays, dicts = tables
    lines = []
    for table, peer, ours, column in (
        (arrays, "SGDClassifier", "AROW, drop", "µs, d = 10^7"),
        (arrays, "river PAClassifier", "PA", "µs, d = 10^4"),
        (dicts, "river PAClassifier", "PA", "µs"),
        (dicts, "river LogisticRegression", "FTRL", "µs"),
    ):
        if has(table, peer):
            costs = (number(table, name, column) for name in (peer, ours))
            what = ", ".join(filter(None, [f"{table.title[0].lower()}{table.title[1:]}", column.partition(", ")[2]]))
            lines.append(FrontLine(what, peer, ours, *costs, "none: labels are random", "", ""))
    return lines


def _rows(n_features: int, n_rows: int) -> list[tuple[Any, Any]]:
    """Single rows of sorted, distinct random columns, each with its label."""
    rng = np.random.default_rng(0)
    out = []
    for _ in range(n_rows):
        columns = np.sort(rng.choice(n_features, NNZ, replace=False, shuffle=False)).astype(np.int32)
        values = rng.random(NNZ)
        values /= np.linalg.norm(values)
        X = sparse.csr_array((values, columns, np.array([0, NNZ], dtype=np.int32)), shape=(1, n_features))
        out.append((X, rng.choice(CLASSES, 1)))
    return out


def _touch(model: Any) -> None:
    """Write to every page of the state, so that it is in memory."""
    for array in model.state_.arrays.values():
        array += 0.0


def _feed(model: Any, rows: list[tuple[Any, Any]], prepare: Callable[[Any], None] = lambda model: None) -> Case:
    """The first row makes the model, outside of the clock."""

    def setup() -> Any:
        fresh = clone(model)
        fresh.partial_fit(*rows[0], classes=CLASSES)
        prepare(fresh)
        return fresh

    def feed(fresh: Any) -> None:
        for X, y in rows[1:]:
            fresh.partial_fit(X, y)

    return Case(feed, setup)


def _river(rows: list[tuple[Any, Any]]) -> dict[str, Case]:
    from river import linear_model

    items = [(dict(zip(X.indices.tolist(), X.data.tolist(), strict=True)), bool(y[0] > 0)) for X, y in rows[1:]]

    def feed(model: Any) -> None:
        for x, y in items:
            model.learn_one(x, y)

    return {
        "river PAClassifier": Case(feed, linear_model.PAClassifier),
        "river LogisticRegression": Case(feed, linear_model.LogisticRegression),
    }
