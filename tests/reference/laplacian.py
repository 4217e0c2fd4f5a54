"""Laplacian support vector machines as they are printed, edge by edge and system by system.

Belkin, Niyogi and Sindhwani (2006); Melacci and Belkin (2011); Jumutc (2016), (2.35) and (2.36).
"""

from __future__ import annotations

from typing import NamedTuple

import cvxpy as cp
import numpy as np

from .objectives import solve as minimise

Array = np.ndarray


def rows(n=50, n_labelled=14, seed=0):
    """Two classes of unequal size, 0 and 1 for some rows in any place, -1 for the others."""
    rng = np.random.default_rng(seed)
    truth = (rng.random(n) < 0.4).astype(int)
    X = rng.normal(size=(n, 3)) + 0.8 * (2.0 * truth - 1)[:, None]
    y = np.full(n, -1)
    y[rng.permutation(n)[:n_labelled]] = 0
    y = np.where(y == 0, truth, -1)
    y[:2], y[-1] = (0, 1), -1
    return X, y


def distances(X: Array, metric: str = "euclidean") -> Array:
    """Between every two rows."""
    if metric == "cosine":
        X = np.array([x / np.linalg.norm(x) if x.any() else x for x in X])
    return np.array([[np.linalg.norm(x - z) for z in X] for x in X])


def knn_adjacency(D: Array, k: int, weights: str = "binary", gamma: float | None = None) -> Array:
    """i and j are joined if one is among the k nearest of the other."""
    n = len(D)
    near = [sorted((j for j in range(n) if j != i), key=lambda j: D[i, j])[:k] for i in range(n)]
    if gamma is None:
        gamma = default_gamma(D, k)
    W = np.zeros((n, n))
    for i in range(n):
        for j in near[i]:
            W[i, j] = W[j, i] = 1.0 if weights == "binary" else np.exp(-gamma * D[i, j] ** 2)
    return W


def default_gamma(D: Array, k: int) -> float:
    """1 / (2 m^2) for the mean distance m of the k nearest."""
    m = np.mean([sorted(np.delete(D[i], i))[:k] for i in range(len(D))])
    return float(1 / (2 * m**2))


def full_adjacency(D: Array, gamma: float) -> Array:
    W = np.exp(-gamma * D**2)
    return W - np.diag(W.diagonal())


def variation(W: Array, f: Array, normalized: bool) -> float:
    """f'Lf, edge by edge."""
    d, total = W.sum(axis=1), 0.0
    for i in range(len(W)):
        for j in range(i):
            if W[i, j] > 0:
                g = f / np.sqrt(np.where(d > 0, d, 1)) if normalized else f
                total += W[i, j] * (g[i] - g[j]) ** 2
    return total


class Problem(NamedTuple):
    """Kernel matrix, Laplacian, sides (0 if unlabelled), factor of each loss, both penalties, loss and constant."""

    K: Array
    L: Array
    y: Array
    cost: Array
    ambient: float
    smoothness: float
    primal: bool

    def penalty(self, coef: Array, b: float) -> float:
        f = self.K @ coef + (b if self.primal else 0.0)
        return float(self.ambient * coef @ self.K @ coef + self.smoothness * f @ self.L @ f)

    def objective(self, coef: Array, b: float) -> float:
        labelled = self.y != 0
        lack = np.maximum(1 - self.y * (self.K @ coef + b), 0)[labelled]
        return float(self.cost[labelled] @ (lack**2 if self.primal else lack) + self.penalty(coef, b))

    def gradient(self, coef: Array, b: float) -> tuple[Array, float]:
        """By coefficients and the constant, of the primal machine."""
        f = self.K @ coef + b
        by_f = 2 * self.smoothness * self.L @ f - 2 * np.where(
            self.y != 0, self.cost * self.y * np.maximum(1 - self.y * f, 0), 0
        )
        return 2 * self.ambient * self.K @ coef + self.K @ by_f, float(by_f.sum())


def by_general_solver(problem: Problem) -> tuple[Array, float]:
    """The scores of all rows, and the smallest objective."""
    values, vectors = np.linalg.eigh(problem.K)
    F = vectors * np.sqrt(np.maximum(values, 0))
    values, vectors = np.linalg.eigh(problem.L)
    half = (vectors * np.sqrt(np.maximum(values, 0))).T
    labelled = problem.y != 0
    w, b = cp.Variable(F.shape[1]), cp.Variable()
    f = F @ w + b
    lack = cp.pos(1 - cp.multiply(problem.y[labelled], f[labelled]))
    along = f if problem.primal else F @ w
    total = problem.cost[labelled] @ (cp.square(lack) if problem.primal else lack)
    total += problem.ambient * cp.sum_squares(w) + problem.smoothness * cp.sum_squares(half @ along)
    value = minimise(total, 1e-12)
    return F @ w.value + b.value, value


def dual_matrix(problem: Problem) -> tuple[Array, Array]:
    """Q = Y J K S0 J'Y and S0 = (2 gA I + 2 gI L K)^{-1}, as printed."""
    n, labelled = len(problem.y), problem.y != 0
    S0 = np.linalg.inv(2 * problem.ambient * np.eye(n) + 2 * problem.smoothness * problem.L @ problem.K)
    Y = np.diag(problem.y[labelled])
    J = np.eye(n)[labelled]
    return Y @ J @ problem.K @ S0 @ J.T @ Y, S0


def newton(problem: Problem, max_iter: int = 50) -> tuple[Array, float]:
    """Coefficients and constant by the system of all rows, without line search, until its rows repeat."""
    K, L, y, g = problem.K, problem.L, problem.y, problem.smoothness
    n, one, coef, b, before = len(y), np.ones(len(y)), np.zeros(len(y)), 0.0, None
    for _ in range(max_iter):
        active = (y != 0) & (y * (K @ coef + b) < 1)
        if before is not None and np.array_equal(active, before):
            return coef, b
        before = active
        E = np.diag(np.where(active, problem.cost, 0.0))
        system = np.block(
            [
                [np.array([[one @ E @ one + g * one @ L @ one]]), (one @ E @ K + g * one @ L @ K)[None]],
                [(E @ one + g * L @ one)[:, None], E @ K + problem.ambient * np.eye(n) + g * L @ K],
            ]
        )
        solution = np.linalg.solve(system, np.r_[one @ E @ y, E @ y])
        b, coef = float(solution[0]), solution[1:]
    raise RuntimeError("it cycles")
