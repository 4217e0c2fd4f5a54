"""Pegasos in all losses."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from .. import _core
from .._engine import FOR_CLASSES, FOR_VALUES, Learner, loss_params, loss_rules
from .._estimators import Advice, GoodFor, LinearClassifier, LinearRegressor, OnlineLinear
from .._gate import Array, Log, Range, Uniform, at_least, boolean, one_per_feature, positive

_RULES = {
    "alpha": positive | one_per_feature,
    "batch_size": at_least(1),
    "projection": boolean,
    "average": boolean,
    "penalize_intercept": boolean,
}


class _Pegasos(OnlineLinear):
    """What the classifier and the regressor share."""

    alpha: Any
    loss: str
    batch_size: int
    projection: bool
    average: bool
    penalize_intercept: bool

    def _learner(self, n_features: int) -> Learner:
        inverse, each = inverse_alpha(self, n_features)
        params = {
            **loss_params(self),
            "inverse_alpha": inverse,
            "inverse_alphas": each,
            "projection": bool(self.projection),
            "average": bool(self.average),
            "free_constant": not self.penalize_intercept,
            "batch_size": float(self.batch_size),
        }
        return Learner(_core.Pegasos if self.batch_size == 1 else _core.PegasosBatch, params)


def inverse_alpha(estimator: Any, n_features: int) -> tuple[float, Array | None]:
    """1 / alpha for all weights, or for each of them and the constant; a feature of infinite alpha is left out."""
    if np.ndim(estimator.alpha) == 0:
        return 1.0 / float(estimator.alpha), None
    who = type(estimator).__name__
    try:
        alpha = np.asarray(estimator.alpha, dtype=np.float64)
    except (TypeError, ValueError):
        raise ValueError(f"{who}: alpha must be one number above 0 per feature, got {estimator.alpha!r}.") from None
    if len(alpha) != n_features:
        raise ValueError(f"{who}: alpha must have one entry per feature, got {len(alpha)} for {n_features} features.")
    if not (alpha > 0).all():
        bad = int(np.flatnonzero(~(alpha > 0))[0])
        raise ValueError(f"{who}: alpha must hold numbers above 0, got {alpha[bad]} for feature {bad}.")
    kept = alpha[np.isfinite(alpha)]
    if not len(kept):
        raise ValueError(f"{who}: alpha must be finite for one feature at least, got inf for all of them.")
    return 1.0, np.append(1.0 / alpha, 1.0 / kept.mean())  # the constant is penalised like the average feature


class PegasosClassifier(_Pegasos, LinearClassifier):
    r"""Linear support vector machine and its relatives, by stochastic subgradient steps.

    Minimises :math:`\frac{\alpha}{2}\|w\|^2 + \frac1n\sum_i \ell(w^\top x_i, y_i)` with steps of length
    :math:`1/(\alpha t)`. The model is dense: every feature that occurred has a weight. Choose
    :class:`~thresher.dual_averaging.L1RDAClassifier` for a sparse one, :class:`~thresher.online.AROWClassifier` when
    there is no time to tune ``alpha``.

    .. math:: w \leftarrow \Big(1 - \frac1t\Big) w - \frac{1}{\alpha t}\, g_t, \qquad
              w \leftarrow \min\!\Big(1, \frac{R}{\|w\|}\Big) w, \qquad R^2 = \frac{c}{\alpha},

    where :math:`g_t` is the mean subgradient of a mini-batch and :math:`c = \sup_m -\ell'(m)\,m` makes the ball the
    smallest of its kind that is sure to hold the optimum: 1 for the hinge and pinball losses, 0.5 for the squared hinge
    and modified Huber losses, 0.278 for the logistic one.

    Parameters
    ----------
    alpha : float or array-like of shape (n_features,), default=1e-4
        Strength of the penalty (:math:`\lambda` in [1]_ and [2]_). One value per feature gives coordinate-wise Pegasos:
        each weight has its own penalty :math:`\frac{\alpha_j}{2} w_j^2`, and the projection uses the same metric.
        An infinite value leaves a feature out; :func:`ard_weights` finds values from data.
    <losses for classes>
    batch_size : int, default=1
        Rows of a mini-batch (:math:`k`).
    projection : bool, default=True
        Project into the ball. Without it this is plain stochastic gradient descent.
    average : bool, default=False
        Predict with the mean of all iterates instead of the last one: steadier, and what the theory speaks of.
    <intercept>
    penalize_intercept : bool, default=True
        Penalise that weight like the others. A free one takes steps of :math:`1/(\alpha t)` without shrinkage, and is
        wild at the start when ``alpha`` is small.
    <passes>
    <classes>

    Attributes
    ----------
    <fitted classifier>
    <fitted>

    Notes
    -----
    A row costs O(its stored values): weights are kept as ``scale * v``, so shrinking and projecting
    everything is one multiplication. With ``batch_size`` above 1, :meth:`fit` closes the last mini-batch with the rows
    it has, while :meth:`partial_fit` keeps an unfinished one for the next call; chunks at multiples of ``batch_size``
    give the bits of one pass.

    References
    ----------
    .. [1] S. Shalev-Shwartz, Y. Singer, N. Srebro and A. Cotter, "Pegasos: primal estimated sub-gradient solver for
       SVM", Mathematical Programming 127, 2011.
    .. [2] V. Jumutc, "Flexible software design for stochastic and kernel-based learning in advanced data-driven
       modelling", KU Leuven, 2016.

    Examples
    --------
    >>> from thresher.stochastic import PegasosClassifier
    >>> X = [[0.0, 1.0], [1.0, 0.0], [0.1, 0.9], [0.9, 0.2]]
    >>> y = ["ham", "spam", "ham", "spam"]
    >>> PegasosClassifier(alpha=0.1, loss="logistic", random_state=0).fit(X, y).predict([[1.0, 0.1]])
    array(['spam'], dtype='<U4')
    """

    _advice = Advice(
        GoodFor(
            1,
            "the rows are dense with {p.n_features:,} columns, where support vector machines do well",
            lambda p: not (p.is_text or p.is_wide or p.wants_sparsity),
        ),
        GoodFor(2, "it takes rows of any kind and many losses", lambda p: not p.wants_sparsity),
        GoodFor(3, aim="nothing to tune"),
        GoodFor(1, aim="linear"),
    )

    _param_rules = LinearClassifier._param_rules | _RULES | loss_rules(FOR_CLASSES)
    _search_space: ClassVar[dict[str, Range]] = {
        "alpha": Log(1e-7, 1e-1),
        "tau": Uniform(0.0, 1.0, when={"loss": "pinball"}),
    }

    def __init__(
        self,
        alpha: Any = 1e-4,
        *,
        loss: str = "hinge",
        tau: float = 0.5,
        batch_size: int = 1,
        projection: bool = True,
        average: bool = False,
        fit_intercept: bool = True,
        penalize_intercept: bool = True,
        intercept_scaling: float = 0.1,
        max_iter: int = 5,
        n_steps: int | None = None,
        tol: float | None = None,
        shuffle: bool = True,
        class_weight: Any = None,
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.alpha = alpha
        self.loss = loss
        self.tau = tau
        self.batch_size = batch_size
        self.projection = projection
        self.average = average
        self.fit_intercept = fit_intercept
        self.penalize_intercept = penalize_intercept
        self.intercept_scaling = intercept_scaling
        self.max_iter = max_iter
        self.n_steps = n_steps
        self.tol = tol
        self.shuffle = shuffle
        self.class_weight = class_weight
        self.random_state = random_state
        self.n_jobs = n_jobs


class PegasosRegressor(_Pegasos, LinearRegressor):
    r"""Linear regression by stochastic subgradient steps: least squares, epsilon-insensitive or quantile.

    Minimises :math:`\frac{\alpha}{2}\|w\|^2 + \frac1n\sum_i \ell(w^\top x_i, y_i)` as :class:`PegasosClassifier` does.
    The radius of the ball follows the targets seen so far, :math:`R^2 = \bar c / \alpha` with :math:`\bar c` the mean
    of :math:`c(y) = \sup_p -\ell'(p, y)\,p` (:math:`y^2/4` for the squared loss), so that it never shuts out the
    optimum however large the targets are.

    Scale the features, and mind ``alpha`` with the squared loss: steps overshoot while
    :math:`\alpha t < \|x\|^2 / 2`, which is 60,000 steps for the default and rows of squared norm 12. Where a constant
    would predict better, :meth:`fit` warns; ``alpha=1e-2`` is then a good next try.

    Parameters
    ----------
    alpha : float or array-like of shape (n_features,), default=1e-4
        Strength of the penalty (:math:`\lambda` in [1]_), one for all or one per feature.
    <losses for values>
    batch_size : int, default=1
        Rows of a mini-batch (:math:`k`).
    projection : bool, default=True
        Project into the ball. Without it this is plain stochastic gradient descent.
    average : bool, default=False
        Predict with the mean of all iterates instead of the last one.
    <intercept>
    penalize_intercept : bool, default=True
        Penalise that weight like the others.
    <passes>

    Attributes
    ----------
    <fitted regressor>
    <fitted>

    References
    ----------
    .. [1] V. Jumutc, "Flexible software design for stochastic and kernel-based learning in advanced data-driven
       modelling", KU Leuven, 2016.

    Examples
    --------
    >>> import numpy as np
    >>> from thresher.stochastic import PegasosRegressor
    >>> X = np.linspace(-1, 1, 200).reshape(-1, 1)
    >>> model = PegasosRegressor(alpha=1e-3, max_iter=50, random_state=0).fit(X, 3 * X[:, 0] + 1)
    >>> np.round(model.predict([[0.5]]), 1)
    array([2.5])
    """

    _advice = Advice(
        GoodFor(1, "{they} learn{s} amounts from rows in any order", lambda p: not p.wants_sparsity),
        GoodFor(1, aim="robust"),
        start=lambda p: {"alpha": 1e-2},  # small data are not done with long first steps
    )

    _param_rules = LinearRegressor._param_rules | _RULES | loss_rules(FOR_VALUES)
    _search_space: ClassVar[dict[str, Range]] = {"alpha": Log(1e-7, 1.0)}

    def __init__(
        self,
        alpha: Any = 1e-4,
        *,
        loss: str = "squared",
        tau: float = 0.5,
        epsilon: float = 0.1,
        batch_size: int = 1,
        projection: bool = True,
        average: bool = False,
        fit_intercept: bool = True,
        penalize_intercept: bool = True,
        intercept_scaling: float = 1.0,
        max_iter: int = 20,
        n_steps: int | None = None,
        tol: float | None = None,
        shuffle: bool = True,
        random_state: Any = None,
    ) -> None:
        self.alpha = alpha
        self.loss = loss
        self.tau = tau
        self.epsilon = epsilon
        self.batch_size = batch_size
        self.projection = projection
        self.average = average
        self.fit_intercept = fit_intercept
        self.penalize_intercept = penalize_intercept
        self.intercept_scaling = intercept_scaling
        self.max_iter = max_iter
        self.n_steps = n_steps
        self.tol = tol
        self.shuffle = shuffle
        self.random_state = random_state
