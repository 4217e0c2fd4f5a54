"""Pegasos that shrinks weights by chance, the large ones more often."""

from __future__ import annotations

from typing import Any

from .. import _core
from .._engine import Learner, loss_params
from .._estimators import AUTO_STEP, ClassLoss, SeededClassifier, param
from .._gate import Log
from ._pegasos import RidgeByFeature

_LONGEST_WAIT = 16384  # as in core/learners/dropout_pegasos.hpp


class DropoutPegasosClassifier(RidgeByFeature, ClassLoss, SeededClassifier):
    r"""Pegasos with dropout: chance decides which weights shrink, and it is the large ones that mostly do.

    A step of :class:`PegasosClassifier` shrinks all weights. Here each has a coin of its own:

    .. math:: r_j \sim \text{Bernoulli}\Big(\frac{w_j^2}{1 + w_j^2}\Big), \qquad
              w \leftarrow w - \frac1t\, w \circ r - \frac{1}{\alpha t}\, g_t,

    where both terms use the weights before the step. In expectation the steps follow the gradient of

    .. math:: \frac1n\sum_i \ell(w^\top x_i, y_i) + \frac{\alpha}{2} \sum_j \big(w_j^2 - \log(1 + w_j^2)\big),

    a penalty that is flat at 0 (it grows like :math:`w^4 / 2` there) and quadratic far away: small weights are left
    alone, dominant ones are held back, and many features share the work. Choose it for that, or to compare with
    SALSA.jl's ``DROP_OUT``. Expect nothing else of it: the model is dense, the objective is not strongly convex, and no
    theory vouches for steps of :math:`1/(\alpha t)`. :class:`PegasosClassifier` has the guarantees,
    :class:`~thresher.dual_averaging.L1RDAClassifier` the zeros.

    Notes
    -----
    A coin is a function of its output's seed, the step and the feature, so there is no generator to keep. Features that
    a row does not have cost nothing at that row: the wait until the coin next says shrink is drawn instead (it is
    geometric), which is the same in law. A row costs O(its stored values), and every shrink O(1) later on. A weight
    near 1 shrinks in every second step, a weight of 0.1 in one of a hundred. There is no projection into a ball (the
    thesis leaves it open, SALSA.jl has none), no mini-batch and no averaging.

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

    _raced = RidgeByFeature._raced._replace(candidates=(1e2, 3e2, 1e3, 1e4))

    alpha: Any = param(
        default="auto",
        doc=rf"""Strength of the penalty (:math:`\lambda` in [1]_), one for all or one per feature. Nothing holds the
        first, long steps of the squared losses back: with those, scale the rows and take an ``alpha`` of 0.1 or
        more. {AUTO_STEP}""",
        search=Log(1e-6, 1.0),
        kw_only=False,
    )
    penalize_intercept: bool = param(default=True, doc="Toss a coin for that weight, too. A free one never shrinks.")

    def _learner(self, n_features: int) -> Learner:
        return Learner(_core.DropoutPegasos, {**loss_params(self), **self._penalty_params(n_features)})

    def _check_loaded(self) -> None:
        """Refuse a state that would keep its reader busy for ages."""
        a = self.state_.arrays
        if (a["n_steps"] - a["settled"] >= _LONGEST_WAIT).any():
            raise ValueError(f"{type(self).__name__}: settled must be less than {_LONGEST_WAIT} steps ago.")
        if not ((a["due"] == 0) | (a["due"] > a["settled"])).all():
            raise ValueError(f"{type(self).__name__}: due must hold steps after settled.")
