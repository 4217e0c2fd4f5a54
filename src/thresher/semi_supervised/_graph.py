"""Graphs of neighbouring rows, and how much a function varies along their edges."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .._engine import n_threads
from .._gate import as_csr, is_foreign_array, on_host, sparse
from .._kernels import Array, as_floats, nearest_rows, squared_distances, unit_rows

_MOST = 1e100  # a weight of which squares and sums are numbers
_SAME = 1e-12  # two weights of one edge, as a part of the largest


class Laplacian(NamedTuple):
    """A power of the Laplacian matrix of a graph, which is only ever multiplied with."""

    matrix: Any  # (n, n), CSR or dense; of another library where it is multiplied with its arrays
    power: int = 1

    def times(self, values: Array) -> Array:
        for _ in range(self.power):
            values = self.matrix @ values
        return values


class Drawn(NamedTuple):
    """Options of the edges between rows; ``gamma`` None is derived from the distances between neighbours."""

    graph: str  # "knn" or "full"
    n_neighbors: int
    weights: str  # "binary" or "heat", of a graph of neighbours
    gamma: float | None
    metric: str  # "euclidean" or "cosine"

    def between(self, rows: Any, *, is_kernel: bool) -> Any:
        """The adjacency matrix of rows, or of those whose kernel matrix this is: symmetric, nothing on the diagonal."""
        distances: Array | None = kernel_distances(on_host(rows), self.metric) if is_kernel else None
        if not is_kernel:
            rows = _directions(as_floats(rows)) if self.metric == "cosine" else as_floats(rows)
            distances = on_host(squared_distances(rows, rows)) if self.graph == "full" else None
        near = _search(rows, self.n_neighbors) if distances is None else _nearest(distances, self.n_neighbors)
        gamma = near_width(near.squares) if self.gamma is None else float(self.gamma)
        if self.graph == "full":
            assert distances is not None
            W: Array = np.exp(-gamma * (distances + distances.T) / 2)
            np.fill_diagonal(W, 0.0)
            return W
        return joined(near, np.ones_like(near.squares) if self.weights == "binary" else np.exp(-gamma * near.squares))


class Near(NamedTuple):
    """The nearest other rows of each row, and their squared distances; both of shape (n, k)."""

    places: NDArray[np.intp]
    squares: Array


def near_width(squares: Array) -> float:
    """1 / (2 m^2), with the mean distance m between neighbours."""
    mean = float(np.sqrt(squares).mean()) if squares.size else 0.0
    return 1.0 / (2.0 * mean**2) if mean > np.sqrt(np.finfo(np.float64).tiny) else 1.0


def joined(near: Near, values: Array) -> Any:
    """An edge between two rows of which at least one is near the other."""
    n, k = near.places.shape
    W = sparse.csr_array(
        (values.ravel(), near.places.ravel(), np.arange(0, n * k + 1, max(k, 1))[: n + 1]), shape=(n, n)
    )
    return sparse.csr_array(W.maximum(W.T))  # without those so far apart that nothing is left of their weight


def laplacian(W: Any, *, normalized: bool) -> Any:
    r"""D - W, or :math:`I - D^{-1/2} W D^{-1/2}`, where a row without edges has zeros only."""
    if not normalized:
        degree = np.asarray(W.sum(axis=1), dtype=np.float64).ravel()
        return sparse.csr_array(sparse.diags_array(degree) - W) if sparse.issparse(W) else np.diag(degree) - W
    most = W.max() or 1.0  # it has no scale: by parts of this, no degree overflows
    W = sparse.csr_array((W.data / most, W.indices, W.indptr), shape=W.shape) if sparse.issparse(W) else W / most
    degree = np.asarray(W.sum(axis=1), dtype=np.float64).ravel()
    linked = degree >= np.finfo(np.float64).tiny  # below, nothing is left beside the largest
    root = np.where(linked, 1.0 / np.sqrt(np.where(linked, degree, 1.0)), 0.0)
    own = linked.astype(np.float64)
    if not sparse.issparse(W):
        return np.diag(own) - W * np.outer(root, root)
    edges = W.tocoo()
    scaled = sparse.csr_array((edges.data * (root[edges.row] * root[edges.col]), edges.coords), shape=W.shape)
    return sparse.csr_array(sparse.diags_array(own) - scaled)


def kernel_distances(K: Array, metric: str) -> Array:
    """Squared distances in the space of a kernel; of directions there with ``"cosine"``."""
    diagonal = K.diagonal()
    if metric == "cosine":
        length = np.sqrt(np.where(diagonal > 0, diagonal, 1.0))
        K, diagonal = K / np.outer(length, length), (diagonal > 0).astype(np.float64)
    return np.maximum(diagonal[:, None] + diagonal - 2 * K, 0.0)


def check_adjacency(given: Any, n_rows: int, who: str, *, normalized: bool) -> Any:
    """A graph as users hold it: CSR or dense, float64, without edges from a row to itself."""
    W: Any
    try:
        if np.iscomplexobj(given):
            raise TypeError
        if sparse.issparse(given):
            W = sparse.csr_array(as_csr(given, who), dtype=np.float64, copy=True)
            W.sum_duplicates()
        else:
            W = np.array(given, dtype=np.float64)
    except (TypeError, ValueError):
        raise ValueError(f"{who}: adjacency must be a matrix of numbers.") from None
    if W.shape != (n_rows, n_rows):
        raise ValueError(f"{who}: adjacency must be a square matrix with a row for each of {n_rows}, got {W.shape}.")
    values: NDArray[Any] = np.asarray(W.data) if sparse.issparse(W) else W
    if values.size and not 0 <= values.min() <= values.max() < np.inf:
        wrong = values[~((values >= 0) & (values < np.inf))].flat[0]
        raise ValueError(f"{who}: adjacency must hold finite numbers of at least 0, got {wrong:g}.")
    most = float(values.max()) if values.size else 0.0
    if not normalized and most > _MOST:
        raise ValueError(
            f"{who}: adjacency must hold no number above {_MOST:g} unless normalized is True, got {most:g}."
        )
    if abs(W - W.T).max() > _SAME * most:
        raise ValueError(f"{who}: adjacency must be symmetric.")
    if sparse.issparse(W):
        W = sparse.csr_array(W - sparse.diags_array(W.diagonal()))
        W.eliminate_zeros()
    else:
        np.fill_diagonal(W, 0.0)
    return W


def _directions(rows: Any) -> Any:
    """Rows of length 1."""
    if is_foreign_array(rows):
        return unit_rows(rows)
    from sklearn.preprocessing import normalize

    return normalize(rows)


def _search(rows: Any, n_neighbors: int) -> Near:
    if is_foreign_array(rows):
        return Near(*nearest_rows(rows, min(n_neighbors, rows.shape[0] - 1)))
    from sklearn.neighbors import NearestNeighbors

    found = NearestNeighbors(n_neighbors=min(n_neighbors, rows.shape[0] - 1), n_jobs=n_threads()).fit(rows)
    distances, places = found.kneighbors()
    return Near(places, distances**2)


def _nearest(distances: Array, n_neighbors: int) -> Near:
    others = distances.copy()
    np.fill_diagonal(others, np.inf)
    k = min(n_neighbors, len(others) - 1)
    places = np.argpartition(others, k - 1, axis=1)[:, :k]
    return Near(places, np.take_along_axis(others, places, axis=1))
