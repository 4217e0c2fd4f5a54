"""The data to learn from: rows in memory, or files of which an even part is in memory."""

from __future__ import annotations

import inspect
import os
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from .. import _engine
from .._gate import Table, Text
from ..streams import Stream, open_stream
from ..training import Facts, LabelCounts, Look, Sampler
from ._auto_options import AutoOptions

_MOST_BYTES = 200 << 20  # of rows in memory
_RARE = 0.2  # classes are out of balance when the smallest has less than this part of its even share


@dataclass
class TrainingData:
    """Rows to tune on, and facts about all rows."""

    X: Any  # Table, ndarray or csr_array: all rows, or an even part of them
    y: NDArray[Any] | None
    rest: Stream | tuple[Any, Any] | None  # all rows, where these are more than the rows above
    facts: Facts  # counts over all rows; classes only if there are few
    look: Look  # the targets, by which the task is chosen
    files: list[str]  # names, if the rows come from files
    layout: dict[str, Any] | None  # columns of a file, as they are read
    n_skipped: int = 0  # malformed lines
    no_class: Any = None  # the label of rows that are of no class, or of one that is not known

    @property
    def classes(self) -> dict[str, int]:
        """Number of rows of each class."""
        apart = None if self.no_class is None else str(self.no_class)
        return {name: count for name, count in self.facts.classes.items() if name != apart}

    @property
    def n_no_class(self) -> int:
        """Number of rows that have none, or one that is not known."""
        return 0 if self.no_class is None else self.facts.classes.get(str(self.no_class), 0)

    @property
    def is_mixed(self) -> bool:
        """Whether classes change from row to row about as often as in a random order."""
        if self.y is None or len(self.y) < 2:
            return True
        return _engine.are_mixed(np.unique(self.y, return_inverse=True)[1].astype(np.float64))

    @property
    def is_sparse(self) -> bool:
        return bool(sparse.issparse(self.X))

    @property
    def is_text(self) -> bool:
        return isinstance(self.X, Table) and len(self.X.text) == len(self.X.columns)

    def is_narrow(self, n_features: int) -> bool:
        """Whether rows are dense, of few numbers and no words."""
        words = isinstance(self.X, Table) and bool(self.X.text)
        return self.facts.n_features <= n_features and not self.is_sparse and not words

    @property
    def n_classes(self) -> int:
        return len(self.classes)

    @property
    def is_imbalanced(self) -> bool:
        """Whether a class has less than a fifth of its even share: with two classes, less than 10 % of the rows."""
        return self.n_classes > 1 and self.smallest_share < _RARE / self.n_classes

    @property
    def smallest_share(self) -> float:
        """The share of rows of the rarest class."""
        return min(self.classes.values()) / sum(self.classes.values())

    def as_labels(self) -> None:
        """Take whole numbers read from a file as integers, as they were written."""
        if self.files and self.y is not None and self.y.dtype.kind == "f" and (self.y == np.round(self.y)).all():
            self.y = self.y.astype(np.int64)


def gather(X: Any, y: Any, options: AutoOptions, stream_options: dict[str, Any]) -> TrainingData:
    """Rows and facts from whatever form the data come in."""
    known = inspect.signature(open_stream).parameters.keys() - {"path"}
    unknown = [name for name in stream_options if name not in known]
    if unknown:
        raise TypeError(f"auto: there is no parameter {unknown[0]!r}.")
    is_stream = isinstance(X, Stream)
    if stream_options and (is_stream or not _are_files(X)):
        when = "when X is a Stream" if is_stream else "when X holds the rows"
        raise ValueError(f"auto: {next(iter(stream_options))} is about reading files and has no meaning {when}.")
    if not is_stream and not _are_files(X):
        return _from_rows(*_as_rows(X, y), options.max_rows, options.random_state)
    if y is not None:
        raise ValueError("auto: y must be None when X is a file; name its column with target=.")
    return _from_stream(X if is_stream else _opened(X, options, stream_options), options.max_rows)


def _are_files(X: Any) -> bool:
    some = X if isinstance(X, (list, tuple)) and len(X) else [X]
    return all(isinstance(file, (str, os.PathLike)) for file in some)


def _opened(X: Any, options: AutoOptions, stream_options: dict[str, Any]) -> Stream:
    stream = open_stream(X, random_state=options.random_state, **stream_options)
    if options.task == "clustering" and "target" not in stream_options and stream.layout().get("target") is not None:
        stream_options = {**stream_options, "target": None}  # the last column is one like the others
        return open_stream(X, random_state=options.random_state, **stream_options)
    return stream


# --- files ------------------------------------------------------------------------------------------------------------


def _from_stream(stream: Stream, max_rows: int) -> TrainingData:
    """An even part of the rows, from one pass over the files; all of them if they are few."""
    sampler: Sampler | None = None
    facts, labels = Facts(), LabelCounts()
    for batch in stream.batches():
        if batch.position.n_pass > 0:
            break
        if sampler is None:
            sampler = Sampler(max(1, min(max_rows, _rows_that_fit(batch.X)) // 2))
        sampler.add(batch.X, batch.y)
        facts.add(batch.X, None)
        labels.add(batch.y)
    rows = None if sampler is None else sampler.rows()
    if rows is None:
        raise ValueError(f"{stream.path.name}: the file has no rows.")
    X, y = rows
    _refuse_missing(y)
    look = _look(facts, X, y, labels)
    whole = X.shape[0] == facts.n_rows
    layout = stream.layout() or None
    files = [path.name for path in stream.paths]
    return TrainingData(X, y, None if whole else stream, facts, look, files, layout, stream.n_skipped)


def _rows_that_fit(X: Any) -> int:
    """The number of rows like these that there is room for."""
    if isinstance(X, Table):
        n_bytes = X.numbers.nbytes + sum(t.offsets.nbytes + t.offsets[-1] - t.offsets[0] for t in X.text.values())
    else:
        n_bytes = X.data.nbytes + X.indices.nbytes + X.indptr.nbytes if sparse.issparse(X) else X.nbytes
    return int(_MOST_BYTES * X.shape[0] / max(1, int(n_bytes)))


# --- rows -------------------------------------------------------------------------------------------------------------


def _as_rows(X: Any, y: Any) -> tuple[Any, NDArray[Any] | None]:
    """Rows in one of three forms, and targets as a column."""
    if hasattr(X, "columns") and not isinstance(X, Table):
        X = Table.from_frame(X)
    if isinstance(y, str):
        if not isinstance(X, Table) or y not in X.columns:
            raise ValueError(f"auto: y must be a column of the data frame or the targets themselves, got {y!r}.")
        y, X = X[y], X.select([name for name in X.columns if name != y])
    if isinstance(y, Text):
        y = np.array(y.to_list(), dtype=object)
    if y is not None:
        y = _column(np.asarray(y))
    if not isinstance(X, Table):
        X = _numbers(X)
    if X.shape[0] == 0 or X.shape[1] == 0:
        raise ValueError(f"auto: X must have rows and columns, got a shape of {tuple(X.shape)}.")
    if y is not None and len(y) != X.shape[0]:
        raise ValueError(f"auto: y must have one target per row, got {len(y)} for {X.shape[0]} rows.")
    return X, y


def _column(y: NDArray[Any]) -> NDArray[Any]:
    y = y[:, 0] if y.ndim == 2 and y.shape[1] == 1 else y
    if y.ndim != 1:
        raise ValueError(f"auto: y must be one column of targets, got an array of shape {y.shape}.")
    if y.dtype.kind != "O" or any(isinstance(label, str) for label in y):
        return y
    try:
        return y.astype(np.float64)  # numbers that were kept as objects
    except (TypeError, ValueError):
        raise ValueError("auto: y must hold numbers or words.") from None


def _numbers(X: Any) -> Any:
    if sparse.issparse(X):
        return sparse.csr_array(X)
    array = np.asarray(X)
    if array.dtype.kind in "OUS":
        try:
            array = array.astype(np.float64)
        except (TypeError, ValueError):
            raise ValueError("auto: X must hold numbers; text needs a data frame or a file.") from None
    if array.ndim != 2 or array.dtype.kind not in "fiub":
        raise ValueError(f"auto: X must be rows of numbers, got {array.dtype} of {array.ndim} dimension(s).")
    return array if array.dtype in (np.float64, np.float32) else array.astype(np.float64)


def _from_rows(X: Any, y: NDArray[Any] | None, max_rows: int, seed: int) -> TrainingData:
    n_rows, facts, labels = X.shape[0], Facts.of(X, None), LabelCounts()
    _refuse_missing(y)
    labels.add(y)
    look = _look(facts, X, y, labels)
    if n_rows <= max_rows:
        return TrainingData(X, y, None, facts, look, [], None)
    some = np.sort(np.random.default_rng(seed).permutation(n_rows)[:max_rows])
    part = X[some], None if y is None else y[some]
    return TrainingData(*part, (X, y), facts, look, [], None)


def _look(facts: Facts, X: Any, y: NDArray[Any] | None, labels: LabelCounts) -> Look:
    """The targets in the form in which files are looked at, so that the same rules choose the task."""
    facts.classes = labels.by_name()
    is_text = y is not None and y.dtype.kind in "OU"
    return Look(facts.n_rows, facts.n_features, labels.distinct(), is_text, True, True, y, X)


def _refuse_missing(y: NDArray[Any] | None) -> None:
    if y is None:
        return
    n_missing = int(np.isnan(y).sum()) if y.dtype.kind == "f" else 0
    if y.dtype.kind == "O":
        n_missing = sum(not isinstance(value, str) or not value for value in y.tolist())
    if n_missing:
        raise ValueError(f"auto: every row must have a target, but {n_missing} of {len(y)} have none.")
