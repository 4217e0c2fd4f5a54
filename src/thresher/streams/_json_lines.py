"""JSON lines: one object per line, its keys the columns; types by a look at the first lines."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._gate import ROWS_TO_LOOK_AT, Table, need_pyarrow
from ._arrow import ArrowColumns, in_words
from ._source import Head, Parsed, ReadOptions, TextFormat

_KIND_WITHOUT_VALUES = {"n": "float64", "t": "string", "d": "timestamp[us]"}


class JsonFormat(TextFormat):
    """Objects as rows. A key that is not there is a missing value, and an object within an object gives columns such as
    ``address.town``; keys that the first lines do not have are passed over."""

    def __init__(self, name: str, head: Head, options: ReadOptions, layout: dict[str, Any] | None = None) -> None:
        self._pyarrow = need_pyarrow(f"{name}: a file of JSON lines")
        text = head.text.removeprefix(b"\xef\xbb\xbf")
        self.start = len(head.text) - len(text)
        if text.lstrip()[:1] != b"{":
            raise ValueError(f"{name}: JSON lines hold one object on each line, but the first line is none.")
        text = text if head.complete else text[: text.rfind(b"\n") + 1]
        try:
            table = self._read(text, None)
        except self._pyarrow.ArrowInvalid:
            line, reason = self._first_refused(text, None)
            raise ValueError(f"{name}, line {line + 1}: not readable as JSON ({reason}).") from None
        fields = [(field.name, part) for field in table.schema for part in field.flatten()]
        flat = self._pyarrow.schema([part for _, part in fields])
        self._columns = ArrowColumns(name, flat, options, layout, table.flatten().slice(0, ROWS_TO_LOOK_AT).select)
        self.columns, self.feature_names = self._columns.columns, self._columns.feature_names
        self.understood = self._columns.understood
        self._schema = self._explicit([(key, part) for key, part in fields if part.name in self._columns.kinds])

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
        ends = np.flatnonzero(np.frombuffer(text, np.uint8) == ord("\n"))[:max_rows] + 1
        end = int(ends[-1]) if len(ends) else 0
        consumed = len(text) if limits["final"] and len(ends) < max_rows else end  # the last line need not end
        n_lines = len(ends) + (consumed > end)
        some = bytes(text[:consumed])
        if not some.strip():
            return Parsed((), 0, consumed, n_lines, 0)
        try:
            table, skipped = self._read(some, self._schema), 0
            if len(table) > n_lines:
                raise self._pyarrow.ArrowInvalid("a line has several objects")
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
        for number, line in enumerate(lines):
            if line.strip() and (reason := self._refusal(line, schema)) is not None:
                return number, reason
        for number in range(2, len(lines) + 1):  # a value of another type than those above
            if (reason := self._together(lines[:number], schema)) is not None:
                return number - 1, reason
        return 0, "its lines do not fit each other"

    def _together(self, lines: list[bytes], schema: Any) -> str | None:
        try:
            self._read(b"\n".join(lines), schema)
        except self._pyarrow.ArrowInvalid as error:
            return in_words(error).removeprefix("JSON parse error: ")
        return None
