"""The model of a candidate: what stands before the learner, straight or curved, and what is tuned."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from scipy import sparse

from .._gate import Log, Range, Table, search_space
from ..kernels import FixedSizeNystroem
from ..preprocessing import StreamingPipeline, prepared
from ._choice import units
from ._data import Material
from ._wishes import KERNELS, Candidate, Wishes, has_kernel

KERNEL_FEATURES, _KERNEL_ROWS = 50, 20_000  # up to which curved boundaries are worth their time
_MOST_CLUSTERS = 10
_FEW_TO_TELL = 20  # rows below which columns may differ by chance
_UNEVEN = 100.0  # sparse columns are scaled when their usual sizes differ by more than this factor


# --- straight or curved -----------------------------------------------------------------------------------------------


def with_kernel(candidate: Candidate, wishes: Wishes, kernel: str = "nystroem") -> Candidate:
    """The same method behind a fixed-size map, which bends its boundaries."""
    params = {k: v for k, v in candidate.params.items() if k != "covariance" or k in wishes.params}  # not so narrow now
    return replace(candidate, params=params, kernel=KERNELS[kernel])


def is_worth_a_kernel(material: Material, task: str) -> bool:
    """Whether curved boundaries may pay: few columns of numbers, and not too many rows."""
    return task != "clustering" and material.is_narrow(KERNEL_FEATURES) and material.facts.n_rows <= _KERNEL_ROWS


# --- the model --------------------------------------------------------------------------------------------------------


def build(candidate: Candidate, material: Material, wishes: Wishes) -> Any:
    """The model with everything that the rows need before the learner, not yet fitted."""
    learner = candidate.method.cls(**candidate.params)
    how: dict[str, Any] = {"categories": wishes.categories, "task_column": wishes.task_column}
    model = prepared(learner, material.X, scale=_scales(material, wishes), **how)
    if candidate.kernel is None:
        return model
    before = model.steps[:-1] if hasattr(model, "steps") else []
    landmarks = FixedSizeNystroem(candidate.kernel, n_components=2.0, random_state=wishes.seed)
    return StreamingPipeline([*before, ("map", landmarks), ("learn", learner)])


def _scales(material: Material, wishes: Wishes) -> bool | None:
    if wishes.scale is not None or not material.is_sparse:
        return wishes.scale
    return column_sizes(material.X) > _UNEVEN


def column_sizes(X: Any) -> float:
    """How many times larger the usual values of the largest columns are than those of the smallest; sparse rows."""
    columns = sparse.csc_array(X)
    counts = np.diff(columns.indptr)
    used = counts > 0
    if not used.any():
        return 1.0
    totals = np.bincount(np.repeat(np.arange(columns.shape[1]), counts), np.abs(columns.data), columns.shape[1])
    sizes = totals[used] / counts[used]
    low, high = np.quantile(sizes[sizes > 0], [0.05, 0.95]) if (sizes > 0).any() else (1.0, 1.0)
    return float(high / low)


def say_preparation(model: Any, material: Material, wishes: Wishes) -> list[str]:
    """What happens to the rows before they are learned from, in words."""
    steps = [name for name, _ in getattr(model, "steps", [])]
    said = []
    if "scale" in steps and material.is_sparse:
        asked = wishes.scale is not None
        said.append("Columns are scaled, " + ("as asked." if asked else "because their sizes differ widely."))
    elif "scale" in steps:
        said.append("Columns are standardised, so that none counts more because of its unit.")
    elif material.is_sparse:
        said.append("Sparse rows are used as they are, without scaling.")
    tasks = getattr(model, "task_column", None)
    texts = list(material.X.text) if isinstance(material.X, Table) else []
    if tasks is not None:
        texts = [name for name in texts if name != (material.X.columns[tasks] if isinstance(tasks, int) else tasks)]
        said.append(f"The column {tasks!r} tells the task of a row; it is no feature.")
    if texts:
        words = ", ".join(texts[:5]) + (", ..." if len(texts) > 5 else "")
        how = "one for each word of a text, or each value of a short column"
        said.append(f"Words become features ({how}): {words}.")
    if hasattr(model, "steps") and getattr(model[-1], "groups", None) == "encoder":
        said.append("The features of one column of words are a group, selected or left out together.")
    return said


def say_ids(X: Any, clustering: bool, files: bool = True) -> list[str]:
    """Which columns only number the rows, or name them, in words."""
    if not isinstance(X, Table) or X.shape[0] < _FEW_TO_TELL:
        return []
    names = [name for name in X.columns if _is_id(X[name], clustering)]
    if not names:
        return []
    many = len(names) > 1
    shown = ", ".join(map(repr, names[:5])) + (", ..." if len(names) > 5 else "")
    differ, group, say = ("differ", "group", "say") if many else ("differs", "groups", "says")
    useless = f"{group} nothing" if clustering else f"{say} nothing of others"
    how = f" (--drop {names[0]}, or drop={names[:5]!r})" if files else ""
    return [f"{shown} {differ} from row to row and {useless}: better left out{how}."]


def _is_id(column: Any, clustering: bool) -> bool:
    """Whether a column is a name of its row, or its number in order; where there is a target, numbers that only rise
    may be a time, and those that count from 0 or 1 are none."""
    if not isinstance(column, np.ndarray):
        values = column.to_list()
        return len(set(values)) == len(values) and not any(" " in value for value in values[:_FEW_TO_TELL])
    steps = np.diff(column)
    if clustering:
        return bool((column == np.round(column)).all() and (steps > 0).all())
    return bool(column[0] in (0, 1) and (steps == 1).all())


def space_of(model: Any, candidate: Candidate, material: Material, wishes: Wishes) -> dict[str, Range]:
    """What is tuned, and where: what the steps declare, without what is settled."""
    settled = of_learner(model, dict.fromkeys((*wishes.params, *candidate.fixed)))
    space = {name: given for name, given in search_space(model).items() if name not in settled}
    for name, unit in of_learner(model, units(candidate.method, material, wishes)).items():
        if isinstance(given := space.get(name), Log):
            space[name] = Log(given.low * unit, given.high * unit)
    if candidate.kernel in ("rbf", "polynomial") and "map__gamma" in space:
        space["map__gamma"] = _widths(material)
    own = next(iter(of_learner(model, {"gamma": None})))
    if has_kernel(candidate.method) and own in space and "scale" in dict(getattr(model, "steps", ())):
        space[own] = _widths(material, when=space[own].when)
        if wishes.outlier_label is not None or candidate.method.task == "clustering":
            space[own] = _widths(material, 100.0, when=space[own].when)  # closer around classes, and along clusters
    return space


def _widths(material: Material, most: float = 20.0, when: Any = None) -> Log:
    """Kernel widths around what suits standardised columns."""
    width = 1.0 / material.facts.n_features
    return Log(0.05 * width, most * width, when=when)


def of_learner(model: Any, named: dict[str, Any]) -> dict[str, Any]:
    """What belongs to parameters of the learner, by the names that they have in the whole model."""
    prefix = "learn__" if hasattr(model, "steps") else ""
    return {prefix + name: value for name, value in named.items()}


def cluster_counts(material: Material) -> list[int]:
    """Numbers of clusters worth trying."""
    return list(range(2, max(3, min(_MOST_CLUSTERS, material.X.shape[0] // 4)) + 1))
