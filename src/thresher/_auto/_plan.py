"""The plan of a comparison: data, options and what follows from them; and the candidates that are compared."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import registry
from .._estimators import LearningProblem
from ..registry import Method
from ._auto_options import AutoOptions
from ._data import TrainingData

Folds = list[tuple[NDArray[np.intp], NDArray[np.intp]]]
_ERRORS = ("error", "balanced_error", "mse")  # criteria that are smaller when models are better


@dataclass(frozen=True)
class Plan:
    """The data, the options, and what follows from them for every model."""

    data: TrainingData
    options: AutoOptions
    task: str
    criterion: str = ""
    folds: Folds = ()  # type: ignore[assignment]  # the same parts of the rows for all models

    @cached_property
    def problem(self) -> LearningProblem:
        return LearningProblem(
            self.task,
            self.data.facts.n_rows,
            self.data.facts.n_features,
            is_sparse=self.data.is_sparse,
            is_text=self.data.is_text,
            is_imbalanced=self.data.is_imbalanced,
            wants_sparsity=bool(self.options.sparsity),
            kernel=self.options.kernel,
            needs=self.options.needs,
        )

    def score_text(self, score: float) -> str:
        """A score for people, to whom errors are positive numbers."""
        if self.options.sparsity:
            return f"{score:.4g} ({self.criterion} and sparsity, greater is better)"
        sign = -1 if self.criterion in _ERRORS else 1
        return f"{self.criterion} {sign * score + 0.0:.4g}"  # no error at all is 0, not -0


@dataclass(frozen=True)
class Candidate:
    """A method, the kernel of the map before it and the parameters it begins with; those of `fixed` are not tuned."""

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
    return not {"kernel", "kernels"}.isdisjoint(method.defaults)


def find_method(name: str) -> Method:
    """The method of a name that the user gave."""
    method = registry.find(name)
    if method is None:
        known = ", ".join(repr(name) for name in sorted(registry.estimators()))
        raise ValueError(f"auto: method must be one of {known}, got {name!r}.")
    return method
