"""Learners that take rows in batches: a rule in Python over BLAS and compiled steps, with the interface of all
learners.

A rule says what it keeps, what it makes of one batch, and which weights it implies; everything else (several classes,
several costs side by side, tallies, saving, growing, merging) is written here or below, once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import replace
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from .._core import Rows, linear_scores, take_columns
from .._dataclasses import dataclass
from .._engine import (
    Learner,
    Lesson,
    PassResult,
    State,
    Target,
    Tuning,
    in_turn,
    matrix_of,
    n_workers,
    one_blas_thread,
    part_of,
    thread_pool,
    winning_codes,
)
from .._gate import Array, at_least, auto, boolean, check_weights, encode, none
from ._declared import param
from ._linear import KeepsVariances, LinearScores, UsesThreads

Ids = NDArray[np.int64]
View = Mapping[str, Array]
Params = Mapping[str, Any]

_ROWS = 1024  # that came one by one, if no batch size is given
_FEW_BATCHES = 10  # with fewer, the first batch, scored before anything is known, would count too much


class BatchLesson(NamedTuple):
    """One batch as a rule gets it: rows of weight above 0, in their order."""

    rows: Rows
    constant: float
    """Value of the constant feature, which has index ``rows.n_features``; 0 for none."""
    y: Array
    """-1 or +1."""
    weight: Array
    """Above 0."""
    margins: Array
    """Scores before the batch is learned from."""
    shared: Any = None
    """Prepared by the rule once for all outputs."""

    @property
    def matrix(self) -> Any:
        """The features without the constant: an array or a csr_array."""
        return matrix_of(self.rows)

    def take(self, ids: Ids) -> Array:
        """Dense columns with these indices; ``rows.n_features`` is that of the constant."""
        return take(self.rows, self.constant, ids)


class BatchRule:
    """One method. Nothing is kept but in the state; methods get the parameters of one model.

    ``view`` holds the arrays of one output, flat. A rule with a few features in use says so by :meth:`selection`, one
    with a weight for each by :meth:`weights`.
    """

    @staticmethod
    def fields(params: Params) -> list[tuple[Any, ...]]:
        """(name, axes, initial, merge[, by[, beside]]) of every array."""
        raise NotImplementedError

    @classmethod
    def prepare(cls, rows: Rows) -> Any:
        """Compute once what all outputs need of a batch, and keep it in ``lesson.shared``."""

    @classmethod
    def learn(cls, lesson: BatchLesson, state: State, output: int, params: Params) -> int:
        """Learn from one batch, in place; how many rows moved the weights. FloatingPointError if weights overflow."""
        raise NotImplementedError

    @classmethod
    def selection(cls, view: View, params: Params) -> tuple[Ids, Array] | None:
        """The features in use and their weights; the constant has the index of the last weight, or -1."""
        return None

    @classmethod
    def weights(cls, view: View, params: Params, out: Array) -> None:
        """All weights, that of the constant last."""
        chosen = cls.selection(view, params)
        assert chosen is not None
        out[:] = 0
        out[chosen[0]] = chosen[1]

    @classmethod
    def settle(cls, states: Sequence[State], params: Params) -> None:
        """Bring states that are to be merged, the start first, to a common form, in place."""

    @classmethod
    def rebuild(cls, state: State, params: Params) -> None:
        """Recompute what is derived from the rest of a merged state, or prune it, in place."""


@dataclass(frozen=True)
class BatchLearner(Learner):
    """A rule with its parameters; ``core`` is a :class:`BatchRule`."""

    batch_size: int | None = None
    """Rows of a batch; None for the usual number."""
    uses_blas_threads: ClassVar[bool] = False  # whether its matrices are large enough for several

    @property
    def rule(self) -> type[BatchRule]:
        return self.core  # type: ignore[return-value]

    steep = True  # what a batch changes is remembered until it is accepted

    def selection(self, state: State, output: int) -> tuple[Ids, Array] | None:
        chosen = self.rule.selection(state.views[output], self._params_of(state, output))
        return chosen and (np.where(chosen[0] < 0, state.sizes["weight"] - 1, chosen[0]), chosen[1])

    def all_scores(self, rows: Rows, state: State, outputs: Sequence[int]) -> Array:
        """Scores of shape ``(len(outputs), n_rows)``, of rows in the units in which they are learned."""
        out, constant = np.empty((len(outputs), rows.n_rows)), self.constant(state)
        for place, k in enumerate(outputs):
            chosen = self.selection(state, k)
            if chosen is None:
                weights = np.empty((1, state.sizes["weight"]))
                self.rule.weights(state.views[k], self._params_of(state, k), weights[0])
                linear_scores(rows, constant, weights, out[place][:, None])
            else:
                out[place] = take(rows, constant, chosen[0]) @ chosen[1]
        return out

    def learn_batch(
        self, rows: Rows, targets: Array, weight: Array, state: State, run: Callable[..., Iterator[Any]] = map
    ) -> Array:
        """Predict a batch, then learn from it; ``targets`` of -1 and +1 has one row per output. Returns the scores."""
        outputs = range(state.n_outputs)
        margins = self.all_scores(rows, state, outputs)
        if not np.isfinite(margins).all():
            raise FloatingPointError
        n_targets, shared, constant = len(targets), self.rule.prepare(rows), self.constant(state)

        def learn_one(k: int) -> int:
            y = targets[k % n_targets]
            lesson = BatchLesson(rows, constant, y, weight, margins[k], shared)
            return self.rule.learn(lesson, state, k, self._params_of(state, k))

        n_updates = list(run(learn_one, outputs))
        losses = np.maximum(0.0, 1.0 - margins * np.tile(targets, (self.n_models, 1)))
        tally = state.arrays["tally"]
        tally[:, 0] += rows.n_rows
        tally[:, 1] += n_updates
        tally[:, 2] += losses @ weight
        tally[:, 3] += weight.sum()
        return margins

    def can_survey(self, state: State) -> bool:
        return False

    def usual_size(self, n_features: int) -> int | None:
        """Default number of rows in a batch; None for one batch of all rows of a call."""
        return None

    def is_short(self, n_rows: int, size: int) -> bool:
        """Whether a last batch of so few rows joins the one before."""
        return False

    def learns_at_once(self, lesson: Lesson) -> bool:
        return len(self._batches(np.arange(lesson.rows.n_rows), lesson.rows.n_features)) < _FEW_BATCHES

    def learn(self, lesson: Lesson, state: State) -> PassResult:
        """Learn from the rows batch by batch; a row with a score that is not finite ends it."""
        self.check(lesson, state)
        rows, target = lesson.rows, lesson.target
        if self.tuning is not None:
            self.tuning.begin(state, rows)
        present = np.arange(rows.n_rows) if lesson.order is None else lesson.order
        if lesson.weight is not None:
            present = present[lesson.weight[present] > 0]
        n_mistakes = 0
        with ExitStack() as stack:
            if not self.uses_blas_threads:
                stack.enter_context(one_blas_thread())
            workers = n_workers(lesson.n_jobs, state.n_outputs)
            run = map if workers == 1 else stack.enter_context(thread_pool(workers)).map
            for part in self._batches(present, rows.n_features):
                reader, as_read = self.chosen(state), None
                if self.reads_weights(state):  # before the units of columns change
                    as_read = np.empty((len(part), target.n_outputs))
                    linear_scores(part_of(rows, part), self.constant(state), self.weights(state), as_read)
                some = self._as_learned(lesson, state, part)
                weight = np.ones(len(part)) if lesson.weight is None else lesson.weight[part]
                try:
                    margins = self.learn_batch(some, _signs(target, part), weight, state, run)
                except FloatingPointError:
                    step = part[0] if lesson.order is None else np.argmax(lesson.order == part[0])
                    return PassResult(n_mistakes, int(step))
                codes = (target.y[part] > 0).astype(float) if target.classes is None else target.y[part]
                of_models = margins.reshape(self.n_models, target.n_outputs, -1)
                if self.grid:
                    for model, scores in enumerate(of_models):
                        state.arrays["n_mistakes"][model, 0] += np.count_nonzero(winning_codes(scores) != codes)
                shown = of_models[reader] if as_read is None else as_read.T
                counted = None if lesson.score_weight is None else lesson.score_weight[part]
                here = replace(lesson, target=target.take(part), weight=weight, order=None, score_weight=counted)
                for model, scores in enumerate(of_models):
                    self.count_scores(here, state, model, shown if model == reader else scores)
                wrong = int(np.count_nonzero(winning_codes(shown) != codes))
                self.add_mistakes(state, wrong)
                n_mistakes += wrong
        return PassResult(n_mistakes, -1)

    def _as_learned(self, lesson: Lesson, state: State, part: Ids) -> Rows:
        """The rows of a batch; dense ones in units that are known before they are learned from."""
        rows, tuning = lesson.rows, self.tuning
        if tuning is not None and self.scales(state):
            if not lesson.is_measured:
                tuning.measure(state, rows, lesson.target, part)
                tuning.freeze(self, state)
            return tuning.scaled(state, rows, part)
        return rows if len(part) == rows.n_rows and lesson.order is None else part_of(rows, part)

    def _batches(self, present: Ids, n_features: int) -> list[Ids]:
        """The rows of each batch."""
        n_rows = len(present)
        size = self.batch_size or self.usual_size(n_features) or max(1, n_rows)
        cuts = range(size, n_rows, size)
        if cuts and self.is_short(n_rows - cuts[-1], size):
            cuts = cuts[:-1]
        return np.split(present, cuts) if n_rows else []

    def scores(self, rows: Rows, state: State) -> Array:
        if self.reads_weights(state):
            return super().scores(rows, state)
        return np.ascontiguousarray(self.all_scores(rows, state, self.outputs_of(state, self.chosen(state))).T)

    def finish(self, state: State) -> None:
        """Do nothing: the remaining rows of a call form a batch of their own."""

    def settle(self, state: State) -> None:
        self.settle_all([state])

    def settle_all(self, states: Sequence[State]) -> None:
        self.rule.settle(states, self.params)

    def rebuild(self, state: State) -> None:
        self.rule.rebuild(state, self.params)


class BatchClassifier(UsesThreads, KeepsVariances, LinearScores):
    """Base class: a subclass maps its parameters to a :class:`BatchLearner`. The rows of each call are cut into batches
    of ``batch_size``, the last one with those that are left; None is one batch for all rows of a call."""

    batch_size: int | None = param(
        default=None,
        rule=at_least(1) | none,
        doc="""Number of rows in a batch; the last batch holds the remaining rows. By default, all rows of a call form
        one batch.""",
    )
    max_inner_iter: int = param(
        default=1, rule=at_least(1), doc="Largest number of passes over the dual variables of a batch.", file="n_passes"
    )
    scale: Any = param(
        default="auto",
        rule=boolean | auto,
        doc="""Standardize the columns of dense rows; sparse rows stay as they are. The mean and deviation of a column
        are those of all rows up to and including the first batch in which it varies (in :meth:`fit`, of all rows). They
        then stay fixed, so that weights learned in these units stay valid; only those of fewer than 64 rows are
        computed again. Values more than five deviations from the mean of the rows so far are clipped to that distance.
        ``C`` and variances then refer to scaled columns, and ``coef_`` to those of ``X``. ``"auto"`` scales unless a
        :class:`~thresher.preprocessing.RunningScaler` precedes the learner in a pipeline; False gives the published
        learner.""",
    )

    _shorter_steps = "a smaller C"
    _multiplies_when_loaded = True
    _waiting: list[tuple[Any, Any, float]]  # rows that came one by one, with their targets and weights
    _classes_to_come: NDArray[Any]  # those of the rows that wait

    @in_turn
    def learn_one(self, x: Any, y: Any, classes: Any = None, sample_weight: float | None = None) -> Self:
        """Collect one row, and learn once a batch is full. Until then, predictions use the model as it is.
        :meth:`flush` learns from the pending rows at once. Model files do not include pending rows.

        A batch has ``batch_size`` rows. If that is None, it has as many as in :meth:`fit`, or 1024 if :meth:`fit` uses
        a single batch.

        Parameters
        ----------
        x : dict or tuple
            The values of features by name or by column number, or a pair of column numbers and values. Others are 0.
        y : object
            The class of the row.
        classes : array-like, optional
            All classes that will ever occur; needed in the first call.
        sample_weight : float, optional
            The weight of the row, at least 0.
        """
        reader = self._read_row(x, learns=True)
        waiting = vars(self).setdefault("_waiting", [])
        if waiting:
            known = self._announced(classes) if classes is not None else self._classes_to_come
        else:
            known = self._known_classes(classes, not hasattr(self, "state_"))
        check_weights(sample_weight, 1, type(self).__name__)
        encode([y], known, type(self).__name__)
        self._classes_to_come = known
        waiting.append((dict(x) if isinstance(x, dict) else x, y, 1.0 if sample_weight is None else sample_weight))
        size = self.batch_size or self._checked_learner(max(1, reader.width)).usual_size(reader.width)  # type: ignore[attr-defined]
        if len(waiting) >= (size or _ROWS):
            self.flush()
        return self

    @in_turn
    def flush(self) -> Self:
        """Learn from the pending rows of :meth:`learn_one`."""
        waiting, kept = vars(self).pop("_waiting", []), vars(self)
        if not waiting:
            return self
        parts: list[Rows] = []
        names: list[str] = []
        reader = self._read_row(waiting[0][0], learns=True)
        for x, _, _ in waiting:
            reader.read(x, True)
            parts.append(reader.rows())
            names += reader.accept()
        starts = np.cumsum([0, *(len(part.values) for part in parts)], dtype=np.int64)
        values, columns = (np.concatenate([getattr(part, name) for part in parts]) for name in ("values", "columns"))
        rows = Rows.csr(values, columns, starts, parts[-1].n_features)
        try:
            weights = [weight for *_, weight in waiting]
            self._learn_rows(rows, [y for _, y, _ in waiting], classes=self._classes_to_come, sample_weight=weights)
        except BaseException:
            del kept["_row_reader"]
            raise
        self._know(names)
        return self

    def _fit(self, X: Any, *given: Any) -> Self:
        vars(self).pop("_waiting", None)
        return super()._fit(X, *given)

    def _partial_fit(self, X: Any, read: Callable[[int], Target], sample_weight: Any, grow: bool) -> Self:
        if vars(self).get("_waiting"):  # rows are learned from in their order
            self.flush()
        return super()._partial_fit(X, read, sample_weight, grow)

    @property
    def _exactness(self) -> str:
        return "call"

    def _learner(self, n_features: int) -> BatchLearner:
        raise NotImplementedError

    def _with_intercept(self, learner: Learner) -> Learner:
        learner = replace(super()._with_intercept(learner), batch_size=self.batch_size)  # type: ignore[call-arg]
        return replace(learner, tuning=Tuning(scales=True, holds=True)) if self._is_scaled else learner

    @property
    def _is_scaled(self) -> bool:
        return bool(self.scale)

    @classmethod
    def _from_file(cls, params: Mapping[str, Any]) -> Mapping[str, Any]:
        """Files without a scale hold models that do not scale."""
        return super()._from_file(params if "scale" in params else {**params, "scale": False})

    def _n_visits(self, n_rows: int, n_steps: int) -> int:
        """A pass ends with a batch of the remaining rows."""
        if self.batch_size is None:
            raise ValueError(f"{type(self).__name__}: batch_size must be an integer when n_steps is given, got None.")
        n_passes, rest = divmod(n_steps, -(-n_rows // self.batch_size))
        return n_passes * n_rows + rest * self.batch_size

    def _passes(self, target: Any, random_state: Any) -> Iterator[Iterator[NDArray[np.int64] | None]]:
        """Whole passes: pieces would end batches before they are full."""
        for pieces in super()._passes(target, random_state):
            parts = [None if piece is None else piece.copy() for piece in pieces]
            if len(parts) == 1:
                yield iter(parts)
            else:
                yield iter([np.concatenate([part for part in parts if part is not None])])


def _signs(target: Target, part: Ids) -> Array:
    """Targets of -1 and +1, a row for each output."""
    wanted = [1.0] if target.classes is None else [target.positive(k) for k in range(target.n_outputs)]
    return np.stack([np.where(target.y[part] == code, 1.0, -1.0) for code in wanted])


def take(rows: Rows, constant: float, ids: Ids) -> Array:
    """Dense columns of rows, the constant among them where its index is asked for."""
    out = np.zeros((rows.n_rows, len(ids)))
    take_columns(rows, constant, np.ascontiguousarray(ids, dtype=np.int64), out)
    return out
