"""What a batch says about its rows, in the core's form."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from .._gate import Array


class Target(NamedTuple):
    """What a batch says about the rows, in the core's form."""

    y: Array
    classes: np.ndarray[Any, Any] | None

    @property
    def n_outputs(self) -> int:
        return 1 if self.classes is None or len(self.classes) == 2 else len(self.classes)

    def groups(self) -> Array:
        """Codes that tell whether neighbouring rows are alike: classes, or which side of the mean a value lies on."""
        return self.y if self.classes is not None else (self.y > self.y.mean()).astype(np.float64)

    def positive(self, output: int) -> float | None:
        """The code that an output learns against the rest."""
        return None if self.classes is None else 1.0 if len(self.classes) == 2 else float(output)
