"""Pipelines of transformers and a learner that learn batch by batch."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from copy import deepcopy
from types import MethodType
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray

from .._core import Rows
from .._engine import in_turn
from .._estimators import Estimator, LearnsRows, SetsOutput, clone, is_fitted, param, plain_transform, task_of
from .._gate import Rule, Table, check_value, is_frame, known_frame, sparse
from ._encoder import TableEncoder
from ._handed_groups import hand_over_groups
from ._scaler import RunningScaler
from ._task_column import split_tasks, task_column_rule, without

if TYPE_CHECKING:
    from ._splines import ColumnSplines


class _OfLastStep:
    """A method that a pipeline has if its last step has one of this name."""

    def __init__(self, method: Callable[..., Any]) -> None:
        self.method = method

    def __get__(self, pipeline: Any, owner: Any = None) -> Any:
        if pipeline is None:
            return self.method
        getattr(pipeline.steps[-1][1], self.method.__name__)  # raises AttributeError
        return MethodType(self.method, pipeline)


class StreamingPipeline(SetsOutput, Estimator):
    """Pipeline of transformers and a learner with ``partial_fit``, trained, saved and used as one model.

    scikit-learn's ``Pipeline`` has no ``partial_fit``. This one passes each batch through its transformers, which learn
    from it and then transform it, and on to the learner. Features that a transformer adds later (a new category) start
    with weight zero. The batch size has a small influence, because a batch is transformed with the statistics at its
    end. A step whose features would change their meaning (:class:`~thresher.kernels.FixedSizeNystroem`,
    :class:`ColumnSplines`) learns from the first batch only, and not at all if it was fitted before. After a
    :class:`RunningScaler`, a learner with ``scale="auto"`` does not scale again.

    Attributes
    ----------
    steps : list of (name, object)
        The fitted steps themselves; ``pipeline["name"]`` and ``pipeline[-1]`` return one.
    n_features_in_, feature_names_in_
        Columns of the first step.

    See Also
    --------
    RunningScaler, TableEncoder : transformers for it.
    thresher.persistence.save_model : the whole pipeline in one file.

    Examples
    --------
    >>> from thresher.online import AROWClassifier
    >>> from thresher.preprocessing import RunningScaler, StreamingPipeline
    >>> model = StreamingPipeline([("scale", RunningScaler()), ("learn", AROWClassifier(r=1.0))])
    >>> for X, y in [([[1.0, 300.0], [2.0, 100.0]], [0, 1]), ([[1.5, 250.0]], [0])]:
    ...     model = model.partial_fit(X, y, classes=[0, 1])
    >>> model.predict([[2.0, 120.0]])
    array([1])
    """

    steps: list[tuple[str, Any]] = param(
        default=(),
        rule=Rule("a list of (name, object)", lambda v: isinstance(v, (list, tuple)), type="list of (name, object)"),
        doc="""Transformers with ``partial_fit`` and ``transform``, then a classifier or regressor. Transformers without
        ``partial_fit`` work if you only use :meth:`fit`.""",
        kw_only=False,
    )
    task_column: str | int | None = param(
        default=None,
        rule=task_column_rule,
        doc="""The column with the task of each row, by name (tables and data frames) or by number from 0. It is not a
        feature: it is removed before the first step and passed to the learner as ``tasks``. The learner must be a
        multi-task learner such as :class:`~thresher.dual_averaging.MultiTaskRDARegressor`.""",
        kw_only=False,
    )

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the parameters; with `deep` also the steps by name, and their parameters as ``name__parameter``."""
        params = super().get_params(deep=False)
        for name, step in self.steps if deep else ():
            own = step.get_params() if hasattr(step, "get_params") else {}
            params |= {name: step, **{f"{name}__{key}": value for key, value in own.items()}}
        return params

    def set_params(self, **params: Any) -> Self:
        """Set parameters, steps by name, or parameters of steps as ``name__parameter``."""
        self.steps = params.pop("steps", self.steps)
        if any(name in params for name, _ in self.steps):
            self.steps = [(name, params.pop(name, step)) for name, step in self.steps]
        return super().set_params(**params)

    def __getitem__(self, step: int | str) -> Any:
        if isinstance(step, str):
            return dict(self.steps)[step]
        return self.steps[step][1]

    def __len__(self) -> int:
        return len(self.steps)

    def _checked_steps(self) -> list[Any]:
        if not self.steps:
            raise ValueError("StreamingPipeline: steps must hold at least a learner, got none.")
        names = [name for name, _ in self.steps]
        taken = len(set(names)) < len(names) or not self._params.keys().isdisjoint(names)
        if taken or any("__" in name for name in names):
            raise ValueError(f"StreamingPipeline: steps must have different names without __, got {names}.")
        for name, step in self.steps[:-1]:
            if not hasattr(step, "transform"):
                raise ValueError(
                    f"StreamingPipeline: step {name!r} must have transform, because only the last one may be a learner."
                )
        if not hasattr(self.steps[-1][1], "predict"):
            raise ValueError(f"StreamingPipeline: the last step, {self.steps[-1][0]!r}, must have predict.")
        check_value("StreamingPipeline", "task_column", self.task_column, task_column_rule)
        if self.task_column is not None and "tasks" not in getattr(self.steps[-1][1], "_needs", ()):
            raise ValueError(
                "StreamingPipeline: task_column needs a learner of several tasks, got "
                f"{type(self.steps[-1][1]).__name__}."
            )
        return [step for _, step in self.steps]

    # --- learning ---------------------------------------------------------------------------------------------------

    def fit(self, X: Any, y: Any = None, **params: Any) -> Self:
        """Learn from scratch: each transformer from all rows, then the learner from the transformed rows.

        Parameters
        ----------
        X : Table, data frame, array-like or sparse matrix of shape (n_samples, n_features)
        y : array-like of shape (n_samples,), optional
        **params
            Passed to the last step, such as ``sample_weight``.

        Returns
        -------
        self
        """
        *transformers, learner = self._checked_steps()
        made = [clone(step) for step in transformers]
        Z, tasks = self._split_tasks(X)
        for step in made:
            Z = _handed_on(step.fit(Z, y), Z, learner if step is made[-1] else None)
        hand_over_groups(made, learner)
        with _told_of_scales(made, learner):
            learner.fit(Z, y, **tasks, **params)
        self.steps = [(name, step) for (name, _), step in zip(self.steps, [*made, learner], strict=True)]
        return self

    @_OfLastStep
    @in_turn
    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> Self:
        """Learn from one more batch: transformers first, then the learner.

        Parameters
        ----------
        X : Table, data frame, array-like or sparse matrix of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
        classes : array-like, optional
            All classes that may occur; required in the first call of a classifier.
        sample_weight : array-like of shape (n_samples,), optional

        Returns
        -------
        self
        """
        *transformers, learner = self._checked_steps()
        first, X = not is_fitted(learner), known_frame(X)
        if hasattr(learner, "_read_batch"):  # a label that is refused must not leave the transformers ahead
            learner._read_batch(y, X.shape[0] if hasattr(X, "shape") else len(X), classes, first)
        before = [(step, _kept(step)) for step in transformers if _learns(step)]
        try:
            self._learn(X, y, classes, sample_weight)
        except BaseException:  # a batch that is refused, or interrupted, leaves every step as it was
            for step, kept in before:
                step.__dict__ = kept
            raise
        return self

    def _learn(self, X: Any, y: Any, classes: Any, sample_weight: Any, frozen: bool = False) -> None:
        *transformers, learner = (step for _, step in self.steps)
        Z, tasks = self._split_tasks(X)
        for step in transformers:
            if not frozen and _learns(step):
                step.partial_fit(Z, y)
            Z = _handed_on(step, Z, learner if step is transformers[-1] else None)
        if not is_fitted(learner):
            hand_over_groups(transformers, learner)
        known = getattr(learner, "n_features_in_", None)
        options: dict[str, Any] = {"sample_weight": sample_weight, **tasks}
        if task_of(learner) == "classification":
            options["classes"] = classes
        if type(Z) is Rows or sparse.issparse(Z) or (transformers and known is not None and Z.shape[1] != known):
            options["grow"] = True
        with _told_of_scales(transformers, learner):
            learner.partial_fit(Z, y, **options)

    # --- reading ----------------------------------------------------------------------------------------------------

    def transform(self, X: Any) -> Any:
        """Return the rows after all steps but the last."""
        return self._seen(X)[0]

    def _seen(self, X: Any) -> tuple[Any, dict[str, Any]]:
        """Rows after all steps but the last, and the tasks they belong to."""
        Z, tasks = self._split_tasks(X)
        for _, step in self.steps[:-1]:
            Z = plain_transform(step, Z)
        return Z, tasks

    def _asked(self, method: str, X: Any) -> NDArray[Any]:
        """Return the result of a method of the last step for rows."""
        *transformers, learner = (step for _, step in self.steps)
        Z, tasks = self._split_tasks(X)
        for step in transformers:
            Z = _handed_on(step, Z, learner if step is transformers[-1] else None)
        return np.asarray(getattr(learner, method)(Z, **tasks))

    def _split_tasks(self, X: Any) -> tuple[Any, dict[str, Any]]:
        """Rows without the column of tasks, and the tasks as the learner's arguments."""
        if self.task_column is None:
            return known_frame(X), {}
        rows, tasks = split_tasks(X, self.task_column, type(self).__name__)
        return rows, {"tasks": tasks}

    def knows_task(self, X: Any) -> NDArray[np.bool_]:
        """Return, for each row, whether the learner knows its task; rows of other tasks cannot be predicted."""
        if self.task_column is None:
            return np.ones(X.shape[0], dtype=bool)
        tasks, known = split_tasks(X, self.task_column, type(self).__name__).tasks, self[-1].tasks_
        if (tasks.dtype.kind == "U") != (known.dtype.kind == "U"):
            return np.zeros(len(tasks), dtype=bool)
        return np.isin(tasks, known)

    @_OfLastStep
    def predict(self, X: Any) -> NDArray[Any]:
        """Return the predictions of the last step."""
        return self._asked("predict", X)

    @_OfLastStep
    def decision_function(self, X: Any) -> NDArray[np.float64]:
        """Return the scores of the last step."""
        return self._asked("decision_function", X)

    @_OfLastStep
    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Return the probabilities of the last step."""
        return self._asked("predict_proba", X)

    @_OfLastStep
    def predict_log_proba(self, X: Any) -> NDArray[np.float64]:
        """Return the logarithms of the probabilities of the last step."""
        return self._asked("predict_log_proba", X)

    @_OfLastStep
    def calibrate(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Calibrate the probabilities of the last step on these rows, which no step may have learned from."""
        Z, tasks = self._seen(X)
        self[-1].calibrate(Z, y, **tasks, sample_weight=sample_weight)
        return self

    @_OfLastStep
    def score(self, X: Any, y: Any = None, sample_weight: Any = None) -> float:
        """Return the score of the last step: accuracy of a classifier, R2 of a regressor."""
        options = {} if sample_weight is None else {"sample_weight": sample_weight}
        Z, tasks = self._seen(X)
        return float(self[-1].score(Z, y, **tasks, **options))

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[np.object_]:
        """Return the names of the learner's features; unnamed ones are ``x1``, ``x2``, ..., numbered as in svmlight
        files."""
        names, steps = input_features, [step for _, step in self.steps[:-1]]
        if self._door() in steps[1:]:  # a scaler names numbers only, and passes words on
            steps = steps[1:]
        for step in steps:
            names = step.get_feature_names_out(names)
        if names is None:
            names = getattr(self[-1], "feature_names_in_", None)
        if names is None:
            names = [f"x{j + 1}" for j in range(self[-1].n_features_in_)]
        return np.asarray(names, dtype=object)

    @property
    def n_features_in_(self) -> int:
        return int(self._door().n_features_in_)

    @property
    def feature_names_in_(self) -> Any:
        return self._door().feature_names_in_

    def _door(self) -> Any:
        """The first step that sees all columns: a scaler passes words on to the encoder behind it."""
        steps = [step for _, step in self.steps]
        behind = steps[1] if len(steps) > 2 and isinstance(steps[0], RunningScaler) else None
        return behind if isinstance(behind, TableEncoder) else steps[0]

    @property
    def classes_(self) -> Any:
        return self[-1].classes_

    @property
    def coef_(self) -> Any:
        """Weights of the learner's features."""
        return self[-1].coef_

    @property
    def intercept_(self) -> Any:
        return self[-1].intercept_

    def __sklearn_is_fitted__(self) -> bool:
        return bool(self.steps) and is_fitted(self[-1])

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        last = deepcopy(self[-1].__sklearn_tags__()) if self.steps else tags
        tags.estimator_type = last.estimator_type
        tags.classifier_tags, tags.regressor_tags = last.classifier_tags, last.regressor_tags
        tags.target_tags = last.target_tags
        tags.input_tags.sparse = self.task_column is None and all(
            step.__sklearn_tags__().input_tags.sparse for _, step in self.steps
        )
        return tags


def _handed_on(step: Any, X: Any, learner: Any) -> Any:
    """The rows that a transformer makes, for the learner if that comes next.

    Those of an encoder are handed on as the core takes them, which needs no SciPy; rows that the learner would refuse,
    or that have other features than it knows, as a matrix.
    """
    if type(step) is TableEncoder and isinstance(learner, LearnsRows):
        rows = step._rows(X)
        if rows is not None and rows.n_features == getattr(learner, "n_features_in_", rows.n_features):
            return rows
    return plain_transform(step, X)


def _learns(step: Any) -> bool:
    """Whether a transformer learns from the next batch."""
    return not (getattr(step, "_stays", False) and is_fitted(step))


def _kept(step: Any) -> dict[str, Any]:
    """A copy of the attributes of a transformer, but for those that it computes again from the others."""
    kept = vars(step).copy()
    for name in getattr(step, "_derived", ()):
        kept.pop(name, None)
    for name, value in kept.items():
        if isinstance(value, (np.ndarray, dict, list)):
            kept[name] = _copied(value)
    return kept


def _copied(value: Any) -> Any:
    """A copy of an attribute: an array, or a list or a dict of plain values."""
    if isinstance(value, np.ndarray):
        return value.copy()
    if isinstance(value, dict):
        return {key: _copied(each) for key, each in value.items()}
    if isinstance(value, list):
        return [_copied(each) for each in value] if value and isinstance(value[0], (list, dict)) else list(value)
    return value


@contextmanager
def _told_of_scales(transformers: list[Any], learner: Any) -> Iterator[None]:
    """Let a learner that scales columns by itself know, before its first rows, that they come scaled."""
    before = [step for step in transformers if not isinstance(step, TableEncoder)]  # which leaves numbers as they are
    if before and isinstance(before[-1], RunningScaler) and before[-1].with_std:
        learner._rows_come_scaled = isinstance(getattr(learner, "scale", None), str)
    try:
        yield
    finally:
        vars(learner).pop("_rows_come_scaled", None)


def prepared(
    learner: Any,
    X: Any,
    *,
    scale: bool | None = None,
    categories: str = "onehot",
    task_column: str | int | None = None,
    splines: bool | ColumnSplines = False,
    **encoder_options: Any,
) -> Any:
    """Return a pipeline of a learner and the preprocessing that rows like `X` need.

    Tables and dense rows are standardised and encoded: categories and text become features, a missing number becomes
    the mean, and dates become numbers, months, weekdays and hours. Sparse rows are passed to the learner as they are.

    Parameters
    ----------
    learner : estimator
    X : Table, data frame, array or sparse matrix
        Sample rows.
    scale : bool, optional
        Standardise the columns; by default, only if the rows are not sparse.
    categories : {"onehot", "hash"}
        Encoding of categorical columns, see :class:`TableEncoder`.
    task_column : str or int, optional
        The column with the task of each row, see :class:`StreamingPipeline`.
    splines : bool or ColumnSplines, default=False
        Replace numeric columns by splines before scaling; not for sparse rows.
    **encoder_options
        Further parameters of :class:`TableEncoder`.

    Returns
    -------
    StreamingPipeline, or the learner itself if no step is needed

    Examples
    --------
    >>> import numpy as np
    >>> from thresher.online import AROWClassifier
    >>> from thresher.preprocessing import prepared
    >>> [name for name, _ in prepared(AROWClassifier(), np.eye(2)).steps]
    ['scale', 'encode', 'learn']
    >>> [name for name, _ in prepared(AROWClassifier(), np.eye(2), splines=True).steps]
    ['splines', 'scale', 'encode', 'learn']
    """
    if task_column is not None:
        X = without(X, task_column, "prepared")
    is_sparse = sparse.issparse(X)
    steps: list[tuple[str, Any]] = []
    table = Table.from_frame(X) if is_frame(X) and not isinstance(X, Table) else X
    if isinstance(table, Table) and table.dates:
        from ._dates import DateEncoder

        steps.append(("dates", DateEncoder()))
    has_numbers = not isinstance(table, Table) or bool(table.number_names)
    if has_numbers and not is_sparse and splines is not False:
        from ._splines import ColumnSplines

        steps.append(("splines", ColumnSplines() if splines is True else splines))
    if has_numbers and (scale if scale is not None else not is_sparse):
        steps.append(("scale", RunningScaler()))
    if not is_sparse:
        steps.append(("encode", TableEncoder(categories=categories, **encoder_options)))
    return StreamingPipeline([*steps, ("learn", learner)], task_column) if steps else learner
