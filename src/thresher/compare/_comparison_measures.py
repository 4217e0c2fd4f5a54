"""Measures of a comparison: scorers by name, with errors as errors."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from sklearn.metrics import get_scorer, get_scorer_names

from ..tuning import CRITERIA
from ._score_table import COSTS

LOWER = ("error", "balanced_error", "mse")  # criteria that are minus a loss, shown as the loss


class Measure(NamedTuple):
    name: str | None  # of a criterion or scorer; None for the estimator's own score, and for a function
    scorer: Any

    def __call__(self, model: Any, X: Any, y: Any) -> float:
        if self.scorer is None:
            return float(model.score(X) if y is None else model.score(X, y))
        score = float(self.scorer(model, X, y))
        return 0.0 - score if self.name in LOWER else score


def scorers_of(scoring: Any) -> dict[str, Measure]:
    """Return measures by name."""
    if scoring is None:
        return {"score": Measure(None, None)}
    if isinstance(scoring, (list, tuple, set)):
        scoring = {name: name for name in scoring}
    elif not isinstance(scoring, Mapping):
        scoring = {scoring if isinstance(scoring, str) else getattr(scoring, "__name__", "score"): scoring}
    taken = [name for name in scoring if name in COSTS]
    if taken or not scoring:
        raise ValueError(f"compare: scoring must name measures other than {' and '.join(COSTS)}, got {scoring!r}.")
    return {str(name): _measure(given) for name, given in scoring.items()}


def _measure(given: Any) -> Measure:
    if isinstance(given, str) and given in CRITERIA:
        return Measure(given, CRITERIA[given])
    if isinstance(given, str) and given in get_scorer_names():
        return Measure(given, get_scorer(given))
    if not callable(given):
        raise ValueError(
            f"compare: scoring must be a name of scikit-learn's scorers, one of {', '.join(map(repr, CRITERIA))}, or a "
            f"scorer, got {given!r}."
        )
    return Measure(None, given)
