"""The records of a run, of which reports are made: measures along the stream, samples of rows, predictions."""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from dataclasses import asdict, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._dataclasses import dataclass
from .._gate import sparse, widened
from ..metrics import ProgressiveAveragePrecision, ProgressiveF1, ProgressiveROCAUC
from ..streams import Batch, Stream, Table
from ._predictions import weighted_rows_to_learn, written_label

_MOST_POINTS = 256
_MOST_ROWS = 200_000

WeightedRows = tuple[Any, NDArray[Any] | None, NDArray[np.float64] | None]


def read_all(stream: Stream, max_rows: int | None = None, *, model: Any = None) -> tuple[Any, NDArray[Any] | None]:
    """Read the rows of a stream into memory: all of them, or an even sample of at least `max_rows`.

    Parameters
    ----------
    stream : Stream
    max_rows : int, optional
    model : estimator or StreamingPipeline, optional
        The model to train: rows without a target are left out or, if the model has an ``unlabelled_label``, get that
        label. By default all rows are returned, and a missing target is NaN or an empty text.

    Returns
    -------
    X, y
    """
    X, y, _ = read_and_count(stream, max_rows, model)[0]
    return X, y


def read_and_count(stream: Stream, max_rows: int | None, model: Any) -> tuple[WeightedRows, int, int]:
    """The rows as :func:`read_all` returns them with their weights, which are None if all are 1; the number of rows in
    the stream, and of those left out. Rows of weight 0 do not count."""
    sampler, n_rows = Sampler(max_rows), 0
    for batch in map(Batch.present, stream.batches()):
        rows = batch.X, batch.y, batch.row_weights()
        sampler.add(*(rows if model is None else weighted_rows_to_learn(model, *rows)))
        n_rows += len(batch)
    if sampler.n_rows == 0:
        raise ValueError(f"{stream.path.name}: {'no row has a target' if n_rows else 'the file has no rows'}.")
    return sampler.weighted_rows(), n_rows, n_rows - sampler.n_rows


class Sampler:
    """An even sample of a stream: all rows at first, then every second, every fourth."""

    def __init__(self, most: int | None = 1000) -> None:
        self.n_rows = 0  # seen so far
        self._most = most
        self._step = 1
        self._parts: list[tuple[Any, ...]] = []
        self._kept = 0

    def add(self, *columns: Any) -> None:
        """Take in some rows: features, targets or predictions of them; what is None is left out."""
        given = [column for column in columns if column is not None]
        some = np.arange(-self.n_rows % self._step, given[0].shape[0], self._step)
        self.n_rows += given[0].shape[0]
        if not len(some):
            return
        self._parts.append(tuple(column[some] for column in given))
        self._kept += len(some)
        while self._most is not None and self._kept > 2 * self._most:
            half = np.arange(0, self._kept, 2)
            self._parts = [tuple(column[half] for column in self.columns())]
            self._kept, self._step = len(half), 2 * self._step

    def columns(self) -> tuple[Any, ...]:
        """The sample, a column for each of those that were added."""
        return tuple(_stacked(parts) for parts in zip(*self._parts, strict=True))

    def rows(self) -> tuple[Any, Any] | None:
        """The sample of features and targets; None if there were no rows."""
        return (*self.columns(), None)[:2] if self._parts else None

    def weighted_rows(self) -> WeightedRows:
        """The sample of features, targets and weights; weights are None if all are 1."""
        X, *y, weight = self.columns()
        return X, y[0] if y else None, None if (weight == 1).all() else weight


def stack_batches(parts: list[tuple[Any, NDArray[Any] | None]]) -> tuple[Any, NDArray[Any] | None]:
    """Batches of rows as one, as wide as the widest."""
    ys = [y for _, y in parts if y is not None]
    return _stacked([X for X, _ in parts]), np.concatenate(ys) if ys else None


def _stacked(parts: Sequence[Any]) -> Any:
    first = parts[0]
    if len(parts) == 1:
        return first
    if isinstance(first, Table):
        return Table.concat(parts)
    if sparse.issparse(first):
        width = max(X.shape[1] for X in parts)
        return sparse.csr_array(sparse.vstack([widened(X, width).tocsr() for X in parts], format="csr"))
    library = type(first).__module__.partition(".")[0]
    if library in ("pandas", "polars"):
        return importlib.import_module(library).concat(parts)
    return np.concatenate(parts)


@dataclass
class History:
    """Progressive measures along a stream, at a few hundred points that do not depend on when a run was stopped or
    resumed.

    Attributes
    ----------
    rows, mistakes, loss, n_used : list
        At each point: rows learned so far, mistakes (classifiers) and loss so far, weights in use.
    files : list of dict
        For each file of each pass: ``name``, ``pass``, ``rows``, ``mistakes``, ``loss``, all counted within it.
    positive : str or None
        The positive class of the measures, if one was given.
    measures : dict of lists
        ``f1``, ``roc_auc`` and ``average_precision`` of that class so far, at ``rows``; of the first pass only. Each
        row was scored by the model before its batch was learned. Empty if there are no measures.
    """

    rows: list[int] = field(default_factory=list)
    mistakes: list[int] = field(default_factory=list)
    loss: list[float] = field(default_factory=list)
    n_used: list[int] = field(default_factory=list)
    files: list[dict[str, Any]] = field(default_factory=list)
    positive: str | None = None
    measures: dict[str, list[Any]] = field(default_factory=dict)

    def is_due(self, rows: int) -> bool:
        """Whether a point is wanted: at first each time, later each time the rows have grown by a few per cent."""
        return not self.rows or rows >= self.rows[-1] * (1 + 8 / _MOST_POINTS)

    def add(self, rows: int, mistakes: int, loss: float, n_used: int) -> None:
        for name, value in {"rows": rows, "mistakes": mistakes, "loss": loss, "n_used": n_used}.items():
            getattr(self, name).append(value)

    def add_measures(self, rows: int, values: dict[str, float]) -> None:
        """Record the measures after this number of rows, unless they are recorded."""
        if self.measures and self.measures["rows"][-1] >= rows:
            return
        for name, value in {"rows": rows, **values}.items():
            self.measures.setdefault(name, []).append(value)

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)


@dataclass
class HeldOut:
    """Predictions for rows that a model had not learned from: all of them, or an even sample of at least 100,000.

    Attributes
    ----------
    name : str
        The origin of the rows, in words: a file's name, or "every row before it was learned".
    y, predicted : ndarray of shape (n,)
        True and predicted labels or values.
    scores : ndarray of shape (n,) or (n, n_classes), or None
        Decision values; None for regressors.
    n_rows : int
        Number of rows predicted; larger than ``len(y)`` if only a sample is kept.
    probabilities : ndarray of shape (n, n_classes), or None
        Probabilities of the classes, in the order of the model's ``classes_``; None if the model has no
        ``predict_proba``.
    """

    name: str
    y: NDArray[Any]
    predicted: NDArray[Any]
    scores: NDArray[np.float64] | None = None
    n_rows: int = 0
    probabilities: NDArray[np.float64] | None = None

    def __repr__(self) -> str:
        return f"HeldOut({self.name!r}, n_rows={self.n_rows})"

    def some(self, rows: NDArray[np.bool_]) -> HeldOut:
        """Some of the rows that are kept."""
        scores, probabilities = (
            None if column is None else column[rows] for column in (self.scores, self.probabilities)
        )
        n_rows = round(self.n_rows * float(rows.mean()))
        return HeldOut(self.name, self.y[rows], self.predicted[rows], scores, n_rows, probabilities)


class Collector(Sampler):
    """Gathers :class:`HeldOut` in bounded memory: targets, predictions, scores and probabilities, batch by batch."""

    def __init__(self, name: str) -> None:
        super().__init__(_MOST_ROWS // 2)
        self.name = name
        self._names: tuple[str, ...] = ()

    def add_predictions(
        self,
        y: NDArray[Any],
        predicted: NDArray[Any],
        scores: NDArray[np.float64] | None = None,
        probabilities: NDArray[np.float64] | None = None,
    ) -> None:
        columns = {"y": y, "predicted": predicted, "scores": scores, "probabilities": probabilities}
        self._names = tuple(name for name, column in columns.items() if column is not None)
        self.add(*columns.values())

    def held_out(self) -> HeldOut | None:
        if not self._parts:
            return None
        return HeldOut(self.name, **dict(zip(self._names, self.columns(), strict=True)), n_rows=self.n_rows)


_Measure = ProgressiveF1 | ProgressiveROCAUC | ProgressiveAveragePrecision
_KINDS: dict[str, type[_Measure]] = {
    "f1": ProgressiveF1,
    "roc_auc": ProgressiveROCAUC,
    "average_precision": ProgressiveAveragePrecision,
}


class RareClassMeasures:
    """F1, AUROC and average precision of one of two classes, over rows scored before their batch was learned."""

    def __init__(self, positive: Any, classes: Any) -> None:
        if len(classes) != 2 or positive not in list(classes):
            raise ValueError(f"train: positive must be one of two classes, {list(classes)}, got {positive!r}.")
        self.positive = positive
        self.name = str(written_label(positive))
        self.measures = {name: kind() for name, kind in _KINDS.items()}

    def add(self, classes: NDArray[Any], y: NDArray[Any], scores: NDArray[np.float64] | None) -> None:
        """Take in scores, which are high for the second class."""
        if scores is None:
            raise ValueError("train: positive needs a model with decision_function.")
        there = y == self.positive
        second = bool(classes[1] == self.positive)
        answered = (scores > 0) == second  # a score of exactly 0 is an answer for the first class
        self.measures["f1"].update(there, answered)
        for name in ("roc_auc", "average_precision"):
            self.measures[name].update(there, scores if second else -scores)

    def note(self, history: History, rows: int) -> None:
        """Add a point to the history, once rows of both classes were seen in one batch."""
        if self.measures["roc_auc"].cells[1]:
            history.add_measures(rows, {name: measure.value for name, measure in self.measures.items()})

    def to_dict(self) -> dict[str, Any]:
        cells = {name: measure.cells.tolist() for name, measure in self.measures.items()}
        return {"positive": self.name, "cells": cells}

    def restore(self, kept: dict[str, Any]) -> None:
        """Continue from a checkpoint."""
        cells = {name: kept["cells"][name] for name in _KINDS}
        if not all(isinstance(cell, float) for each in cells.values() for cell in each):
            raise TypeError("cells are numbers")
        self.measures = {name: kind(cells=np.array(cells[name])) for name, kind in _KINDS.items()}
