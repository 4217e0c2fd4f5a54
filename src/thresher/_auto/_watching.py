"""Observers of a comparison of models, which are called for every evaluation and can end it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import joblib
import numpy as np
from numpy.typing import NDArray

from .._dataclasses import dataclass


@dataclass(frozen=True)
class AutoWatcher:
    """Interface to a running ``auto``: it reports its progress, and asks whether to stop.

    Attributes
    ----------
    tell : callable
        Given a few words on what is being done.
    measured : callable
        Given an evaluation as the history of a search has it, with ``candidate``, ``criterion``, ``n_rows``,
        ``value`` (of the criterion, as people read it) and ``error_of_value`` (its standard error over the folds).
    is_over : callable
        Whether to stop, and keep the best model so far. The current measurement is completed first.
    folder : Path or None
        Where searches keep their evaluations, so that the same call continues from them. It must exist.
    """

    tell: Callable[[str], None] = lambda doing: None
    measured: Callable[[dict[str, Any]], None] = lambda entry: None
    is_over: Callable[[], bool] = lambda: False
    folder: Path | None = None

    def history_of(self, *identity: Any) -> Path | None:
        """The file for a search, whose name tells it from the other searches of the run."""
        return None if self.folder is None else self.folder / f"{joblib.hash(identity)}.jsonl"

    def note(self, entry: dict[str, Any], fold_scores: NDArray[np.float64], criterion: str, sign: int) -> None:
        """Report an evaluation; `sign` is -1 for a criterion that is smaller when models are better."""
        n, mean = len(fold_scores), float(np.mean(fold_scores)) if len(fold_scores) else float("nan")
        error = float(np.std(fold_scores, ddof=1) / np.sqrt(n)) if n > 1 else None
        self.measured({**entry, "criterion": criterion, "value": sign * mean + 0.0, "error_of_value": error})
