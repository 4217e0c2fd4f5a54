"""What a stream asks of a text format, and the checks that formats share."""

from __future__ import annotations

import os
import stat
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import DTypeLike, NDArray

from .._params import Rule

PathLike = str | os.PathLike[str]
_COMPRESSED = {"gzip": b"\x1f\x8b", "bzip2": b"BZh", "zstd": b"\x28\xb5\x2f\xfd", "zip": b"PK\x03\x04"}

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
    def join(self, pieces: Sequence[Piece]) -> tuple[Any, NDArray[np.float64]]: ...


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


def file_size(path: PathLike) -> int:
    """The size of a plain file of text; what is none is refused."""
    name = Path(path).name
    with open(path, "rb") as file:
        if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
            raise ValueError(f"{name}: a pipe or device cannot be read; write its text to a file first.")
        start = file.read(4)
        for kind, magic in _COMPRESSED.items():
            if start.startswith(magic):
                raise ValueError(f"{name}: the file is compressed ({kind}); decompress it first.")
        if not start:
            raise ValueError(f"{name}: the file is empty.")
        return os.fstat(file.fileno()).st_size
