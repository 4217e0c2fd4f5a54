"""Sparse confidence-weighted learning of rare classes: many costs, of which a measure chooses."""

from __future__ import annotations

from typing import Any

from .._dataclasses import dataclass
from .._estimators import Advice, BatchLearner, ChoosesCosts, GoodFor, MeasuredLearner, param
from .._gate import at_least, boolean, none
from ._class_costs import adaptive, costs_around_half
from ._group_rule import ChoosesGroups, GroupClassifier, GroupRule


@dataclass(frozen=True)
class _CostsOfGroups(ChoosesGroups, MeasuredLearner):
    """A grid of models that choose groups."""


class ASCWClassifier(GroupClassifier, ChoosesCosts):
    r"""Adaptive sparse confidence-weighted learning: selects a few features and the cost of a rare class during
    training.

    ``n_costs`` models learn from every batch as :class:`SBCWClassifier` does, each with a different share of the
    positive class in the loss: nine of them have 0.1, 0.2, ..., 0.9. Each predicts a batch before it learns from it,
    which updates its progressive ``measure``. The model with the largest measure so far predicts, starting with a share
    of 0.5. With ``cost=None`` the costs are those of [1]_: :math:`D_i = c_+` for positive rows and :math:`1 - c_+` for
    the others, :math:`c_+ = 1 - \theta_j / 2` with :math:`\theta_j = j / (K + 1)`, so nine of them have 0.95, 0.9, ...,
    0.55, and 0.95 predicts first, however rare the class is.

    Choose it for a rare positive class if you want few features, batches are large (1,024 rows or more, or a hundred
    positive ones), and F1 is what matters: decisions depend on the cost much more than rankings do. Every batch selects
    all features again, so small batches lose most of what was found before; :class:`~thresher.online.AROWClassifier`
    with ``n_features_to_select`` keeps it. If all rows fit in memory and you know the cost, use
    :class:`SBCWClassifier`.

    Notes
    -----
    Everything is as in :class:`SBCWClassifier`, ``n_costs`` times, but the columns of a batch are read only once. So
    the first ascent of a batch starts at the :math:`D_i` of each model, and the next ones where the last one ended.

    Two errors in [1]_ are always corrected: labels are missing from the sum of the dual step, and the gradient is added
    to the last weights instead of the first. Each model is measured by its own predictions; if all were measured by
    those of the best one, as printed, all measures would be equal and the first cost would never change. Sigma is the
    covariance of the selected groups. ``faithful=True`` keeps the rest: measures include the first batch, which models
    without weights predict, the step of the squared hinge has 0.5 instead of 1, dual variables start at 0 in every
    ascent and at 1 / rows in the first ranking, and rankings ignore C. The claim of [1]_ that the problem of the groups
    is the dual of their selection holds only for means of 0; this learner solves the problem of the groups.

    References
    ----------
    .. [1] Y. Liu, Y. Yan, L. Chen, Y. Han and Y. Yang, "Adaptive sparse confidence-weighted learning for online feature
       selection", AAAI 2019.

    Examples
    --------
    >>> import numpy as np
    >>> from thresher.confidence import ASCWClassifier
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(4000, 200))
    >>> y = X[:, 3] - X[:, 8] + X[:, 100] > 2.5
    >>> model = ASCWClassifier(n_features_to_select=3, n_groups=3).fit(X, y)
    >>> model.support_
    array([  3,   8, 100])
    >>> model.cost_history_.shape, model.cost_ in model.costs_
    ((4,), True)
    """

    _advice = Advice(GoodFor(3, aim="rare class"))

    n_costs: int = param(default=9, rule=at_least(1), doc="Number of costs (:math:`K`). Time and memory grow with it.")
    cost: Any = param(
        default="adaptive",
        rule=adaptive | none,
        doc="""``"adaptive"`` tries several shares of the positive class in the loss of the rows seen so far, from 0.1
        to 0.9 if there are nine, and starts with 0.5, unless ``class_weight`` is given or ``faithful`` is True. None
        tries the costs of [1]_.""",
        file="cost",
    )
    keep: bool = param(
        default=False,
        rule=boolean,
        doc="""Keep the weights of features that a batch does not select. The number of features then grows beyond
        ``n_features_to_select``; with batches of one row this is the accumulating model in the tables of [1]_.""",
    )
    faithful: bool = param(
        default=False,
        rule=boolean,
        doc="Use the algorithm as printed in [1]_, with its two errors corrected; see Notes.",
    )
    batch_size: int | None = param(default=1024)

    @property
    def _is_scaled(self) -> bool:
        return super()._is_scaled and not (self.faithful and self.scale == "auto")

    def _learner(self, n_features: int) -> BatchLearner:
        core: Any = GroupRule
        params = self._group_params() | {"keep": bool(self.keep), "printed": bool(self.faithful)}
        if self.faithful:
            params["ridge"] *= 0.5
            params["step"] = "corrected" if self.step == "auto" else self.step
        n = int(self.n_costs)
        params["balanced"] = self.cost is not None and self.class_weight is None and not self.faithful
        costs = costs_around_half(n) if params["balanced"] else [1.0 - j / (2.0 * (n + 1)) for j in range(1, n + 1)]
        grid = tuple({"cost": cost} for cost in costs)
        joint = "" if self.keep else self._joint
        return _CostsOfGroups(core, params, axes=self._axes(params), grid=grid, measure=self.measure, joint=joint)
