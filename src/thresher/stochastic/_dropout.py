"""Pegasos that shrinks weights by chance, the large ones more often."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from .. import _core, _engine
from .._engine import FOR_CLASSES, Learner, State, loss_params, loss_rules
from .._estimators import LinearClassifier
from .._gate import Log, Range, Uniform, boolean, one_per_feature, positive
from ._pegasos import inverse_alpha

_WHOLE = 2.0**53  # up to here, every whole number is a float64
_SEEDS = 2**40  # so that those of thousands of shards add up exactly
_LONGEST_WAIT = 16384  # as in core/learners/dropout_pegasos.hpp


class DropoutPegasosClassifier(LinearClassifier):
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

    Parameters
    ----------
    alpha : float or array-like of shape (n_features,), default=1e-4
        Strength of the penalty (:math:`\lambda` in [1]_), one for all or one per feature. Nothing holds the first, long
        steps of the squared losses back: with those, scale the rows and take an ``alpha`` of 0.1 or more.
    <losses for classes>
    <intercept>
    penalize_intercept : bool, default=True
        Toss a coin for that weight, too. A free one never shrinks.
    max_iter : int, default=5
        Passes over the data in :meth:`fit`. :meth:`partial_fit` always makes one.
    n_steps : int, optional
        Instead of ``max_iter`` passes, that many steps (:math:`T`), of one row each.
    tol : float, optional
        Stop :meth:`fit` when a pass moves the weights by less (Euclidean norm). Never while they are all zero.
    shuffle : bool, default=True
        Visit the rows in a new random order on every pass of :meth:`fit`: blocks of 64 rows, or single rows where they
        come sorted by label.
    <classes>
    random_state : int, RandomState or Generator, optional
        Source of the visiting orders, and of the seeds of all coins. Seeds are drawn by the first call of :meth:`fit`
        or :meth:`partial_fit` and kept in ``state_`` (and so in files): what comes later is settled by them, however
        the rows are cut into batches.

    Attributes
    ----------
    <fitted classifier>
    <fitted>

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

    _param_rules = (
        LinearClassifier._param_rules
        | {"alpha": positive | one_per_feature, "penalize_intercept": boolean}
        | loss_rules(FOR_CLASSES)
    )
    _search_space: ClassVar[dict[str, Range]] = {
        "alpha": Log(1e-6, 1.0),
        "tau": Uniform(0.0, 1.0, when={"loss": "pinball"}),
    }

    def __init__(
        self,
        alpha: Any = 1e-4,
        *,
        loss: str = "hinge",
        tau: float = 0.5,
        fit_intercept: bool = True,
        penalize_intercept: bool = True,
        intercept_scaling: float = 0.1,
        max_iter: int = 5,
        n_steps: int | None = None,
        tol: float | None = None,
        shuffle: bool = True,
        class_weight: Any = None,
        n_jobs: int | None = None,
        random_state: Any = None,
    ) -> None:
        self.alpha = alpha
        self.loss = loss
        self.tau = tau
        self.fit_intercept = fit_intercept
        self.penalize_intercept = penalize_intercept
        self.intercept_scaling = intercept_scaling
        self.max_iter = max_iter
        self.n_steps = n_steps
        self.tol = tol
        self.shuffle = shuffle
        self.class_weight = class_weight
        self.n_jobs = n_jobs
        self.random_state = random_state

    def _learner(self, n_features: int) -> Learner:
        inverse, each = inverse_alpha(self, n_features)
        params = {
            **loss_params(self),
            "inverse_alpha": inverse,
            "inverse_alphas": each,
            "free_constant": not self.penalize_intercept,
        }
        return Learner(_core.DropoutPegasos, params)

    def _new_state(self, learner: Learner, n_features: int, n_outputs: int) -> State:
        state = super()._new_state(learner, n_features, n_outputs)
        state.arrays["seed"][:, 0] = _engine.generator(self.random_state).integers(_SEEDS, size=n_outputs)
        return state

    def _check_loaded(self) -> None:
        """Refuse a state that would keep its reader busy for ages."""
        a = self.state_.arrays
        for name in ("n_steps", "settled", "seed", "due"):
            if not ((a[name] >= 0) & (a[name] <= _WHOLE) & (a[name] == np.floor(a[name]))).all():
                raise ValueError(f"{type(self).__name__}: {name} must hold whole numbers from 0 to 2^53.")
        waited = a["n_steps"] - a["settled"]
        if not ((waited >= 0) & (waited < _LONGEST_WAIT)).all():
            raise ValueError(f"{type(self).__name__}: settled must be less than {_LONGEST_WAIT} steps ago.")
        if not ((a["due"] == 0) | (a["due"] > a["settled"])).all():
            raise ValueError(f"{type(self).__name__}: due must hold steps after settled.")
