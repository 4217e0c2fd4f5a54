"""Quadratic problems in boxes: the dual of a support vector machine and of its relatives."""

from __future__ import annotations

from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .. import _core
from .._gate import at_least, checked, float_array, non_negative

Array = NDArray[np.float64]

_MB = 1 << 20
_SINGLE, _BOTH = 4, 12  # bytes of an entry of K that are kept: in single precision, and in double as well


class BoxSolution(NamedTuple):
    """Solution of :func:`box_qp` or :func:`linear_qp`, with a bound on its error.

    ``scores`` is :math:`K x`. ``multiplier`` belongs to the equality: where x is inside its box and not at a kink,
    ``scores + multiplier * signs = linear``; for a support vector machine, it is the constant term. ``objective - gap``
    is a lower bound of the minimum.
    """

    x: Array
    scores: Array
    multiplier: Any
    objective: float
    gap: float
    n_iter: int
    converged: bool


@checked(tol=non_negative, max_iter=at_least(1), cache_size=non_negative)
def box_qp(
    K: Any,
    linear: Any,
    lower: Any,
    upper: Any,
    *,
    epsilon: Any = 0.0,
    signs: Any = 1.0,
    total: Any = 0.0,
    coupling: Any = None,
    start: Any = None,
    tol: float = 1e-6,
    max_iter: int = 100_000_000,
    cache_size: float = 500.0,
) -> BoxSolution:
    r"""Solve the dual of a support vector machine, or of a related problem.

    .. math:: \min_x\ \tfrac12 x^\top K x - p^\top x + \sum_i \epsilon_i |x_i|
              \quad\text{with}\quad l \le x \le u,\ s^\top x = t

    A machine with labels y in {-1, 1} is ``box_qp(K, y, np.minimum(0, C * y), np.maximum(0, C * y))``, in the variables
    :math:`x = \alpha y`; regression has numbers for p, boxes :math:`[-C, C]` and an epsilon; a one-class machine has
    p = 0 and t = 1.

    Parameters
    ----------
    K : array of shape (n, n), or an object with ``shape``, ``diagonal()`` and ``row(i)``
        Kernel matrix, symmetric and positive semi-definite. Rows of an object are computed when they are needed, and
        kept as far as ``cache_size`` allows.
    linear, lower, upper : array of shape (n,), or a number for all
        p, l and u. Bounds may be infinite.
    epsilon : array or number, default=0
        At least 0.
    signs : array of 1 and -1, default=1
        s.
    total : float, default=0
        t.
    coupling : array of shape (m, m), optional
        Positive semi-definite M, for m blocks of variables: everything above is then of shape (m, n) and t of shape
        (m,), each block has its equality, and the quadratic term is :math:`\tfrac12 \sum_{jk} M_{jk} x_j^\top K x_k`.
    start : array, optional
        A starting point, for instance the solution of a similar problem. It is moved into the boxes.
    tol : float, default=1e-6
        Stop when the duality gap is at most this fraction of the objective.
    max_iter : int, default=100000000
        Largest number of steps, each of which changes two variables.
    cache_size : float, default=500.0
        Memory in megabytes for rows of ``K`` that are computed one by one, and for rows in single precision.

    Returns
    -------
    BoxSolution
        ``x``, ``scores``, ``multiplier``, ``objective``, ``gap``, ``n_iter`` and ``converged``.

    Notes
    -----
    Sequential minimal optimisation [1]_. A step takes O(n) and needs two rows of K. While variables at the ends of
    their boxes are left out, steps read copies of rows in single precision. Scores, objective and gap always come from
    K itself.

    References
    ----------
    .. [1] R.-E. Fan, P.-H. Chen and C.-J. Lin, "Working set selection using second order information for training
       support vector machines", Journal of Machine Learning Research 6, 2005.

    Examples
    --------
    >>> import numpy as np
    >>> from thresher.solvers import box_qp
    >>> X, y = np.array([[0.0], [1.0], [3.0]]), np.array([-1.0, -1.0, 1.0])
    >>> solution = box_qp(X @ X.T, y, np.minimum(0, 10 * y), np.maximum(0, 10 * y))
    >>> (solution.x @ X).round(6), round(solution.multiplier, 6)         # halfway between 1 and 3
    (array([1.]), -2.0)
    """
    n, fill = _size_of(K), partial(filled, "box_qp")
    m = 1 if coupling is None else len(np.atleast_2d(coupling))
    mixed = np.ones((1, 1)) if coupling is None else fill("coupling", coupling, (m, m))
    p, low, high = (
        fill(name, value, (m, n)) for name, value in (("linear", linear), ("lower", lower), ("upper", upper))
    )
    x = np.zeros((m, n)) if start is None else fill("start", start, (m, n)).copy()
    if not (np.isfinite(p).all() and np.isfinite(x).all() and np.isfinite(mixed).all()):
        raise ValueError("box_qp: linear, start and coupling must hold finite numbers.")
    boxes = Boxes(
        p, low, high, fill("epsilon", epsilon, (m, n)), fill("signs", signs, (m, n)), fill("total", total, (m,))
    )
    found = boxes.solved(K, mixed, x, float(tol), int(max_iter), cache_size)
    if coupling is not None:
        return found
    return found._replace(x=found.x[0], scores=found.scores[0], multiplier=float(found.multiplier[0]))


class Boxes(NamedTuple):
    """A problem without its matrix: arrays of shape (m, n), and m totals."""

    linear: Array
    lower: Array
    upper: Array
    epsilon: Array
    signs: Array
    total: Array

    def solved(
        self, K: Any, coupling: Array, x: Array, tol: float, max_iter: int, cache_size: float = 500.0
    ) -> BoxSolution:
        """Solve it from ``x``, of shape (m, n), which changes in place; nothing is checked."""
        m, n = x.shape
        is_whole = isinstance(K, np.ndarray)
        solver = _core.BoxQP(
            K if is_whole else K.row,
            int(min(cache_size * _MB / ((_SINGLE if is_whole else _BOTH) * n), n)),
            np.ascontiguousarray(K.diagonal(), dtype=np.float64),
            *self,
            coupling,
            x,
        )
        converged = solver.run(max_iter, tol)
        if not converged:
            solver.conclude()
        scores, multiplier = np.empty(m * n), np.empty(m)
        objective, gap, n_iter = solver.read(scores, multiplier)
        return BoxSolution(x, scores.reshape(m, n), multiplier, objective, gap, n_iter, converged)


def _size_of(K: Any) -> int:
    shape: tuple[int, ...] = getattr(K, "shape", ())
    if len(shape) != 2 or shape[0] != shape[1] or shape[0] < 1:
        raise ValueError(f"box_qp: K must be a square matrix, got shape {tuple(shape)}.")
    if isinstance(K, np.ndarray) and (K.dtype != np.float64 or not K.flags.c_contiguous):
        raise ValueError(f"box_qp: K must be float64 in C order, got {K.dtype}.")
    if not isinstance(K, np.ndarray) and not (hasattr(K, "diagonal") and hasattr(K, "row")):
        raise ValueError(f"box_qp: K must be an array, or have diagonal() and row(i), got {type(K).__name__}.")
    return int(shape[0])


def filled(who: str, name: str, value: Any, shape: tuple[int, ...]) -> Array:
    """An array with a value for every variable."""
    given = float_array(value, name, who)
    if np.isnan(given).any():
        raise ValueError(f"{who}: {name} must not hold NaN.")
    try:
        return np.ascontiguousarray(np.broadcast_to(given, shape))
    except ValueError:
        raise ValueError(f"{who}: {name} must fit the shape {shape}, got {given.shape}.") from None
