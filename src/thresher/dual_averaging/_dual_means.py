"""Dual averaging that predicts with a mean over its steps."""

from __future__ import annotations

from .._estimators import LateMeans, param


class DualMeans(LateMeans):
    """Mixin that predicts with weights computed from a mean of the gradient sums, which are as sparse as the last
    ones."""

    average: bool | str = param(
        default="auto",
        doc="""Predict with weights computed from a weighted mean of the gradient sums of all steps, in which step s has
        weight s, instead of the last sum. This varies less from row to row, and zeros stay exact. ``"auto"`` does so if
        the step size is ``"auto"``, too; with a number for the step size, this is the published learner.""",
    )
