"""CSV files: where the rows begin, what the columns are called, which ones hold text, which one is the target."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import numpy as np
from numpy.typing import DTypeLike, NDArray

from .. import _core
from .._gate import Rule, Table, Text
from ._csv_layout import Places, by_layout, checked_layout, is_named
from ._csv_look import Look, column_number, has_names, kinds_of, look, unique_names
from ._format import Piece, is_float32, require

Header = bool | Literal["auto"]
Column = int | str

header_rule = Rule('True, False or "auto"', lambda v: isinstance(v, bool) or v == "auto")
delimiter_rule = Rule(
    "one ASCII character that is no part of a number",
    lambda v: v is None or (isinstance(v, str) and len(v) == 1 and v.isascii() and v not in '0123456789+-.eE"\r\n\0'),
)


class CsvFormat:
    """CSV text to rows, the target column kept apart.

    Opening it looks at the first rows, which say how many columns there are, what they are called and which of them
    hold words. Missing numbers are empty fields and the words NA, N/A, NaN, null, none, ? and . in any case; a missing
    text is an empty field. Quoted text may hold delimiters and line breaks.

    Parameters
    ----------
    name : str
        What messages call the file.
    head : bytes
        The first bytes of the text, with at least one whole row.
    complete : bool
        Whether that is all of it.
    n_features : int, optional
        How many features there must be.
    target : int, str or None
        The column with the targets, by number (from 0, negative ones from the last) or name; None if there is none.
    header : bool or "auto"
        Whether the first row holds names.
    delimiter : str, optional
        By default the character that cuts the first rows most evenly.
    dtype : float64 or float32
        Type of the numbers.
    text_columns : list of int or str, or "auto"
        Columns to take as text though they look like numbers; the others are told by their first 1000 values.
    drop : list of int or str
        Columns to leave out.
    layout : dict, optional
        The `layout()` of another file, to read this one alike. Columns are found by name if both files have a header
        and by place otherwise; the target may be missing.

    Attributes
    ----------
    start, first_line : int
        Byte and line where the rows begin.
    feature_names : list of str or None
        None if there is neither a header nor text: rows are then plain arrays.
    kinds : str
        For each column of the file: n for numbers, t for text, - for one that is passed over.
    target_name : str or None
    target_is_text : bool
    """

    def __init__(
        self,
        name: str,
        head: bytes,
        complete: bool,
        *,
        n_features: int | None = None,
        target: Column | None = -1,
        header: Header = "auto",
        delimiter: str | None = None,
        dtype: DTypeLike = np.float64,
        text_columns: Sequence[Column] | Literal["auto"] = "auto",
        drop: Sequence[Column] = (),
        layout: dict[str, Any] | None = None,
    ) -> None:
        require("open_stream", "header", header_rule, header)
        require("open_stream", "delimiter", delimiter_rule, delimiter)
        self.float32 = is_float32("open_stream", dtype)
        found = look(name, head, complete, delimiter)
        if layout is not None:
            layout = checked_layout(layout)
            named = header if isinstance(header, bool) else is_named(found, layout)
        else:
            named = header if isinstance(header, bool) else has_names(found)
        self.delimiter = found.delimiter
        self.start = found.start + found.length * named
        self.first_line = found.first_line + found.n_lines * named
        if layout is not None:
            names = unique_names(found.first) if named else None
            places = by_layout(name, names, len(found.first), layout)
            if target is None:
                places = places.without_target()
        else:
            places = _places(name, found, named, target, () if text_columns == "auto" else text_columns, drop)
            layout = places.layout(named)
        self._layout = layout
        self.kinds = places.kinds
        self.target = -1 if places.target is None else places.target
        self.target_name: str | None = layout["target"] if layout["header"] and places.target is not None else None
        self.target_is_text = self.target >= 0 and self.kinds[self.target] == "t"
        n_found = len(layout["columns"])
        if n_features is not None and n_features != n_found:
            raise ValueError(f"{name}: n_features={n_features}, but the file has {n_found} features.")
        self._set_order(places)
        as_table = layout["header"] or "t" in layout["kinds"]
        self.feature_names: list[str] | None = list(layout["columns"]) if as_table else None

    def _set_order(self, places: Places) -> None:
        """Numbers and texts come in the order of the file, and leave in that of the layout."""
        kinds = dict(zip(places.features, places.feature_kinds, strict=True))
        order = {kind: sorted(place for place in kinds if kinds[place] == kind) for kind in "nt"}
        rank = {place: i for some in order.values() for i, place in enumerate(some)}
        self._numbers = [rank[place] for place in places.features if kinds[place] == "n"]
        self._in_order = self._numbers == list(range(len(self._numbers)))
        self._texts = {
            name: rank[place] for name, place in zip(places.names, places.features, strict=True) if kinds[place] == "t"
        }

    def layout(self) -> dict[str, Any]:
        """What another file must share to be read alike: ``columns`` (the features), ``kinds`` (one letter for each of
        them), ``target``, ``target_kind``, whether there is a ``header``, and where all of them stand: ``places``,
        ``target_place``, ``n_columns``."""
        return dict(self._layout)

    def parse(self, text: Any, *, final: bool, first_line: int, max_rows: int, skip_malformed: bool) -> Piece:
        try:
            targets, values, texts, consumed, lines, skipped = _core.parse_csv(
                text,
                kinds=self.kinds,
                final=final,
                first_line=first_line,
                delimiter=self.delimiter,
                target=self.target,
                float32=self.float32,
                skip_malformed=skip_malformed,
                max_rows=max_rows,
            )
        except ValueError as refusal:
            said = str(refusal)
            if ": expected a number" not in said:
                raise
            raise ValueError(said[:-1] + "; if this column holds words, name it in text_columns.") from None
        return Piece((targets, values, texts), len(values), consumed, lines, skipped)

    def join(self, pieces: Sequence[Piece]) -> tuple[Table | NDArray[Any], NDArray[Any] | None]:
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


def _places(
    name: str, found: Look, named: bool, target: Column | None, text_columns: Sequence[Column], drop: Sequence[Column]
) -> Places:
    """What each column of a file is that nothing was known of."""
    header = found.first if named else None
    names = unique_names(found.first if named else [""] * len(found.first))
    if target is not None and len(names) < 2:
        raise ValueError(
            f"{name}: a target and at least one feature are needed, but the first line has one field; "
            f"its fields are expected to be separated by {found.delimiter!r}."
        )
    place = None if target is None else column_number(name, "target", target, names, header)
    forced = {column_number(name, "text_columns", column, names, header) for column in text_columns}
    dropped = {column_number(name, "drop", column, names, header) for column in drop}
    if place in dropped:
        raise ValueError(f"{name}: drop must not hold the target {names[place or 0]!r}.")
    kinds = kinds_of(name, found, names, not named, forced, dropped)
    features = [j for j, kind in enumerate(kinds) if kind != "-" and j != place]
    if not features:
        raise ValueError(f"{name}: drop must leave at least one feature.")
    return Places(kinds, features, [names[j] for j in features], place, None if place is None else names[place])
