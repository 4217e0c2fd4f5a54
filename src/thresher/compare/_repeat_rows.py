"""Rows for training and testing in each run."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.base import is_classifier
from sklearn.model_selection import ShuffleSplit, StratifiedShuffleSplit, check_cv
from sklearn.utils import check_consistent_length, indexable
from sklearn.utils.validation import _num_samples

Indices = NDArray[np.intp]


class Rows(NamedTuple):
    """Rows to learn from and to test on, and for each run the indices of both."""

    train: tuple[Any, Any]
    test: tuple[Any, Any]
    parts: Sequence[tuple[Indices, Indices | None]]  # None: all rows to test on
    test_ratio: float | None
    about: str


def in_splits(
    learners: dict[str, Any],
    X: Any,
    y: Any,
    cv: Any,
    groups: Any,
    test_size: float,
    repeats: int,
    rng: np.random.Generator,
) -> Rows:
    """Split the rows in every run anew."""
    if cv is None:
        splitter = _random_splits(learners, y, repeats, test_size, rng)
    else:
        splitter = check_cv(cv, y, classifier=_have_classes(learners, y))
    parts = _split(splitter, X, y, groups)
    n_train, n_test = (np.mean([len(part[k]) for part in parts]) for k in (0, 1))
    about = f"{len(parts)} splits, {n_train:,.0f} rows to learn from and {n_test:,.0f} to test on"
    return Rows((X, y), (X, y), parts, float(np.mean([len(test) / len(train) for train, test in parts])), about)


def in_orders(
    learners: dict[str, Any],
    X: Any,
    y: Any,
    X_test: Any,
    y_test: Any,
    test_size: float,
    repeats: int,
    rng: np.random.Generator,
) -> Rows:
    """Shuffle the same training rows in every run, and test on the same rows."""
    train, tested = np.arange(_num_samples(X)), None
    if X_test is None and y_test is None:
        train, tested = _split(_random_splits(learners, y, 1, test_size, rng), X, y, None)[0]
        X_test, y_test = X, y
    elif X_test is None or (y is None) != (y_test is None):
        raise ValueError("compare: X_test and y_test must be given together, as X and y are.")
    check_consistent_length(X_test, y_test)
    X_test, y_test = indexable(X_test, y_test)
    orders = np.random.default_rng(rng.integers(2**63))  # one draw, so that more orders change no other seed
    parts = [(orders.permutation(train), tested) for _ in range(repeats)]
    n_test = _num_samples(X_test) if tested is None else len(tested)
    about = f"{repeats} orders of {len(train):,} rows to learn from, {n_test:,} to test on"
    return Rows((X, y), (X_test, y_test), parts, None, about)


def _random_splits(learners: dict[str, Any], y: Any, n: int, test_size: float, rng: np.random.Generator) -> Any:
    kind = StratifiedShuffleSplit if _have_classes(learners, y) else ShuffleSplit
    return kind(n, test_size=test_size, random_state=int(rng.integers(2**31)))


def _have_classes(learners: dict[str, Any], y: Any) -> bool:
    return y is not None and np.ndim(y) == 1 and all(is_classifier(learner) for learner in learners.values())


def _split(splitter: Any, X: Any, y: Any, groups: Any) -> list[tuple[Indices, Indices]]:
    try:
        return [(np.asarray(a), np.asarray(b)) for a, b in splitter.split(np.zeros(_num_samples(X)), y, groups)]
    except ValueError as problem:
        raise ValueError(f"compare: the rows cannot be split: {problem}") from None
