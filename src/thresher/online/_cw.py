"""Confidence-weighted classification."""

from __future__ import annotations

from scipy.special import ndtri

from .. import _core
from .._engine import Learner
from .._estimators import param
from .._gate import Uniform, above_half, one_of
from ._confident import DiagonalClassifier


class CWClassifier(DiagonalClassifier):
    r"""Confidence-weighted classifier: after each row the model must be right about it with a probability.

    Weights are normal, with a mean :math:`\mu` and a covariance :math:`\Sigma`. A row of which the model is not sure
    enough changes both as little as possible (Kullback-Leibler), until it is. Very fast on clean data with many rare
    features, such as text, and aggressive: one wrong label must be obeyed like all others. Choose
    :class:`SCWClassifier` or :class:`AROWClassifier` when labels are noisy.

    With :math:`\phi = \Phi^{-1}(\text{confidence})`, :math:`m = y\,\mu^\top x` and :math:`v = x^\top \Sigma x`,

    .. math:: \min\ \mathrm{KL}\big(N(\mu', \Sigma')\,\|\,N(\mu, \Sigma)\big)
              \quad\text{subject to}\quad m' \ge \phi \sqrt{v'}\ (\text{stdev})
              \quad\text{or}\quad m' \ge \phi v'\ (\text{variance}),

    whose solution is :math:`\mu \leftarrow \mu + \alpha\,y\,\Sigma x` and :math:`\Sigma^{-1} \leftarrow \Sigma^{-1} +
    \frac{\alpha \phi}{\sqrt{v'}} x x^\top` (or :math:`2 \alpha \phi\, x x^\top`), with :math:`\alpha` in closed form.

    Notes
    -----
    A pass costs O(stored values) with a diagonal covariance. More than two classes: see ``multi_class``.
    Any chunking into calls of :meth:`partial_fit` gives the same bits. The constraint is hard, so that a row weight
    makes no difference (except 0). ``progressive_loss_`` is the hinge loss, to compare with other learners.

    References
    ----------
    .. [1] M. Dredze, K. Crammer and F. Pereira, "Confidence-weighted linear classification", ICML 2008.
    .. [2] K. Crammer, M. Dredze and F. Pereira, "Exact convex confidence-weighted learning", NIPS 2008.

    Examples
    --------
    >>> bool(model.predict_proba([[1.0, 0.1]])[0, 1] > 0.8)
    True
    """

    confidence: float = param(
        default=0.9,
        rule=above_half,
        doc=r"""The probability with which a row must be right after its update, above 0.5 and below 1 (:math:`\eta` in
        [1]_ and [2]_). Larger values take longer steps.""",
        search=Uniform(0.55, 0.99),
        kw_only=False,
    )
    variant: str = param(
        default="stdev",
        rule=one_of("stdev", "variance"),
        doc="""The constraint as it stands, in standard deviations [2]_, or with a variance in their place [1]_.""",
    )

    multi_class: str = param(
        default="one_vs_rest",
        doc="""How more than two classes are learned. ``"one_vs_rest"``: each against all others, in ``n_jobs`` threads,
        as published. ``"joint"``: together, in one step for each row, which moves the class of the row up and the best
        of the other classes down. ``"auto"``: both side by side, and the one with fewer mistakes on late rows goes
        on.""",
    )

    def _learner(self, n_features: int) -> Learner:
        phi = float(ndtri(self.confidence))
        if self.variant == "variance":
            return self._surest(_core.CwVarianceDiagonal, _core.CwVarianceFull, _core.CwVarianceJoint, phi=phi)
        return self._surest(_core.CwDiagonal, _core.CwFull, _core.CwJoint, phi=phi)
