"""Losses in the words of a general convex solver."""

from __future__ import annotations

from collections.abc import Sequence

import cvxpy as cp
import numpy as np

from reference.losses import loss as find_loss


def mean_loss(name: str, p: cp.Expression, y: np.ndarray, tau: float = 0.5, epsilon: float = 0.1) -> cp.Expression:
    """(1/n) sum_i loss(p_i, y_i)"""
    return cp.sum(find_loss(name, tau, epsilon).convex(cp, p, y)) / len(y)


def solve(objective: cp.Expression, tolerance: float = 1e-11, constraints: Sequence[cp.Constraint] = ()) -> float:
    problem = cp.Problem(cp.Minimize(objective), list(constraints))
    problem.solve(solver=cp.CLARABEL, tol_gap_abs=tolerance, tol_gap_rel=tolerance, tol_feas=tolerance)
    return float(problem.value)
