"""A first look at CSV text: the delimiter, whether it begins with names, the columns that hold numbers."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from .. import _core
from .._gate import Text
from ._source import Head

_BYTE_ORDER_MARK = b"\xef\xbb\xbf"
_OTHER_MARKS = (b"\xff\xfe", b"\xfe\xff")
_DELIMITERS = "\t|;, "  # the rarer one is in prose, the more its regular use says
_ROWS_TO_SPLIT = 50
_ROWS_TO_LOOK_AT = 1000
_LONGEST_NAME = 200
_DECIMAL_COMMA = re.compile(r"[-+]?\d+,\d+")


class Counts(NamedTuple):
    """Numbers, missing values and words among the values of a column."""

    numbers: int
    missing: int
    words: int

    @classmethod
    def of(cls, values: Text) -> Counts:
        return cls(*_core.count_numbers(values.offsets, values.data))


@dataclass(frozen=True)
class CsvHead:
    """The first rows of a file."""

    delimiter: str
    start: int  # byte of the first row, which may hold names
    first_line: int
    first: list[str]  # the fields of the first row
    length: int  # bytes of it
    n_lines: int
    below: list[Text]  # the columns of (some of) the rows below it

    def counts(self, with_first: bool) -> list[Counts]:
        first = [Text.from_list([field] if with_first else []) for field in self.first]
        return [Counts.of(Text.concat(columns)) for columns in zip(first, self.below, strict=True)]

    def first_counts(self) -> list[Counts]:
        return [Counts.of(Text.from_list([field])) for field in self.first]


def look(name: str, beginning: Head, delimiter: str | None) -> CsvHead:
    """Look at the beginning of a file."""
    _, head, complete = beginning
    if head.startswith(_OTHER_MARKS):
        raise ValueError(f"{name}: the text is UTF-16; save it as UTF-8.")
    start, first_line = len(_BYTE_ORDER_MARK) if head.startswith(_BYTE_ORDER_MARK) else 0, 1
    blank = " \t\r".replace(delimiter or " ", "").encode()
    while (end := head.find(b"\n", start)) >= 0 and not head[start:end].strip(blank):
        start, first_line = end + 1, first_line + 1
    text = memoryview(head)[start:]
    delimiter = delimiter or _sniffed(text, complete)
    try:
        rows, length, n_lines = _core.split_csv(
            text, final=complete, first_line=first_line, delimiter=delimiter, max_rows=1
        )
    except ValueError as refusal:
        raise ValueError(f"{name}, {refusal}") from None
    if not rows:
        if complete:
            raise ValueError(f"{name}: the file has no rows.")
        raise ValueError(f"{name}, line {first_line}: the row does not end within {len(head) >> 20} MB.")
    first = [field.strip() for field in rows[0]]
    _, _, texts, *_ = _core.parse_csv(
        text[length:],
        kinds="t" * len(first),
        final=complete,
        delimiter=delimiter,
        skip_malformed=True,
        max_rows=_ROWS_TO_LOOK_AT,
    )
    return CsvHead(delimiter, start, first_line, first, length, n_lines, [Text(*column) for column in texts])


def _sniffed(text: memoryview, complete: bool) -> str:
    """The character that cuts the first rows most evenly and leaves most numbers; a comma if there is none."""
    scores = {}
    for delimiter in _DELIMITERS:
        rows, *_ = _core.split_csv(
            text, final=complete, delimiter=delimiter, skip_malformed=True, max_rows=_ROWS_TO_SPLIT
        )
        widths = [len(row) for row in rows]
        width = max(set(widths), key=widths.count, default=1)
        even = widths.count(width) / max(len(widths), 1)
        fields = [field for row in rows if len(row) == width for field in row]
        numbers = Counts.of(Text.from_list(fields)).numbers
        if delimiter != ",":
            numbers += sum(_DECIMAL_COMMA.fullmatch(field) is not None for field in fields)
        share = numbers / max(len(fields), 1)
        if width >= 2 and even >= 0.8 and (delimiter != " " or share >= 0.5):
            scores[delimiter] = even + share
    return max(scores, key=lambda delimiter: scores[delimiter], default=",")


def has_names(found: CsvHead) -> bool:
    """Whether the first row looks like names and not like one more row.

    A number among its fields says no. A word above a column of numbers says yes. Where all is text, names are short,
    none is empty, all are different, and none of them comes again in its own column.
    """
    first = found.first_counts()
    if any(counts.numbers for counts in first) or not any(found.first):
        return False
    numeric = [j for j, counts in enumerate(found.counts(with_first=False)) if counts.numbers > counts.words]
    if any(first[j].words for j in numeric):
        return True
    if any(found.first[j] for j in numeric):  # words that say "missing", where numbers would be
        return False
    return _are_names([field for j, field in enumerate(found.first) if j not in numeric]) and not any(
        field in set(column.to_list()) for field, column in zip(found.first, found.below, strict=True)
    )


def _are_names(fields: list[str]) -> bool:
    return all(fields) and len(set(fields)) == len(fields) and max(map(len, fields)) <= _LONGEST_NAME


def unique_names(fields: Sequence[str]) -> list[str]:
    """A name for each column: its own, ``x3`` for the third if it has none, ``name_2`` if it comes again."""
    names: list[str] = []
    used: set[str] = set()
    for place, field in enumerate(fields):
        base = field or f"x{place + 1}"
        name, n = base, 2
        while name in used or (name != field and name in fields):
            name, n = f"{base}_{n}", n + 1
        names.append(name)
        used.add(name)
    return names


def holds_words(counts: Counts) -> bool:
    """A few words among many numbers are mistakes, which the parser will refuse or skip."""
    return 20 * counts.words > counts.words + counts.numbers


def refuse_decimal_commas(file: str, name: str, column: Text) -> None:
    values = [value for value in column.to_list() if value]
    written = [value for value in values if _DECIMAL_COMMA.fullmatch(value)]
    if written and Counts.of(Text.from_list([value.replace(",", ".") for value in values])).words == 0:
        raise ValueError(
            f"{file}: column {name!r} holds numbers written with a comma, such as {written[0]}; write a decimal "
            "point, or name the column in text_columns or drop."
        )
