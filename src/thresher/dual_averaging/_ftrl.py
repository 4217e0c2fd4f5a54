"""Follow the regularised leader, proximal form."""

from __future__ import annotations

from typing import Any, ClassVar

from .. import _core
from .._engine import FOR_CLASSES, FOR_VALUES, Learner, loss_rules
from .._estimators import Advice, GoodFor, LinearClassifier, LinearRegressor, Power
from .._gate import Log, Range, Uniform, auto, non_negative, positive
from ._sparse import SPARSE_RULES, SparseLinear

_RULES = SPARSE_RULES | {
    "alpha": positive,
    "beta": non_negative,
    "l1": non_negative | auto,
    "l2": non_negative,
}


class _FTRL(SparseLinear):
    """What the classifier and the regressor share."""

    _penalty = "l1"
    _shorter_steps = "a smaller alpha"

    alpha: float
    beta: float
    l1: Any
    l2: float

    def _learner(self, n_features: int) -> Learner:
        if self.beta == 0 and self.l2 == 0:
            raise ValueError(f"{type(self).__name__}: beta must be a number above 0 when l2 is 0, got {self.beta!r}.")
        return self._sparse_learner(_core.Ftrl, alpha=float(self.alpha), beta=float(self.beta), l2=float(self.l2))


class FTRLClassifier(_FTRL, LinearClassifier):
    r"""Sparse linear classifier that follows the regularised leader (FTRL-proximal), the workhorse of click prediction.

    Each feature has its own step size, and its zeros are exact in a stream. The first to try on sparse data where
    accuracy at a given number of features counts; :class:`AdaptiveL1RDAClassifier` takes less time, with a penalty
    on the scale of the mean loss.

    Feature by feature, with gradients :math:`g` and weights :math:`w` of the moment,

    .. math:: w = -\frac{\mathrm{soft}(z,\ \lambda_1)}{\lambda_2 + (\beta + \sqrt n)/\alpha}, \qquad
              z \leftarrow z + g - \frac{\sqrt{n + g^2} - \sqrt n}{\alpha}\, w, \qquad n \leftarrow n + g^2.

    Parameters
    ----------
    alpha : float, default=0.3
        Step size (:math:`\alpha` in [1]_, ``--ftrl_alpha`` of Vowpal Wabbit). In this method alone it is not a penalty:
        all four letters are those of [1]_. Features of size 1 want 0.1 to 1; rows of norm 1 with many small values, as
        tf-idf makes them, 3 to 10 with ``beta=0.1``.
    beta : float, default=1.0
        What a feature's step size begins with (:math:`\beta` in [1]_).
    l1 : float or "auto", default=1.0
        Strength of the l1 penalty (:math:`\lambda_1` in [1]_): a bound on the *sum* of gradients, so that it weighs
        less the longer the stream. Larger values give fewer features.
        ``"auto"`` learns with 13 strengths side by side and reads the one with the least progressive loss.
    l2 : float, default=0.0
        Strength of the l2 penalty (:math:`\lambda_2` in [1]_), on the same scale.
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
    Two numbers are stored for each feature; a weight is computed when a row asks for it. A row costs O(its stored
    values), and any chunking into calls of :meth:`partial_fit` gives the same bits.

    References
    ----------
    .. [1] H. B. McMahan et al., "Ad click prediction: a view from the trenches", KDD 2013.

    Examples
    --------
    >>> import numpy as np
    >>> from thresher.dual_averaging import FTRLClassifier
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(2000, 100))
    >>> y = X[:, 3] - X[:, 7] > 0
    >>> FTRLClassifier(n_features_to_select=2, random_state=0).fit(X, y).support_
    array([3, 7])
    """

    _advice = Advice(GoodFor(2, aim="few features"))

    _param_rules = LinearClassifier._param_rules | _RULES | loss_rules(FOR_CLASSES)
    _search_space: ClassVar[dict[str, Range]] = {
        "alpha": Log(1e-3, 1e1),
        "l1": Log(1e-3, 1e2),
        "tau": Uniform(0.0, 1.0, when={"loss": "pinball"}),
    }

    def __init__(
        self,
        alpha: float = 0.3,
        *,
        beta: float = 1.0,
        l1: Any = 1.0,
        l2: float = 0.0,
        loss: str = "logistic",
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
        self.beta = beta
        self.l1 = l1
        self.l2 = l2
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


class FTRLRegressor(_FTRL, LinearRegressor):
    r"""Sparse linear regression that follows the regularised leader; see :class:`FTRLClassifier` for the equations.

    Parameters
    ----------
    alpha : float, default=1.0
        Step size (:math:`\alpha` in [1]_).
    beta : float, default=1.0
        What a feature's step size begins with (:math:`\beta` in [1]_).
    l1 : float or "auto", default=1.0
        Strength of the l1 penalty (:math:`\lambda_1` in [1]_), a bound on the sum of gradients.
        ``"auto"`` learns with 13 strengths side by side and reads the one with the least progressive loss.
    l2 : float, default=0.0
        Strength of the l2 penalty (:math:`\lambda_2` in [1]_), on the same scale.
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
    .. [1] H. B. McMahan et al., "Ad click prediction: a view from the trenches", KDD 2013.

    Examples
    --------
    >>> import numpy as np
    >>> from thresher.dual_averaging import FTRLRegressor
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(2000, 20))
    >>> model = FTRLRegressor(n_features_to_select=2, random_state=0).fit(X, 2 * X[:, 3] - X[:, 7])
    >>> model.support_
    array([3, 7])
    """

    _advice = Advice(
        GoodFor(2, aim="few features"), powers={"l1": Power(squared=1), "alpha": Power(squared=1, other=1)}
    )

    _param_rules = LinearRegressor._param_rules | _RULES | loss_rules(FOR_VALUES)
    _search_space: ClassVar[dict[str, Range]] = {"alpha": Log(1e-3, 1e1), "l1": Log(1e-3, 1e2)}

    def __init__(
        self,
        alpha: float = 1.0,
        *,
        beta: float = 1.0,
        l1: Any = 1.0,
        l2: float = 0.0,
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
        self.beta = beta
        self.l1 = l1
        self.l2 = l2
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
