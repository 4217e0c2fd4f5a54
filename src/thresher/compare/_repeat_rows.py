"""Rows for training and testing in each run."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import ShuffleSplit, StratifiedShuffleSplit
from sklearn.utils import check_consistent_length, indexable
from sklearn.utils.validation import _num_samples

Data = tuple[Any, Any]  # X and y
Indices = NDArray[np.intp]


class Rows(NamedTuple):
    """Rows to learn from and to test on, and for each run the indices of both."""

    train: Data
    test: Data
    parts: Sequence[tuple[Indices, Indices | None]]  # None: all rows to test on
    test_ratio: float | None
    about: str


def random_splits(n_splits: int, test_size: float, has_classes: bool, rng: np.random.Generator) -> Any:
    """Return a splitter of rows at random, with the same share of each class if there are any."""
    kind = StratifiedShuffleSplit if has_classes else ShuffleSplit
    return kind(n_splits, test_size=test_size, random_state=int(rng.integers(2**31)))


def in_splits(data: Data, groups: Any, splitter: Any) -> Rows:
    """Split the rows in every run anew."""
    parts = _split(splitter, data, groups)
    n_train, n_test = (np.mean([len(part[k]) for part in parts]) for k in (0, 1))
    about = f"{len(parts)} splits, {n_train:,.0f} rows to learn from and {n_test:,.0f} to test on"
    return Rows(data, data, parts, float(np.mean([len(test) / len(train) for train, test in parts])), about)


def in_orders(data: Data, test: Data, split: Callable[[int], Any], repeats: int, rng: np.random.Generator) -> Rows:
    """Shuffle the same training rows in every run, and test on the same rows: those given, or those of one split."""
    train, tested = np.arange(_num_samples(data[0])), None
    if test[0] is None and test[1] is None:
        ((train, tested),) = _split(split(1), data, None)
        test = data
    elif test[0] is None or (data[1] is None) != (test[1] is None):
        raise ValueError("compare: X_test and y_test must be given together, as X and y are.")
    check_consistent_length(*test)
    test = tuple(indexable(*test))
    orders = np.random.default_rng(rng.integers(2**63))  # one draw, so that more orders change no other seed
    parts = [(orders.permutation(train), tested) for _ in range(repeats)]
    n_test = _num_samples(test[0]) if tested is None else len(tested)
    about = f"{repeats} orders of {len(train):,} rows to learn from, {n_test:,} to test on"
    return Rows(data, test, parts, None, about)


def _split(splitter: Any, data: Data, groups: Any) -> list[tuple[Indices, Indices]]:
    rows = np.zeros(_num_samples(data[0]))
    try:
        return [(np.asarray(a), np.asarray(b)) for a, b in splitter.split(rows, data[1], groups)]
    except ValueError as problem:
        raise ValueError(f"compare: the rows cannot be split: {problem}") from None
