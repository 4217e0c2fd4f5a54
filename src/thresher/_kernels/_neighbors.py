"""Similarity from neighbours: the width of an RBF kernel, and a kernel of rows that share neighbours."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from .._dataclasses import dataclass
from .._gate import (
    Rule,
    at_least,
    beside,
    is_foreign_array,
    k_smallest,
    kth_smallest,
    linalg,
    namespace,
    on_host,
    row_blocks,
    sparse,
    take,
)
from ._kernel import Kernel
from ._landmark_sample import first
from ._products import Array, as_floats, distances_to, squared_distances

N_NEIGHBORS = 10
_MOST_ASKED = 1000  # rows whose neighbours decide on a width
_SAME = 1e-12  # squared distances below this part of the largest are rounding errors


def n_near(n_rows: int, n_neighbors: int = N_NEIGHBORS) -> int:
    """The number of neighbours among so many rows: 10, or fewer where these would be no neighbours any more."""
    return max(1, min(n_neighbors, math.ceil(math.sqrt(n_rows)), n_rows - 1))


def neighbor_width(X: Any) -> float:
    """The value of ``gamma="neighbors"``: 2 over the median squared distance of a row from its 10th neighbour. The
    neighbours of at most 1000 rows are looked for, among all. 0 where there is no distance."""
    n_rows = X.shape[0]
    if n_rows < 2:
        return 0.0
    asked = np.sort(first(0, np.arange(n_rows), min(n_rows, _MOST_ASKED)))
    k = n_near(n_rows)
    near, farthest = (_of_blocks if is_foreign_array(X) else _at_once)(X, asked, k)
    near = near[near > _SAME * farthest]
    width = 2.0 / float(np.median(near)) if near.size else 0.0
    return width if np.isfinite(width) else 0.0


def _at_once(X: Any, asked: NDArray[np.intp], k: int) -> tuple[Array, float]:
    """The squared distance of some rows from their k-th neighbour, and the largest of all."""
    distances = squared_distances(X[asked], X)
    distances[np.arange(len(asked)), asked] = 0.0
    return np.partition(distances, k, axis=1)[:, k], float(distances.max(initial=0.0))


def _of_blocks(X: Any, asked: NDArray[np.intp], k: int) -> tuple[Array, float]:
    """The same where the rows lie."""
    X, xp = as_floats(X), namespace(X)
    distances_from, numbers = distances_to(X), beside(np.arange(X.shape[0]), X)
    near, farthest = [], 0.0
    for part in row_blocks((len(asked), X.shape[0]), X):
        distances = distances_from(take(X, asked[part]))
        itself = beside(asked[part], X)[:, None] == numbers[None, :]
        distances = xp.where(itself, xp.zeros_like(distances), distances)
        near.append(on_host(kth_smallest(distances, k))[:, 0])
        farthest = max(farthest, float(xp.max(distances)))
    return np.concatenate(near), farthest


def nearest_rows(X: Any, k: int) -> tuple[NDArray[np.intp], Array]:
    """The places of the ``k`` rows nearest to each, without itself, and their squared distances: NumPy arrays of shape
    (n, k), found where the rows of another library lie."""
    X, xp = as_floats(X), namespace(X)
    n_rows, distances_from = X.shape[0], distances_to(X)
    numbers = beside(np.arange(n_rows), X)
    places, squared = np.empty((n_rows, k), dtype=np.intp), np.empty((n_rows, k))
    for part in row_blocks((n_rows, n_rows), X):
        distances = distances_from(X[part, :])
        itself = numbers[part][:, None] == numbers[None, :]
        values, found = k_smallest(xp.where(itself, xp.full_like(distances, xp.inf), distances), k)
        places[part], squared[part] = on_host(found), on_host(values)
    return places, squared


@dataclass(frozen=True)
class Neighbors(Kernel):
    r"""Weights of the nearest of some rows, the anchors: :math:`z_r(x) \propto [1 - \|x - r\|^2 / h(x)^2]_+`, summing
    to 1, with :math:`h` the distance of x from the anchor after its ``n_neighbors`` nearest. Not symmetric:
    :class:`SharedNeighbors` makes a kernel of it."""

    n_neighbors: int = N_NEIGHBORS
    _param_rules: ClassVar[dict[str, Rule]] = {"n_neighbors": at_least(1)}

    def settled(self, X: Any, names: Sequence[str] | None = None) -> Self:
        return self

    def describe(self, names: Sequence[str] | None = None) -> str:
        return f"neighbors({self.n_neighbors})"

    def _against(self, Z: Any) -> Callable[[Any], Array]:
        distances, k = distances_to(Z), n_near(Z.shape[0], self.n_neighbors)
        return lambda X: near_weights(distances(X), k)

    def _on_diagonal(self, X: Any) -> Array:
        raise NotImplementedError


def near_weights(distances: Array, k: int) -> Array:
    """The weights of columns for each row of squared distances: none but those of the k nearest, and of equals."""
    xp = namespace(distances)
    limit = xp.full_like(distances[:, :1], xp.inf) if distances.shape[1] <= k else kth_smallest(distances, k)
    limit = xp.maximum(limit, _SAME * xp.max(distances, axis=1, keepdims=True))
    with np.errstate(invalid="ignore", divide="ignore"):
        weights = xp.where(limit > 0, xp.clip(1.0 - distances / limit, 0.0, None), xp.ones_like(limit))
    total = xp.sum(weights, axis=1, keepdims=True)
    weights = xp.where(total > 0, weights, xp.astype(distances <= limit, xp.float64))  # all as far as the nearest
    return weights / xp.sum(weights, axis=1, keepdims=True)


class SharedNeighbors(NamedTuple):
    r"""The kernel of rows that have anchors in common (Liu, He and Chang, 2010), by the weights Z of anchors:

    .. math:: K = Z \Lambda^{-1} Z^\top = F F^\top, \qquad \Lambda = \mathrm{diag}(Z^\top 1),

    symmetric, positive semi-definite, and with rows that sum to 1. With ``spread`` s, neighbours of neighbours count,
    too: :math:`K (I - s K)^{-1} = F (I - s F^\top F)^{-1} F^\top`, of mean diagonal 1.
    """

    F: Any  # Z Lambda^{-1/2}, CSR; where rows are not in NumPy's arrays, dense
    root: Array  # Lambda^{-1/2}
    between: Array | None  # (I - s F'F)^{-1} over the mean diagonal

    def matrix(self) -> Array:
        """K."""
        if self.between is None:
            K = self.F @ self.F.T
            return np.asarray(K.toarray()) if sparse.issparse(K) else K
        K = self.F @ (self.F @ self.between).T
        return (K + K.T) / 2

    def dense(self) -> Any:
        """F as an array."""
        return self.F.toarray() if sparse.issparse(self.F) else self.F

    def of_anchors(self, coef: Array) -> Array:
        """Values of the anchors, whose mean by weights is the score of a row, from coefficients of rows as columns."""
        values = on_host(self.F.T @ beside(coef.T, self.F)).T
        return np.ascontiguousarray((values if self.between is None else values @ self.between) * self.root)


def share_neighbors(kernel: Neighbors, rows: Any, anchors: Any, spread: float = 0.0) -> SharedNeighbors:
    """The kernel of rows by anchors that they share."""
    if is_foreign_array(rows):
        return _share_where_they_lie(kernel, rows, anchors)
    Z = sparse.csr_array(kernel(rows, anchors))
    size = np.asarray(Z.sum(axis=0)).ravel()
    root = _inverse_root(size)
    F = sparse.csr_array(Z @ sparse.diags_array(root))
    if spread == 0:
        return SharedNeighbors(F, root, None)
    A = (F.T @ F).toarray() * -spread
    A[np.diag_indices_from(A)] += 1.0
    between = linalg.inv(A, overwrite_a=True, check_finite=False)
    between = (between + between.T) / 2
    own = float(np.mean(np.asarray(F.multiply(F @ between).sum(axis=1))))
    return SharedNeighbors(F, root, between / own)


def _share_where_they_lie(kernel: Neighbors, rows: Any, anchors: Any) -> SharedNeighbors:
    """The same of neighbours alone, in arrays of another library."""
    Z = kernel(rows, anchors)
    root = _inverse_root(on_host(namespace(Z).sum(Z, axis=0)))
    Z *= beside(root, Z)
    return SharedNeighbors(Z, root, None)


def _inverse_root(size: Array) -> Array:
    return np.where(size > 0, 1.0 / np.sqrt(np.where(size > 0, size, 1.0)), 0.0)


def anchor_places(n_rows: int, n_anchors: int, drawn_from: int) -> NDArray[np.intp]:
    """The places of a random sample of rows, in order."""
    return np.sort(first(drawn_from, np.arange(n_rows), min(n_anchors, n_rows)))
