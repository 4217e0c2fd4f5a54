"""Every estimator at its defaults and tuned, on the sets of ``newcomer``: scores and CPU seconds.

Streaming classifiers get the training rows once, by ``partial_fit`` in one go; all others by ``fit``. *Tuned* is the
best of 12 settings of the range that the estimator declares, chosen on the last fifth of the training rows and then
fitted to all of them. Scores of tuned models are kept in build/newcomer by estimator, parameters, rows and code.
"""

from __future__ import annotations

import hashlib
import json
import multiprocessing
import os
import sys
import time
from collections.abc import Callable, Iterable
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from sklearn.metrics import r2_score

from thresher import registry
from thresher.registry import Method
from thresher.tuning import search_space

from ._data import FOLDER
from ._machine import core_fingerprint
from ._newcomer_sets import SMALL_SET, Array, Set, Split, folds, splits

N_SETTINGS = 12
KEPT = FOLDER.parent / "newcomer"
KERNEL_ROWS = 300  # training rows of methods whose cost grows by their square or cube
KERNELS = ("lssvc", "gmkl", "lpmkl", "uniformmkl", "gmkl-regressor")
MOST_COLUMNS = {
    "bcw": 300,
    "dropoutpegasos": 50_000,
    **dict.fromkeys(KERNELS, 300),
}  # a full covariance; kernels of single columns
SLOW = (
    "ascw",
    "poolcw",
    "sbcw",
    "dropoutpegasos",
    "reweightedl1rda",
)  # one split of each set that is not small, tuned up to SMALL and with two classes only
SMALL = (5_000, 50_000)  # rows and columns
UNTUNED = ("sparsesdca", "fgm", "gmkl", "lpmkl", "uniformmkl", "gmkl-regressor")  # solvers: one split of classes, too
NOT_HERE = ("outliers", "unlabelled")  # needs that other tables ask for


class Score(NamedTuple):
    """Means over the splits of a set: accuracy in % or R2, seconds of training; tuned where it was asked for."""

    value: float
    seconds: float
    tuned: float | None = None


Scores = dict[str, dict[str, Score]]  # by learner and set
Peer = Callable[[Split], tuple[float, float] | None]  # None: it does not suit these rows


def streaming_classifiers() -> list[Method]:
    return [m for m in registry.methods("classification") if m.streams and not set(m.needs) & set(NOT_HERE)]


def other_classifiers() -> list[Method]:
    return [m for m in registry.methods("classification") if not m.streams and not m.needs]


def regressors() -> list[Method]:
    return registry.methods("regression")


def default_model(method: Method, **params: Any) -> Any:
    if "random_state" in method.defaults:
        params = {"random_state": 0, **params}
    return method.cls(**params)


# --- one estimator, one split -----------------------------------------------------------------------------------------


def learned(model: Any, split: Split, *, once: bool) -> tuple[Any, float]:
    """The model and the CPU seconds it took."""
    begin = time.process_time()
    if once:
        model.partial_fit(split.X, split.y, classes=np.unique(np.concatenate([split.y, split.y_test])))
    else:
        model.fit(split.X, split.y)
    return model, time.process_time() - begin


def score(model: Any, X: Any, y: Array, *, regression: bool) -> float:
    said = model.predict(X)
    if regression:
        return float(r2_score(y, said)) if np.isfinite(said).all() else -np.inf
    return 100 * float(np.mean(said == y))


def run_default(method: Method, split: Split) -> tuple[float, float]:
    regression = method.task == "regression"
    try:
        model, seconds = learned(default_model(method), split, once=method.streams and not regression)
        return score(model, split.X_test, split.y_test, regression=regression), seconds
    except (ValueError, FloatingPointError, np.linalg.LinAlgError) as error:
        print(f"{method.name}: {error}", file=sys.stderr)
        return (-np.inf if regression else 0.0), 0.0


def run_fit(name: str, split: Split) -> tuple[float, float]:
    """A streaming classifier at its defaults by ``fit``, which makes several passes."""
    method = registry.find(name)
    assert method is not None
    model, seconds = learned(default_model(method), split, once=False)
    return score(model, split.X_test, split.y_test, regression=False), seconds


def run_tuned(method: Method, split: Split, label: str) -> float:
    """By the last fifth of the training rows; a setting that fails there is as bad as can be."""
    regression = method.task == "regression"
    once = method.streams and not regression
    found = settings(default_model(method))
    if not found:
        return run_default(method, split)[0]
    held = _held(method, found, split, label)
    if held.exists():
        return float(json.loads(held.read_text()))
    cut = len(split.y) - len(split.y) // 5
    part = Split(split.X[:cut], split.y[:cut], split.X[cut:], split.y[cut:])
    values = [_attempt(method, params, part, once) for params in found]
    value = _attempt(method, found[int(np.argmax(values))], split, once)
    KEPT.mkdir(parents=True, exist_ok=True)
    held.write_text(json.dumps(value))
    return value


def _attempt(method: Method, params: dict[str, Any], split: Split, once: bool) -> float:
    try:
        model, _ = learned(default_model(method, **params), split, once=once)
        return score(model, split.X_test, split.y_test, regression=method.task == "regression")
    except (ValueError, FloatingPointError, np.linalg.LinAlgError):
        return -np.inf


def settings(model: Any) -> list[dict[str, Any]]:
    """Twelve places of each range, in an order of its own; none where nothing is declared."""
    space, rng = search_space(model), np.random.default_rng(0)
    places = {name: (rng.permutation(N_SETTINGS) + 0.5) / N_SETTINGS for name in space}
    return [{name: span.at(places[name][k]) for name, span in space.items()} for k in range(N_SETTINGS) if space]


def _held(method: Method, found: list[dict[str, Any]], split: Split, label: str) -> Path:
    params = {name: repr(value) for name, value in sorted(method.defaults.items()) if name not in found[0]}
    rows = [label, split.X.shape, float(split.y[: len(split.y) // 2].sum())]
    key = json.dumps([method.name, params, repr(found), rows, _code(method.cls)])
    return KEPT / f"{method.name}-{hashlib.sha256(key.encode()).hexdigest()[:20]}.json"


@cache
def _code(cls: type) -> str:
    """The core, and the modules of the class and of those it derives from."""
    files = {sys.modules[base.__module__].__file__ for base in cls.__mro__ if base.__module__.startswith("thresher")}
    held = b"".join(Path(file).read_bytes() for file in sorted(filter(None, files)))
    return core_fingerprint() + hashlib.sha256(held).hexdigest()


# --- all of them ------------------------------------------------------------------------------------------------------

_now: dict[str, Any] = {}  # what the children of a pool share with the parent: the splits of one set


def run_all(sets: Iterable[Set], methods: list[Method], peers: dict[str, Peer], quick: bool, *, tune: bool) -> Scores:
    """Each set in turn, its learners side by side on as many cores as there are."""
    scores: Scores = {}
    context = multiprocessing.get_context("fork")
    for each in sets:
        rows = each.rows()
        parts = list(folds(*rows) if methods[0].task == "regression" else splits(rows, quick))
        _now.update(label=each.name, parts=parts, peers=peers, methods={m.name: m for m in methods}, tune=tune)
        names = [*peers, *(m.name for m in methods if _suits(m, parts[0]))]
        names.sort(key=lambda name: name not in SLOW)  # the longest first
        begin = time.perf_counter()
        with context.Pool(min(os.cpu_count() or 1, 2)) as pool:
            found = dict(zip(names, pool.map(_run, names, chunksize=1), strict=True))
        print(f"\n  {each.name}: {time.perf_counter() - begin:.0f} s", end="", file=sys.stderr, flush=True)
        for name, value in found.items():
            if value is not None:
                scores.setdefault(name, {})[each.name] = value
    return {name: scores[name] for name in (*peers, *(m.name for m in methods)) if name in scores}


def _suits(method: Method, split: Split) -> bool:
    n_classes = 2 if method.task == "regression" else len(np.unique(split.y))
    fits = split.X.shape[1] <= MOST_COLUMNS.get(method.name, sys.maxsize)
    return fits and not ("tasks" in method.needs and n_classes > 2)


def _run(name: str) -> Score | None:
    """One learner on all splits of the set that is there now."""
    if name in _now["peers"]:
        peer = _now["peers"][name]
        done = [found for split in _now["parts"] if (found := peer(split)) is not None]
        return Score(*np.mean(done, axis=0).tolist()) if done else None
    method = _now["methods"][name]
    parts = [first_rows(split) if name in KERNELS else split for split in _now["parts"]]
    few = len(parts[0].y) + len(parts[0].y_test) < SMALL_SET
    if (name in SLOW and not few) or (name in UNTUNED and method.task == "classification"):
        parts = parts[:1]
    done = [run_default(method, split) for split in parts]
    tuned, too_slow = None, name in UNTUNED or (name in SLOW and _is_large(parts[0]))
    if _now["tune"] and not too_slow:
        tuned = float(np.mean([run_tuned(method, split, f"{_now['label']} {k}") for k, split in enumerate(parts)]))
    return Score(*np.mean(done, axis=0).tolist(), tuned)


def _is_large(split: Split) -> bool:
    return split.X.shape[0] > SMALL[0] or split.X.shape[1] > SMALL[1] or len(np.unique(split.y)) > 2


def first_rows(split: Split) -> Split:
    """What methods learn from whose cost grows by the square or cube of the rows."""
    return split._replace(X=split.X[:KERNEL_ROWS], y=split.y[:KERNEL_ROWS])
