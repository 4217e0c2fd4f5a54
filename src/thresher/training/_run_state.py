"""The state of a run: all that a checkpoint keeps beside the model."""

from __future__ import annotations

import time
from dataclasses import field
from pathlib import Path
from typing import Any

import numpy as np

from .._dataclasses import dataclass
from .._estimators import task_of
from ..persistence import load_model, save_model
from ..streams import Batch, Position, Stream, version_of
from ._look import Facts
from ._predictions import is_fitted, learner_of, written_label
from ._records import History, RareClassMeasures


@dataclass
class RunState:
    """The state of a run: all that a checkpoint keeps beside the model."""

    record: dict[str, Any]
    fingerprint: dict[str, Any]
    measures: RareClassMeasures | None
    path: Path | None
    seconds: float
    facts: Facts = field(default_factory=Facts)
    position: Position | None = None
    file: dict[str, Any] | None = None  # the file being read, with the counts at its begin
    n_skipped: int = 0  # before this start

    def __post_init__(self) -> None:
        self.history = History(positive=None if self.measures is None else self.measures.name)
        self._last_save = time.monotonic()

    def note(self, model: Any, batch: Batch) -> None:
        """Note a batch that was learned, as it was read: with its rows that have no target."""
        self.position, task = batch.position, task_of(model)
        if batch.position.n_pass == 0:
            self.facts.add(batch.X, None if task == "clustering" else batch.y, classes=task == "classification")
        if not is_fitted(model):  # no row so far has a target
            return
        counts = _counts(model)
        key = {"name": batch.path.name, "pass": batch.position.n_pass + 1, "number": batch.position.file}
        if self.file is None or any(self.file[k] != key[k] for k in key):
            self.file = {**key, "begin": self._end_file()}
        self.file["end"] = list(counts)
        if self.history.is_due(counts[0]):
            self.history.add(*counts, len(learner_of(model).support_))
            if batch.position.n_pass == 0:
                self._note_measures()

    def _end_file(self) -> list[Any]:
        """Add the file being read to the history; returns the counts at its end."""
        if self.file is None:
            return [0, 0, 0.0]
        within = [max(end - begin, 0) for begin, end in zip(self.file["begin"], self.file["end"], strict=True)]
        counts = dict(zip(("rows", "mistakes", "loss"), within, strict=True))
        if counts["rows"]:
            self.history.files.append({"name": self.file["name"], "pass": self.file["pass"], **counts})
        return list(self.file["end"])

    def _note_measures(self) -> None:
        if self.measures is not None:
            self.measures.note(self.history, self.facts.n_labelled)

    def close(self, model: Any) -> None:
        self._end_file()
        self.file = None
        self._note_measures()
        counts = _counts(model)
        if not self.history.rows or self.history.rows[-1] < counts[0]:
            self.history.add(*counts, len(learner_of(model).support_))

    def save_if_due(self, model: Any, n_skipped: int, at_once: bool) -> None:
        """Write a checkpoint, if one is wanted, when it is due or at once."""
        if (
            self.path is None
            or not is_fitted(model)
            or not (at_once or time.monotonic() - self._last_save >= self.seconds)
        ):
            return
        model.record_ = self.record | {
            "training": {
                "position": list(self.position or ()),
                "fingerprint": self.fingerprint,
                "history": self.history.to_dict(),
                "facts": vars(self.facts),
                "file": self.file,
                "n_skipped": self.n_skipped + n_skipped,
                **({} if self.measures is None else {"measured": self.measures.to_dict()}),
            }
        }
        save_model(model, self.path)
        self._last_save = time.monotonic()

    def resume(self, model: Any, stream: Stream) -> Any:
        """Continue from the checkpoint, if there is one; returns the model to continue with."""
        if self.path is None or not self.path.exists():
            return model
        model, where = load_model(self.path), self.path.name
        kept = getattr(model, "record_", {}).get("training")
        if not isinstance(kept, dict):
            raise ValueError(f"{where}: a model, but not a checkpoint.")
        try:
            self._restore(kept, stream, where)
        except (LookupError, TypeError, AttributeError):
            raise ValueError(f"{where}: the checkpoint is damaged.") from None
        return model

    def _restore(self, kept: dict[str, Any], stream: Stream, where: str) -> None:
        measures = kept.get("measured")
        now = {**self.fingerprint, "positive": self.history.positive}
        before = {**kept["fingerprint"], "positive": None if measures is None else measures["positive"]}
        check_same_run(before, now, where)
        self.position = stream._checked(kept["position"])
        self.history = History(**kept["history"])
        self.facts = Facts(**kept["facts"])
        self.history.is_due(self.facts.n_rows)  # raises an error now rather than later
        columns = self.history.measures.values()
        if any(not values or len(values) != len(self.history.measures["rows"]) for values in columns):
            raise LookupError("measures without rows")
        self.file = kept["file"]
        self.n_skipped = int(kept["n_skipped"])
        if self.measures is not None:
            self.measures.restore(kept["measured"])


def fingerprint(model: Any, stream: Stream, classes: Any) -> dict[str, Any]:
    """The facts that must stay for a run to be the same run, in plain values. Of files: name, size, and some blocks."""
    return {
        "model": model_signature(model),
        "files": [[path.name, version_of(path)] for path in stream.paths],
        "batch size": stream.batch_size,
        "max_iter": stream.max_iter,
        "shuffle": [stream.shuffle, stream.random_state],
        "columns": stream.layout(),
        "reading": stream.options,
        "classes": None if classes is None else [str(written_label(label)) for label in classes],
    }


def model_signature(model: Any) -> str:
    """The class and every parameter, those of steps included."""
    params = {k: v for k, v in model.get_params(deep=True).items() if not hasattr(v, "get_params") and k != "steps"}
    steps = [type(step).__name__ for _, step in getattr(model, "steps", ())]
    shown = ", ".join(f"{k}={v.tolist() if isinstance(v, np.ndarray) else v!r}" for k, v in sorted(params.items()))
    return f"{' > '.join(steps) or type(model).__name__}({shown})"


def check_same_run(before: dict[str, Any], now: dict[str, Any], where: str) -> None:
    """Refuse a checkpoint of a run whose fingerprint was another one."""
    for name, value in now.items():
        if before.get(name) != value:
            raise ValueError(f"{where}: this checkpoint was made with {name} {_difference(before.get(name), value)}.")


def _difference(before: Any, now: Any) -> str:
    """Both values, from where they begin to differ."""
    texts = str(before), str(now)
    same = next((i for i, (a, b) in enumerate(zip(*texts, strict=False)) if a != b), min(map(len, texts)))
    begin = max(0, same - 40) if same > 80 else 0
    first, second = (("..." if begin else "") + text[begin : begin + 120] for text in texts)
    return f"{first}, now it is {second}"


def _counts(model: Any) -> tuple[int, int, float]:
    """Rows, mistakes and loss so far."""
    learner = learner_of(model)
    rows = learner.n_samples_seen_
    return rows, int(getattr(learner, "n_mistakes_", 0)), float(learner.progressive_loss_ * rows)
