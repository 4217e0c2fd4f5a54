"""Where a run stands: all that a checkpoint keeps beside the model."""

from __future__ import annotations

import zlib
from pathlib import Path
from typing import Any

from sklearn.base import is_classifier

from .._records import History
from ..persistence import save_model
from ..streams import Batch, Position, Stream
from ._look import Facts
from ._model import counts, n_used, plain


class Progress:
    """Where a run stands: all that a checkpoint keeps beside the model."""

    def __init__(self, record: dict[str, Any], fingerprint: dict[str, Any]) -> None:
        self.record = record
        self.fingerprint = fingerprint
        self.history = History()
        self.facts = Facts()
        self.position: Position | None = None
        self.file: dict[str, Any] | None = None  # the file being read, with the counts at its begin

    def note(self, model: Any, batch: Batch) -> None:
        self.position = batch.position
        if batch.position.n_pass == 0:
            self.facts.add(batch, is_classifier(model))
        rows, mistakes, loss = counts(model)
        key = {"name": batch.path.name, "pass": batch.position.n_pass + 1, "number": batch.position.file}
        if self.file is None or any(self.file[k] != key[k] for k in key):
            if self.file is not None:
                self.history.files.append(_within(self.file))
            begin = self.file["end"] if self.file is not None else [0, 0, 0.0]
            self.file = {**key, "begin": begin}
        self.file["end"] = [rows, mistakes, loss]
        if self.history.is_due(rows):
            self.history.add(rows, mistakes, loss, n_used(model))

    def close(self, model: Any) -> None:
        if self.file is not None:
            self.history.files.append(_within(self.file))
            self.file = None
        rows, mistakes, loss = counts(model)
        if not self.history.rows or self.history.rows[-1] < rows:
            self.history.add(rows, mistakes, loss, n_used(model))

    def save(self, model: Any, path: Path) -> None:
        model.record_ = self.record | {
            "training": {
                "position": list(self.position or ()),
                "fingerprint": self.fingerprint,
                "history": self.history.to_dict(),
                "facts": vars(self.facts),
                "file": self.file,
            }
        }
        save_model(model, path)

    def take_up(self, model: Any, stream: Stream, where: str) -> Any:
        """Go on where the checkpoint stands; returns its model."""
        kept = getattr(model, "record_", {}).get("training")
        if not isinstance(kept, dict):
            raise ValueError(f"{where}: a model, but no checkpoint.")
        for key, value in self.fingerprint.items():
            before = kept["fingerprint"].get(key)
            if before != value:
                raise ValueError(
                    f"{where}: this checkpoint was made with {key} {_short(before)}, now it is {_short(value)}."
                )
        self.position = stream._checked(kept["position"])
        self.history = History(**kept["history"])
        self.facts = Facts(**kept["facts"])
        self.file = kept["file"]
        return model


def fingerprint(model: Any, stream: Stream, classes: Any) -> dict[str, Any]:
    """What must be the same for a run to be the same run, in plain values."""
    return {
        "model": _spelled(model),
        "files": [[path.name, _digest(path)] for path in stream.paths],
        "batch size": stream.batch_size,
        "passes": stream.n_passes,
        "shuffle": [stream.shuffle, stream.random_state],
        "classes": None if classes is None else [str(plain(label)) for label in classes],
    }


def _spelled(model: Any) -> str:
    """The class and every parameter, those of steps included."""
    params = {k: v for k, v in model.get_params(deep=True).items() if not hasattr(v, "get_params") and k != "steps"}
    steps = [type(step).__name__ for _, step in getattr(model, "steps", ())]
    shown = ", ".join(f"{k}={v!r}" for k, v in sorted(params.items()))
    return f"{' > '.join(steps) or type(model).__name__}({shown})"


def _digest(path: Path) -> list[int]:
    if path.is_dir():
        return [0, 0]
    with path.open("rb") as file:
        return [path.stat().st_size, zlib.crc32(file.read(1 << 16))]


def _short(value: Any) -> str:
    text = str(value)
    return text if len(text) <= 120 else text[:117] + "..."


def _within(file: dict[str, Any]) -> dict[str, Any]:
    rows, mistakes, loss = (end - begin for begin, end in zip(file["begin"], file["end"], strict=True))
    return {"name": file["name"], "pass": file["pass"], "rows": rows, "mistakes": mistakes, "loss": loss}
