"""Answers of a classifier on rows whose classes are known."""

from __future__ import annotations

from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from ._measures import Array, Output, Ranked, confusion

_MOST_SCORES = 4_000_000


class Answers:
    """Codes of the true and the predicted classes of rows, and scores."""

    def __init__(
        self, classes: list[str], true: NDArray[np.intp], predicted: NDArray[np.intp], scores: Array | None
    ) -> None:
        self.classes, self.true, self.predicted, self.scores = classes, true, predicted, scores
        self.table = confusion(true, predicted, len(classes))

    @cached_property
    def outputs(self) -> dict[int, Output]:
        """Rows of each class against the rest, of classes that occur, and not in every row."""
        if self.scores is None:
            return {}
        columns = {1: self.scores} if self.scores.ndim == 1 else dict(enumerate(self.scores.T))
        step = -(-len(self.true) * len(columns) // _MOST_SCORES)
        found = {}
        for k, scores in columns.items():
            positive = self.true[::step] == k
            if 0 < np.count_nonzero(positive) < len(positive):
                found[k] = positive, Ranked.of(positive, scores[::step])
        return found
