"""What a stream holds: a first look, and what was counted on the way."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from .. import _engine
from ..streams import Stream
from ._predictions import plain

MOST_CLASSES = 1000
_RARE = 0.2  # of the rows: a rarer class of two is measured by itself, because the error hides it


@dataclass
class Facts:
    """What was counted in the rows of a stream (of its first pass)."""

    n_rows: int = 0
    n_features: int = 0
    n_values: int = 0
    classes: dict[str, int] = field(default_factory=dict)

    def add(self, X: Any, y: NDArray[Any] | None) -> None:
        """Count some more rows; with `y`, their classes too."""
        self.n_rows += X.shape[0]
        self.n_features = max(self.n_features, X.shape[1])
        self.n_values += X.nnz if sparse.issparse(X) else int(np.prod(X.shape))
        if y is not None:
            for label, count in zip(*np.unique(y, return_counts=True), strict=True):
                self.classes[str(plain(label))] = self.classes.get(str(plain(label)), 0) + int(count)


def facts_of(X: Any, y: NDArray[Any] | None) -> Facts:
    """What is counted in rows in memory."""
    facts = Facts()
    facts.add(X, y)
    return facts


@dataclass
class Look:
    """What the first rows of a stream say.

    Attributes
    ----------
    n_rows, n_features : int
        Rows looked at, and the width so far.
    labels : list or None
        The distinct targets in order, if there are at most a thousand; None if there are more, or no targets.
    is_text : bool
        Whether the targets are words.
    whole : bool
        Whether the whole stream was seen (its first pass).
    mixed : bool
        Whether targets change from row to row; False for rows sorted by target.
    y : ndarray or None
        The targets looked at.
    first : Table, ndarray or csr_array
        Rows of the first batch.
    """

    n_rows: int
    n_features: int
    labels: list[Any] | None
    is_text: bool
    whole: bool
    mixed: bool
    y: NDArray[Any] | None
    first: Any

    def rare_class(self, classes: list[Any] | None) -> Any:
        """Of two classes, the one that less than a fifth of the rows have; else None."""
        if self.y is None or classes is None or len(classes) != 2:
            return None
        rows, rarer = min((int(np.sum(self.y == label)), place) for place, label in enumerate(classes))
        return classes[rarer] if rows < _RARE * self.n_rows else None

    @property
    def has_whole_numbers(self) -> bool:
        return self.y is not None and not self.is_text and bool((np.round(self.y) == self.y).all())

    @property
    def task(self) -> str:
        """``"classification"``, ``"regression"`` or, without targets, ``"clustering"``."""
        if self.y is None:
            return "clustering"
        if self.is_text:
            return "classification"
        few = self.labels is not None and len(self.labels) <= max(2, min(50, self.n_rows // 10))
        return "classification" if few and self.has_whole_numbers else "regression"


def look(stream: Stream, max_bytes: int = 1 << 26, n_labels: int | None = None) -> Look:
    """Look at the first rows of a stream, up to `max_bytes` of its files.

    Parameters
    ----------
    stream : Stream
    max_bytes : int
    n_labels : int, optional
        Go on behind `max_bytes` until so many distinct targets were found.

    Returns
    -------
    Look
    """
    n_rows = n_features = 0
    targets: list[NDArray[Any]] = []
    labels: set[Any] | None = set()
    whole = True
    first: Any = None
    for batch in stream.batches():
        if batch.position.n_pass > 0:
            break
        n_rows += len(batch)
        n_features = max(n_features, batch.X.shape[1])
        if batch.y is not None:
            targets.append(batch.y)
            if labels is not None:
                labels |= set(np.unique(batch.y).tolist())
                labels = labels if len(labels) <= MOST_CLASSES else None
        first = batch.X if first is None else first
        if stream.bytes_read > max_bytes and (n_labels is None or labels is None or len(labels) >= n_labels):
            whole = False
            break
    if n_rows == 0:
        raise ValueError(f"{stream.path.name}: the file has no rows.")
    y = np.concatenate(targets) if targets else None
    is_text = y is not None and y.dtype == object
    mixed = True
    if y is not None and labels is not None and 1 < len(labels) < max(2, n_rows // 2):
        mixed = bool(_engine.are_mixed(np.unique(y, return_inverse=True)[1].astype(np.float64)))
    found = None if y is None or labels is None else [plain(label) for label in sorted(labels)]
    return Look(n_rows, n_features, found, is_text, whole, mixed, y, first)
