"""Systems with a positive definite matrix, solved where the matrix lies."""

from __future__ import annotations

from typing import Any

from .._gate import check_room, is_finite, namespace, solve_lower, with_diagonal


def solve_definite(K: Any, ridge: Any, targets: Any) -> tuple[Any, Any] | None:
    """The solutions of (K + diag(ridge)) a = t for every column t of the targets, and the diagonal of the inverse, by
    the inverse of the Cholesky factor, in arrays of another library than NumPy; None where the matrix is not positive
    definite."""
    xp, n_rows = namespace(K), K.shape[0]
    check_room((5 * n_rows, n_rows), K)  # the five matrices below
    A = with_diagonal(xp.asarray(K, copy=True), xp.linalg.diagonal(K) + ridge)
    try:
        L = xp.linalg.cholesky(A)
    except Exception as error:  # every library has its own
        if "LinAlgError" not in type(error).__name__:
            raise
        return None
    if not is_finite(L):
        return None
    below = solve_lower(L, xp.eye(n_rows, dtype=xp.float64, device=K.device))
    return below.T @ (below @ targets), xp.sum(below**2, axis=0)
