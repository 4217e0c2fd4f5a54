"""From a stream to a trained model, batch by batch."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from numpy.typing import NDArray

from .._dataclasses import dataclass
from .._estimators import of_rows_seen_before, task_of
from .._gate import sparse
from ..streams import Batch, Stream
from ._hashed_names import name_hashed_columns
from ._look import Facts, look, without_targets
from ._predictions import (
    drop_unlabelled,
    is_fitted,
    learner_of,
    match_labels,
    predict_with_scores,
    predictable_rows,
    probabilities_of,
)
from ._records import Collector, HeldOut, History, RareClassMeasures, Sampler
from ._run_state import RunState, fingerprint
from ._worse_than_guess import warn_if_worse


@dataclass
class Run:
    """The result of :func:`train`.

    Attributes
    ----------
    model : estimator or StreamingPipeline
        The trained model; ``model.record_`` describes its training data, and is saved with it.
    history : History
        Progressive measures along the stream.
    facts : Facts
        Rows, features, values and classes of the training data.
    held_out : HeldOut or None
        Predictions for each row before the model learned from it, if requested.
    sample : (X, y) or None
        A sample of rows in the form that the model takes.
    n_skipped : int
        Number of malformed lines skipped.
    """

    model: Any
    history: History
    facts: Facts
    held_out: HeldOut | None
    sample: tuple[Any, Any] | None
    n_skipped: int


class Interrupted(KeyboardInterrupt):
    """Raised when training stops early on request, between two batches and after writing the checkpoint."""


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

    Rows without a target are skipped and counted in ``run.facts.n_unlabelled``.

    A checkpoint is a model file with the position in the stream, replaced atomically every `checkpoint_seconds`. If a
    run is killed at any moment and started again with ``resume=True`` (same files, same parameters), the final model is
    identical, bit for bit, to that of an uninterrupted run.

    Parameters
    ----------
    model : estimator or StreamingPipeline
        Must have ``partial_fit``. It is changed in place, unless a checkpoint replaces it; use the returned model.
    stream : Stream
        From :func:`thresher.streams.open_stream`. Rows that can be read only once (from a reader or generator) need
        `classes`.
    classes : array-like, optional
        All classes, for a classifier. By default, they are found by reading the files first.
    checkpoint : path-like, optional
        Path of the checkpoint. It is removed at the end.
    checkpoint_seconds : float
        Seconds between two checkpoints.
    resume : bool
        Continue from the checkpoint, if there is one. Not available for queries or for rows that can be read only once.
    predict_first : bool
        Keep the prediction for every row before the model learns from it, for a report.
    positive : label, optional
        One of two classes, usually the rare one: its F1, AUROC and average precision so far are added to the history.
        Each batch of the first pass is scored before the model learns from it, with an extra call of
        ``decision_function``.
    record : dict, optional
        Plain values to keep in ``model.record_``.
    on_batch : callable, optional
        Called with the history and the stream after each batch that was learned from, for progress.
    should_stop : callable, optional
        Called after each batch; if it returns True, the checkpoint is written and :class:`Interrupted` is raised.

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
    _check_stream("train", stream)
    if resume and not stream.resumes:
        raise ValueError(
            f"train: resume must be False, because {stream.path.name} may return different rows next time."
        )
    if classes is None and task_of(model) == "classification":
        classes = _find_classes(stream)
    measures = None if positive is None else RareClassMeasures(positive, classes if classes is not None else ())
    path = None if checkpoint is None else Path(checkpoint)
    state = RunState(dict(record or {}), fingerprint(model, stream, classes), measures, path, checkpoint_seconds)
    if resume:
        model = state.resume(model, stream)
    trainer = _Trainer(model, classes, state, predict_first)
    for batch in stream.batches(state.position):
        trainer.learn(batch)
        if on_batch is not None and is_fitted(model):
            on_batch(state.history, stream)
        stop = should_stop is not None and should_stop()
        state.save_if_due(model, stream.n_skipped, at_once=stop)
        if stop:
            raise Interrupted
    if not is_fitted(model):
        if state.facts.n_rows:
            raise without_targets(stream.path.name, stream.layout().get("target"))
        raise ValueError(f"{stream.path.name}: the file has no rows.")
    run = trainer.result(stream.n_skipped)
    name_hashed_columns(run.model, stream)
    return run


def _check_stream(who: str, stream: Any) -> None:
    if not isinstance(stream, Stream):
        raise TypeError(f"{who}: stream must come from thresher.streams.open_stream, got {type(stream).__name__}.")


def _find_classes(stream: Stream) -> list[Any]:
    if not stream.repeats:
        raise ValueError(f"train: classes must be given, because the rows of {stream.path.name} can be read only once.")
    seen = look(stream)
    if seen.y is None:
        raise ValueError(f"{stream.path.name}: training needs a target column.")
    return seen.check_classes(stream.path.name, stream.layout().get("target"))


class _Trainer:
    """One run: a model that learns from batches, and all that is collected on the way."""

    def __init__(self, model: Any, classes: Any, state: RunState, predict_first: bool) -> None:
        self.model, self.state = model, state
        self._task = task_of(model)
        self._options = {"classes": classes} if self._task == "classification" else {}
        self._held_out = Collector("") if predict_first and self._task != "clustering" else None
        self._begin = state.facts.n_rows
        self._sampler = Sampler()

    def learn(self, batch: Batch) -> None:
        """Predict a batch, if that is wanted, and learn from it."""
        if batch.y is None and self._task != "clustering":
            raise ValueError(f"{batch.path.name}: training needs a target column.")
        batch = batch.present()
        if not len(batch):
            self.state.position = batch.position
            return
        labelled = batch if self._task == "clustering" else batch.labelled()
        if len(labelled):
            self._learn(labelled)
        self.state.note(self.model, batch)

    def _learn(self, batch: Batch) -> None:
        first_pass = batch.position.n_pass == 0
        if first_pass and batch.y is not None and is_fitted(self.model):
            self._predict(batch.X, batch.y)
        grow = {"grow": True} if sparse.issparse(batch.X) and not hasattr(self.model, "steps") else {}
        weight = {} if batch.weight is None else {"sample_weight": batch.weight}
        try:
            with of_rows_seen_before(learner_of(self.model), not first_pass):
                self.model.partial_fit(batch.X, batch.y, **self._options, **grow, **weight)
        except ValueError as refusal:
            lines = f"{batch.path.name}, in the rows from line {batch.first_line} on"
            raise ValueError(f"{lines}: {refusal}") from None
        if first_pass:
            self._sampler.add(batch.X, batch.y)

    def _predict(self, X: Any, y: NDArray[Any]) -> None:
        if self._held_out is None and self.state.measures is None:
            return
        X, y = predictable_rows(self.model, X, y)
        if not len(y):
            return
        predicted, scores = predict_with_scores(self.model, X)
        if self._held_out is not None:
            self._held_out.add_predictions(y, predicted, scores, probabilities_of(self.model, X))
        if self.state.measures is not None:
            self.state.measures.add(self.model.classes_, y, scores)

    def result(self, n_skipped: int) -> Run:
        """The run at its end; the model has its record."""
        model, state = self.model, self.state
        state.close(model)
        model.record_ = state.record | {
            "fingerprint": state.fingerprint,
            "data": vars(state.facts),
            "history": state.history.to_dict(),
        }
        held_out = None if self._held_out is None else self._held_out.held_out()
        if held_out is not None:
            held_out.name = self._name(held_out)
            warn_if_worse(held_out, model)
        return Run(model, state.history, state.facts, held_out, self._sampler.rows(), state.n_skipped + n_skipped)

    def _name(self, held_out: HeldOut) -> str:
        """The rows that were predicted, in words."""
        left_out = self.state.facts.n_labelled - held_out.n_rows
        if self._begin:
            these = f"the last {held_out.n_rows:,} rows, read since the run was resumed"
        elif getattr(self.model, "task_column", None) is not None:
            these = f"all rows but {left_out:,}, the first ones and those of tasks that were new"
        else:
            these = f"all rows but the first {left_out:,}"
        return f"{these}; each was predicted before it was learned"


def evaluate(
    model: Any, stream: Stream, on_batch: Callable[[Stream], None] | None = None
) -> tuple[HeldOut, tuple[Any, Any]]:
    """Predict rows with known targets; rows without one are left out.

    Parameters
    ----------
    model : estimator or StreamingPipeline
    stream : Stream
    on_batch : callable, optional
        Called with the stream after each batch.

    Returns
    -------
    HeldOut, (X, y)
        The predictions, and a sample of the rows.
    """
    _check_stream("evaluate", stream)
    collector, sampler = Collector(", ".join(path.name for path in stream.paths[:3])), Sampler()
    n_rows = 0
    for batch in map(Batch.present, stream.batches()):
        n_rows += len(batch)
        if batch.y is None:
            raise ValueError(f"{batch.path.name}: measuring needs a target column.")
        X, y = drop_unlabelled(model, batch.X, batch.y)
        if len(y):
            predicted, scores = predict_with_scores(model, X)
            collector.add_predictions(match_labels(y, model), predicted, scores, probabilities_of(model, X))
            sampler.add(X, y)
        if on_batch is not None:
            on_batch(stream)
    held_out, sample = collector.held_out(), sampler.rows()
    if held_out is None or sample is None:
        raise ValueError(f"{stream.path.name}: {'no row has a target' if n_rows else 'the file has no rows'}.")
    warn_if_worse(held_out, model)
    return held_out, sample
