"""Dual averaging with a reweighted l1 penalty."""

from __future__ import annotations

from typing import Any, ClassVar

from .. import _core
from .._engine import FOR_CLASSES, FOR_VALUES, Learner, loss_rules
from .._estimators import LinearClassifier, LinearRegressor
from .._gate import Log, Range, Uniform, auto, non_negative, positive
from ._sparse import SPARSE_RULES, SparseLinear

_RULES = SPARSE_RULES | {
    "alpha": non_negative | auto,
    "eta0": positive,
    "rho": non_negative,
    "smoothing": positive,
}


class _ReweightedL1RDA(SparseLinear):
    """What the classifier and the regressor share."""

    alpha: Any
    eta0: float
    rho: float
    smoothing: float

    def _learner(self, n_features: int) -> Learner:
        numbers = {name: float(getattr(self, name)) for name in ("eta0", "rho", "smoothing")}
        return self._sparse_learner(_core.ReweightedL1Rda, **numbers, l2_weight=0.0)


class ReweightedL1RDAClassifier(_ReweightedL1RDA, LinearClassifier):
    r"""Sparse linear classifier by dual averaging whose l1 penalty spares large weights and presses small ones.

    Every step weighs the penalty of each feature anew by :math:`1/(|w| + \epsilon)`: closer to counting features than
    :class:`L1RDAClassifier` is, with less shrinkage of those in use. It finds the support well where few features
    carry a lot; with thousands of them in use it is slow, and :class:`FTRLClassifier` the better choice.

    .. math:: w_{t+1} = -\frac{\eta_0}{\sqrt t}\,\mathrm{soft}\Big(G_t,\ \alpha Q_t + \frac{\rho\sqrt t}{\eta_0}\Big),
              \qquad Q_t = \sum_{s \le t}\Theta_s, \qquad \Theta_1 = 1, \quad
              \Theta_{t+1} = \frac{1}{|w_{t+1}| + \epsilon},

    with :math:`G_t` the sum of gradients.

    Parameters
    ----------
    alpha : float or "auto", default=1e-5
        Strength of the penalty (:math:`\lambda` in [1]_). A feature of weight zero meets ``alpha / smoothing``, one in
        use ``alpha / (|w| + smoothing)``: choose that quotient first.
        ``"auto"`` learns with 13 strengths side by side and reads the one with the least progressive loss.
    eta0 : float, default=1.0
        Step size (:math:`1/\gamma` in [1]_); see :class:`L1RDAClassifier`.
    rho : float, default=0.0
        Extra sparsity in early steps (:math:`\rho` in [1]_).
    smoothing : float, default=0.1
        Keeps the reweighting finite (:math:`\epsilon` in [1]_): the size at which a weight begins to count as large.
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
    A weight without gradient is brought up to date when a row asks for it: one that is zero in one operation, one in
    use step by step, as no closed form exists. All rows together cost O(stored values + steps of weights in use), never
    O(features) each. Any chunking into calls of :meth:`partial_fit` gives the same bits.

    References
    ----------
    .. [1] V. Jumutc, "Flexible software design for stochastic and kernel-based learning in advanced data-driven
       modelling", KU Leuven, 2016.

    Examples
    --------
    >>> import numpy as np
    >>> from thresher.dual_averaging import ReweightedL1RDAClassifier
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(2000, 100))
    >>> y = X[:, 3] - X[:, 7] > 0
    >>> ReweightedL1RDAClassifier(alpha=0.01, random_state=0).fit(X, y).support_
    array([3, 7])
    """

    _param_rules = LinearClassifier._param_rules | _RULES | loss_rules(FOR_CLASSES)
    _search_space: ClassVar[dict[str, Range]] = {
        "alpha": Log(1e-8, 1e-1),
        "eta0": Log(1e-3, 1e3),
        "smoothing": Log(1e-3, 1e1),
        "tau": Uniform(0.0, 1.0, when={"loss": "pinball"}),
    }

    def __init__(
        self,
        alpha: Any = 1e-5,
        *,
        eta0: float = 1.0,
        rho: float = 0.0,
        smoothing: float = 0.1,
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
        self.rho = rho
        self.smoothing = smoothing
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


class ReweightedL1RDARegressor(_ReweightedL1RDA, LinearRegressor):
    r"""Sparse linear regression by dual averaging with a reweighted l1 penalty.

    See :class:`ReweightedL1RDAClassifier` for the equations. The squared loss has gradients without a bound: scale
    features and targets to about 1, or lower ``eta0``.

    Parameters
    ----------
    alpha : float or "auto", default=1e-5
        Strength of the penalty (:math:`\lambda` in [1]_).
        ``"auto"`` learns with 13 strengths side by side and reads the one with the least progressive loss.
    eta0 : float, default=0.1
        Step size (:math:`1/\gamma` in [1]_).
    rho : float, default=0.0
        Extra sparsity in early steps (:math:`\rho` in [1]_).
    smoothing : float, default=0.1
        Keeps the reweighting finite (:math:`\epsilon` in [1]_).
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
    .. [1] V. Jumutc, "Flexible software design for stochastic and kernel-based learning in advanced data-driven
       modelling", KU Leuven, 2016.

    Examples
    --------
    >>> import numpy as np
    >>> from thresher.dual_averaging import ReweightedL1RDARegressor
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(2000, 20))
    >>> model = ReweightedL1RDARegressor(alpha=0.01, random_state=0).fit(X, 2 * X[:, 3] - X[:, 7])
    >>> model.support_
    array([3, 7])
    """

    _param_rules = LinearRegressor._param_rules | _RULES | loss_rules(FOR_VALUES)
    _search_space: ClassVar[dict[str, Range]] = {
        "alpha": Log(1e-8, 1e-1),
        "eta0": Log(1e-4, 1e2),
        "smoothing": Log(1e-3, 1e1),
    }

    def __init__(
        self,
        alpha: Any = 1e-5,
        *,
        eta0: float = 0.1,
        rho: float = 0.0,
        smoothing: float = 0.1,
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
        self.rho = rho
        self.smoothing = smoothing
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
