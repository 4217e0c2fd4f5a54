"""Sparse confidence-weighted learning of rare classes: many costs, of which a measure chooses."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from .._estimators import Advice, BatchLearner, ChoosesCosts, GoodFor, MeasuredLearner, measure_rule
from .._gate import at_least, boolean
from ._group_rule import ChoosesGroups, GroupClassifier, GroupRule


@dataclass(frozen=True)
class _CostsOfGroups(ChoosesGroups, MeasuredLearner):
    """A grid of models that choose groups."""


class ASCWClassifier(GroupClassifier, ChoosesCosts):
    r"""Adaptive sparse confidence-weighted learning: a few features, and the cost of the rare class chosen on the way.

    ``n_costs`` models learn from every batch as :class:`SBCWClassifier` does, each with another cost of mistakes:
    :math:`D_i = c_+` for positive rows and :math:`1 - c_+` for the others, :math:`c_+ = 1 - \theta_j / 2` with
    :math:`\theta_j = j / (K + 1)`; nine of them have 0.95, 0.9, ..., 0.55. Each predicts a batch before it learns
    from it, which moves its own progressive ``measure``; the model with the largest measure so far is the one that
    predicts (of equal ones that of the largest cost, so 0.95 predicts first).

    Choose it for rare positive classes when few features are wanted, batches are large (1,024 rows or more, or a
    hundred positive ones) and F1 is what counts: decisions depend on the cost much more than the order of scores does.
    Every batch chooses all features anew, so with small batches most of what was found is forgotten;
    :class:`~thresher.online.AROWClassifier` with ``n_features_to_select`` keeps it. With all rows in memory and a cost
    that is known, use :class:`SBCWClassifier`.

    Parameters
    ----------
    n_features_to_select : int, default=50
        How many features are chosen in every batch (:math:`p`); so many are in use at most, with several classes so
        many for each, unless ``keep``. The constant does not count.
    <groups in batches>
    n_costs : int, default=9
        How many costs (:math:`K`). Time and memory grow with it.
    measure : {"f1", "roc_auc", "average_precision"}, default="f1"
        What chooses among the costs, kept in bounded memory: :class:`~thresher.metrics.ProgressiveF1`,
        :class:`~thresher.metrics.ProgressiveROCAUC`, :class:`~thresher.metrics.ProgressiveAveragePrecision`. With
        several classes, one cost is chosen for all, by the mean of their measures.
    keep : bool, default=False
        Leave the weights of features that a batch does not choose as they are. The model then has ever more features,
        not ``n_features_to_select``; with batches of one row it is the accumulating model of the tables in [1]_.
    faithful : bool, default=False
        The algorithm as [1]_ prints it, but for its wrong signs; see the notes.
    batch_size : int, default=1024
        Rows of a batch; None for all rows of a call. A rest of less than half a batch joins the last one.
    <intercept>
    <passes>
    <classes>

    Attributes
    ----------
    <fitted classifier>
    <fitted choice>
    cost_ : float
        The cost of the positive class of the model that predicts now.
    costs_ : ndarray of shape (n_costs,)
        All costs.
    measures_ : ndarray of shape (n_costs,)
        The progressive measure of each.
    cost_history_ : ndarray of shape (n_batches,)
        The cost that was chosen after each batch.
    <fitted>

    Notes
    -----
    All is as in :class:`SBCWClassifier`, ``n_costs`` times; columns of a batch are looked up once for all.

    Two things in [1]_ are wrong in any form and are repaired in both: labels are missing from the sum of the dual step,
    and the gradient is added to the last weights instead of the first. Each model is measured by its own predictions
    (measured by those of the best one, as printed, all measures are equal and the first cost stays for ever), and
    Sigma is that of the groups, after they were chosen. ``faithful=True`` keeps the rest: 0.5 instead of 1 in the step
    of the squared hinge, dual variables that begin at 0 in every round, and for the first ranking at 1 / rows, not
    multiplied by C. Its claim that the problem of the groups is the dual of the choice of groups holds for means of 0
    only; what is solved is the former.

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

    _param_rules = GroupClassifier._param_rules | {
        "n_costs": at_least(1),
        "measure": measure_rule,
        "keep": boolean,
        "faithful": boolean,
    }

    def __init__(
        self,
        n_features_to_select: int = 50,
        *,
        C: float = 0.1,
        sigma: float = 1.0,
        n_groups: int = 15,
        loss: str = "squared_hinge",
        ranking: str = "diagonal",
        step: str = "auto",
        n_passes: int = 1,
        group_tol: float | None = None,
        refit: bool = True,
        n_costs: int = 9,
        measure: str = "f1",
        keep: bool = False,
        faithful: bool = False,
        batch_size: int | None = 1024,
        fit_intercept: bool = False,
        intercept_scaling: float = 1.0,
        max_iter: int = 1,
        n_steps: int | None = None,
        tol: float | None = None,
        shuffle: bool = True,
        class_weight: Any = None,
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.n_features_to_select = n_features_to_select
        self.C = C
        self.sigma = sigma
        self.n_groups = n_groups
        self.loss = loss
        self.ranking = ranking
        self.step = step
        self.n_passes = n_passes
        self.group_tol = group_tol
        self.refit = refit
        self.n_costs = n_costs
        self.measure = measure
        self.keep = keep
        self.faithful = faithful
        self.batch_size = batch_size
        self.fit_intercept = fit_intercept
        self.intercept_scaling = intercept_scaling
        self.max_iter = max_iter
        self.n_steps = n_steps
        self.tol = tol
        self.shuffle = shuffle
        self.class_weight = class_weight
        self.random_state = random_state
        self.n_jobs = n_jobs

    def _learner(self, n_features: int) -> BatchLearner:
        core: Any = GroupRule
        params = self._group_params() | {"keep": bool(self.keep), "printed": bool(self.faithful)}
        if self.faithful:
            params["ridge"] *= 0.5
            params["step"] = "corrected" if self.step == "auto" else self.step
        n = int(self.n_costs)
        grid = tuple({"cost": 1.0 - j / (2.0 * (n + 1))} for j in range(1, n + 1))
        return _CostsOfGroups(core, params, axes=self._axes(params), grid=grid, measure=self.measure)
