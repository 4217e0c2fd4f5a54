"""Learning by whole batches: BCW against the one product of matrices that it cannot do without, and against the learner
of single rows that keeps the same covariance.

The product is ``X.T @ X``: the covariance of all weights needs it. The rows are dense and their labels noisy, so nearly
every one has a loss and changes the covariance of the row-by-row learner, too. Where ``THRESHER_DATA`` names a folder
with ``a9a`` and ``covtype``, errors on rows held out.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np

from thresher.confidence import BCWClassifier
from thresher.online import AROWClassifier
from thresher.streams import read_svmlight

from ._measure import Case, take_turns
from ._report import Table

REPEATS = 3
Array = np.ndarray[Any, Any]


def run(quick: bool) -> list[Table]:
    tables = [_products(quick), _rows(quick)]
    folder = os.environ.get("THRESHER_DATA")
    return [*tables, _errors(Path(folder))] if folder else tables


def _products(quick: bool) -> Table:
    """One fit, in products X.T @ X."""
    sizes = [(5_000, 100), (10_000, 100)] if quick else [(50_000, 500), (100_000, 500), (20_000, 2_000)]
    table = Table(
        "One fit of BCWClassifier, dense rows",
        ["rows x features", "CPU ms", "X.T @ X, ms", "products", "target", "µs a row"],
        notes=[f"Best of {REPEATS} repetitions in turn. All defaults: batches of four times as many rows as features."],
    )
    for n_rows, n_features in sizes:
        X, y = _noisy(n_rows, n_features)
        cases = {
            "product": Case(lambda _, X=X: X.T @ X),
            "fit": Case(lambda _, X=X, y=y: BCWClassifier(random_state=0).fit(X, y)),
        }
        timings = take_turns(cases, REPEATS)
        ours, product = timings["fit"].best, timings["product"].best
        figures = [f"{1e3 * ours:,.0f}", f"{1e3 * product:,.0f}", f"{ours / product:.2f}", "3.5"]
        table.rows.append([f"{n_rows:,} x {n_features:,}", *figures, f"{1e6 * ours / n_rows:.1f}"])
    return table


def _rows(quick: bool) -> Table:
    """The same covariance learned row by row."""
    n_rows, n_features = (2_000, 50) if quick else (20_000, 500)
    X, y = _noisy(n_rows + 10_000, n_features)
    X, y, X_test, y_test = X[:n_rows], y[:n_rows], X[n_rows:], y[n_rows:]
    models: dict[str, Any] = {
        "AROW, the whole covariance": AROWClassifier(r=1.0, covariance="full", random_state=0),
        "BCW": BCWClassifier(random_state=0),
    }
    cases = {name: Case(lambda model: model.fit(X, y), lambda model=model: model) for name, model in models.items()}
    timings = take_turns(cases, REPEATS)
    base = timings["AROW, the whole covariance"].best
    table = Table(
        f"Against single rows: {n_rows:,} x {n_features}, noisy labels",
        ["learner", "CPU ms", "AROW's / it", "target", "rows that changed weights", "held-out error"],
    )
    for name, model in models.items():
        error = np.mean(model.predict(X_test) != y_test)
        best, goal = timings[name].best, "3" if name == "BCW" else ""
        share = model.n_updates_ / model.n_samples_seen_
        table.rows.append([name, f"{1e3 * best:,.0f}", f"{base / best:.1f}", goal, f"{share:.1%}", f"{error:.4f}"])
    return table


def _errors(folder: Path) -> Table:
    table = Table(
        "Real data, one pass, defaults",
        ["data", "BCW, error", "target", "BCW, CPU ms", "AROW, error", "AROW, CPU ms"],
        notes=[
            "Mean over 3 orders; AROW keeps a diagonal covariance. covtype: class 2 against the rest, scaled to "
            "[0, 1], every fifth row held out."
        ],
    )
    for name, target, (X, y, X_test, y_test) in (("a9a", ".152", _a9a(folder)), ("covtype", ".250", _covtype(folder))):
        row = [name]
        for kind in (BCWClassifier, AROWClassifier):
            models = [kind(random_state=seed).fit(X, y) for seed in range(3)]
            error = np.mean([np.mean(model.predict(X_test) != y_test) for model in models])
            case = Case(lambda model, X=X, y=y: model.fit(X, y), lambda kind=kind: kind(random_state=0))
            best = take_turns({name: case}, REPEATS)[name].best
            row += [f"{error:.4f}", *([target] if kind is BCWClassifier else []), f"{1e3 * best:,.0f}"]
        table.rows.append(row)
    return table


def _noisy(n_rows: int, n_features: int) -> tuple[Array, Array]:
    """Correlated columns, labels of which about a third are wrong."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n_rows, n_features))
    X[:, 1:] += 0.5 * X[:, :-1]
    scores = X @ rng.normal(size=n_features) / np.sqrt(n_features)
    return X, np.where(scores + 2 * rng.normal(size=n_rows) > 0, 1, -1)


def _a9a(folder: Path) -> tuple[Any, ...]:
    train, test = (
        read_svmlight(folder / f"a9a/adult.{part}.bz2", n_features=123, zero_based=True) for part in ("trn", "tst")
    )
    return train[0], train[1], test[0], test[1]


def _covtype(folder: Path) -> tuple[Any, ...]:
    values = np.loadtxt(folder / "covtype/covtype.csv.gz", delimiter=",", skiprows=1)
    X, y = values[:, :-1], values[:, -1] == 2
    X -= X.min(axis=0)
    X /= np.maximum(X.max(axis=0), 1)
    held_out = np.arange(len(y)) % 5 == 0
    return X[~held_out], y[~held_out], X[held_out], y[held_out]
