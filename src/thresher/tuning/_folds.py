"""Common random numbers: every candidate meets the same folds and the same seeds."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.utils.metadata_routing import get_routing_for_object


class FixedFolds:
    """A splitter that splits once and yields the same folds from then on."""

    def __init__(self, cv: Any, seed: int) -> None:
        self._cv = cv
        if hasattr(cv, "random_state") and cv.random_state is None:
            self._cv = copy.copy(cv)
            self._cv.random_state = seed
        self.folds: list[tuple[Any, Any]] | None = None

    def get_n_splits(self, X: Any = None, y: Any = None, **params: Any) -> int:
        return len(self._split(X, y, **params))

    def split(self, X: Any, y: Any = None, **params: Any) -> Iterator[tuple[Any, Any]]:
        return iter(self._split(X, y, **params))

    def _split(self, X: Any, y: Any, **params: Any) -> list[tuple[Any, Any]]:
        if self.folds is None:
            self.folds = [(np.asarray(train), np.asarray(test)) for train, test in self._cv.split(X, y, **params)]
        return self.folds

    def get_metadata_routing(self) -> Any:
        return get_routing_for_object(self._cv)


def with_seed(estimator: Any, seed: int) -> Any:
    """A copy in which every ``random_state`` that is None, at any depth, is a number."""
    seeded = clone(estimator)
    open_ = [
        name
        for name, value in seeded.get_params(deep=True).items()
        if value is None and (name == "random_state" or name.endswith("__random_state"))
    ]
    return seeded.set_params(**dict.fromkeys(open_, seed))
