"""The model of a candidate: the steps before the learner, linear or curved, and the parameters to tune."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from scipy import sparse

from .._gate import Log, Range, Table, search_space
from ..preprocessing import StreamingPipeline, prepared
from ._auto_options import KERNELS, AutoOptions
from ._choice import target_units
from ._data import TrainingData
from ._plan import Candidate, Plan, has_kernel

KERNEL_FEATURES, _KERNEL_ROWS = 50, 20_000  # up to which curved boundaries are worth their time
_FEW_TO_TELL = 20  # rows below which columns may differ by chance
_UNEVEN = 100.0  # sparse columns are scaled when their usual sizes differ by more than this factor


# --- linear or curved -------------------------------------------------------------------------------------------------


def with_kernel(candidate: Candidate, options: AutoOptions, kernel: str = "nystroem") -> Candidate:
    """The same method behind a fixed-size map, which curves its boundaries."""
    params = {k: v for k, v in candidate.params.items() if k != "covariance" or k in options.fixed}  # not so narrow now
    return replace(candidate, params=params, kernel=KERNELS[kernel])


def is_worth_a_kernel(plan: Plan) -> bool:
    """Whether curved boundaries may pay: few columns of numbers, and not too many rows."""
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
    model = prepared(learner, data.X, scale=scale, categories=options.categories, task_column=options.task_column)
    if candidate.kernel is None:
        return model
    from ..kernels import FixedSizeNystroem

    before = model.steps[:-1] if hasattr(model, "steps") else []
    landmarks = FixedSizeNystroem(candidate.kernel, n_components=2.0, random_state=options.random_state)
    return StreamingPipeline([*before, ("map", landmarks), ("learn", learner)])


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


def describe_preparation(model: Any, plan: Plan) -> list[str]:
    """Sentences on the steps before the learner."""
    return [*_describe_scaling(model, plan), *_describe_columns(model, plan)]


def _describe_scaling(model: Any, plan: Plan) -> list[str]:
    if "scale" not in dict(getattr(model, "steps", ())):
        return ["Sparse rows are used as they are, without scaling."] if plan.data.is_sparse else []
    if not plan.data.is_sparse:
        return ["Columns are standardised, so that none counts more because of its unit."]
    return [f"Columns are scaled, {'because their sizes differ widely' if plan.options.scale is None else 'as asked'}."]


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
    if hasattr(model, "steps") and getattr(model[-1], "groups", None) == "encoder":
        sentences.append("The features of one text column form a group, which is selected or left out as a whole.")
    return sentences


def describe_ids(X: Any, clustering: bool, files: bool = True) -> list[str]:
    """A sentence on columns that only number the rows, or name them."""
    if not isinstance(X, Table) or X.shape[0] < _FEW_TO_TELL:
        return []
    names = [name for name in X.columns if _is_id(X[name], clustering)]
    if not names:
        return []
    shown = ", ".join(map(repr, names[:5])) + (", ..." if len(names) > 5 else "")
    identify, them = ("identify", "them") if len(names) > 1 else ("identifies", "it")
    how = f" (--drop {names[0]}, or drop={names[:5]!r})" if files else ""
    return [f"{shown} only {identify} rows: leave {them} out{how}."]


def _is_id(column: Any, clustering: bool) -> bool:
    """Whether a column names its row or counts rows; with a target, numbers that rise may be a time, unless they count
    from 0 or 1."""
    if not isinstance(column, np.ndarray):
        values = column.to_list()
        return len(set(values)) == len(values) and not any(" " in value for value in values[:_FEW_TO_TELL])
    steps = np.diff(column)
    if clustering:
        return bool((column == np.round(column)).all() and (steps > 0).all())
    return bool(column[0] in (0, 1) and (steps == 1).all())


# --- the search space -------------------------------------------------------------------------------------------------


def space_of(model: Any, candidate: Candidate, plan: Plan) -> dict[str, Range]:
    """The parameters to tune with their ranges: those that the steps declare, without those that are settled."""
    settled = of_learner(model, dict.fromkeys((*plan.options.fixed, *candidate.fixed)))
    space = {name: span for name, span in search_space(model).items() if name not in settled}
    for name, unit in of_learner(model, target_units(candidate.method, plan)).items():
        if isinstance(span := space.get(name), Log):
            space[name] = Log(span.low * unit, span.high * unit)
    if candidate.kernel in ("rbf", "polynomial") and "map__gamma" in space:
        space["map__gamma"] = _widths(plan.data)
    (own,) = of_learner(model, {"gamma": None})
    if has_kernel(candidate.method) and own in space and "scale" in dict(getattr(model, "steps", ())):
        is_close = plan.options.outlier_label is not None or plan.task == "clustering"  # around classes, along clusters
        space[own] = _widths(plan.data, 100.0 if is_close else 20.0, when=space[own].when)
    return space


def _widths(data: TrainingData, most: float = 20.0, when: Any = None) -> Log:
    """Kernel widths around those that suit standardised columns."""
    width = 1.0 / data.facts.n_features
    return Log(0.05 * width, most * width, when=when)


def of_learner(model: Any, named: dict[str, Any]) -> dict[str, Any]:
    """Values by the names that parameters of the learner have in the whole model."""
    prefix = "learn__" if hasattr(model, "steps") else ""
    return {prefix + name: value for name, value in named.items()}
