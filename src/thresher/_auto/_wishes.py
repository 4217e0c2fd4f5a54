"""What the user has settled, and what is tried."""

from __future__ import annotations

import inspect
from dataclasses import dataclass, field
from typing import Any

from ..registry import Method

TASKS = ("classification", "regression", "clustering")
KERNELS = {
    **{"nystroem": "rbf", "rbf": "rbf", "polynomial": "polynomial", "cosine": "cosine"},
    "nystroem-linear": "linear",
}
OWN_KERNELS = ("linear", "rbf", "polynomial", "cosine")  # of methods that have a kernel and need no map


@dataclass(frozen=True)
class Wishes:
    """What the user has settled; None leaves it to the rules."""

    method: str | None = None
    loss: str | None = None
    kernel: str | None = None
    sparsity: float | None = None
    scale: bool | None = None
    categories: str = "onehot"
    n_clusters: int | None = None
    groups: Any = None
    task_column: str | int | None = None
    outlier_label: Any = None
    unlabelled_label: Any = None
    params: dict[str, Any] = field(default_factory=dict)
    seed: int = 0

    @property
    def needs_met(self) -> set[str]:
        """What was given beside rows and targets, by the names that methods have for it."""
        given = {
            "groups": self.groups,
            "tasks": self.task_column,
            "outliers": self.outlier_label,
            "unlabelled": self.unlabelled_label,
        }
        return {name for name, value in given.items() if value is not None}


@dataclass(frozen=True)
class Candidate:
    """A method, what stands before it and the parameters it begins with; those of `fixed` are not tuned."""

    method: Method
    params: dict[str, Any]
    kernel: str | None = None
    fixed: tuple[str, ...] = ()
    note: str = ""

    @property
    def name(self) -> str:
        return self.method.name + (f" behind a {self.kernel} map" if self.kernel is not None else self.note)


def has_kernel(method: Method) -> bool:
    """Whether a method compares rows by a kernel of its own, so that no map stands before it."""
    return not {"kernel", "kernels"}.isdisjoint(inspect.signature(method.cls).parameters)
