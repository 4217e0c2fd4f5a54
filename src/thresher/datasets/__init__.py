"""Generated data sets whose truth is known."""

from ._stream import SparseStream, make_sparse_stream

__all__ = ["SparseStream", "make_sparse_stream"]
