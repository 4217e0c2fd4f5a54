"""A kernel as a handful of features, from landmarks among the rows: the fixed-size Nystroem approximation."""

from __future__ import annotations

import math
from numbers import Integral
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .._engine import slices
from .._gate import Rule, beside, is_finite, is_foreign_array, on_host, positive, row_blocks, sparse, take, zeros
from ._kernel import Kernel
from ._landmark_sample import first, swaps
from ._neighbors import Neighbors, anchor_places, share_neighbors
from ._products import Array, squares

CANDIDATES = 2  # rows to choose among, for every landmark
_RELATIVE_CUT = 1e-12  # eigenvalues below this part of the largest are rounding errors
_BLOCK = 1 << 21  # values held at a time while rows are mapped or scored

how_many: Rule = Rule(
    '"sqrt", an integer of at least 1 or a float above 0',
    lambda v: (isinstance(v, str) and v == "sqrt") or positive.holds(v),
    type='int, float or "sqrt"',
)


class FixedSize(NamedTuple):
    """Landmarks S, by their ``places`` among the rows in order, and features with which

        features @ features.T = K[:, S] K[S, S]^+ K[S, :],      features = k(rows, S) root

    of shape (n_rows, r), where r may be less than the number of landmarks if some depend on others.
    """

    kernel: Kernel
    places: NDArray[np.intp]
    root: Array
    features: Array

    def own(self, rows: Any) -> Array:
        """The kernel of each row with itself: not only the part of it that the features have, where there is more."""
        own = squares(self.features) if isinstance(self.kernel, Neighbors) else self.kernel.diagonal(rows)
        return on_host(own)

    def coef(self, weights: Array) -> Array:
        """Coefficients of the landmarks, for weights of the features: k(x, S) coef = features(x) weights."""
        return np.ascontiguousarray(weights @ on_host(self.root).T)


def count_landmarks(n_components: Any, n_rows: int) -> int:
    """The number of landmarks for a value of ``n_components``."""
    if isinstance(n_components, Integral):
        return int(n_components)
    part = 1.0 if n_components == "sqrt" else float(n_components)
    return max(1, math.ceil(round(part * math.sqrt(n_rows), 9)))  # 0.07 * 100 is 7, whatever its last digit says


def fixed_size(kernel: Kernel, rows: Any, n_components: Any, drawn_from: int, who: str) -> FixedSize:
    """Features of all rows, from landmarks of high entropy among a random sample."""
    m = min(count_landmarks(n_components, rows.shape[0]), rows.shape[0])
    if isinstance(kernel, Neighbors):
        places = anchor_places(rows.shape[0], m, drawn_from)
        shared = share_neighbors(kernel, rows, take(rows, places))
        return FixedSize(kernel, places, np.diag(shared.root), shared.dense())
    sample = first(drawn_from, np.arange(rows.shape[0]), CANDIDATES * m)
    places = np.sort(sample[by_entropy(kernel, on_host(take(rows, sample)), m, drawn_from)])
    landmarks = take(rows, places)
    root = beside(inverse_root(kernel(on_host(landmarks)), who), rows)
    return FixedSize(kernel, places, root, mapped(kernel, rows, landmarks, root, who))


def inverse_root(K: Array, who: str) -> Array:
    r"""With :math:`K = U \Lambda U^\top`, :math:`U \Lambda^{-1/2}`, largest eigenvalues first and none of about 0."""
    values, vectors = np.linalg.eigh(K)
    values, vectors = values[::-1], vectors[:, ::-1]
    kept = values > max(values[0], 0.0) * _RELATIVE_CUT
    if not kept.any():
        raise ValueError(f"{who}: the kernel must not be 0 on all landmarks; are all their values 0?")
    values, vectors = values[kept], vectors[:, kept]
    tallest = np.abs(vectors).argmax(axis=0)  # an eigenvector has no sign of its own: its largest entry is positive
    return vectors * (np.sign(vectors[tallest, np.arange(len(values))]) / np.sqrt(values))


def by_entropy(kernel: Kernel, candidates: Any, m: int, drawn_from: int) -> NDArray[np.intp]:
    """The candidates that differ most from one another."""
    places = np.random.default_rng(drawn_from).integers(m, size=candidates.shape[0] - m)
    *_, (chosen, _) = swaps(kernel, candidates, m, places)
    return chosen


def mapped(kernel: Kernel, rows: Any, landmarks: Any, root: Array, who: str) -> Array:
    """The features of rows, block by block."""
    with np.errstate(over="ignore", invalid="ignore"):
        features = kernel_scores(kernel, rows, landmarks, root.T)
    if not is_finite(features):
        raise ValueError(f"{who}: X is so much larger than the landmarks that features overflow; scale it to about 1.")
    return features


def kernel_scores(kernel: Kernel, rows: Any, support_vectors: Any, coef: Array) -> Array:
    """Sums over support vectors, for so many rows at a time that memory stays small."""
    scores = zeros((rows.shape[0], coef.shape[0]), rows)
    if not support_vectors.shape[0]:
        return scores
    per_row = support_vectors.shape[0] if sparse.issparse(rows) else max(support_vectors.shape)
    support_vectors, coef = (beside(values, rows) for values in (support_vectors, coef))
    n_rows = rows.shape[0]
    blocks = (
        row_blocks((n_rows, per_row), rows) if is_foreign_array(rows) else slices(n_rows, max(1, _BLOCK // per_row))
    )
    for part in blocks:
        scores[part, :] = kernel(rows[part, :], support_vectors) @ coef.T
    return scores
