"""Dual averaging that predicts with a mean over its steps."""

from __future__ import annotations

from .._estimators import LateMeans, param


class DualMeans(LateMeans):
    """Mixin: predicts with the weights that the mean of all gradient sums implies, which are as sparse as the last."""

    average: bool | str = param(
        default="auto",
        doc="""Predict with the weights that a mean of the gradient sums of all steps implies, of which step s counts s
        times, instead of the last ones: steadier, and zeros stay exact. ``"auto"`` does where the step size is
        ``"auto"``, too; a number for it gives the published learner.""",
    )
