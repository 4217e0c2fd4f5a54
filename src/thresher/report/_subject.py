"""What a report is about, in one form: the model unwrapped, labels as text, a sample of rows with their predictions."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import is_classifier, is_clusterer, is_regressor
from sklearn.utils.validation import check_is_fitted

from .._figures import label
from .._gate import carrying
from ..inspection import Weights, last_step
from ..training import HeldOut, History

Section = dict[str, Any]

MOST_SAMPLED = 2_000


@dataclass
class Sample:
    """Some rows, and what the model says of them.

    Attributes
    ----------
    X : as the model takes it
    Z : ndarray or csr_array
        As the learner takes it, behind the steps of a pipeline.
    y : ndarray or None
        Labels or values, if they are known.
    predicted : ndarray
    scores : ndarray or None
    """

    X: Any
    Z: Any
    y: NDArray[Any] | None
    predicted: NDArray[Any]
    scores: NDArray[np.float64] | None

    @property
    def n_rows(self) -> int:
        return len(self.predicted)

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
            self.rows = _take(X, labelled), y[labelled]

    @property
    def steps(self) -> list[Any]:
        """What rows pass before the learner."""
        before = [step for _, step in getattr(self.model, "steps", ())[:-1]]
        return [step for step in before if hasattr(step, "transform")]  # scikit-learn has "passthrough"

    @property
    def has_tasks(self) -> bool:
        """Whether rows carry the task they belong to."""
        return getattr(self.model, "task_column", None) is not None

    def passed(self, X: Any) -> Any:
        """Rows as the learner takes them."""
        if self.has_tasks:
            return self.model.transform(X)
        for step in self.steps:
            X = step.transform(X)
        return X

    @cached_property
    def task(self) -> str:
        for name, test in (
            ("classification", is_classifier),
            ("regression", is_regressor),
            ("clustering", is_clusterer),
        ):
            if test(self.learner):
                return name
        raise ValueError(
            f"Report: model must be a classifier, a regressor or a clusterer, got {type(self.learner).__name__}."
        )

    @cached_property
    def classes(self) -> list[str]:
        """Labels as text, no two alike: those the model knows in its order, then any others that rows have."""
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
                alike = sum(other.startswith(text) for other in texts.values())
                texts[value] = f"{text} ({alike + 1})" if text in texts.values() else text
        return texts

    def codes(self, labels: NDArray[Any]) -> NDArray[np.intp]:
        """Places of labels in :attr:`classes`."""
        found, places = _distinct(labels)
        texts = [self._texts.get(value, label(value)) for value in found]
        return np.array([self.classes.index(text) for text in texts], dtype=np.intp)[places]

    @cached_property
    def weights(self) -> Weights | None:
        if hasattr(self.learner, "coef_") or hasattr(self.learner, "cluster_centers_"):
            return Weights(self.model)
        return None

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
            X, y = _take(X, some), None if y is None else np.asarray(y)[some]
        if not sparse.issparse(X) and not hasattr(X, "columns"):
            X = np.asarray(X)
        Z = self.passed(X)
        scores = None
        asked, rows = (self.model, X) if self.has_tasks else (self.learner, Z)
        if self.task == "classification" and hasattr(self.learner, "decision_function"):
            scores = np.asarray(asked.decision_function(rows), dtype=np.float64)
        if y is not None:
            y = np.asarray(y, dtype=np.float64 if self.task == "regression" else None)
        predicted = np.asarray(asked.predict(rows))
        Z = sparse.csr_array(Z) if sparse.issparse(Z) else np.asarray(Z)
        return Sample(X, Z, y, predicted, scores)


def _distinct(labels: NDArray[Any]) -> tuple[list[Any], NDArray[np.intp]]:
    """The labels that occur, and the place of every row's label among them."""
    if labels.dtype.kind not in "OUS":
        found, places = np.unique(labels, return_inverse=True)
        return found.tolist(), places
    values = labels.tolist()  # text is faster to look up than to sort
    places_of = {value: place for place, value in enumerate(sorted(set(values), key=str))}
    return list(places_of), np.array([places_of[value] for value in values], dtype=np.intp)


def _take(X: Any, rows: NDArray[np.intp]) -> Any:
    if hasattr(X, "iloc"):
        return X.iloc[rows]
    if hasattr(X, "shape"):
        return (X.tocsr() if sparse.issparse(X) else X)[rows]
    return np.asarray(X)[rows]
