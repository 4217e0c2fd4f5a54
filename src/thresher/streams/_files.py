"""The files that a path or pattern means, their formats, and how to open one."""

from __future__ import annotations

import functools
import glob
import os
import re
import zlib
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from ._arrow import ArrowSource
from ._compression import SUFFIXES as COMPRESSED
from ._compression import compression
from ._csv import CsvFormat
from ._documents import DocumentSource
from ._remote import cache_key, expand, fetch, is_url, natural_order, opened
from ._source import Format, Head, PathLike, ReadOptions, RowSource, TextSource, read_head
from ._svmlight import SvmlightFormat

_SUFFIXES: dict[str, Format] = {
    ".svm": "svmlight",
    ".svmlight": "svmlight",
    ".libsvm": "svmlight",
    ".csv": "csv",
    ".tsv": "csv",
    ".parquet": "parquet",
    ".pq": "parquet",
    ".arrow": "arrow",
    ".feather": "arrow",
    ".ipc": "arrow",
}
_TARGET_ALONE = re.compile(rb"\s*[-+0-9.eE]+\s*(#.*)?")  # a row without features
_SVMLIGHT_LINE = re.compile(rb"\s*[-+0-9.eE]+(\s+(\d+|qid):\S+)+\s*(#.*)?")
_BLOCK, _BLOCKS = 1 << 16, 16  # of a file, in its checksum
_INDEX_ZERO = re.compile(rb"^[^#\n]*[ \t]0+:", re.MULTILINE)


def files_of(path: PathLike | Sequence[PathLike]) -> list[Path]:
    """All files that are meant, in order; each must be there, or is fetched."""
    return [fetch(file) if isinstance(file, str) else file for file in names_of(path)]


def names_of(path: PathLike | Sequence[PathLike]) -> list[Path | str]:
    """All files that are meant, in order: paths, which must be there, and URLs, none of which is fetched."""
    names: list[Path | str]
    if is_url(path):
        return list(expand(str(path)))
    if not isinstance(path, (str, os.PathLike)):
        names = [name for file in path for name in (expand(str(file)) if is_url(file) else [Path(file)])]
        if not names:
            raise ValueError("open_stream: the list of files is empty.")
    elif isinstance(path, str) and glob.has_magic(path) and not os.path.exists(path):
        names = [*sorted(map(Path, glob.glob(path, recursive=True)), key=natural_order)]
        if not names:
            raise FileNotFoundError(f"No file matches {path!r}.")
    else:
        names = [Path(path)]
    for file in names:
        if isinstance(file, Path) and not file.exists():
            raise FileNotFoundError(f"{file}: no such file.")
    return names


def absolute_names(path: PathLike) -> list[str]:
    """All files that are meant, in order: absolute paths, and URLs as they are."""
    text = os.fspath(path)
    names = names_of(text if is_url(text) else str(Path(text).absolute()))
    return [name if isinstance(name, str) else str(name.absolute()) for name in names]


def version_of(path: PathLike) -> Any:
    """A value of JSON that differs when the content of a file does.

    For a file on this machine, its size and a checksum of some blocks; for a URL, the version that its file system
    reports. None for a file that does not exist, and the URL itself where nobody answers.
    """
    text = os.fspath(path)
    if is_url(text):
        try:
            system, inside = opened(text)
            return cache_key(text, system.info(inside))
        except OSError:  # whoever reads it will tell
            return text
    if not os.path.exists(text):
        return None
    if os.path.isdir(text):
        return [0, 0]
    size, checksum = os.path.getsize(text), 0
    with open(text, "rb") as file:
        for place in range(_BLOCKS + 1):  # first, last, and evenly between
            file.seek(max(0, size - _BLOCK) * place // _BLOCKS)
            checksum = zlib.crc32(file.read(_BLOCK), checksum)
    return [size, checksum]


def size_of(path: Path) -> int:
    """Bytes on disk. A file that cannot hold rows is refused, long before it is its turn."""
    if path.is_dir():
        return DocumentSource(path).n_bytes
    compression(path)
    return path.stat().st_size


def suffix_of(path: Path) -> str:
    """The suffix of the format, below that of a compression."""
    suffixes = [suffix.lower() for suffix in path.suffixes]
    return next((suffix for suffix in reversed(suffixes) if suffix not in COMPRESSED), "")


def format_of(path: Path) -> Format:
    """The format, by the name or else by the first bytes."""
    return format_by_name(path) or format_by_head(read_head(path))


def format_by_name(path: Path) -> Format | None:
    """The format by a file's name; None if the file must be looked at."""
    return "documents" if path.is_dir() else _SUFFIXES.get(suffix_of(path))


def format_by_head(head: Head) -> Format:
    """The format by the beginning of a file."""
    if head.magic.startswith(b"PAR1"):
        return "parquet"
    if head.magic.startswith(b"ARROW1"):
        return "arrow"
    text = head.text.removeprefix(b"\xef\xbb\xbf")
    lines = (line for line in text.splitlines() if line.strip() and not line.startswith(b"#"))
    telling = next((line for line in lines if not _TARGET_ALONE.fullmatch(line)), b"")
    return "svmlight" if _SVMLIGHT_LINE.fullmatch(telling) else "csv"


def counts_from_zero(text: bytes) -> bool:
    """Whether the first rows of a svmlight file have a feature 0."""
    maybe = b" 0" in text or b"\t0" in text  # a search for bytes spares most files the slow one
    return maybe and _INDEX_ZERO.search(text) is not None


def check_same_features(path: Path, kind: Format, layout: dict[str, Any]) -> None:
    """Refuse a file that cannot hold the same features as those read before."""
    before = "svmlight" if "zero_based" in layout else "tables"
    if (kind == "svmlight") != (before == "svmlight") or (kind == "documents" and layout.get("columns") != ["text"]):
        raise ValueError(f"{path.name}: the format is {kind}, but it is to be read like others that are {before}.")


def open_source(file: Path, options: ReadOptions, layout: dict[str, Any] | None) -> RowSource:
    """Open a file; its beginning is read at most once, if the options and the name leave anything to find out."""
    head = functools.cache(lambda: read_head(file))
    kind = options.format or format_by_name(file) or format_by_head(head())
    if layout is not None:
        check_same_features(file, kind, layout)
    if options.zero_based and kind != "svmlight":
        raise ValueError("open_stream: zero_based is for svmlight files.")
    if kind == "documents":
        return DocumentSource(file)
    if kind in ("parquet", "arrow"):
        return ArrowSource(file, kind, options, layout)
    if kind == "csv":
        if options.delimiter is None and suffix_of(file) == ".tsv":
            options = replace(options, delimiter="\t")
        return TextSource(file, CsvFormat(file.name, head(), options, layout), options)
    if (options.target, options.header, options.delimiter, *options.text_columns, *options.drop) != (-1, "auto", None):
        raise ValueError("open_stream: target, header, delimiter, text_columns and drop are for tables.")
    from_zero = options.zero_based if layout is None else bool(layout["zero_based"])
    if from_zero is None:
        from_zero = counts_from_zero(head().text)
    else:
        compression(file)  # refuses at once what cannot be read, not at the first batch
    return TextSource(file, SvmlightFormat(options.n_features, from_zero, options.dtype), options)
