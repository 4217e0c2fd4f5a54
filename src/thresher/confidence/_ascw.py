"""Sparse confidence-weighted learning of rare classes: many costs, of which a measure chooses."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from .._estimators import Advice, BatchLearner, ChoosesCosts, GoodFor, MeasuredLearner, param
from .._gate import at_least, boolean, none
from ._class_costs import adaptive, costs_around_half
from ._group_rule import ChoosesGroups, GroupClassifier, GroupRule


@dataclass(frozen=True)
class _CostsOfGroups(ChoosesGroups, MeasuredLearner):
    """A grid of models that choose groups."""


class ASCWClassifier(GroupClassifier, ChoosesCosts):
    r"""Adaptive sparse confidence-weighted learning: a few features, and the cost of the rare class chosen on the way.

    ``n_costs`` models learn from every batch as :class:`SBCWClassifier` does, each with another share of the positive
    class in the loss: nine of them have 0.1, 0.2, ..., 0.9. Each predicts a batch before it learns from it, which moves
    its own progressive ``measure``; the model with the largest measure so far is the one that predicts, that of 0.5
    first. With ``cost=None`` the costs are those of [1]_: :math:`D_i = c_+` for positive rows and :math:`1 - c_+` for
    the others, :math:`c_+ = 1 - \theta_j / 2` with :math:`\theta_j = j / (K + 1)`, so that nine have 0.95, 0.9, ...,
    0.55 and 0.95 predicts first, however rare the class is.

    Choose it for rare positive classes when few features are wanted, batches are large (1,024 rows or more, or a
    hundred positive ones) and F1 is what counts: decisions depend on the cost much more than the order of scores does.
    Every batch chooses all features anew, so with small batches most of what was found is forgotten;
    :class:`~thresher.online.AROWClassifier` with ``n_features_to_select`` keeps it. With all rows in memory and a cost
    that is known, use :class:`SBCWClassifier`.

    Notes
    -----
    All is as in :class:`SBCWClassifier`, ``n_costs`` times; columns of a batch are looked up once for all. So the first
    ascent of a batch starts at the :math:`D_i` of each model, and the next ones where the last one ended.

    Two things in [1]_ are wrong in any form and are repaired in both: labels are missing from the sum of the dual step,
    and the gradient is added to the last weights instead of the first. Each model is measured by its own predictions
    (measured by those of the best one, as printed, all measures are equal and the first cost stays for ever), and
    Sigma is that of the groups, after they were chosen. ``faithful=True`` keeps the rest: measures count the first
    batch, too, which models without weights predict, 0.5 instead of 1 in the step of the squared hinge, dual variables
    of 0 at the start of every ascent, of 1 / rows for the first ranking, and no C in rankings. Its claim
    that the problem of the groups is the dual of the choice of groups holds for means of 0 only; what is solved is the
    former.

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
        doc="""``"adaptive"`` tries shares of the positive class in the loss of the rows seen so far, from 0.1 to 0.9 if
        they are nine, and begins with 0.5, unless ``class_weight`` is given or ``faithful``. None tries the costs of
        [1]_.""",
        file="cost",
    )
    keep: bool = param(
        default=False,
        rule=boolean,
        doc="""Leave the weights of features that a batch does not choose as they are. The model then has ever more
        features, not ``n_features_to_select``; with batches of one row it is the accumulating model of the tables in
        [1]_.""",
    )
    faithful: bool = param(
        default=False,
        rule=boolean,
        doc="The algorithm as [1]_ prints it, but for its wrong signs; see the notes.",
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
