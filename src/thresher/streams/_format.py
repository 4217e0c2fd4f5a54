"""What a stream asks of a text format, and the checks that formats share."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import DTypeLike, NDArray

from .._gate import Rule

PathLike = str | os.PathLike[str]

Text = bytes | bytearray | memoryview | Any  # anything that lends its bytes: an mmap, a uint8 array


class Piece(NamedTuple):
    """What one call of a parser made of some text. Several of them make a batch."""

    rows: tuple[Any, ...]
    n_rows: int
    consumed: int
    lines: int
    skipped: int


class TextFormat(Protocol):
    """Where the rows of a file begin, and how to read them."""

    start: int
    first_line: int
    feature_names: list[str] | None

    def parse(self, text: Text, *, final: bool, first_line: int, max_rows: int, skip_malformed: bool) -> Piece: ...
    def join(self, pieces: Sequence[Piece]) -> tuple[Any, NDArray[Any] | None]: ...


def require(function: str, name: str, rule: Rule, value: Any) -> None:
    if not rule.holds(value):
        raise ValueError(f"{function}: {name} must be {rule.says}, got {value!r}.")


def is_float32(function: str, dtype: DTypeLike) -> bool:
    try:
        kind = np.dtype(dtype)
    except TypeError:
        kind = np.dtype(object)
    if kind not in (np.float32, np.float64):
        raise ValueError(f"{function}: dtype must be float32 or float64, got {dtype!r}.")
    return bool(kind == np.float32)
