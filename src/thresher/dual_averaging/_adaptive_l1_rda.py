"""Adaptive dual averaging with an l1 penalty."""

from __future__ import annotations

from typing import Any, ClassVar

from .. import _core
from .._engine import FOR_CLASSES, FOR_VALUES, Learner, loss_rules
from .._estimators import Advice, GoodFor, LinearClassifier, LinearRegressor, Power
from .._gate import Log, Range, Uniform, auto, non_negative, positive
from ._sparse import SPARSE_RULES, SparseLinear

_FOR_SPARSITY = GoodFor(
    2,
    "few features are wanted, zeros are exact, and {first} takes long steps for rare features",
    lambda p: p.wants_sparsity and p.is_wide,
)
_RULES = SPARSE_RULES | {
    "alpha": non_negative | auto,
    "eta0": positive,
    "smoothing": positive,
    "l2_weight": non_negative,
}


class _AdaptiveL1RDA(SparseLinear):
    """What the classifier and the regressor share."""

    alpha: Any
    eta0: float
    smoothing: float
    l2_weight: float

    def _learner(self, n_features: int) -> Learner:
        numbers = {name: float(getattr(self, name)) for name in ("eta0", "smoothing", "l2_weight")}
        return self._sparse_learner(_core.AdaptiveL1Rda, **numbers)


class AdaptiveL1RDAClassifier(_AdaptiveL1RDA, LinearClassifier):
    r"""Sparse linear classifier by dual averaging with a step size for every feature: rare features take longer steps.

    As :class:`L1RDAClassifier` it keeps exact zeros in a stream. Where features differ in how often they occur, as
    words do, it is a little more accurate at the same number of features, mostly where many of them are
    kept, and asks for less tuning of ``eta0``.

    After :math:`t` steps with gradients :math:`g_1, \dots, g_t`, feature by feature,

    .. math:: w = -\frac{\mathrm{soft}\big(\sum_s g_s,\ \alpha t\big)}{\kappa t + H/\eta_0}, \qquad
              H = \delta + \sqrt{\textstyle\sum_s g_s^2},

    with :math:`\kappa` = ``l2_weight`` and :math:`\delta` = ``smoothing``; for :math:`\kappa > 0` the elastic net.

    Parameters
    ----------
    alpha : float or "auto", default=1e-4
        Strength of the l1 penalty (:math:`\lambda` in [1]_ and [2]_). Larger values give fewer features.
        ``"auto"`` learns with 13 strengths side by side and reads the one with the least progressive loss.
    eta0 : float, default=1.0
        Step size (:math:`\eta` in [1]_ and [2]_). From 0.1 to 10: the fewer features are wanted, the larger.
    smoothing : float, default=0.01
        What a feature's step size begins with, before it has seen gradients of its own (:math:`\delta` in [1]_,
        :math:`\rho` in [2]_).
    l2_weight : float, default=0.0
        Strength of the l2 penalty.
    <losses for classes>
    <selection>
    <intercept>
    penalize_intercept : bool, default=False
        Penalise that weight like the others.
    <passes>
    <classes>

    Attributes
    ----------
    <fitted classifier>
    <fitted>

    Notes
    -----
    Two sums are stored for each feature; a weight is computed when a row asks for it. A row costs O(its stored values),
    and any chunking into calls of :meth:`partial_fit` gives the same bits.

    References
    ----------
    .. [1] J. Duchi, E. Hazan and Y. Singer, "Adaptive subgradient methods for online learning and stochastic
       optimization", JMLR 12, 2011.
    .. [2] V. Jumutc, "Flexible software design for stochastic and kernel-based learning in advanced data-driven
       modelling", KU Leuven, 2016.

    Examples
    --------
    >>> import numpy as np
    >>> from thresher.dual_averaging import AdaptiveL1RDAClassifier
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(2000, 100))
    >>> y = X[:, 3] - X[:, 7] > 0
    >>> AdaptiveL1RDAClassifier(n_features_to_select=2, random_state=0).fit(X, y).support_
    array([3, 7])
    """

    _advice = Advice(_FOR_SPARSITY, GoodFor(3, aim="few features"))

    _param_rules = LinearClassifier._param_rules | _RULES | loss_rules(FOR_CLASSES)
    _search_space: ClassVar[dict[str, Range]] = {
        "alpha": Log(1e-7, 1e-1),
        "eta0": Log(1e-2, 1e2),
        "tau": Uniform(0.0, 1.0, when={"loss": "pinball"}),
    }

    def __init__(
        self,
        alpha: Any = 1e-4,
        *,
        eta0: float = 1.0,
        smoothing: float = 0.01,
        l2_weight: float = 0.0,
        loss: str = "hinge",
        tau: float = 0.5,
        n_features_to_select: int | None = None,
        debias: bool = False,
        fit_intercept: bool = True,
        penalize_intercept: bool = False,
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
        self.eta0 = eta0
        self.smoothing = smoothing
        self.l2_weight = l2_weight
        self.loss = loss
        self.tau = tau
        self.n_features_to_select = n_features_to_select
        self.debias = debias
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


class AdaptiveL1RDARegressor(_AdaptiveL1RDA, LinearRegressor):
    r"""Sparse linear regression by dual averaging with a step size for every feature.

    See :class:`AdaptiveL1RDAClassifier` for the equations. Steps shrink with the gradients a feature has seen, so that
    it forgives features of different sizes more readily than :class:`L1RDARegressor`.

    Parameters
    ----------
    alpha : float or "auto", default=1e-4
        Strength of the l1 penalty (:math:`\lambda` in [1]_). Larger values give fewer features.
        ``"auto"`` learns with 13 strengths side by side and reads the one with the least progressive loss.
    eta0 : float, default=1.0
        Step size (:math:`\eta` in [1]_).
    smoothing : float, default=0.01
        What a feature's step size begins with (:math:`\delta` in [1]_).
    l2_weight : float, default=0.0
        Strength of the l2 penalty.
    <losses for values>
    <selection>
    <intercept>
    penalize_intercept : bool, default=False
        Penalise that weight like the others.
    <passes>

    Attributes
    ----------
    <fitted regressor>
    <fitted>

    References
    ----------
    .. [1] J. Duchi, E. Hazan and Y. Singer, "Adaptive subgradient methods for online learning and stochastic
       optimization", JMLR 12, 2011.

    Examples
    --------
    >>> import numpy as np
    >>> from thresher.dual_averaging import AdaptiveL1RDARegressor
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(2000, 20))
    >>> model = AdaptiveL1RDARegressor(alpha=0.1, random_state=0).fit(X, 2 * X[:, 3] - X[:, 7])
    >>> model.support_
    array([3, 7])
    """

    _advice = Advice(
        _FOR_SPARSITY,
        GoodFor(1, aim="few features"),
        powers={"alpha": Power(squared=1), "eta0": Power(squared=1, other=1)},
    )

    _param_rules = LinearRegressor._param_rules | _RULES | loss_rules(FOR_VALUES)
    _search_space: ClassVar[dict[str, Range]] = {"alpha": Log(1e-7, 1.0), "eta0": Log(1e-3, 1e2)}

    def __init__(
        self,
        alpha: Any = 1e-4,
        *,
        eta0: float = 1.0,
        smoothing: float = 0.01,
        l2_weight: float = 0.0,
        loss: str = "squared",
        tau: float = 0.5,
        epsilon: float = 0.1,
        n_features_to_select: int | None = None,
        debias: bool = False,
        fit_intercept: bool = True,
        penalize_intercept: bool = False,
        intercept_scaling: float = 1.0,
        max_iter: int = 5,
        n_steps: int | None = None,
        tol: float | None = None,
        shuffle: bool = True,
        random_state: Any = None,
    ) -> None:
        self.alpha = alpha
        self.eta0 = eta0
        self.smoothing = smoothing
        self.l2_weight = l2_weight
        self.loss = loss
        self.tau = tau
        self.epsilon = epsilon
        self.n_features_to_select = n_features_to_select
        self.debias = debias
        self.fit_intercept = fit_intercept
        self.penalize_intercept = penalize_intercept
        self.intercept_scaling = intercept_scaling
        self.max_iter = max_iter
        self.n_steps = n_steps
        self.tol = tol
        self.shuffle = shuffle
        self.random_state = random_state
