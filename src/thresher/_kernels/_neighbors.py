"""Similarity from neighbours: the width of an RBF kernel, and a kernel of rows that share neighbours."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray
from scipy import linalg, sparse

from .._gate import Rule, at_least
from ._kernel import Kernel
from ._landmark_sample import first
from ._products import Array, distances_to, squared_distances

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
    distances = squared_distances(X[asked], X)
    distances[np.arange(len(asked)), asked] = 0.0
    k = n_near(n_rows)
    near = np.partition(distances, k, axis=1)[:, k]
    near = near[near > _SAME * distances.max(initial=0.0)]
    width = 2.0 / float(np.median(near)) if near.size else 0.0
    return width if np.isfinite(width) else 0.0


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
    if distances.shape[1] <= k:
        limit = np.full((len(distances), 1), np.inf)
    else:
        limit = np.partition(distances, k, axis=1)[:, k : k + 1]
    limit = np.maximum(limit, _SAME * distances.max(axis=1, initial=0.0, keepdims=True))
    with np.errstate(invalid="ignore", divide="ignore"):
        weights = np.where(limit > 0, np.maximum(1.0 - distances / limit, 0.0), 1.0)
    total = weights.sum(axis=1, keepdims=True)
    weights = np.where(total > 0, weights, distances <= limit)  # all as far as the nearest
    return np.asarray(weights / weights.sum(axis=1, keepdims=True))


class SharedNeighbors(NamedTuple):
    r"""The kernel of rows that have anchors in common (Liu, He and Chang, 2010), by the weights Z of anchors:

    .. math:: K = Z \Lambda^{-1} Z^\top = F F^\top, \qquad \Lambda = \mathrm{diag}(Z^\top 1),

    symmetric, positive semi-definite, and with rows that sum to 1. With ``spread`` s, neighbours of neighbours count,
    too: :math:`K (I - s K)^{-1} = F (I - s F^\top F)^{-1} F^\top`, of mean diagonal 1.
    """

    F: Any  # Z Lambda^{-1/2}, CSR
    root: Array  # Lambda^{-1/2}
    between: Array | None  # (I - s F'F)^{-1} over the mean diagonal

    def matrix(self) -> Array:
        """K."""
        if self.between is None:
            return np.asarray((self.F @ self.F.T).toarray())
        K = self.F @ (self.F @ self.between).T
        return (K + K.T) / 2

    def of_anchors(self, coef: Array) -> Array:
        """Values of the anchors, whose mean by weights is the score of a row, from coefficients of rows as columns."""
        values = (self.F.T @ coef.T).T
        return np.ascontiguousarray((values if self.between is None else values @ self.between) * self.root)


def share_neighbors(kernel: Neighbors, rows: Any, anchors: Any, spread: float = 0.0) -> SharedNeighbors:
    """The kernel of rows by anchors that they share."""
    Z = sparse.csr_array(kernel(rows, anchors))
    size = np.asarray(Z.sum(axis=0)).ravel()
    root = np.where(size > 0, 1.0 / np.sqrt(np.where(size > 0, size, 1.0)), 0.0)
    F = sparse.csr_array(Z @ sparse.diags_array(root))
    if spread == 0:
        return SharedNeighbors(F, root, None)
    A = (F.T @ F).toarray() * -spread
    A[np.diag_indices_from(A)] += 1.0
    between = linalg.inv(A, overwrite_a=True, check_finite=False)
    between = (between + between.T) / 2
    own = float(np.mean(np.asarray(F.multiply(F @ between).sum(axis=1))))
    return SharedNeighbors(F, root, between / own)


def anchor_places(n_rows: int, n_anchors: int, drawn_from: int) -> NDArray[np.intp]:
    """The places of a random sample of rows, in order."""
    return np.sort(first(drawn_from, np.arange(n_rows), min(n_anchors, n_rows)))
