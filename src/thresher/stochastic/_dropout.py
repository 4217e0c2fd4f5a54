"""Pegasos that shrinks weights by chance, the large ones more often."""

from __future__ import annotations

from typing import Any

from .. import _core
from .._engine import Learner, loss_params
from .._estimators import AUTO_STEP, ClassLoss, SeededClassifier, param
from .._gate import Log
from ._pegasos import RidgeByFeature


class DropoutPegasosClassifier(RidgeByFeature, ClassLoss, SeededClassifier):
    r"""Pegasos with dropout: each step shrinks a random subset of the weights, mostly large ones.

    A step of :class:`PegasosClassifier` shrinks all weights. Here each weight shrinks at random:

    .. math:: r_j \sim \text{Bernoulli}\Big(\frac{w_j^2}{1 + w_j^2}\Big), \qquad
              w \leftarrow w - \frac1t\, w \circ r - \frac{1}{\alpha t}\, g_t,

    where both terms use the weights before the step. In expectation the steps follow the gradient of

    .. math:: \frac1n\sum_i \ell(w^\top x_i, y_i) + \frac{\alpha}{2} \sum_j \big(w_j^2 - \log(1 + w_j^2)\big),

    a penalty that is flat at 0 (it grows like :math:`w^4 / 2` there) and quadratic far away: small weights are hardly
    penalised, dominant ones are restrained, and many features contribute. Choose it for that, or to compare with
    SALSA.jl's ``DROP_OUT``. The model is dense, the objective is not strongly convex, and there is no convergence
    guarantee for steps of :math:`1/(\alpha t)`. For guarantees choose :class:`PegasosClassifier`, for sparse models
    :class:`~thresher.dual_averaging.L1RDAClassifier`.

    Notes
    -----
    Each draw depends only on the seed of its output, the step and the feature. Features absent from a row cost nothing:
    when a row has the feature again, the learner draws how many of the steps in between shrank its weight. One draw
    covers up to a quarter of the steps so far; its distribution is that of a coin in every step, up to an error far
    below its spread. The first 64 steps have a coin each. From then on, shrinkage by the latest steps, at most a
    sixteenth of the steps so far, counts with its mean until a draw decides it. A row costs O(its stored values). A
    weight near 1 shrinks in every second step, a weight of 0.1 in about one of a hundred. There is no projection into a
    ball (the thesis leaves it open, SALSA.jl has none), no mini-batch and no averaging.

    References
    ----------
    .. [1] V. Jumutc, "Flexible software design for stochastic and kernel-based learning in advanced data-driven
       modelling", KU Leuven, 2016, Algorithm 11; printed with the gradient's sign reversed, and with the remark on
       dominant features reversed, too.

    Examples
    --------
    >>> from thresher.stochastic import DropoutPegasosClassifier
    >>> X = [[0.0, 1.0], [1.0, 0.0], [0.1, 0.9], [0.9, 0.2]]
    >>> y = ["ham", "spam", "ham", "spam"]
    >>> DropoutPegasosClassifier(alpha=0.1, loss="logistic", random_state=0).fit(X, y).predict([[1.0, 0.1]])
    array(['spam'], dtype='<U4')
    """

    _raced = RidgeByFeature._raced._replace(candidates=(1e2, 3e2, 1e3, 1e4), race_rows=1 << 14)

    alpha: Any = param(
        default="auto",
        doc=rf"""Strength of the penalty (:math:`\lambda` in [1]_), one for all or one per feature. With squared losses,
        the first steps are long and not limited: scale the rows and use an ``alpha`` of 0.1 or more. {AUTO_STEP}""",
        search=Log(1e-6, 1.0),
        kw_only=False,
    )
    penalize_intercept: bool = param(
        default=True, doc="Let the constant weight shrink at random, too; otherwise it never shrinks."
    )

    def _learner(self, n_features: int) -> Learner:
        return Learner(_core.DropoutPegasos, {**loss_params(self), **self._penalty_params(n_features)})
