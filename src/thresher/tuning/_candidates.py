"""Candidates through cross-validation: fitted side by side by scikit-learn, or found in a history file."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import FitFailedWarning

from ._history import HistoryFile, key_of
from ._trials import Evaluation, Params

Fold = dict[str, Any]

_KEPT = ("test_scores", "train_scores", "n_test_samples", "fit_time", "score_time")


class Candidates:
    """Evaluates batches of candidates for a search, and keeps what scikit-learn's table of results is made of.

    ``run`` fits and scores candidates and returns the results of all folds, in order.
    """

    def __init__(
        self, run: Callable[[list[Params]], list[Fold]], file: HistoryFile | None, *, guide: Any, error_score: Any
    ) -> None:
        self._run, self._file, self._guide, self._error_score = run, file, guide, error_score
        self._checked = file is None or not file.known
        self._has_run = False
        self._some_folds: list[Fold] = []
        self.params: list[Params] = []
        self.folds: list[Fold] = []

    def evaluate(self, stage: str, batch: list[Params]) -> list[Evaluation]:
        known = {} if self._file is None else self._file.known
        if not self._checked:
            self._check_one(batch, known)
        fresh = [p for p in batch if key_of(p) not in known]
        records = {
            key_of(p): {"stage": stage, "params": p, **vars(self._evaluation(folds)), "folds": folds}
            for p, folds in zip(fresh, self._fit(fresh), strict=True)
        }
        if self._file is not None:
            self._file.add(list(records.values()))
        evaluations = []
        for p in batch:
            record = records.get(key_of(p)) or known[key_of(p)]
            score = self._evaluation(record["folds"]).score
            evaluations.append(Evaluation(score, record["n_used"], record["seconds"], record["error"]))
            self.params.append(p)
            self.folds.extend(record["folds"])
        return evaluations

    def scores(self, n_folds: int) -> NDArray[np.float64]:
        """Scores of the last candidate on the folds."""
        return np.array([self._score(fold) for fold in self.folds[-n_folds:]], dtype=np.float64)

    def finish(self) -> None:
        """Let scikit-learn fit something, as it must also where all candidates were known and all had failed."""
        if not self._has_run:
            self._run(self.params[:1])

    def _fit(self, batch: list[Params]) -> list[list[Fold]]:
        """The folds of each candidate."""
        if not batch:
            return []
        try:
            with warnings.catch_warnings(action="ignore", category=FitFailedWarning):  # warned of once, at the end
                raw = self._run(batch)
        except ValueError as error:
            if not self._has_run or "fits failed" not in str(error):
                raise
            reason = _last_line(str(error))
            return [[_failed(like, self._error_score, reason) for like in self._some_folds] for _ in batch]
        self._has_run = True
        folds = [_kept(fold) for fold in raw]
        n_folds = len(folds) // len(batch)
        self._some_folds = folds[:n_folds]
        return [folds[i : i + n_folds] for i in range(0, len(folds), n_folds)]

    def _check_one(self, batch: list[Params], known: dict[str, dict[str, Any]]) -> None:
        """Fit one of the candidates in the file again, to see that it still scores the same."""
        again = next((p for p in batch if math.isfinite(known.get(key_of(p), {"score": math.nan})["score"])), None)
        if again is None:
            return
        self._checked = True
        now, then = self._evaluation(self._fit([again])[0]).score, known[key_of(again)]["score"]
        if not math.isclose(now, then, rel_tol=1e-6, abs_tol=1e-9):
            warnings.warn(
                f"CoupledAnnealingSearchCV: {again} scores {now:.6g} now and {then:.6g} in the history; "
                "the estimator is not deterministic, or its version changed.",
                stacklevel=2,
            )

    def _evaluation(self, folds: list[Fold]) -> Evaluation:
        scores = [self._score(fold) for fold in folds]
        used = [n for fold in folds if (n := _n_used(fold)) is not None]
        error = next((fold["fit_error"] for fold in folds if fold["fit_error"] is not None), None)
        mean = float(np.average(np.array([scores], dtype=np.float64), axis=1)[0])  # bit for bit as in cv_results_
        if error is None and not math.isfinite(mean):
            error = f"the score is {mean}"
        seconds = sum(fold["fit_time"] + fold["score_time"] for fold in folds)
        return Evaluation(mean, float(np.mean(used)) if used else None, seconds, error)

    def _score(self, fold: Fold) -> float:
        scores = fold["test_scores"]
        if not isinstance(scores, dict):
            return float(scores)
        return float(scores[self._guide] if self._guide in scores else next(iter(scores.values())))


def _kept(raw: Fold) -> Fold:
    error = raw["fit_error"]
    kept = {name: raw[name] for name in _KEPT if name in raw}
    return {"fit_error": None if error is None else _last_line(error), **kept}


def _failed(like: Fold, score: float, error: str) -> Fold:
    """A fold of a candidate none of whose fits succeeded; scores have the form of a fold that did."""
    scores = {
        name: dict.fromkeys(like[name], score) if isinstance(like[name], dict) else score
        for name in ("test_scores", "train_scores")
        if name in like
    }
    return like | scores | {"fit_time": 0.0, "score_time": 0.0, "fit_error": error}


def _n_used(fold: Fold) -> int | None:
    scores = fold["test_scores"]
    values = scores.values() if isinstance(scores, dict) else [scores]
    return next((n for v in values if (n := getattr(v, "n_used", None)) is not None), None)


def _last_line(text: str) -> str:
    return text.strip().splitlines()[-1]
