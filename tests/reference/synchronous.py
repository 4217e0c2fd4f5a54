"""Dual averaging with one gradient over all rows in each step, every weight computed in every step."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from .groups import prox, shrink
from .losses import loss as find_loss
from .online import Array, with_constant
from .sparse_learners import selection


class Grouped:
    """s = eta0 sqrt t;  copy of group g = prox(-s S^g / t);  w_j = sum of its copies;  b = -s S_b / t"""

    def __init__(self, n: int, model: Any) -> None:
        given = model.groups.values() if isinstance(model.groups, dict) else model.groups or []
        alone = [[j] for j in range(n - 1) if not any(j in group for group in given)]
        self.groups = [*map(list, given), *alone]
        self.model, self.S, self.t = model, np.zeros(n), 0

    def step(self, g: Array) -> None:
        self.S, self.t = self.S + g, self.t + 1

    def weights(self) -> Array:
        w = np.zeros(len(self.S))
        if self.t == 0:
            return w
        m, s = self.model, self.model.eta0 * np.sqrt(self.t)
        norm = 2 if m.norm == 2 else np.inf
        for group in self.groups:
            w[group] += prox(-s * self.S[group] / self.t, s * m.alpha * m.l1_weight + m.rho, s * m.alpha, norm)
        w[-1] = -s * self.S[-1] / self.t
        return w


def rounds(model: Any, X: Array, y: Array, weight: Array | None, n_rounds: int) -> Iterator[tuple[float, Array]]:
    """After every round its loss before the step, and the weights for a prediction; ``y`` holds -1 and +1 or values."""
    find = find_loss(model.loss, model.tau, getattr(model, "epsilon", 0.0))
    X = with_constant(X.astype(float), model.intercept_scaling if model.fit_intercept else 0.0)
    weight = np.ones(len(y)) if weight is None else weight
    rules: Any = Grouped(X.shape[1], model) if hasattr(model, "groups") else selection(model, X.shape[1])
    for _ in range(n_rounds):
        uncut = rules if hasattr(model, "groups") else rules.rule  # weights that a prediction might cut
        scores = X @ uncut.weights()
        slopes = np.array([find.slope(*pair) for pair in zip(scores, y, strict=True)])
        values = np.array([find.value(*pair) for pair in zip(scores, y, strict=True)])
        rules.step(X.T @ (weight * slopes) / np.count_nonzero(weight))
        yield float(weight @ values), rules.weights()


def shared_rounds(model: Any, X: Array, codes: Array, n_classes: int, n_rounds: int) -> Iterator[Array]:
    """W_j = -eta0 sqrt t shrink(S_j / t, alpha), the constant without alpha; one row of W per feature."""
    find = find_loss(model.loss, model.tau)
    X = with_constant(X.astype(float), model.intercept_scaling if model.fit_intercept else 0.0)
    W, S = np.zeros((X.shape[1], n_classes)), np.zeros((X.shape[1], n_classes))
    for t in range(1, n_rounds + 1):
        for x, code in zip(X, codes, strict=True):
            slopes = [find.slope(float(W[:, k] @ x), 1.0 if k == code else -1.0) for k in range(n_classes)]
            S += np.outer(x, slopes) / len(X)
        W = -model.eta0 * np.sqrt(t) * np.array([shrink(row / t, model.alpha) for row in S])
        W[-1] = -model.eta0 * np.sqrt(t) * S[-1] / t
        yield W
