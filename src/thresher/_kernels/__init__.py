"""Kernels as objects, and the matrices that they make of rows."""

from typing import TYPE_CHECKING

from .._lazy import on_first_use

if TYPE_CHECKING:
    from ._definite import solve_definite
    from ._fixed_size import (
        CANDIDATES,
        FixedSize,
        by_entropy,
        count_landmarks,
        fixed_size,
        how_many,
        inverse_root,
        kernel_scores,
        mapped,
    )
    from ._gram import Gram, gram
    from ._kept_rows import are_rows, as_arrays, as_rows, is_array
    from ._kernel import Kernel, Scaled, WeightedSum
    from ._landmark_sample import are_places, first, is_sample, stacked
    from ._neighbors import (
        Neighbors,
        SharedNeighbors,
        anchor_places,
        n_near,
        nearest_rows,
        neighbor_width,
        share_neighbors,
    )
    from ._objects import RBF, Cosine, Linear, Polynomial, width
    from ._plain import from_plain, to_plain
    from ._products import Array, as_floats, squared_distances, squares, unit_rows
    from ._weighted_pca import Components, of_features, of_kernel, times
else:
    __getattr__, __dir__ = on_first_use(__name__, __file__)
