"""The options of ``auto``, checked where they come in."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

from .._gate import Rule, at_least, boolean, count_of_jobs, fraction, none, one_of, positive
from ..preprocessing import task_column_rule

TASKS = ("classification", "regression", "clustering")
KERNELS = {
    **{"nystroem": "rbf", "rbf": "rbf", "polynomial": "polynomial", "cosine": "cosine"},
    "nystroem-linear": "linear",
}
OWN_KERNELS = ("linear", "rbf", "polynomial", "cosine")  # of methods that have a kernel and need no map
STRUCTURE = {
    "groups": "groups",
    "tasks": "task_column",
    "outliers": "outlier_label",
    "unlabelled": "unlabelled_label",
}  # needs of methods, and the options that meet them

_RULES: dict[str, Rule] = {
    "task": none | one_of(*TASKS),
    "kernel": none | one_of("linear", *KERNELS),
    "search": one_of("annealing", "directed", "random"),
    "n_evaluations": at_least(1),
    "max_seconds": none | positive,
    "sparsity": none | fraction,
    "scale": none | boolean,
    "n_clusters": none | at_least(2),
    "categories": one_of("onehot", "hash"),
    "task_column": task_column_rule,
    "params": none | Rule("a dict of parameters", lambda v: isinstance(v, dict)),
    "random_state": at_least(0),
    "n_jobs": count_of_jobs,
    "max_rows": at_least(10),
}


@dataclass(frozen=True)
class AutoOptions:
    """The options of :func:`thresher.auto`, which documents them; None leaves a choice to the rules."""

    task: str | None = None
    method: str | None = None
    loss: str | None = None
    kernel: str | None = None
    criterion: str | None = None
    search: str = "annealing"
    n_evaluations: int = 50
    max_seconds: float | None = None
    cv: Any = None
    sparsity: float | None = None
    scale: bool | None = None
    n_clusters: int | None = None
    categories: str = "onehot"
    groups: Any = None
    task_column: str | int | None = None
    outlier_label: Any = None
    unlabelled_label: Any = None
    params: dict[str, Any] | None = None
    random_state: int = 0
    n_jobs: int | None = None
    progress: bool = False
    max_rows: int = 100_000

    def __post_init__(self) -> None:
        for name, rule in _RULES.items():
            if not rule.holds(getattr(self, name)):
                raise ValueError(f"auto: {name} must be {rule.says}, got {getattr(self, name)!r}.")

    @property
    def fixed(self) -> dict[str, Any]:
        """Parameters of the method that are not tuned."""
        return self.params or {}

    @property
    def needs(self) -> frozenset[str]:
        """The structure that was given beside rows and targets, by the names that methods have for it."""
        return frozenset(need for need, name in STRUCTURE.items() if getattr(self, name) is not None)


def changed_options(options: dict[str, Any]) -> dict[str, Any]:
    """Those of some options that :func:`thresher.auto` has, with values other than its defaults."""
    defaults = {field.name: field.default for field in fields(AutoOptions)}
    return {name: options[name] for name in defaults if name in options and options[name] != defaults[name]}
