"""Defaults do not get worse: accuracy in % and R2 of every streaming estimator at its defaults, beside recorded ones.

A change of defaults that is meant records anew, and its author looks at what went down:

    python -m tests.test_defaults              # generated rows
    python -m tests.test_defaults FOLDER       # real sets in that folder, too
"""

from __future__ import annotations

import json
import os
import sys
import warnings
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest
from scipy import sparse
from sklearn.metrics import r2_score

from thresher import registry

RECORDED = Path(__file__).with_name("defaults.json")
DATA = "THRESHER_DATA"
A_POINT = {"classification": 1.0, "regression": 0.01}
REAL = ("rcv1", "spambase", "pima", "optdigits")
NOT_HERE = {"outliers", "unlabelled"}
WORST = -1.0  # R2 below are alike


class Rows(NamedTuple):
    X: Any
    y: Any
    X_test: Any
    y_test: Any


def _halves(X: Any, y: Any) -> Rows:
    cut = 2 * len(y) // 3
    return Rows(X[:cut], y[:cut], X[cut:], y[cut:])


# --- generated rows ---------------------------------------------------------------------------------------------------


def _text(rare: float) -> Rows:
    """Rows of norm 1, words of a Zipf law that each class tilts, 5 % of the labels wrong."""
    rng = np.random.default_rng(0)
    n, d, length = 2_400, 1_000, 40
    usual = rng.permutation((np.arange(d) + 20.0) ** -1.05)
    tilt = 1.2 * rng.standard_normal(d) * (rng.random(d) < 0.1)
    y = (rng.random(n) < rare).astype(int)
    chances = [np.cumsum(usual * np.exp(sign * tilt)) for sign in (-1, 1)]
    columns = [np.searchsorted(chances[k], chances[k][-1] * rng.random(length)) for k in y]
    X = sparse.lil_array((n, d))
    for i, words in enumerate(columns):
        found, counts = np.unique(words, return_counts=True)
        X[i, found] = (1 + np.log(counts)) / np.linalg.norm(1 + np.log(counts))
    return _halves(sparse.csr_array(X), np.where(rng.random(n) < 0.05, rng.permutation(y), y))


def _dense(n_classes: int) -> Rows:
    """Correlated columns in units from .01 to 1,000, some of them far from 0."""
    rng = np.random.default_rng(1)
    n, d = 2_400, 12
    X = rng.standard_normal((n, d)) @ (np.eye(d) + 0.3 * rng.standard_normal((d, d)))
    scores = X @ rng.standard_normal((d, n_classes)) + rng.standard_normal((n, n_classes))
    X[:, ::3] += 2
    return _halves(X * 10 ** rng.uniform(-2, 3, d), scores.argmax(axis=1))


def _amounts(large: bool) -> Rows:
    rng = np.random.default_rng(2)
    X = rng.standard_normal((900, 15))
    y = X @ rng.standard_normal(15) + rng.standard_normal(900)
    return _halves(X * 10 ** rng.uniform(-2, 2, 15), 1_000 * y + 50_000) if large else _halves(X, y)


KINDS: dict[str, tuple[str, Callable[[], Rows]]] = {
    "text": ("classification", lambda: _text(0.5)),
    "rare class": ("classification", lambda: _text(0.1)),
    "dense": ("classification", lambda: _dense(2)),
    "three classes": ("classification", lambda: _dense(3)),
    "amounts": ("regression", lambda: _amounts(False)),
    "large amounts": ("regression", lambda: _amounts(True)),
}


@cache
def rows_of(kind: str) -> Rows:
    if kind in KINDS:
        return KINDS[kind][1]()
    from benchmarks._newcomer_sets import CLASSIFICATION, splits

    return Rows(*next(splits(next(each for each in CLASSIFICATION if each.name == kind).rows(), True)))


# --- estimators -------------------------------------------------------------------------------------------------------


def cases(kinds: list[str]) -> list[tuple[str, str]]:
    """Estimators and kinds of rows; learners of several tasks know two classes, BCW has no room for wide rows."""
    found = []
    for method in registry.methods():
        if not method.streams or method.task == "clustering" or set(method.needs) & NOT_HERE:
            continue
        unfit = ("three classes", "optdigits") if "tasks" in method.needs else ("rcv1",) if method.name == "bcw" else ()
        for kind in kinds:
            task = KINDS[kind][0] if kind in KINDS else "classification"
            if method.task == task and kind not in unfit:
                found.append((method.name, kind))
    return found


def measured(name: str, kind: str) -> float:
    """Accuracy in % after one pass, or R2 after ``fit``."""
    method, rows = registry.find(name), rows_of(kind)
    assert method is not None
    model = method.cls(random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            if method.task == "regression":
                value = r2_score(rows.y_test, model.fit(rows.X, rows.y).predict(rows.X_test))
                return round(max(float(value), WORST), 4)
            model.partial_fit(rows.X, rows.y, classes=np.unique(rows.y))
            return round(100 * float(np.mean(model.predict(rows.X_test) == rows.y_test)), 2)
        except (ValueError, FloatingPointError):  # a score that is not finite
            return WORST if method.task == "regression" else 0.0


def recorded() -> dict[str, dict[str, float]]:
    return json.loads(RECORDED.read_text()) if RECORDED.exists() else {}


def _holds(name: str, kind: str) -> None:
    before = recorded().get(name, {}).get(kind)
    if before is None:
        pytest.fail(f"{name} has no figure for {kind}: run python -m tests.test_defaults.")
    method = registry.find(name)
    assert method is not None
    now = measured(name, kind)
    assert now >= before - A_POINT[method.task], f"{name} on {kind}: {now}, recorded {before}"


@pytest.mark.parametrize("name, kind", cases(list(KINDS)))
def test_defaults_lose_less_than_a_point_on_generated_rows(name, kind):
    _holds(name, kind)


@pytest.mark.slow
@pytest.mark.skipif(DATA not in os.environ, reason=f"{DATA} names no folder")
@pytest.mark.parametrize("name, kind", cases(list(REAL)))
def test_defaults_lose_less_than_a_point_on_real_rows(name, kind):
    _holds(name, kind)


def test_one_rule_for_the_constant_and_for_passes():
    """As docs/vocabulary.md has it, with its exceptions."""
    exceptions = {("poolcw", "constant"): 0.1, ("csoal", "passes"): 1, ("pegasossnd", "constant"): 1.0}
    n_kinds = set()
    for method in registry.methods():
        if method.streams and method.task != "clustering":
            keeps_variances = "variance_" in dir(method.cls)
            is_regression = method.task == "regression"
            kind = 2 if is_regression else 1 if keeps_variances else 0
            rule = {"constant": (0.1, 1.0, 1.0)[kind], "passes": (5, 1, "auto")[kind]}
            rule |= {what: value for (name, what), value in exceptions.items() if name == method.name}
            found = {"constant": method.defaults["intercept_scaling"], "passes": method.defaults["max_iter"]}
            assert found == rule, method.name
            n_kinds.add(kind)
    assert n_kinds == {0, 1, 2}


def main(folder: str | None) -> None:
    kinds = list(KINDS)
    if folder is not None:
        os.environ[DATA] = folder
        kinds += REAL
    held, lost = recorded(), []
    for name, kind in cases(kinds):
        value, before = measured(name, kind), held.get(name, {}).get(kind)
        if before is not None and value < before:
            lost.append(f"{name} on {kind}: {value}, was {before}")
        held.setdefault(name, {})[kind] = value
    RECORDED.write_text(json.dumps({name: held[name] for name in sorted(held)}, indent=1) + "\n")
    print("\n".join(lost) or "Nothing went down.")


if __name__ == "__main__":
    main(*sys.argv[1:2] or [None])
