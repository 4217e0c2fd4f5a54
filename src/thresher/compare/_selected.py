"""Features that models select."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .._gate import dense_weights
from ..inspection import last_step
from ..tuning import weights_of


class Selection(NamedTuple):
    """Features that one model uses."""

    columns: NDArray[np.intp]
    signs: NDArray[np.float64] | None  # of the weights in these columns; None where a feature has several, or none
    width: int
    names: Any = None  # one for each feature, where they are known


def selected(model: Any) -> Selection | None:
    """Return the features that a fitted model uses, or None if neither weights nor a support tell them."""
    weights = weights_of(model)
    if weights is not None:
        weights = dense_weights(weights)
        columns = np.flatnonzero((weights != 0).any(axis=0))
        return Selection(columns, np.sign(weights[0, columns]) if len(weights) == 1 else None, weights.shape[1])
    learner = last_step(model)
    if hasattr(learner, "get_support"):
        mask = np.asarray(learner.get_support())
    elif hasattr(learner, "support_") and not hasattr(learner, "support_vectors_"):
        mask = np.asarray(learner.support_)
    else:
        return None
    if mask.dtype == bool:
        return Selection(np.flatnonzero(mask), None, len(mask))
    return Selection(mask, None, int(learner.n_features_in_))


class Tally:
    """Counts of the runs that selected each feature, and the sum of its signs."""

    def __init__(self, who: str, first: Selection) -> None:
        self._who, self._first = who, first
        self._places: dict[str, int] | None = None  # of names, once runs differ
        self.times = np.zeros(first.width)
        self._balance = np.zeros(first.width)

    @property
    def names(self) -> NDArray[np.object_] | None:
        if self._places is not None:
            return np.array(list(self._places), dtype=object)
        return None if self._first.names is None else np.array(list(map(str, self._first.names)), dtype=object)

    @property
    def mean_sign(self) -> NDArray[np.float64] | None:
        """Return the mean sign of each feature over the runs that selected it."""
        return None if self._first.signs is None else self._balance / np.maximum(self.times, 1)

    def add(self, run: Selection) -> None:
        columns = run.columns if self._is_like_the_first(run) else self._by_name(run)
        self.times[columns] += 1
        if run.signs is not None:
            self._balance[columns] += run.signs

    def _is_like_the_first(self, run: Selection) -> bool:
        if run.names is None or self._first.names is None:
            if run.width != self._first.width:
                raise ValueError(
                    f"{self._who}: estimator must be given the same features in every run, or features with names, "
                    f"got {self._first.width} and {run.width} without names."
                )
            return True
        return np.array_equal(run.names, self._first.names)

    def _by_name(self, run: Selection) -> NDArray[np.intp]:
        if self._places is None:
            self._places = self._distinct(self._first)
        names = list(self._distinct(run))
        for name in names:
            self._places.setdefault(name, len(self._places))
        grown = np.zeros(len(self._places) - len(self.times))
        self.times, self._balance = np.append(self.times, grown), np.append(self._balance, grown)
        return np.array([self._places[names[j]] for j in run.columns], dtype=np.intp)

    def _distinct(self, run: Selection) -> dict[str, int]:
        places = {str(name): j for j, name in enumerate(run.names)}
        if len(places) < run.width:
            raise ValueError(
                f"{self._who}: features that differ from run to run must have names of their own, got one name twice."
            )
        return places
