"""Squared hinge losses over a quadratic penalty: Newton's method on the rows that cost something."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from .._gate import linalg
from .._kernels import Array
from ._descent import Descent
from ._manifold import Reduced

_EXACT = 1e-13  # a residual that is rounding


def newton(problem: Reduced, sides: Array, cost: Array, tol: float, max_iter: int) -> Descent:
    r"""Minimise, over x and b with e'x = tau b,

        J = sum_i c_i [1 - y_i f_i]_+^2 + x'f,     f = Q x + e b,

    which is optimal where x = c y [1 - y f]_+. With the rows E that cost something held fixed, the minimum solves

        (Q_EE + diag(1 / c)) x_E + e_E b = y_E,     e_E'x_E = tau b,     x = 0 elsewhere.

    If its own rows are E again, it is the answer. Otherwise the way to it is a direction of descent, along which J is
    minimised exactly, so that no E comes twice. The coefficients of the answer are x, the residual is how far from
    optimal it is, as a part of how far 0 is.   Melacci and Belkin (2011), on labelled rows alone.
    """
    x, b, f = np.zeros(len(sides)), 0.0, np.zeros(len(sides))
    values, n_iter, residual = [float(cost.sum())], 0, 1.0
    while n_iter < max_iter:
        active = sides * f < 1
        to_x, to_b = _minimum_with(problem, sides, cost, active)
        to_f = problem.scores(to_x, to_b)
        step = 1.0
        if not np.array_equal(sides * to_f < 1, active):
            dx, df = to_x - x, to_f - f
            step = exact_step(float(x @ df + dx @ f), float(dx @ df), sides * f, sides * df, cost)
        x, b, f = x + step * (to_x - x), b + step * (to_b - b), f + step * (to_f - f)
        n_iter += 1
        lack = np.maximum(1 - sides * f, 0.0)
        residual = float(np.abs(cost * sides * lack - x).max() / cost.max())
        values.append(min(float(cost @ lack**2 + x @ f), values[-1]))
        if residual <= _EXACT or (step == 1.0 and np.array_equal(sides * f < 1, active)):
            return Descent(x, b, values, residual, n_iter, True)
    return Descent(x, b, values, residual, n_iter, residual <= tol)


def _minimum_with(problem: Reduced, sides: Array, cost: Array, active: NDArray[np.bool_]) -> tuple[Array, float]:
    """The minimum if all active rows, and no others, cost the square of what they lack."""
    x, some = np.zeros(len(sides)), np.flatnonzero(active)
    if not len(some):
        return x, 0.0
    found = _solved(problem.half[:, some], cost[some], np.stack([sides[some], problem.e[some]], axis=1))
    bound = problem.tau + problem.e[some] @ found[:, 1]
    b = float(problem.e[some] @ found[:, 0] / bound) if bound > 0 else 0.0  # a constant that changes no score
    x[some] = found[:, 0] - b * found[:, 1]
    return x, b


def _solved(H: Array, cost: Array, right: Array) -> Array:
    """(H'H + diag(1 / c))^-1 times columns, by a system as large as the fewer of rows and columns of H: it is

        C - C H'(I + H C H')^-1 H C,

    applied twice, the second time to what the first leaves by rounding.
    """
    C = cost[:, None]
    if H.shape[1] <= H.shape[0]:
        return linalg.cho_solve(linalg.cho_factor(H.T @ H + np.diag(1.0 / cost)), right)
    factor = linalg.cho_factor(np.eye(len(H)) + H @ (C * H.T))
    found = np.zeros_like(right)
    for _ in range(2):
        left = right - H.T @ (H @ found) - found / C
        found += C * (left - H.T @ linalg.cho_solve(factor, H @ (C * left)))
    return found


def exact_step(slope: float, curvature: float, margins: Array, changes: Array, cost: Array) -> float:
    """The t > 0 with the smallest ``slope t + curvature t^2 + sum_i c_i [1 - m_i - t d_i]_+^2``.

    Its derivative rises, and is straight between the places where a row begins or ceases to cost something.
    """
    moving = changes != 0
    m, d, c = margins[moving], changes[moving], cost[moving]
    at_first = (m < 1) | ((m == 1) & (d < 0))
    with np.errstate(over="ignore"):
        turns = (1 - m) / d
    ahead = (turns > 0) & np.isfinite(turns)
    order = np.flatnonzero(ahead)[np.argsort(turns[ahead], kind="stable")]
    signs = np.where(d[order] > 0, -1.0, 1.0)  # rows that get better leave, others join
    level = slope - 2 * np.sum((c * d * (1 - m))[at_first]) - 2 * np.r_[0, np.cumsum(signs * (c * d * (1 - m))[order])]
    rise = 2 * (curvature + np.sum((c * d * d)[at_first]) + np.r_[0, np.cumsum(signs * (c * d * d)[order])])
    ends = np.r_[turns[order], np.inf]
    with np.errstate(divide="ignore", invalid="ignore"):
        roots = np.where(rise > 0, -level / rise, np.inf)
    first = int(np.argmax(roots <= ends))  # the last end is infinite
    return float(max(roots[first], 0.0)) if np.isfinite(roots[first]) else 1.0
