"""Forward-backward splitting for tasks that share features."""

from __future__ import annotations

from typing import Any, ClassVar

from .. import _core
from .._engine import FOR_CLASSES, FOR_VALUES, loss_rules
from .._estimators import Advice, GoodFor, MultiTaskClassifier, MultiTaskRegressor
from .._gate import Log, Range
from ._row_penalty import PENALTY_RULES, PenalisedTasks


class MultiTaskFOBOSClassifier(PenalisedTasks, MultiTaskClassifier):
    r"""Sparse classifiers for several tasks at once, by forward-backward splitting.

    The same problem as :class:`MultiTaskRDAClassifier`, solved by gradient steps that are each followed by the
    penalty's proximal map. It follows data that drift, because old gradients are forgotten; its zeros come and go with
    the last rows. Choose :class:`MultiTaskRDAClassifier` when the features themselves matter.

    In round :math:`t` with gradients :math:`G` of its rows and :math:`\eta_t = \eta_0 / \sqrt t`,

    .. math:: W \leftarrow \arg\min_W\ \tfrac12\|W - (W_t - \eta_t G)\|^2 + \eta_t\,\alpha\sum_j \Omega(W_j).

    Parameters
    ----------
    <row penalty>
    <losses for classes>
    <intercept>
    <passes>
    class_weight : dict or "balanced", optional
        Weights of the classes, multiplied into the row weights. "balanced" is for :meth:`fit` only.

    Attributes
    ----------
    <fitted tasks>
    <fitted task classes>
    <fitted>

    Notes
    -----
    The gradient of task :math:`q` counts :math:`t / n_q` times, for the :math:`t - n_q` rounds that did not hold it,
    but at most 16 times: a task in less than every sixteenth round is penalised more than the others.

    A row costs O(tasks) for each of its stored values: features pay the penalties they missed when they are next asked
    for. With ``"l1"``, ``"l21"`` and the largest size (``p`` infinite) that is one step; with ``"l1_l21"`` and other
    powers one for each round missed, until the feature is out. Rounds are those of :class:`MultiTaskRDAClassifier`.

    References
    ----------
    .. [1] H. Yang, "Sparse learning under regularization framework", CUHK, 2011, chapter 4.

    Examples
    --------
    >>> import numpy as np
    >>> from thresher.dual_averaging import MultiTaskFOBOSClassifier
    >>> rng = np.random.default_rng(0)
    >>> X, tasks = rng.normal(size=(4000, 50)), np.tile(["north", "south"], 2000)
    >>> y = np.where(tasks == "north", X[:, 3] - X[:, 7], X[:, 3] + X[:, 7]) > 0
    >>> model = MultiTaskFOBOSClassifier(alpha=0.1, random_state=0).fit(X, y, tasks=tasks)
    >>> np.sort(np.linalg.norm(model.coef_, axis=0).argsort()[-2:])
    array([3, 7])
    """

    _core_learner = _core.MultiTaskFobos
    _advice = Advice(GoodFor(2, aim="tasks"))
    _param_rules = MultiTaskClassifier._param_rules | PENALTY_RULES | loss_rules(FOR_CLASSES)
    _search_space: ClassVar[dict[str, Range]] = {"alpha": Log(1e-7, 1e-1), "eta0": Log(1e-3, 1e2)}

    def __init__(
        self,
        penalty: str = "l21",
        alpha: float = 1e-4,
        *,
        eta0: float = 0.1,
        p: float = 2.0,
        l1_weight: Any = 1.0,
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
    ) -> None:
        self.penalty = penalty
        self.alpha = alpha
        self.eta0 = eta0
        self.p = p
        self.l1_weight = l1_weight
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


class MultiTaskFOBOSRegressor(PenalisedTasks, MultiTaskRegressor):
    r"""Sparse linear regression for several tasks at once, by forward-backward splitting.

    See :class:`MultiTaskFOBOSClassifier` for the equations. With the squared loss, scale features and targets to about
    1, or lower ``eta0``; weights that outgrow floating point are refused with advice.

    Parameters
    ----------
    <row penalty>
    <losses for values>
    <intercept>
    <passes>

    Attributes
    ----------
    <fitted tasks>
    <fitted>

    References
    ----------
    .. [1] H. Yang, "Sparse learning under regularization framework", CUHK, 2011, chapter 4.

    Examples
    --------
    >>> import numpy as np
    >>> from thresher.dual_averaging import MultiTaskFOBOSRegressor
    >>> rng = np.random.default_rng(0)
    >>> X, tasks = rng.normal(size=(4000, 20)), np.arange(4000) % 4
    >>> y = (1 + tasks) * X[:, 3] - X[:, 7]
    >>> model = MultiTaskFOBOSRegressor(alpha=0.1, random_state=0).fit(X, y, tasks=tasks)
    >>> np.sort(np.linalg.norm(model.coef_, axis=0).argsort()[-2:])
    array([3, 7])
    """

    _core_learner = _core.MultiTaskFobos
    _advice = Advice(GoodFor(2, aim="tasks"))
    _param_rules = MultiTaskRegressor._param_rules | PENALTY_RULES | loss_rules(FOR_VALUES)
    _search_space: ClassVar[dict[str, Range]] = {"alpha": Log(1e-7, 1.0), "eta0": Log(1e-4, 1e1)}

    def __init__(
        self,
        penalty: str = "l21",
        alpha: float = 1e-4,
        *,
        eta0: float = 0.1,
        p: float = 2.0,
        l1_weight: Any = 1.0,
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
        self.penalty = penalty
        self.alpha = alpha
        self.eta0 = eta0
        self.p = p
        self.l1_weight = l1_weight
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
