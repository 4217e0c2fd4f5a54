"""One row at a time: the score of a linear model from the folded description that exports are written from.

A pipeline takes as long for one row as for fifty. This takes a few microseconds, for models of one score whose terms
are linear, categories or dates; others have no such scorer. Scores may differ from those of the model in the last bits.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from datetime import datetime, timedelta
from functools import lru_cache
from typing import Any

from ..exporting import CategoryTerm, DateTerm, LinearTerm, Scoring, scoring_of
from ._row_form import Row, RowForm

_EPOCH = datetime(1970, 1, 1)
_PARTS: dict[str, Callable[[datetime], int]] = {
    "month": lambda day: day.month - 1,
    "weekday": datetime.weekday,
    "hour": lambda day: day.hour,
}


class RowScorer:
    """Scores single rows as the model did when this was made."""

    def __init__(self, scoring: Scoring, form: RowForm) -> None:
        places = {name: place for place, name in enumerate(form.columns)}
        self._intercept = float(scoring.intercept[0])
        self._linear: list[tuple[int, float, float, float]] = []
        self._categories: list[tuple[int, dict[str, float]]] = []
        self._dates: list[tuple[int, Any]] = []
        for term in scoring.terms:
            place = places[term.column] if isinstance(term.column, str) else term.column
            if isinstance(term, LinearTerm):
                missing = math.nan if term.missing is None else float(term.missing[0])
                self._linear.append((place, term.center, float(term.weights[0]), missing))
            elif isinstance(term, CategoryTerm):
                weights = [float(weight) for weight in term.weights[:, 0]]
                self._categories.append((place, dict(zip(term.values, weights, strict=True))))
            elif isinstance(term, DateTerm):
                self._dates.append((place, lru_cache(4096)(_of_date(term))))
            else:
                raise ValueError(f"no scorer for a term of kind {term.kind}")
        self._classes, threshold = scoring.classes, None if scoring.decision is None else scoring.decision.threshold
        self._threshold = 0.0 if threshold is None else threshold

    def score(self, row: Row) -> float:
        """The score of a row; NaN if the model must be asked."""
        score = self._intercept
        for place, center, weight, missing in self._linear:
            value = row[place]
            score += weight * (value - center) if value == value else missing
        for place, weights in self._categories:
            score += weights.get(row[place], 0.0)
        for place, of_date in self._dates:
            score += of_date(row[place])
        return score

    def answer(self, score: float) -> Any:
        """The class or the value of a row with this score."""
        return score if self._classes is None else self._classes[score > self._threshold]


def row_scorer(model: Any, form: RowForm) -> RowScorer | None:
    """A scorer for single rows of a model, if it is of a kind that has one."""
    if form.is_sparse or len(getattr(model, "classes_", (0, 1))) != 2:
        return None
    try:
        scoring = scoring_of(model)
        return RowScorer(scoring, form) if scoring.n_scores == 1 else None
    except (ValueError, KeyError):
        return None


def _of_date(term: DateTerm) -> Any:
    read, weights, missing = _PARTS[term.part], [float(w) for w in term.weights[:, 0]], float(term.missing[0])

    def of_date(days: float) -> float:
        if days != days:
            return missing
        try:
            return weights[read(_EPOCH + timedelta(seconds=round(days * 86400)))]
        except (OverflowError, IndexError):
            return math.nan

    return of_date
