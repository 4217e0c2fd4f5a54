"""The model of a candidate: the steps before the learner, linear or curved, and the parameters to tune."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from .._gate import Log, Range, Table, search_space, sparse
from ..preprocessing import ColumnSplines, RunningScaler, StreamingPipeline, TableEncoder, prepared
from ._auto_options import KERNELS, AutoOptions
from ._choice import target_units
from ._data import TrainingData
from ._plan import Candidate, Plan, has_kernel

KERNEL_FEATURES, _KERNEL_ROWS = 50, 20_000  # up to which curved boundaries are worth their time
_FEW_TO_TELL = 20  # rows below which columns may differ by chance
_MANY_WORDS, _LONGER = 1_000, 1.5  # columns of texts at least, and how much longer long ones are than short ones
_ALIKE = 10.0  # columns whose standard deviations differ by at most this factor may share a unit
_UNEVEN = 100.0  # sparse columns are scaled when their usual sizes differ by more than this factor


# --- linear or curved -------------------------------------------------------------------------------------------------


def with_kernel(candidate: Candidate, options: AutoOptions, kernel: str = "nystroem") -> Candidate:
    """The same method behind a fixed-size map, which curves its boundaries."""
    return replace(candidate, params=_for_many(candidate, options), kernel=KERNELS[kernel])


def with_curves(candidate: Candidate, options: AutoOptions) -> Candidate:
    """The same method behind splines, which give it a curve for each column."""
    note = " with a curve for each column"
    return replace(candidate, params=_for_many(candidate, options), curves="columns", note=note)


def _for_many(candidate: Candidate, options: AutoOptions) -> dict[str, Any]:
    """The parameters without a full covariance, for which there are too many columns now."""
    return {name: v for name, v in candidate.params.items() if name != "covariance" or name in options.fixed}


def with_unit_rows(candidate: Candidate) -> Candidate:
    """The same method on rows of length 1."""
    return replace(candidate, unit_rows=True, note=" on rows of length 1")


def are_like_texts(X: Any) -> bool:
    """Whether rows are like counts of words: many columns, nothing below 0, and some rows much longer than others."""
    if not sparse.issparse(X) or X.shape[1] < _MANY_WORDS or X.min() < 0:
        return False
    squares = X.power(2).sum(axis=1)
    low, high = np.quantile(squares[squares > 0], [0.1, 0.9]) if (squares > 0).any() else (1.0, 1.0)
    return bool(high > _LONGER**2 * low)


def is_worth_a_kernel(plan: Plan) -> bool:
    """Whether curved boundaries may help: few columns of numbers, and not too many rows."""
    data = plan.data
    return plan.task != "clustering" and data.is_narrow(KERNEL_FEATURES) and data.facts.n_rows <= _KERNEL_ROWS


# --- the model --------------------------------------------------------------------------------------------------------


def build(candidate: Candidate, plan: Plan) -> Any:
    """The model with everything that the rows need before the learner, not yet fitted."""
    data, options = plan.data, plan.options
    learner = candidate.method.cls(**candidate.params)
    scale = options.scale
    if scale is None and data.is_sparse:
        scale = column_sizes(data.X) > _UNEVEN
    elif scale is None and options.unlabelled_label is not None and share_a_unit(data.X):
        scale = False  # neighbours are those of the pictures, not of pixels that hardly ever change
    model = prepared(
        learner,
        data.X,
        scale=scale,
        categories=options.categories,
        task_column=options.task_column,
        **dict(candidate.encoder),
    )
    if candidate.kernel is None and not candidate.curves and not candidate.unit_rows:
        return model
    before = model.steps[:-1] if hasattr(model, "steps") else []
    if candidate.curves:
        before = [("splines", ColumnSplines(pairs="all" if candidate.curves == "pairs" else None)), *before]
    if candidate.unit_rows:
        before = [*before, ("unit", RunningScaler(with_mean=False, with_std=False, unit_rows=True))]
    if candidate.kernel is not None:
        from ..kernels import FixedSizeNystroem

        seed = options.random_state
        landmarks = FixedSizeNystroem(candidate.kernel, n_components=candidate.n_landmarks, random_state=seed)
        before = [*before, ("map", landmarks)]
    return StreamingPipeline([*before, ("learn", learner)])


def encoded(plan: Plan, options: tuple[tuple[str, Any], ...] = ()) -> Plan:
    """The same plan with text read once: rows are features of words, which all candidates and folds share.

    Words are counted over all rows of the plan. They are chosen without looking at targets, so that folds stay fair.
    """
    data = plan.data
    encoder = TableEncoder(categories=plan.options.categories, **dict(options))
    return replace(plan, data=replace(data, X=encoder.fit(data.X).transform(data.X)))


def column_sizes(X: Any) -> float:
    """The ratio of the usual values of the largest columns to those of the smallest; sparse rows."""
    columns = sparse.csc_array(X)
    counts = np.diff(columns.indptr)
    used = counts > 0
    if not used.any():
        return 1.0
    totals = np.bincount(np.repeat(np.arange(columns.shape[1]), counts), np.abs(columns.data), columns.shape[1])
    sizes = totals[used] / counts[used]
    low, high = np.quantile(sizes[sizes > 0], [0.05, 0.95]) if (sizes > 0).any() else (1.0, 1.0)
    return float(high / low)


def share_a_unit(X: Any) -> bool:
    """Whether columns are of one kind: most have the same least and largest value, as pixels do, or all spread alike.

    Their sizes then tell columns that matter from noise, which standardised columns would bring to the same size.
    """
    values = X.numbers if isinstance(X, Table) else X
    if isinstance(X, Table) and X.text:
        return False
    ends = np.stack([np.fmin.reduce(values, axis=0), np.fmax.reduce(values, axis=0)])
    _, counts = np.unique(ends, axis=1, return_counts=True)
    if values.shape[1] < 2 or not np.ptp(ends) > 0:
        return False
    spreads = np.nanstd(values[:, ends[0] < ends[1]], axis=0)
    return bool(2 * counts.max() > values.shape[1] or spreads.max() <= _ALIKE * spreads.min())


def describe_preparation(model: Any, plan: Plan) -> list[str]:
    """Sentences on the steps before the learner."""
    return [*_describe_scaling(model, plan), *_describe_columns(model, plan)]


def _describe_scaling(model: Any, plan: Plan) -> list[str]:
    if "scale" not in dict(getattr(model, "steps", ())):
        if plan.options.scale is None and not plan.data.is_sparse and share_a_unit(plan.data.X):
            return ["Columns are not scaled, because they have similar ranges and seem to share a unit."]
        if "unit" in dict(getattr(model, "steps", ())):
            return ["Rows are scaled to length 1, so that long rows do not count more than short ones."]
        return ["Sparse rows are not scaled."] if plan.data.is_sparse else []
    if not plan.data.is_sparse:
        return ["Columns are standardised, so that none counts more because of its unit."]
    return [
        f"Columns are scaled, {'because their sizes differ widely' if plan.options.scale is None else 'as requested'}."
    ]


def _describe_columns(model: Any, plan: Plan) -> list[str]:
    data, sentences = plan.data, []
    tasks = getattr(model, "task_column", None)
    texts = list(data.X.text) if isinstance(data.X, Table) else []
    if tasks is not None:
        texts = [name for name in texts if name != (data.X.columns[tasks] if isinstance(tasks, int) else tasks)]
        sentences.append(f"The column {tasks!r} names the task of a row and is not a feature.")
    if texts:
        words = ", ".join(texts[:5]) + (", ..." if len(texts) > 5 else "")
        how = "one-hot encoded" if plan.options.categories == "onehot" else "hashed"
        sentences.append(f"Text columns become word counts (tf-idf), categorical columns are {how}: {words}.")
    if "splines" in dict(getattr(model, "steps", ())):
        sentences.append("Each column of numbers has a curve of its own: a spline of up to 8 knots.")
    if hasattr(model, "steps") and getattr(model[-1], "groups", None) == "encoder":
        sentences.append("The features of one text column form a group, which is selected or left out as a whole.")
    return sentences


def describe_ids(X: Any, clustering: bool, files: bool = True, n_rows: int | None = None) -> list[str]:
    """A sentence on columns that only number the rows, or name them; `X` may be a part of `n_rows`."""
    if not isinstance(X, Table) or X.shape[0] < _FEW_TO_TELL:
        return []
    names = [name for name in X.columns if _is_id(X[name], clustering, n_rows or X.shape[0])]
    if not names:
        return []
    shown = ", ".join(map(repr, names[:5])) + (", ..." if len(names) > 5 else "")
    identify, them = ("identify", "them") if len(names) > 1 else ("identifies", "it")
    how = f" (drop={names[:5]!r})" if files else ""
    return [f"{shown} only {identify} rows: leave {them} out{how}."]


def _is_id(column: Any, clustering: bool, n_rows: int) -> bool:
    """Whether a column names its row or counts rows; with a target, numbers that rise may be a time, unless they count
    from 0 or 1 and end with the last row."""
    if not isinstance(column, np.ndarray):
        values = column.to_list()
        return len(set(values)) == len(values) and not any(" " in value for value in values[:_FEW_TO_TELL])
    rises = bool((column == np.round(column)).all() and (np.diff(column) > 0).all())
    return rises and (clustering or bool(column[0] >= 0 and column[-1] <= n_rows))


# --- the search space -------------------------------------------------------------------------------------------------


def space_of(model: Any, candidate: Candidate, plan: Plan) -> dict[str, Range]:
    """The parameters to tune with their ranges: those that the steps declare, without those that are fixed."""
    settled = of_learner(model, dict.fromkeys((*plan.options.fixed, *candidate.fixed)))
    if plan.options.method is None and not plan.options.needs:  # parameters that choose themselves
        settled |= {
            name: None for name, value in model.get_params().items() if isinstance(value, str) and value == "auto"
        }
    space = {name: span for name, span in search_space(model).items() if name not in settled}
    for name, unit in of_learner(model, target_units(candidate.method, plan)).items():
        if isinstance(span := space.get(name), Log):
            space[name] = Log(span.low * unit, span.high * unit)
    if candidate.kernel in ("rbf", "polynomial") and "map__gamma" in space:
        space["map__gamma"] = _widths(plan.data, n_features=_SPLINES if candidate.curves else 1)
    (own,) = of_learner(model, {"gamma": None})
    if has_kernel(candidate.method) and own in space and "scale" in dict(getattr(model, "steps", ())):
        is_close = plan.options.outlier_label is not None or plan.task == "clustering"  # around classes, along clusters
        space[own] = _widths(plan.data, 100.0 if is_close else 20.0, when=space[own].when)
    return space


_SPLINES = 8  # features of a column, at most


def _widths(data: TrainingData, most: float = 20.0, when: Any = None, n_features: int = 1) -> Log:
    """Kernel widths around those that suit standardised columns of so many features each."""
    width = 1.0 / (n_features * data.facts.n_features)
    return Log((0.01 if n_features > 1 else 0.05) * width, most * width, when=when)


def of_learner(model: Any, named: dict[str, Any]) -> dict[str, Any]:
    """Values by the names that parameters of the learner have in the whole model."""
    prefix = "learn__" if hasattr(model, "steps") else ""
    return {prefix + name: value for name, value in named.items()}
