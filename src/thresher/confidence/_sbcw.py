"""Confidence-weighted learning of a few features, chosen in groups."""

from __future__ import annotations

from typing import Any

from .._engine import Round, ShardFacts
from .._estimators import BatchLearner
from ._group_rounds import sbcw_round
from ._group_rule import ChoosesGroups, GroupClassifier, GroupRule
from ._shard_rows import LearnsInSums


class SBCWClassifier(LearnsInSums, GroupClassifier):
    r"""Sparse confidence-weighted learning in batches: selects a few of very many features, with their covariances.

    In each batch it selects ``n_features_to_select`` features group by group, each time those with the largest
    gradients. The means of all groups solve

    .. math:: \min_w\; \frac{\sigma}{2}\|w - w_0\|^2 + \frac12\Big(\sum_k \|w_k - w_{0k}\|\Big)^2
              + \frac{C}{q} \sum_i D_i \max\Big(0,\, 1 - y_i \sum_k w_k^\top \hat x_i^k\Big)^q

    where :math:`\hat x^k = \Upsilon_k^\top x^k` are the features of group :math:`k` in coordinates in which their
    covariance :math:`\Sigma_k = (\hat\Sigma_k^{-1} + C X_k^\top X_k)^{-1} = \Upsilon_k \Upsilon_k^\top` is the
    identity, :math:`w_0` the means before the batch and :math:`D_i` the row weights.

    Choose it for rows that fit in memory if you want a model with a given, small number of features. By default, the
    classes are balanced (``cost``); without that, and without a constant, it would find only frequent features of the
    larger class. Each batch selects all features again and forgets the others, so pass all rows at once, as by default,
    or large batches. On streams, :class:`~thresher.online.AROWClassifier` with ``n_features_to_select`` keeps what it
    learned from earlier rows. Without the refit (``refit=False``), SBCW is clearly less accurate.

    Notes
    -----
    Per batch and class O(rounds x (non-zeros + rows x features chosen)); memory O(non-zeros of the batch + rows x
    ``n_features_to_select`` + features ever chosen x size of a group), never O(features).

    The constant is outside the groups, with a penalty of :math:`w^2/2`. Covariances are kept in blocks: a new group
    starts with the covariances of its features so far and becomes a block, and the remaining features of older blocks
    keep theirs; covariances between blocks are dropped. Row weights, class weights and ``cost`` make the costs
    :math:`D_i`, which do not enter the covariance; ``cost=None`` and ``fit_intercept=False`` are the form of [1]_. With
    several batches, the problem is centred at the last means, as in [2]_; [1]_ does not say.

    Differences from the text of [1]_: the step of the squared hinge (1 instead of 0.5), steps for small :math:`\sigma`,
    dual variables that continue from round to round, and features that are selected only once. In every batch, the
    ranking of the first group and the first ascent start at dual variables of :math:`D_i` instead of 0: those of a
    model without features, whose loss is 1 on all rows, whatever the means before the batch are. Each later ascent
    starts where the previous one ended, and the refit at 0.

    Merging adds the precisions in the blocks that all shards have in common, and keeps, of all features selected by any
    shard, those with the largest :math:`\mu_j^2 / \Sigma_{jj}`.

    Rounds of sums (:func:`thresher.distributed.fit`) select features for all rows at once: a round equals one batch of
    all rows, with the weights of the groups and of the refit solved accurately. Scores of all features are added up for
    each group, then slopes and curvatures of the chosen ones, ``max_inner_iter`` times at most: O(features + chosen
    squared) numbers a question and class, two or three questions a group. ``ranking="full"`` needs all rows at once.

    Examples
    --------
    >>> import numpy as np
    >>> from thresher.confidence import SBCWClassifier
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(500, 2000))
    >>> y = np.where(X[:, 3] - X[:, 8] + X[:, 1000] > 0, "yes", "no")
    >>> model = SBCWClassifier(n_features_to_select=3, n_groups=3).fit(X, y)
    >>> model.support_
    array([   3,    8, 1000])
    """

    @property
    def _weighs_mistakes(self) -> bool:
        return self.cost is not None and (self._is_lopsided or self.cost not in ("auto", 0.5))

    def _cost_ratio(self) -> float | None:
        if self.cost is None:
            return None
        return self._ratio_of_share(0.5 if self.cost == "auto" else float(self.cost))

    def _learner(self, n_features: int) -> BatchLearner:
        core: Any = GroupRule
        cost = self.cost
        if isinstance(cost, str):
            cost = 0.5 if self.class_weight is None else None
        params = self._group_params() | {"cost": cost, "balanced": cost is not None}
        return ChoosesGroups(core, params, axes=self._axes(params), joint=self._joint)

    # --- rows that are elsewhere ------------------------------------------------------------------------------------

    @property
    def _prefers_sums(self) -> bool:
        return self.ranking != "full"

    def _round(self, facts: ShardFacts) -> Round:
        return sbcw_round(self)
