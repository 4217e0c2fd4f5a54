"""History of a search in a file, one JSON line for each evaluation, from which a killed search continues.

The first line says which search the file belongs to. A line that was cut short by a kill is dropped.
"""

from __future__ import annotations

import json
import math
import os
import re
from pathlib import Path
from typing import Any

import joblib
import numpy as np

FORMAT = 1


class HistoryFile:
    """Evaluations of a search in a file, by their parameters.

    ``header`` holds what must be the same for evaluations to be worth the same.
    """

    def __init__(self, path: str | os.PathLike[str], header: dict[str, Any], n_folds: int) -> None:
        self._path = Path(path)
        self._where = f"CoupledAnnealingSearchCV: history {self._path.name}"
        self._n_folds = n_folds
        self._header = header
        self.known: dict[str, dict[str, Any]] = {}
        if self._path.is_dir() or not self._path.absolute().parent.is_dir():
            raise ValueError(f"{self._where}: must be a file in a folder that exists, got {os.fspath(path)!r}.")
        content = self._path.read_bytes() if self._path.exists() else b""
        whole = content.rfind(b"\n") + 1  # behind the last line that was finished
        lines = content[:whole].splitlines()
        if lines:
            self._check_header(lines[0])
            self._read(lines[1:])
        if self._path.exists():
            os.truncate(self._path, whole)
        if not lines:
            self._append([{"thresher": "search history", "format": FORMAT, **header}])

    def add(self, records: list[dict[str, Any]]) -> None:
        """Write evaluations down; when this returns, they are on the disk."""
        self._append(records)
        self.known |= {key_of(r["params"]): r for r in records}

    def _append(self, records: list[dict[str, Any]]) -> None:
        with open(self._path, "ab") as file:
            file.write(b"".join(json.dumps(to_json(r)).encode() + b"\n" for r in records))
            file.flush()
            os.fsync(file.fileno())

    def _check_header(self, line: bytes) -> None:
        try:
            found = json.loads(line)
            is_history = found["thresher"] == "search history"
        except (ValueError, KeyError, TypeError, RecursionError):
            is_history = False
        if not is_history:
            raise ValueError(f"{self._where}: not a history of a search; name another file.")
        if found.get("format") != FORMAT:
            raise ValueError(f"{self._where}: format {found.get('format')!r} is not supported, only {FORMAT}.")
        expected = json.loads(json.dumps(to_json(self._header)))
        others = [name for name in expected if found.get(name) != expected[name]]
        if others:
            words = ["estimator's parameters" if name == "params" else name for name in others]
            listed = " and ".join(filter(None, (", ".join(words[:-1]), words[-1])))
            raise ValueError(
                f"{self._where}: it was written with another {listed}; use the same, or name another file."
            )

    def _read(self, lines: list[bytes]) -> None:
        for number, line in enumerate(lines, start=2):
            try:
                record = json.loads(line)
                record["score"] = from_json(record["score"])
                record["folds"] = [_fold(fold) for fold in record["folds"]]
                for name in ("n_used", "seconds"):
                    record[name] = None if record[name] is None else float(record[name])
                if len(record["folds"]) != self._n_folds or not isinstance(record["error"], str | None):
                    raise ValueError
                self.known[key_of(record["params"])] = record
            except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
                raise ValueError(f"{self._where}: line {number} is not an evaluation; delete it.") from None


def _fold(fold: dict[str, Any]) -> dict[str, Any]:
    """The results that scikit-learn keeps of one fit, from JSON."""
    numbers = {k: from_json(v) for k, v in fold.items() if k != "fit_error"}
    if not {"test_scores", "fit_time", "score_time"} <= numbers.keys():
        raise ValueError
    return {"fit_error": fold["fit_error"], **numbers}


def key_of(params: dict[str, Any]) -> str:
    """Parameters as text that is the same for the same parameters, read or about to be written."""
    return json.dumps(to_json(params), sort_keys=True)


def to_json(value: Any) -> Any:
    """A value for JSON: numbers and text as they are, other objects by a name that does not change."""
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float):
        return float(value) if math.isfinite(value) else str(float(value))
    if value is None or isinstance(value, (bool, int, str)):
        return value
    if isinstance(value, dict):
        return {str(k): to_json(v) for k, v in value.items()}
    if isinstance(value, (list, tuple)):
        return [to_json(v) for v in value]
    if isinstance(value, (np.ndarray, np.random.RandomState, np.random.Generator)):
        return f"{type(value).__name__} {joblib.hash(value)}"
    if hasattr(value, "__qualname__"):
        return f"{value.__module__}.{value.__qualname__}"
    return re.sub(r" at 0x[0-9a-fA-F]+", "", repr(value))


def from_json(value: Any) -> Any:
    """Numbers back from the form that :func:`to_json` gave them."""
    return {k: from_json(v) for k, v in value.items()} if isinstance(value, dict) else float(value)
