"""CSV text: rows with names and kinds of columns, the target kept apart."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import _core
from .._gate import Table, Text
from ._column_places import ColumnNames, Places, by_layout, by_options, checked_layout, is_named
from ._csv_look import CsvHead, has_names, holds_words, look, refuse_decimal_commas, unique_names
from ._format import Parsed, ReadOptions, TextFormat
from ._source import Head


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
