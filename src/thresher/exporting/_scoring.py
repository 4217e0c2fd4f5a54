"""The description of a scoring: all that is left of a fitted model when it only predicts.

A score is an intercept and a sum of terms, each of one column (or two): scaling, splines and one-hot features are
folded into the terms, and columns that a model does not use are in none. All writers print this description; as JSON it
is a format of its own.
"""

from __future__ import annotations

import json
from dataclasses import asdict, replace
from functools import cached_property
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from .._dataclasses import dataclass
from .._gate import Array

FORMAT, VERSION = "thresher scoring", 1

Key = str | int
"""A column by its name, or by its place from 0 where columns have no names."""


@dataclass(frozen=True)
class InputColumn:
    """A column that has to be there: numbers, dates (in days since 1970-01-01) or text."""

    name: str
    type: str
    place: int | None
    """Where it stands among all columns, if these have no names."""


@dataclass(frozen=True)
class Pieces:
    """A function of one number in pieces: c0 + c1 u + c2 u^2, with u the distance from the knot before the number (from
    the first knot for numbers before it)."""

    knots: Array
    coefficients: Array
    """Of shape (..., n_knots + 1, 3)."""

    @classmethod
    def interpolating(cls, x: Array, y: Array) -> Pieces:
        """Straight lines between points, and constant beyond."""
        slopes = np.concatenate([[0.0], np.diff(y) / np.diff(x), [0.0]])
        starts = np.concatenate([y[:1], y])
        return cls(x, np.stack([starts, slopes, np.zeros_like(slopes)], axis=-1))

    def of_scaled(self, center: float, scale: float) -> Pieces:
        """The same function of x, if it was one of (x - center) / scale."""
        return Pieces(center + scale * self.knots, self.coefficients / scale ** np.arange(3))

    @property
    def anchors(self) -> Array:
        """The knot that each piece counts from."""
        return np.concatenate([self.knots[:1], self.knots])


@dataclass(frozen=True)
class Term:
    """A part of the scores. ``missing`` is that of a missing value, for each score; None: there is no prediction."""

    column: Key
    kind: ClassVar[str]
    type: ClassVar[str] = "number"

    def columns(self) -> tuple[Key, ...]:
        return (self.column,)

    def of_scaled(self, column: Key, center: float, scale: float) -> Self:
        """The same part as a function of x, if it was one of (x - center) / scale."""
        raise NotImplementedError


@dataclass(frozen=True)
class LinearTerm(Term):
    """weights * (x - center)."""

    kind = "linear"
    center: float
    weights: Array
    missing: Array | None

    def of_scaled(self, column: Key, center: float, scale: float) -> Self:
        return replace(self, center=center + scale * self.center, weights=self.weights / scale)


@dataclass(frozen=True)
class CurveTerm(Term):
    """A function in pieces for each score."""

    kind = "curve"
    pieces: Pieces
    missing: Array | None

    def of_scaled(self, column: Key, center: float, scale: float) -> Self:
        return replace(self, pieces=self.pieces.of_scaled(center, scale))


@dataclass(frozen=True)
class ProductTerm(Term):
    """Products of two columns: the sum of weights[i, j] P_i(a) P_j(b), for each score. The rank of each column, a or b,
    is a function in pieces of it; P_0(r) = r and P_1(r) = (3 r^2 - 1) / 2."""

    kind = "product"
    other: Key
    ranks: tuple[Pieces, Pieces]
    weights: Array
    """Of shape (n_scores, n_of_a, n_of_b)."""
    missing: Array

    def columns(self) -> tuple[Key, ...]:
        return (self.column, self.other)

    def of_scaled(self, column: Key, center: float, scale: float) -> Self:
        which = self.columns().index(column)
        a, b = (rank.of_scaled(center, scale) if i == which else rank for i, rank in enumerate(self.ranks))
        return replace(self, ranks=(a, b))


@dataclass(frozen=True)
class CategoryTerm(Term):
    """A part for each value; 0 for others. A missing text is empty."""

    kind, type = "category", "text"
    values: list[str]
    weights: Array
    """Of shape (n_values, n_scores)."""


@dataclass(frozen=True)
class DateTerm(Term):
    """A part for each month (January is 0), weekday (Monday is 0) or hour."""

    kind, type = "date", "date"
    part: str
    weights: Array
    """Of shape (12, 7 or 24, n_scores)."""
    missing: Array


@dataclass(frozen=True)
class HashedTerm(Term):
    """A part for the bucket that a text is hashed to; 0 for buckets that are not listed."""

    kind, type = "hash", "text"
    prefix: str
    """Its hash is the seed of all hashes."""
    n_buckets: int
    buckets: NDArray[np.int64]
    weights: Array
    """Of shape (n_listed, n_scores)."""


@dataclass(frozen=True)
class WordsTerm(HashedTerm):
    """The same for words: each bucket counts by how often its words come, times ``idf``; all counts of a text are
    scaled to length 1 if it is to be ``normalized``."""

    kind = "words"
    pairs: bool
    """Whether two neighbours, with a blank in between, are counted like a word."""
    count: str
    """What c occurrences count: "count" (c), "binary" (1) or "log" (1 + log c)."""
    normalized: bool
    idf: Array
    """Of the buckets that are listed."""
    other_idf: float
    """Of the others."""


@dataclass(frozen=True)
class Calibration:
    """Scores as log-odds: a function in pieces, and ``tilt`` * asinh(score / unit)."""

    pieces: Pieces
    unit: float
    tilt: float


@dataclass(frozen=True)
class Decision:
    """The rule that chooses a class. With two classes: the second, if the score is above ``threshold``. With more: that
    of the largest score, or of the largest probability by ``calibrations``, times ``factors``."""

    threshold: float | None = None
    calibrations: list[Calibration] | None = None
    factors: Array | None = None


@dataclass(frozen=True)
class Scoring:
    """All that is needed to predict."""

    model: str
    inputs: list[InputColumn]
    terms: list[Term]
    intercept: Array
    classes: list[Any] | None
    """None for values."""
    decision: Decision | None
    probabilities: list[Calibration] | None

    @property
    def n_scores(self) -> int:
        return len(self.intercept)

    @cached_property
    def inputs_by_key(self) -> dict[Key, InputColumn]:
        """The columns, by what terms call them."""
        return {each.name if each.place is None else each.place: each for each in self.inputs}

    def to_json(self) -> str:
        """The description as text."""
        terms = [{"term": term.kind, **asdict(term)} for term in self.terms]
        names = {each.place: each.name for each in self.inputs if each.place is not None}
        for term in terms:
            term |= {key: names.get(term[key], term[key]) for key in ("column", "other") if key in term}
        found = {"format": FORMAT, "version": VERSION, **asdict(self), "terms": terms}
        return json.dumps(_plain(found), allow_nan=False, ensure_ascii=False, indent=1) + "\n"


def _plain(value: Any) -> Any:
    """Values as JSON has them; what is not there is left out of objects."""
    if isinstance(value, dict):
        return {name: _plain(each) for name, each in value.items() if each is not None}
    if isinstance(value, (list, tuple)):
        return [_plain(each) for each in value]
    return value.tolist() if isinstance(value, (np.ndarray, np.generic)) else value
