"""CSV text read slowly, field by field with regular expressions: what the compiled parser must agree with."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

import numpy as np

NUMBER = re.compile(rb"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")
QUOTED = re.compile(rb'"((?:[^"]|"")*+)"')  # all it can take: a doubled quote never closes
MISSING = {b"", b"na", b"n/a", b"nan", b"null", b"none", b"?", b"."}
MISSING |= {b"-", b"--", b"\\n", b"#n/a", b"<na>", b"nil", b"(null)"}


@dataclass
class Read:
    """Rows as lists of numbers and strings, the numbers of refused lines, and all lines."""

    rows: list[list[float | str]] = field(default_factory=list)
    refused: list[int] = field(default_factory=list)
    n_lines: int = 0


def read_csv(text: bytes, kinds: str, target: int = -1, delimiter: bytes = b",") -> Read:
    read, place = Read(), 0
    while place < len(text):
        row, behind = read_row(text, place, kinds, target, delimiter)
        if row is None:
            read.refused.append(read.n_lines + 1)
        elif row:
            read.rows.append(row)
        read.n_lines += text[place:behind].count(b"\n") + (not text[place:behind].endswith(b"\n"))
        place = behind
    return read


def line_end(text: bytes, place: int) -> tuple[int, int]:
    newline = text.find(b"\n", place)
    end, behind = (len(text), len(text)) if newline < 0 else (newline, newline + 1)
    return end - (end > place and text[end - 1 : end] == b"\r"), behind


def read_row(text: bytes, place: int, kinds: str, target: int, delimiter: bytes):
    """(row, where the next begins); the row is None if it is refused, and empty if there is none."""
    blanks = b" \t".replace(delimiter, b"")
    begin = place
    end, behind = line_end(text, begin)
    if not text[begin:end].strip(blanks):
        return [], behind
    row: list[float | str] | None = []
    for column in range(len(text)):
        kind = kinds[column] if column < len(kinds) else "number too many"
        first = place
        while first < end and text[first] in blanks:
            first += 1
        quoted = None
        if text[first : min(first + 1, end)] == b'"':
            quoted = QUOTED.match(text, first) if kind in ("t", "-") else QUOTED.match(text, first, end)
            if quoted is None and kind in ("t", "-"):
                return None, line_end(text, begin)[1]
            if quoted is not None and quoted.end() > end:
                end, behind = line_end(text, quoted.end() - 1)
            stop = text.find(delimiter, quoted.end(), end) if quoted is not None else -1
        else:
            stop = text.find(delimiter, first, end)
        stop = end if stop < 0 else stop
        value = None
        if kind == "n":
            value = number(text[place:stop].strip(blanks))
        elif kind == "-":
            value = 0.0
        elif kind == "t":
            value = words(text, first, stop, quoted)
        if value is None:
            row = None
        elif row is not None and kind != "-":
            row.append(value)
        if stop >= end:
            break
        place = stop + 1
    return (row if column + 1 == len(kinds) else None), behind


def number(written: bytes) -> float | None:
    if len(written) >= 2 and written[:1] == written[-1:] == b'"':
        written = written[1:-1].strip(b" \t")
    if written.lower() in MISSING:
        return np.nan
    if not NUMBER.fullmatch(written) or np.isinf(float(written)):
        return None
    return float(written)


def words(text: bytes, first: int, stop: int, quoted) -> str | None:
    if quoted is None:
        said = text[first:stop].strip(b" \t")
    elif text[quoted.end() : stop].strip(b" \t"):
        return None
    else:
        said = quoted[1].replace(b'""', b'"')
    try:
        return said.decode("utf-8")
    except UnicodeDecodeError:
        return None
