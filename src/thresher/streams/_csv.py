"""CSV text: a first look that finds the delimiter, names and kinds of columns; rows, the target kept apart."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .. import _core
from .._gate import Table, Text
from ._column_places import ColumnNames, Places, by_layout, by_options, checked_layout
from ._source import Head, Parsed, ReadOptions, TextFormat

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


def is_named(found: CsvHead, layout: dict[str, Any]) -> bool:
    """Whether the first row of a file that is to be read by a layout holds names."""
    if layout["header"] and set(found.first) & {*layout["columns"], layout["target"]}:
        return True
    if len(found.first) != layout["n_columns"]:
        return False
    counts = found.first_counts()
    numbers = [counts[place] for place, kind in zip(layout["places"], layout["kinds"], strict=True) if kind == "n"]
    return any(count.words for count in numbers) and not any(count.numbers for count in numbers)


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


class CsvFormat(TextFormat):
    """CSV text to rows, the target column kept apart.

    The first rows tell the delimiter, whether there is a header, and which columns hold words; with the `layout` of
    another file, columns are found by name if both files have a header and by place otherwise, and the target may be
    missing. Missing numbers are empty fields and the words NA, N/A, NaN, null, none, ? and . in any case; a missing
    text is an empty field. Quoted text may hold delimiters and line breaks.

    `start` and `first_line` are the byte and line where the rows begin; `feature_names` is None if there is neither a
    header nor text, and rows are then arrays. `kinds` has a letter for each column of the file: n for numbers, t
    for text, - for one that is passed over.
    """

    def __init__(self, name: str, head: Head, options: ReadOptions, layout: dict[str, Any] | None = None) -> None:
        found = look(name, head, options.delimiter)
        if layout is None:
            named = has_names(found) if options.header == "auto" else options.header
            self.columns = unique_names(found.first if named else [""] * len(found.first))
            places = _by_options(name, found, named, self.columns, options)
            layout = {**places.layout(), "header": named, **places.order()}
        else:
            layout = checked_layout(layout)
            named = is_named(found, layout) if options.header == "auto" else options.header
            names, with_target = unique_names(found.first) if named else None, options.target is not None
            places = by_layout(name, names, len(found.first), layout, with_target)
        options.check_width(name, len(layout["columns"]))
        self.float32 = options.float32
        self.delimiter = found.delimiter
        self.start = found.start + found.length * named
        self.first_line = found.first_line + found.n_lines * named
        self._layout = layout
        self.kinds = places.kinds
        self.target = -1 if places.target is None else places.target
        self.target_name: str | None = layout["target"] if layout["header"] and places.target is not None else None
        self.target_is_text = places.target_kind == "t"
        self._set_order(places)
        as_table = layout["header"] or "t" in layout["kinds"]
        self.feature_names = list(layout["columns"]) if as_table else None

    def _set_order(self, places: Places) -> None:
        """Numbers and texts come in the order of the file, and leave in that of the layout."""
        numbers = [place for place in places.features if places.kinds[place] == "n"]
        self._numbers = np.argsort(np.argsort(numbers)).tolist()
        self._in_order = numbers == sorted(numbers)
        pairs = zip(places.names, places.features, strict=True)
        texts = {name: place for name, place in pairs if places.kinds[place] == "t"}
        self._texts = dict(zip(texts, np.argsort(np.argsort(list(texts.values()))).tolist(), strict=True))

    def layout(self) -> dict[str, Any]:
        """The facts that another file must share to be read in the same way: ``columns`` (the features), ``kinds``
        (one letter for each of them), ``target``, ``target_kind``, whether there is a ``header``, and the order of the
        columns: ``places``, ``target_place``, ``n_columns``."""
        return dict(self._layout)

    def parse(self, text: Any, **limits: Any) -> Parsed:
        try:
            targets, values, texts, consumed, lines, skipped = _core.parse_csv(
                text, kinds=self.kinds, delimiter=self.delimiter, target=self.target, float32=self.float32, **limits
            )
        except ValueError as refusal:
            if ": expected a number" not in str(refusal):
                raise
            raise ValueError(f"{str(refusal)[:-1]}; if this column holds words, name it in text_columns.") from None
        return Parsed((targets, values, texts), len(values), consumed, lines, skipped)

    def join(self, pieces: Sequence[Parsed]) -> tuple[Table | NDArray[Any], NDArray[Any] | None]:
        targets, values, texts = zip(*(piece.rows for piece in pieces), strict=True)
        numbers = values[0] if len(values) == 1 else np.concatenate(values)
        if not self._in_order:
            numbers = numbers[:, self._numbers]
        y: NDArray[Any] | None = None
        if self.target_is_text:
            y = np.array(Text.concat([Text(*target) for target in targets]).to_list(), dtype=object)
        elif self.target >= 0:
            y = targets[0] if len(targets) == 1 else np.concatenate(targets)
        if self.feature_names is None:
            return numbers, y
        columns = {name: Text.concat([Text(*part[i]) for part in texts]) for name, i in self._texts.items()}
        return Table(self.feature_names, numbers, columns), y


def _by_options(name: str, found: CsvHead, header: bool, names: list[str], options: ReadOptions) -> Places:
    """The part of each column of a file that nothing was known of."""
    if options.target is not None and len(names) < 2:
        raise ValueError(
            f"{name}: a target and at least one feature are needed, but the first line has one field; "
            f"its fields are expected to be separated by {found.delimiter!r}."
        )
    counts = found.counts(with_first=not header)

    def kind_of(place: int, forced: bool) -> str:
        if not forced and not holds_words(counts[place]):
            return "n"
        if not forced:
            refuse_decimal_commas(name, names[place], found.below[place])
        return "t"

    places = by_options(ColumnNames(name, names, found.first if header else None), options, kind_of)
    if not places.features:
        raise ValueError(f"{name}: drop must leave at least one feature.")
    return places
