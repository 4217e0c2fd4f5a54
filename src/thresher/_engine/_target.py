"""Targets of a batch, in the core's form."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .._gate import Array


class Coupling(NamedTuple):
    """The targets of outputs that are learned together, as the core takes them."""

    y: Array
    n_codes: int
    """Number of tasks or classes that ``codes`` may name."""
    codes: NDArray[np.int64] | None
    """The task or class of each row."""
    rounds: Array | None
    """The id of each row's round, -1 for none; without any, every row is a round."""


class Target(NamedTuple):
    """The targets of some rows: numbers, or codes of classes."""

    y: Array
    classes: np.ndarray[Any, Any] | None = None

    @property
    def n_outputs(self) -> int:
        return 1 if self.classes is None or len(self.classes) == 2 else len(self.classes)

    def take(self, part: NDArray[np.int64]) -> Target:
        """The targets of some of the rows."""
        return self._replace(y=self.y[part])

    def groups(self) -> Array:
        """Codes that tell whether neighbouring rows are of one kind: classes, or the side of the mean a value is on."""
        return self.y if self.classes is not None else (self.y > self.y.mean()).astype(np.float64)

    def positive(self, output: int) -> float | None:
        """The code that an output learns against the rest."""
        return None if self.classes is None else 1.0 if len(self.classes) == 2 else float(output)

    def coupled(self) -> Coupling:
        """The same for outputs that are learned together: all rows count for all classes."""
        assert self.classes is not None
        return Coupling(self.y, len(self.classes), self.y.astype(np.int64), None)
