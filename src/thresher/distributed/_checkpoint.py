"""Where a run stands, on disk: the model after the last round, and the totals of the round under way."""

from __future__ import annotations

import glob
import json
from pathlib import Path
from typing import Any

import numpy as np
import safetensors
import safetensors.numpy

from .._rounds import Sums
from ..persistence import load_model, save_model, write_whole


class Checkpoint:
    """A model file that is replaced after every round, and beside it one file for each total of the round under way.

    Parameters
    ----------
    path : Path or None
        Nothing is kept without one.
    fingerprint : dict
        What must be the same for a run to be the same run, in plain values.
    """

    def __init__(self, path: Path | None, fingerprint: dict[str, Any]) -> None:
        self.path = path
        self.fingerprint = fingerprint

    def load(self) -> tuple[Any, dict[str, Any]] | None:
        """The model and what was noted with it, of a run like this one; None if there is nothing."""
        if self.path is None or not self.path.exists():
            return None
        model = load_model(self.path)
        kept = (getattr(model, "record_", None) or {}).get("distributed")
        if not isinstance(kept, dict) or "fingerprint" not in kept:
            raise ValueError(f"{self.path.name}: this is no checkpoint of rounds over shards.")
        before = kept["fingerprint"]
        for name, now in json.loads(json.dumps(self.fingerprint)).items():
            if before.get(name) != now:
                raise ValueError(
                    f"{self.path.name}: the run that wrote it was another one: {name} was "
                    f"{str(before.get(name))[:200]}, now it is {str(now)[:200]}."
                )
        return model, kept

    def save(self, model: Any, noted: dict[str, Any], beside: Sums | None = None) -> None:
        """Keep the model after a round, and numbers beside it; the totals of that round are not needed any more."""
        if self.path is None:
            return
        n_done = len(noted["rounds"])
        if beside is not None:  # under a name of its own: until the model is there, that of the round before counts
            self._write(self._beside(n_done), n_done, beside)
        before = getattr(model, "record_", None)
        model.record_ = {"distributed": {"fingerprint": self.fingerprint, **noted}}
        try:
            save_model(model, self.path)
        finally:
            model.record_ = before
        self._beside(n_done - 1).unlink(missing_ok=True)
        self._forget_totals()

    def beside(self, n_done: int) -> Sums | None:
        """The numbers that were kept beside the model after so many rounds."""
        return None if self.path is None else self._read(self._beside(n_done), n_done)

    def keep_total(self, n_round: int, place: int, total: Sums | None) -> None:
        """Keep what all shards answered to a question."""
        if self.path is not None and total is not None:
            self._write(self._total(place), n_round, total)

    def totals(self, n_round: int) -> list[Sums]:
        """What was answered in this round before the driver was lost, in order."""
        found: list[Sums] = []
        while self.path is not None and (total := self._read(self._total(len(found)), n_round)) is not None:
            found.append(total)
        return found

    def _write(self, path: Path, n_round: int, sums: Sums) -> None:
        about = {"thresher": json.dumps({"round": n_round, "fingerprint": self.fingerprint})}
        arrays = {name: np.atleast_1d(np.ascontiguousarray(each)) for name, each in sums.items()}
        shapes = {f"shape {name}": json.dumps(np.shape(each)) for name, each in sums.items()}
        write_whole(path, safetensors.numpy.save(arrays, metadata=about | shapes))

    def _read(self, path: Path, n_round: int) -> Sums | None:
        """What was written of this run and round; a file that is none is as good as no file."""
        try:
            with safetensors.safe_open(path, framework="numpy") as file:
                about = file.metadata() or {}
                kept = json.loads(about["thresher"])
                sums = {
                    name: file.get_tensor(name).reshape(json.loads(about[f"shape {name}"]))
                    for name in file.keys()  # noqa: SIM118
                }
        except Exception:
            return None
        same = kept["round"] == n_round and kept["fingerprint"] == json.loads(json.dumps(self.fingerprint))
        return sums if same else None

    def remove(self) -> None:
        if self.path is not None:
            self.path.unlink(missing_ok=True)
            self._forget_totals()
            for path in self.path.parent.glob(f"{glob.escape(self.path.name)}.mean-*"):
                path.unlink()

    def _total(self, place: int) -> Path:
        assert self.path is not None
        return self.path.with_name(f"{self.path.name}.{place}")

    def _beside(self, n_done: int) -> Path:
        assert self.path is not None
        return self.path.with_name(f"{self.path.name}.mean-{n_done}")

    def _forget_totals(self) -> None:
        place = 0
        while self._total(place).exists():
            self._total(place).unlink()
            place += 1
