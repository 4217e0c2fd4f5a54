"""State of a run on disk: the model after the last round, and the totals of the round under way."""

from __future__ import annotations

import glob
import json
import os
from pathlib import Path
from typing import Any

import numpy as np
import safetensors
import safetensors.numpy

from .._engine import Sums
from .._output import write_whole
from ..persistence import load_model, save_model
from ..training import check_same_run


class Checkpoint:
    """A model file that is replaced after every round, and beside it one file for each total of the round under way.

    Nothing is kept without a path. The fingerprint tells runs apart, in values of JSON.
    """

    def __init__(self, path: Path | None, fingerprint: dict[str, Any]) -> None:
        self.path = path
        self.fingerprint = json.loads(json.dumps(fingerprint))  # as it is when read from a file
        if path is not None:
            _check_place(path)

    def load(self) -> tuple[Any, dict[str, Any]] | None:
        """The model and the record of a run like this one; None if there is nothing."""
        if self.path is None or not self.path.exists():
            return None
        model = load_model(self.path)
        kept = (getattr(model, "record_", None) or {}).get("distributed")
        if not isinstance(kept, dict) or not isinstance(kept.get("fingerprint"), dict):
            raise ValueError(f"{self.path.name}: this is not a checkpoint of rounds over shards.")
        check_same_run(kept["fingerprint"], self.fingerprint, self.path.name)
        return model, kept

    def save(self, model: Any, record: dict[str, Any], beside: Sums | None = None) -> None:
        """Keep the model after a round, and numbers beside it; the totals of that round are not needed any more."""
        if self.path is None:
            return
        n_done = len(record["rounds"])
        if beside is not None:  # under its own name: until the new model is written, the last one is valid
            self._write(_beside(self.path, "mean", n_done), n_done, beside)
        before = getattr(model, "record_", None)
        model.record_ = {"distributed": {"fingerprint": self.fingerprint, **record}}
        try:
            save_model(model, self.path)
        finally:
            model.record_ = before
        _unlink(_beside(self.path, "mean", n_done - 1))
        _unlink_beside(self.path, "total")

    def beside(self, n_done: int) -> Sums | None:
        """The numbers that were saved with the model after this number of rounds."""
        return None if self.path is None else self._read(_beside(self.path, "mean", n_done), n_done)

    def keep_total(self, n_round: int, place: int, total: Sums | None) -> None:
        """Keep the sum of all shards' answers to a question."""
        if self.path is not None and total is not None:
            self._write(_beside(self.path, "total", place), n_round, total)

    def totals(self, n_round: int) -> list[Sums]:
        """The sums of this round from before the driver was lost, in order."""
        kept: list[Sums] = []
        while self.path and (total := self._read(_beside(self.path, "total", len(kept)), n_round)) is not None:
            kept.append(total)
        return kept

    def damaged(self) -> ValueError:
        """The error for files that this run did not write."""
        assert self.path is not None
        return ValueError(
            f"{self.path.name}: the checkpoint, or a file beside it, is damaged; remove it to start again."
        )

    def _write(self, path: Path, n_round: int, sums: Sums) -> None:
        about = {"thresher": json.dumps({"round": n_round, "fingerprint": self.fingerprint})}
        arrays = {name: np.atleast_1d(np.ascontiguousarray(each)) for name, each in sums.items()}
        shapes = {f"shape {name}": json.dumps(np.shape(each)) for name, each in sums.items()}
        write_whole(path, safetensors.numpy.save(arrays, metadata=about | shapes))

    def _read(self, path: Path, n_round: int) -> Sums | None:
        """The arrays that this run wrote in this round; None for any other file."""
        try:
            with safetensors.safe_open(path, framework="numpy") as file:
                about = file.metadata() or {}
                kept = json.loads(about["thresher"])
                sums = {
                    name: file.get_tensor(name).reshape(json.loads(about[f"shape {name}"]))
                    for name in file.keys()  # noqa: SIM118
                }
                same = kept["round"] == n_round and kept["fingerprint"] == self.fingerprint
                same = same and all(each.dtype == np.float64 for each in sums.values())
        except Exception:
            return None
        return sums if same else None

    def remove(self) -> None:
        if self.path is not None:
            remove_checkpoint(self.path)


def is_checkpoint(path: Path) -> bool:
    """Whether there is something to continue from: a model after a round, or results of a first round."""
    return _is_ours(path) or _is_ours(_beside(path, "total", 0))


def remove_checkpoint(path: Path) -> None:
    """Remove a checkpoint and the files beside it that belong to it; other files stay."""
    _unlink(path)
    _unlink_beside(path, "total")
    _unlink_beside(path, "mean")


def _check_place(path: Path) -> None:
    """Raise an error before training if the checkpoint cannot be written, or would replace another file."""
    if path.is_dir():
        raise ValueError(f"fit: checkpoint must name a file, but {path} is a folder.")
    if not path.absolute().parent.is_dir():
        raise FileNotFoundError(f"fit: the folder of the checkpoint {path} does not exist.")
    if not os.access(path.absolute().parent, os.W_OK):
        raise PermissionError(f"fit: the folder of the checkpoint {path} is not writable.")
    if path.exists() and not _is_ours(path):
        raise ValueError(f"fit: {path.name} exists and is not a checkpoint of rounds over shards; name another file.")


def _is_ours(path: Path) -> bool:
    try:
        with safetensors.safe_open(path, framework="numpy") as file:
            about = json.loads((file.metadata() or {})["thresher"])
            return "fingerprint" in about or "fingerprint" in about["record"]["distributed"]
    except Exception:
        return False


def _beside(path: Path, kind: str, number: int) -> Path:
    return path.with_name(f"{path.name}.{kind}-{number}")


def _unlink(path: Path) -> None:
    if _is_ours(path):
        path.unlink(missing_ok=True)


def _unlink_beside(path: Path, kind: str) -> None:
    for each in path.parent.glob(f"{glob.escape(path.name)}.{kind}-*"):
        _unlink(each)
