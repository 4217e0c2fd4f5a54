"""Confidence-weighted learning in batches, with the whole covariance."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, ClassVar, Self

import numpy as np

from .. import _engine
from .._core import Rows, ascend
from .._dataclasses import dataclass
from .._engine import Learner, Round, ShardFacts, State, Target, matrix_of
from .._estimators import (
    Advice,
    BatchClassifier,
    BatchLearner,
    BatchRule,
    GoodFor,
    KnowsDoubt,
    Params,
    WeighsClasses,
    param,
    read_only,
    warn_of_convergence,
)
from .._gate import Array, Log, linalg, non_negative, one_of, positive
from . import _whitening
from ._bcw_rounds import bcw_round
from ._shard_rows import LearnsInSums

_WIDEST = 20_000  # features: beyond, the precision alone takes more than 3 GB
_FEWEST, _TIMES = 256, 4  # rows of a batch, and times the number of features, by default


class Bcw(BatchRule):
    """State: the precision P, what pulls at the means P mu, and the means themselves, one column for each class."""

    @staticmethod
    def fields(params: Params) -> list[tuple[Any, ...]]:
        return [
            ("precision", "weight weight", 1.0, "sum"),
            ("pull", "weight class", 0.0, "sum"),
            ("coef", "weight class", 0.0, "derived"),
            ("gap", "", 0.0, "mean"),
        ]

    @classmethod
    def rebuild(cls, state: State, params: Params) -> None:
        for precision, pull, coef in zip(*(state.arrays[n] for n in ("precision", "pull", "coef")), strict=True):
            coef[...] = linalg.cho_solve((_whitening.root(precision), True), pull)


@dataclass(frozen=True)
class BcwLearner(BatchLearner):
    """All classes share one precision, so they are one output of the state, with an axis for the classes."""

    uses_blas_threads: ClassVar[bool] = True

    @property
    def score_axis(self) -> str:
        return "class"

    def usual_size(self, n_features: int) -> int:
        return max(_FEWEST, _TIMES * n_features)

    def room(self, n_features: int, target: Target) -> dict[str, int]:
        return super().room(n_features, target) | {"class": target.n_outputs}

    def new_state(self, n_features: int, n_outputs: int = 1) -> State:
        return State(self.fields(), 1, self.sizes(n_features) | {"class": n_outputs})

    def all_scores(self, rows: Rows, state: State, outputs: Sequence[int]) -> Array:
        return _whitening.scores(matrix_of(rows), self.constant(state), state.arrays["coef"][0])

    def weights(self, state: State, model: int | None = None) -> Array:
        return self.in_users_units(np.ascontiguousarray(state.arrays["coef"][0].T), state)

    def rebuild(self, state: State) -> None:
        """No parameter has a part in what is kept."""

    def merge(self, start: State, states: Sequence[State], weights: Sequence[float], again: bool = False) -> State:
        merged = _engine.merge(start, states, weights, rebuild=lambda merged: self.rule.rebuild(merged, self.params))
        if self.tuning is not None and len(states) > 1:
            self.tuning.merge(self, merged, start, states)
        return merged

    def learn_batch(
        self, rows: Rows, targets: Array, weight: Array, state: State, run: Callable[..., Iterator[Any]] = map
    ) -> Array:
        """Algorithm 1: the covariance, then the mean. Nothing changes before all of it is known to be finite."""
        X, centre, constant = matrix_of(rows), self.params["centre"], self.constant(state)
        before, coef = state.arrays["precision"][0], state.arrays["coef"][0]
        margins = _whitening.scores(X, constant, coef)
        with np.errstate(over="ignore", invalid="ignore"):
            after = _whitening.gram(X, constant)
            after *= self.params["C"]
            after += before
            root = _whitening.root(after)
            around = _whitening.root(before) if centre == "kl" else root
            start = 0 * coef if centre == "zero" else coef
            mean, a, gap = self._mean(X, constant, targets, self.params["C"] * weight, start, around)
            pull = after @ mean
        if not all(np.isfinite(found).all() for found in (margins, mean, pull, gap)):
            raise FloatingPointError
        before[...], coef[...], state.arrays["pull"][0], state.arrays["gap"][0] = after, mean, pull, gap
        moved = a.any(axis=0) & _whitening.is_felt(X, constant)
        losses = np.maximum(0.0, 1.0 - margins * targets)
        state.arrays["tally"][0] += (rows.n_rows, moved.sum(), (losses @ weight).mean(), weight.sum())
        return margins

    def _mean(
        self, X: Any, constant: float, targets: Array, cost: Array, centre: Array, root: Array
    ) -> tuple[Array, Array, float]:
        """min |L'(mu - centre)|^2 / 2 + sum_i (cost_i / q) max(0, 1 - y_i mu.x_i)^q for every class.

        Returns the means, a column for each class, the dual variables and the relative gap.
        """
        start = np.ascontiguousarray((root.T @ centre).T)  # w = L' mu, one row for each class
        w, squared, max_inner_iter = start.copy(), self.params["squared"], self.params["max_inner_iter"]
        # A row without features has a loss of 1 whatever the weights are: its dual variable is best at its cost.
        a = np.where(_whitening.is_felt(X, constant), 0.0, cost) * np.ones_like(targets)
        blocks: Any = _whitening.whitened(X, constant, root)
        if max_inner_iter > 1:
            blocks = list(blocks)
        for _ in range(max_inner_iter):
            for some, block in blocks:
                for y, a_k, w_k in zip(targets, a, w, strict=True):
                    ascend(block, y[some], cost[some], squared, a_k[some], w_k)
            coef = linalg.solve_triangular(root, w.T, trans="T", lower=True, check_finite=False)
            slack = np.maximum(0.0, 1.0 - targets * _whitening.scores(X, constant, coef))
            gap = _relative_gap(slack, cost, a, start, w - start, squared)
            if gap <= self.params["gap_tol"]:
                break
        return coef, a, gap


def _relative_gap(slack: Array, cost: Array, a: Array, start: Array, move: Array, squared: bool) -> float:
    """The most by which the objective may still fall, as a share of it; of the class that is furthest."""
    half = 0.5 * (move**2).sum(axis=1)
    paid = (0.5 * slack**2 if squared else slack) @ cost
    given = a.sum(axis=1) - (0.5 * (a**2 / cost).sum(axis=1) if squared else 0.0)
    primal, dual = half + paid, given - half - (start * move).sum(axis=1)
    return float(np.max((primal - dual) / np.maximum(primal, np.finfo(float).tiny), initial=0.0))


class BCWClassifier(LearnsInSums, KnowsDoubt, WeighsClasses, BatchClassifier):
    r"""Confidence-weighted learning in batches, with the full covariance of all weights.

    Every pair of weights has a covariance, as in ``AROWClassifier(covariance="full")``, but updates use matrix products
    over whole batches, which is many times faster. Choose it for dense rows of up to a few thousand features, in
    particular if they are correlated or on different scales: after one pass it is close to a batch solver, it hardly
    depends on ``C``, and it provides confidences. Its loss pulls margins towards 1 from both sides, much like least
    squares. For more features choose :class:`~thresher.online.AROWClassifier`, and to select a few of very many
    :class:`SBCWClassifier`.

    A batch :math:`X, y` of rows with weights :math:`D_i` first lowers the variances of the weights, then moves their
    mean:

    .. math:: \Sigma^{-1} &\leftarrow \Sigma^{-1} + C\, X^\top X, \\
              \mu &\leftarrow \arg\min_m \tfrac12 (m - \mu)^\top \Sigma^{-1} (m - \mu)
              + \tfrac{C}{q} \sum_i D_i \max(0, 1 - y_i\, m^\top x_i)^q ,

    by dual coordinate ascent, one row at a time; [1]_ makes one pass.

    Attributes
    ----------
    precision_ : ndarray of shape (n_features, n_features)
        :math:`\Sigma^{-1}`, shared by all classes, in the units used for training.
    covariance_ : ndarray of shape (n_features, n_features)
        :math:`\Sigma`, including the variance due to the constant term.
    variance_ : ndarray of shape (n_features,)
        The variance of each weight: the diagonal of :math:`\Sigma`. In the units used for training it starts at 1 and
        never grows.
    gap_ : float
        The duality gap of the last batch relative to its objective; 0 if the mean is optimal. The largest over the
        classes.

    Notes
    -----
    A batch of :math:`N` rows costs :math:`O(N d^2 + d^3)`, with sparse rows :math:`O(\text{non-zeros} \cdot d + d^3)`,
    and needs memory for a few matrices of :math:`d^2` numbers, so the limit is 20,000 features. All classes share the
    products; each adds :math:`O(N d)`. ``sample_weight`` and ``class_weight`` are the costs :math:`D_i`: they weight
    the losses but not the covariance, as in [2]_. ``tol`` and ``max_iter`` control the passes over all rows in
    :meth:`fit`, ``gap_tol`` and ``max_inner_iter`` those over one batch.

    Calls that end where batches end give the same model as one call, bit for bit. Merging adds the precisions and the
    products :math:`\Sigma^{-1} \mu` of the shards: the precision equals that of one run over all rows, and the mean
    follows Bayes' rule for Gaussians, which is exact if the rows of the shards share no features. This assumes common
    units: shards that start from a model keep its units, and shards that start from nothing find their own, which are
    averaged.

    Rounds of sums (:func:`thresher.distributed.fit`) are exact: a round equals one batch of all rows, solved to its
    gap. Newton's method requests :math:`O(d^2)` sums per class from the shards: about five times with the squared
    hinge, for the optimum up to rounding; with the hinge until the gap is at most ``gap_tol``, which takes seven times
    for 1e-3 and up to a few dozen for less or for ``centre="kl"``. ``batch_size`` and ``max_inner_iter`` have no
    effect.

    For ``loss="squared_hinge"``, the step printed in [1]_ is for twice the loss weight; this learner uses the exact
    step.

    Examples
    --------
    >>> from thresher.confidence import BCWClassifier
    >>> X = [[0.0, 1.0], [1.0, 0.0], [0.1, 0.9], [0.9, 0.2]]
    >>> y = ["ham", "spam", "ham", "spam"]
    >>> model = BCWClassifier(random_state=0).fit(X, y)
    >>> model.predict([[1.0, 0.1]])
    array(['spam'], dtype='<U4')
    >>> model.predict_confidence([[1.0, 0.1], [0.5, 0.5]]).round(1)
    array([[0.3, 0.7],
           [0.5, 0.5]])
    >>> bool((model.variance_ < 1).all())
    True
    """

    _advice = Advice(GoodFor(3, aim="linear"))

    C: float = param(
        default=1.0,
        rule=positive,
        doc="""Weight of a batch relative to what was learned before (:math:`C` in [1]_). Larger values trust new rows
        more.""",
        search=Log(1e-3, 1e3),
        kw_only=False,
    )
    loss: str = param(
        default="squared_hinge",
        rule=one_of("hinge", "squared_hinge"),
        doc="""Loss of a row: :math:`q = 2` or :math:`q = 1`. The hinge loss is less sensitive to rows far on the wrong
        side.""",
    )
    centre: str = param(
        default="previous",
        rule=one_of("previous", "kl", "zero"),
        doc="""The centre of the penalty on the mean: the mean before the batch, with the new covariance; the same mean
        with the covariance before the batch, as in the divergence of the two Gaussians, which needs several passes if
        batches are large; or 0, as printed in [1]_, which forgets the labels of earlier batches and is provided for
        comparison only.""",
    )
    batch_size: int | None = param(
        default=None,
        doc="""Number of rows in a batch (:math:`N`). Each call of :meth:`fit` or :meth:`partial_fit` splits its rows
        into batches; the last one holds the remaining rows. By default it is 256 or four times the number of features,
        whichever is larger: small enough to learn from previous batches, and large enough that matrix products dominate
        the cost.""",
    )
    max_inner_iter: int = param(
        default=1, doc="Largest number of passes over each batch. More than one keeps a dense copy of the batch."
    )
    gap_tol: float = param(
        default=1e-3,
        rule=non_negative,
        doc="""With several passes, stop when the relative duality gap is at most this; a ConvergenceWarning tells you
        if it is not reached. One pass is the paper's algorithm and never warns.""",
    )

    def _learner(self, n_features: int) -> BatchLearner:
        if n_features > _WIDEST:
            raise ValueError(
                f"BCWClassifier: X must have at most {_WIDEST:,} features, because every pair has a covariance, "
                f"got {n_features:,}; AROWClassifier has a variance for each, SBCWClassifier picks a few."
            )
        core: Any = Bcw
        params = {
            "C": float(self.C),
            "squared": self.loss == "squared_hinge",
            "centre": self.centre,
            "max_inner_iter": int(self.max_inner_iter),
            "gap_tol": float(self.gap_tol),
        }
        return BcwLearner(core, params)

    def _state_shape(self, learner: Learner) -> tuple[int, dict[str, int]]:
        n_classes = len(self.classes_)
        return 1, learner.sizes(self.n_features_in_) | {"class": 1 if n_classes == 2 else n_classes}

    def _check_loaded(self) -> None:
        """Refuse a precision that no rows can have made."""
        precision = self.state_.arrays["precision"][0]
        largest = np.diagonal(precision).max()
        if np.abs(precision - precision.T).max() > 1e-8 * largest:
            raise ValueError("BCWClassifier: the precision of the weights must be symmetric.")
        try:
            _whitening.root(precision)
        except FloatingPointError:
            raise ValueError("BCWClassifier: the precision of the weights must be positive definite.") from None

    # --- several passes ---------------------------------------------------------------------------------------------

    def _look_back(self, rows: Rows, target: Any, is_in_use: bool) -> None:
        super()._look_back(rows, target, is_in_use)
        self._say_if_unsettled(stacklevel=5)

    def _partial_fit(self, X: Any, read: Any, sample_weight: Any, grow: bool) -> Self:
        super()._partial_fit(X, read, sample_weight, grow)
        self._say_if_unsettled(stacklevel=4)
        return self

    def _say_if_unsettled(self, stacklevel: int) -> None:
        if self.max_inner_iter > 1 and self.gap_ > self.gap_tol:
            warn_of_convergence(
                f"BCWClassifier: {self.max_inner_iter} passes left the last batch with a duality gap of "
                f"{self.gap_:.1e} of its objective, more than gap_tol={self.gap_tol:g}; a larger max_inner_iter or a "
                "smaller C comes closer.",
                stacklevel=stacklevel,
            )

    # --- rows that are elsewhere ------------------------------------------------------------------------------------

    def _round(self, facts: ShardFacts) -> Round:
        return bcw_round(self)

    # --- reading ----------------------------------------------------------------------------------------------------

    def _variances_of(self, rows: Rows) -> Array:
        learner = self._learner_now()
        X = matrix_of(learner.as_learned(rows, self.state_))
        return _whitening.doubts(X, learner.constant(self.state_), self._root())[:, None]

    @property
    def precision_(self) -> Array:
        """The inverse covariance of the weights, shared by all classes, in the units used for training."""
        self._all_weights()
        return read_only(self.state_.arrays["precision"][0, :-1, :-1])

    @property
    def covariance_(self) -> Array:
        """The covariance of the weights, shared by all classes."""
        inverse = self._inverse_root()
        return read_only(inverse.T @ inverse)

    @property
    def variance_(self) -> Array:
        """The variance of each weight."""
        inverse = self._inverse_root()
        return read_only(np.einsum("ij,ij->j", inverse, inverse))

    def _inverse_root(self) -> Array:
        """Of the covariance of the features' weights, R in R'R."""
        inverse = linalg.solve_triangular(self._root(), np.eye(self.n_features_in_ + 1), lower=True)[:, :-1]
        return np.asarray(inverse * self._learner_now().units(self.state_))

    @property
    def gap_(self) -> float:
        """The relative duality gap of the last batch."""
        self._all_weights()
        return float(self.state_.arrays["gap"][0, 0])

    def _root(self) -> Array:
        """The Cholesky factor of the precision; kept as long as the weights are."""
        weights = self._all_weights()
        kept: dict[str, Array] = self.__dict__.setdefault("_root_cache", {})
        if kept.get("of") is not weights:
            kept.update(of=weights, root=_whitening.root(self.state_.arrays["precision"][0]))
        return kept["root"]

    def _keep(self, learner: Learner) -> None:
        super()._keep(learner)
        self._root_cache: dict[str, Array] = {}  # there from the start, so that a prediction adds no attribute

    def __getstate__(self) -> dict[str, Any]:
        kept: dict[str, Any] = super().__getstate__()
        kept.pop("_root_cache", None)
        return kept
