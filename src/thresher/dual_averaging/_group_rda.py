"""Dual averaging with penalties on groups of features."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from .. import _core
from .._engine import loss_params
from .._estimators import (
    MEANS_RACE,
    Advice,
    ClassLoss,
    GoodFor,
    LateMeans,
    LinearClassifier,
    LinearRegressor,
    Power,
    ValueLoss,
    param,
)
from .._gate import Log, non_negative
from ._dual_means import DualMeans
from ._grouped import Grouped, GroupLearner, group_axis
from ._groups import Groups
from ._synchronous import Synchronous

_FOR_GROUPS = GoodFor(1, "some columns belong together, and it selects whole groups of columns")


class _GroupRDA(Synchronous, Grouped):
    """Dual averaging over groups of features.

    References
    ----------
    .. [1] H. Yang, "Sparse learning under regularization framework", CUHK, 2011, chapter 3.
    """

    rho: float = param(default=0.0, rule=non_negative, doc=r"Extra sparsity in early steps (:math:`\rho` in [1]_).")

    def _learner_with(self, groups: Groups | None) -> GroupLearner:
        l1_weight, l1_weights = self._l1_weights(groups)
        shared = loss_params(self) | {"eta0": self._fixed_step, "rho": float(self.rho), "free_constant": True}
        if groups is None:  # every norm of one weight is its size
            alone = {"alpha": float(self.alpha) * (1 + l1_weight), "l2_weight": 0.0, "batch_size": 1.0}
            alone |= {"n_selected": 0.0, "debias": False}
            averages = isinstance(self, LateMeans) and self._averages
            return GroupLearner(_core.L1RdaMean if averages else _core.L1Rda, shared | alone)
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
        """The groups in use: of groups that share columns, those whose own share of the weights is not zero."""
        if not groups.core.overlapping:
            return super()._chosen(groups, used)
        starts, members = groups.core.starts, groups.core.members
        apart = _core.Groups(starts, np.arange(len(members), dtype=np.int32), len(members))
        learner, chosen = self._learner_now(), np.zeros(len(groups), dtype=bool)
        for k in learner.outputs_of(self.state_, learner.chosen(self.state_)):
            view, params = self.state_.views[k], learner._params_of(self.state_, k) | {"groups": apart}
            sums = np.append(view["gradient_sum"][members], 0.0)
            shares = np.empty(len(sums))
            _core.SparseGroupRda.weights({"n_steps": view["n_steps"], "gradient_sum": sums}, params, shares)
            chosen |= np.logical_or.reduceat(shares[:-1] != 0, starts[:-1])
        return chosen


class GroupRDAClassifier(DualMeans, _GroupRDA, ClassLoss, LinearClassifier):
    r"""Linear classifier that selects whole groups of features on a stream, by dual averaging.

    Choose it if features form groups that are meaningful only together: the dummy columns of a category, the
    interactions of a set of columns, the measurements of one instrument, or neighbours in a graph. Without groups, it
    is the same as :class:`L1RDAClassifier`.

    With the mean gradient :math:`\bar u` of :math:`t` steps, the weights :math:`w^g` of a group of :math:`d_g` features
    are

    .. math:: w^g = \arg\min_w\ \bar u^{g\top} w
                    + \alpha\big(\sqrt{d_g}\,\|w\|_2 + r_g\|w\|_1\big)
                    + \frac{1}{\eta_0\sqrt t}\Big(\frac12\|w\|^2 + \rho\|w\|_1\Big)
                  = -\eta_0\sqrt t\,\Big[1 - \frac{\alpha\sqrt{d_g}}{\|c\|}\Big]_+ c,\qquad
                  c = \mathrm{soft}\Big(\bar u^g,\ \alpha r_g + \frac{\rho}{\eta_0\sqrt t}\Big).

    Groups may overlap: a weight is then the sum of one part for each group that contains it, and the features in use
    are a union of groups (the latent group lasso, Remark 5 in [1]_).

    ``l1_weight=0, rho=0`` is the group lasso, ``l1_weight > 0`` the sparse group lasso (with zeros inside selected
    groups, too), and ``rho > 0`` the enhanced sparse group lasso of [1]_.

    Notes
    -----
    The learner stores the sum of gradients and its squared length within each group, so a row costs O(its stored
    values), whatever the sizes of its groups. With ``l1_weight``, ``rho`` or ``norm="inf"`` it costs O(its stored
    values + the sizes of its groups). The constant term has no penalty. Features that appear later (``grow=True``)
    belong to no group. Without groups and with an automatic step size, the model predicts with a mean over all steps,
    as in :class:`L1RDAClassifier`; with groups, it predicts with the last step.

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
    _raced = _GroupRDA._raced._replace(race_rows=MEANS_RACE // 2)  # whose last step is cheap

    def _no_mean_with(self) -> str:
        return "" if self.groups is None else "groups"


class GroupRDARegressor(_GroupRDA, ValueLoss, LinearRegressor):
    r"""Linear regression that selects whole groups of features; see :class:`GroupRDAClassifier` for the equations.

    If ``eta0`` is a number, scale features and targets as for :class:`L1RDARegressor`.

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
        GoodFor(3, aim="few features"),
        start=lambda p: {"eta0": 0.1},
        powers={"alpha": Power(squared=1), "eta0": Power(other=1)},
    )

    alpha: float = param(default=1e-4, search=Log(1e-7, 1.0), kw_only=False)
    eta0: float | str = param(default="auto", search=Log(1e-4, 1e2))
