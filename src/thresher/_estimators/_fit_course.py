"""The course of a fit: warm starts, early stopping, and callbacks for its passes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from copy import copy
from dataclasses import replace
from typing import Any, Self

import numpy as np

from .. import _gate
from .._core import Rows
from .._engine import Learner, Lesson, State, Target, in_turn
from .._gate import Array, at_least, boolean, non_negative, none, sparse
from ._contract import Borrowed, check_is_fitted
from ._declared import Declared, param

_LEAST_GAIN = 1e-3  # of the first pass's loss: what a pass must gain with early_stopping, unless tol says it


class HasCourse(Declared):
    """Mixin of learners whose :meth:`fit` makes passes over the rows."""

    tol: float | None = param(
        default=None,
        rule=non_negative | none,
        doc="""Stop :meth:`fit` when a pass changes the weights by less than this (Euclidean norm), but not while all of
        them are zero. With ``early_stopping``, it is the smallest improvement of the loss that counts instead, and None
        means a thousandth of the first pass's loss.""",
    )
    early_stopping: bool = param(
        default=False,
        rule=boolean,
        doc="""Stop :meth:`fit` after ``n_iter_no_change`` passes in which the mean loss, measured on each row before
        its step, did not improve on the best pass by more than ``tol``. Rows are new only in the first pass, so this
        detects convergence, not how well the model predicts new rows.""",
    )
    n_iter_no_change: int = param(
        default=5,
        rule=at_least(1),
        doc="Number of passes without improvement after which ``early_stopping`` ends :meth:`fit`.",
    )
    warm_start: bool = param(
        default=False,
        rule=boolean,
        doc="""Let :meth:`fit` continue from the previous fit, if there was one, with the same columns and classes.""",
    )

    set_callbacks = Borrowed("sklearn.callback", "CallbackSupportMixin")  # since scikit-learn 1.9
    _init_callback_context = Borrowed("sklearn.callback", "CallbackSupportMixin")

    _is_sparsified = False
    _is_float32 = False  # whether weights are given, and saved, in float32

    def sparsify(self) -> Self:
        """Return ``coef_`` as a sparse array until the next :meth:`fit`, as scikit-learn's linear models do.

        The model and its predictions do not change.
        """
        check_is_fitted(self)
        self._is_sparsified = True
        return self

    def densify(self) -> Self:
        """Return ``coef_`` as a dense array again."""
        vars(self).pop("_is_sparsified", None)
        return self

    @in_turn
    def to_float32(self) -> Self:
        """Round what was learned for each feature to float32.

        ``coef_`` and ``intercept_`` then have that type, and files of the model are up to half as large, but memory and
        training time do not change. Learning and scores stay in float64: :meth:`partial_fit` continues from the rounded
        values, and what it learns is kept in float64 in files until you call this method again. :meth:`fit` returns to
        float64. An incomplete mini-batch is closed first. Matrices over all pairs of features are not rounded.
        """
        check_is_fitted(self)
        me: Any = self
        learner, state = me._learner_now(), me.state_.copy()
        try:
            learner.round(state)
        except OverflowError as error:
            raise OverflowError(f"{type(self).__name__}: {error}; keep this model in float64.") from None
        for name, values in state.arrays.items():
            me.state_.arrays[name][...] = values
        me._weights_cache, self._is_float32 = None, True
        vars(self).pop("_bound_rows", None)  # what was looked up for single rows
        return self

    def to_float64(self) -> Self:
        """Return ``coef_`` and ``intercept_`` in float64 again; what was rounded stays rounded."""
        vars(self).pop("_is_float32", None)
        return self

    @property
    def _goes_on(self) -> bool:
        """Whether the next fit continues from the current model."""
        return boolean.holds(self.warm_start) and bool(self.warm_start) and "state_" in vars(self)

    def _check_same_target(self, target: Target) -> None:
        """Refuse targets that a warm start cannot continue with."""
        known: dict[str, Any] = {"classes": target.classes, "tasks": getattr(target, "tasks", None)}
        for name, now in known.items():
            before = vars(self).get(f"{name}_")
            if before is not None and not np.array_equal(before, now):
                raise ValueError(
                    f"{type(self).__name__}: y must have the {name} of the previous fit, {before.tolist()!r}, because "
                    f"warm_start is True, got {np.asarray(now).tolist()!r}; set warm_start to False to start over."
                )

    def _begin_at(self, learner: Learner, state: State, coef: Any, intercept: Any, is_measured: bool) -> None:
        """Begin with given weights, if a learner keeps weights."""
        who, weights, constant = type(self).__name__, learner.weights(state), learner.constant(state)
        if intercept is not None and not constant:
            raise ValueError(f"{who}: intercept_init must be left out when fit_intercept is False.")
        if coef is not None:
            weights[:, :-1] = _as_given(coef, weights[:, :-1].shape, "coef_init", who)
        if intercept is not None:
            weights[:, -1:] = _as_given(intercept, weights[:, -1:].shape, "intercept_init", who) / constant
        if learner.tuning is not None and not is_measured:
            raise ValueError(
                f"{who}: coef_init and intercept_init need shuffle=True, because columns are scaled by "
                "statistics of all rows."
            )
        if not learner.begin_at(state, weights):
            raise ValueError(
                f"{who}: coef_init and intercept_init must be left out, because this learner computes its "
                "weights from other sums; use warm_start to continue from another fit."
            )

    def _make_passes(self, learner: Learner, state: State, lesson: Lesson, given: tuple[Any, Any, Any]) -> int:
        """The passes of a fit to rows, targets and weights as they were given; returns how many there were."""
        me: Any = self
        n_iter, stopping = 0, Stopping(self, learner, state)

        def so_far() -> dict[str, Any]:
            """The attributes of the model, if this were the last pass."""
            there, there_state = copy(me), state.copy()
            learner.finish(there_state)
            if me.shuffle:
                learner.choose(there_state)
            _gate.commit_features(there, given[0], lesson.rows.n_features)
            there._commit_target(lesson.target)
            there.state_, there.n_iter_, there._grown, there._weights_cache = there_state, n_iter, False, None
            return vars(there)

        with watched(me, None if me.n_steps else me._n_passes(lesson.rows.n_rows), *given) as watch:
            for pieces in me._passes(lesson.target, me.random_state):
                watch.begin()
                if n_iter == 1:
                    learner.decide(state)
                    lesson.is_new = False
                for order in pieces:
                    me._learn(learner, state, replace(lesson, order=order))
                n_iter += 1
                if watch.end(so_far) or stopping.after_pass():
                    break
        return n_iter


def _as_given(values: Any, shape: tuple[int, ...], name: str, who: str) -> Array:
    array = _gate.float_array(values, name, who)
    if array.size != shape[0] * shape[1] or not (np.abs(array) <= _gate.HUGE).all():
        raise ValueError(
            f"{who}: {name} must hold {shape[0] * shape[1]} finite numbers up to 1e100 in size, got shape "
            f"{array.shape}."
        )
    return array.reshape(shape)


class Stopping:
    """Decides when the passes of a fit end."""

    def __init__(self, model: HasCourse, learner: Learner, state: State) -> None:
        self._model, self._learner, self._state = model, learner, state
        self._tally, self._best, self._n_worse = state.arrays["tally"].copy(), np.inf, 0
        self._weights: Array | None = None
        self._chosen, self._first = learner.chosen(state), np.inf

    def after_pass(self) -> bool:
        if self._model.early_stopping:
            return self._loss_has_settled()
        return self._model.tol is not None and self._weights_have_settled(self._model.tol)

    def _loss_has_settled(self) -> bool:
        chosen, tol = self._learner.chosen(self._state), self._model.tol
        if chosen != self._chosen:  # a step size was chosen; the loss of another says nothing about its progress
            self._chosen, self._first, self._best, self._n_worse = chosen, np.inf, np.inf, 0
        loss = self._learner.loss_since(self._state, self._tally)
        self._tally = self._state.arrays["tally"].copy()
        if self._best == np.inf:
            self._first = loss
        least_gain = _LEAST_GAIN * self._first if tol is None else tol
        self._n_worse = 0 if loss < self._best - least_gain else self._n_worse + 1
        self._best = min(self._best, loss)
        return self._n_worse >= self._model.n_iter_no_change

    def _weights_have_settled(self, tol: float) -> bool:
        before, self._weights = self._weights, self._learner.weights(self._state)
        if before is None or not self._weights.any():
            return False
        with np.errstate(over="ignore"):  # far apart, if too far for floating point
            return float(np.linalg.norm(self._weights - before)) <= tol


class PassWatch:
    """Observer of the passes of a fit; this one does nothing."""

    def begin(self) -> None:
        """A pass begins."""

    def end(self, attributes: Callable[[], dict[str, Any]]) -> bool:
        """A pass is over, after which the model would have these attributes: whether the fit is to end here."""
        return False


class _Callbacks(PassWatch):
    """Callbacks of scikit-learn."""

    def __init__(self, fit: Any, told: dict[str, Any]) -> None:
        self._fit, self._told = fit, told

    def begin(self) -> None:
        self._pass = self._fit.subcontext(task_name="pass")
        self._pass.call_on_fit_task_begin(**self._told)

    def end(self, attributes: Callable[[], dict[str, Any]]) -> bool:
        return bool(self._pass.call_on_fit_task_end(**self._told, reconstruction_attributes=attributes))


def is_watched(model: Any) -> bool:
    """Whether callbacks of scikit-learn follow its fits."""
    return bool({"_skl_callbacks", "_parent_callback_ctx"} & set(vars(model)))


@contextmanager
def watched(model: Any, n_passes: int | None, X: Any, y: Any, sample_weight: Any) -> Iterator[PassWatch]:
    """Notify the callbacks of a model, if it has any, of a fit."""
    if not is_watched(model):
        yield PassWatch()
        return
    from sklearn.callback._callback_support import callback_management_context

    metadata = None if sample_weight is None else {"sample_weight": sample_weight}
    if type(X) is Rows:  # from a pipeline
        X = sparse.csr_array((X.values, X.columns, X.starts), shape=(X.n_rows, X.n_features))
    told = {"estimator": model, "X": X, "y": y, "metadata": metadata}
    with callback_management_context(model):
        fit = model._init_callback_context(max_subtasks=n_passes)
        fit.call_on_fit_task_begin(**told)
        yield _Callbacks(fit, told)
        fit.call_on_fit_task_end(**told)
