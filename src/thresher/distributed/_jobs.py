"""Tasks on a shard: scan it, fit a transformer, learn in a pass, add up answers to a question, predict."""

from __future__ import annotations

import zlib
from copy import deepcopy
from dataclasses import field, replace
from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._dataclasses import dataclass
from .._engine import Question, Sums, join
from .._estimators import of_rows_seen_before, plain_transform, task_of
from .._gate import Table, sparse
from ..training import MOST_CLASSES, Facts, learner_of
from ._engines import ShardTask
from ._shards import FileShard, Shard, rows_at


@dataclass
class ShardSummary(Facts):
    """Counts, labels and some rows of a shard."""

    name: str = ""
    labels: NDArray[Any] | None = None
    counts: NDArray[np.int64] | None = None
    sample: list[tuple[Any, Any]] = field(default_factory=list)
    tasks: NDArray[Any] | None = None
    kind: str = ""
    """Dense, sparse or table."""


@dataclass(frozen=True)
class ScanShard(ShardTask):
    """Counts and labels of a shard, and some of its rows.

    With `whole` False, its first rows are enough.
    """

    n_sample: int
    classes: bool
    whole: bool = True
    pipeline: Any = None

    def work(self, shard: Shard) -> ShardSummary:
        seen = ShardSummary(name=shard.name)
        drops = isinstance(shard, FileShard) and shard.labelled_only
        rows: Shard = shard
        if isinstance(shard, FileShard) and self.whole:
            rows = replace(shard, labelled_only=False)  # rows without a target are counted
        for batch in islice(rows.batches(), None if self.whole else 1):
            seen.add(batch.X, batch.y if drops else None, classes=False)
            X, y, _ = batch.labelled() if drops else batch
            if X.shape[0]:
                self._add_batch(seen, X, y)
        return seen

    def _add_batch(self, seen: ShardSummary, X: Any, y: Any) -> None:
        seen.kind = "sparse" if sparse.issparse(X) else "table" if isinstance(X, Table) else "dense"
        if self.classes:
            self._add_labels(seen, y)
        if getattr(self.pipeline, "task_column", None) is not None:
            tasks = self.pipeline._split_tasks(X)[1]["tasks"]
            seen.tasks = np.unique(tasks if seen.tasks is None else np.concatenate([seen.tasks, tasks]))
        self._add_rows(seen, X, y)

    def _add_labels(self, seen: ShardSummary, y: Any) -> None:
        if y is None:
            raise ValueError("training needs a target.")
        try:
            seen.labels, seen.counts = join_labels((seen.labels, seen.counts), np.unique(y, return_counts=True))
        except TypeError:
            raise ValueError("targets must be all numbers, or all text, and none may be missing.") from None
        if len(seen.labels) > MOST_CLASSES:
            raise ValueError(f"more than {MOST_CLASSES} different targets, too many for classification.")

    def _add_rows(self, seen: ShardSummary, X: Any, y: Any) -> None:
        """Sample an even share of every batch, and drop every second row when there are too many."""
        step = max(1, -(-X.shape[0] // self.n_sample))
        some = np.arange(0, X.shape[0], step)
        seen.sample.append((rows_at(X, some), None if y is None else y[some]))
        while len(seen.sample) > 1 and sum(part.shape[0] for part, _ in seen.sample) > 2 * self.n_sample:
            seen.sample = [
                (rows_at(part, half), None if its is None else its[half])
                for part, its in seen.sample
                if len(half := np.arange(0, part.shape[0], 2))
            ]
            if all(part.shape[0] <= 1 for part, _ in seen.sample):
                seen.sample = seen.sample[::2]


def join_labels(a: Any, b: Any) -> Any:
    """Distinct labels with their counts, of two."""
    if a[0] is None:
        return b
    if _are_words(a[0]) != _are_words(b[0]):
        raise ValueError("targets must be all numbers, or all text.")
    labels, places = np.unique(np.concatenate([a[0], b[0]]), return_inverse=True)
    counts = np.bincount(places, np.concatenate([a[1], b[1]]), len(labels)).astype(np.int64)
    return labels, counts


def _are_words(labels: NDArray[Any]) -> bool:
    return labels.dtype.kind == "U" or (labels.dtype.kind == "O" and any(isinstance(each, str) for each in labels))


@dataclass(frozen=True)
class FitTransformer(ShardTask):
    """One transformer of a pipeline, fitted to a shard; those before it are fitted to all rows already.

    It begins as `begun`, if there is one. With `whole` False, the first rows of a shard are enough.
    """

    pipeline: Any
    step: int
    begun: Any = None
    whole: bool = True

    def work(self, shard: Shard) -> Any:
        transformer = deepcopy(self.pipeline[self.step] if self.begun is None else self.begun)
        for X, y, _ in islice(shard.batches(), None if self.whole else 1):
            Z, _ = self.pipeline._split_tasks(X)
            for _, before in self.pipeline.steps[: self.step]:
                Z = plain_transform(before, Z)
            transformer.partial_fit(Z, y)
        return transformer


@dataclass(frozen=True)
class LearnPass(ShardTask):
    """One pass of a model over a shard; returns the learner."""

    model: Any
    classes: Any
    shuffle: int
    seed: tuple[int, int]
    """Of the run, and the round."""
    again: bool = False
    """Whether the model has learned from these rows before."""

    def work(self, shard: Shard) -> Any:
        model = deepcopy(self.model)
        seed = np.random.SeedSequence([*self.seed, zlib.crc32(shard.name.encode())]).generate_state(1)
        with of_rows_seen_before(learner_of(model), self.again):
            for X, y, weight in shard.batches(self.shuffle, int(seed[0])):
                learn_more(model, X, y, weight, self.classes)
        return learner_of(model)


def learn_more(model: Any, X: Any, y: Any, weight: Any, classes: Any) -> None:
    """Let the learner of a model learn from rows; its transformers stay as they are."""
    if hasattr(model, "steps"):
        model._learn(X, y, classes, weight, frozen=True)
        return
    options: dict[str, Any] = {"sample_weight": weight}
    if task_of(model) == "classification":
        options["classes"] = classes
    if sparse.issparse(X):
        options["grow"] = True
    model.partial_fit(X, y, **options)


@dataclass(frozen=True)
class AddUp(ShardTask):
    """The answer of a shard to a question, as numbers that add up; None if it has no rows."""

    question: Question
    pipeline: Any = None

    def work(self, shard: Shard) -> Sums | None:
        total: Sums | None = None
        for X, y, weight in shard.batches():
            Z = X if self.pipeline is None else plain_transform(self.pipeline, X)
            total = join(self.question, total, self.question.answer(Z, y, weight))
        return total


@dataclass(frozen=True)
class PredictShard(ShardTask):
    """Predictions of a model for the rows of a shard, batch by batch."""

    model: Any
    method: str

    def work(self, shard: Shard) -> Any:
        return [getattr(self.model, self.method)(X) for X, _, _ in shard.batches()]
