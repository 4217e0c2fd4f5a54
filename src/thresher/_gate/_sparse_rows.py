"""Sparse rows of a file, without SciPy: importing it takes longer than learning from a small file."""

from __future__ import annotations

import importlib
import sys
from typing import Any

import numpy as np
from numpy.typing import NDArray

_FEW = 1 << 20  # values, up to which NumPy takes rows in less time than SciPy is imported
_OF_FRAMES = {"to_numpy", "columns", "dtypes", "iloc"}  # by which data frames are told from other rows


class SparseRows:
    """Rows with sorted columns, none twice in a row, that read like a csr_array; whatever else is asked of them is
    asked of the csr_array, which shares their memory."""

    ndim = 2
    format = "csr"
    has_sorted_indices = has_canonical_format = True

    def __init__(self, data: NDArray[Any], indices: NDArray[Any], indptr: NDArray[Any], shape: tuple[int, int]) -> None:
        self.data, self.indices, self.indptr, self.shape = data, indices, indptr, shape
        self._csr: Any = None

    @property
    def dtype(self) -> np.dtype[Any]:
        return self.data.dtype

    @property
    def nnz(self) -> int:
        return len(self.data)

    def tocsr(self) -> Any:
        """The same rows as a csr_array."""
        if self._csr is None:
            made = importlib.import_module("scipy.sparse").csr_array(
                (self.data, self.indices, self.indptr), shape=self.shape
            )
            made.has_sorted_indices = made.has_canonical_format = True
            self._csr = made
        return self._csr

    def __getitem__(self, some: Any) -> Any:
        few = "scipy.sparse" not in sys.modules and self.nnz <= _FEW
        rows = np.arange(self.shape[0])[some] if isinstance(some, slice) else some
        if not few or not isinstance(rows, np.ndarray) or rows.dtype.kind not in "iu" or (rows < 0).any():
            return self.tocsr()[some]
        begins, sizes = self.indptr[rows], np.diff(self.indptr)[rows]
        indptr = np.concatenate([self.indptr[:1], np.cumsum(sizes, dtype=self.indptr.dtype)])
        places = np.arange(indptr[-1]) + np.repeat(begins - indptr[:-1], sizes)
        return SparseRows(self.data[places], self.indices[places], indptr, (len(rows), self.shape[1]))

    def __matmul__(self, other: Any) -> Any:
        return self.tocsr() @ other

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") or name in _OF_FRAMES:
            raise AttributeError(name)
        return getattr(self.tocsr(), name)
