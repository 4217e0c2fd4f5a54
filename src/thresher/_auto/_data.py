"""What was handed over: rows in memory, or files of which an even part is."""

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
from ..training import Facts, Look, Sampler, plain

_MOST_BYTES = 200 << 20  # of rows in memory
_MOST_CLASSES = 1000
_RARE = 0.2  # classes are out of balance when the smallest has less than this part of its even share


@dataclass
class Material:
    """Rows to tune on, and what is known of all rows.

    Attributes
    ----------
    X, y : Table, ndarray or csr_array; ndarray or None
        The rows in memory that are tuned on: all, or an even part of them.
    rest : Stream, (X, y) or None
        What the model learns from in the end, where that is more than the rows above.
    facts : Facts
        Counts over all rows; classes only if there are few.
    look : Look
        What the targets say about the task.
    files : list of str
        Names of the files, if the rows come from files.
    layout : dict or None
        How the columns of a file are read.
    n_skipped : int
        Malformed lines passed over.
    no_class : label or None
        What the targets say of rows that are of no class, or of one that is not known.
    """

    X: Any
    y: NDArray[Any] | None
    rest: Stream | tuple[Any, Any] | None
    facts: Facts
    look: Look
    files: list[str]
    layout: dict[str, Any] | None
    n_skipped: int = 0
    no_class: Any = None

    @property
    def classes(self) -> dict[str, int]:
        """How many rows each class has."""
        apart = None if self.no_class is None else str(self.no_class)
        return {name: count for name, count in self.facts.classes.items() if name != apart}

    @property
    def n_no_class(self) -> int:
        """How many rows have none, or one that is not known."""
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


def gather(X: Any, y: Any, task: str | None, options: dict[str, Any], max_rows: int, seed: int) -> Material:
    """Rows and facts from whatever form the data come in; `options` are for files."""
    if isinstance(X, Stream) or _are_files(X):
        if y is not None:
            raise ValueError("auto: y must be None when X is a file; name its column with target=.")
        if isinstance(X, Stream):
            _refuse(options, "when X is a Stream")
            return _from_stream(X, max_rows)
        return _from_stream(_opened(X, task, options, seed), max_rows)
    _refuse(options, "when X holds the rows")
    return _from_rows(*_as_rows(X, y), max_rows, seed)


def _are_files(X: Any) -> bool:
    some = X if isinstance(X, (list, tuple)) and len(X) else [X]
    return all(isinstance(file, (str, os.PathLike)) for file in some)


def _refuse(options: dict[str, Any], when: str) -> None:
    for name in options:
        if name not in inspect.signature(open_stream).parameters:
            raise TypeError(f"auto: there is no parameter {name!r}.")
        raise ValueError(f"auto: {name} is about reading files and has no meaning {when}.")


def _opened(X: Any, task: str | None, options: dict[str, Any], seed: int) -> Stream:
    for name in options:
        if name == "path" or name not in inspect.signature(open_stream).parameters:
            raise TypeError(f"auto: there is no parameter {name!r}.")
    stream = open_stream(X, random_state=seed, **options)
    if task == "clustering" and "target" not in options and stream.layout().get("target") is not None:
        return open_stream(X, random_state=seed, target=None, **options)  # the last column is one like the others
    return stream


# --- files ------------------------------------------------------------------------------------------------------------


def _from_stream(stream: Stream, max_rows: int) -> Material:
    """An even part of the rows, from one pass over the files; all of them if they are few."""
    sampler: Sampler | None = None
    facts, labels = Facts(), _Labels()
    for batch in stream.batches():
        if batch.position.n_pass > 0:
            break
        if sampler is None:
            sampler = Sampler(max(1, min(max_rows, _rows_that_fit(batch.X)) // 2))
        sampler.add(batch)
        facts.add(batch.X, None)
        labels.add(batch.y)
    rows = None if sampler is None else sampler.rows()
    if rows is None:
        raise ValueError(f"{stream.path.name}: the file has no rows.")
    X, y = rows
    facts.classes = labels.by_name()
    look = _look(facts, X, y, labels.found())
    whole = X.shape[0] == facts.n_rows
    layout = stream.layout() or None
    files = [path.name for path in stream.paths]
    return Material(X, y, None if whole else stream, facts, look, files, layout, stream.n_skipped)


def _rows_that_fit(X: Any) -> int:
    """How many rows like these there is room for."""
    return int(_MOST_BYTES * X.shape[0] / max(1, _n_bytes(X)))


def _n_bytes(X: Any) -> int:
    if isinstance(X, Table):
        return int(X.numbers.nbytes + sum(text.offsets.nbytes + _length(text) for text in X.text.values()))
    return int(X.data.nbytes + X.indices.nbytes + X.indptr.nbytes) if sparse.issparse(X) else int(X.nbytes)


def _length(text: Text) -> int:
    return int(text.offsets[-1] - text.offsets[0])


class _Labels:
    """Counts how often each target occurs, until there are too many for classes."""

    def __init__(self) -> None:
        self._counts: dict[Any, int] = {}
        self._many = False

    def add(self, y: NDArray[Any] | None) -> None:
        if y is None or self._many:
            return
        for label, count in zip(*np.unique(y, return_counts=True), strict=True):
            self._counts[plain(label)] = self._counts.get(plain(label), 0) + int(count)
        if len(self._counts) > _MOST_CLASSES:
            self._many, self._counts = True, {}

    def found(self) -> list[Any] | None:
        return sorted(self._counts) or None

    def by_name(self) -> dict[str, int]:
        return {str(label): self._counts[label] for label in sorted(self._counts)}


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
            raise ValueError("auto: X must hold numbers; words are welcome in a data frame or a file.") from None
    if array.ndim != 2 or array.dtype.kind not in "fiub":
        raise ValueError(f"auto: X must be rows of numbers, got {array.dtype} of {array.ndim} dimension(s).")
    return array if array.dtype in (np.float64, np.float32) else array.astype(np.float64)


def _from_rows(X: Any, y: NDArray[Any] | None, max_rows: int, seed: int) -> Material:
    n_rows, n_features = X.shape
    _refuse_missing(y)
    labels = _Labels()
    labels.add(y)
    n_values = int(X.nnz) if sparse.issparse(X) else n_rows * n_features
    facts = Facts(n_rows, n_features, n_values, labels.by_name())
    look = _look(facts, X, y, labels.found())
    if n_rows <= max_rows:
        return Material(X, y, None, facts, look, [], None)
    some = np.sort(np.random.default_rng(seed).permutation(n_rows)[:max_rows])
    part = X[some], None if y is None else y[some]
    return Material(*part, (X, y), facts, look, [], None)


def _look(facts: Facts, X: Any, y: NDArray[Any] | None, labels: list[Any] | None) -> Look:
    """What the targets say, by the rule that is used for files."""
    _refuse_missing(y)
    is_text = y is not None and y.dtype.kind in "OU"
    return Look(facts.n_rows, facts.n_features, labels, is_text, True, True, y, X)


def _refuse_missing(y: NDArray[Any] | None) -> None:
    if y is None:
        return
    gone = (
        np.isnan(y)
        if y.dtype.kind == "f"
        else np.array([not isinstance(v, str) or not v for v in y.tolist()])
        if y.dtype.kind == "O"
        else None
    )
    if gone is not None and gone.any():
        raise ValueError(f"auto: every row must have a target, but {int(gone.sum())} of {len(y)} have none.")
