"""Some columns of the rows of a batch, with what a least-squares problem over them asks for."""

from __future__ import annotations

from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from .._core import Rows, add_products, take_sparse
from .._engine import matrix_of
from .._estimators import Ids, take
from .._gate import Array, linalg


class ChosenColumns(NamedTuple):
    """Columns in the order in which they were asked for."""

    X: Any
    """An array, or a csr_array of what is stored if the rows are sparse."""
    rows: Rows | None
    """The same, if they are sparse."""

    @classmethod
    def of(cls, rows: Rows, constant: float, ids: Ids) -> Self:
        """Columns with these indices; ``rows.n_features`` is that of the constant."""
        if rows.columns is None:
            return cls(take(rows, constant, ids), None)
        some = take_sparse(rows, constant, np.ascontiguousarray(ids, dtype=np.int64))
        return cls(matrix_of(some), some)

    @classmethod
    def sparse(cls, X: Any) -> Self:
        """Those of a csr_array."""
        return cls(X, Rows.csr(X.data, X.indices, X.indptr.astype(np.int64), X.shape[1], False))

    def scores(self, weights: Array) -> Array:
        return np.asarray(self.X @ weights)

    def pull(self, share: Array) -> Array:
        """X' share."""
        return np.asarray(self.X.T @ share)

    def gram(self, share: Array) -> Array:
        """X' diag(share) X, for shares of at least 0."""
        if self.rows is None:
            some = np.flatnonzero(share)
            X = (self.X if len(some) == len(self.X) else self.X[some]) * np.sqrt(share[some])[:, None]
            return np.asarray(X.T @ X)
        out = np.zeros((self.X.shape[1], self.X.shape[1]))
        add_products(self.rows, share, out)
        return out

    def whitened(self, root: Array, some: slice) -> Array:
        """L^-1 x of some rows."""
        if self.rows is None:
            return whitened(root, self.X[some])
        return np.asarray(self.X[some] @ np.ascontiguousarray(linalg.lapack.dtrtri(root, lower=1)[0].T))

    def is_felt(self) -> NDArray[np.bool_]:
        """Whether a row has any value: one without has no say in the weights."""
        return np.asarray((self.X != 0).sum(axis=1) > 0)


def whitened(root: Array, X: Array) -> Array:
    """L^-1 x of every row, by LAPACK itself: SciPy takes longer to look at a few columns than to solve them."""
    return np.ascontiguousarray(linalg.lapack.dtrtrs(root, X.T, lower=1)[0].T)
