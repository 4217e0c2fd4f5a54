"""The Laplacian machine's problem for each output: by one factorisation for all, or by products with the kernel."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .._gate import beside, on_host
from .._kernels import Array, FixedSize
from ..solvers import box_qp
from ._conjugate import PrimalProblem
from ._descent import Descent, most_steps
from ._lap_newton import newton
from ._manifold import ManifoldPenalty, Reduced, reduced, root

_INDEFINITE = "{}: the kernel matrix must be positive semi-definite."


class LapProblem(NamedTuple):
    """The places of rows with labels, with a factor for each one's loss and, for each output, its side; and the
    penalty, which says by whether it counts the constant if losses are squared (primal) or not (dual)."""

    labelled: NDArray[np.intp]
    cost: Array
    sides: list[Array]
    penalty: ManifoldPenalty
    tol: float
    max_iter: int


def by_rows(K: Array, given: LapProblem, who: str) -> list[Descent]:
    """With a coefficient for every row."""
    F = root(K)
    if F is None:
        raise ValueError(_INDEFINITE.format(who))
    problem = _reduced(F, given, who)
    found = []
    for one in _solved(problem, given):
        scores = F @ problem.weights(one.coef, one.intercept) + one.intercept
        coef = given.penalty.of_rows(one.coef, given.labelled, scores, one.intercept)
        off = np.abs(K @ coef + one.intercept - scores).max()
        found.append(one._replace(coef=coef, scores=scores, off=float(off / max(1.0, np.abs(scores).max()))))
    return found


def by_landmarks(fixed: FixedSize, given: LapProblem, cache_size: float, who: str) -> list[Descent]:
    """With a coefficient for every landmark."""
    n_labels = len(given.labelled)
    if not given.penalty.with_constant and 8 * n_labels**2 > cache_size * 2**20:
        raise ValueError(
            f"{who}: cache_size must hold a matrix of {n_labels} labels, {8 * n_labels**2 / 2**20:.0f} MB, got "
            f'{cache_size!r}; solver="primal" needs none.'
        )
    problem = _reduced(fixed.features, given, who)
    found = []
    for one in _solved(problem, given):
        w = problem.weights(one.coef, one.intercept)
        scores = on_host(fixed.features @ beside(w, fixed.features)) + one.intercept
        found.append(one._replace(coef=fixed.coef(w[None])[0], scores=scores))
    return found


def by_products(K: Any, given: LapProblem, who: str) -> list[Descent]:
    """With a coefficient for every row, and squared losses, without any factorisation."""
    problems = (PrimalProblem(K, given.labelled, given.penalty, sides, given.cost) for sides in given.sides)
    try:
        found = [problem.descend(given.tol, given.max_iter) for problem in problems]
    except np.linalg.LinAlgError:
        raise ValueError(_INDEFINITE.format(who)) from None
    if not all(np.isfinite([one.residual, one.off, *one.objectives]).all() for one in found):
        raise ValueError(
            f"{who}: the solution overflowed; raise alpha, lower alpha_graph, or scale the features to about 1."
        )
    return found


def hinge(Q: Array, sides: Array, cost: Array, tol: float) -> Descent:
    """Minimise sum_i c_i [1 - y_i f_i]_+ + x'f, with f = Q x + b and 1'x = 0, by its dual in 2x:

    min  u'Q u / 4 - y'u,      0 <= y u <= c,  1'u = 0.
    """
    lower, upper = np.where(sides > 0, 0.0, -cost), np.where(sides > 0, cost, 0.0)
    dual = box_qp(Q / 2, sides, lower, upper, tol=tol, max_iter=most_steps(len(sides)))
    x, f = dual.x / 2, dual.scores + dual.multiplier
    value = float(cost @ np.maximum(1 - sides * f, 0.0) + x @ dual.scores)
    return Descent(x, dual.multiplier, [value], float(dual.gap / value), dual.n_iter, bool(dual.converged))


def _solved(problem: Reduced, given: LapProblem) -> list[Descent]:
    if given.penalty.with_constant:
        return [newton(problem, sides, given.cost, given.tol, given.max_iter) for sides in given.sides]
    Q = problem.Q
    return [hinge(Q, sides, given.cost, given.tol) for sides in given.sides]


def _reduced(F: Array, given: LapProblem, who: str) -> Reduced:
    problem = reduced(F, given.labelled, given.penalty)
    if problem is None:
        raise ValueError(f"{who}: alpha is too small compared with alpha_graph; raise alpha or lower alpha_graph.")
    return problem
