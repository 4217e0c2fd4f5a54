"""THE DOOR to arrays of other libraries: PyTorch, CuPy and any that keeps to the array API standard strictly.

What is computed from rows is computed where they lie; what is small, or is no number, is copied to NumPy. The functions
leave NumPy arrays and sparse matrices as they are, so that code written with them is the same for all kinds.
"""

from __future__ import annotations

import importlib
import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np

from ._scipy import sparse

_LIBRARIES = {"torch", "cupy", "array_api_strict"}
_VALUES = 1 << 21  # of a block, in the memory of the CPU
_MOST_VALUES = 1 << 27  # of a block, in that of a device
_PARTS = 8  # a block takes at most one part in this many of the free memory


def is_foreign_array(X: Any) -> bool:
    """Whether this is an array of another library than NumPy that computes on its own device."""
    return type(X) is not np.ndarray and type(X).__module__.partition(".")[0] in _LIBRARIES and hasattr(X, "dtype")


def namespace(X: Any) -> Any:
    """The functions of the array API standard for the kind of ``X``."""
    if not is_foreign_array(X):
        return np
    library = type(X).__module__.partition(".")[0]
    return X.__array_namespace__() if library == "array_api_strict" else _compat(library)


def _compat(library: str) -> Any:
    for package in ("array_api_compat", "sklearn.externals.array_api_compat"):
        try:
            return importlib.import_module(f"{package}.{library}")
        except ModuleNotFoundError:
            continue
    raise ModuleNotFoundError(f"Arrays of {library} need the package array-api-compat, or scikit-learn 1.7 or later.")


def on_host(X: Any) -> Any:
    """The same values as a NumPy array."""
    if not is_foreign_array(X):
        return X
    if hasattr(X, "detach"):  # PyTorch
        return X.detach().cpu().numpy()
    if hasattr(X, "get"):  # CuPy
        return X.get()
    return np.asarray(X.to_device(X.__array_namespace__().Device("CPU_DEVICE")))


def beside(values: Any, X: Any) -> Any:
    """The same values as an array of the kind of ``X``, on its device."""
    if type(values) is type(X) is np.ndarray:
        return values  # the everyday case
    if not is_foreign_array(X):
        return on_host(values)
    xp = namespace(X)
    values = values.toarray() if sparse.issparse(values) else values
    if is_foreign_array(values) and namespace(values) is xp:
        return values if values.device == X.device else xp.asarray(on_host(values), device=X.device)
    here = on_host(values)
    return xp.asarray(np.ascontiguousarray(here, dtype=here.dtype.newbyteorder("=")), device=X.device)


def labels_beside(labels: Any, X: Any) -> Any:
    """The same for labels, if these are numbers; words stay in NumPy's arrays."""
    are_numbers = labels.dtype.kind in "biuf" and labels.dtype.itemsize <= 8
    return beside(labels, X) if is_foreign_array(X) and are_numbers else labels


def take(X: Any, places: Any) -> Any:
    """Some of the rows, by NumPy indices."""
    return namespace(X).take(X, beside(places, X), axis=0) if is_foreign_array(X) else X[places]


def as_float64(X: Any) -> Any:
    """An array of another library in double precision, detached from automatic differentiation."""
    xp = namespace(X)
    return xp.astype(X.detach() if hasattr(X, "detach") else X, xp.float64, copy=False)


def zeros(shape: tuple[int, ...], X: Any) -> Any:
    """A float64 array of zeros on the device of ``X``."""
    return _new("zeros", shape, X) if is_foreign_array(X) else np.zeros(shape)


def empty(shape: tuple[int, ...], X: Any) -> Any:
    """An uninitialised float64 array on the device of ``X``."""
    return _new("empty", shape, X) if is_foreign_array(X) else np.empty(shape)


def _new(function: str, shape: tuple[int, ...], X: Any) -> Any:
    xp = namespace(X)
    check_room(shape, X)
    return getattr(xp, function)(shape, dtype=xp.float64, device=X.device)


def is_finite(X: Any) -> bool:
    """Whether all values are finite."""
    if not is_foreign_array(X):
        return bool(np.isfinite(X).all())
    xp = namespace(X)
    return bool(xp.all(xp.isfinite(X)))


def with_diagonal(A: Any, values: Any) -> Any:
    """A square matrix with ``values`` on its diagonal; the matrix may be changed."""
    if not is_foreign_array(A):
        A.flat[:: len(A) + 1] = values
        return A
    xp = namespace(A)
    flat = xp.reshape(A, (-1,))
    flat[:: A.shape[0] + 1] = values
    return xp.reshape(flat, A.shape)


def solve_lower(L: Any, B: Any) -> Any:
    """``L^-1 B`` for a lower triangular matrix of another library."""
    library = type(L).__module__.partition(".")[0]
    if library == "torch":
        return importlib.import_module("torch").linalg.solve_triangular(L, B, upper=False)
    if library == "cupy":
        return importlib.import_module("cupyx.scipy.linalg").solve_triangular(L, B, lower=True)
    return namespace(L).linalg.solve(L, B)


def kth_smallest(X: Any, k: int) -> Any:
    """The value in each row with ``k`` smaller ones, as a column."""
    library = type(X).__module__.partition(".")[0]
    if library == "torch":
        return X.topk(k + 1, dim=1, largest=False).values[:, k:]
    if library == "array_api_strict":
        return namespace(X).sort(X, axis=1)[:, k : k + 1]
    return (np if type(X) is np.ndarray else importlib.import_module("cupy")).partition(X, k, axis=1)[:, k : k + 1]


def k_smallest(X: Any, k: int) -> tuple[Any, Any]:
    """The ``k`` smallest values in each row of an array of another library, and their places, in any order."""
    if type(X).__module__.partition(".")[0] == "torch":
        found = X.topk(k, dim=1, largest=False)
        return found.values, found.indices
    xp = namespace(X)
    places = xp.argsort(X, axis=1)[:, :k]
    return xp.take_along_axis(X, places, axis=1), places


class _FromHost:
    """A sparse matrix whose products with arrays of a library without sparse ones are made by SciPy."""

    def __init__(self, matrix: Any) -> None:
        self._matrix = matrix

    def __matmul__(self, values: Any) -> Any:
        return beside(self._matrix @ on_host(values), values)


def factor_beside(A: Any, X: Any) -> Any:
    """A matrix, sparse or not, to be multiplied with arrays of the kind of ``X`` from the left."""
    if not is_foreign_array(X) or not sparse.issparse(A):
        return beside(A, X)
    library = type(X).__module__.partition(".")[0]
    A = A.tocsr().astype(np.float64)
    if library == "cupy":
        cupy = importlib.import_module("cupy")
        parts = tuple(cupy.asarray(part) for part in (A.data, A.indices, A.indptr))
        return importlib.import_module("cupyx.scipy.sparse").csr_matrix(parts, shape=A.shape)
    if library != "torch":
        return _FromHost(A)
    torch = importlib.import_module("torch")
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Sparse", UserWarning)  # that this part of PyTorch may change
        starts, places = (torch.asarray(part.astype(np.int64), device=X.device) for part in (A.indptr, A.indices))
        return torch.sparse_csr_tensor(starts, places, torch.asarray(A.data, device=X.device), size=A.shape)


def row_blocks(shape: tuple[int, int], X: Any) -> Iterator[slice]:
    """Slices of the rows of an array of float64: blocks whose size follows the memory that is free where ``X`` lies."""
    n_rows, per_row = shape
    free = _free_bytes(X)
    values = _VALUES if free is None else min(_MOST_VALUES, free // 8 // _PARTS)
    size = max(1, values // max(1, per_row))
    for begin in range(0, n_rows, size):
        yield slice(begin, min(begin + size, n_rows))


def check_room(shape: tuple[int, ...], X: Any) -> None:
    """Refuse an array of float64 that cannot fit where ``X`` lies."""
    free, size = _free_bytes(X), 8 * int(np.prod(shape, dtype=object))
    if free is not None and size > free:
        raise MemoryError(
            f"An array of shape {shape} takes {size / 1e9:.1f} GB, and {X.device} has {free / 1e9:.1f} GB free; "
            "take fewer rows or landmarks at a time, or rows in the memory of the CPU."
        )


def _free_bytes(X: Any) -> int | None:
    """The memory that is free on a GPU; None for arrays in the memory of the CPU."""
    library = type(X).__module__.partition(".")[0]
    if library == "torch" and X.device.type == "cuda":
        cuda = importlib.import_module("torch").cuda
        unused = cuda.memory_reserved(X.device) - cuda.memory_allocated(X.device)
        return int(cuda.mem_get_info(X.device)[0]) + int(unused)
    if library == "cupy":
        cupy = importlib.import_module("cupy")
        with X.device:
            return int(X.device.mem_info[0]) + int(cupy.get_default_memory_pool().free_bytes())
    return None
