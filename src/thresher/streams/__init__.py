"""Reading rows from files, at once or in batches.

=================================  =====================================================================
:func:`open_stream`                files as batches of rows, memory bounded by the batch
:func:`read_svmlight`              a whole svmlight file as a CSR array and its targets
:func:`write_svmlight`             rows and targets as svmlight text
:class:`Batch`, :class:`Stream`    rows with their place in a file, and the stream that yields them
:class:`Position`                  a place in a stream, to continue from
:func:`has_target`                 the rows whose target is not missing
:class:`Table`, :class:`Text`      rows with column names, and columns of text
=================================  =====================================================================
"""

from typing import TYPE_CHECKING

from .._lazy import on_first_use

if TYPE_CHECKING:
    from .._gate import Table, Text
    from ._arrow import tables_of as tables_of
    from ._batch import Batch, Position, has_target
    from ._column_places import checked_layout as checked_layout
    from ._files import absolute_names as absolute_names
    from ._files import files_of as files_of
    from ._files import format_of as format_of
    from ._files import names_of as names_of
    from ._files import version_of as version_of
    from ._remote import is_url as is_url
    from ._row_objects import are_rows as are_rows
    from ._source import MISSING_WORDS as MISSING_WORDS
    from ._stream import Stream, open_stream
    from ._svmlight import read_svmlight, write_svmlight
else:
    __getattr__, __dir__ = on_first_use(__name__, __file__)

__all__ = [
    "Batch",
    "Position",
    "Stream",
    "Table",
    "Text",
    "has_target",
    "open_stream",
    "read_svmlight",
    "write_svmlight",
]
