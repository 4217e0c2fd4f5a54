"""From a stream to a trained model, batch by batch."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import is_classifier, is_clusterer

from ..persistence import load_model
from ..streams import Batch, Stream
from ._look import MOST_CLASSES, Facts, look
from ._measured import Measured
from ._predictions import alike, answerable, is_fitted, learner_of, said, with_label
from ._records import Collector, HeldOut, History
from ._row_sample import Sampler
from ._run_state import Progress, fingerprint


@dataclass
class Run:
    """What :func:`train` returns.

    Attributes
    ----------
    model : estimator or StreamingPipeline
        The trained model; ``model.record_`` tells what it was trained on, and is saved with it.
    history : History
        Progressive measures along the stream.
    facts : Facts
        Rows, features, values and classes of the training data.
    held_out : HeldOut or None
        Predictions of each row before it was learned, if they were asked for.
    sample : (X, y) or None
        Some rows as the model takes them.
    n_skipped : int
        Malformed lines passed over.
    """

    model: Any
    history: History
    facts: Facts
    held_out: HeldOut | None
    sample: tuple[Any, Any] | None
    n_skipped: int


class Interrupted(KeyboardInterrupt):
    """Training was asked to stop, and did so between two batches; the checkpoint is written."""


def train(
    model: Any,
    stream: Stream,
    *,
    classes: Any = None,
    checkpoint: str | Path | None = None,
    checkpoint_seconds: float = 30.0,
    resume: bool = False,
    predict_first: bool = False,
    positive: Any = None,
    record: dict[str, Any] | None = None,
    on_batch: Callable[[History, Stream], None] | None = None,
    should_stop: Callable[[], bool] | None = None,
) -> Run:
    """Learn from all batches of a stream.

    A checkpoint is a model file with the place in the stream, replaced as a whole every `checkpoint_seconds`. A run
    that was killed at any moment and is started again with ``resume=True`` (same files, same parameters) ends in the
    bit-identical model of a run that was never stopped.

    Parameters
    ----------
    model : estimator or StreamingPipeline
        With ``partial_fit``. It is changed, unless a checkpoint takes its place; use the one that is returned.
    stream : Stream
        From :func:`thresher.streams.open_stream`.
    classes : array-like, optional
        All classes, for a classifier. By default a look through the files finds them.
    checkpoint : path-like, optional
        Where to keep the checkpoint. It is removed at the end.
    checkpoint_seconds : float
        Time between two checkpoints.
    resume : bool
        Go on from the checkpoint, if there is one.
    predict_first : bool
        Keep what the model says of every row before it learns from it, for a report.
    positive : label, optional
        One of two classes, best a rare one: its F1, AUROC and average precision so far go into the history. Each batch
        of the first pass is scored before it is learned, which takes a call of ``decision_function``.
    record : dict, optional
        Plain values to keep in ``model.record_``.
    on_batch : callable, optional
        Called with the history and the stream after each batch, for progress.
    should_stop : callable, optional
        Asked after each batch; if it says True, the checkpoint is written and :class:`Interrupted` raised.

    Returns
    -------
    Run

    Examples
    --------
    >>> import tempfile, pathlib
    >>> from thresher.online import AROWClassifier
    >>> from thresher.streams import open_stream
    >>> from thresher.training import train
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "data.svm")
    ...     _ = path.write_text("1 1:1\\n-1 2:1\\n" * 50)
    ...     run = train(AROWClassifier(), open_stream(path, batch_size=10))
    >>> run.facts.n_rows, run.model.n_mistakes_
    (100, 2)
    """
    if not hasattr(model, "partial_fit"):
        raise ValueError(
            f"train: {type(learner_of(model)).__name__} has no partial_fit; use fit with all rows in memory."
        )
    if classes is None and is_classifier(model):
        seen = look(stream)
        classes = seen.labels
        if classes is None:
            raise ValueError(
                f"{stream.path.name}: more than {MOST_CLASSES} distinct targets; this is no classification."
            )
        if len(classes) < 2:
            raise ValueError(f"{stream.path.name}: all rows have the same class, {classes[0]!r}; two are needed.")
    measured = None if positive is None else Measured(positive, classes if classes is not None else ())
    state = Progress(dict(record or {}), fingerprint(model, stream, classes), measured)
    path = None if checkpoint is None else Path(checkpoint)
    if resume and path is not None and path.exists():
        model = state.take_up(load_model(path), stream, path.name)
    before = Collector("") if predict_first and not is_clusterer(model) else None
    begin = state.facts.n_rows
    sampler = Sampler()
    last_saved = time.monotonic()
    for batch in stream.batches(state.position):
        if batch.y is None and not is_clusterer(model):
            raise ValueError(f"{batch.path.name}: training needs a target column.")
        asks = (before is not None or measured is not None) and batch.position.n_pass == 0
        if asks and batch.y is not None and is_fitted(model):
            _ask(model, batch.X, batch.y, before, measured)
        _learn(model, batch, classes)
        state.note(model, batch)
        if batch.position.n_pass == 0:
            sampler.add(batch)
        if on_batch is not None:
            on_batch(state.history, stream)
        stop = should_stop is not None and should_stop()
        if path is not None and (stop or time.monotonic() - last_saved >= checkpoint_seconds):
            state.save(model, path, stream.n_skipped)
            last_saved = time.monotonic()
        if stop:
            raise Interrupted
    if not is_fitted(model):
        raise ValueError(f"{stream.path.name}: the file has no rows.")
    state.close(model)
    model.record_ = state.record | {
        "fingerprint": state.fingerprint,
        "data": vars(state.facts),
        "history": state.history.to_dict(),
    }
    held_out = None if before is None else before.held_out()
    if held_out is not None:
        left_out = state.facts.n_rows - held_out.n_rows
        these = (
            f"all rows but the first {left_out:,}" if not begin else f"the last {held_out.n_rows:,} rows, read since"
        )
        if getattr(model, "task_column", None) is not None and not begin:
            these = f"all rows but {left_out:,}, the first ones and those of tasks that were new"
        held_out.name = f"{these}{' the run was resumed' if begin else ''}; each was predicted before it was learned"
    return Run(model, state.history, state.facts, held_out, sampler.rows(), state.n_skipped + stream.n_skipped)


def _ask(model: Any, X: Any, y: NDArray[Any], before: Collector | None, measured: Measured | None) -> None:
    """Note what the model says of rows that it has not learned from yet."""
    X, y = answerable(model, X, y)
    if not len(y):
        return
    predicted, scores = said(model, X)
    if before is not None:
        before.add(y, predicted, scores)
    if measured is not None:
        measured.add(model.classes_, y, scores)


def _learn(model: Any, batch: Batch, classes: Any) -> None:
    options: dict[str, Any] = {"classes": classes} if is_classifier(model) else {}
    if sparse.issparse(batch.X) and not hasattr(model, "steps"):
        options["grow"] = True
    try:
        model.partial_fit(batch.X, batch.y, **options)
    except ValueError as refusal:
        lines = f"{batch.path.name}, in the rows from line {batch.first_line} on"
        raise ValueError(f"{lines}: {refusal}") from None


def evaluate(
    model: Any, stream: Stream, on_batch: Callable[[Stream], None] | None = None
) -> tuple[HeldOut, tuple[Any, Any]]:
    """What a model says of rows with known targets, and a sample of the rows.

    Parameters
    ----------
    model : estimator or StreamingPipeline
    stream : Stream
    on_batch : callable, optional
        Called with the stream after each batch.

    Returns
    -------
    HeldOut, (X, y)
    """
    collector, sampler = Collector(", ".join(path.name for path in stream.paths[:3])), Sampler()
    for batch in stream.batches():
        if batch.y is None:
            raise ValueError(f"{batch.path.name}: measuring needs a target column.")
        X, y = with_label(model, batch.X, batch.y)
        if len(y):
            collector.add(alike(y, model), *said(model, X))
            sampler.add(replace(batch, X=X, y=y))
        if on_batch is not None:
            on_batch(stream)
    held_out, sample = collector.held_out(), sampler.rows()
    if held_out is None or sample is None:
        raise ValueError(f"{stream.path.name}: the file has no rows.")
    return held_out, sample
