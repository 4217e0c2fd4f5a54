"""Counting what runs choose, by place or, where places differ from run to run, by name."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray


class Run(NamedTuple):
    """What one run chose."""

    columns: NDArray[np.intp]
    signs: NDArray[np.float64] | None  # of the weights in these columns; None where a feature has several, or none
    width: int
    names: Any  # one for each feature, or None
    n_drawn: int


class Tally:
    """How often each feature was chosen, and how often above and below 0."""

    def __init__(self, who: str, first: Run) -> None:
        self._who, self._first = who, first
        self._places: dict[str, int] | None = None  # of names, once runs differ
        self.times = np.zeros(first.width)
        self.balance = np.zeros(first.width)

    @property
    def names(self) -> NDArray[np.object_] | None:
        if self._places is not None:
            return np.array(list(self._places), dtype=object)
        return None if self._first.names is None else np.array(list(map(str, self._first.names)), dtype=object)

    def add(self, run: Run) -> None:
        columns = run.columns if self._is_like_the_first(run) else self._by_name(run)
        self.times[columns] += 1
        if run.signs is not None:
            self.balance[columns] += run.signs

    def _is_like_the_first(self, run: Run) -> bool:
        if run.names is None or self._first.names is None:
            if run.width != self._first.width:
                raise ValueError(
                    f"{self._who}: estimator must be given the same features in every run, or features with names, "
                    f"got {self._first.width} and {run.width} without names."
                )
            return True
        return np.array_equal(run.names, self._first.names)

    def _by_name(self, run: Run) -> NDArray[np.intp]:
        if self._places is None:
            self._places = self._distinct(self._first)
        self._distinct(run)
        names = [str(name) for name in run.names]
        for name in names:
            self._places.setdefault(name, len(self._places))
        grown = np.zeros(len(self._places) - len(self.times))
        self.times, self.balance = np.append(self.times, grown), np.append(self.balance, grown)
        return np.array([self._places[names[j]] for j in run.columns], dtype=np.intp)

    def _distinct(self, run: Run) -> dict[str, int]:
        places = {str(name): j for j, name in enumerate(run.names)}
        if len(places) < run.width:
            raise ValueError(
                f"{self._who}: features that differ from run to run must have names of their own, got one name twice."
            )
        return places
