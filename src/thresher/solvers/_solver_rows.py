"""The linear part of the problem: rows of one or several tasks, columns centred, without changing what users hold.

With an intercept, scores are ``(X - 1 m') w + c``, m the column means: the same model, as c = b + m' w, and one in
which intercept and weights do not get in each other's way.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse
from scipy.optimize import brentq

from .. import _core, _engine
from ._proximal import Array


@dataclass(frozen=True)
class SmoothLoss:
    """A loss of scores p and targets y, by its name in the core."""

    name: str
    curvature: float
    of_classes: bool
    """y is -1 or +1."""

    def value(self, p: Array, y: Array) -> Array:
        return _core.loss_value(self.name, p, y)

    def slope(self, p: Array, y: Array) -> Array:
        return _core.loss_slope(self.name, p, y)

    def conjugate(self, u: Array, y: Array) -> Array:
        """sup_p u p - value(p, y), for slopes u that the loss can have."""
        return _core.loss_conjugate(self.name, u, y)

    @property
    def rests(self) -> bool:
        """Whether a score can be right enough to cost nothing more."""
        return _core.loss_slope(self.name, 30.0, 1.0) >= 0


LOSSES = {
    loss.name: SmoothLoss(loss.name, loss.curvature, of_classes=not loss.for_values)
    for loss in _engine.LOSSES.values()
    if loss.has_conjugate
    and math.isfinite(loss.curvature)
    and not loss.parameter
    and (loss.mean_is_best or not loss.for_values)
}


class TaskRows:
    """Rows and targets of one task."""

    def __init__(self, X: Any, y: Array, loss: SmoothLoss, fit_intercept: bool) -> None:
        self.X, self.y, self.loss, self.fit_intercept = X, y, loss, fit_intercept
        self.n_rows, self.n_features = X.shape
        self.mean = np.asarray(X.mean(axis=0)).ravel() if fit_intercept else np.zeros(self.n_features)

    def scores(self, w: Array) -> Array:
        """Without the intercept; of several tasks on these rows, a column for each column of weights."""
        return np.asarray(self.X @ w - self.mean @ w)

    def gradient(self, slopes: Array) -> Array:
        """Of the mean loss, in the weights; of several tasks on these rows, a column for each column of slopes."""
        return np.asarray((self.X.T @ slopes - np.multiply.outer(self.mean, slopes.sum(axis=0))) / self.n_rows)

    def best_intercept(self, scores: Array) -> float:
        """The c at which the slopes sum to 0, given the scores without it."""
        if not self.fit_intercept:
            return 0.0
        if not self.loss.of_classes:
            return float(np.mean(self.y - scores))  # best for all losses of values here
        reach = np.abs(scores).max() + np.log(self.n_rows) + 1.0  # there, the slopes of one class outweigh the other's
        return float(brentq(lambda c: self.loss.slope(scores + c, self.y).sum(), -reach, reach, xtol=1e-15, rtol=1e-15))

    def total_square(self) -> float:
        """The sum of squares of all centred values: never less than the largest squared singular value."""
        values = self.X.data if sparse.issparse(self.X) else self.X.ravel()
        return float(max(values @ values - self.n_rows * (self.mean @ self.mean), 0.0))

    def largest_square(self, n_steps: int = 20) -> float:
        """The largest squared singular value, from below, by the power method, until a step gains less than 1 %."""
        v, size = np.random.default_rng(0).normal(size=self.n_features), 0.0
        for _ in range(n_steps):
            length = float(np.linalg.norm(v))
            if length == 0:
                return 0.0
            scores = self.scores(v / length)
            before, size = size, float(scores @ scores)
            if size <= 1.01 * before:
                break
            v = self.gradient(scores)
        return size
