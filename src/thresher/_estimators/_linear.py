"""Linear scores read as classes or as values."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from .._core import Rows, loss_value
from .._engine import Curve, Learner, Lesson, ScoreCounts, State, Target, are_scaled, best_constant, part_of
from .._gate import Array, at_least, auto, class_weights, count_of_jobs, one_of
from ._calibrated import N_FOLDS, WithProbabilities, n_folds
from ._contract import check_is_fitted, warn_of_convergence
from ._declared import Declared, param
from ._online_linear import OnlineLinear
from ._reading import LinearClasses, ReadsValues

VISITS: int = 100_000  # rows that a regressor sees in all, so that it has converged on few of them,
MOST_PASSES: int = 200  # and the most passes for it


class WeighsClasses(Declared):
    """Mixin of classifiers whose classes may have weights."""

    class_weight: Any = param(
        default=None,
        rule=class_weights,
        doc="""Weights of the classes, which multiply the row weights. "balanced" works in :meth:`fit` only.""",
    )


class SelectsFeatures(Declared):
    """Mixin of classifiers that use few features; ``n_features_to_select`` says how many."""

    selection: str = param(
        default="model",
        rule=one_of("model", "class"),
        doc="""Whether ``n_features_to_select`` limits the features of the whole model or of each class. This matters
        only with more than two classes. In either case, each class learns with that many features of its own. With
        ``"model"``, features are then ranked by their largest weight in any class, and predictions use the first
        ``n_features_to_select`` of them.""",
    )


class UsesThreads(Declared):
    """Mixin of classifiers that learn each class against the rest."""

    n_jobs: int | None = param(
        default=None, rule=count_of_jobs, doc="Number of threads, over the classes if there are more than two."
    )


class LinearScores(LinearClasses, OnlineLinear):
    """Linear scores read as classes.

    Attributes
    ----------
    n_mistakes_ : int
        Number of wrong predictions, each made before the model learned from the row, or from its batch if it learns
        from batches. Learners that predict with ``n_features_to_select`` features but learn with more count mistakes of
        all features, because selecting features for every row would take too long.
    """

    _fitted: ClassVar[tuple[str, ...]] = (*OnlineLinear._fitted, "classes_")

    def _counting(self, learner: Learner) -> Learner:
        return learner if self.probability == "none" else learner.counting()

    def _counted_weight(self, weight: Array, sample_weight: Array | None) -> Array | None:
        """Without the weights of classes, if these do not count; rows of weight 0 are absent all the same."""
        if not self._counts_as_they_come:
            return None
        return np.where(weight > 0, 1.0 if sample_weight is None else sample_weight, 0.0)

    def _score_table(self, X: Any) -> Array:
        return self._scores(X)

    def _score_counts(self) -> ScoreCounts:
        return self._learner_now().score_counts(self.state_)

    def _curves(self) -> list[Curve]:
        """The curves of before, unless other scores were counted since."""
        counts, chosen, kept = self._score_counts(), self._learner_now().chosen(self.state_), self.state_.kept
        key = (chosen, counts.clock.tobytes())
        if kept.get("curves", (None,))[0] != key:
            kept["curves"] = (key, super()._curves())
        curves: list[Curve] = kept["curves"][1]
        return curves

    @WithProbabilities
    def predict_proba_one(self, x: Any, **of_row: Any) -> dict[Any, float]:
        """Return the probability of each class for one row; see :meth:`predict_proba`.

        Parameters
        ----------
        x : dict or tuple
            As in :meth:`learn_one`.
        **of_row : object
            Further arguments of :meth:`predict_one`.
        """
        shares = self._probabilities_of(np.array(self.score_one(x, **of_row), dtype=np.float64, ndmin=2))[0]
        return dict(zip(self.classes_.tolist(), shares.tolist(), strict=True))

    def _score_apart(self, learner: Learner, state: State, lesson: Lesson, n_iter: int) -> None:
        """After several passes, or batches of many rows, scores are those of models that have not seen a fold. Rows in
        the order given are a stream, of which every row was scored already."""
        is_stream = n_iter == 1 and not learner.learns_at_once(lesson)
        if not learner.counts_scores or not self.shuffle or is_stream:
            return
        n_rows, counts = lesson.rows.n_rows, learner.score_counts(state)
        found = ScoreCounts.empty(len(counts.bins))
        for fold in range(n_folds(n_rows)):
            held = np.arange(fold, n_rows, N_FOLDS)
            if 0 < len(held) < n_rows:
                scores = self._scores_of_fold(learner, state, lesson, held, n_iter)
                if scores is not None:
                    found.add(
                        scores, np.asarray(lesson.target.y, dtype=np.float64), lesson.counted_weight, held, ages=False
                    )
        if found.clock[0]:
            counts.replace(found)

    def _scores_of_fold(
        self, learner: Learner, state: State, lesson: Lesson, held: NDArray[np.int64], n_iter: int
    ) -> Array | None:
        """Scores, of shape (n_outputs, n_held), of rows by a model that learned from the others as ``state`` did."""
        fresh = self._new_state(learner, lesson.rows.n_features, lesson.target.n_outputs)
        learner.take_over(fresh, state)
        seen = np.ones(lesson.rows.n_rows, dtype=bool)
        seen[held] = False
        for _, pieces in zip(range(n_iter), self._passes(lesson.target, 0), strict=False):
            for order in pieces:
                part = np.flatnonzero(seen) if order is None else order[seen[order]]
                again = replace(lesson, order=part, is_new=False, is_measured=True, n_jobs=self.__dict__.get("n_jobs"))
                if len(part) and learner.learn(again, fresh).diverged >= 0:
                    return None
        learner.finish(fresh)
        learner.read_as(fresh, state)
        some = self._scores_by(learner, fresh, part_of(lesson.rows, held), lesson.target.take(held))
        return np.ascontiguousarray(some.T) if np.isfinite(some).all() else None

    @property
    def n_mistakes_(self) -> int:
        """Number of rows so far that were predicted wrongly before the model learned from them."""
        check_is_fitted(self)
        return self._learner_now().n_mistakes(self.state_)


class KeepsVariances(OnlineLinear):
    """Mixin of classifiers with a variance for each weight: the constant's steps get shorter by themselves,
    and a row that is seen again counts again."""

    intercept_scaling: float = param(
        default=1.0,
        doc="""Value of the constant feature; with scaled columns it is always 1. Its steps shrink over time, so a value
        of 1 does not outweigh the features.""",
    )
    max_iter: int = param(
        default=1,
        doc="""Passes over the data in :meth:`fit`. :meth:`partial_fit` always makes one. Each pass lowers the
        variances, as if the rows were new.""",
    )


class LinearClassifier(WeighsClasses, UsesThreads, LinearScores):
    """Linear scores read as classes, each learned against the rest."""


class LinearRegressor(ReadsValues, OnlineLinear):
    """Linear scores read as values.

    Attributes
    ----------
    coef_ : ndarray of shape (n_features,)
        Weights.
    intercept_ : ndarray of shape (1,)
        Constant term.
    """

    intercept_scaling: float = param(default=1.0)
    max_iter: Any = param(
        default="auto",
        rule=at_least(1) | auto,
        doc=f"""Passes over the data in :meth:`fit`; :meth:`partial_fit` always makes one. If the step size is
        ``"auto"``, too, ``"auto"`` makes as many as it takes to see {VISITS:,} rows, from 5 to {MOST_PASSES}; if the
        step size is a number, it makes 5.""",
    )

    _few_passes: ClassVar[int] = 5

    def _n_passes(self, n_rows: int) -> int:
        if self.max_iter != "auto":
            return int(self.max_iter)
        return max(
            self._few_passes, min(math.ceil(VISITS / n_rows), MOST_PASSES) if getattr(self, "_races", False) else 0
        )

    def partial_fit(self, X: Any, y: Any, sample_weight: Any = None, *, grow: bool = False) -> Self:  # type: ignore[override]
        return super().partial_fit(X, y, None, sample_weight, grow=grow)

    def _look_back(self, rows: Rows, target: Target, is_in_use: bool) -> None:
        """Warn if the model predicts worse than a constant, because steps were too long for the data."""
        super()._look_back(rows, target, is_in_use)
        learner = self._learner_now()
        name, tau, epsilon = (learner.params[key] for key in ("loss", "tau", "epsilon"))
        some = np.linspace(0, rows.n_rows - 1, min(rows.n_rows, 200)).astype(np.int64)
        y, p = target.y[some], self._scores_by(learner, self.state_, rows, target)[some, 0]
        constant = np.full(len(y), best_constant(name, y, tau, epsilon))
        paid, least = (float(loss_value(name, scores, y, tau, epsilon).sum()) for scores in (p, constant))
        if paid > 2 * least > 0:
            scale = "" if are_scaled(rows.values) else "scale them to about 1, or "
            warn_of_convergence(
                f"{type(self).__name__}: the model predicts worse than a constant, because steps were too long for "
                f"these features: {scale}take shorter steps ({self._shorter_steps}).",
                stacklevel=4,
            )

    def predict(self, X: Any) -> Array:
        """Predict the value of each row."""
        return self._scores(X)[:, 0]

    def _shape_weights(self, weights: Array) -> Array:
        return weights[0]
