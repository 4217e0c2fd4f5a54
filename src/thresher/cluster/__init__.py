"""Clustering: sparse K-means, kernel spectral clustering and clusters around planes."""

from typing import TYPE_CHECKING

from .._lazy import on_first_use

if TYPE_CHECKING:
    from ._kernel_spectral import KernelSpectralClustering
    from ._path import CentrePath, centre_path
    from ._proximal_planes import ProximalPlaneClustering
    from ._sparse_kmeans import SparseKMeans
    from ._sums import ClusterSums
else:
    __getattr__, __dir__ = on_first_use(__name__, __file__)

__all__ = [
    "CentrePath",
    "ClusterSums",
    "KernelSpectralClustering",
    "ProximalPlaneClustering",
    "SparseKMeans",
    "centre_path",
]
