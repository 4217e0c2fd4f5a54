"""Learners of whole batches. Labels are -1 and +1; the constant feature is appended last. Tan (2016), Liu (2019)."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

Array = np.ndarray


class Gaussian(NamedTuple):
    """What is known of the weights, and what the last batch left: dual variables, objective, dual objective."""

    mu: Array
    sigma: Array
    alpha: Array | None = None
    primal: float = 0.0
    dual: float = 0.0


def start(n_weights: int) -> Gaussian:
    return Gaussian(np.zeros(n_weights), np.eye(n_weights))


def symmetric_root(sigma: Array) -> Array:
    """R = Q Lambda^(1/2) Q', the paper's"""
    values, vectors = np.linalg.eigh(sigma)
    return vectors @ np.diag(np.sqrt(values)) @ vectors.T


def bcw(
    before: Gaussian,
    X: Array,
    y: Array,
    *,
    C: float = 1.0,
    q: int = 2,
    centre: str = "previous",
    max_inner_iter: int = 1,
    cost: Array | None = None,
    root: Callable[[Array], Array] = symmetric_root,
) -> Gaussian:
    """One batch.

    1. Sigma = (Sigma^-1 + C X'X)^-1
    2. min_mu (mu - m)' S^-1 (mu - m) / 2 + (C / q) sum_i D_i max(0, 1 - y_i mu.x_i)^q, in w = R^-1 mu with S = R R':
       for each row, with x^ = R'x and g = 1 - y w.x^
         q = 1   a <- clip(a + g / |x^|^2, 0, C D)
         q = 2   a <- max(0, a + (g - a / (C D)) / (|x^|^2 + 1 / (C D)))
       previous: m = mu, S the new Sigma; kl: m = mu, S the old one; zero: m = 0, S the new one
    """
    D = np.ones(len(y)) if cost is None else cost
    sigma = np.linalg.inv(np.linalg.inv(before.sigma) + C * X.T @ X)
    sigma = (sigma + sigma.T) / 2
    middle = np.zeros(len(before.mu)) if centre == "zero" else before.mu
    R = root(before.sigma if centre == "kl" else sigma)
    w_start = np.linalg.solve(R, middle)
    w, alpha = w_start.copy(), np.zeros(len(y))
    for _ in range(max_inner_iter):
        for i in range(len(y)):
            x = R.T @ X[i]
            g = 1 - y[i] * (w @ x)
            if x @ x == 0:
                continue
            if q == 1:
                new = np.clip(alpha[i] + g / (x @ x), 0, C * D[i])
            else:
                new = max(0.0, alpha[i] + (g - alpha[i] / (C * D[i])) / (x @ x + 1 / (C * D[i])))
            w = w + (new - alpha[i]) * y[i] * x
            alpha[i] = new
    mu = R @ w
    loss = np.maximum(0, 1 - y * (X @ mu))
    pull = X.T @ (alpha * y)
    felt = X.any(axis=1)  # rows of zeros pay the same whatever the weights are: best at a = C D
    full = np.where(felt, alpha, C * D)
    S = R @ R.T
    primal = (w - w_start) @ (w - w_start) / 2 + C / q * (D * loss**q).sum()
    dual = full.sum() - pull @ S @ pull / 2 - middle @ pull - (q - 1) * (full**2 / (2 * C * D)).sum()
    return Gaussian(mu, sigma, alpha, primal, dual)
