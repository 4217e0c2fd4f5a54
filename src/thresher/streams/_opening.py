"""One file opened by its format."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

from ._arrow import ArrowSource
from ._compression import compression
from ._csv import CsvFormat
from ._documents import DocumentSource
from ._files import check_alike, counts_from_zero, format_by_head, format_by_name, suffix_of
from ._format import Format, ReadOptions
from ._source import Head, RowSource, TextSource, read_head
from ._svmlight import SvmlightFormat


def open_source(file: Path, options: ReadOptions, layout: dict[str, Any] | None) -> RowSource:
    """Open a file; its beginning is read at most once, if the options and the name leave anything to find out."""
    kind = options.format or format_by_name(file)
    head = read_head(file) if _must_look(kind, options, layout) else None
    kind = kind or format_by_head(_given(head))
    if layout is not None:
        check_alike(file, kind, layout)
    if options.zero_based and kind != "svmlight":
        raise ValueError("open_stream: zero_based is for svmlight files.")
    if kind == "documents":
        return DocumentSource(file)
    if kind in ("parquet", "arrow"):
        return ArrowSource(file, kind, options, layout)
    if kind == "csv":
        if options.delimiter is None and suffix_of(file) == ".tsv":
            options = replace(options, delimiter="\t")
        return TextSource(file, CsvFormat(file.name, _given(head), options, layout), options)
    if head is None:
        compression(file)  # refuses at once what cannot be read, not at the first batch
    return TextSource(file, _svmlight(head, options, layout), options)


def _svmlight(head: Head | None, options: ReadOptions, layout: dict[str, Any] | None) -> SvmlightFormat:
    if (options.target, options.header, options.delimiter, *options.text_columns, *options.drop) != (-1, "auto", None):
        raise ValueError("open_stream: target, header, delimiter, text_columns and drop are for tables.")
    from_zero = options.zero_based if layout is None else bool(layout["zero_based"])
    if from_zero is None:
        from_zero = counts_from_zero(_given(head).text)
    return SvmlightFormat("open_stream", options.n_features, from_zero, options.dtype)


def _must_look(kind: Format | None, options: ReadOptions, layout: dict[str, Any] | None) -> bool:
    return kind in (None, "csv") or (kind == "svmlight" and layout is None and options.zero_based is None)


def _given(head: Head | None) -> Head:
    assert head is not None
    return head
