"""Dual averaging with penalties on groups of features."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from .. import _core
from .._engine import FOR_CLASSES, FOR_VALUES, loss_params, loss_rules
from .._estimators import Advice, GoodFor, LinearClassifier, LinearRegressor, Power
from .._gate import Log, Range, Uniform, non_negative
from ._grouped import GROUP_RULES, Grouped, GroupLearner, group_axis
from ._groups import Groups
from ._synchronous import Synchronous

_FOR_GROUPS = GoodFor(1, "some columns belong together, and it selects them together")
_RULES = GROUP_RULES | {"rho": non_negative}


class _GroupRDA(Synchronous, Grouped):
    """What the classifier and the regressor share."""

    rho: float
    loss: str

    def _learner_with(self, groups: Groups | None) -> GroupLearner:
        l1_weight, l1_weights = self._l1_weights(groups)
        shared = loss_params(self) | {"eta0": float(self.eta0), "rho": float(self.rho), "free_constant": True}
        if groups is None:  # every norm of one weight is its size
            alone = {"alpha": float(self.alpha) * (1 + l1_weight), "l2_weight": 0.0, "batch_size": 1.0}
            alone |= {"n_selected": 0.0, "debias": False}
            return GroupLearner(_core.L1Rda, shared | alone)
        params = shared | {
            "alpha": float(self.alpha),
            "l1_weight": l1_weight,
            "l1_weights": l1_weights,
            "largest": self.norm != 2,
            "groups": groups.core,
            "n_groups": float(len(groups)),
        }
        if self.norm == 2 and self.rho == 0 and l1_weight == 0 and l1_weights is None:
            core: type[_core.CoreLearner] = (
                _core.GroupLassoRdaOverlap if groups.core.overlapping else _core.GroupLassoRda
            )
        else:
            core = _core.SparseGroupRdaOverlap if groups.core.overlapping else _core.SparseGroupRda
        return GroupLearner(core, params, axes=group_axis(groups), groups=groups)

    def _chosen(self, groups: Groups, used: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """Of groups that share columns, those whose own share of the weights is not zero."""
        if not groups.core.overlapping:
            return super()._chosen(groups, used)
        starts, members = groups.core.starts, groups.core.members
        apart = _core.Groups(starts, np.arange(len(members), dtype=np.int32), len(members))
        params = self._learner_now().params | {"groups": apart}
        chosen = np.zeros(len(groups), dtype=bool)
        for view in self.state_.views:
            sums = np.append(view["gradient_sum"][members], 0.0)
            shares = np.empty(len(sums))
            _core.SparseGroupRda.weights({"n_steps": view["n_steps"], "gradient_sum": sums}, params, shares)
            chosen |= np.logical_or.reduceat(shares[:-1] != 0, starts[:-1])
        return chosen


class GroupRDAClassifier(_GroupRDA, LinearClassifier):
    r"""Linear classifier that selects whole groups of features by dual averaging, however a stream is cut into batches.

    Choose it when features come in groups that only make sense together: the dummy columns of a category, the
    interactions of a set of columns, the measurements of one instrument, neighbours in a graph. Without groups,
    :class:`L1RDAClassifier` does the same.

    With the mean gradient :math:`\bar u` of :math:`t` steps, the weights :math:`w^g` of a group of :math:`d_g` features
    are

    .. math:: w^g = \arg\min_w\ \bar u^{g\top} w
                    + \alpha\big(\sqrt{d_g}\,\|w\|_2 + r_g\|w\|_1\big)
                    + \frac{1}{\eta_0\sqrt t}\Big(\frac12\|w\|^2 + \rho\|w\|_1\Big)
                  = -\eta_0\sqrt t\,\Big[1 - \frac{\alpha\sqrt{d_g}}{\|c\|}\Big]_+ c,\qquad
                  c = \mathrm{soft}\Big(\bar u^g,\ \alpha r_g + \frac{\rho}{\eta_0\sqrt t}\Big).

    ``l1_weight=0, rho=0`` is the group lasso, ``l1_weight > 0`` the sparse group lasso (zeros inside selected groups
    too), ``rho > 0`` the enhanced sparse group lasso of [1]_.

    Parameters
    ----------
    <groups>
        Groups may overlap: a weight is then the sum of one share per group that holds it, and the features in use are a
        union of groups (the latent group lasso, Remark 5 in [1]_).
    alpha : float, default=1e-4
        Strength of the penalty (:math:`\lambda` in [1]_). Larger values give fewer groups.
    eta0 : float, default=1.0
        Step size (:math:`1/\gamma` in [1]_).
    l1_weight : float or one per group, default=0.0
        Weight of the l1 norm inside a group (:math:`r_g` in [1]_), times ``alpha``.
    rho : float, default=0.0
        Extra sparsity in early steps (:math:`\rho` in [1]_).
    norm : {2, "inf"}, default=2
        How the weights of a group are measured: :math:`\sqrt{d_g}\,\|w\|_2`, or :math:`d_g \max_j |w_j|`, which draws
        the weights of a selected group to the same size.
    <losses for classes>
    <intercept>
    <passes>
    <classes>

    Attributes
    ----------
    <fitted classifier>
    <fitted>
    <fitted groups>

    Notes
    -----
    Only the sum of gradients is stored, and the squared length of each group's part of it: a row costs O(its stored
    values), whatever the sizes of its groups. With ``l1_weight``, ``rho`` or ``norm="inf"`` it costs O(its stored
    values and the sizes of its groups). The constant term has no penalty. Features that appear later
    (``grow=True``) are on their own.

    References
    ----------
    .. [1] H. Yang, "Sparse learning under regularization framework", CUHK, 2011, chapter 3.

    Examples
    --------
    >>> import numpy as np
    >>> from thresher.dual_averaging import GroupRDAClassifier
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(2000, 12))
    >>> y = X[:, 3:6].sum(axis=1) > 0
    >>> colours = ["red"] * 3 + ["green"] * 3 + ["blue"] * 3 + ["grey"] * 3
    >>> model = GroupRDAClassifier(colours, alpha=0.1, random_state=0).fit(X, y)
    >>> model.selected_groups_
    array(['green'], dtype=object)
    >>> model.support_
    array([3, 4, 5])
    """

    _advice = Advice(_FOR_GROUPS, GoodFor(1, aim="groups"))

    _param_rules = LinearClassifier._param_rules | _RULES | loss_rules(FOR_CLASSES)
    _fitted = (*LinearClassifier._fitted, "_grouping")
    _search_space: ClassVar[dict[str, Range]] = {
        "alpha": Log(1e-7, 1e-1),
        "eta0": Log(1e-3, 1e3),
        "tau": Uniform(0.0, 1.0, when={"loss": "pinball"}),
    }

    def __init__(
        self,
        groups: Any = None,
        alpha: float = 1e-4,
        *,
        eta0: float = 1.0,
        l1_weight: Any = 0.0,
        rho: float = 0.0,
        norm: Any = 2,
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
        self.groups = groups
        self.alpha = alpha
        self.eta0 = eta0
        self.l1_weight = l1_weight
        self.rho = rho
        self.norm = norm
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


class GroupRDARegressor(_GroupRDA, LinearRegressor):
    r"""Linear regression that selects whole groups of features; see :class:`GroupRDAClassifier` for the equations.

    The squared loss has gradients without a bound: steps overshoot while :math:`\sqrt t < \eta_0 \|x\|^2 / 2`. Scale
    features and targets to about 1, or lower ``eta0``; weights that outgrow floating point are refused with advice.

    Parameters
    ----------
    <groups>
    alpha : float, default=1e-4
        Strength of the penalty (:math:`\lambda` in [1]_). Larger values give fewer groups.
    eta0 : float, default=0.1
        Step size (:math:`1/\gamma` in [1]_).
    l1_weight : float or one per group, default=0.0
        Weight of the l1 norm inside a group (:math:`r_g` in [1]_), times ``alpha``.
    rho : float, default=0.0
        Extra sparsity in early steps (:math:`\rho` in [1]_).
    norm : {2, "inf"}, default=2
        How the weights of a group are measured: :math:`\sqrt{d_g}\,\|w\|_2`, or :math:`d_g \max_j |w_j|`.
    <losses for values>
    <intercept>
    <passes>

    Attributes
    ----------
    <fitted regressor>
    <fitted>
    <fitted groups>

    References
    ----------
    .. [1] H. Yang, "Sparse learning under regularization framework", CUHK, 2011, chapter 3.

    Examples
    --------
    >>> import numpy as np
    >>> from thresher.dual_averaging import GroupRDARegressor
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(2000, 9))
    >>> model = GroupRDARegressor([[0, 1, 2], [3, 4, 5], [6, 7, 8]], alpha=0.1, random_state=0)
    >>> model.fit(X, X[:, 3] - X[:, 4] + X[:, 5]).selected_groups_
    array([1])
    """

    _advice = Advice(
        _FOR_GROUPS,
        GoodFor(1, aim="groups"),
        GoodFor(3, aim="few features"),
        powers={"alpha": Power(squared=1), "eta0": Power(other=1)},
    )

    _param_rules = LinearRegressor._param_rules | _RULES | loss_rules(FOR_VALUES)
    _fitted = (*LinearRegressor._fitted, "_grouping")
    _search_space: ClassVar[dict[str, Range]] = {"alpha": Log(1e-7, 1.0), "eta0": Log(1e-4, 1e2)}

    def __init__(
        self,
        groups: Any = None,
        alpha: float = 1e-4,
        *,
        eta0: float = 0.1,
        l1_weight: Any = 0.0,
        rho: float = 0.0,
        norm: Any = 2,
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
        self.groups = groups
        self.alpha = alpha
        self.eta0 = eta0
        self.l1_weight = l1_weight
        self.rho = rho
        self.norm = norm
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
