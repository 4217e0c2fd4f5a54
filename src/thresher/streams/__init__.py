"""Rows from files: whole into memory, or batch by batch when they do not fit.

=================================  =====================================================================
:func:`open_stream`                a file as batches of rows, memory bounded by the batch
:func:`read_svmlight`              a whole svmlight file as a CSR array and its targets
:func:`write_svmlight`             rows and targets as svmlight text
:class:`Batch`, :class:`Stream`    what a stream yields, and the stream itself
=================================  =====================================================================
"""

from ._stream import Batch, Stream, open_stream
from ._svmlight import read_svmlight, write_svmlight

__all__ = ["Batch", "Stream", "open_stream", "read_svmlight", "write_svmlight"]
