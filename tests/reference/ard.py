"""Automatic relevance determination with n x n matrices, as (3.16) of Jumutc (2016) is printed."""

from __future__ import annotations

import cvxpy as cp
import numpy as np

from .objectives import solve
from .online import Array


def covariance(X: Array, v: Array, noise: float) -> Array:
    """C = noise I + X diag(v) X'"""
    return noise * np.eye(len(X)) + (X * v) @ X.T


def objective(X: Array, y: Array, v: Array, noise: float) -> float:
    """y' C^-1 y + log det C: twice the negative log likelihood of the targets, but for a constant."""
    C = covariance(X, v, noise)
    return float(y @ np.linalg.solve(C, y) + np.linalg.slogdet(C)[1])


def rounds(X: Array, y: Array, noise: float, n_rounds: int) -> list[Array]:
    """The variances after every round, each lasso solved by a general solver."""
    z, found = np.ones(X.shape[1]), []
    for _ in range(n_rounds):
        w = cp.Variable(X.shape[1])
        solve(cp.sum_squares(y - X @ w) + 2 * noise * (np.sqrt(z) @ cp.abs(w)), 1e-12)
        v = np.where(X.any(axis=0), np.abs(w.value) / np.sqrt(z), 0)  # an empty column has nothing to say
        z = np.einsum("ij,ij->j", X, np.linalg.solve(covariance(X, v, noise), X)) + 1e-300
        found.append(v)
    return found
