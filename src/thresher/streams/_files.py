"""The files that a path or pattern means, their formats, and how to open one."""

from __future__ import annotations

import functools
import glob
import os
import re
import zlib
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from ._compression import SUFFIXES as COMPRESSED
from ._compression import compression
from ._recognise import is_spreadsheet, refuse_binary
from ._remote import cache_key, expand, fetch, is_url, natural_order, opened
from ._source import (
    BYTE_ORDER_MARK,
    Format,
    Head,
    Partition,
    PathLike,
    ReadOptions,
    RowSource,
    TextSource,
    read_head,
)

_SUFFIXES: dict[str, Format] = {
    ".svm": "svmlight",
    ".svmlight": "svmlight",
    ".libsvm": "svmlight",
    ".vw": "vw",
    ".csv": "csv",
    ".tsv": "csv",
    ".jsonl": "json",
    ".ndjson": "json",
    ".json": "json",
    ".xlsx": "excel",
    ".xlsm": "excel",
    ".xlsb": "excel",
    ".xls": "excel",
    ".ods": "excel",
    ".parquet": "parquet",
    ".pq": "parquet",
    ".arrow": "arrow",
    ".feather": "arrow",
    ".ipc": "arrow",
}
_TARGET_ALONE = re.compile(rb"\s*[-+0-9.eE]+\s*(#.*)?")  # a row without features
_SVMLIGHT_LINE = re.compile(rb"\s*[-+0-9.eE]+(\s+(\d+|qid):\S+)+\s*(#.*)?")
_JSON_LINE = re.compile(rb'\s*\{\s*("|\}\s*\n)')
_WHOLE = 1 << 30  # bytes of a file up to which all of them are in its checksum,
_BLOCK, _BLOCKS = 1 << 16, 16  # else these, and the time when it was changed
_INDEX_ZERO = re.compile(rb"^[^#\n]*[ \t]0+:", re.MULTILINE)


def files_of(path: PathLike | Sequence[PathLike]) -> list[Path]:
    """All files that are meant, in order; each must be there, or is fetched."""
    return [fetch(file) if isinstance(file, str) else file for file in names_of(path)]


def names_of(path: PathLike | Sequence[PathLike]) -> list[Path | str]:
    """All files that were named, in order: paths, which must exist, and URLs, which are not fetched yet."""
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

    For a file on this machine, its size and a checksum of all its bytes; beyond a gigabyte, of some blocks and the time
    of its last change. For a folder, the same of all its documents and their names. For a URL, the version that its
    file system reports. None for a file that does not exist, and the URL itself if its server does not answer.
    """
    text = os.fspath(path)
    if is_url(text):
        try:
            system, inside = opened(text)
            return cache_key(text, system.info(inside))
        except OSError:  # the reader raises the error
            return text
    if not os.path.exists(text):
        return None
    if os.path.isdir(text):
        return _version_of_folder(Path(text))
    return _version_of_file(text)


def _version_of_folder(folder: Path) -> list[int]:
    from ._documents import DocumentSource

    documents = DocumentSource(folder)
    checksum = 0
    for file in documents.files:
        about = (str(file.relative_to(folder)), version_of(file))
        checksum = zlib.crc32(repr(about).encode(errors="surrogateescape"), checksum)
    return [documents.n_bytes, checksum]


def _version_of_file(path: str) -> list[int]:
    checksum = 0
    with open(path, "rb") as file:
        size, changed_at = os.fstat(file.fileno()).st_size, os.fstat(file.fileno()).st_mtime_ns
        if size <= _WHOLE:
            while block := file.read(1 << 20):
                checksum = zlib.crc32(block, checksum)
            return [size, checksum]
        for place in range(_BLOCKS + 1):  # first, last, and evenly between
            file.seek(max(0, size - _BLOCK) * place // _BLOCKS)
            checksum = zlib.crc32(file.read(_BLOCK), checksum)
    return [size, changed_at, checksum]


def size_of(path: Path) -> int:
    """Bytes on disk. A file that cannot hold rows is refused now, not when it is its turn."""
    if path.is_dir():
        from ._documents import DocumentSource

        return DocumentSource(path).n_bytes
    if format_by_name(path) != "excel":
        compression(path)
    return path.stat().st_size


def expanded(paths: Sequence[Path]) -> tuple[list[Path], tuple[Partition, ...]]:
    """The same files, a folder of tables replaced by its files, and the columns that its subfolders add."""
    if not any(path.is_dir() for path in paths):
        return list(paths), ()
    from ._folders import partitions_of, parts_of

    files: list[Path] = []
    partitions: set[tuple[Partition, ...]] = set()
    for path in paths:
        parts = parts_of(path, format_by_name) if path.is_dir() else None
        files += [path] if parts is None else parts
        partitions.add(() if parts is None else partitions_of(path, parts))
    if len(partitions) > 1:
        raise ValueError("open_stream: all folders must have the same keys (key=value), of values of the same kind.")
    return files, partitions.pop()


def suffix_of(path: Path) -> str:
    """The suffix of the format, below that of a compression."""
    suffixes = [suffix.lower() for suffix in path.suffixes]
    return next((suffix for suffix in reversed(suffixes) if suffix not in COMPRESSED), "")


def format_of(path: Path) -> Format:
    """The format, by the name or else by the first bytes; of a folder, that of its files."""
    if path.is_dir():
        from ._folders import parts_of

        path = next(iter(parts_of(path, format_by_name) or ()), path)
    return format_by_name(path) or format_by_content(path, lambda: read_head(path))


def format_by_name(path: Path) -> Format | None:
    """The format by a file's name; None if the file must be looked at."""
    return "documents" if path.is_dir() else _SUFFIXES.get(suffix_of(path))


def format_by_content(path: Path, head: Callable[[], Head]) -> Format:
    """The format of a file whose name does not show it. A binary file may be a spreadsheet."""
    try:
        return format_by_head(path.name, head())
    except ValueError:
        if is_spreadsheet(path):
            return "excel"
        raise


def format_by_head(name: str, head: Head) -> Format:
    """The format by the beginning of a file."""
    if head.magic.startswith(b"PAR1"):
        return "parquet"
    if head.magic.startswith(b"ARROW1"):
        return "arrow"
    refuse_binary(name, head)
    from ._vowpal_wabbit import looks_like_vw

    text = head.text.removeprefix(BYTE_ORDER_MARK)
    if _JSON_LINE.match(text):
        return "json"
    if looks_like_vw(text):
        return "vw"
    lines = (line for line in text.splitlines() if line.strip() and not line.startswith(b"#"))
    telling = next((line for line in lines if not _TARGET_ALONE.fullmatch(line)), b"")
    return "svmlight" if _SVMLIGHT_LINE.fullmatch(telling) else "csv"


def counts_from_zero(text: bytes) -> bool:
    """Whether the first rows of a svmlight file have a feature 0."""
    maybe = b" 0" in text or b"\t0" in text  # a search for bytes spares most files the slow one
    return maybe and _INDEX_ZERO.search(text) is not None


def check_same_features(path: Path, kind: Format, layout: dict[str, Any]) -> None:
    """Refuse a file that cannot hold the same features as those read before."""
    before = "svmlight" if "zero_based" in layout else "vw" if "hashed_columns" in layout else "a table"
    now = kind if kind in ("svmlight", "vw") else "a table"
    if now != before or (kind == "documents" and layout.get("columns") != ["text"]):
        raise ValueError(f"{path.name}: the format is {kind}, but {before} is needed, as in the files read before.")


def _check_no_table(file: Path, kind: Format, options: ReadOptions) -> None:
    """Refuse options of tables for lines of numbers, whose target comes first."""
    given = {name: getattr(options, name) for name in ("target", "header", "delimiter")}
    given |= {"text_columns": list(options.text_columns), "drop": list(options.drop)}
    usual: dict[str, Any] = {"target": -1, "header": "auto", "delimiter": None, "text_columns": [], "drop": []}
    for name, value in given.items():
        if value != usual[name]:
            more = ", whose target is the first number of each line" if name == "target" else ""
            raise ValueError(f"{file.name}: {name}={value!r} is for tables, but the format is {kind}{more}.")


def open_source(file: Path, options: ReadOptions, layout: dict[str, Any] | None) -> RowSource:
    """Open a file; its beginning is read at most once, if the options and the name leave anything to find out."""
    head = functools.cache(lambda: read_head(file))
    if options.partitions:
        from ._folders import PartitionedSource

        return PartitionedSource(file, options, layout, functools.partial(open_source, file))
    hashed: Format | None = "vw" if layout is not None and "hashed_columns" in layout else None
    kind = options.format or format_by_name(file) or hashed or format_by_content(file, head)
    if layout is not None:
        check_same_features(file, kind, layout)
    if options.zero_based and kind != "svmlight":
        raise ValueError("open_stream: zero_based is for svmlight files.")
    if kind == "documents":
        from ._documents import DocumentSource

        return DocumentSource(file)
    if kind in ("parquet", "arrow"):
        from ._arrow_files import ArrowSource

        return ArrowSource(file, kind, options, layout)
    if kind == "excel":
        from ._excel import ExcelSource

        return ExcelSource(file, options, layout)
    if kind in ("csv", "json"):
        refuse_binary(file.name, head())
    if kind == "json":
        from ._json_lines import JsonFormat

        return TextSource(file, JsonFormat(file.name, head(), options, layout), options)
    if kind == "csv":
        from ._csv import CsvFormat

        if options.delimiter is None and suffix_of(file) == ".tsv":
            options = replace(options, delimiter="\t")
        return TextSource(file, CsvFormat(file.name, head(), options, layout), options)
    _check_no_table(file, kind, options)
    if kind == "vw":
        from ._vowpal_wabbit import VowpalWabbitFormat

        return TextSource(file, VowpalWabbitFormat(file.name, head(), options, layout), options)
    from ._svmlight import SvmlightFormat

    from_zero = options.zero_based if layout is None else bool(layout["zero_based"])
    if from_zero is None:
        from_zero = counts_from_zero(head().text)
    else:
        compression(file)  # refuses at once what cannot be read, not at the first batch
    return TextSource(file, SvmlightFormat(options.n_features, from_zero, options.dtype, options.max_features), options)
