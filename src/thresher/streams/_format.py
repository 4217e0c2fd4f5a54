"""The text formats as a stream sees them, and the options of reading."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple, Protocol

import numpy as np
from numpy.typing import DTypeLike, NDArray

from .._gate import Rule, at_least, boolean, none, one_of

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


class TextFormat(Protocol):
    """A format of lines: the place where the rows begin, and a parser."""

    start: int
    first_line: int
    columns: list[str] | None
    feature_names: list[str] | None

    def layout(self) -> dict[str, Any]: ...
    def parse(self, text: Text, *, final: bool, first_line: int, max_rows: int, skip_malformed: bool) -> Parsed: ...
    def join(self, pieces: Sequence[Parsed]) -> tuple[Any, NDArray[Any] | None]: ...


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
            require("open_stream", name, rule, getattr(self, name))
        is_float32("open_stream", self.dtype)

    @property
    def float32(self) -> bool:
        return is_float32("open_stream", self.dtype)

    def check_width(self, file: str, n_found: int) -> None:
        """Refuse a table that has not as many features as were asked for."""
        if self.n_features is not None and self.n_features != n_found:
            raise ValueError(f"{file}: n_features={self.n_features}, but the file has {n_found} features.")


def require(function: str, name: str, rule: Rule, value: Any) -> None:
    """Refuse a value that breaks its rule."""
    if not rule.holds(value):
        raise ValueError(f"{function}: {name} must be {rule.says}, got {value!r}.")


def is_float32(function: str, dtype: DTypeLike) -> bool:
    """Whether a type is float32 and not float64; any other is refused."""
    try:
        kind = np.dtype(dtype)
    except TypeError:
        kind = np.dtype(object)
    if kind not in (np.float32, np.float64):
        raise ValueError(f"{function}: dtype must be float32 or float64, got {dtype!r}.")
    return bool(kind == np.float32)
