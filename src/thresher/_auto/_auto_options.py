"""The options of ``auto``, and their checks."""

from __future__ import annotations

from dataclasses import field, fields
from typing import Any

from .._dataclasses import dataclass
from .._estimators import cost_rule
from .._gate import Rule, at_least, boolean, count_of_jobs, fraction, none, one_of, positive
from ..preprocessing import task_column_rule

TASKS = ("classification", "regression", "clustering")
OWN_KERNELS = ("linear", "rbf", "polynomial", "cosine")  # of methods that have a kernel and need no map
KERNELS = {"nystroem": "rbf"} | {name: name for name in OWN_KERNELS[1:]} | {"nystroem-linear": "linear"}
# needs of methods, and the options that meet them
STRUCTURE = {"groups": "groups", "tasks": "task_column", "outliers": "outlier_label", "unlabelled": "unlabelled_label"}


_PARAMS = none | Rule("a dict of parameters", lambda v: isinstance(v, dict))


def _option(default: Any, rule: Rule) -> Any:
    return field(default=default, metadata={"rule": rule})


@dataclass(frozen=True)
class AutoOptions:
    """The options of :func:`thresher.auto`, which documents them; None leaves a choice to the rules."""

    task: str | None = _option(None, none | one_of(*TASKS))
    method: str | None = None
    loss: str | None = None
    kernel: str | None = _option(None, none | one_of("linear", *KERNELS))
    criterion: str | None = None
    cost: Any = field(default=None, metadata={"rule": cost_rule})
    search: str = _option("annealing", one_of("annealing", "directed", "random"))
    n_evaluations: int = _option(50, at_least(1))
    max_seconds: float | None = _option(None, none | positive)
    cv: Any = None
    sparsity: float | None = _option(None, none | fraction)
    scale: bool | None = _option(None, none | boolean)
    one_model: bool = _option(False, boolean)
    n_clusters: int | None = _option(None, none | at_least(2))
    categories: str = _option("onehot", one_of("onehot", "hash"))
    groups: Any = None
    task_column: str | int | None = _option(None, task_column_rule)
    outlier_label: Any = None
    unlabelled_label: Any = None
    params: dict[str, Any] | None = field(default=None, metadata={"rule": _PARAMS})
    random_state: int = _option(0, at_least(0))
    n_jobs: int | None = _option(None, count_of_jobs)
    progress: bool = False
    max_rows: int = _option(100_000, at_least(10))

    def __post_init__(self) -> None:
        for name, declared in self.__dataclass_fields__.items():
            rule, value = declared.metadata.get("rule"), getattr(self, name)
            if rule is not None and not rule.holds(value):
                raise ValueError(f"auto: {name} must be {rule.says}, got {value!r}.")

    @property
    def fixed(self) -> dict[str, Any]:
        """Parameters of the method that are not tuned."""
        return self.params or {}

    @property
    def needs(self) -> frozenset[str]:
        """The structure that is given in addition to rows and targets, under the names that methods use for it."""
        return frozenset(need for need, name in STRUCTURE.items() if getattr(self, name) is not None)


def changed_options(options: dict[str, Any]) -> dict[str, Any]:
    """Return the options of :func:`thresher.auto` that differ from their defaults."""
    defaults = {each.name: each.default for each in fields(AutoOptions)}
    return {name: options[name] for name in defaults if name in options and options[name] != defaults[name]}
