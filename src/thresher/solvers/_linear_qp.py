"""Quadratic problems in boxes whose kernel is the inner product, on rows and without a kernel matrix."""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import _core, _gate
from .._gate import at_least, checked, non_negative, number
from ._box_qp import Array, BoxSolution, filled

_ROUND = 10  # passes after which rows that were left out are looked at again


@checked(tol=non_negative, max_iter=at_least(1), total=number)
def linear_qp(
    X: Any,
    linear: Any,
    lower: Any,
    upper: Any,
    *,
    epsilon: Any = 0.0,
    total: float = 0.0,
    start: Any = None,
    tol: float = 1e-6,
    max_iter: int = 10_000,
) -> BoxSolution:
    r"""Solve the problem of :func:`box_qp` for the kernel :math:`K = X X^\top` without computing the matrix.

    Parameters
    ----------
    X : array or CSR matrix of shape (n, n_features)
        Rows.
    linear, lower, upper, epsilon, total, start
        As for :func:`box_qp`, with finite bounds.
    tol : float, default=1e-6
        Stop when the duality gap is at most this fraction of the objective.
    max_iter : int, default=10000
        Largest number of passes over the rows.

    Returns
    -------
    BoxSolution
        ``X.T @ x`` are the weights of the linear model and ``multiplier`` its constant; ``n_iter`` counts passes.

    Notes
    -----
    Dual coordinate descent [1]_; a pass takes O(non-zeros). The equality couples all variables. The method of
    multipliers enforces it: its square acts as a constant feature of every row.

    References
    ----------
    .. [1] C.-J. Hsieh, K.-W. Chang, C.-J. Lin, S. S. Keerthi and S. Sundararajan, "A dual coordinate descent method for
       large-scale linear SVM", ICML 2008.

    Examples
    --------
    >>> import numpy as np
    >>> from thresher.solvers import linear_qp
    >>> X, y = np.array([[0.0], [1.0], [3.0]]), np.array([-1.0, -1.0, 1.0])
    >>> solution = linear_qp(X, y, np.minimum(0, 10 * y), np.maximum(0, 10 * y), tol=1e-9)
    >>> (solution.x @ X).round(4), round(solution.multiplier, 4)
    (array([1.]), -2.0)
    """
    who = "linear_qp"
    matrix = _gate.as_matrix(X, who)
    n = matrix.shape[0]
    p, low, high, cost = (filled(who, name, value, (n,)) for name, value in
                          (("linear", linear), ("lower", lower), ("upper", upper), ("epsilon", epsilon)))  # fmt: skip
    if not (np.isfinite(low).all() and np.isfinite(high).all()):
        raise ValueError(f"{who}: lower and upper must hold finite numbers.")
    if (low > high).any() or not ((cost >= 0) & (cost < np.inf)).all():
        raise ValueError(f"{who}: lower must not exceed upper, and epsilon must hold finite numbers of at least 0.")
    if not low.sum() <= total <= high.sum():
        raise ValueError(f"{who}: no x inside the boxes meets the equality.")
    x = np.zeros(n) if start is None else filled(who, "start", start, (n,)).copy()
    return _Descent(matrix, p, low, high, cost, float(total), np.clip(x, low, high)).run(float(tol), int(max_iter))


class _Descent:
    """Passes over rows with one more feature, the constant of the equality, and its multiplier."""

    def __init__(self, matrix: Any, p: Array, low: Array, high: Array, cost: Array, total: float, x: Array) -> None:
        self.matrix, self.rows = matrix, _gate.as_rows(matrix, "linear_qp")
        self.p, self.low, self.high, self.cost, self.total, self.x = p, low, high, cost, total, x
        squares = _core.row_squares(self.rows, 0.0)
        self.constant = float(np.sqrt(max(squares.mean(), np.finfo(float).tiny)))
        self.squares = squares + self.constant**2
        self.multiplier = 0.0
        self.slack = np.full(len(x), np.inf)

    def run(self, tol: float, max_iter: int) -> BoxSolution:
        rng = np.random.default_rng(0)
        everyone = np.arange(len(self.x))
        found, next_look, n_pass = self._solution(0, False), 1, 0
        self.multiplier = found.multiplier
        w = self._weights()
        while n_pass < max_iter:
            some = everyone if n_pass % _ROUND == 0 else everyone[self._may_move()]
            linear = self.p - self.multiplier + self.constant**2 * self.total
            _core.box_descend(
                self.rows, self.constant, self.squares, linear, self.low, self.high, self.cost,
                rng.permutation(some), self.x, w, self.slack,
            )  # fmt: skip
            n_pass += 1
            excess = self.constant * w[-1] - self.constant**2 * self.total
            if self.slack[some].max(initial=0.0) <= abs(excess):
                self.multiplier += excess
            if n_pass >= next_look:
                next_look = n_pass + max(1, n_pass // 5)
                found = self._solution(n_pass, True)
                if found.gap <= tol * max(abs(found.objective), np.finfo(float).tiny):
                    return found
                w = self._weights()
        return self._solution(n_pass, False)

    def _may_move(self) -> Any:
        return (self.slack > 0) | ((self.x > self.low) & (self.x < self.high) & (self.x != 0))

    def _weights(self) -> Array:
        return np.append(self.x @ self.matrix, self.constant * self.x.sum())

    def _solution(self, n_iter: int, converged: bool) -> BoxSolution:
        """The point nearby that meets the equality, with its bound."""
        x = _onto(self.x, self.low, self.high, self.total)
        scores = np.asarray(self.matrix @ (x @ self.matrix), dtype=np.float64)
        objective, gap, multiplier = _core.box_certify(scores, self.p, self.low, self.high, self.cost, self.total, x)
        return BoxSolution(x, scores, multiplier, objective, gap, n_iter, converged)


def _onto(x: Array, low: Array, high: Array, total: float) -> Array:
    """``x`` moved inside the boxes until it sums to ``total``: variables that are inside share the difference."""
    x = x.copy()
    for _ in range(100):
        missing = total - x.sum()
        room = (high - x) if missing > 0 else (x - low)
        inside = (x > low) & (x < high)
        some = room * inside if (room * inside).sum() >= abs(missing) else room
        if some.sum() == 0 or missing == 0:
            break
        x = np.clip(x + np.sign(missing) * some * min(1.0, abs(missing) / some.sum()), low, high)
        if abs(total - x.sum()) <= 1e-14 * max(1.0, np.abs(x).sum()):
            break
    return x
