"""Few features of very many, kept and weighed by confidence-weighted batches over a pool."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._core import Rows
from .._dataclasses import dataclass
from .._engine import Axis, Lesson, PassResult, Round, ShardFacts, State, largest
from .._estimators import (
    Advice,
    ChoosesCosts,
    GoodFor,
    KnowsDoubt,
    MeasuredLearner,
    SelectsFeatures,
    param,
    read_only,
    take,
)
from .._gate import Array, Log, Rule, at_least, boolean, positive
from ._class_costs import adaptive, costs_around_half, part
from ._pool import LEAST_SCALE, Gaussian, Pool, check_pool, read
from ._pool_rounds import pool_round, why_not_sums
from ._shard_rows import LearnsInSums

_N_COSTS = 9

_share = Rule("a number above 0 and at most 1", lambda v: positive.holds(v) and v <= 1, type="float")
_times = Rule("a number of at least 1", lambda v: positive.holds(v) and v >= 1, type="float")


@dataclass(frozen=True)
class PoolLearner(MeasuredLearner):
    """The rule with its grid of costs."""

    def continues(self, other: Any) -> bool:
        same = all(self.params[name] == other.params[name] for name in ("n_pool", "n_used"))
        return same and super().continues(other)

    def learn(self, lesson: Lesson, state: State) -> PassResult:
        n_rows = lesson.rows.n_rows
        if lesson.memory is not None and self._forgets_all(state, math.ceil(n_rows / (self.batch_size or n_rows))):
            lesson.memory.widen()
        return super().learn(lesson, state)

    def in_use(self, state: State, outputs: range) -> list[Gaussian]:
        """Means and covariances of the weights in use of each output, -1 for the constant."""
        pools = [read(state, k, self.intercept > 0) for k in outputs]
        own = [_used(pool, *pool.conditioned(self.params["n_used"])) for pool in pools]
        if not self.joint or len(outputs) == 1:
            return own
        evidence = np.zeros(state.sizes["weight"])
        for one in own:
            evidence[one.ids] += one.mean**2 / np.diagonal(one.covariance)
        evidence[-1] = 0.0  # the constant
        if np.count_nonzero(evidence) <= self.params["n_used"]:
            return own
        selected = largest(evidence, self.params["n_used"])
        return [_used(pool, pool.mean, pool.covariance) for pool in (pool.within(selected) for pool in pools)]

    def _read(self, state: State, outputs: range) -> tuple[Array, NDArray[np.bool_]]:
        if not self.joint or len(outputs) == 1:
            return super()._read(state, outputs)
        weights = np.zeros((len(outputs), state.sizes["weight"]))
        for row, one in zip(weights, self.in_use(state, outputs), strict=True):
            row[one.ids] = one.mean
        selected = np.asarray(weights[:, :-1].any(axis=0))
        return self.in_users_units(weights, state), selected

    def _forgets_all(self, state: State, n_batches: int) -> bool:
        """Whether so many batches change the unit of all sums."""
        if "scale" not in state.arrays:
            return False
        fade = n_batches * math.log(self.params["forgetting"])
        return bool(fade + math.log(state.arrays["scale"].min()) < math.log(LEAST_SCALE) + 1)


def _used(pool: Gaussian, mean: Array, covariance: Array) -> Gaussian:
    """The weights that are not 0 for certain, -1 for the constant."""
    ids = np.concatenate([np.full(pool.n_first, -1), pool.ids])
    used = np.flatnonzero(np.diagonal(covariance))
    return Gaussian(ids[used], mean[used], covariance[np.ix_(used, used)])


class PoolCWClassifier(LearnsInSums, KnowsDoubt, SelectsFeatures, ChoosesCosts):
    r"""Selects few of very many features on a stream, from a pool of candidates with means and covariances.

    Learners that select features again with every batch forget, and learners that keep the first ones depend on the
    first rows. This one keeps a pool of three times as many features as it may use, with the full covariance of their
    weights. Each batch adds the features that would lower the loss most, judged by slowly decaying sums over all
    features, and drops the least certain ones. The features in use are found by conditioning: the least important
    weight is fixed at 0 and the others are adjusted, until ``n_features_to_select`` remain. So only one of two
    redundant features is kept, which rankings of single features cannot achieve.

    Choose it for streams if you want a few dozen features, in particular with rare classes. For 200 features and more,
    or for speed, a ranking by :class:`~thresher.online.AROWClassifier` is as good; if the rows fit in memory, so is an
    l1-regularised selection with a refit.

    With :math:`D_i = \kappa_{y_i} (N_+ + N_-) / N_{y_i}` for classes seen :math:`N_\pm` times,
    :math:`\xi_i = \max(0, 1 - y_i\,\mu^\top x_i)` and the pool :math:`A`, each batch solves

    .. math:: g \leftarrow \gamma g + C \sum_i D_i\,\xi_i\,y_i\,x_i, \qquad
              h_j \leftarrow \gamma h_j + C \sum_i D_i\,1[\xi_i > 0]\,x_{ij}^2, \qquad
              A \leftarrow A \cup \text{the largest } g_j^2 / (1 + h_j),

    .. math:: \mu \leftarrow \arg\min_\mu \tfrac12 (\mu - \hat\mu)^\top \hat\Sigma^{-1} (\mu - \hat\mu)
              + \tfrac{C}{2} \sum_i D_i\,\xi_i^2, \qquad
              \Sigma^{-1} = \hat\Sigma^{-1} + C \sum_i D_i\,1[\xi_i > 0]\,x_i x_i^\top

    over the features in :math:`A`, and those with the largest :math:`\mu_j^2 / \Sigma_{jj}` stay in the pool.

    Attributes
    ----------
    variance_ : ndarray of shape (1, n_features) or (n_classes, n_features)
        The variance of each weight in use; 0 for the others.
    pool_ : list of ndarray
        The features in the pool, for each row of ``coef_``.

    Notes
    -----
    A batch of n rows costs O(non-zeros + d) for the search (one look at each of d sums, no memory of that size) and
    O(n m² + m³) for a pool of m features; the state holds 2 d + m² numbers for each class and cost. Scale sparse rows
    to length 1. The constant feature is not part of the pool and does not count in ``n_features_to_select``. A batch
    ends with the call of :meth:`partial_fit`, so calls with multiples of ``batch_size`` rows give the same model, bit
    for bit. Merged shards keep the features that all of them kept and those that any of them added, with precisions and
    sums added up.

    Rounds of sums (:func:`thresher.distributed.fit`) keep one pool for all rows: a round equals one batch of all rows,
    wherever they are, with the means at their best. Sums over all features are added up for each look, then slopes and
    curvatures of the pool, ``max_inner_iter`` times at most: O(d + m²) numbers a question, class and cost, about four
    questions a look. The first round predicts nothing, so that a second one, in which ``measure`` chooses among the
    costs, is made unless ``cost`` is a number; ``"roc_auc"`` counts pairs of rows that are read together. The scout
    learns row by row and bins of ``"average_precision"`` do not add up: both are left to passes.

    Examples
    --------
    >>> import numpy as np
    >>> from thresher.confidence import PoolCWClassifier
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(400, 30)) / np.sqrt(30)
    >>> y = X[:, 3] - X[:, 17] > 0.1
    >>> model = PoolCWClassifier(n_features_to_select=2, cost=0.5, batch_size=100).fit(X, y)
    >>> model.support_
    array([ 3, 17])
    """

    _advice = Advice(
        GoodFor(
            1,
            "you want few of many features, its zeros are exact, and a class is rare",
            lambda p: p.wants_sparsity and p.is_wide and p.is_imbalanced,
        ),
        GoodFor(2, aim="rare class"),
        start=lambda p: {"max_iter": 1, "cost": 0.5},  # equal costs; a grid of costs takes nine times as long
    )

    n_features_to_select: int = param(
        default=50,
        rule=at_least(1),
        doc="Largest number of features in use (:math:`p`).",
        kw_only=False,
    )
    selection: str = param(
        default="model",
        doc=r"""Whether ``n_features_to_select`` limits the features of the whole model or of each class. This matters
        only with more than two classes. In either case, each class has its own pool. With ``"model"``, features are
        ranked by the sum of :math:`\mu_j^2 / \Sigma_{jj}` over the classes that would use them; the first
        ``n_features_to_select`` stay, and their weights are adjusted for the others.""",
    )
    C: float = param(
        default=1.0,
        rule=positive,
        doc="Weight of the loss (:math:`C`). Larger values trust a batch more.",
        search=Log(1e-2, 1e2),
    )
    batch_size: int | None = param(
        default=1024,
        doc="Number of rows in a batch; None for all rows of a call. Values from 256 to 4096 make little difference.",
    )
    forgetting: float = param(
        default=0.9,
        rule=_share,
        doc=r"Factor by which each batch decays the sums that rank candidates (:math:`\gamma`). 1 forgets nothing.",
    )
    scout: bool = param(
        default=False,
        rule=boolean,
        doc=r"""Rank candidates by a diagonal AROW over all features (:math:`\mu_j^2 / \sigma_j^2`) instead of the sums.
        Often better on text, at about the same cost.""",
    )
    cost: str | float = param(
        default="adaptive",
        rule=adaptive | part,
        doc=r"""Share of the positive class in the loss, between 0 and 1 (:math:`\kappa`); 0.5 balances the classes and
        is enough for rankings. ``"adaptive"`` trains nine shares side by side, from 0.1 to 0.9, and predicts with the
        one that is best by ``measure`` so far. It takes up to nine times the time and memory.""",
        file="cost",
    )
    pool: float = param(default=3, rule=_times, doc="Size of the pool, in multiples of ``n_features_to_select``.")
    max_inner_iter: int = param(
        default=10,
        doc="""Largest number of steps of Newton's method for the means in each look for features. It ends when the rows
        with a loss stay the same, which is then exact.""",
    )
    intercept_scaling: float = param(
        default=0.1,
        doc="""Value of the constant feature; with scaled columns it is always 1. With a larger value, the constant
        takes over the part of the first features of a pool.""",
    )
    n_jobs: int | None = param(default=None, doc="Number of threads, over classes and costs.")

    def _learner(self, n_features: int) -> PoolLearner:
        core: Any = Pool
        p = int(self.n_features_to_select)
        n_pool = math.ceil(self.pool * p)
        params = {
            "C": float(self.C),
            "forgetting": float(self.forgetting),
            "scout": bool(self.scout),
            "max_inner_iter": int(self.max_inner_iter),
            "n_used": p,
            "n_pool": n_pool,
            "n_add": math.ceil(p / 5),
        }
        costs = costs_around_half(_N_COSTS) if isinstance(self.cost, str) else (float(self.cost),)
        slots = {"selected": Axis(1 + n_pool)}
        grid, joint = tuple({"cost": c} for c in costs), "n_used" if self.selection == "model" else ""
        return PoolLearner(core, params, axes=slots, grid=grid, measure=self.measure, joint=joint)

    # --- rows that are elsewhere ------------------------------------------------------------------------------------

    @property
    def _prefers_sums(self) -> bool:
        return why_not_sums(self) is None

    def _round(self, facts: ShardFacts) -> Round:
        return pool_round(self)

    def _n_rounds(self) -> int:
        return 1 if not isinstance(self.cost, str) else 2  # costs are measured by what the first round made

    # --- reading ----------------------------------------------------------------------------------------------------

    def _variances_of(self, rows: Rows) -> Array:
        learner, variances = self._measured(), np.empty((rows.n_rows, len(self._outputs())))
        rows, constant = learner.as_learned(rows, self.state_), learner.constant(self.state_)
        for place, (ids, _, covariance) in enumerate(self._in_use()):
            some = take(rows, constant, np.where(ids < 0, rows.n_features, ids))
            variances[:, place] = np.einsum("ij,ij->i", some @ covariance, some)
        return np.maximum(variances, 0.0)

    @property
    def variance_(self) -> Array:
        """The variance of each weight in use."""
        variance = np.zeros((len(self._outputs()), self.n_features_in_ + 1))
        for row, (ids, _, covariance) in zip(variance, self._in_use(), strict=True):
            row[ids] = np.diagonal(covariance)
        return read_only(variance[:, :-1] * self._measured().units(self.state_) ** 2)

    @property
    def pool_(self) -> list[NDArray[np.int64]]:
        """The features in the pool."""
        return [read(self.state_, k, False).ids for k in self._outputs()]

    def _outputs(self) -> range:
        """The outputs of the model that is read."""
        learner = self._measured()
        return learner.outputs_of(self.state_, learner.chosen(self.state_))

    def _in_use(self) -> list[Gaussian]:
        learner = self._learner_now()
        assert isinstance(learner, PoolLearner)
        return learner.in_use(self.state_, self._outputs())

    def _check_loaded(self) -> None:
        """Refuse pools of a file that no run can have left."""
        super()._check_loaded()
        for k, view in enumerate(self.state_.views):
            check_pool(self.state_, k, self.n_features_in_, self.n_features_to_select)
            if "scale" in view and (view["scale"][0] > 1 or view["curvature"].min() < 0):
                raise ValueError(f"{type(self).__name__}: sums that fade must have a scale of at most 1.")
