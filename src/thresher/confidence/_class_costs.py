"""Costs of mistakes on positive rows: shares of the loss, relative to the rows seen so far."""

from __future__ import annotations

from typing import Any

from .._estimators import View
from .._gate import Rule, positive

adaptive = Rule('"adaptive"', lambda v: isinstance(v, str) and v == "adaptive", ("adaptive",), type='"adaptive"')
part = Rule("a number above 0 and below 1", lambda v: positive.holds(v) and v < 1, type="float")

COUNTS: list[tuple[Any, ...]] = [("n_positive", "", 1.0, "sum"), ("n_negative", "", 1.0, "sum")]
"""The fields that :func:`shares_of` needs: the weight of the rows so far, and one row of each kind."""


def costs_around_half(n: int) -> tuple[float, ...]:
    """Shares of the positive class that lie evenly between 0 and 1: 0.5 first, then 0.4, 0.6, ..."""
    return tuple(sorted((j / (n + 1) for j in range(1, n + 1)), key=lambda cost: (round(abs(cost - 0.5), 9), cost)))


def shares_of(view: View, negative: float, positive: float, kappa: float) -> tuple[float, float]:
    """Take in so many rows; D of negative and of positive ones, with which kappa and 1 - kappa of all so far are the
    weights of the classes."""
    view["n_positive"] += positive
    view["n_negative"] += negative
    n_positive, n_negative = view["n_positive"][0], view["n_negative"][0]
    n_rows = n_positive + n_negative
    return (1 - kappa) / n_negative * n_rows, kappa / n_positive * n_rows
