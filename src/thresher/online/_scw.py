"""Soft confidence-weighted classification."""

from __future__ import annotations

from .. import _core
from .._engine import Learner
from .._estimators import AUTO_STEP, MEANS_RACE, Advice, GoodFor, LateMeans, Step, StepInUse, param
from .._gate import Log, Uniform, above_half, auto, one_of, positive, special
from ._confident import DiagonalClassifier


class SCWClassifier(LateMeans, DiagonalClassifier):
    r"""Soft confidence-weighted classifier: a confidence-weighted learner with a bounded loss for each row.

    :class:`CWClassifier` with a penalty ``C`` in place of the hard constraint, so that a wrong label moves the model
    only a limited distance. With the default settings, it predicts with a mean of late iterates, which noisy rows sway
    less than the last one. If ``C`` is a number, this is the published learner. :class:`AROWClassifier` has one
    parameter less.

    With :math:`\phi = \Phi^{-1}(\text{confidence})`, :math:`m = y\,\mu^\top x` and :math:`v = x^\top \Sigma x`,

    .. math:: \min\ \mathrm{KL}\big(N(\mu', \Sigma')\,\|\,N(\mu, \Sigma)\big) + C \ell\ (\text{I})
              \quad\text{or}\quad + C \ell^2\ (\text{II}), \qquad \ell = \max(0, \phi \sqrt{v'} - m').

    Attributes
    ----------
    C_ : float
        ``C`` of the model that predicts, in units of the scaled rows if rows are scaled.

    Notes
    -----
    A pass costs O(stored values) with a diagonal covariance. More than two classes: see ``multi_class``.
    However the rows are split into calls of :meth:`partial_fit`, the model is the same, bit for bit. A row weight
    multiplies ``C``. ``progressive_loss_`` is the hinge loss, so that learners can be compared.

    References
    ----------
    .. [1] J. Wang, P. Zhao and S. C. H. Hoi, "Exact soft confidence-weighted learning", ICML 2012.
    """

    _advice = Advice(GoodFor(2, aim="nothing to tune"))

    _raced = Step("C", "C", -1.0, (0.3, 3.0, 30.0), race_rows=MEANS_RACE)
    C_ = StepInUse()

    C: float | str = param(
        default="auto",
        rule=positive | auto,
        doc=rf"""Penalty on a row that does not reach the confidence (:math:`C` in [1]_); in variant I, the largest step
        :math:`\alpha`. Lower it when labels are noisy. {AUTO_STEP}""",
        search=Log(1e-3, 1e3),
        kw_only=False,
    )
    confidence: float = param(
        default=0.7,
        rule=above_half,
        doc=r"""The probability with which a row should be right after its update, above 0.5 and below 1 (:math:`\eta`
        in [1]_). Lower it when labels are noisy.""",
        search=Uniform(0.55, 0.99),
    )
    variant: str = param(default="I", rule=one_of("I", "II"), doc="SCW-I or SCW-II of [1]_.")

    def _learner(self, n_features: int) -> Learner:
        params = {"C": self._fixed_step, "phi": float(special.ndtri(self.confidence)), "squared": self.variant == "II"}
        return self._surest(_core.ScwDiagonal, _core.ScwFull, _core.ScwJoint, **params, average=self._averages)
