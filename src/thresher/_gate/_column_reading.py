"""Reading of one table column: as numbers, dates, booleans, categories or text, or not at all."""

from __future__ import annotations

from dataclasses import asdict, field, fields, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import _core
from .._dataclasses import dataclass
from ._table import Text

KINDS = ("number", "date", "time", "boolean", "category", "text", "identifier", "drop")
_LETTERS = {"date": "d", "category": "t", "text": "t", "identifier": "-", "drop": "-"}
_MISSING_WORDS = ("", "na", "n/a", "nan", "null", "?", "-", "--", "#n/a", "\\n", "<na>", "(null)")
_MARKS = {".", ",", "'", " "}
_LONGEST = 100  # characters of a unit, a pattern or a word


def says_missing(value: str) -> bool:
    """Whether a word usually stands for a missing category. "none" does not: it is often a category of its own."""
    return value.lower() in _MISSING_WORDS


def folded(value: str) -> str:
    """The value without the differences between spellings of a word: capital letters and blanks."""
    return " ".join(value.split()).casefold()


@dataclass(frozen=True)
class ColumnReading:
    """The kind of a column and the notation of its values.

    Attributes
    ----------
    kind : str
        One of `KINDS`. Identifiers and dropped columns are not read.
    decimal, thousands, unit : str
        Of numbers: the decimal mark, the mark between thousands, and what stands before or behind the digits.
    pattern : str
        Of dates and times, see ``core/date_pattern.hpp``.
    yes, no : tuple of str
        Words of truth values, in small letters.
    missing : tuple of str
        Words for a missing value, beside the usual ones.
    spellings : dict
        Of categories: for a value without capital letters and blanks, the spelling that stands for all.
    """

    kind: str
    decimal: str = "."
    thousands: str = ""
    unit: str = ""
    pattern: str = ""
    yes: tuple[str, ...] = ()
    no: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()
    spellings: dict[str, str] = field(default_factory=dict)

    @property
    def letter(self) -> str:
        """The kind of the values as tables hold them: n, d (dates), t (text) or - (not read)."""
        return _LETTERS.get(self.kind, "n")

    @property
    def is_plain(self) -> bool:
        """Whether values can be read as plain numbers or text."""
        return self == ColumnReading(self.kind)

    @property
    def is_vague(self) -> bool:
        """Whether only the kind is known, of values that can be written in several ways."""
        return self.letter in "nd" and replace(self, missing=()).is_plain

    @cached_property
    def format(self) -> _core.ValueFormat | None:
        """The format of values that become numbers; None if the core knows them without one."""
        if self.is_plain or self.letter in "t-":
            return None
        kind = "date" if self.kind == "time" else self.kind
        return _core.ValueFormat(
            kind,
            decimal=self.decimal,
            thousands=self.thousands,
            unit=self.unit,
            pattern=self.pattern,
            yes=list(self.yes),
            no=list(self.no),
            missing=list(self.missing),
        )

    @property
    def number_format(self) -> _core.ValueFormat:
        """The format of values that become numbers."""
        return self.format or _PLAIN

    def values(self, column: Text) -> tuple[NDArray[np.float64], int]:
        """The values of a column that becomes numbers, and the first row that cannot be read, or -1."""
        values, wrong, *_ = _core.read_values(column.offsets, column.data, self.number_format)
        return values, wrong

    def texts(self, column: Text) -> Text:
        """The values of a column of text: missing ones empty, and one spelling for each."""
        if self.is_plain or not len(column):
            return column
        codes, rows = _core.factorize(column.offsets, column.data)
        found = column.take(rows).to_list()
        named = [self._named(value) for value in found]
        return column if named == found else Text.from_list(named).take(codes)

    def _named(self, value: str) -> str:
        if value in self.missing:
            return ""
        return self.spellings.get(folded(value), value) if self.spellings else value

    def to_dict(self) -> dict[str, Any]:
        """Plain values, without those that are usual."""
        usual = ColumnReading(self.kind)
        values = {name: value for name, value in asdict(self).items() if value != getattr(usual, name)}
        return {"kind": self.kind, **{k: list(v) if isinstance(v, tuple) else v for k, v in values.items()}}

    @classmethod
    def from_dict(cls, values: Any) -> ColumnReading:
        """A reading from untrusted plain values; raises a ValueError that says what is wrong."""
        known = {each.name for each in fields(cls)}
        if not isinstance(values, dict) or not set(values) <= known or values.get("kind") not in KINDS:
            raise ValueError(f"kind must be one of {', '.join(KINDS)}, and other entries known")
        made: dict[str, Any] = {
            name: tuple(value) if isinstance(value, list) else value for name, value in values.items()
        }
        reading = cls(**made)
        for name in ("yes", "no", "missing"):
            words = getattr(reading, name)
            if not isinstance(words, tuple) or not all(_is_word(word) for word in words):
                raise ValueError(f"{name} must be a list of words")
        if not all(_is_word(getattr(reading, name)) for name in ("decimal", "thousands", "unit", "pattern")):
            raise ValueError("decimal, thousands, unit and pattern must be short texts")
        if reading.decimal not in (".", ",") or reading.thousands not in _MARKS - {reading.decimal} | {""}:
            raise ValueError("decimal must be . or , and thousands another mark")
        if reading.pattern and reading.kind not in ("date", "time"):
            raise ValueError("only a date or a time has a pattern")
        if bool(reading.yes) != bool(reading.no) or (reading.yes and reading.kind != "boolean"):
            raise ValueError("only a boolean has words for yes and no, and it has both")
        pairs = reading.spellings.items() if isinstance(reading.spellings, dict) else [(None, None)]
        if not all(isinstance(key, str) and isinstance(value, str) for key, value in pairs):
            raise ValueError("spellings must be words")
        return reading


_PLAIN = _core.ValueFormat("number")


def _is_word(value: Any) -> bool:
    return isinstance(value, str) and len(value) <= _LONGEST
