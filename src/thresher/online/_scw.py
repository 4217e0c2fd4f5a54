"""Soft confidence-weighted classification."""

from __future__ import annotations

from .. import _core
from .._engine import Learner
from .._estimators import AUTO_STEP, Advice, GoodFor, Step, StepInUse, param
from .._gate import Log, Uniform, above_half, auto, one_of, positive, special
from ._confident import DiagonalClassifier


class SCWClassifier(DiagonalClassifier):
    r"""Soft confidence-weighted classifier: sure of every row, unless that costs too much.

    :class:`CWClassifier` with a price ``C`` instead of a constraint, so that a wrong label moves the model only so far.
    A good first choice among learners with variances when labels are noisy; :class:`AROWClassifier` has one parameter
    less.

    With :math:`\phi = \Phi^{-1}(\text{confidence})`, :math:`m = y\,\mu^\top x` and :math:`v = x^\top \Sigma x`,

    .. math:: \min\ \mathrm{KL}\big(N(\mu', \Sigma')\,\|\,N(\mu, \Sigma)\big) + C \ell\ (\text{I})
              \quad\text{or}\quad + C \ell^2\ (\text{II}), \qquad \ell = \max(0, \phi \sqrt{v'} - m').

    Attributes
    ----------
    C_ : float
        The price of the model that is read; in units of scaled rows where they are scaled.

    Notes
    -----
    A pass costs O(stored values) with a diagonal covariance. More than two classes: see ``multi_class``.
    Any chunking into calls of :meth:`partial_fit` gives the same bits. A row weight multiplies ``C``.
    ``progressive_loss_`` is the hinge loss, to compare with other learners.

    References
    ----------
    .. [1] J. Wang, P. Zhao and S. C. H. Hoi, "Exact soft confidence-weighted learning", ICML 2012.
    """

    _advice = Advice(GoodFor(2, aim="nothing to tune"))

    _raced = Step("C", "C", -1.0, (1.0, 1e1, 1e2, 1e3))
    C_ = StepInUse()

    C: float | str = param(
        default="auto",
        rule=positive | auto,
        doc=rf"""Price of a row that stays short of the confidence (:math:`C` in [1]_): the longest step :math:`\alpha`
        of variant I. Lower it when labels are noisy. {AUTO_STEP}""",
        search=Log(1e-3, 1e3),
        kw_only=False,
    )
    confidence: float = param(
        default=0.9,
        rule=above_half,
        doc=r"""The probability with which a row should be right after its update, above 0.5 and below 1 (:math:`\eta`
        in [1]_).""",
        search=Uniform(0.55, 0.99),
    )
    variant: str = param(default="I", rule=one_of("I", "II"), doc="SCW-I or SCW-II of [1]_.")

    def _learner(self, n_features: int) -> Learner:
        params = {"C": self._fixed_step, "phi": float(special.ndtri(self.confidence)), "squared": self.variant == "II"}
        return self._surest(_core.ScwDiagonal, _core.ScwFull, _core.ScwJoint, **params)
