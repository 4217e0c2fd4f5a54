"""Clustering: sparse K-means, kernel spectral clustering and clusters around planes."""

from ._kernel_spectral import KernelSpectralClustering
from ._path import CentrePath, centre_path
from ._proximal_planes import ProximalPlaneClustering
from ._sparse_kmeans import SparseKMeans
from ._sums import ClusterSums

__all__ = [
    "CentrePath",
    "ClusterSums",
    "KernelSpectralClustering",
    "ProximalPlaneClustering",
    "SparseKMeans",
    "centre_path",
]
