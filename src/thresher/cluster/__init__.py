"""Clusters of rows, described by few features."""

from ._sparse_kmeans import SparseKMeans

__all__ = ["SparseKMeans"]
