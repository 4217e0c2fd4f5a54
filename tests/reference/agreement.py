"""A compiled learner beside its twin: what both say after every row."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np
from numpy.testing import assert_allclose

from .losses import loss as find_loss

Array = np.ndarray


def last(steps: Iterable[Any]) -> Any:
    """What the twin knows at the end."""
    *_, end = steps
    return end


def assert_weights(model: Any, weights: Array, rtol: float = 1e-10, atol: float = 1e-13) -> None:
    """``coef_`` and ``intercept_`` are those of the twin's weights, the constant's last."""
    scaling = model.intercept_scaling if model.fit_intercept else 0.0
    assert_allclose(np.ravel(model.coef_), weights[:-1], rtol=rtol, atol=atol)
    assert_allclose(np.ravel(model.intercept_), weights[-1] * scaling, rtol=rtol, atol=atol)


def assert_weights_after_every_row(
    model: Any,
    X: Array,
    y: Array,
    layout: Callable[[Array], Any],
    steps: Iterable[tuple[float, Array]],
    weight: Array | None = None,
    **first: Any,
) -> tuple[Array, Array]:
    """The same after each row of a stream. Returns both, a row of weights after each row of data."""
    scaling = model.intercept_scaling if model.fit_intercept else 0.0
    fed = row_by_row(model, X, y, layout, weight, **first)
    seen = np.array([np.append(np.ravel(model.coef_), model.intercept_) for _ in fed])
    expected = np.array([np.append(w[:-1], w[-1] * scaling) for _, w in steps])
    assert_allclose(seen, expected, rtol=1e-10, atol=1e-13)
    return seen, expected


def row_by_row(
    model: Any, X: Array, y: Array, layout: Callable[[Array], Any], weight: Array | None = None, **first: Any
) -> Iterator[None]:
    """Feed one row at a time; pauses after each."""
    for i in range(len(y)):
        one = slice(i, i + 1)
        share = None if weight is None else weight[one]
        model.partial_fit(layout(X[one]), y[one], sample_weight=share, **(first if i == 0 else {}))
        yield


def progressive(scores: Iterable[float], y: Array, loss: str, weight: Array | None = None, **shape: float) -> float:
    """sum_i weight_i loss_i / sum_i weight_i, of scores given before each row was learned"""
    weight = np.ones(len(y)) if weight is None else weight
    value = find_loss(loss, **shape).value
    costs = np.array([value(p, target) for p, target in zip(scores, y, strict=True)])
    return float(costs @ weight / weight.sum())
