"""The least-squares support vector machine of Suykens and Vandewalle (1999), as its whole linear system."""

from __future__ import annotations

import numpy as np

Array = np.ndarray


def solve(K: Array, y: Array, C: float, weight: Array) -> tuple[Array, float]:
    """In the paper's variables: alpha_i = C v_i e_i and the system

        [ 0   y'                 ] [ b     ]   [ 0 ]
        [ y   Omega + D          ] [ alpha ] = [ 1 ],   Omega_ij = y_i y_j K_ij,  D = diag(1 / (C v_i)).

    Returns alpha_i y_i, the coefficient of row i, and b.
    """
    n = len(y)
    system = np.zeros((n + 1, n + 1))
    system[0, 1:] = system[1:, 0] = y
    system[1:, 1:] = np.outer(y, y) * K + np.diag(1 / (C * weight))
    solution = np.linalg.solve(system, np.r_[0.0, np.ones(n)])
    return solution[1:] * y, float(solution[0])


def left_out_scores(K: Array, y: Array, C: float, weight: Array) -> Array:
    """The score of each row by the machine that was solved without it."""
    scores = []
    for i in range(len(y)):
        rest = np.arange(len(y)) != i
        coef, b = solve(K[np.ix_(rest, rest)], y[rest], C, weight[rest])
        scores.append(K[i, rest] @ coef + b)
    return np.array(scores)
