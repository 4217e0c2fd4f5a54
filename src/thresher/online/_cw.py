"""Confidence-weighted classification."""

from __future__ import annotations

import math

from .. import _core
from .._engine import Learner
from .._estimators import AUTO_STEP, LateMeans, Step, StepInUse, param
from .._gate import Uniform, above_half, auto, one_of, special
from ._confident import DiagonalClassifier

_PHIS = (0.12566134685507416, 0.5244005127080407, 1.2815515655446004)  # of confidences 0.55, 0.7 and 0.9


def _probability(phi: float) -> float:
    return round(math.erfc(-phi / math.sqrt(2)) / 2, 12)  # 0.9 is given back as 0.9


class CWClassifier(LateMeans, DiagonalClassifier):
    r"""Confidence-weighted classifier: after an update, the model is right about the row with a given probability.

    Weights are normal with mean :math:`\mu` and covariance :math:`\Sigma`. If the model is not confident enough about a
    row, both change as little as possible (in Kullback-Leibler divergence) until it is. It learns fast from clean data
    with many rare features, such as text, but fits wrong labels just as hard. With the default settings, it predicts
    with a mean of late iterates, which reduces this effect. If ``confidence`` is a number, this is the published
    learner; with noisy labels, prefer :class:`SCWClassifier` or :class:`AROWClassifier`.

    With :math:`\phi = \Phi^{-1}(\text{confidence})`, :math:`m = y\,\mu^\top x` and :math:`v = x^\top \Sigma x`,

    .. math:: \min\ \mathrm{KL}\big(N(\mu', \Sigma')\,\|\,N(\mu, \Sigma)\big)
              \quad\text{subject to}\quad m' \ge \phi \sqrt{v'}\ (\text{stdev})
              \quad\text{or}\quad m' \ge \phi v'\ (\text{variance}),

    with the solution :math:`\mu \leftarrow \mu + \alpha\,y\,\Sigma x` and :math:`\Sigma^{-1} \leftarrow \Sigma^{-1} +
    \frac{\alpha \phi}{\sqrt{v'}} x x^\top` (or :math:`2 \alpha \phi\, x x^\top`), with :math:`\alpha` in closed form.

    Notes
    -----
    A pass costs O(stored values) with a diagonal covariance. More than two classes: see ``multi_class``.
    However the rows are split into calls of :meth:`partial_fit`, the model is the same, bit for bit. The constraint is
    hard, so row weights other than 0 make no difference. ``progressive_loss_`` is the hinge loss, so that learners can
    be compared.

    References
    ----------
    .. [1] M. Dredze, K. Crammer and F. Pereira, "Confidence-weighted linear classification", ICML 2008.
    .. [2] K. Crammer, M. Dredze and F. Pereira, "Exact convex confidence-weighted learning", NIPS 2008.
    """

    _raced = Step("confidence", "phi", 0.0, _PHIS, given=_probability)
    confidence_ = StepInUse()

    confidence: float | str = param(
        default="auto",
        rule=above_half | auto,
        doc=rf"""The probability with which a row must be right after its update, above 0.5 and below 1 (:math:`\eta` in
        [1]_ and [2]_). Larger values take longer steps. {AUTO_STEP}""",
        search=Uniform(0.55, 0.99),
        kw_only=False,
    )
    variant: str = param(
        default="stdev",
        rule=one_of("stdev", "variance"),
        doc="""The exact constraint, in standard deviations [2]_, or its approximation by variances [1]_.""",
    )

    def _learner(self, n_features: int) -> Learner:
        phi = self._fixed_step if self._races else float(special.ndtri(self.confidence))
        cores = (_core.CwDiagonal, _core.CwFull, _core.CwJoint)
        if self.variant == "variance":
            cores = (_core.CwVarianceDiagonal, _core.CwVarianceFull, _core.CwVarianceJoint)
        return self._surest(*cores, phi=phi, average=self._averages)
