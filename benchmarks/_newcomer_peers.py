"""What a newcomer would take instead, at its defaults: SGDClassifier and SGDRegressor, Vowpal Wabbit, river.

Vowpal Wabbit has as many bits as the columns need, which can only help it; its time is that of a pass over its cache.
River learns row by row in Python: dense rows only, the first thousands of them.
"""

from __future__ import annotations

import re
import tempfile
import time
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.linear_model import SGDClassifier, SGDRegressor
from sklearn.metrics import r2_score
from sklearn.preprocessing import StandardScaler

from thresher.streams import write_svmlight

from ._measure import installed
from ._newcomer_runs import KERNEL_ROWS, Array, Peer, first_rows
from ._newcomer_sets import Split
from ._vw_ftrl import Layout

RIVER_ROWS = 3_000
RIVER_VALUES = 3_000_000  # rows times columns times classes that it is given
SGD, SGD_SCALED, SGD_FIT = "SGD, one pass, rows as they come", "SGD, one pass, standardised", "SGD, fit, standardised"
SGD_REGRESSOR = "SGDRegressor, standardised"
SGD_REGRESSOR_FEW = f"{SGD_REGRESSOR}, {KERNEL_ROWS} rows"
VW, RIVER = "Vowpal Wabbit", "river, standardised"


def class_peers(quick: bool) -> tuple[dict[str, Peer], list[str]]:
    """All that are installed, and notes on those that are not."""
    found: dict[str, Peer] = {
        SGD: lambda split: _sgd(split, once=True),
        SGD_SCALED: lambda split: _sgd(standardised(split), once=True),
        SGD_FIT: lambda split: _sgd(standardised(split), once=False),
    }
    found |= {VW: _vw_classes} if installed("vowpalwabbit") else {}
    found |= {RIVER: _river} if installed("river") else {}
    return found, [f"Skipped: {name} is not installed." for name in ("vowpalwabbit", "river") if not installed(name)]


def regression_peers() -> dict[str, Peer]:
    found: dict[str, Peer] = {
        SGD_REGRESSOR: _sgd_regressor,
        SGD_REGRESSOR_FEW: lambda split: _sgd_regressor(first_rows(split)),
        "SGDRegressor, rows as they come": lambda split: _sgd_regressor(split, scale=False),
    }
    return found | ({VW: _vw_amounts} if installed("vowpalwabbit") else {})


def standardised(split: Split) -> Split:
    """Dense rows by the means and deviations of the training rows; sparse rows as they come."""
    if sparse.issparse(split.X):
        return split
    scaler = StandardScaler().fit(split.X)
    return split._replace(X=scaler.transform(split.X), X_test=scaler.transform(split.X_test))


def _sgd(split: Split, *, once: bool) -> tuple[float, float]:
    model = SGDClassifier(random_state=0)
    begin = time.process_time()
    if once:
        model.partial_fit(split.X, split.y, classes=np.unique(np.concatenate([split.y, split.y_test])))
    else:
        model.fit(split.X, split.y)
    seconds = time.process_time() - begin
    return 100 * float(np.mean(model.predict(split.X_test) == split.y_test)), seconds


def _sgd_regressor(split: Split, *, scale: bool = True) -> tuple[float, float]:
    split = standardised(split) if scale else split
    begin = time.process_time()
    model = SGDRegressor(random_state=0).fit(split.X, split.y)
    seconds = time.process_time() - begin
    return float(r2_score(split.y_test, model.predict(split.X_test))), seconds


# --- Vowpal Wabbit ----------------------------------------------------------------------------------------------------


def _vw_classes(split: Split) -> tuple[float, float]:
    n_classes = 1 + int(max(split.y.max(), split.y_test.max()))
    layout = Layout(split.X.shape[1], n_classes)
    shape = f"-b {layout.bits} " + ("--binary" if n_classes == 2 else f"--oaa {n_classes}")
    y, y_test = ((2 * y - 1 if n_classes == 2 else 1 + y) for y in (split.y, split.y_test))
    said, seconds = _vw(shape, layout, split, y, y_test)
    return 100 * float(np.mean(said == y_test)), seconds


def _vw_amounts(split: Split) -> tuple[float, float]:
    layout = Layout(split.X.shape[1], 2)
    said, seconds = _vw(f"-b {layout.bits}", layout, split, split.y, split.y_test)
    return float(r2_score(split.y_test, said)), seconds


def _vw(shape: str, layout: Layout, split: Split, y: Array, y_test: Array) -> tuple[Array, float]:
    """Predictions for the test rows, and the seconds of one pass over a cache of the others."""
    from vowpalwabbit import Workspace

    with tempfile.TemporaryDirectory() as folder:
        train, test, model, said = (Path(folder, name) for name in ("train", "test", "model", "said"))
        for path, X, labels in ((train, split.X, y), (test, split.X_test, y_test)):
            _write(path, X, labels, layout.constant)
        Workspace(f"{shape} -d {train} --cache_file {train}.cache -k --quiet -t").finish()
        begin = time.process_time()
        learner = Workspace(f"{shape} -d {train} --cache_file {train}.cache --quiet")
        seconds = time.process_time() - begin
        learner.save(str(model))
        learner.finish()
        Workspace(f"-t -i {model} -d {test} -p {said} --quiet").finish()
        return np.loadtxt(said), seconds


def _write(path: Path, X: Any, y: Array, constant: int) -> None:
    """The format of Vowpal Wabbit, one number left out for its constant."""
    rows = sparse.csr_array(X, dtype=float)
    columns = rows.indices + (rows.indices >= constant)
    moved = sparse.csr_array((rows.data, columns, rows.indptr), shape=(rows.shape[0], rows.shape[1] + 1))
    write_svmlight(path, moved, y, zero_based=True)
    path.write_bytes(re.sub(rb"(?m)^(\S+)", rb"\1 |", path.read_bytes()))


# --- river ------------------------------------------------------------------------------------------------------------


def _river(split: Split) -> tuple[float, float] | None:
    if sparse.issparse(split.X):
        return None
    from river import linear_model, multiclass, preprocessing

    n_classes = 1 + int(split.y.max())
    learner = linear_model.LogisticRegression()
    learner = multiclass.OneVsRestClassifier(learner) if n_classes > 2 else learner
    model = preprocessing.StandardScaler() | learner
    n_rows = min(RIVER_ROWS, RIVER_VALUES // (split.X.shape[1] * n_classes))
    labels = split.y[:n_rows].tolist() if n_classes > 2 else (split.y[:n_rows] > 0).tolist()
    rows = list(_dicts(split.X[:n_rows]))
    begin = time.process_time()
    for x, y in zip(rows, labels, strict=True):
        model.learn_one(x, y)
    seconds = time.process_time() - begin
    right = [
        int(model.predict_one(x) or 0) == y for x, y in zip(_dicts(split.X_test[:n_rows]), split.y_test, strict=False)
    ]
    return 100 * float(np.mean(right)), seconds


def _dicts(X: Array) -> Iterable[dict[int, float]]:
    return (dict(enumerate(row)) for row in X.tolist())
