"""Rows from files: whole into memory, or batch by batch when they do not fit.

=================================  =====================================================================
:func:`open_stream`                files as batches of rows, memory bounded by the batch
:func:`read_svmlight`              a whole svmlight file as a CSR array and its targets
:func:`write_svmlight`             rows and targets as svmlight text
:class:`Batch`, :class:`Stream`    what a stream yields, and the stream itself
:class:`Position`                  a place in a stream, to go on from
:class:`Table`, :class:`Text`      rows with column names, and columns of text
=================================  =====================================================================
"""

from .._table import Table, Text
from ._stream import Batch, Position, Stream, open_stream
from ._svmlight import read_svmlight, write_svmlight

__all__ = ["Batch", "Position", "Stream", "Table", "Text", "open_stream", "read_svmlight", "write_svmlight"]
