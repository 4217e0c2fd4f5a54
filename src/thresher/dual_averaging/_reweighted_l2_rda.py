"""Dual averaging with a reweighted l2 penalty."""

from __future__ import annotations

from typing import Any, ClassVar

from .. import _core
from .._engine import FOR_CLASSES, FOR_VALUES, Learner, loss_params, loss_rules
from .._estimators import LinearClassifier, LinearRegressor
from .._gate import Log, Range, Uniform, non_negative, positive
from ._synchronous import Synchronous

_RULES = {"alpha": positive, "smoothing": positive, "threshold": non_negative}


class _ReweightedL2RDA(Synchronous):
    """What the classifier and the regressor share."""

    _penalty = "threshold"
    _shorter_steps = "a larger alpha"

    alpha: float
    smoothing: float
    threshold: float
    loss: str

    def _learner(self, n_features: int) -> Learner:
        numbers = {name: float(getattr(self, name)) for name in ("alpha", "smoothing", "threshold")}
        return Learner(_core.ReweightedL2Rda, {**loss_params(self), **numbers})


class ReweightedL2RDAClassifier(_ReweightedL2RDA, LinearClassifier):
    r"""Linear classifier by dual averaging with a reweighted l2 penalty, an approximation of counting features.

    Every step weighs the penalty of each feature anew by :math:`1/(w^2 + \epsilon)`; large weights go free, small ones
    are pressed, and those of at most ``threshold`` count as zero when someone looks. Good at finding which of some
    hundred features are relevant; it needs no step size. On wide sparse data take :class:`FTRLClassifier`.

    .. math:: w_{t+1} = -\frac{G_t}{\alpha t + Q_t}, \qquad Q_t = \sum_{s \le t}\Theta_s, \qquad \Theta_1 = 1, \quad
              \Theta_{t+1} = \frac{1}{w_{t+1}^2 + \epsilon},

    with :math:`G_t` the sum of gradients.

    Parameters
    ----------
    alpha : float, default=1e-3
        Strength of the penalty (:math:`\lambda` in [1]_).
    smoothing : float, default=10.0
        Keeps the reweighting finite (:math:`\epsilon` in [1]_). Small weights are about ``smoothing`` times their mean
        gradient, so that it is a step size, too.
    threshold : float, default=1e-2
        Weights of at most this size are zero in ``coef_`` and in predictions. Learning goes on with all of them.
    <losses for classes>
    <intercept>
    <passes>
    <classes>

    Attributes
    ----------
    <fitted classifier>
    <fitted>

    Notes
    -----
    The constant is penalised like the other weights, but not cut. A weight without gradient is brought up to date when
    a row asks for it: by closed form, by steps while its recursion bends, and by one Newton solution of its flow beyond
    (to about 1e-8). Any chunking into calls of :meth:`partial_fit` gives the same bits.

    References
    ----------
    .. [1] V. Jumutc, "Flexible software design for stochastic and kernel-based learning in advanced data-driven
       modelling", KU Leuven, 2016.

    Examples
    --------
    >>> import numpy as np
    >>> from thresher.dual_averaging import ReweightedL2RDAClassifier
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(2000, 100))
    >>> y = X[:, 3] - X[:, 7] > 0
    >>> ReweightedL2RDAClassifier(threshold=0.3, random_state=0).fit(X, y).support_
    array([3, 7])
    """

    _param_rules = LinearClassifier._param_rules | _RULES | loss_rules(FOR_CLASSES)
    _search_space: ClassVar[dict[str, Range]] = {
        "alpha": Log(1e-6, 1.0),
        "smoothing": Log(1e-2, 1e3),
        "threshold": Log(1e-4, 1.0),
        "tau": Uniform(0.0, 1.0, when={"loss": "pinball"}),
    }

    def __init__(
        self,
        alpha: float = 1e-3,
        *,
        smoothing: float = 10.0,
        threshold: float = 1e-2,
        loss: str = "hinge",
        tau: float = 0.5,
        fit_intercept: bool = True,
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
        self.smoothing = smoothing
        self.threshold = threshold
        self.loss = loss
        self.tau = tau
        self.fit_intercept = fit_intercept
        self.intercept_scaling = intercept_scaling
        self.max_iter = max_iter
        self.n_steps = n_steps
        self.tol = tol
        self.shuffle = shuffle
        self.class_weight = class_weight
        self.random_state = random_state
        self.n_jobs = n_jobs


class ReweightedL2RDARegressor(_ReweightedL2RDA, LinearRegressor):
    r"""Linear regression by dual averaging with a reweighted l2 penalty.

    See :class:`ReweightedL2RDAClassifier` for the equations. The squared loss has gradients without a bound:
    steps overshoot while :math:`\alpha t < \|x\|^2 / 2`, so scale features and targets to about 1, or raise ``alpha``.

    Parameters
    ----------
    alpha : float, default=0.1
        Strength of the penalty (:math:`\lambda` in [1]_).
    smoothing : float, default=1.0
        Keeps the reweighting finite (:math:`\epsilon` in [1]_).
    threshold : float, default=1e-2
        Weights of at most this size are zero in ``coef_`` and in predictions.
    <losses for values>
    <intercept>
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
    >>> from thresher.dual_averaging import ReweightedL2RDARegressor
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(2000, 20))
    >>> model = ReweightedL2RDARegressor(threshold=0.1, random_state=0).fit(X, 2 * X[:, 3] - X[:, 7])
    >>> model.support_
    array([3, 7])
    """

    _param_rules = LinearRegressor._param_rules | _RULES | loss_rules(FOR_VALUES)
    _search_space: ClassVar[dict[str, Range]] = {
        "alpha": Log(1e-6, 1.0),
        "smoothing": Log(1e-3, 1e1),
        "threshold": Log(1e-4, 1.0),
    }

    def __init__(
        self,
        alpha: float = 0.1,
        *,
        smoothing: float = 1.0,
        threshold: float = 1e-2,
        loss: str = "squared",
        tau: float = 0.5,
        epsilon: float = 0.1,
        fit_intercept: bool = True,
        intercept_scaling: float = 1.0,
        max_iter: int = 5,
        n_steps: int | None = None,
        tol: float | None = None,
        shuffle: bool = True,
        random_state: Any = None,
    ) -> None:
        self.alpha = alpha
        self.smoothing = smoothing
        self.threshold = threshold
        self.loss = loss
        self.tau = tau
        self.epsilon = epsilon
        self.fit_intercept = fit_intercept
        self.intercept_scaling = intercept_scaling
        self.max_iter = max_iter
        self.n_steps = n_steps
        self.tol = tol
        self.shuffle = shuffle
        self.random_state = random_state
