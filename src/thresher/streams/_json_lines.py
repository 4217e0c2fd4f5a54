"""JSON lines: one object per line, its keys the columns; types by a look at the first lines."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._gate import ROWS_TO_LOOK_AT, Table, need_pyarrow
from ._arrow import ArrowColumns, in_words
from ._source import Head, Parsed, ReadOptions, TextFormat

_DEEPEST = 100  # objects and lists within each other; a parser that calls itself for each would run out of its stack
_MARKS = np.zeros(256, dtype=np.int8)
_MARKS[[*b"{["]], _MARKS[[*b"]}"]], _MARKS[ord('"')] = 1, -1, 2
_STRING = re.compile(rb'"(?:[^"\\]|\\.)*"')
_KIND_WITHOUT_VALUES = {"n": "float64", "t": "string", "d": "timestamp[us]"}


class JsonFormat(TextFormat):
    """Objects as rows. A key that is not there is a missing value, and an object within an object gives columns such as
    ``address.town``; keys that the first lines do not have are passed over."""

    def __init__(self, name: str, head: Head, options: ReadOptions, layout: dict[str, Any] | None = None) -> None:
        self._pyarrow = need_pyarrow(f"{name}: a file of JSON lines")
        text = head.text.removeprefix(b"\xef\xbb\xbf")
        self.start = len(head.text) - len(text)
        if text.lstrip()[:1] != b"{":
            raise ValueError(f"{name}: JSON lines hold one object on each line, but the first line is not an object.")
        text = text if head.complete else text[: text.rfind(b"\n") + 1]
        try:
            table = self._read(text, None)
        except self._pyarrow.ArrowInvalid:
            line, reason = self._first_refused(text, None)
            refusal = ValueError(f"{name}, line {line + 1}: not readable as JSON ({reason}).")
            table = self._readable_part(text) if options.skip_malformed else None
            if table is None:
                raise refusal from None
        fields = [(field.name, part) for field in table.schema for part in field.flatten()]
        flat = self._pyarrow.schema([part for _, part in fields])
        self._columns = ArrowColumns(name, flat, options, layout, table.flatten().slice(0, ROWS_TO_LOOK_AT).select)
        self.columns, self.feature_names = self._columns.columns, self._columns.feature_names
        self.understood = self._columns.understood
        self._schema = self._explicit([(key, part) for key, part in fields if part.name in self._columns.kinds])

    def _readable_part(self, text: bytes) -> Any:
        """A table of the lines that can be read by themselves; None if there are none, or their types differ."""
        lines = [line for line in text.split(b"\n") if line.strip() and self._refusal(line, None) is None]
        return self._read(b"\n".join(lines), None) if lines and self._together(lines, None) is None else None

    def _explicit(self, fields: list[tuple[str, Any]]) -> Any:
        """The types to read by: numbers with a fraction may follow whole ones."""
        keys: dict[str, list[Any]] = {}
        for key, part in fields:
            kind, arrow_type = self._columns.kinds[part.name], part.type
            if str(arrow_type) == "null":
                arrow_type = self._pyarrow.type_for_alias(_KIND_WITHOUT_VALUES[kind])
            elif kind == "n" and not self._pyarrow.types.is_boolean(arrow_type):
                arrow_type = self._pyarrow.float64()
            elif kind == "t" and self._pyarrow.types.is_timestamp(arrow_type):  # text that looks like dates so far
                arrow_type = self._pyarrow.string()
            within = part.name.removeprefix(f"{key}.") if part.name != key else ""
            keys.setdefault(key, []).append(self._pyarrow.field(within, arrow_type))
        whole = (
            (key, parts[0].type if parts[0].name == "" else self._pyarrow.struct(parts)) for key, parts in keys.items()
        )
        return self._pyarrow.schema(list(whole))

    def layout(self) -> dict[str, Any]:
        return self._columns.layout()

    def parse(self, text: Any, **limits: Any) -> Parsed:
        first_line, max_rows = limits["first_line"], limits["max_rows"]
        characters = np.frombuffer(text, np.uint8)
        ends = np.flatnonzero(characters == ord("\n"))[:max_rows] + 1
        end = int(ends[-1]) if len(ends) else 0
        consumed = len(text) if limits["final"] and len(ends) < max_rows else end  # the last line need not end
        n_lines = len(ends) + (consumed > end)
        some = bytes(text[:consumed])
        if not some.strip():
            return Parsed((), 0, consumed, n_lines, 0)
        try:
            table, skipped = self._read(some, self._schema), 0
            starts = np.append(0, ends[ends < consumed])
            if len(table) != np.count_nonzero(np.logical_or.reduceat(characters[:consumed] > ord(" "), starts)):
                raise self._pyarrow.ArrowInvalid("a line has several objects, or a part of one")
        except self._pyarrow.ArrowInvalid:
            if not limits["skip_malformed"]:
                line, reason = self._first_refused(some, self._schema)
                raise ValueError(f"line {first_line + line}: not readable as JSON ({reason}).") from None
            lines = [line for line in some.split(b"\n") if line.strip()]
            good = [line for line in lines if self._refusal(line, self._schema) is None]
            skipped = len(lines) - len(good)
            if not good:
                return Parsed((), 0, consumed, n_lines, skipped)
            table = self._read(b"\n".join(good), self._schema)
        rows = self._columns.rows(table.flatten().select(self._columns.needed), first_line - 1)
        return Parsed(rows, len(table), consumed, n_lines, skipped)

    def join(self, pieces: Sequence[Parsed]) -> tuple[Table, NDArray[Any] | None]:
        tables, targets = zip(*(piece.rows for piece in pieces), strict=True)
        return Table.concat(tables), None if targets[0] is None else np.concatenate(targets)

    def _read(self, text: bytes, schema: Any) -> Any:
        import pyarrow.json

        if not _is_utf8(text):
            raise pyarrow.ArrowInvalid("Invalid encoding in string.")
        if _may_be_deep(text) and _depth(text) > _DEEPEST:
            raise pyarrow.ArrowInvalid(f"more than {_DEEPEST} nested objects or lists")
        return pyarrow.json.read_json(
            pyarrow.BufferReader(text),
            pyarrow.json.ReadOptions(use_threads=False, block_size=len(text) + 1),
            pyarrow.json.ParseOptions(
                explicit_schema=schema, unexpected_field_behavior="infer" if schema is None else "ignore"
            ),
        )

    def _refusal(self, line: bytes, schema: Any) -> str | None:
        try:
            return None if len(self._read(line, schema)) == 1 else "a line has several objects"
        except self._pyarrow.ArrowInvalid as error:
            return in_words(error).removeprefix("JSON parse error: ").removesuffix(" in row 0")

    def _first_refused(self, text: bytes, schema: Any) -> tuple[int, str]:
        """Number and reason of the first line that cannot be read; those of no line if only all together cannot."""
        lines = text.split(b"\n")
        fits, fails, why = 0, len(lines), self._together(lines, schema)
        if why is None:
            single = ((number, self._refusal(line, schema)) for number, line in enumerate(lines) if line.strip())
            return next(
                ((n, reason) for n, reason in single if reason), (0, "its lines have different types of values")
            )
        while fails - fits > 1:  # the first line that cannot be read after those above
            middle = (fits + fails) // 2
            reason = self._together(lines[:middle], schema)
            fits, fails, why = (middle, fails, why) if reason is None else (fits, middle, reason)
        return fits, self._refusal(lines[fits], schema) or why

    def _together(self, lines: list[bytes], schema: Any) -> str | None:
        try:
            self._read(b"\n".join(lines), schema)
        except self._pyarrow.ArrowInvalid as error:
            return in_words(error).removeprefix("JSON parse error: ")
        return None


def _is_utf8(text: bytes) -> bool:
    try:
        return text.isascii() or bool(text.decode())
    except UnicodeDecodeError:  # of names, too, which PyArrow does not look at
        return False


def _may_be_deep(text: bytes) -> bool:
    """Whether a line may open too many objects and lists, or may continue in the next line."""
    characters = np.frombuffer(text, np.uint8)
    opened = np.flatnonzero((characters == ord("{")) | (characters == ord("[")))
    if len(opened) <= _DEEPEST:
        return False
    ends = np.flatnonzero(characters == ord("\n"))
    firsts, lasts = characters[np.append(0, ends + 1)[: len(ends)]], characters[ends - 1]
    if (firsts != ord("{")).any() or (lasts != ord("}")).any():
        return True
    lines = np.searchsorted(ends, opened)
    return bool((lines[_DEEPEST:] == lines[:-_DEEPEST]).any())


def _depth(text: bytes) -> int:
    """The largest nesting of objects and lists, up to the first string that does not end."""
    if b"\\" in text:
        text = _STRING.sub(b"", text)  # with quotes that end no string
    marks = _MARKS[np.frombuffer(text, np.uint8)]
    marks = marks[marks != 0]
    quotes = marks == 2
    steps = np.where(quotes | (np.cumsum(quotes) % 2 == 1), 0, marks)
    return int(np.cumsum(steps).max(initial=0))
