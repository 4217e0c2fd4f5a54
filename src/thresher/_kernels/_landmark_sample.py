"""A random sample of rows that come one after another: those whose keys, drawn from a seed and the number of the row,
are smallest. Which rows these are does not depend on how the rows were cut into batches."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

Keys = NDArray[np.uint64]

_STEP = np.uint64(0x9E3779B97F4A7C15)
_FACTORS = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)


def keys(seed: int, indices: NDArray[np.int64]) -> Keys:
    """A random number for every row, all of them different: the generator splitmix64, begun at the seed, at step i."""
    z = np.uint64(seed) + (indices.astype(np.uint64) + np.uint64(1)) * _STEP  # modulo 2^64, as unsigned numbers are
    z = (z ^ (z >> np.uint64(30))) * _FACTORS[0]
    z = (z ^ (z >> np.uint64(27))) * _FACTORS[1]
    return z ^ (z >> np.uint64(31))


def first(seed: int, indices: NDArray[np.int64], size: int) -> NDArray[np.intp]:
    """The places of the ``size`` smallest keys, smallest first."""
    drawn = keys(seed, indices)
    if size < len(drawn):
        places = np.flatnonzero(drawn <= np.partition(drawn, size - 1)[size - 1])
    else:
        places = np.arange(len(drawn))
    return places[np.argsort(drawn[places])]


def stacked(rows: Any, more: Any) -> Any:
    """Rows below rows, in the layout of the first."""
    if not sparse.issparse(rows):
        return np.vstack([rows, more.toarray() if sparse.issparse(more) else more])
    both = sparse.vstack([rows, sparse.csr_array(more)], format="csr")
    return sparse.csr_array(both)


def is_sample(seed: int, indices: NDArray[Any], size: int, n_rows: int) -> bool:
    """Whether ``indices`` may be a sample of that size of so many rows, as :func:`first` orders it."""
    if len(indices) != size or not are_places(indices, n_rows):
        return False
    return np.array_equal(first(seed, indices, size), np.arange(size))


def are_places(indices: NDArray[Any], n_rows: int) -> bool:
    """Whether there is at least one index, and each is of another row."""
    return (
        len(indices) > 0 and indices.min() >= 0 and indices.max() < n_rows and len(np.unique(indices)) == len(indices)
    )
