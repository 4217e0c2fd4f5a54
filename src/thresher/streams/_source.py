"""One file as parts of rows, from any place in it: the options of reading, text formats, and sources of rows."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field
from pathlib import Path
from typing import Any, Literal, NamedTuple, get_args

import numpy as np
from numpy.typing import DTypeLike, NDArray

from .._dataclasses import dataclass
from .._gate import ColumnFound, ReadingOptions, Rule, at_least, boolean, check_value, none, one_of
from .._gate import Text as TextColumn
from ._compression import TextBytes
from ._encoding import is_encoding

PathLike = str | os.PathLike[str]
Format = Literal["svmlight", "vw", "csv", "json", "excel", "parquet", "arrow", "documents"]
FORMATS: tuple[Format, ...] = get_args(Format)
Header = bool | Literal["auto"]
Column = int | str
Partition = tuple[str, str]  # the key of folders key=value, and the kind of its values: n, d or t

Text = bytes | bytearray | memoryview | Any  # anything that lends its bytes: an mmap, a uint8 array
BYTE_ORDER_MARK = b"\xef\xbb\xbf"  # of UTF-8, which some programs write before the text
_BLOCK = 1 << 21  # bytes asked of the file at a time
_HEAD = 1 << 21  # bytes of text that tell the format and the columns
_LONGEST_LINE = 1 << 28


class Parsed(NamedTuple):
    """The rows that one call of a parser made of some text. Several of them make a batch."""

    rows: tuple[Any, ...]
    n_rows: int
    consumed: int
    lines: int
    skipped: int


class TextFormat:
    """A format of lines: the place where the rows begin, and a parser."""

    start: int = 0
    first_line: int = 1
    columns: list[str] | None = None
    feature_names: list[str] | None = None
    understood: Understood | None = None
    encoding = "utf-8"

    def layout(self) -> dict[str, Any]:
        raise NotImplementedError

    def parse(self, text: Text, **limits: Any) -> Parsed:
        """Parse some text; `limits` are final, first_line, max_rows and skip_malformed of the core's parsers."""
        raise NotImplementedError

    def join(self, pieces: Sequence[Parsed]) -> tuple[Any, NDArray[Any] | None]:
        raise NotImplementedError

    def weights(self, pieces: Sequence[Parsed]) -> NDArray[np.float64] | None:
        """The weights of the rows; None if all are 1."""
        return None

    def naming(self, columns: NDArray[np.int32]) -> NamingFormat | None:
        """A reader of the same lines that finds names of hashed columns, if there are any."""
        return None


class NamingFormat(TextFormat):
    """A reader of lines that makes no rows, but remembers names of columns."""

    def names(self) -> dict[int, str]:
        raise NotImplementedError

    def join(self, pieces: Sequence[Parsed]) -> tuple[None, None]:
        return None, None


def _is_float(dtype: DTypeLike) -> bool:
    try:
        return np.dtype(dtype) in (np.float32, np.float64)
    except (TypeError, ValueError, SyntaxError):  # NumPy reads text as a program of types
        return False


def _is_count(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


FLOAT = Rule("float32 or float64", _is_float)
_columns = Rule(
    "a list of column names or numbers",
    lambda v: isinstance(v, Sequence) and not isinstance(v, str) and all(isinstance(c, (str, int)) for c in v),
)
_delimiter = Rule(
    "one ASCII character that does not occur in numbers",
    lambda v: v is None or (isinstance(v, str) and len(v) == 1 and v.isascii() and v not in '0123456789+-.eE"\r\n\0'),
)
_words = Rule(
    "a list of words",
    lambda v: isinstance(v, Sequence) and not isinstance(v, str) and all(isinstance(w, str) for w in v),
)


def _is_pattern(value: Any) -> bool:
    """Whether a pattern of a date has a year, a month and a day."""
    letters = set(value) if isinstance(value, str) and len(value) <= 40 else set()
    return bool(letters & set("Yy")) and bool(letters & set("MbN")) and bool(letters & set("Dd"))


_RULES = {
    "format": none | one_of(*FORMATS),
    "n_features": none | at_least(1),
    "max_features": at_least(1),
    "skip_malformed": boolean,
    "zero_based": none | boolean,
    "prefetch": boolean,
    "text_columns": _columns,
    "drop": _columns,
    "header": Rule('True, False or "auto"', lambda v: isinstance(v, bool) or v == "auto"),
    "delimiter": _delimiter,
    "dtype": FLOAT,
    "encoding": none | Rule("the name of an encoding that Python knows", is_encoding),
    "decimal": none | one_of(".", ","),
    "date": none | Rule("a pattern such as 'D/M/Y', of letters Y y M b D h m s p z", _is_pattern),
    "missing": _words,
    "keep_identifiers": boolean,
    "columns": Rule("a dict of column names to kinds or readings", lambda v: isinstance(v, Mapping)),
    "sheet": none | Rule("the name of a sheet, or its number from 0", lambda v: isinstance(v, str) or _is_count(v)),
}


MAX_FEATURES = 1 << 25  # a model of that width takes some hundred megabytes


@dataclass(frozen=True)
class ReadOptions:
    """The options of :func:`open_stream` that say how one file is read."""

    format: Format | None = None
    n_features: int | None = None
    target: Column | None = -1
    header: Header = "auto"
    delimiter: str | None = None
    text_columns: Sequence[Column] = ()
    drop: Sequence[Column] = ()
    zero_based: bool | None = None
    dtype: DTypeLike = np.float64
    skip_malformed: bool = False
    prefetch: bool = True
    encoding: str | None = None
    decimal: str | None = None
    date: str | None = None
    missing: Sequence[str] = ()
    keep_identifiers: bool = False
    columns: Mapping[Column, Any] = field(default_factory=dict)
    sheet: str | int | None = None
    partitions: tuple[Partition, ...] = ()
    max_features: int = MAX_FEATURES

    def __post_init__(self) -> None:
        for name, rule in _RULES.items():
            check_value("open_stream", name, getattr(self, name), rule)

    @property
    def float32(self) -> bool:
        return bool(np.dtype(self.dtype) == np.float32)

    def reading(self, delimiter: str = ",") -> ReadingOptions:
        """The options for the values of all columns."""
        return ReadingOptions(
            decimal=self.decimal,
            date=self.date,
            missing=tuple(self.missing),
            keep_identifiers=bool(self.keep_identifiers),
            decimal_point_is_usual=delimiter != ";",
        )

    def check_width(self, file: str, n_found: int) -> None:
        """Refuse a table that does not have the number of features given by the user."""
        if self.n_features is not None and self.n_features != n_found:
            raise ValueError(f"{file}: n_features={self.n_features}, but the file has {n_found} features.")


MISSING_WORDS = frozenset(("", "?", "NA", "N/A", "n/a", "NaN", "nan", "NULL", "null"))


def text_targets(column: TextColumn) -> NDArray[Any]:
    """Targets that are text; markers of missing values, such as a question mark, become empty."""
    words = ["" if word in MISSING_WORDS else word for word in column.to_list()]
    return np.array(words, dtype=object)


class Mark(NamedTuple):
    """A place between two rows: text has bytes (of the decompressed text) and lines, tables have rows."""

    offset: int
    line: int


@dataclass(frozen=True)
class Part:
    """Consecutive rows of one file."""

    X: Any
    y: NDArray[Any] | None
    first_line: int
    end: Mark
    bytes_read: int  # of the file on disk
    n_skipped: int  # malformed lines so far, from where reading began
    weight: NDArray[np.float64] | None = None  # of each row; None if all are 1


@dataclass(frozen=True)
class Understood:
    """How a table is read, as detected from its beginning.

    Attributes
    ----------
    columns : dict of str to ColumnFound
        In the order of the file.
    target : str or None
    encoding, delimiter : str or None
        Of text.
    header : bool
        Whether the first row holds names.
    """

    columns: dict[str, ColumnFound]
    target: str | None
    encoding: str | None = None
    delimiter: str | None = None
    header: bool = True


class RowSource:
    """One opened file: its features, and for a table the names of all its columns and how they are read."""

    path: Path
    n_bytes: int
    columns: list[str] | None
    feature_names: list[str] | None
    understood: Understood | None = None
    begin = Mark(0, 1)
    repeats = True  # whether rows can be read more than once
    resumes = True  # whether another process finds the same rows at the same place

    def parts(self, n_rows: int, start: Mark) -> Iterator[Part]:
        """Parts of `n_rows` rows; the last one may be shorter."""
        raise NotImplementedError

    def note_version(self) -> None:
        """Remember the file as it is now."""
        now = self.path.stat()
        self.n_bytes, self._identity = now.st_size, _identity_of(now)

    def check_version(self) -> None:
        """Refuse a file that was changed or replaced since it was opened: its rows would be a mixture of two files."""
        now = self.path.stat()
        if now.st_size != self.n_bytes:
            sizes = f"had {self.n_bytes:,} bytes when it was opened and has {now.st_size:,} now"
            raise ValueError(f"{self.path.name}: the file {sizes}; read it when no program writes to it.")
        if _identity_of(now) != self._identity:
            raise ValueError(f"{self.path.name}: the file was changed while it was read.")

    def layout(self) -> dict[str, Any]:
        """The facts that another file must share to be read in the same way."""
        raise NotImplementedError

    def naming(self, columns: NDArray[np.int32]) -> NamingFormat | None:
        """A reader that finds the names of hashed columns, if features are hashed."""
        return None

    def read_names(self, naming: NamingFormat, max_bytes: int) -> int:
        """Show the first lines to a reader of names; returns the bytes read."""
        raise NotImplementedError

    def wrong_position(self, start: Mark) -> ValueError:
        """The error for a position that does not fit."""
        where = f"{self.path.name}: the position {tuple(start)}"
        return ValueError(f"{where} does not fit this file; it belongs to another one.")


def _identity_of(found: os.stat_result) -> tuple[int, int, int]:
    """Values that identify a file and its last change."""
    return found.st_dev, found.st_ino, found.st_mtime_ns


class TextSource(RowSource):
    """A file of lines: svmlight, Vowpal Wabbit or CSV, compressed or not."""

    def __init__(self, path: Path, text_format: TextFormat, options: ReadOptions) -> None:
        self.path = path
        self.note_version()
        self.columns = text_format.columns
        self.feature_names = text_format.feature_names
        self.understood = text_format.understood
        self.begin = Mark(text_format.start, text_format.first_line)
        self._format = text_format
        self._options = options
        self._skip_malformed = bool(options.skip_malformed)
        self._threaded = bool(options.prefetch)

    def parts(self, n_rows: int, start: Mark) -> Iterator[Part]:
        offset, line = start
        skipped = 0
        self.check_version()
        with TextBytes(self.path, offset, threaded=self._threaded, encoding=self._format.encoding) as file:
            window = _Window(file)
            if start != self.begin:
                window.fill()
                begins_a_line = file.before == b"\n" or (file.before != b"" and window.is_over())
                if offset <= self.begin.offset or not begins_a_line:
                    raise self.wrong_position(start)
                if window.at_end:
                    self.check_version()
            elif offset == 0:
                offset = window.drop_mark()
            while not window.is_over():
                pieces: list[Parsed] = []
                first_line, wanted = line, n_rows
                while wanted > 0 and not window.is_over():
                    piece = self._parse(window, line, wanted)
                    window.drop(piece.consumed)
                    offset += piece.consumed
                    line += piece.lines
                    wanted -= piece.n_rows
                    skipped += piece.skipped
                    if piece.n_rows > 0:
                        pieces.append(piece)
                    if wanted > 0:
                        self._fill(window, line)
                X, y = self._format.join(pieces) if pieces else (None, None)
                weight = self._format.weights(pieces) if pieces else None
                yield Part(X, y, first_line, Mark(offset, line), file.n_read(offset), skipped, weight)

    def layout(self) -> dict[str, Any]:
        return self._format.layout()

    def naming(self, columns: NDArray[np.int32]) -> NamingFormat | None:
        return self._format.naming(columns)

    def read_names(self, naming: NamingFormat, max_bytes: int) -> int:
        offset = 0
        for part in TextSource(self.path, naming, self._options).parts(1, Mark(0, 1)):
            offset = part.end.offset
            if offset >= max_bytes:
                break
        return offset

    def _parse(self, window: _Window, first_line: int, max_rows: int) -> Parsed:
        try:
            return self._format.parse(
                window.text,
                final=window.at_end,
                first_line=first_line,
                max_rows=max_rows,
                skip_malformed=self._skip_malformed,
            )
        except ValueError as refusal:
            raise ValueError(f"{self.path.name}, {refusal}") from None

    def _fill(self, window: _Window, line: int) -> None:
        if len(window.text) > _LONGEST_LINE:
            limit = f"{_LONGEST_LINE >> 20} MB"
            raise ValueError(f"{self.path.name}, line {line}: the line does not end within {limit}.")
        window.fill()
        if window.at_end:  # before the last lines are taken for whole ones
            self.check_version()


class _Window:
    """The text under the parser: a part of the file in a buffer that is used again and again, and grows only if a
    single line does not fit."""

    def __init__(self, file: TextBytes) -> None:
        self.at_end = False  # no more text will come
        self._file = file
        self._buffer = memoryview(bytearray(_BLOCK))
        self._begin = self._end = 0

    @property
    def text(self) -> memoryview:
        return self._buffer[self._begin : self._end]

    def is_over(self) -> bool:
        return self.at_end and self._begin == self._end

    def drop(self, n_bytes: int) -> None:
        self._begin += n_bytes

    def drop_mark(self) -> int:
        """Pass over a byte order mark at the beginning of the text; returns its length."""
        while len(self.text) < len(BYTE_ORDER_MARK) and not self.at_end:
            self.fill()
        n_bytes = len(BYTE_ORDER_MARK) if self.text[: len(BYTE_ORDER_MARK)] == BYTE_ORDER_MARK else 0
        self.drop(n_bytes)
        return n_bytes

    def fill(self) -> None:
        rest = self.text
        buffer = self._buffer if len(rest) < len(self._buffer) else memoryview(bytearray(2 * len(rest)))
        buffer[: len(rest)] = rest
        self._buffer, self._begin, self._end = buffer, 0, len(rest)
        n_read = self._file.readinto(buffer[self._end :])
        self._end += n_read
        self.at_end = n_read == 0


class Head(NamedTuple):
    """The beginning of a file, by which its format and its columns are recognised."""

    magic: bytes  # the first bytes on disk
    text: bytes  # two megabytes, or more if no line ends there
    complete: bool  # whether that is all


def read_head(path: Path, longest: int = 1 << 26) -> Head:
    """Read the beginning of a file; one that cannot be read as text is refused."""
    text = b""
    with TextBytes(path, threaded=False) as file:
        buffer = memoryview(bytearray(_BLOCK))
        while len(text) < _HEAD or (b"\n" not in text and len(text) < longest):
            n = file.readinto(buffer)
            if n == 0:
                return Head(file.magic, text, True)
            text += buffer[:n]
    return Head(file.magic, text, False)
