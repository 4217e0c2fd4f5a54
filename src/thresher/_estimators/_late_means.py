"""Learners that predict with a mean of their iterates."""

from __future__ import annotations

from typing import Any

from .._gate import auto, boolean
from ._declared import param
from ._self_tuned import SelfTuned

MEANS_RACE = 1 << 14
"""Rows of a race between means of iterates: they are told apart early, and cost more than last steps."""


class LateMeans(SelfTuned):
    """Base class of learners on which the latest rows have a large influence, so that a mean of iterates predicts
    better."""

    average: bool | str = param(
        default="auto",
        rule=boolean | auto,
        doc="""Predict with a weighted mean of all iterates, in which iterate t has weight t, instead of the last
        iterate. ``"auto"`` does so if the step size is ``"auto"``, too; with a number for the step size, this is the
        published learner. Not available with a full covariance.""",
    )

    def _no_mean_with(self) -> str:
        """The parameter that leaves no mean, with its value; empty if there is one."""
        return 'covariance="full"' if getattr(self, "covariance", "diagonal") == "full" else ""

    @property
    def _averages(self) -> bool:
        why_not = self._no_mean_with()
        if why_not and self.average is True:
            raise ValueError(f'{type(self).__name__}: average must be False or "auto" with {why_not}, got True.')
        return self._races and not why_not if self.average == "auto" else bool(self.average)

    def _by_race(self) -> dict[str, Any]:
        return {"average": True} if self._averages and self.average == "auto" else {}
