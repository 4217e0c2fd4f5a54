"""Losses that the solvers can certify: those of the core's table that are smooth, have a conjugate and no parameter."""

from __future__ import annotations

import math
from dataclasses import dataclass

from .. import _core, _engine
from ._proximal import Array


@dataclass(frozen=True)
class SmoothLoss:
    """A loss of scores p and targets y, by its name in the core."""

    name: str
    curvature: float
    of_classes: bool
    """y is -1 or +1."""

    def value(self, p: Array, y: Array) -> Array:
        return _core.loss_value(self.name, p, y)

    def slope(self, p: Array, y: Array) -> Array:
        return _core.loss_slope(self.name, p, y)

    def conjugate(self, u: Array, y: Array) -> Array:
        """sup_p u p - value(p, y), for slopes u that the loss can have."""
        return _core.loss_conjugate(self.name, u, y)

    @property
    def rests(self) -> bool:
        """Whether a score can be right enough to cost nothing more."""
        return _core.loss_slope(self.name, 30.0, 1.0) >= 0


LOSSES = {
    loss.name: SmoothLoss(loss.name, loss.curvature, of_classes=not loss.for_values)
    for loss in _engine.LOSSES.values()
    if loss.has_conjugate
    and math.isfinite(loss.curvature)
    and not loss.parameter
    and (loss.mean_is_best or not loss.for_values)
}
