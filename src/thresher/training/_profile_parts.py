"""The profile of data, column by column."""

from __future__ import annotations

from dataclasses import asdict, field
from typing import Any

from .._dataclasses import dataclass
from .._figures import column_value, count, plain, plural
from ._profile_warnings import DataWarning


@dataclass(frozen=True)
class ColumnProfile:
    """One column of the data.

    Attributes
    ----------
    name : str
    kind : str
        Number, date, category and so on.
    use : str
        How the column is used.
    example : str
    missing : float
        Share of the rows that have no value.
    n_distinct : int or None
        Different values; None if the column is not read.
    values : dict
        Of numbers ``min``, ``q1``, ``median``, ``q3``, ``max`` and ``mean``; dates are written out.
    frequent : dict of str to int
        Of words: the most frequent ones, and their rows.
    histogram : tuple of int
        Of numbers: rows in bins of equal width. Of words: rows of the most frequent values.
    """

    name: str
    kind: str
    use: str
    example: str
    missing: float
    n_distinct: int | None = None
    values: dict[str, Any] = field(default_factory=dict)
    frequent: dict[str, int] = field(default_factory=dict)
    histogram: tuple[int, ...] = ()

    @property
    def span(self) -> str:
        """The range of numbers and dates in words; empty for words."""
        if not self.values:
            return ""
        low, high = column_value(self.values["min"]), column_value(self.values["max"])
        return low if low == high else f"{low} to {high}"


@dataclass(frozen=True)
class Doubt:
    """An ambiguity in the data: the decision, and the option and value that change it."""

    says: str
    option: tuple[str, str] | None = None


@dataclass(frozen=True)
class Profile:
    """A summary of data, made by :func:`profile`.

    Attributes
    ----------
    columns : tuple of ColumnProfile
        The columns in the order of the file; for sparse rows, those with the most values.
    n_columns : int
        Number of all columns.
    n_rows : int
        Number of rows behind quartiles, histograms and most warnings: all that were read, or an even sample of them.
    n_read, n_estimated : int
        Number of rows read, and in total; the latter is an estimate if not all were read.
    target : str or None
        The column to predict.
    task : str or None
        ``"classification"`` or ``"regression"``; None without a target.
    classes : dict of str to int
        Number of rows of each class, among those read.
    warnings : tuple of DataWarning
    doubts : tuple of Doubt
        Ambiguities found when the file was read.
    text : dict
        Of text files: ``encoding``, ``delimiter`` and ``header``.
    """

    columns: tuple[ColumnProfile, ...]
    n_columns: int
    n_rows: int
    n_read: int
    n_estimated: int
    target: str | None = None
    task: str | None = None
    classes: dict[str, int] = field(default_factory=dict)
    warnings: tuple[DataWarning, ...] = ()
    doubts: tuple[Doubt, ...] = ()
    text: dict[str, Any] = field(default_factory=dict)

    @property
    def rows_in_words(self) -> str:
        """The rows that there are, and those from which the figures are."""
        if self.n_read < self.n_estimated:
            said = f"about {count(float(f'{self.n_estimated:.2g}'))} rows, {count(self.n_read)} of them read"
        else:
            said = plural(self.n_read, "row")
        return said if self.n_rows == self.n_read else f"{said}, quartiles from an even sample of {count(self.n_rows)}"

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain values, for JSON."""
        found: dict[str, Any] = plain(asdict(self))
        return found

    def __repr__(self) -> str:
        return f"Profile({self.rows_in_words}; {plural(self.n_columns, 'column')}; {len(self.warnings)} warnings)"

    def _repr_html_(self) -> str | None:
        from ..report import profile_table

        try:
            return profile_table(self)
        except ImportError:  # without jinja2 a notebook shows the line above
            return None
