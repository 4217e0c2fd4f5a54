"""CSV text: a first look that finds encoding, delimiter, names and kinds of columns; rows, the target kept apart."""

from __future__ import annotations

import codecs
import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .. import _core
from .._dataclasses import dataclass
from .._gate import Table, Text, find_readings
from ._column_places import ColumnNames, Places, by_layout, by_options, checked_layout, plain_layout, told_readings
from ._encoding import find_encoding, recode
from ._source import BYTE_ORDER_MARK, Head, Parsed, ReadOptions, TextFormat, Understood, text_targets

_SEPARATOR = re.compile(rb"sep=(.)\r?\n", re.IGNORECASE)  # as Excel writes and reads it
_DELIMITERS = "\t|;, "  # the rarer one is in prose, the more its regular use says
_ROWS_TO_SPLIT = 50
_FIELDS_TO_SPLIT = 100  # of each of them
_ROWS_TO_LOOK_AT = 2000
_LONGEST_NAME = 200
_UNCUT = re.compile(r'"[\t|;, ]"')  # two quoted fields
_MARKED = re.compile(r"[/:€$£%]|\d\.\d+\.\d|\d-\d")
_YEARS = range(1900, 2101)


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

    def counts(self) -> list[Counts]:
        return [Counts.of(column) for column in self.below]

    def first_counts(self) -> list[Counts]:
        return [Counts.of(Text.from_list([field])) for field in self.first]


def look(name: str, head: bytes, complete: bool, delimiter: str | None) -> CsvHead:
    """Look at the beginning of a file, in UTF-8."""
    start, first_line = len(BYTE_ORDER_MARK) if head.startswith(BYTE_ORDER_MARK) else 0, 1
    if said := _SEPARATOR.match(head, start):
        start, first_line, delimiter = said.end(), 2, delimiter or said[1].decode("latin-1")
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
    """The character that cuts the first rows most evenly and leaves most values; a comma if there is none."""
    scores, cuts = {}, {}
    for delimiter in _DELIMITERS:
        cuts[delimiter], *_ = _core.split_csv(
            text, final=complete, delimiter=delimiter, skip_malformed=True, max_rows=_ROWS_TO_SPLIT
        )
    n_rows = max(map(len, cuts.values()))  # not the delimiter if it makes rows malformed
    for delimiter, rows in cuts.items():
        widths = [len(row) for row in rows]
        width = max(set(widths), key=widths.count, default=1)
        even = widths.count(width) / max(n_rows, 1)
        if width < 2 or even < 0.8:
            continue
        fields = [field for row in rows if len(row) == width for field in row[:_FIELDS_TO_SPLIT]]
        numbers = Counts.of(Text.from_list(fields)).numbers
        others = "" if delimiter == "," else ","  # a part of a number, unless it stands between fields
        numbers += sum(_is_marked(field, others) for field in fields)
        share = numbers / max(len(fields), 1)
        if delimiter != " " or share >= 0.5:
            uncut = sum(_UNCUT.search(field) is not None for field in fields) / len(fields)
            scores[delimiter] = even + share - uncut + (widths[0] == width)  # names are cut like the rows below
    return max(scores, key=lambda delimiter: scores[delimiter], default=",")


def _is_marked(field: str, comma: str) -> bool:
    """Whether a field is not a plain number, but has digits and marks and no letter: 1.234,50 or 31.12.2024."""
    digits = any(map(str.isdigit, field)) and not any(map(str.isalpha, field))
    return digits and (_MARKED.search(field) is not None or (comma != "" and comma in field))


def has_names(found: CsvHead, target: Any = None) -> bool:
    """Whether the first row looks like names and not like one more row.

    It does if one of its fields is the name of the target, if its numbers count columns or years, or if it has a word
    above a column of numbers. It does not if it has any other number. If all is text, names are short, not empty,
    different, and do not occur again in their own columns.
    """
    if isinstance(target, str) and target in found.first:
        return True
    first = found.first_counts()
    if not any(found.first):
        return False
    if any(_is_value(field, counts) for field, counts in zip(found.first, first, strict=True)):
        return _counts_columns(found)
    numeric = [j for j, counts in enumerate(found.counts()) if counts.numbers > counts.words]
    if any(first[j].words for j in numeric):
        return True
    if any(found.first[j] for j in numeric):  # words that say "missing", where numbers would be
        return False
    return _are_names([field for j, field in enumerate(found.first) if j not in numeric]) and not _come_again(found)


def _is_value(field: str, counts: Counts) -> bool:
    """Whether a field is a number, or has digits and no letter, as dates have and numbers with marks."""
    return counts.numbers > 0 or (any(map(str.isdigit, field)) and not any(map(str.isalpha, field)))


def _come_again(found: CsvHead) -> bool:
    return any(field in set(column.to_list()) for field, column in zip(found.first, found.below, strict=True))


def _counts_columns(found: CsvHead) -> bool:
    """Whether the numbers of the first row are 0, 1, 2 ..., as pandas names columns, or years one after the other, and
    the rows below are something else."""
    numbers = [int(field) for field in found.first if field.isdigit()]
    words = [field for field in found.first if not field.isdigit()]
    runs = len(numbers) >= 2 and numbers == [*range(numbers[0], numbers[0] + len(numbers))]
    if not runs or not (numbers[0] == 0 or {numbers[0], numbers[-1]} <= set(_YEARS)) or len(set(words)) < len(words):
        return False
    second = [column[0] if len(column) else "" for column in found.below]
    alike = sum(
        field.isdigit() and abs(int(field) - number) <= 1 for field, number in zip(second, numbers, strict=False)
    )
    return (
        2 * alike < len(numbers) and not _come_again(found) if words else len(numbers) >= 3 and 2 * alike < len(numbers)
    )


def _are_names(fields: list[str]) -> bool:
    return all(fields) and len(set(fields)) == len(fields) and max(map(len, fields)) <= _LONGEST_NAME


def is_named(found: CsvHead, layout: dict[str, Any]) -> bool:
    """Whether the first row of a file that is to be read by a layout holds names."""
    if layout["header"] and set(found.first) & {*layout["columns"], layout["target"]}:
        return True
    numbers = []
    if len(found.first) == layout["n_columns"]:
        counts = found.first_counts()
        numbers = [counts[place] for place, kind in zip(layout["places"], layout["kinds"], strict=True) if kind == "n"]
    if not numbers:  # other names of other columns must not pass for a row
        return bool(layout["header"]) and has_names(found, None)
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
        told = None if options.encoding is None else codecs.lookup(options.encoding).name
        self.encoding = told or find_encoding(name, head.text, head.complete)
        is_utf8 = told is None and self.encoding == "utf-8"  # as the look has seen
        text = head.text if is_utf8 else recode(name, head.text, self.encoding, head.complete)
        found = look(name, text, head.complete, options.delimiter)
        self._may_choose = layout is None
        if layout is None:
            named = has_names(found, options.target) if options.header == "auto" else options.header
            self.columns = unique_names(found.first if named else [""] * len(found.first))
            places = self._understand(name, found, named, options)
            layout = {**places.layout(), "header": named, **places.order()}
        else:
            layout = checked_layout(layout)
            named = is_named(found, layout) if options.header == "auto" else options.header
            names, with_target = unique_names(found.first) if named else None, options.target is not None
            places = self._found_again(by_layout(name, names, len(found.first), layout, with_target), found, options)
        options.check_width(name, len(layout["columns"]))
        self.float32 = options.float32
        self.delimiter = found.delimiter
        self.start = found.start + found.length * named
        self.first_line = found.first_line + found.n_lines * named
        self._layout = layout if self.understood else plain_layout(layout)
        self.kinds = places.kinds.replace("d", "n")
        self.target = -1 if places.target is None else places.target
        self.target_name: str | None = layout["target"] if layout["header"] and places.target is not None else None
        self.target_is_text = places.target_kind == "t"
        self._set_order(places)
        self._readings = places.readings
        self._formats = {place: form for place, reading in places.readings.items() if (form := reading.format)}
        as_table = layout["header"] or not {"t", "d"}.isdisjoint(layout["kinds"])
        self.feature_names = list(layout["columns"]) if as_table else None
        self._dates = [n for n, kind in zip(places.names, places.feature_kinds, strict=True) if kind == "d"]

    def _understand(self, name: str, found: CsvHead, named: bool, options: ReadOptions) -> Places:
        """The part of each column of a file that nothing was known of."""
        names = self.columns or []
        if options.target is not None and len(names) < 2:
            raise ValueError(
                f"{name}: a target and at least one feature are needed, but the first line has one field; "
                f"its fields are expected to be separated by {found.delimiter!r}."
            )
        columns = ColumnNames(name, names, found.first if named else None)
        above = found.first if not named else None
        sample = {
            column: below if above is None else Text.concat([Text.from_list([above[j]]), below])
            for j, (column, below) in enumerate(zip(names, found.below, strict=True))
        }
        target = None if options.target is None else names[columns.number("target", options.target)]
        known = told_readings(columns, options)
        try:
            readings = find_readings(sample, options.reading(found.delimiter), known, target)
        except ValueError as wrong:
            raise ValueError(f"{name}: {wrong}") from None
        self.understood = Understood(readings, target, self.encoding, found.delimiter, named)
        places = by_options(columns, options, {column: each.reading for column, each in readings.items()})
        if not places.features:
            raise ValueError(f"{name}: drop must leave at least one feature.")
        return places

    @staticmethod
    def _found_again(places: Places, found: CsvHead, options: ReadOptions) -> Places:
        """The same columns. How those are written that another format held as numbers or dates has to be found out."""
        plain = {j: reading for j, reading in places.readings.items() if reading.letter in "nd" and not reading.format}
        sample = {str(j): found.below[j] for j in plain if Counts.of(found.below[j]).words or plain[j].kind == "date"}
        if not sample:
            return places
        asked = replace(options.reading(found.delimiter), keep_identifiers=True)
        again = {int(j): each.reading for j, each in find_readings(sample, asked, {}, None).items()}
        fit = {j: reading for j, reading in again.items() if reading.letter == plain[j].letter}
        return replace(places, readings=places.readings | fit)

    def _set_order(self, places: Places) -> None:
        """Numbers and texts come in the order of the file, and leave in that of the layout."""
        numbers = [place for place in places.features if places.kinds[place] in "nd"]
        self._numbers = np.argsort(np.argsort(numbers)).tolist()
        self._in_order = numbers == sorted(numbers)
        pairs = zip(places.names, places.features, strict=True)
        texts = {name: place for name, place in pairs if places.kinds[place] == "t"}
        self._texts = dict(zip(texts, np.argsort(np.argsort(list(texts.values()))).tolist(), strict=True))
        self._texts_read = {name: places.readings[place] for name, place in texts.items()}

    def layout(self) -> dict[str, Any]:
        """The facts that another file must share to be read in the same way: ``columns`` (the features), ``kinds``
        (one letter for each of them), ``target``, ``target_kind``, whether there is a ``header``, and the order of the
        columns: ``places``, ``target_place``, ``n_columns``."""
        return dict(self._layout)

    def parse(self, text: Any, **limits: Any) -> Parsed:
        try:
            targets, values, texts, consumed, lines, skipped = _core.parse_csv(
                text,
                kinds=self.kinds,
                delimiter=self.delimiter,
                target=self.target,
                formats=self._formats,
                float32=self.float32,
                **limits,
            )
        except ValueError as refusal:
            if ": expected a number" not in str(refusal) or not self._may_choose:
                raise
            raise ValueError(
                f"{str(refusal)[:-1]}; if this word stands for a missing value, name it in missing; "
                "if this column holds text, name it in text_columns."
            ) from None
        return Parsed((targets, values, texts), len(values), consumed, lines, skipped)

    def join(self, pieces: Sequence[Parsed]) -> tuple[Table | NDArray[Any], NDArray[Any] | None]:
        targets, values, texts = zip(*(piece.rows for piece in pieces), strict=True)
        numbers = values[0] if len(values) == 1 else np.concatenate(values)
        if not self._in_order:
            numbers = numbers[:, self._numbers]
        y: NDArray[Any] | None = None
        if self.target_is_text:
            words = Text.concat([Text(*target) for target in targets])
            y = text_targets(self._readings[self.target].texts(words))
        elif self.target >= 0:
            y = targets[0] if len(targets) == 1 else np.concatenate(targets)
        if self.feature_names is None:
            return numbers, y
        columns = {name: Text.concat([Text(*part[i]) for part in texts]) for name, i in self._texts.items()}
        columns = {name: self._texts_read[name].texts(column) for name, column in columns.items()}
        return Table(self.feature_names, numbers, columns, self._dates), y
