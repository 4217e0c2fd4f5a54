"""Rows that a model keeps, as named arrays that a file can hold."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import _gate
from .._gate import as_float64, is_foreign_array, sparse

_FEW = 1 << 20  # sparse rows of up to so many values in all are kept dense, which is faster


def as_arrays(rows: Any, n_rows: int | None = None) -> dict[str, NDArray[Any]]:
    """Rows, of which there may be ``n_rows`` one day, as named arrays, which a model file can hold."""
    if is_foreign_array(rows):
        return {"rows": as_float64(rows)}
    if not sparse.issparse(rows):
        return {"rows": rows.astype(np.float64)}
    if math.prod((n_rows or rows.shape[0], rows.shape[1])) <= _FEW:
        return {"rows": rows.toarray().astype(np.float64)}
    return {"data": rows.data.astype(np.float64), "indices": rows.indices, "indptr": rows.indptr}


def as_rows(parts: dict[str, NDArray[Any]], shape: tuple[int, int]) -> Any:
    """The rows again: see :func:`as_arrays`."""
    if "rows" in parts:
        return parts["rows"]
    return sparse.csr_array(tuple(parts[name] for name in ("data", "indices", "indptr")), shape=shape)


def is_array(value: Any, kind: str, ndim: int) -> bool:
    return (
        isinstance(value, np.ndarray)
        and value.dtype.kind == kind
        and value.dtype.itemsize <= 8
        and value.ndim == ndim
        and bool(np.isfinite(value).all())
    )


def _is_moderate(values: NDArray[Any]) -> bool:
    return not values.size or float(np.abs(values).max()) <= _gate.HUGE  # as the gate has it


def are_rows(parts: dict[str, Any], shape: tuple[int, int]) -> bool:
    """Whether named arrays are the rows of a matrix of that shape: see :func:`as_arrays`."""
    if set(parts) == {"rows"}:
        return is_array(parts["rows"], "f", 2) and parts["rows"].shape == shape and _is_moderate(parts["rows"])
    if set(parts) != {"data", "indices", "indptr"}:
        return False
    data, indices, starts = parts["data"], parts["indices"], parts["indptr"]
    if not (is_array(data, "f", 1) and is_array(indices, "i", 1) and is_array(starts, "i", 1)):
        return False
    if starts.shape != (shape[0] + 1,) or indices.shape != data.shape or (starts[0], starts[-1]) != (0, len(data)):
        return False
    if (np.diff(starts) < 0).any() or ((indices < 0) | (indices >= shape[1])).any():
        return False
    rows = sparse.csr_array((data, indices, starts), shape=shape)
    return bool(rows.has_canonical_format) and _is_moderate(data)
