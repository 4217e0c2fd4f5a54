"""Learners that predict with a mean of their iterates."""

from __future__ import annotations

from typing import Any

from .._estimators import SelfTuned, param
from .._gate import auto, boolean


class LateMeans(SelfTuned):
    """Base class of learners that the latest rows sway, so that a mean of their iterates predicts better."""

    average: bool | str = param(
        default="auto",
        rule=boolean | auto,
        doc="""Predict with the mean of all iterates, of which iterate t counts t times, instead of the last one.
        ``"auto"`` does where the step size is ``"auto"``, too; a number for it gives the published learner. A full
        covariance has no mean.""",
    )

    @property
    def _averages(self) -> bool:
        full = getattr(self, "covariance", "diagonal") == "full"
        if full and self.average is True:
            raise ValueError(
                f'{type(self).__name__}: average must be False or "auto" with covariance="full", got True.'
            )
        return self._races and not full if self.average == "auto" else bool(self.average)

    def _by_race(self) -> dict[str, Any]:
        return {"average": True} if self._averages and self.average == "auto" else {}
