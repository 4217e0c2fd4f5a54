"""The text formats as a stream sees them, and the options of reading."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import DTypeLike, NDArray

from .._gate import Rule, at_least, boolean, check_value, none, one_of

PathLike = str | os.PathLike[str]
Format = Literal["svmlight", "csv", "parquet", "arrow", "documents"]
Header = bool | Literal["auto"]
Column = int | str

Text = bytes | bytearray | memoryview | Any  # anything that lends its bytes: an mmap, a uint8 array


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

    def layout(self) -> dict[str, Any]:
        raise NotImplementedError

    def parse(self, text: Text, **limits: Any) -> Parsed:
        """Parse some text; `limits` are final, first_line, max_rows and skip_malformed of the core's parsers."""
        raise NotImplementedError

    def join(self, pieces: Sequence[Parsed]) -> tuple[Any, NDArray[Any] | None]:
        raise NotImplementedError


def _is_float(dtype: DTypeLike) -> bool:
    try:
        return np.dtype(dtype) in (np.float32, np.float64)
    except TypeError:
        return False


FLOAT = Rule("float32 or float64", _is_float)
_columns = Rule(
    "a list of column names or numbers",
    lambda v: isinstance(v, Sequence) and not isinstance(v, str) and all(isinstance(c, (str, int)) for c in v),
)
_delimiter = Rule(
    "one ASCII character that is no part of a number",
    lambda v: v is None or (isinstance(v, str) and len(v) == 1 and v.isascii() and v not in '0123456789+-.eE"\r\n\0'),
)
_RULES = {
    "format": none | one_of("svmlight", "csv", "parquet", "arrow", "documents"),
    "n_features": none | at_least(1),
    "skip_malformed": boolean,
    "zero_based": none | boolean,
    "prefetch": boolean,
    "text_columns": _columns,
    "drop": _columns,
    "header": Rule('True, False or "auto"', lambda v: isinstance(v, bool) or v == "auto"),
    "delimiter": _delimiter,
    "dtype": FLOAT,
}


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

    def __post_init__(self) -> None:
        for name, rule in _RULES.items():
            check_value("open_stream", name, getattr(self, name), rule)

    @property
    def float32(self) -> bool:
        return bool(np.dtype(self.dtype) == np.float32)

    def check_width(self, file: str, n_found: int) -> None:
        """Refuse a table that has not as many features as were asked for."""
        if self.n_features is not None and self.n_features != n_found:
            raise ValueError(f"{file}: n_features={self.n_features}, but the file has {n_found} features.")
