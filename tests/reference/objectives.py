"""Losses in the words of a general convex solver."""

from __future__ import annotations

from collections.abc import Sequence

import cvxpy as cp
import numpy as np


def mean_loss(name: str, p: cp.Expression, y: np.ndarray, tau: float = 0.5, epsilon: float = 0.1) -> cp.Expression:
    """(1/n) sum_i loss(p_i, y_i)"""
    m = cp.multiply(y, p)
    losses = {
        "hinge": cp.pos(1 - m),
        "squared_hinge": cp.square(cp.pos(1 - m)),
        "pinball": cp.maximum(1 - m, tau * (m - 1)),
        "logistic": cp.logistic(-m),
        "modified_huber": cp.huber(cp.pos(1 - m), 2),
        "squared": cp.square(p - y) / 2,
        "epsilon_insensitive": cp.pos(cp.abs(p - y) - epsilon),
        "quantile": cp.maximum(tau * (y - p), (1 - tau) * (p - y)),
    }
    return cp.sum(losses[name]) / len(y)


def solve(objective: cp.Expression, tolerance: float = 1e-11, constraints: Sequence[cp.Constraint] = ()) -> float:
    problem = cp.Problem(cp.Minimize(objective), list(constraints))
    problem.solve(solver=cp.CLARABEL, tol_gap_abs=tolerance, tol_gap_rel=tolerance, tol_feas=tolerance)
    return float(problem.value)
