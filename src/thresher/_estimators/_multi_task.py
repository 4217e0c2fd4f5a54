"""Tasks that are learned together: rows that carry a task, rounds of them, and one set of weights for each task."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from .. import _engine, _gate
from .._engine import Learner, State, Target, TaskTarget, in_turn
from .._gate import Array
from ..onepass import Rows
from ._calibrated import WithProbabilities, log_of
from ._contract import PredictorContract
from ._coupled import Coupled, CoupledLearner
from ._linear import LinearRegressor, LinearScores, WeighsClasses


class MultiTask(PredictorContract, Coupled):
    """Base class of learners for several tasks: rows carry the label of theirs."""

    _needs: ClassVar[tuple[str, ...]] = ("tasks",)

    tasks_: np.ndarray[Any, Any]

    def fit(  # type: ignore[override]
        self, X: Any, y: Any, tasks: Any = None, round_ids: Any = None, sample_weight: Any = None
    ) -> Self:
        """Learn from scratch: ``max_iter`` passes over the rows, or ``n_steps`` rounds of them.

        Parameters
        ----------
        tasks : array-like of shape (n_samples,), optional
            The task of each row, as integers or text. By default, all rows belong to one task.
        round_ids : array-like of int of shape (n_samples,), optional
            The round of each row: adjacent rows with the same id form a round. By default, a pass in random order forms
            rounds of one row from each task; a pass in row order starts a new round when a task occurs again.
        """

        def read(n_rows: int) -> Any:
            return self._join_tasks(self._read_all(y, n_rows), None, tasks, round_ids, sample_weight)

        return self._fit(X, y, read, sample_weight)

    @in_turn
    def partial_fit(  # type: ignore[override]
        self,
        X: Any,
        y: Any,
        tasks: Any = None,
        round_ids: Any = None,
        classes: Any = None,
        sample_weight: Any = None,
        *,
        grow: bool = False,
    ) -> Self:
        """Learn from one more batch, row by row in the given order, and keep what earlier calls learned.

        Parameters
        ----------
        tasks : array-like of shape (n_samples,), optional
            The task of each row. Any batch may add new tasks.
        round_ids : array-like of int of shape (n_samples,), optional
            The round of each row; a new one starts when the id changes. By default, a new one starts when a task occurs
            again. A round may continue in the next call.
        classes : array-like, optional
            Both classes; needed in the first call.
        """
        state: State | None = self.__dict__.get("state_")

        def read(n_rows: int) -> Any:
            target = self._read_batch(y, n_rows, classes, state is None)
            return self._join_tasks(target, state, tasks, round_ids, sample_weight)

        return self._partial_fit(X, read, sample_weight, grow)

    def predict(self, X: Any, tasks: Any = None) -> np.ndarray[Any, Any]:
        """Predict the class or the value of each row with the weights of its task.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
        tasks : array-like of shape (n_samples,), optional
            The task of each row, among ``tasks_``.
        """
        return self._read_scores(self._shape_scores(self._scores(X, tasks)))

    @in_turn
    def learn_one(  # type: ignore[override]
        self, x: Any, y: Any, task: Any = None, classes: Any = None, sample_weight: float | None = None
    ) -> Self:
        """Learn from one row of a task, as :meth:`partial_fit` with ``grow=True`` does.

        Parameters
        ----------
        x : dict or tuple
            The values of features by name or by column number, or a pair of column numbers and values. Others are 0.
        y : object
            The class or the value of the row.
        task : int or str, optional
            The task of the row. By default, there is one task.
        classes : array-like, optional
            Both classes; needed in the first call of a classifier.
        sample_weight : float, optional
            The weight of the row, at least 0.
        """
        options = {} if classes is None else {"classes": classes}
        return self._learn_row(self._read_row(x, learns=True), y, sample_weight, options | _of_row(task))

    def predict_one(self, x: Any, task: Any = None) -> Any:
        """Predict the class or the value of one row of a task.

        Parameters
        ----------
        x : dict or tuple
            As in :meth:`learn_one`.
        task : int or str, optional
            The task of the row, among ``tasks_``.
        """
        return self._first("predict", self._read_row(x), **_of_row(task))

    def score_one(self, x: Any, task: Any = None) -> Any:
        """Return the score of one row of a task.

        Parameters
        ----------
        x : dict or tuple
            As in :meth:`learn_one`.
        task : int or str, optional
            The task of the row, among ``tasks_``.
        """
        return self._first(self._scoring, self._read_row(x), **_of_row(task))

    def score(self, X: Any, y: Any, tasks: Any = None, sample_weight: Any = None) -> float:  # type: ignore[override]
        """Return the accuracy of the predictions for rows of all tasks, or their R² if they are values."""
        return self._score(y, self.predict(X, tasks), sample_weight)

    def _join_tasks(
        self, target: Target, state: State | None, tasks: Any, round_ids: Any, sample_weight: Any
    ) -> TaskTarget:
        """Targets with tasks and rounds, checked against the open round of a state."""
        who, n_rows = type(self).__name__, len(target.y)
        weight = _gate.check_weights(sample_weight, n_rows, who)
        present = np.ones(n_rows, dtype=bool) if weight is None else weight > 0
        known = np.empty(0) if state is None else self.tasks_
        labels, codes = _engine.read_tasks(tasks, known, present, who)
        rounds = _engine.read_rounds(round_ids, n_rows, tasks is not None, who)
        joined = TaskTarget(target.y, target.classes, labels, codes, rounds, present)
        if round_ids is not None:
            model = 0 if state is None else self._learner_now().chosen(state)
            view = None if state is None or not state.arrays["is_open"][model, 0] else state.views[model]
            open_id = -1.0 if view is None else float(view["round_id"][0])
            in_open = np.zeros(0, bool) if view is None else view["last_round"] == view["n_rounds"][0] + 1
            _engine.check_rounds(joined, open_id, in_open, who)
        return joined

    def _passes(self, target: Any, random_state: Any) -> Iterator[Iterator[NDArray[np.int64] | None]]:
        if target.codes is None or (not self.shuffle and self.n_steps is None):
            return super()._passes(target, random_state)
        rng = _engine.generator(random_state) if self.shuffle else None
        return _engine.round_orders(target, self._n_passes(len(target.y)), self.n_steps, rng)

    def _commit_target(self, target: Any) -> None:
        super()._commit_target(target)
        self.tasks_ = target.tasks

    def _n_coupled(self) -> int:
        return len(self.tasks_)

    def _check_loaded(self) -> None:
        """Refuse tasks, as a file holds them, that are not such."""
        tasks = self.tasks_
        labels = isinstance(tasks, np.ndarray) and tasks.ndim == 1 and tasks.dtype.kind in "iU"
        if not labels or not 1 <= len(tasks) == len(np.unique(tasks)):
            raise ValueError("tasks_ must hold labels, each of them once")

    def _scores(self, X: Any, tasks: Any = None) -> Array:
        learner = self._learner_now()
        assert isinstance(learner, CoupledLearner)
        rows = _gate.check_features(self, X, reset=False, any_width=self.__dict__.get("_grown", False))
        codes = _engine.encode_tasks(tasks, self.tasks_, rows.n_rows, type(self).__name__)
        return learner.scores(rows, self.state_, codes, width=1)

    def _scores_by(self, learner: Learner, state: State, rows: Rows, target: Any) -> Array:
        assert isinstance(learner, CoupledLearner)
        return learner.scores(rows, state, target.codes, width=1)

    def _shape_weights(self, weights: Array) -> Array:
        return weights


class MultiTaskClassifier(MultiTask, WeighsClasses, LinearScores):
    """Two classes, the same for all tasks."""

    _fitted = (*LinearScores._fitted, "tasks_")

    def _join_tasks(
        self, target: Target, state: State | None, tasks: Any, round_ids: Any, sample_weight: Any
    ) -> TaskTarget:
        if target.classes is not None and len(target.classes) > 2:
            raise ValueError(
                f"{type(self).__name__}: Only binary classification is supported, got {len(target.classes)} classes; "
                "SharedRDAClassifier chooses one set of features for all of them."
            )
        return super()._join_tasks(target, state, tasks, round_ids, sample_weight)

    def decision_function(self, X: Any, tasks: Any = None) -> Array:
        """Return one score per row, with the weights of its task; above 0 means the second class."""
        return self._shape_scores(self._scores(X, tasks))

    @WithProbabilities
    def predict_proba(self, X: Any, tasks: Any = None) -> Array:
        """Return the probability of each class, with the weights of the task of each row.

        The probability of a class is how often rows with a similar score, of any task, belonged to that class, among
        rows that were scored before the model learned from them.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
        tasks : array-like of shape (n_samples,), optional
            The task of each row, among ``tasks_``.

        Returns
        -------
        ndarray of shape (n_samples, 2)
            In the order of ``classes_``.
        """
        return self._probabilities_of(self._scores(X, tasks))

    @WithProbabilities
    def predict_log_proba(self, X: Any, tasks: Any = None) -> Array:
        """Return the logarithm of the probability of each class; see :meth:`predict_proba`."""
        return log_of(self._probabilities_of(self._scores(X, tasks)))

    @WithProbabilities
    def calibrate(self, X: Any, y: Any, tasks: Any = None, sample_weight: Any = None) -> Self:
        """Calibrate the probabilities on these rows from now on. The model must not have learned from them."""
        return self._calibrate(self._scores(X, tasks), y, sample_weight)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        return tags


class MultiTaskRegressor(MultiTask, LinearRegressor):
    """A value for each row."""

    _fitted = (*LinearRegressor._fitted, "tasks_")

    @in_turn
    def partial_fit(  # type: ignore[override]
        self,
        X: Any,
        y: Any,
        tasks: Any = None,
        round_ids: Any = None,
        sample_weight: Any = None,
        *,
        grow: bool = False,
    ) -> Self:
        return super().partial_fit(X, y, tasks, round_ids, None, sample_weight, grow=grow)


def _of_row(task: Any) -> dict[str, Any]:
    """The tasks of one row."""
    return {} if task is None else {"tasks": [task]}
