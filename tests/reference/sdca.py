"""Proximal stochastic dual coordinate ascent, one coordinate after the other. Shalev-Shwartz & Zhang (2016), option I.

P(w) = sum_i s_i loss(y_i <w, x_i>) + l1 |w|_1 + (l2 / 2) |w|^2,    D(b) = sum_i s_i gain(b_i) - (l2 / 2) |w(b)|^2
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from scipy.optimize import brentq
from scipy.special import entr

from .online import Array, with_constant


def loss_of(name: str, m: Array) -> Array:
    return {
        "hinge": np.maximum(0, 1 - m),
        "squared_hinge": np.maximum(0, 1 - m) ** 2,
        "logistic": np.logaddexp(0, -m),
    }[name]


def gain(name: str, b: Array) -> Array:
    """min_m loss(m) + b m: minus the conjugate of the loss at -b."""
    return {"hinge": b, "squared_hinge": b - b**2 / 4, "logistic": entr(b) + entr(1 - b)}[name]


def best(name: str, b: float, m: float, q: float) -> float:
    """The c with gain'(c) = m + q (c - b), or the end of its range that is nearest to one."""
    if name == "logistic":
        return float(brentq(lambda c: np.log1p(-c) - np.log(c) - m - q * (c - b), 1e-300, 1 - 1e-16, xtol=1e-16))
    slope = 0.0 if name == "hinge" else 0.5  # gain'(c) = 1 - slope c
    free = (1 - m + q * b) / (q + slope)
    return float(np.clip(free, 0, 1 if name == "hinge" else np.inf))


class Sdca:
    def __init__(self, X: Array, y: Array, *, loss: str, l1: float, l2: float, share: Array, intercept: float) -> None:
        self.X, self.y, self.loss, self.l1, self.l2, self.share = with_constant(X, intercept), y, loss, l1, l2, share
        self.b = np.zeros(len(y))

    @property
    def w(self) -> Array:
        v = (self.share * self.b * self.y) @ self.X / self.l2
        cut = np.append(np.full(len(v) - 1, self.l1 / self.l2), 0.0)
        return np.sign(v) * np.maximum(np.abs(v) - cut, 0)

    def epoch(self, order: Iterable[int]) -> None:
        for i in order:
            if self.share[i] > 0:
                q = self.share[i] * self.X[i] @ self.X[i] / self.l2
                self.b[i] = best(self.loss, self.b[i], self.y[i] * (self.X[i] @ self.w), q)

    def primal(self, w: Array) -> float:
        penalty = self.l1 * np.abs(w[:-1]).sum() + self.l2 / 2 * w @ w
        return float(self.share @ loss_of(self.loss, self.y * (self.X @ w)) + penalty)

    def dual(self) -> float:
        return float(self.share @ gain(self.loss, self.b) - self.l2 / 2 * self.w @ self.w)
