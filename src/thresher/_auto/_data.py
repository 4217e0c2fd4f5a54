"""The data to learn from: rows in memory, or files of which an even part is in memory."""

from __future__ import annotations

import inspect
import os
from dataclasses import fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import _engine
from .._dataclasses import dataclass
from .._gate import Table, is_frame, read_target, similar_names, sparse, split_target
from ..streams import Batch, Stream, are_rows, has_target, open_stream
from ..training import Facts, LabelCounts, Look, Sampler, stack_batches, without_targets
from ._auto_options import AutoOptions

_MOST_BYTES = 200 << 20  # of rows in memory
_RARE = 0.1  # two classes are out of balance when one of them has less than this share of the rows


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
    weight: NDArray[np.float64] | None = None  # of the rows above; None if all are 1
    stream: Stream | None = None  # the files
    unlabelled: Any = None  # rows without a target, all or an even part of them
    n_joined: int = 0  # rows without a target that are used as unlabelled rows

    @property
    def classes(self) -> dict[str, int]:
        """Number of rows of each class."""
        apart = None if self.no_class is None else str(self.no_class)
        return {name: count for name, count in self.facts.classes.items() if name != apart}

    @property
    def n_no_class(self) -> int:
        """Number of rows that have none, or one that is not known."""
        return 0 if self.no_class is None else self.facts.classes.get(str(self.no_class), 0)

    def fit_options(self, rows: Any = slice(None)) -> dict[str, Any]:
        """More arguments of ``fit`` for some of the rows: their weights, if there are any."""
        return {} if self.weight is None else {"sample_weight": self.weight[rows]}

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
        """Whether one of two classes has less than 10 % of the rows. Of several, some are often rare, and weighing them
        like the others would cost too many mistakes on the frequent ones."""
        return self.n_classes == 2 and self.smallest_share < _RARE

    @property
    def smallest_share(self) -> float:
        """The share of rows of the rarest class."""
        return min(self.classes.values()) / sum(self.classes.values())

    def drop_unlabelled(self) -> None:
        """Leave out the rows without a target."""
        self.unlabelled = None

    def join_unlabelled(self, label: Any) -> None:
        """Take in the rows without a target; with a label, as rows that carry it, and else without any targets."""
        n_rows, n_missing = self.unlabelled.shape[0], self.facts.n_unlabelled
        if label is None or self.y is None:
            self.X, self.y = stack_batches([(self.X, None), (self.unlabelled, None)])
        else:
            y = self.y if self.y.dtype.kind in "OU" else self.y.astype(np.float64 if self.y.dtype.kind == "f" else int)
            marks = np.full(n_rows, label, dtype=object if y.dtype.kind in "OU" else y.dtype)
            self.X, self.y = stack_batches([(self.X, y), (self.unlabelled, marks)])
            self.facts.classes[str(label)] = self.facts.classes.get(str(label), 0) + n_missing
            self.n_joined = n_missing
        self.facts.n_unlabelled, self.unlabelled = 0, None

    def as_labels(self) -> None:
        """Take whole numbers read from a file as integers, as they were written."""
        if self.files and self.y is not None and self.y.dtype.kind == "f" and (self.y == np.round(self.y)).all():
            self.y = self.y.astype(np.int64)


def gather(X: Any, y: Any, options: AutoOptions, stream_options: dict[str, Any]) -> TrainingData:
    """Rows and facts about them, from data in any supported form."""
    known = inspect.signature(open_stream).parameters.keys() - {"path"}
    unknown = [name for name in stream_options if name not in known]
    if unknown:
        similar = similar_names(unknown[0], known | {field.name for field in fields(AutoOptions)})
        raise TypeError(f"auto: there is no parameter {unknown[0]!r}{similar}.")
    is_stream = isinstance(X, Stream)
    if is_stream or _is_source(X, y, stream_options):
        if is_stream and stream_options:
            what = next(iter(stream_options))
            raise ValueError(f"auto: {what} is for reading files; leave it out when X is a Stream.")
        if y is not None and (is_stream or not isinstance(y, str) or "target" in stream_options):
            raise ValueError("auto: y must be None when X is a file; name its column with target=.")
        named = {} if y is None else {"target": y}
        return _from_stream(X if is_stream else _opened(X, options, {**stream_options, **named}), options.max_rows)
    target = stream_options.get("target")
    others = [name for name in stream_options if name != "target"]
    if others:
        raise ValueError(f"auto: {others[0]} is for reading files; leave it out when X holds rows in memory.")
    if target is not None and y is not None:
        raise ValueError("auto: y and target= cannot both be given, because each of them names the targets.")
    return _from_rows(*_as_rows(X, y if target is None else None, target), options)


def _is_source(X: Any, y: Any, stream_options: dict[str, Any]) -> bool:
    """Whether rows are read batch by batch: from files, by a query, or from an object that is not a matrix. A data
    frame is read that way if one of its columns is named as the target."""
    if _are_files(X) or "sql" in stream_options:
        return True
    if y is not None or isinstance(X, np.ndarray | Table) or sparse.issparse(X):
        return False
    is_eager = hasattr(X, "iloc") or hasattr(X, "get_column") or hasattr(X, "column_names")  # pandas, polars, pyarrow
    return are_rows(X) and (not is_frame(X) or ("target" in stream_options and not is_eager))


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
    samplers: tuple[Sampler, Sampler] | None = None  # of the rows that have a target, and of the others
    facts, labels = Facts(), LabelCounts()
    for batch in map(Batch.present, stream.batches()):
        if batch.position.n_pass > 0:
            break
        if samplers is None:
            most = max(1, min(max_rows, _rows_that_fit(batch.X)) // 2)
            samplers = Sampler(most), Sampler(most)
        labelled = batch.labelled()
        samplers[0].add(labelled.X, labelled.y, labelled.row_weights())
        if batch.y is not None and len(labelled) < len(batch):
            samplers[1].add(batch.X[np.flatnonzero(~has_target(batch.y))])
        facts.add(batch.X, batch.y, classes=False)
        labels.add(labelled.y)
    if samplers is None or not facts.n_rows:
        raise ValueError(f"{stream.path.name}: the file has no rows.")
    if not samplers[0].n_rows:
        raise without_targets(stream.path.name, stream.layout().get("target"))
    X, y, weight = samplers[0].weighted_rows()
    others = samplers[1].rows()
    look = _look(facts, X, y, labels)
    unlabelled = None if others is None else others[0]
    whole = X.shape[0] + (0 if unlabelled is None else unlabelled.shape[0]) == facts.n_rows
    layout = stream.layout() or None
    files, rest = [path.name for path in stream.paths], None if whole else stream
    return TrainingData(
        X,
        y,
        rest,
        facts,
        look,
        files,
        layout,
        stream.n_skipped,
        weight=weight,
        stream=stream,
        unlabelled=unlabelled,
    )


def _rows_that_fit(X: Any) -> int:
    """The number of rows like these that fit into memory."""
    if isinstance(X, Table):
        n_bytes = X.numbers.nbytes + sum(t.offsets.nbytes + t.offsets[-1] - t.offsets[0] for t in X.text.values())
    else:
        n_bytes = X.data.nbytes + X.indices.nbytes + X.indptr.nbytes if sparse.issparse(X) else X.nbytes
    return int(_MOST_BYTES * X.shape[0] / max(1, int(n_bytes)))


# --- rows -------------------------------------------------------------------------------------------------------------


def _as_rows(X: Any, y: Any, target: Any) -> tuple[Any, NDArray[Any] | None, NDArray[np.bool_]]:
    """Rows in one of three forms, the targets that are there, and which rows have one."""
    if isinstance(y, str):
        y, target = None, y
    if target is not None:
        X, y = split_target(X, target, "auto")
    if is_frame(X) and not isinstance(X, Table):
        X = Table.from_frame(X)
    if not isinstance(X, Table):
        X = _numbers(X)
    if X.shape[0] == 0 or X.shape[1] == 0:
        raise ValueError(f"auto: X must have rows and columns, got shape {tuple(X.shape)}.")
    if y is None:
        return X, None, np.ones(X.shape[0], dtype=bool)
    labels, there = read_target(y, "auto")
    if len(there) != X.shape[0]:
        raise ValueError(f"auto: y must have one target per row, got {len(there)} for {X.shape[0]} rows.")
    return X, labels, there


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


def _from_rows(X: Any, y: NDArray[Any] | None, there: NDArray[np.bool_], options: AutoOptions) -> TrainingData:
    facts, labels = Facts.of(X, None), LabelCounts()
    facts.n_unlabelled = int((~there).sum())
    unlabelled = None
    if y is not None and facts.n_unlabelled:
        if not len(y):
            raise ValueError("auto: the target is missing in every row; name another column with target=.")
        X, unlabelled = X[np.flatnonzero(there)], X[_some(np.flatnonzero(~there), options)]
    labels.add(y)
    look = _look(facts, X, y, labels)
    n_rows, rest = X.shape[0], None
    if n_rows > options.max_rows:
        some = _some(np.arange(n_rows), options)
        X, y, rest = X[some], None if y is None else y[some], (X, y)
    return TrainingData(X, y, rest, facts, look, [], None, unlabelled=unlabelled)


def _some(rows: NDArray[np.intp], options: AutoOptions) -> NDArray[np.intp]:
    """As many of these rows as are tuned on, at random."""
    if len(rows) <= options.max_rows:
        return rows
    return rows[np.sort(np.random.default_rng(options.random_state).permutation(len(rows))[: options.max_rows])]


def _look(facts: Facts, X: Any, y: NDArray[Any] | None, labels: LabelCounts) -> Look:
    """The targets in the same form as those of files, so that the same rules choose the task."""
    facts.classes = labels.by_name()
    is_text = y is not None and y.dtype.kind in "OU"
    n_missing = facts.n_unlabelled
    return Look(facts.n_rows, facts.n_features, labels.distinct(), is_text, True, True, y, X, n_unlabelled=n_missing)
