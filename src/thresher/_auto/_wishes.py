"""What the user has settled, and what is tried."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from ..registry import Method

TASKS = ("classification", "regression", "clustering")
KERNELS = {
    **{"nystroem": "rbf", "rbf": "rbf", "polynomial": "polynomial", "cosine": "cosine"},
    "nystroem-linear": "linear",
}


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
    params: dict[str, Any] = field(default_factory=dict)
    seed: int = 0

    @property
    def needs_met(self) -> set[str]:
        """What was given beside rows and targets, by the names that methods have for it."""
        given = {"groups": self.groups, "tasks": self.task_column}
        return {name for name, value in given.items() if value is not None}


@dataclass(frozen=True)
class Candidate:
    """A method, what stands before it and the parameters that are not tuned."""

    method: Method
    params: dict[str, Any]
    kernel: str | None = None

    @property
    def name(self) -> str:
        return self.method.name if self.kernel is None else f"{self.method.name} behind a {self.kernel} map"
