"""Forward-backward splitting with penalties on groups of features."""

from __future__ import annotations

import numpy as np

from .. import _core
from .._engine import Learner, loss_params
from .._estimators import Advice, ClassLoss, GoodFor, LinearClassifier, LinearRegressor, ValueLoss, param
from .._gate import Log
from ._grouped import Grouped, GroupLearner
from ._groups import Groups


class _GroupFOBOS(Grouped):
    """Forward-backward splitting over groups of features.

    References
    ----------
    .. [1] J. Duchi and Y. Singer, "Efficient online and batch learning using forward backward splitting", JMLR 10,
       2009.
    .. [2] H. Yang, "Sparse learning under regularization framework", CUHK, 2011, chapter 3.
    """

    def _learner_with(self, groups: Groups | None) -> GroupLearner:
        if groups is not None and groups.core.overlapping:
            raise ValueError(
                f"{type(self).__name__}: groups must not share columns; {type(self).__name__.replace('FOBOS', 'RDA')} "
                "supports such groups."
            )
        l1_weight, l1_weights = self._l1_weights(groups)
        core = _NO_GROUPS if groups is None else groups.core
        params = loss_params(self) | {
            "alpha": float(self.alpha),
            "eta0": self._fixed_step,
            "l1_weight": l1_weight,
            "l1_weights": l1_weights,
            "largest": self.norm != 2,
            "stepwise": l1_weight > 0 or l1_weights is not None,
            "groups": core,
            "n_groups": float(len(core.starts) - 1),
        }
        return GroupLearner(_core.GroupFobos, params, groups=groups)

    def _adapt_to(self, learner: Learner) -> None:
        """Steps that are behind were made with the parameters of their time."""
        made_by: Learner | None = self.__dict__.get("_learner_of_state")
        if made_by is None or made_by is learner:
            return
        if any(not np.array_equal(value, made_by.params[name]) for name, value in learner.params.items()):
            made_by.settle(self.state_)


_NO_GROUPS = _core.Groups(np.zeros(1, dtype=np.int64), np.empty(0, dtype=np.int32), 0)


class GroupFOBOSClassifier(_GroupFOBOS, ClassLoss, LinearClassifier):
    r"""Linear classifier with penalties on groups of features, by forward-backward splitting.

    For each row, a gradient step is followed by the proximal map of the penalty:

    .. math:: v = w_t - \eta_t u_t,\qquad w^g_{t+1} = \arg\min_w\ \tfrac12\|w - v^g\|^2
                  + \eta_t\alpha\big(\sqrt{d_g}\,\|w\|_2 + r_g\|w\|_1\big),\qquad \eta_t = \eta_0/\sqrt t.

    It is provided for comparison. :class:`GroupRDAClassifier` thresholds the mean of all gradients, so its zeros
    reflect the penalty. Here each step shrinks the weights by :math:`\eta_t\alpha` only, so a group in a recent row is
    rarely zero, and the last iterate is not sparse in general.

    Notes
    -----
    The penalties of steps without a group are applied when a row next contains it, which costs O(its size). With
    ``l1_weight`` they are applied one by one until the group is zero, so prefer :class:`GroupRDAClassifier` for the
    sparse group lasso on sparse rows. The constant term has no penalty. Features that appear later (``grow=True``)
    belong to no group.

    Examples
    --------
    >>> import numpy as np
    >>> from thresher.dual_averaging import GroupFOBOSClassifier
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(2000, 12))
    >>> y = X[:, 3:6].sum(axis=1) > 0
    >>> model = GroupFOBOSClassifier([[0, 1, 2], [3, 4, 5], [6, 7, 8, 9, 10, 11]], alpha=0.1, random_state=0).fit(X, y)
    >>> bool(model.score(X, y) > 0.95)
    True
    """

    _advice = Advice(GoodFor(2, aim="groups"))


class GroupFOBOSRegressor(_GroupFOBOS, ValueLoss, LinearRegressor):
    r"""Linear regression with penalties on groups of features; see :class:`GroupFOBOSClassifier` for the equations.

    If ``eta0`` is a number, scale features and targets to about 1. If weights overflow, training stops with an error
    that says what to do.

    Examples
    --------
    >>> import numpy as np
    >>> from thresher.dual_averaging import GroupFOBOSRegressor
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(2000, 9))
    >>> model = GroupFOBOSRegressor([[0, 1, 2], [3, 4, 5], [6, 7, 8]], alpha=0.01, random_state=0)
    >>> bool(model.fit(X, X[:, 3] - X[:, 4]).score(X, X[:, 3] - X[:, 4]) > 0.9)
    True
    """

    _advice = Advice(start=lambda p: {"eta0": 0.1})

    alpha: float = param(default=1e-4, search=Log(1e-7, 1.0), kw_only=False)
    eta0: float | str = param(default="auto", search=Log(1e-4, 1e2))
