"""Linear learners: passes over rows, state between them, and weights computed on demand."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from .. import _engine, _gate
from .._core import Rows, linear_scores
from .._engine import Learner, Lesson, State, Target, are_scaled, in_turn
from .._gate import Array, at_least, boolean, check_params, none, positive, seed, sparse
from ._contract import Estimator, check_is_fitted, warn_of_convergence
from ._declared import param
from ._fit_course import HasCourse, is_watched
from ._one_row import LearnsRows
from ._reading import ReadsTargets


class _Learned:
    """The types of the results of learning."""

    state_: State
    n_features_in_: int
    n_iter_: int


class OnlineLinear(_Learned, HasCourse, LearnsRows, ReadsTargets, Estimator):
    """Base class: a subclass names its parameters' rules and maps them to a compiled learner, and says nothing else.

    ``_exactness`` is ``"row"`` when any chunking of the rows gives the same bits, ``"batch"`` when chunks at multiples
    of ``batch_size`` do.

    Attributes
    ----------
    support_ : ndarray
        Indices of the features in use.
    n_iter_ : int
        Passes made by the last :meth:`fit`.
    n_samples_seen_ : int
        Number of rows learned from, counting repeats.
    n_updates_ : int
        Number of updates that changed weights.
    progressive_loss_ : float
        Mean loss of these rows, each measured before the model learned from it.
    state_ : State
        Everything that was learned, as named arrays: saved in checkpoints, and merged between shards.
    """

    fit_intercept: bool = param(
        default=True, rule=boolean, doc="Learn a constant term, as the weight of an additional constant feature."
    )
    intercept_scaling: float = param(
        default=0.1,
        rule=positive,
        doc="""Value of the constant feature; with scaled columns it is always 1. The papers use 1, but on sparse rows a
        constant with full steps outweighs the features, and 0.1 does not.""",
    )
    max_iter: int = param(
        default=5,
        rule=at_least(1),
        doc="Passes over the data in :meth:`fit`. :meth:`partial_fit` always makes one.",
    )
    n_steps: int | None = param(
        default=None,
        rule=at_least(1) | none,
        doc="Make this many steps of one mini-batch each (:math:`T`) instead of ``max_iter`` passes.",
    )
    shuffle: bool = param(
        default=True,
        rule=boolean,
        doc="""Visit the rows in a new random order in each pass of :meth:`fit`: blocks of 64 rows, or single rows if
        they are sorted by label.""",
    )
    random_state: Any = param(default=None, rule=seed, doc="Seed of the visiting orders.")

    _penalty: ClassVar[str] = "alpha"  # the parameter that decides how many features are in use
    _shorter_steps: ClassVar[str] = "a larger alpha, such as 1e-2, or more passes"  # what makes them
    _fitted: ClassVar[tuple[str, ...]] = (
        "n_features_in_",
        "feature_names_in_",
        "n_iter_",
        "_grown",
        "_is_float32",
    )  # beside state_, what a file keeps

    def _learner(self, n_features: int) -> Learner:
        """The compiled update rule with this estimator's parameters."""
        raise NotImplementedError

    def _new_state(self, learner: Learner, n_features: int, n_outputs: int) -> State:
        """The state before the first row."""
        try:
            state = learner.new_state(n_features, n_outputs)
        except (MemoryError, OverflowError, ValueError) as error:  # ValueError: beyond what an array can be
            raise MemoryError(
                f"{type(self).__name__}: a model of {n_features:,} features and {n_outputs} outputs does not fit into "
                "memory; give it fewer columns, or lower the parameters that set its size."
            ) from error
        if learner.tuning is not None and self.__dict__.get("_rows_come_scaled", False):  # set by a pipeline
            state.arrays["is_scaled"][0, 0] = _engine.COMES_SCALED
        return state

    @property
    def _exactness(self) -> str:
        return "row" if getattr(self, "batch_size", 1) == 1 else "batch"

    # --- learning ---------------------------------------------------------------------------------------------------

    def fit(
        self, X: Any, y: Any, sample_weight: Any = None, *, coef_init: Any = None, intercept_init: Any = None
    ) -> Self:
        """Learn from scratch: ``max_iter`` passes over the rows, or ``n_steps`` mini-batches of them.

        Parameters
        ----------
        coef_init : array-like of the shape of ``coef_``, optional
            Initial weights. Not available for learners that keep sums of gradients.
        intercept_init : array-like of the shape of ``intercept_``, optional
            Initial constant terms.
        """
        first = (coef_init, intercept_init)
        return self._fit(X, y, lambda n_rows: self._read_all(y, n_rows), sample_weight, first)

    def _fit(
        self, X: Any, y: Any, read: Callable[[int], Target], sample_weight: Any, first: tuple[Any, Any] = (None, None)
    ) -> Self:
        given = X, y, read, sample_weight, first
        if not self._goes_on and isinstance(self.random_state, int | None):  # a generator draws other orders next time
            try:
                return self._fit_rows(_gate.check_features(self, X, reset=True, later=True), *given)
            except _gate.UncheckedRows:
                pass  # check them all: for the error, or to sort them
        return self._fit_rows(_gate.check_features(self, X, reset=not self._goes_on), *given)

    def _fit_rows(
        self,
        rows: Rows,
        X: Any,
        y: Any,
        read: Callable[[int], Target],
        sample_weight: Any,
        first: tuple[Any, Any],
    ) -> Self:
        goes_on = self._goes_on
        learner = self._learner_now() if goes_on else self._learner_for(X, rows.n_features)
        target = read(rows.n_rows)
        if goes_on:
            self._check_same_target(target)
            self._adapt_to(learner)
        else:
            learner = learner.for_outputs(target.n_outputs)
        measures = learner.tuning is not None and rows.columns is None
        if type(learner) is not Learner or measures or target.n_outputs > 1 or is_watched(self):
            self._check_rest(rows)  # because others than passes of one output see them
        sample_weight = _gate.check_weights(sample_weight, rows.n_rows, type(self).__name__)
        weight = self._weigh(sample_weight, target)
        if weight is not None and not weight.any():
            raise ValueError(f"{type(self).__name__}: sample_weight must hold a weight above 0, got only zeros.")
        state = self.state_.copy() if goes_on else self._new_state(learner, rows.n_features, target.n_outputs)
        counted = None if weight is None else self._counted_weight(weight, sample_weight)
        lesson = Lesson(rows, target, weight, is_new=not goes_on, score_weight=counted)
        if self.shuffle and not goes_on:  # else the rows are a stream, of which only the past is known
            learner.look_at(lesson, state)
        if any(values is not None for values in first):
            self._begin_at(learner, state, *first, lesson.is_measured or goes_on)
        n_iter = self._make_passes(learner, state, lesson, (X, y, sample_weight))
        self._check_rest(rows)
        learner.finish(state)
        if self.shuffle:  # else what is read is what a stream would read
            learner.choose(state)
        few_values = rows.values.size < state.n_outputs * rows.n_features  # a copy would take longer than the passes
        weights = None if few_values and learner.can_survey(state) else learner.weights(state)
        is_finite, is_in_use = learner.survey(state) if weights is None else _engine.surveyed(weights)
        if not is_finite:
            self._refuse_divergence(rows, rows.n_rows - 1)
        self._score_apart(learner, state, lesson, n_iter)
        _gate.commit_features(self, X, rows.n_features)
        self._commit_target(target)
        self.state_, self.n_iter_ = state, n_iter
        self._keep(learner)
        self.densify().to_float64()
        self._weights_cache: tuple[Learner, Array] | None = None if weights is None else (learner, weights)
        self._grown = False
        if "_row_reader" in self.__dict__:
            self._forget_reader(X)
        self._look_back(rows, target, is_in_use)
        return self

    @in_turn
    def partial_fit(
        self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None, *, grow: bool = False
    ) -> Self:
        """Learn from one more batch, row by row in the given order, and keep what earlier calls learned.

        Parameters
        ----------
        classes : array-like, optional
            All classes that may occur; required in the first call of a classifier.
        grow : bool, default=False
            Accept batches with more or fewer columns than before; new features start with weight zero.
        """
        first = not hasattr(self, "state_")
        return self._partial_fit(X, partial(self._read_batch, y, classes=classes, first=first), sample_weight, grow)

    def _partial_fit(self, X: Any, read: Callable[[int], Target], sample_weight: Any, grow: bool) -> Self:
        first = not hasattr(self, "state_")
        rows = _gate.check_features(self, X, reset=first, grow=grow)
        learner = self._learner_for(X, rows.n_features) if first else self._learner_now(rows.n_features)
        target = read(rows.n_rows)
        if first:
            learner = learner.for_outputs(target.n_outputs)
        if self.class_weight == "balanced":
            raise ValueError(
                f'{type(self).__name__}: class_weight must be None or a dict in partial_fit, got "balanced", '
                "because one batch does not show how often the classes occur."
            )
        if sample_weight is not None:
            sample_weight = _gate.check_weights(sample_weight, rows.n_rows, type(self).__name__)
        weight = self._weigh(sample_weight, target)
        state = self._new_state(learner, rows.n_features, target.n_outputs) if first else self.state_
        made_by = self.__dict__.get("_learner_of_state")
        if learner is not made_by and not first:
            self._adapt_to(learner)
        is_new = not self.__dict__.get("_sees_again", False)  # says of_rows_seen_before
        counted = None if weight is None else self._counted_weight(weight, sample_weight)
        grows = self._learn_batch(learner, state, Lesson(rows, target, weight, is_new=is_new, score_weight=counted))
        if first:
            _gate.commit_features(self, X, rows.n_features)
            self.state_, self.n_iter_ = state, 1
        elif grow:
            _gate.commit_growth(self, X, rows.n_features)
        if first or grows:
            self._commit_target(target)
        if learner is not made_by:
            self._keep(learner)
        self._weights_cache = None
        self._grown = grow or self.__dict__.get("_grown", False)
        if "_row_reader" in self.__dict__:
            self._forget_reader(X)
        return self

    def _learn_batch(self, learner: Learner, state: State, lesson: Lesson) -> bool:
        """Make room for a batch and learn from it; a refused one leaves the state as it was. Whether it grew."""
        try:
            alone = lesson.rows.n_rows == 1 or "_bound_rows" in self.__dict__  # which may have to go
            if alone and self._learn_alone(learner, lesson):
                return False
        except FloatingPointError:
            self._refuse_divergence(lesson.rows, 0)
        room = learner.room(lesson.rows.n_features, lesson.target)
        grows = state.is_shorter(room)
        lesson.memory = learner.remember(state, lesson.rows) if learner.steep or grows else None
        if grows:
            state.grow(room.pop("weight"), **room)
        try:
            self._learn(learner, state, lesson)
        except FloatingPointError:
            if lesson.memory is not None:
                lesson.memory.put_back()
            raise
        return grows

    def _learn(self, learner: Learner, state: State, lesson: Lesson) -> None:
        """One pass; raises an error with advice if weights overflow."""
        lesson.n_jobs = self.__dict__.get("n_jobs")
        diverged = learner.learn(lesson, state).diverged
        if diverged >= 0:
            self._refuse_divergence(lesson.rows, diverged if lesson.order is None else int(lesson.order[diverged]))

    @staticmethod
    def _check_rest(rows: Rows) -> None:
        """Check the rows that no pass has come to."""
        if rows.fault:
            raise _gate.UncheckedRows

    def _refuse_divergence(self, rows: Rows, row: int) -> None:
        self._check_rest(rows)
        scale = "" if are_scaled(rows.values) else "scale the features to about 1 or "
        raise FloatingPointError(
            f"{type(self).__name__}: the weights overflowed at row {row}; "
            f"{scale}take smaller steps ({self._shorter_steps})."
        )

    def _score_apart(self, learner: Learner, state: State, lesson: Lesson, n_iter: int) -> None:
        """Score rows by models that have not seen them, where the passes of a fit did not."""

    def _passes(self, target: Target, random_state: Any) -> Iterator[Iterator[NDArray[np.int64] | None]]:
        """The visiting orders of :meth:`fit`."""
        n_rows = len(target.y)
        n_visits = self._n_visits(n_rows, self.n_steps) if self.n_steps else self._n_passes(n_rows) * n_rows
        mixed = self.shuffle and _engine.are_mixed(target.groups())
        return _engine.passes(n_rows, n_visits, self.shuffle, mixed, random_state)

    def _n_visits(self, n_rows: int, n_steps: int) -> int:
        """The rows that this number of steps of :meth:`fit` visits."""
        return n_steps * int(getattr(self, "batch_size", 1))

    def _n_passes(self, n_rows: int) -> int:
        """The number of passes that :meth:`fit` makes over this number of rows."""
        return int(self.max_iter)

    def _learner_for(self, X: Any, n_features: int) -> Learner:
        """The learner of a fit or a first batch; one that goes by the names of columns looks at ``X``."""
        return self._checked_learner(n_features)

    def _keep(self, learner: Learner) -> None:
        """Keep the learner that made the state, once its rows were accepted."""
        self._learner_of_state = learner
        self._rule_of_state = self._learner_cache[2]

    def _checked_learner(self, n_features: int) -> Learner:
        """The learner; rules are looked at again only when a parameter is another object than last time."""
        now = tuple(map(self.__dict__.get, self._params))
        cached = self.__dict__.get("_learner_cache")
        if cached is not None and cached[0] == n_features and all(map(operator.is_, cached[1], now)):
            return cached[2]
        check_params(self, self._param_rules)
        learner = self._counting(self._with_intercept(self._learner(n_features)))
        self._learner_cache = (n_features, now, learner)
        return learner

    def _counting(self, learner: Learner) -> Learner:
        """The learner, with counts of its scores for calibration."""
        return learner

    def _counted_weight(self, weight: Array, sample_weight: Array | None) -> Array | None:
        """The weights by which scores are counted, if they are not those by which rows are learned from."""
        return None

    def _with_intercept(self, learner: Learner) -> Learner:
        return replace(learner, intercept=float(self.intercept_scaling) if self.fit_intercept else 0.0)

    def _look_back(self, rows: Rows, target: Target, is_in_use: bool) -> None:
        """Warn if all weights are 0 after a fit."""
        if not is_in_use:
            advice = f"; a smaller {self._penalty} keeps more features" if hasattr(self, self._penalty) else ""
            warn_of_convergence(
                f"{type(self).__name__}: all weights are 0, so no feature is in use{advice}.", stacklevel=4
            )

    # --- reading ----------------------------------------------------------------------------------------------------

    def _scores(self, X: Any) -> Array:
        learner, grown = self._learner_now(), self.__dict__.get("_grown", False)
        later = type(learner) is Learner  # whose scores are the core's
        rows = _gate.check_features(self, X, reset=False, any_width=grown, later=later)
        try:
            scores = self._scores_of(rows, learner)
        except ValueError:
            if not rows.fault:
                raise
        else:
            if not rows.fault:
                return scores
        return self._scores_of(self._rows_to_score(X))  # for the error, or with sorted rows

    def _rows_to_score(self, X: Any) -> Rows:
        self._learner_now()
        return _gate.check_features(self, X, reset=False, any_width=self.__dict__.get("_grown", False))

    def _scores_of(self, rows: Rows, learner: Learner | None = None) -> Array:
        learner = learner or self._learner_now()
        state = self.state_
        has_several = len(self.__dict__.get("classes_", ())) > 2 and rows.columns is not None
        pays = has_several and len(rows.values) >= rows.n_features  # one look at a sparse row for all classes
        if not (pays or learner.params.get("n_selected") or learner.reads_weights(state)):
            return learner.scores(rows, state)
        weights = self._all_weights()  # which features are in use is decided once
        scores = np.empty((rows.n_rows, len(weights)))
        linear_scores(rows, learner.constant(state), weights, scores)
        return scores

    def _scores_by(self, learner: Learner, state: State, rows: Rows, target: Target) -> Array:
        """Scores of rows whose targets are known, by the state of a learner."""
        return learner.scores(rows, state)

    def _state_shape(self, learner: Learner) -> tuple[int, dict[str, int]]:
        """The number of outputs and the sizes that the state of this fitted model must have."""
        return self._n_outputs * learner.n_models, learner.sizes(self.n_features_in_)

    @property
    def _n_outputs(self) -> int:
        """The number of scores of a row."""
        n_classes = len(self.__dict__.get("classes_", ()))
        return n_classes if n_classes > 2 else 1

    def _learner_now(self, n_features: int | None = None) -> Learner:
        """The learner of a fitted model; its state must be of the learner's making."""
        kept = self.__dict__
        if "state_" not in kept:
            check_is_fitted(self)
        cached: Any = kept.get("_learner_cache")
        made_by: Any = kept.get("_learner_of_state")
        width = self.n_features_in_ if n_features is None else n_features
        same = cached is not None and cached[0] == width and cached[2] is kept.get("_rule_of_state")
        if same and all(map(operator.is_, cached[1], map(kept.get, self._params))):  # nothing changed since the fit
            return made_by
        learner = self._checked_learner(width).for_outputs(self._n_outputs)
        if learner is not made_by and not self._can_continue(learner, made_by):
            raise ValueError(
                f"{type(self).__name__}: a parameter that affects training has changed since the last fit; "
                "set it back, or call fit."
            )
        return learner

    def _can_continue(self, learner: Learner, made_by: Learner | None) -> bool:
        if [f.name for f in learner.fields()] != [f.name for f in self.state_.fields]:
            return False
        if self.state_.sizes.get("model", 1) != learner.n_models:
            return False
        if made_by is None:
            return True
        same_batches = learner.params.get("batch_size") == made_by.params.get("batch_size")
        return learner.continues(made_by) and (same_batches or not self.state_.is_behind("rows"))

    def _adapt_to(self, learner: Learner) -> None:
        """Recompute derived state after parameters changed between calls."""
        made_by: Learner | None = self.__dict__.get("_learner_of_state")
        if made_by is not None and learner is not made_by and not _same_params(learner.params, made_by.params):
            if self.state_.is_behind("steps"):
                made_by.settle(self.state_)
            learner.rebuild(self.state_)

    def _all_weights(self) -> Array:
        """Weights implied by the state, shape (n_outputs, n_features + 1); computed when asked for, then kept."""
        learner = self._learner_now()
        if self._weights_cache is None or self._weights_cache[0] is not learner:
            self._weights_cache = (learner, learner.weights(self.state_))
        return self._weights_cache[1]

    @property
    def coef_(self) -> Array:
        """Weights of the features."""
        weights = self._typed(self._shape_weights(self._all_weights()[:, :-1]))
        return sparse.csr_array(np.atleast_2d(weights)) if self._is_sparsified else read_only(weights)

    @property
    def intercept_(self) -> Array:
        """Constant terms."""
        return self._typed(self._all_weights()[:, -1] * self._learner_now().constant(self.state_))

    def _typed(self, weights: Array) -> Array:
        return weights.astype(np.float32) if self._is_float32 else weights

    @property
    def support_(self) -> NDArray[np.intp]:
        """Indices of the features in use: those with a weight other than 0 in any output."""
        return np.flatnonzero(self._all_weights()[:, :-1].any(axis=0))

    @property
    def n_samples_seen_(self) -> int:
        """Number of rows learned from so far, counting repeats but not rows of weight 0."""
        check_is_fitted(self)
        return int(self.state_.arrays["tally"][:, 0].max())

    @property
    def n_updates_(self) -> int:
        """Number of updates so far that changed weights, over all outputs."""
        check_is_fitted(self)
        learner = self._learner_now()
        outputs = learner.outputs_of(self.state_, learner.chosen(self.state_))
        return int(self.state_.arrays["tally"][outputs, 1].sum())

    @property
    def progressive_loss_(self) -> float:
        """Mean loss of the rows so far, each measured before the model learned from it."""
        check_is_fitted(self)
        return self._learner_now().progressive_loss(self.state_)

    def _shape_weights(self, weights: Array) -> Array:
        return weights

    def __getstate__(self) -> dict[str, Any]:
        kept = vars(self).copy()
        for name in (
            "_learner_cache",
            "_learner_of_state",
            "_rule_of_state",
            "_row_reader",
            "_bound_rows",
        ):  # compiled code is found again
            kept.pop(name, None)
        if "_weights_cache" in kept:
            kept["_weights_cache"] = None
        return kept


@contextmanager
def of_rows_seen_before(model: Any, is_so: bool = True) -> Iterator[None]:
    """While a model learns from rows that it has learned from before: their scores say nothing about new ones."""
    before = model.__dict__.get("_sees_again", False)
    model._sees_again = is_so
    try:
        yield
    finally:
        model._sees_again = before


def _same_params(a: dict[str, Any], b: dict[str, Any]) -> bool:
    return a.keys() == b.keys() and all(a[k] is b[k] or (not isinstance(a[k], np.ndarray) and a[k] == b[k]) for k in a)


def read_only(weights: Array) -> Array:
    view = weights.view()
    view.flags.writeable = False
    return view
