"""Multiple kernel learning by a general convex solver: the primal of the thesis, with nothing of the dual in it."""

from __future__ import annotations

from typing import NamedTuple

import cvxpy as cp
import numpy as np


class Optimum(NamedTuple):
    value: float
    theta: np.ndarray
    scores: np.ndarray


def roots(matrices: np.ndarray) -> list[np.ndarray]:
    """L with K = L L^T, for every K."""
    found = []
    for K in matrices:
        values, vectors = np.linalg.eigh(K)
        kept = values > 1e-13 * max(values.max(), 1e-300)
        found.append(vectors[:, kept] * np.sqrt(values[kept]))
    return found


def members(theta: cp.Variable, *, v: float | None = None, p: float | None = None) -> list:
    """Constraints: the elastic net, the p-norm ball, or (neither) equal weights."""
    if v is not None:
        return [theta >= 0, v * cp.sum(theta) + (1 - v) * cp.sum_squares(theta) <= 1]
    if p is not None:
        return [theta >= 0, cp.norm(theta, p) <= 1]
    return [theta == 1 / theta.size]


def optimum(matrices, y, costs, *, epsilon=None, **weights) -> Optimum:
    """min sum_q |w_q|^2 / (2 theta_q) + sum_i c_i loss_i(sum_q L_q w_q + b): hinge, or with ``epsilon`` that one."""
    factors = roots(matrices)
    theta, b = cp.Variable(len(matrices)), cp.Variable()
    parts = [cp.Variable(L.shape[1]) for L in factors]
    scores = sum(L @ w for L, w in zip(factors, parts, strict=True)) + b
    losses = cp.pos(1 - cp.multiply(y, scores)) if epsilon is None else cp.pos(cp.abs(y - scores) - epsilon)
    penalty = sum(cp.quad_over_lin(w, theta[q]) for q, w in enumerate(parts)) / 2
    problem = cp.Problem(cp.Minimize(penalty + costs @ losses), members(theta, **weights))
    problem.solve(solver="CLARABEL", tol_gap_abs=1e-9, tol_gap_rel=1e-9, tol_feas=1e-9)
    return Optimum(float(problem.value), theta.value, scores.value)


def unit_trace(kernels, X, counts=None) -> np.ndarray:
    """Matrices of rows with one another, each over its trace."""
    counts = np.ones(len(X)) if counts is None else counts
    found = []
    for kernel in kernels:
        K = kernel(X)
        trace = sum(c * k for c, k in zip(counts, np.diag(K), strict=True))
        found.append(K / trace if trace > 0 else 0 * K)
    return np.array(found)
