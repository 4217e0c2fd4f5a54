"""Probabilities of learners and peers on the sets of ``newcomer``: log loss, calibration error, and what they cost.

Ours learn at their defaults from unscaled rows, once, by ``partial_fit`` in one go. Logistic regression gets dense rows
standardised and runs to a tolerance at which its test loss no longer changes; scikit-learn's default stops it too early
on text, where it is up to a quarter worse.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from sklearn.calibration import CalibratedClassifierCV
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss

from thresher import registry
from thresher.registry import Method

from ._data import dense_problem, text_problem
from ._measure import REPEATS, Case, take_turns
from ._newcomer_checks import PLAIN, PLAIN_FTRL
from ._newcomer_peers import standardised
from ._newcomer_runs import default_model, learned
from ._newcomer_sets import Array, Set, Split, classification, splits

LEARNERS = ("arow", "ftrl", "pegasos", "l1rda", "scw")
TIMED = ("arow", "scw", "pa", "pegasos", "ftrl", "l1rda", "sop", "ofs")
SEVERAL = ("newsgroups", "covtype, 7 classes", "optdigits", "pendigits", "usps")
CONSTANT, TUNED, UNTUNED, CHANCE = "constant", "tuned LR", "LR with C=1", "by chance"
CHOICES_OF_C = tuple(10.0**k for k in range(-4, 5))
CLOSE = {"tol": 1e-6, "max_iter": 100_000}
N_FOLDS = 5
FOLDED: dict[str, dict[str, Any]] = {
    "sigmoid": {},
    "isotonic": {"method": "isotonic"},
    "one model": {"ensemble": False},
}
N_BINS = 15
N_DRAWS = 100


class Quality(NamedTuple):
    """Of probabilities of test rows: log loss and expected calibration error."""

    loss: float
    error: float


class Result(NamedTuple):
    """A set, and means over its splits by learner and peer."""

    name: str
    n_rows: int  # that are learned from
    of: dict[str, Quality]

    def excess(self, learner: str, over: str = TUNED) -> float:
        """Log loss above that of another, in %."""
        return 100 * (self.of[learner].loss / self.of[over].loss - 1)


class Cost(NamedTuple):
    """CPU seconds of one pass without and with probabilities."""

    learner: str
    rows: str
    settings: str
    none: float
    calibrated: float

    @property
    def ratio(self) -> float:
        return self.calibrated / self.none


def folded(learner: str, way: str = "sigmoid") -> str:
    """The name of CalibratedClassifierCV around a learner."""
    return f"{learner} in folds, {way}"


# --- quality ----------------------------------------------------------------------------------------------------------


def two_classes(quick: bool) -> Iterator[Result]:
    """All sets of two classes and 1,000 rows or more."""
    for each in classification(quick):
        if not each.small and each.name not in SEVERAL:
            parts = list(splits(each.rows(), quick))
            if parts[0].y.max() == 1:
                yield _result(each, parts, folds=True)


def several_classes(quick: bool) -> Iterator[Result]:
    for each in classification(quick):
        if each.name in SEVERAL:
            yield _result(each, list(splits(each.rows(), quick)), folds=False)


def _result(each: Set, parts: list[Split], *, folds: bool) -> Result:
    print(f"\n  {each.name}", end="", file=sys.stderr, flush=True)
    found = [_of_split(split, folds) for split in parts]
    means = {name: Quality(*np.mean([of[name] for of in found], axis=0).tolist()) for name in found[0]}
    return Result(each.name, len(parts[0].y), means)


def _of_split(split: Split, folds: bool) -> dict[str, Quality]:
    constant = np.bincount(split.y) / len(split.y)
    found = {CONSTANT: _quality(np.tile(constant, (len(split.y_test), 1)), split.y_test)}
    found |= _logistic(standardised(split))
    for name in LEARNERS:
        method = _method(name)
        model, _ = learned(default_model(method), split, once=True)
        found[name] = _quality(model.predict_proba(split.X_test), split.y_test)
        for way, options in FOLDED.items() if folds else ():
            around = CalibratedClassifierCV(default_model(method, max_iter=1), cv=N_FOLDS, **options)
            said = around.fit(split.X, split.y).predict_proba(split.X_test)
            found[folded(name, way)] = _quality(said, split.y_test)
    return found


def _logistic(split: Split) -> dict[str, Quality]:
    """C is chosen by log loss on the last fifth of the training rows."""
    cut = len(split.y) - len(split.y) // 5
    losses = []
    for C in CHOICES_OF_C:
        part = LogisticRegression(C=C, **CLOSE).fit(split.X[:cut], split.y[:cut])
        losses.append(log_loss(split.y[cut:], part.predict_proba(split.X[cut:]), labels=part.classes_))
    best = CHOICES_OF_C[int(np.argmin(losses))]
    models = {UNTUNED: LogisticRegression(C=1.0, **CLOSE), TUNED: LogisticRegression(C=best, **CLOSE)}
    said = {name: model.fit(split.X, split.y).predict_proba(split.X_test) for name, model in models.items()}
    chance = Quality(np.nan, _error_by_chance(*_events(said[TUNED], split.y_test)))
    return {name: _quality(each, split.y_test) for name, each in said.items()} | {CHANCE: chance}


def _method(name: str) -> Method:
    method = registry.find(name)
    assert method is not None
    return method


# --- measures ---------------------------------------------------------------------------------------------------------


def _quality(said: Array, y: Array) -> Quality:
    loss = log_loss(y, said, labels=np.arange(said.shape[1]))
    return Quality(float(loss), calibration_error(*_events(said, y)))


def _events(said: Array, y: Array) -> tuple[Array, Array]:
    """What was given a probability, and whether it happened: class 1 of two, of several the class that is predicted."""
    if said.shape[1] == 2:
        return said[:, 1], y == 1
    return said.max(axis=1), said.argmax(axis=1) == y


def calibration_error(p: Array, happened: Array) -> float:
    """The mean distance between probability and frequency in bins of equal numbers of rows."""
    bins = np.array_split(np.argsort(p, kind="stable"), N_BINS)
    return float(sum(abs(np.sum(p[rows] - happened[rows])) for rows in bins) / len(p))


def _error_by_chance(p: Array, happened: Array) -> float:
    """What these probabilities would show on so few rows if they were the truth."""
    rng = np.random.default_rng(len(happened))
    return float(np.mean([calibration_error(p, rng.random(len(p)) < p) for _ in range(N_DRAWS)]))


# --- cost -------------------------------------------------------------------------------------------------------------


def cost_rows(quick: bool) -> int:
    return 5_000 if quick else 100_000


def costs(quick: bool) -> Iterator[Cost]:
    """At the defaults and with numbers in place of "auto"."""
    n_rows = cost_rows(quick)
    problems = {"text": text_problem(n_rows, 75, 100), "dense": dense_problem(n_rows, 100)}
    for name in TIMED:
        method = _method(name)
        plain = PLAIN | (PLAIN_FTRL if name == "ftrl" else {})
        fixed = {key: value for key, value in plain.items() if method.defaults.get(key) == "auto"}
        for rows, problem in problems.items():
            cases = {
                (settings, probability): Case(
                    partial(_pass, problem.X, problem.y),
                    partial(default_model, method, probability=probability, **params),
                )
                for settings, params in (("defaults", {}), ("a number", fixed))
                for probability in ("none", "calibrated")
            }
            timings = _timed(cases, 1 if quick else REPEATS)
            for settings in ("defaults", "a number"):
                yield Cost(name, rows, settings, timings[settings, "none"], timings[settings, "calibrated"])


def _timed(cases: dict[tuple[str, str], Case], repeats: int) -> dict[tuple[str, str], float]:
    timings = take_turns({", ".join(key): case for key, case in cases.items()}, repeats)
    return {key: timings[", ".join(key)].best for key in cases}


def _pass(X: Any, y: Array, model: Any) -> None:
    model.partial_fit(X, y, classes=np.array([-1.0, 1.0]))
