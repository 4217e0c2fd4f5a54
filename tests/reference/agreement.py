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


def assert_same_course(
    model: Any,
    X: Array,
    y: Array,
    layout: Callable[[Array], Any],
    steps: Iterable[tuple[float, Array]],
    weight: Array | None = None,
    *,
    rtol: float = 1e-10,
    atol: float = 1e-12,
    band: float = 0.0,
    **first: Any,
) -> None:
    """Weights and support of a stream are those of the twin after each row.

    With ``band``, weights of about ``model.threshold`` may fall on either side of it.
    """
    scaling = model.intercept_scaling if model.fit_intercept else 0.0
    fed = row_by_row(model, X, y, layout, weight, **first)
    seen = np.array([np.append(np.ravel(model.coef_), model.intercept_) for _ in fed])
    expected = np.array([np.append(w[:-1], w[-1] * scaling) for _, w in steps])
    _assert_same(seen, expected, rtol, atol, band, getattr(model, "threshold", 0.0))


def assert_model(model: Any, w: Array, rtol: float = 1e-10, atol: float = 1e-12, band: float = 0.0) -> None:
    """Weights and support are those of the twin."""
    scaling = model.intercept_scaling if model.fit_intercept else 0.0
    seen, expected = np.append(np.ravel(model.coef_), model.intercept_), np.append(w[:-1], w[-1] * scaling)
    _assert_same(seen[None], expected[None], rtol, atol, band, getattr(model, "threshold", 0.0))


def _assert_same(seen: Array, expected: Array, rtol: float, atol: float, band: float, threshold: float) -> None:
    """Rows of weights and their zeros, the constants last."""
    sure = np.ones(seen.shape, bool)
    if band:
        largest = np.maximum(np.abs(seen), np.abs(expected))[:, :-1]
        sure[:, :-1] = (np.abs(largest - threshold) > band * (1 + threshold)) | (largest == 0)
    assert_allclose(np.where(sure, seen, 0), np.where(sure, expected, 0), rtol=rtol, atol=atol)
    other = np.argwhere((seen != 0)[:, :-1] & sure[:, :-1] != (expected != 0)[:, :-1] & sure[:, :-1])
    assert not len(other), f"another support: after row {other[0][0]}, feature {other[0][1]}"
    assert np.count_nonzero(~sure) <= len(seen) / 20 + 1, "too many weights at the threshold"


def gappy_stream(n_rows: int = 3000, n_features: int = 300, seed: int = 0) -> tuple[Any, Array]:
    """Rows in CSR and scores: common features, rare ones, some in bursts, some that stop, some that never come."""
    from scipy import sparse

    rng = np.random.default_rng(seed)
    chance = 10 ** rng.uniform(-3.3, -1.2, n_features)
    present = rng.random((n_rows, n_features)) < chance
    burst = np.arange(n_features) % 5 == 1
    start = rng.integers(0, n_rows - 60, n_features)
    inside = (np.arange(n_rows)[:, None] >= start) & (np.arange(n_rows)[:, None] < start + 60)
    present[:, burst] = (rng.random((n_rows, n_features)) < 0.3)[:, burst] & inside[:, burst]
    stops = np.arange(n_features) % 5 == 2
    present[:, stops] &= (np.arange(n_rows)[:, None] < n_rows * rng.random(n_features))[:, stops]
    present[:, ::50] = False
    X = np.where(present, rng.normal(size=present.shape), 0)
    scores = X @ (rng.normal(size=n_features) * (rng.random(n_features) < 0.3)) + 0.3 * rng.normal(size=n_rows)
    return sparse.csr_array(X), scores
