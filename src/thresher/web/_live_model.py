"""A model that learns from entries of a journal: the same entries make the same model, bit for bit."""

from __future__ import annotations

import hashlib
from collections import OrderedDict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from .._estimators import task_of
from .._gate import balanced
from .._output import write_whole
from ..persistence import load_model, model_bytes
from ..training import learner_of, predict_with_scores
from ._journal import Journal
from ._live_measures import LiveMeasures
from ._row_form import RowForm

_AT_ONCE = 64  # rows that are learned before others get their turn; another number makes another model
MOST_WAITING = 100_000  # predictions that may wait for their labels
MOST_IDS = 100_000  # learned rows whose ids are remembered


class LiveModel:
    """A model, all that it has learned since the service was first started, and its place in the journal.

    An entry is ``["predict", rows]``, with an id, a row and the answer for each, or ``["learn", rows]``, with an id (or
    None), a row, a label and the answer that was given to the row earlier (or None) for each.

    Attributes
    ----------
    model : estimator or StreamingPipeline
    n_applied : int
        Entries that were applied.
    n_steps : int
        How often the model has changed since the start.
    waiting : dict
        For the id of a prediction, its row and its answer; the oldest first.
    learned : dict
        Ids of rows that were learned; the oldest first.
    """

    def __init__(self, path: Path, folder: Path | None = None, options: dict[str, Any] | None = None) -> None:
        self._path, self._checkpoint = path, None if folder is None else folder / "checkpoint.thresher"
        self._digest = hashlib.sha256(path.read_bytes()).hexdigest()
        kept = self._checkpoint if self._checkpoint is not None and self._checkpoint.exists() else None
        self.model = load_model(kept or path)
        self._record = {k: v for k, v in (getattr(self.model, "record_", None) or {}).items() if k != "service"}
        self.form = RowForm(self.model, options)
        self.n_applied = self.n_learned = self.n_refused = self.n_steps = 0
        self.last_refusal: str | None = None
        self.waiting: OrderedDict[str, list[Any]] = OrderedDict()
        self.learned: OrderedDict[str, None] = OrderedDict()
        self.measures = LiveMeasures(task_of(self.model) == "classification")
        if folder is not None:
            _check_learns(self.model)
            _keep_class_weights(learner_of(self.model), self._record)
            if kept is None:
                self.save(self.checkpoint())
            else:
                self._restore()

    # --- learning -----------------------------------------------------------------------------------------------------

    def replay(self, journal: Journal) -> int:
        """Apply the entries that the checkpoint does not know; returns how many there were."""
        before = self.n_applied
        for entry in journal.read(self.n_applied):
            for _ in self.apply(entry):
                pass
        return self.n_applied - before

    def apply(self, entry: Any) -> Iterator[None]:
        """Apply an entry, step by step: between two steps the model can be used. The entry counts at the end."""
        kind, rows = entry
        if kind == "predict":
            for name, row, answer in rows:
                self.waiting[name] = [row, answer]
            _forget_first(self.waiting, MOST_WAITING)
        else:
            for begin in range(0, len(rows), _AT_ONCE):
                yield from self._learn(rows[begin : begin + _AT_ONCE])
            for name, *_ in rows:
                if name is not None:
                    self.waiting.pop(name, None)
                    self.learned[name] = None
            _forget_first(self.learned, MOST_IDS)
        self.n_applied += 1

    def _learn(self, rows: list[Any]) -> Iterator[None]:
        """Learn some rows in two steps, predicting them and learning them, so that others wait for one at a time."""
        _, values, labels, given = zip(*rows, strict=True)
        y, answers = self.form.targets(labels), list(given)
        grow = {"grow": True} if self.form.is_sparse else {}
        try:
            X = self.form.matrix(values)
            if None in given:  # answers that were sent are not computed again
                answers = predict_with_scores(self.model, X)[0].tolist()
                yield
            self.n_steps += 1
            self.model.partial_fit(self.form.matrix(values, grow=True) if grow else X, y, **grow)
        except MemoryError:  # it may succeed next time
            raise
        except Exception as refusal:  # it is refused again when the journal is replayed
            self.n_refused += len(rows)
            self.last_refusal = str(refusal)
        else:
            self.n_learned += len(rows)
            for label, answer, earlier in zip(y.tolist(), answers, given, strict=True):
                self.measures.add(label, answer if earlier is None else earlier)
        yield

    # --- checkpoints --------------------------------------------------------------------------------------------------

    def checkpoint(self) -> bytes:
        """The model, and what the service knows, after the entries that were applied."""
        kept = {
            "begun_from": self._digest,
            "n_applied": self.n_applied,
            "n_learned": self.n_learned,
            "n_refused": self.n_refused,
            "last_refusal": self.last_refusal,
            "waiting": [[name, *value] for name, value in self.waiting.items()],
            "learned": list(self.learned),
            "measures": self.measures.to_dict(),
        }
        self.model.record_ = {**self._record, "service": kept}
        return model_bytes(self.model)

    def save(self, content: bytes) -> None:
        """Put a checkpoint in the place of the last one."""
        assert self._checkpoint is not None
        write_whole(self._checkpoint, content)

    def _restore(self) -> None:
        where, kept = str(self._checkpoint), (getattr(self.model, "record_", None) or {}).get("service")
        if not isinstance(kept, dict):
            raise ValueError(f"{where}: a model, but not a checkpoint of a service.")
        if kept.get("begun_from") != self._digest:
            raise ValueError(
                f"{where}: this folder belongs to another model than {self._path.name}; name that model, or another "
                "folder."
            )
        try:
            self.n_applied, self.n_learned = int(kept["n_applied"]), int(kept["n_learned"])
            self.n_refused, self.last_refusal = int(kept["n_refused"]), kept["last_refusal"]
            self.waiting = OrderedDict((str(name), [row, answer]) for name, row, answer in kept["waiting"])
            self.learned = OrderedDict.fromkeys(map(str, kept["learned"]))
            self.measures.restore(kept["measures"])
        except (LookupError, TypeError, ValueError, AttributeError):
            raise ValueError(f"{where}: the checkpoint is damaged.") from None


def _check_learns(model: Any) -> None:
    learner = learner_of(model)
    who = type(learner).__name__
    if not hasattr(model, "partial_fit"):
        raise ValueError(f"--learn needs a model that learns row by row, which {who} does not.")
    if task_of(model) not in ("classification", "regression") or getattr(model, "task_column", None) is not None:
        raise ValueError(f"--learn needs a classifier or a regressor of one task, which {who} is not.")
    if getattr(model, "classes_", np.array([])).dtype.kind == "S":
        raise ValueError("--learn needs classes that are text or numbers, but these are bytes.")


def _keep_class_weights(learner: Any, record: dict[str, Any]) -> None:
    """Let a model whose classes were balanced weigh them as before, because new rows come few at a time."""
    if getattr(learner, "class_weight", None) != "balanced":
        return
    counts = record.get("data", {}).get("classes") or {}
    if any(str(label) not in counts for label in learner.classes_.tolist()):
        raise ValueError(
            '--learn needs numbers in place of class_weight="balanced", because the model file does not hold the '
            "frequencies of the classes; train with class_weight={label: weight, ...}."
        )
    weights = balanced(np.array([counts[str(label)] for label in learner.classes_.tolist()]))
    learner.set_params(class_weight=dict(zip(learner.classes_.tolist(), weights.tolist(), strict=True)))


def _forget_first(kept: OrderedDict[str, Any], most: int) -> None:
    while len(kept) > most:
        kept.popitem(last=False)
