"""Inspects the first values of each column: their kind, their notation, and what is ambiguous."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import _core
from .._dataclasses import dataclass
from ._column_dates import DATE_ORDERS, DateFound, date_readings, fitting_date, in_order, order_of
from ._column_reading import ColumnReading, folded, says_missing
from ._table import Text

Column = Text | NDArray[Any]

_MARKS = ((".", ""), (".", ","), (",", "."), (",", ""), (",", " "), (".", " "), (".", "'"), (",", "'"))
_UNITS = (
    *("%", "‰", "€", "$", "£", "¥", "₹", "₽", "₩", "zł", "kr", "Kč", "Ft", "R$", "US$", "A$", "C$", "Fr."),
    *("EUR", "USD", "GBP", "CHF", "JPY", "SEK", "NOK", "DKK", "PLN", "CAD", "AUD", "INR", "BRL", "CNY"),
    *("°C", "°F", "°", "mm", "cm", "m", "km", "mi", "ft", "in", "kg", "g", "mg", "lb", "lbs", "oz", "t", "l", "ml"),
    *("s", "ms", "min", "h", "kWh", "W", "kW", "MW", "V", "A", "Hz", "kHz", "MHz", "GHz", "kB", "MB", "GB", "TB"),
    *("m²", "m2", "km²", "m³", "km/h", "mph"),
)
_BEFORE = {unit for unit in _UNITS if not unit.isalpha() or (len(unit) == 3 and unit.isupper())}  # "$ 5", not "m 5"
_AFFIX = r"[(+−-]?\s*([^\d\s.,'’()+−-][^\d.,'’()+−-]*)?[+−-]?[\d.,'’\s]+([^\d\s.,'’()][^\d()]*)?\)?"
_CODE = re.compile(r"0\d+")
_THREES = re.compile(r"[+-]?[1-9]\d{0,2}(\.\d{3})+|[+-]?\d{1,3}")  # 1.234: a thousand, where commas are decimal
_WORDS_OF_TRUTH = (
    *(("true", "false"), ("yes", "no"), ("y", "n"), ("t", "f"), ("on", "off"), ("wahr", "falsch"), ("vrai", "faux")),
    *(("ja", "nein"), ("j", "n"), ("ja", "nee"), ("ja", "nej"), ("tak", "nie"), ("oui", "non"), ("sim", "não")),
    *(("si", "no"), ("sí", "no"), ("sì", "no")),
)
_ID_NAME = re.compile(
    r"(^|[ _.-])(id|ids|uuid|guid|key|index|idx|no|nr|rownames?|rowid|row)$|^unnamed: \d+$|^x1$|Id$|ID$|No\.?$"
    r"|(?i:nr|num|number|nummer)\.?$"
)
_MISTAKES = 0.05  # of the values of a column of numbers may be words, which the parser then refuses or skips
_FEW_TO_TELL, _FEW_TEXTS_TO_TELL = 20, 50  # rows below which an identifier cannot be told from chance
_MANY_STEPS = 200  # more than years, ages and similar columns have in a row
_RARE_SPELLING = 0.2  # of the rows of a category: a rarer spelling of it is a slip
_FEW_NUMBERS = 12  # different values from which on a column with some words may be one of numbers
_MOST_CATEGORIES = 1000  # whose spellings are compared


@dataclass(frozen=True)
class ColumnFound:
    """The detected properties of a column.

    Attributes
    ----------
    reading : ColumnReading
    example : str
        The first value that is not missing, as it is written.
    n_missing, n_rows : int
        Of the rows looked at.
    note : str
        Why the column is left out, or what becomes of some of its values.
    doubt : str
        What is not certain, in half a sentence.
    option : (str, str) or None
        The parameter and the value that would read it in the other way.
    in_doubt : str
        A number or date that may be read in two ways, as it is written.
    """

    reading: ColumnReading
    example: str
    n_missing: int
    n_rows: int
    note: str = ""
    doubt: str = ""
    option: tuple[str, str] | None = None
    in_doubt: str = ""


@dataclass(frozen=True)
class ReadingOptions:
    """Options for all columns given by the user; None means to detect the value."""

    decimal: str | None = None
    date: str | None = None
    missing: tuple[str, ...] = ()
    keep_identifiers: bool = False
    decimal_point_is_usual: bool = True  # if the numbers themselves are ambiguous


def find_readings(
    columns: Mapping[str, Column], options: ReadingOptions, known: Mapping[str, ColumnReading], target: str | None
) -> dict[str, ColumnFound]:
    """Find out how each column is to be read, by its first values.

    Parameters
    ----------
    columns : dict of str to Text or ndarray
        The first values of each column; numbers that the source knows to be numbers come as arrays.
    options : ReadingOptions
    known : dict of str to ColumnReading
        Columns about which the user has decided.
    target : str or None
        The column to predict, which is never left out, and whose words stay words.
    """
    looks: dict[str, _TextLook] = {}
    found: dict[str, ColumnFound] = {}
    for name, values in columns.items():
        if (name not in known or known[name].is_vague) and isinstance(values, Text):
            looks[name] = _TextLook(name, values, options, name == target)
    decimal = options.decimal or _only(look.certain_decimal for look in looks.values())
    order = order_of(options.date) or _only(look.certain_order for look in looks.values())
    for name, values in columns.items():
        if name in known:
            found[name] = _as_told(known[name], values)
            if name in looks and (seen := looks[name].found(decimal, order)).reading.kind == known[name].kind:
                found[name] = seen  # how it is written was left open
            elif name in looks and known[name].kind not in ("number", "category", "text"):
                raise ValueError(
                    f"the column {name!r} must hold values of the kind {known[name].kind}, as given in columns."
                )
        elif isinstance(values, Text):
            found[name] = looks[name].found(decimal, order)
        else:
            found[name] = _numbers(name, values, may_identify=name != target and not options.keep_identifiers)
    kept = [name for name, each in found.items() if each.reading.letter != "-" and name != target]
    if not kept and not options.keep_identifiers:  # they are all there is
        return find_readings(columns, replace(options, keep_identifiers=True), known, target)
    return found


def _only(votes: Iterable[str | None]) -> str | None:
    """Return the common value of all that are not None; None if they differ."""
    said = {vote for vote in votes if vote is not None}
    return said.pop() if len(said) == 1 else None


def _as_told(reading: ColumnReading, values: Column) -> ColumnFound:
    if not isinstance(values, Text):
        return ColumnFound(reading, _example_of(values), int(np.isnan(values).sum()), len(values))
    texts = values.to_list()
    n_missing = sum(says_missing(text) or text in reading.missing for text in texts)
    return ColumnFound(reading, next((text for text in texts if text), ""), n_missing, len(texts))


def _numbers(name: str, values: NDArray[Any], may_identify: bool) -> ColumnFound:
    """A column that the source knows to be numbers."""
    n_missing = int(np.isnan(values).sum())
    why = number_identifies(name, values) if may_identify and not n_missing else None
    kind = "number" if why is None else "identifier"
    return ColumnFound(ColumnReading(kind), _example_of(values), n_missing, len(values), note=why or "")


def _example_of(values: NDArray[Any]) -> str:
    present = values[~np.isnan(values)]
    return f"{present[0]:.12g}" if len(present) else ""


class _TextLook:
    """A column of text: the kinds that its values may have, before other columns settle what is ambiguous."""

    def __init__(self, name: str, values: Text, options: ReadingOptions, is_target: bool) -> None:
        self.name, self.options, self.is_target = name, options, is_target
        n_numbers, self.n_gaps, n_words = _core.count_numbers(values.offsets, values.data)
        self.at_first_sight = None
        if n_words == 0 < n_numbers and not options.missing and options.date is None:
            self.at_first_sight = self._fractions(values) or self._whole_numbers(values)
            if self.at_first_sight is not None:
                self.is_plain = True
                return
        self.texts = [text.strip() for text in values.to_list()]
        signs = {"-", "--"} if "+" in self.texts else set()  # then a minus is a value, too
        gone = {text for text in set(self.texts) if says_missing(text)} - signs | {"", *options.missing}
        self.present, self.marks_of_missing = [text for text in self.texts if text not in gone], gone - {""}
        n_words -= sum(text in options.missing for text in self.texts)
        self.is_plain = n_words <= _MISTAKES * (n_words + n_numbers)  # numbers as programs write them

    @cached_property
    def marks(self) -> list[ColumnReading]:
        """All ways to read the values as numbers with marks, the likelier first."""
        if not any(char.isdigit() for text in self.present[:20] for char in text):
            return []
        sample, made = Text.from_list(self.present), []
        for reading in self._all_marks():
            _, _, _, n_wrong = _core.read_values(sample.offsets, sample.data, reading.number_format)
            made.append((n_wrong, reading))
        fewest = min(n_wrong for n_wrong, _ in made)
        return [r for n, r in made if n == fewest] if fewest <= _MISTAKES * len(self.present) else []

    @cached_property
    def marks_with_words(self) -> list[ColumnReading]:
        """The same for numbers among which one or two words are repeated, which then stand for missing values."""
        if len(set(self.present)) < _FEW_NUMBERS:
            return []
        sample, made = Text.from_list(self.present), []
        for reading in self._all_marks():
            values, *_ = _core.read_values(sample.offsets, sample.data, reading.number_format)
            wrong = np.isnan(values)
            words = sorted({text for text, gone in zip(self.present, wrong.tolist(), strict=True) if gone})
            repeated = 0 < len(words) <= 2 and wrong.sum() >= 2 * len(words)
            if repeated and 2 * wrong.sum() <= len(values):
                made.append(replace(reading, missing=tuple(words)))
        return made

    def _all_marks(self) -> Iterator[ColumnReading]:
        unit = _common_unit([text for text in self.present if any(map(str.isdigit, text))])
        for decimal, thousands in _MARKS:
            if self.options.decimal in (None, decimal):
                yield ColumnReading("number", decimal, thousands, unit, missing=self.options.missing)

    @cached_property
    def dates(self) -> tuple[DateFound, ...]:
        if self.options.date is not None and (told := fitting_date(self.options.date, self.present)):
            return (told,)
        return () if self.is_plain else date_readings(self.present)

    @property
    def certain_decimal(self) -> str | None:
        """The decimal mark, if one is written and only one is possible."""
        if self.is_plain or self.dates:
            return None
        written = any("." in text or "," in text for text in self.present)
        return _only(reading.decimal for reading in self.marks or self.marks_with_words) if written else None

    @property
    def certain_order(self) -> str | None:
        """The order of day and month, if there is only one possible."""
        return _only(date.order or None for date in self.dates)

    def found(self, decimal: str | None, order: str | None) -> ColumnFound:
        """The reading of the column, given the decimal mark and the order of dates in other columns."""
        if self.at_first_sight is not None:
            return self.at_first_sight
        if not self.present:  # all values are missing
            return self._with(ColumnReading("number"))
        if self.is_plain and not (self.options.date and self.dates):
            return self._plain_number(decimal)
        if self.dates:
            return self._date(order)
        return self._boolean() or self._number(decimal) or self._number_with_words(decimal) or self._words()

    def _with(self, reading: ColumnReading, **more: Any) -> ColumnFound:
        if reading.letter != "-":
            reading = replace(reading, missing=tuple(dict.fromkeys((*self.options.missing, *reading.missing))))
        gone = {"", *reading.missing, *self.options.missing}
        words = reading.kind in ("category", "text")  # which name all their marks
        n_missing = sum(text in gone or (not words and text in self.marks_of_missing) for text in self.texts)
        example = next((text for text in self.present if text not in gone), "")
        return ColumnFound(reading, example, n_missing, len(self.texts), **more)

    # --- numbers ----------------------------------------------------------------------------------------------------

    @property
    def _may_identify(self) -> bool:
        return not self.is_target and not self.options.keep_identifiers

    def _fractions(self, values: Text) -> ColumnFound | None:
        """Numbers whose first values have fractions that cannot be thousands."""
        first = [text.strip() for text in values[:_FEW_TO_TELL].to_list()]
        if not any("." in text and not _THREES.fullmatch(text) for text in first):
            return None
        example = next(text for text in first if not says_missing(text))
        return ColumnFound(ColumnReading("number"), example, self.n_gaps, len(values))

    def _whole_numbers(self, values: Text) -> ColumnFound | None:
        """Numbers without a gap, a blank or a point, none of which is a code such as 007 or a date of eight digits."""
        if self.n_gaps:
            return None
        lengths, firsts = np.diff(values.offsets), values.data[values.offsets[:-1]]
        may_be_codes = ((firsts == ord("0")) & (lengths > 1)).any()
        if may_be_codes or (lengths == 8).all() or ((values.data <= ord(" ")) | (values.data == ord("."))).any():
            return None
        numbers, _ = ColumnReading("number").values(values)
        why = number_identifies(self.name, numbers) if self._may_identify else None
        reading = ColumnReading("number" if why is None else "identifier")
        return ColumnFound(reading, values[:1].to_list()[0], 0, len(values), note=why or "")

    def _plain_number(self, decimal: str | None) -> ColumnFound:
        if _are_codes(self.present):
            return self._with(ColumnReading("category"), note="codes with leading zeros")
        if not self.is_target and all(len(text) == 8 and text.isdigit() for text in self.present):
            dates = date_readings(self.present)
            if dates and len(set(self.present)) > 1:
                return self._with(dates[0].reading)
        threes = any("." in text for text in self.present) and all(map(_THREES.fullmatch, self.present))
        if threes and decimal == "," and (number := self._number(decimal)):
            return number
        if threes and decimal is None and not self.options.decimal_point_is_usual and len(set(self.present)) > 1:
            written = next(text for text in self.present if "." in text)
            doubt = f"{written!r} in column {self.name!r} is read as a fraction, not as thousands"
            return self._with(ColumnReading("number"), doubt=doubt, option=("decimal", ","), in_doubt=written)
        if self._may_identify and len(self.present) == len(self.texts) >= _FEW_TO_TELL:
            values, _ = ColumnReading("number").values(Text.from_list(self.present))
            if why := number_identifies(self.name, values):
                return self._with(ColumnReading("identifier"), note=why)
        return self._with(ColumnReading("number"))

    def _number(self, decimal: str | None) -> ColumnFound | None:
        """Numbers with marks."""
        likely = [reading for reading in self.marks if decimal in (None, reading.decimal)] or self.marks
        if not likely:
            return None
        written = next((text for text in self.present if "," in text or "." in text), self.present[0])
        sample = Text.from_list([written])
        read = {float(reading.values(sample)[0][0]) for reading in likely}
        if len(read) == 1 or decimal is not None:
            return self._with(likely[0])
        usual = "." if self.options.decimal_point_is_usual else ","  # 1,234: a thousand, or a little more than one
        reading = next((each for each in likely if each.decimal == usual), likely[0])
        value = float(reading.values(sample)[0][0])
        doubt = f"{written!r} in column {self.name!r} is read as {value:.12g}"
        other = "," if reading.decimal == "." else "."
        return self._with(reading, doubt=doubt, option=("decimal", other), in_doubt=written)

    def _number_with_words(self, decimal: str | None) -> ColumnFound | None:
        likely = [reading for reading in self.marks_with_words if decimal in (None, reading.decimal)]
        if not (likely or self.marks_with_words):
            return None
        reading = (likely or self.marks_with_words)[0]
        doubt = f"{' and '.join(map(repr, reading.missing))} in column {self.name!r} counts as missing"
        return self._with(reading, doubt=doubt, option=("text_columns", self.name))

    # --- everything else --------------------------------------------------------------------------------------------

    def _date(self, order: str | None) -> ColumnFound:
        likely = [date for date in self.dates if date.order == order] or list(self.dates)
        rising = [date for date in likely if in_order(date.reading, self.present)]
        likely = rising if len({date.order for date in rising}) == 1 else likely
        first = likely[0]
        if len({date.order for date in likely}) == 1:
            return self._with(first.reading)
        doubt = f"{self.present[0]!r} in column {self.name!r} is read with the day first"
        return self._with(first.reading, doubt=doubt, option=("date", DATE_ORDERS[1]), in_doubt=self.present[0])

    def _boolean(self) -> ColumnFound | None:
        words = {text.lower() for text in self.present}
        pair = next((pair for pair in _WORDS_OF_TRUTH if words == set(pair)), None)
        if self.is_target or pair is None:
            return None
        return self._with(ColumnReading("boolean", yes=(pair[0],), no=(pair[1],)))

    def _words(self) -> ColumnFound:
        """Categories, prose, or names that no two rows share."""
        missing = self.marks_of_missing
        if "NA" in missing and _are_country_codes(self.present):
            missing = missing - {"NA"}
        marks, distinct = tuple(sorted(missing)), len(set(self.present))
        if looks_like_prose(self.present):
            return self._with(ColumnReading("text", missing=marks))
        alone = distinct == len(self.present) >= max(_FEW_TEXTS_TO_TELL, 0.9 * len(self.texts))
        if alone and self._may_identify:
            return self._with(ColumnReading("identifier"), note="every row has its own value")
        spellings = _spellings(self.present) if distinct <= _MOST_CATEGORIES else {}
        slips = sorted(text for text in set(self.present) if spellings.get(folded(text), text) != text)
        more = ", ..." if len(slips) > 3 else ""
        note = f"{', '.join(map(repr, slips[:3]))}{more} read as another spelling" if slips else ""
        if self.is_target and marks:
            note = f"{', '.join(map(repr, marks))} read as missing"
        return self._with(ColumnReading("category", missing=marks, spellings=spellings), note=note)


def number_identifies(name: str, values: NDArray[Any]) -> str | None:
    """Return the reason why a column of numbers only identifies rows, or None if it may be informative."""
    if len(values) < _FEW_TO_TELL:
        return None
    steps = np.diff(values)
    if (values[0] in (0, 1) or len(values) >= _MANY_STEPS) and bool((steps == 1).all()):
        return "it counts the rows"
    whole = bool((values == np.round(values)).all())
    if whole and _ID_NAME.search(name.strip()) and len(np.unique(values)) == len(values):
        return "every row has its own number"
    return None


def looks_like_prose(values: Sequence[str]) -> bool:
    """Five words or more on average, and most texts different: prose and not the name of a category."""
    texts = [value for value in values if value]
    if not texts:
        return False
    n_words = sum(len(value.split()) for value in texts) / len(texts)
    return n_words >= 5 and len(set(texts)) > len(texts) / 2


def _common_unit(texts: Sequence[str]) -> str:
    """The unit that most numbers of a column have, before or behind them; empty if there is none."""
    units: Counter[str] = Counter()
    for text in texts[:200]:
        match = re.fullmatch(_AFFIX, text)
        before, behind = ("", "") if match is None else ((part or "").strip() for part in match.groups())
        if before in _BEFORE:
            units[before] += 1
        elif behind in _UNITS:
            units[behind] += 1
    return units.most_common(1)[0][0] if units else ""


def _are_codes(texts: Sequence[str]) -> bool:
    """Whether whole numbers of one length begin with zeros, as post codes do."""
    zeros = any(_CODE.fullmatch(text) for text in texts)
    return zeros and all(text.isdigit() for text in texts) and len({len(text) for text in texts}) == 1


def _are_country_codes(texts: Sequence[str]) -> bool:
    return len(set(texts)) >= 3 and all(len(text) == 2 and text.isalpha() and text.isupper() for text in texts)


def _spellings(texts: Sequence[str]) -> dict[str, str]:
    """For words that are spelled in several ways, one of them frequent and the others rare: the frequent one."""
    groups: dict[str, Counter[str]] = {}
    for text, count in Counter(texts).items():
        groups.setdefault(folded(text), Counter())[text] += count
    found = {}
    for word, spellings in groups.items():
        usual, count = spellings.most_common(1)[0]
        if len(spellings) > 1 and len(word) > 1 and count >= (1 - _RARE_SPELLING) * spellings.total():
            found[word] = usual
    return found
