"""``open_stream``: the options, and the stream that they make."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import DTypeLike

from .._gate import Rule, check_value, none
from ._files import files_of
from ._format import Format, Header, PathLike, ReadOptions
from ._stream import ReadOrder, Stream

_layout = Rule("the layout() of another stream", lambda v: isinstance(v, dict))


def open_stream(
    path: PathLike | Sequence[PathLike],
    *,
    batch_size: int = 4096,
    format: Format | None = None,
    n_features: int | None = None,
    target: int | str | None = -1,
    header: Header = "auto",
    delimiter: str | None = None,
    text_columns: Sequence[int | str] = (),
    drop: Sequence[int | str] = (),
    zero_based: bool | None = None,
    dtype: DTypeLike = np.float64,
    skip_malformed: bool = False,
    max_iter: int = 1,
    shuffle: int = 0,
    random_state: int = 0,
    prefetch: bool = True,
    layout: dict[str, Any] | None = None,
) -> Stream:
    """Open files as a stream of batches, each of `batch_size` rows and the last one of a file of what is left.

    Memory is bounded by the batch (and the longest line), whatever the size of the files. The next batches are read,
    decompressed and parsed in threads while you use the last one.

    Parameters
    ----------
    path : path-like or list of them
        A file, a pattern such as ``"day-*.svm.gz"`` (files in natural order: 2 before 10), or a list of files, read one
        after the other. Compressed files (gzip, bzip2, Zstandard) are recognised by their content. A folder holds
        documents, one sub-folder per class. URLs that fsspec understands (``"s3://bucket/day-*.svm.gz"``, ``http://``,
        chains of them) are fetched first, into the folder that the environment variable THRESHER_CACHE names, or
        among the temporary files; a copy is used again until the file changes.
    batch_size : int
        Rows in a batch.
    format : {"svmlight", "csv", "parquet", "arrow", "documents"}, optional
        By default the suffix decides (before ``.gz`` and the like), and where it says nothing, the first line.
    n_features : int, optional
        Width of every batch; a larger index is refused. By default a batch of svmlight rows is as wide as its own
        largest column, and a table decides by itself.
    target : int, str or None
        Tables: the column with the targets, by number from 0 (negative ones count from the last) or by name; None if
        there is none. Words are welcome as targets.
    header : bool or "auto"
        CSV: whether the first line holds names; by default it is compared with the lines below.
    delimiter : str, optional
        CSV: the character between fields; by default the one that cuts the first lines evenly.
    text_columns : list of int or str
        Tables: columns to take as text though they look like numbers, such as postcodes. Columns with words are text by
        themselves, if more than one field in twenty of the first thousand rows is a word (fewer are mistakes, and
        malformed); :class:`thresher.preprocessing.TableEncoder` makes features of them.
    drop : list of int or str
        Tables: columns to leave out.
    zero_based : bool, optional
        svmlight: whether indices start at 0 instead of 1. By default they do if an index 0 stands in the first two
        megabytes.
    dtype : float64 or float32
        Type of the features. Targets are float64, or text.
    skip_malformed : bool
        Skip lines that cannot be read, and count them in ``Stream.n_skipped``, instead of refusing the file.
    max_iter : int
        Passes over all files, one after the other.
    shuffle : int
        Mix the rows of each run of so many, rounded up to whole batches (at most one file), before they are cut into
        batches; that many are held in memory. 0 leaves rows as they stand.
    random_state : int
        Seed of the mixing. Each pass is mixed anew.
    prefetch : bool
        Whether to work ahead in threads.
    layout : dict, optional
        ``Stream.layout()`` of another stream, to read a table as that one was read: columns are found by name, the
        target may be missing, and `target`, `text_columns` and `drop` are not needed.

    Returns
    -------
    Stream
        Yields :class:`Batch`. A missing number (an empty field, ``NA``, ``NaN``, ``null``, ``?``) is NaN.

    Raises
    ------
    ValueError
        While iterating, at the first line that cannot be read: ``data.svm, line 17, column 9: ...``.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> import numpy as np
    >>> from thresher.streams import open_stream
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "data.csv")
    ...     _ = path.write_text("age,dose,cured\\n31,0.5,yes\\n47,NA,no\\n25,2,yes\\n")
    ...     stream = open_stream(path, batch_size=2, target="cured")
    ...     for batch in stream:
    ...         print(np.asarray(batch.X).tolist(), batch.y, batch.first_line)
    [[31.0, 0.5], [47.0, nan]] ['yes' 'no'] 2
    [[25.0, 2.0]] ['yes'] 4
    >>> stream.feature_names
    ['age', 'dose']
    """
    order = ReadOrder(batch_size, max_iter, shuffle, random_state)
    reading = ReadOptions(
        format=format,
        n_features=n_features,
        target=target,
        header=header,
        delimiter=delimiter,
        text_columns=text_columns,
        drop=drop,
        zero_based=zero_based,
        dtype=dtype,
        skip_malformed=skip_malformed,
        prefetch=prefetch,
    )
    check_value("open_stream", "layout", layout, none | _layout)
    return Stream(files_of(path), reading, order, layout)
