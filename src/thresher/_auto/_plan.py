"""The plan of a comparison: data, options and what follows from them; and the candidates that are compared."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import registry
from .._dataclasses import dataclass
from .._estimators import LearningProblem
from .._figures import criterion_sign
from ..registry import Method
from ._auto_options import AutoOptions
from ._data import TrainingData
from ._watching import AutoWatcher

Folds = list[tuple[NDArray[np.intp], NDArray[np.intp]]]


@dataclass(frozen=True)
class Plan:
    """The data, the options, and what follows from them for every model."""

    data: TrainingData
    options: AutoOptions
    task: str
    criterion: str = ""
    folds: Folds = ()  # type: ignore[assignment]  # the same parts of the rows for all models
    read: dict[Any, Any] = field(default_factory=dict)  # rows of text that were read once, for all that follows
    watcher: AutoWatcher = field(default_factory=AutoWatcher)

    @cached_property
    def problem(self) -> LearningProblem:
        return LearningProblem(
            self.task,
            self.data.facts.n_labelled,
            self.data.facts.n_features,
            n_classes=self.data.n_classes if self.task == "classification" else 0,
            n_labelled=self.data.facts.n_rows - self.data.n_no_class,
            is_sparse=self.data.is_sparse,
            is_text=self.data.is_text,
            is_imbalanced=self.weighs_classes,
            wants_sparsity=bool(self.options.sparsity),
            kernel=self.options.kernel,
            needs=self.options.needs,
        )

    @property
    def weighs_classes(self) -> bool:
        """Whether rows of a rare class count more: unless the user asks for the plain error, or says what they cost."""
        return self.data.is_imbalanced and self.options.criterion != "error" and self.options.cost is None

    @property
    def class_weight(self) -> Any:
        """The weights of the classes in training; None if all are equal."""
        return self.costs or ("balanced" if self.weighs_classes else None)

    @property
    def probability(self) -> str:
        """What probabilities of an answer are: how often a class occurs, even if classes have weights in training."""
        return "calibrated" if self.class_weight is None else "frequencies"

    @cached_property
    def costs(self) -> dict[Any, float]:
        """The cost of a mistake on a row of each class; empty if the user gave none."""
        cost = self.options.cost
        if cost is None or self.data.y is None:
            return {}
        labels = [label for label in np.unique(self.data.y).tolist() if str(label) in self.data.classes]
        if not isinstance(cost, Mapping):
            cost = {labels[-1]: cost}
        named = {str(label): float(value) for label, value in cost.items()}
        return {label: named.get(str(label), 1.0) for label in labels}

    @property
    def sign(self) -> int:
        """-1 if the criterion is smaller when models are better, whose scores are negative then."""
        return criterion_sign(self.criterion)

    @property
    def measure(self) -> str:
        """The name of the score: the criterion, unless sparsity is a part of it."""
        return "score" if self.options.sparsity else self.criterion

    def scores_text(self, what: str, scores: Iterable[tuple[str, float]]) -> str:
        """A sentence with the scores of some models, which names the criterion once."""
        sparse = self.options.sparsity
        sign, measure = (
            (1, f"{self.criterion} and sparsity, greater is better") if sparse else (self.sign, self.criterion)
        )
        return f"{what} ({measure}): " + ", ".join(f"{name} {sign * score + 0.0:.4g}" for name, score in scores) + "."

    def score_text(self, score: float) -> str:
        """A score as users see it: errors are positive numbers."""
        if self.options.sparsity:
            return f"{score:.4g} ({self.criterion} and sparsity, greater is better)"
        return f"{self.criterion} {self.sign * score + 0.0:.4g}"  # no error at all is 0, not -0


@dataclass(frozen=True)
class Candidate:
    """A method, the steps before it and the parameters it begins with; those of `fixed` are not tuned.

    The steps: splines of the columns (`curves` is "columns", or "pairs" with products of two), words read by an encoder
    with these options, rows brought to unit length, and the map of a `kernel`.
    """

    method: Method
    params: dict[str, Any]
    kernel: str | None = None
    fixed: tuple[str, ...] = ()
    note: str = ""
    curves: str = ""
    n_landmarks: float = 2.0  # times the root of the number of rows
    encoder: tuple[tuple[str, Any], ...] = ()
    unit_rows: bool = False
    labelled_only: bool = False  # it ignores rows without a label

    @property
    def name(self) -> str:
        if self.kernel is not None:
            return f"{self.method.name} with {self.kernel} features" + (" of curves" if self.curves else "")
        return self.method.name + self.note

    @property
    def is_plain(self) -> bool:
        """Whether it is linear in the columns, and can be read most easily; with unlabelled rows, whether it does
        without them."""
        return self.labelled_only or (self.kernel is None and not self.curves and not has_kernel(self.method))


def has_kernel(method: Method) -> bool:
    """Whether a method compares rows by a kernel of its own, so that no map stands before it."""
    return not {"kernel", "kernels"}.isdisjoint(method.defaults)


def find_method(name: str) -> Method:
    """The method of a name that the user gave."""
    method = registry.find(name)
    if method is None:
        close, known = registry.similar(name), ", ".join(map(repr, sorted(registry.estimators())))
        similar = f", which is like {', '.join(map(repr, close))}" if close else ""
        raise ValueError(f"auto: method must be one of {known}, got {name!r}{similar}.")
    return method
