"""The model of a report in one form: unwrapped, with labels as text and a sample of predicted rows."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._dataclasses import dataclass
from .._estimators import check_is_fitted, plain_transform, task_of
from .._figures import label
from .._gate import carrying, sparse
from ..inspection import Weights, last_step
from ..training import HeldOut, History
from ._measures import Answers

Section = dict[str, Any]

MOST_SAMPLED = 2_000


@dataclass
class Sample:
    """Some rows with their predictions.

    Attributes
    ----------
    X : as the model takes it
    passed : callable
        Transforms rows to the form that the learner takes.
    y : ndarray or None
        Labels or values, if they are known.
    predicted : ndarray
    scores : ndarray or None
    probabilities : ndarray or None
    """

    X: Any
    passed: Callable[[Any], Any]
    y: NDArray[Any] | None
    predicted: NDArray[Any]
    scores: NDArray[np.float64] | None
    probabilities: NDArray[np.float64] | None

    @property
    def n_rows(self) -> int:
        return len(self.predicted)

    @cached_property
    def Z(self) -> Any:
        """The rows as the learner takes them, behind the steps of a pipeline: an ndarray or csr_array."""
        Z = self.passed(self.X)
        Z = getattr(Z, "numbers", Z)  # of a table, which the models of a sum encode on their own
        return sparse.csr_array(Z.tocsr()) if sparse.issparse(Z) else np.asarray(Z)

    def scale(self) -> NDArray[np.float64]:
        """The standard deviation of each of the learner's features."""
        if not sparse.issparse(self.Z):
            return np.asarray(np.std(self.Z, axis=0, dtype=np.float64))
        n, width = self.Z.shape
        values = self.Z.data.astype(np.float64)
        sums = np.bincount(self.Z.indices, weights=values, minlength=width) / n
        squares = np.bincount(self.Z.indices, weights=values**2, minlength=width) / n
        return np.asarray(np.sqrt(np.maximum(squares - sums**2, 0)))


@dataclass
class Subject:
    """The arguments of a report, and what its sections derive from them."""

    model: Any
    asked: dict[str, Any] = field(default_factory=dict)
    data: dict[str, Any] = field(default_factory=dict)
    history: History | None = None
    held_out: HeldOut | None = None
    search: list[dict[str, Any]] | None = None
    rows: tuple[Any, Any] | None = None

    def __post_init__(self) -> None:
        self.model = getattr(self.model, "best_estimator_", self.model)
        self.learner = last_step(self.model)
        check_is_fitted(self.learner)
        self._leave_out_unlabelled()
        if self.held_out is not None and len(self.held_out.y) == 0:
            self.held_out = None
        if self.history is not None and not self.history.rows:
            self.history = None

    def _leave_out_unlabelled(self) -> None:
        """Rows without a label cannot be right or wrong."""
        mark = getattr(self.learner, "unlabelled_label", None)
        if mark is None:
            return
        if self.held_out is not None and (unlabelled := carrying(self.held_out.y, mark)).any():
            self.held_out = self.held_out.some(~unlabelled)
        if self.rows is not None and self.rows[1] is not None:
            X, y = self.rows[0], np.asarray(self.rows[1])
            labelled = np.flatnonzero(~carrying(y, mark))
            self.rows = take_rows(X, labelled), y[labelled]

    @property
    def has_tasks(self) -> bool:
        """Whether rows carry the task they belong to."""
        return getattr(self.model, "task_column", None) is not None

    def passed(self, X: Any) -> Any:
        """Transform rows to the form that the learner takes."""
        if self.has_tasks:
            return plain_transform(self.model, X)
        for _, step in getattr(self.model, "steps", ())[:-1]:
            X = plain_transform(step, X) if hasattr(step, "transform") else X  # scikit-learn has "passthrough"
        return X

    @cached_property
    def task(self) -> str:
        task = task_of(self.learner)
        if task == "transform":
            got = type(self.learner).__name__
            raise ValueError(f"Report: model must be a classifier, a regressor or a clusterer, got {got}.")
        return task

    @property
    def n_passes(self) -> int:
        """Number of passes over the rows of a stream."""
        files = () if self.history is None else self.history.files
        return max((int(file.get("pass", 1)) for file in files), default=1)

    @property
    def is_kernel_machine(self) -> bool:
        """Whether the model is made of rows that it keeps, not of weights of features."""
        return hasattr(self.learner, "dual_coef_") and not hasattr(self.learner, "coef_")

    @property
    def compares_rows(self) -> bool:
        """Whether the learner stands behind a map that compares rows with landmarks, so that its weights belong to
        these and not to columns."""
        steps: Any = getattr(self.model, "steps", ())
        return len(steps) > 1 and hasattr(steps[-2][1], "component_indices_")

    @property
    def rejects(self) -> bool:
        """Whether rows may be given to no class, whatever their scores say of the classes."""
        return hasattr(self.learner, "class_scores") and bool(self.learner.reject)

    @cached_property
    def classes(self) -> list[str]:
        """Distinct labels as text: those the model knows in its order, then any others that rows have."""
        return list(self._texts.values())

    @cached_property
    def _texts(self) -> dict[Any, str]:
        texts: dict[Any, str] = {}
        if self.task != "classification":
            return texts
        known = self.learner.classes_.tolist()
        held = [rows for rows in (self.held_out, self.sample) if rows is not None]
        seen = [y for rows in held for y in (rows.y, rows.predicted) if y is not None]  # outliers may be predicted only
        for values in (known, *(_distinct(y)[0] for y in seen)):
            for value in values:
                text = label(value)
                if value in texts or (values is not known and text in texts.values()):
                    continue  # 1 in one place may be 1.0 or "1" in another
                n_same = sum(other.startswith(text) for other in texts.values())
                texts[value] = f"{text} ({n_same + 1})" if text in texts.values() else text
        return texts

    def knows(self, labels: NDArray[Any]) -> bool:
        """Whether all labels are among :attr:`classes`."""
        return all(self._texts.get(value, label(value)) in self.classes for value in _distinct(labels)[0])

    def codes(self, labels: NDArray[Any]) -> NDArray[np.intp]:
        """Return the places of labels in :attr:`classes`."""
        found, places = _distinct(labels)
        texts = [self._texts.get(value, label(value)) for value in found]
        return np.array([self.classes.index(text) for text in texts], dtype=np.intp)[places]

    @cached_property
    def weights(self) -> Weights | None:
        if hasattr(self.learner, "coef_") or hasattr(self.learner, "cluster_centers_"):
            return Weights(self.model)
        return None

    @cached_property
    def n_used(self) -> int | None:
        """Number of features whose weight is not 0; None if weights belong to rows."""
        if self.compares_rows:
            return None
        support = getattr(self.learner, "support_", None)
        if support is not None and not self.is_kernel_machine:
            return len(support)
        return None if self.weights is None else int(np.count_nonzero(self.weights.rows.any(axis=0)))

    @cached_property
    def measured(self) -> tuple[HeldOut | None, str]:
        """Rows to measure a classifier or regressor on, and a name for them."""
        if self.task == "clustering":
            return None, ""
        if self.held_out is not None:
            return self.held_out, "held-out rows"
        rows = self.sample
        if rows is None or rows.y is None:
            return None, ""
        held_out = HeldOut("the sample", rows.y, rows.predicted, rows.scores, rows.n_rows, rows.probabilities)
        return held_out, "the sample"

    @cached_property
    def answers(self) -> Answers | None:
        """Answers of a classifier on the rows to measure."""
        rows, _ = self.measured
        if rows is None or self.task != "classification":
            return None
        return Answers(self.classes, self.codes(rows.y), self.codes(rows.predicted), rows.scores)

    @cached_property
    def sample(self) -> Sample | None:
        if self.rows is None:
            return None
        X, y = self.rows
        n_rows = X.shape[0] if hasattr(X, "shape") else len(X)
        if n_rows == 0:
            return None
        if n_rows > MOST_SAMPLED:
            some = np.linspace(0, n_rows - 1, MOST_SAMPLED).astype(np.intp)
            X, y = take_rows(X, some), None if y is None else np.asarray(y)[some]
        if not sparse.issparse(X) and not hasattr(X, "columns"):
            X = np.asarray(X)
        asked = self.model if hasattr(self.model, "steps") else self.learner
        has_scores = self.task == "classification" and hasattr(self.learner, "decision_function")
        scores = np.asarray(asked.decision_function(X), dtype=np.float64) if has_scores else None
        has_chances = self.task == "classification" and hasattr(self.learner, "predict_proba")
        chances = np.asarray(asked.predict_proba(X), dtype=np.float64) if has_chances else None
        if y is not None:
            y = np.asarray(y, dtype=np.float64 if self.task == "regression" else None)
        return Sample(X, self.passed, y, np.asarray(asked.predict(X)), scores, chances)


def _distinct(labels: NDArray[Any]) -> tuple[list[Any], NDArray[np.intp]]:
    """Return the labels that occur, and the place of every row's label among them."""
    if labels.dtype.kind not in "OUS":
        found, places = np.unique(labels, return_inverse=True)
        return found.tolist(), places
    values = labels.tolist()  # text is faster to look up than to sort
    places_of = {value: place for place, value in enumerate(sorted(set(values), key=str))}
    return list(places_of), np.array([places_of[value] for value in values], dtype=np.intp)


def take_rows(X: Any, rows: NDArray[np.intp]) -> Any:
    if hasattr(X, "iloc"):
        return X.iloc[rows]
    if hasattr(X, "shape"):
        return (X.tocsr() if sparse.issparse(X) else X)[rows]
    return np.asarray(X)[rows]
