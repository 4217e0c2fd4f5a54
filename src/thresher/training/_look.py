"""A first look at a stream, and the facts that are counted on the way."""

from __future__ import annotations

from dataclasses import field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import _engine
from .._dataclasses import dataclass
from .._gate import sparse
from ..streams import Batch, Stream, has_target
from ._predictions import written_label
from ._records import stack_batches

MOST_CLASSES = 1000
_FEW = 20  # rows, in which all targets may differ by chance
_RARE = 0.2  # of the rows: a rarer class of two is measured by itself, because the error hides it


class CountsUnlabelled:
    """Mixin of counts of rows, of which some may have no target."""

    n_rows: int
    n_unlabelled: int

    @property
    def n_labelled(self) -> int:
        return self.n_rows - self.n_unlabelled

    def describe_unlabelled(self) -> str:
        """A sentence on the rows without a target, if there are any."""
        if not self.n_unlabelled:
            return ""
        have, were = ("has", "was") if self.n_unlabelled == 1 else ("have", "were")
        return f"{self.n_unlabelled:,} of {self.n_rows:,} rows {have} no target and {were} left out."


@dataclass
class Facts(CountsUnlabelled):
    """Numbers of rows, features, values and classes of a stream (of its first pass).

    `n_unlabelled` of the `n_rows` have no target, and were left out.
    """

    n_rows: int = 0
    n_features: int = 0
    n_values: int = 0
    classes: dict[str, int] = field(default_factory=dict)
    n_unlabelled: int = 0

    @classmethod
    def of(cls, X: Any, y: NDArray[Any] | None) -> Facts:
        """The facts of rows in memory."""
        facts = cls()
        facts.add(X, y)
        return facts

    def add(self, X: Any, y: NDArray[Any] | None, *, classes: bool = True) -> None:
        """Count some more rows, those of them that have no target and, unless `classes` is False, their classes."""
        self.n_rows += X.shape[0]
        self.n_features = max(self.n_features, X.shape[1])
        self.n_values += X.nnz if sparse.issparse(X) else int(np.prod(X.shape))
        if y is None:
            return
        there = has_target(y)
        self.n_unlabelled += len(y) - int(there.sum())
        if classes:
            for label, count in zip(*np.unique(y[there], return_counts=True), strict=True):
                self.classes[str(written_label(label))] = self.classes.get(str(written_label(label)), 0) + int(count)


class LabelCounts:
    """Counts of each target, until there are too many for classes."""

    def __init__(self) -> None:
        self._counts: dict[Any, int] = {}
        self._too_many = False

    def add(self, y: NDArray[Any] | None) -> None:
        if y is None or self._too_many:
            return
        y = y[has_target(y)]
        for label, count in zip(*np.unique(y, return_counts=True), strict=True):
            self._counts[written_label(label)] = self._counts.get(written_label(label), 0) + int(count)
        if len(self._counts) > MOST_CLASSES:
            self._too_many, self._counts = True, {}

    def has(self, n_labels: int | None) -> bool:
        """Whether at least this many different targets were counted, or too many to count."""
        return self._too_many or len(self._counts) >= (n_labels or 0)

    def distinct(self) -> list[Any] | None:
        """The targets in order; None if there are too many, or none at all."""
        return sorted(self._counts) or None

    def by_name(self) -> dict[str, int]:
        return {str(label): self._counts[label] for label in sorted(self._counts)}


@dataclass
class Look(CountsUnlabelled):
    """A summary of the first rows of a stream.

    Attributes
    ----------
    n_rows, n_features : int
        Number of rows read, and of features so far.
    labels : list or None
        The distinct targets in order, if there are at most a thousand; None if there are more, or no targets.
    is_text : bool
        Whether the targets are text.
    whole : bool
        Whether the whole stream was read (its first pass).
    mixed : bool
        Whether targets change from row to row; False for rows sorted by target.
    y : ndarray or None
        The targets read, without missing ones.
    first : Table, ndarray or csr_array
        Rows of the first batch; only those with a target, if any has one.
    rows : (X, y) or None
        All rows, if there are few and they were to be kept; targets may be missing.
    weight : ndarray or None
        The weights of `rows`; None if all are 1. Rows of weight 0 are ignored.
    n_unlabelled : int
        Number of rows read whose target is missing.
    """

    n_rows: int
    n_features: int
    labels: list[Any] | None
    is_text: bool
    whole: bool
    mixed: bool
    y: NDArray[Any] | None
    first: Any
    rows: tuple[Any, NDArray[Any] | None] | None = None
    weight: NDArray[np.float64] | None = None
    n_unlabelled: int = 0

    def rare_class(self, classes: list[Any] | None) -> Any:
        """Of two classes, the one that less than a fifth of the rows have; else None."""
        if self.y is None or classes is None or len(classes) != 2:
            return None
        rows, rarer = min((int(np.sum(self.y == label)), place) for place, label in enumerate(classes))
        return classes[rarer] if rows < _RARE * self.n_labelled else None

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
        few = self.labels is not None and len(self.labels) <= max(2, min(50, self.n_labelled // 10))
        return "classification" if few and self.has_whole_numbers else "regression"

    @property
    def hardly_repeats(self) -> bool:
        """Whether most targets of more than a few rows stand alone, as names do, and amounts taken for words."""
        n = self.n_labelled
        return self.y is not None and n > _FEW and (self.labels is None or 2 * len(self.labels) > n)

    def check_classes(self, file: str, target: Any = None) -> list[Any]:
        """Return the classes; raise an error that names `file` and `target` if the targets are not classes."""
        column = "the target" if target is None else f"the target {target!r}"
        if self.y is not None and not len(self.y):
            raise without_targets(file, target)
        if self.labels is None or self.hardly_repeats or not (self.is_text or self.has_whole_numbers):
            many = f"more than {MOST_CLASSES:,}" if self.labels is None else f"{len(self.labels):,}"
            other = "" if self.is_text else "choose a method that ends in -regressor, or "
            raise ValueError(
                f"{file}: {column} has {many} different values in {self.n_labelled:,} rows, and cannot be a class; "
                f"{other}choose another column with target= (`thresher look FILE` shows them)."
            )
        if len(self.labels) < 2:
            raise ValueError(f"{file}: all rows have the same class, {self.labels[0]!r}; two are needed.")
        return self.labels


def look(stream: Stream, max_bytes: int = 1 << 26, n_labels: int | None = None, *, keep_rows: int = 0) -> Look:
    """Read the first rows of a stream, up to `max_bytes` of its files.

    Parameters
    ----------
    stream : Stream
    max_bytes : int
    n_labels : int, optional
        Continue beyond `max_bytes` until this many distinct targets are found.
    keep_rows : int
        Keep the rows in memory if the whole stream was read and has at most this many.

    Returns
    -------
    Look
    """
    first, facts, labels, whole = None, Facts(), LabelCounts(), True
    targets: list[NDArray[Any]] = []
    kept: list[tuple[Any, NDArray[Any] | None]] = []
    weights: list[NDArray[np.float64]] = []
    for batch in map(Batch.present, stream.batches()):
        if batch.position.n_pass > 0:
            break
        labelled = batch.labelled()
        if first is None or not first.shape[0] or (not facts.n_labelled and len(labelled)):
            first = labelled.X if len(labelled) else batch.X
        facts.add(batch.X, batch.y, classes=False)
        labels.add(labelled.y)
        kept = [*kept, (batch.X, batch.y)] if facts.n_rows <= keep_rows else []
        weights.append(batch.row_weights())
        targets += [] if labelled.y is None else [labelled.y]
        if stream.bytes_read > max_bytes and labels.has(n_labels):
            whole = False
            break
    if first is None or facts.n_rows == 0:
        raise ValueError(f"{stream.path.name}: the file has no rows.")
    weight = np.concatenate(weights)
    y, distinct = np.concatenate(targets) if targets else None, labels.distinct()
    return Look(
        n_rows=facts.n_rows,
        n_features=facts.n_features,
        labels=distinct,
        is_text=y is not None and y.dtype == object,
        whole=whole,
        mixed=y is None or distinct is None or _are_mixed(y, len(distinct)),
        y=y,
        first=first,
        rows=stack_batches(kept) if kept and whole else None,
        weight=None if (weight == 1).all() else weight,
        n_unlabelled=facts.n_unlabelled,
    )


def without_targets(file: str, target: Any = None) -> ValueError:
    """The refusal of rows of which none has a target."""
    column = "the target" if target is None else f"the target {target!r}"
    return ValueError(f"{file}: {column} is missing in every row; choose another column with target=.")


def _are_mixed(y: NDArray[Any], n_labels: int) -> bool:
    if not 1 < n_labels < max(2, len(y) // 2):
        return True
    return bool(_engine.are_mixed(np.unique(y, return_inverse=True)[1].astype(np.float64)))
