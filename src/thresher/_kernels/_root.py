"""The root that makes kernel values features."""

from __future__ import annotations

import numpy as np

from ._products import Array

_RELATIVE_CUT = 1e-12  # eigenvalues below this part of the largest are rounding errors


def inverse_root(K: Array, who: str) -> Array:
    r"""With :math:`K = U \Lambda U^\top`, :math:`U \Lambda^{-1/2}`, largest eigenvalues first and none of about 0."""
    values, vectors = np.linalg.eigh(K)
    values, vectors = values[::-1], vectors[:, ::-1]
    kept = values > max(values[0], 0.0) * _RELATIVE_CUT
    if not kept.any():
        raise ValueError(f"{who}: the kernel must not be 0 on all landmarks; are all their values 0?")
    values, vectors = values[kept], vectors[:, kept]
    tallest = np.abs(vectors).argmax(axis=0)  # an eigenvector has no sign of its own: its largest entry is positive
    root: Array = vectors * (np.sign(vectors[tallest, np.arange(len(values))]) / np.sqrt(values))
    return root
