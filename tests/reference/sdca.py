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
    """With momentum (``kappa`` above 0), a pass works on P(w) + (kappa / 2) |w - z|^2; z = w + beta (w - last w)."""

    def __init__(
        self,
        X: Array,
        y: Array,
        *,
        loss: str,
        l1: float,
        l2: float,
        share: Array,
        intercept: float,
        momentum: bool = False,
    ) -> None:
        self.X, self.y, self.loss, self.l1, self.l2, self.share = with_constant(X, intercept), y, loss, l1, l2, share
        self.kappa = max(0.0, np.max(share * (self.X**2).sum(axis=1)) - l2) if momentum else 0.0
        self.b, self.z, self.last = np.zeros(len(y)), np.zeros(self.X.shape[1]), np.zeros(self.X.shape[1])

    def weights(self, kappa: float, z: Array) -> Array:
        v = ((self.share * self.b * self.y) @ self.X + kappa * z) / (self.l2 + kappa)
        cut = np.append(np.full(len(v) - 1, self.l1 / (self.l2 + kappa)), 0.0)
        return np.sign(v) * np.maximum(np.abs(v) - cut, 0)

    def epoch(self, order: Iterable[int]) -> Array:
        """One pass; the weights after it."""
        for i in order:
            if self.share[i] > 0:
                q = self.share[i] * self.X[i] @ self.X[i] / (self.l2 + self.kappa)
                m = self.y[i] * (self.X[i] @ self.weights(self.kappa, self.z))
                self.b[i] = best(self.loss, self.b[i], m, q)
        w = self.weights(self.kappa, self.z)
        if self.kappa:
            root = np.sqrt(self.l2 / (self.l2 + self.kappa))
            self.z, self.last = w + (1 - root) / (1 + root) * (w - self.last), w
        return w

    def start_anew(self, w: Array) -> None:
        """From w, without momentum, because the objective rose."""
        self.z = w

    def primal(self, w: Array) -> float:
        penalty = self.l1 * np.abs(w[:-1]).sum() + self.l2 / 2 * w @ w
        return float(self.share @ loss_of(self.loss, self.y * (self.X @ w)) + penalty)

    def dual(self) -> float:
        w = self.weights(0.0, self.z)
        return float(self.share @ gain(self.loss, self.b) - self.l2 / 2 * w @ w)
