"""Dual averaging with an l1 penalty."""

from __future__ import annotations

from typing import Any, ClassVar

from .. import _core
from .._engine import FOR_CLASSES, FOR_VALUES, Learner, loss_rules
from .._estimators import Advice, GoodFor, LinearClassifier, LinearRegressor, Power
from .._gate import Log, Range, Uniform, at_least, auto, non_negative, positive
from ._sparse import SPARSE_RULES, SparseLinear

_FOR_SPARSITY = GoodFor(3, "few features are wanted and its zeros are exact", lambda p: p.wants_sparsity)
_RULES = SPARSE_RULES | {
    "alpha": non_negative | auto,
    "eta0": positive,
    "rho": non_negative,
    "l2_weight": non_negative,
    "batch_size": at_least(1),
}


class _L1RDA(SparseLinear):
    """What the classifier and the regressor share."""

    alpha: Any
    eta0: float
    rho: float
    l2_weight: float
    batch_size: int

    def _learner(self, n_features: int) -> Learner:
        if self.debias and self.batch_size > 1:
            raise ValueError(f"{type(self).__name__}: debias must be False with batch_size above 1, got True.")
        return self._sparse_learner(
            _core.L1Rda if self.batch_size == 1 else _core.L1RdaBatch,
            eta0=float(self.eta0),
            rho=float(self.rho),
            l2_weight=float(self.l2_weight),
            batch_size=float(self.batch_size),
        )


class L1RDAClassifier(_L1RDA, LinearClassifier):
    r"""Sparse linear classifier by regularised dual averaging: its zeros are exact, and survive ``partial_fit``.

    The mean of all gradients so far decides: a feature whose mean gradient stays below ``alpha`` has weight zero,
    however the stream was cut into batches. Choose it when the model must use few features and the data come once;
    :class:`~thresher.online.AROWClassifier` when accuracy counts more than sparsity.

    After :math:`t` steps with mean gradient :math:`\bar g`,

    .. math:: w = \arg\min_w\ \bar g^\top w + \alpha\|w\|_1 + \frac{\kappa}{2}\|w\|^2
                  + \frac{1}{\eta_0\sqrt t}\Big(\frac12\|w\|^2 + \rho\|w\|_1\Big)
                = -\frac{\mathrm{soft}\big(\bar g,\ \alpha + \rho/(\eta_0\sqrt t)\big)}{\kappa + 1/(\eta_0\sqrt t)},

    with :math:`\kappa` = ``l2_weight``. :math:`\alpha > 0, \kappa > 0` is the elastic net, :math:`\alpha = 0` plain l2
    dual averaging.

    Parameters
    ----------
    alpha : float or "auto", default=1e-4
        Strength of the l1 penalty (:math:`\lambda` in [1]_ and [2]_). Larger values give fewer features.
        ``"auto"`` learns with 13 strengths side by side and reads the one with the least progressive loss.
    eta0 : float, default=1.0
        Step size (:math:`1/\gamma` in [1]_ and [2]_). 1 suits features of unit size. Rows of norm 1 with many small
        values, as tf-idf makes them, want 10 to 300, with the logistic loss 300 to 3000: with less, margins never reach
        1 and every row counts alike.
    rho : float, default=0.0
        Extra sparsity in early steps (:math:`\rho` in [1]_ and [2]_): it raises the threshold by
        :math:`\rho / (\eta_0 \sqrt t)`.
    l2_weight : float, default=0.0
        Strength of the l2 penalty.
    <losses for classes>
    <selection>
    batch_size : int, default=1
        Rows of a mini-batch, whose mean gradient makes one step.
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
    Only the sum of gradients is stored; a weight is computed when a row asks for it. A row costs O(its
    stored values) and the model is exact after every one. Any chunking into calls of :meth:`partial_fit` gives the same
    bits; with ``batch_size`` above 1 an unfinished mini-batch waits in the state, and :meth:`fit` closes the last one
    with the rows it has.

    References
    ----------
    .. [1] L. Xiao, "Dual averaging methods for regularized stochastic learning and online optimization", JMLR 11, 2010.
    .. [2] H. Yang, "Sparse learning under regularization framework", CUHK, 2011.

    Examples
    --------
    >>> import numpy as np
    >>> from thresher.dual_averaging import L1RDAClassifier
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(2000, 100))
    >>> y = X[:, 3] - X[:, 7] > 0
    >>> model = L1RDAClassifier(alpha=0.1)
    >>> for i in range(0, 2000, 100):
    ...     model = model.partial_fit(X[i:i + 100], y[i:i + 100], classes=[False, True])
    >>> model.support_
    array([3, 7])
    """

    _advice = Advice(
        _FOR_SPARSITY,
        start=lambda p: {"eta0": 100.0} if p.is_sparse else {},  # rows of texts have length 1, spread over many columns
    )

    _param_rules = LinearClassifier._param_rules | _RULES | loss_rules(FOR_CLASSES)
    _search_space: ClassVar[dict[str, Range]] = {
        "alpha": Log(1e-7, 1e-1),
        "eta0": Log(1e-3, 1e3),
        "tau": Uniform(0.0, 1.0, when={"loss": "pinball"}),
    }

    def __init__(
        self,
        alpha: Any = 1e-4,
        *,
        eta0: float = 1.0,
        rho: float = 0.0,
        l2_weight: float = 0.0,
        loss: str = "hinge",
        tau: float = 0.5,
        n_features_to_select: int | None = None,
        debias: bool = False,
        batch_size: int = 1,
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
        self.l2_weight = l2_weight
        self.loss = loss
        self.tau = tau
        self.n_features_to_select = n_features_to_select
        self.debias = debias
        self.batch_size = batch_size
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


class L1RDARegressor(_L1RDA, LinearRegressor):
    r"""Sparse linear regression by regularised dual averaging; see :class:`L1RDAClassifier` for the equations.

    The squared loss has gradients without a bound: steps overshoot while :math:`\sqrt t < \eta_0 \|x\|^2 / 2`. Scale
    features and targets to about 1, or lower ``eta0``; weights that outgrow floating point are refused with advice.

    Parameters
    ----------
    alpha : float or "auto", default=1e-4
        Strength of the l1 penalty (:math:`\lambda` in [1]_). Larger values give fewer features.
        ``"auto"`` learns with 13 strengths side by side and reads the one with the least progressive loss.
    eta0 : float, default=0.1
        Step size (:math:`1/\gamma` in [1]_).
    rho : float, default=0.0
        Extra sparsity in early steps: it raises the threshold by :math:`\rho / (\eta_0 \sqrt t)`.
    l2_weight : float, default=0.0
        Strength of the l2 penalty.
    <losses for values>
    <selection>
    batch_size : int, default=1
        Rows of a mini-batch, whose mean gradient makes one step.
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
    .. [1] L. Xiao, "Dual averaging methods for regularized stochastic learning and online optimization", JMLR 11, 2010.

    Examples
    --------
    >>> import numpy as np
    >>> from thresher.dual_averaging import L1RDARegressor
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(2000, 20))
    >>> model = L1RDARegressor(alpha=0.1, random_state=0).fit(X, 2 * X[:, 3] - X[:, 7])
    >>> model.support_
    array([3, 7])
    """

    _advice = Advice(
        _FOR_SPARSITY,
        GoodFor(2, "{they} learn{s} amounts from rows in any order"),
        powers={"alpha": Power(squared=1), "eta0": Power(other=1)},
    )

    _param_rules = LinearRegressor._param_rules | _RULES | loss_rules(FOR_VALUES)
    _search_space: ClassVar[dict[str, Range]] = {"alpha": Log(1e-7, 1.0), "eta0": Log(1e-4, 1e2)}

    def __init__(
        self,
        alpha: Any = 1e-4,
        *,
        eta0: float = 0.1,
        rho: float = 0.0,
        l2_weight: float = 0.0,
        loss: str = "squared",
        tau: float = 0.5,
        epsilon: float = 0.1,
        n_features_to_select: int | None = None,
        debias: bool = False,
        batch_size: int = 1,
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
        self.l2_weight = l2_weight
        self.loss = loss
        self.tau = tau
        self.epsilon = epsilon
        self.n_features_to_select = n_features_to_select
        self.debias = debias
        self.batch_size = batch_size
        self.fit_intercept = fit_intercept
        self.penalize_intercept = penalize_intercept
        self.intercept_scaling = intercept_scaling
        self.max_iter = max_iter
        self.n_steps = n_steps
        self.tol = tol
        self.shuffle = shuffle
        self.random_state = random_state
