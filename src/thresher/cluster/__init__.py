"""Clusters of rows, described by few features."""

from ._sparse_kmeans import SparseKMeans
from ._sums import ClusterSums

__all__ = ["ClusterSums", "SparseKMeans"]
