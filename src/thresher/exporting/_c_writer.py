"""A scoring as a file of C99 that needs nothing but the standard library."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

import numpy as np

from .._estimators import NEAR, SHARPEST
from .._gate import Array
from ..training import written_label
from ._c_parts import (
    CALIBRATION,
    CATEGORY,
    DATES,
    HASH,
    HASHED,
    HEAD,
    PIECES,
    SEVERAL_CLASSES,
    TWO_CLASSES,
    VALUES,
    WORDS,
)
from ._scoring import (
    Calibration,
    CategoryTerm,
    CurveTerm,
    DateTerm,
    HashedTerm,
    InputColumn,
    LinearTerm,
    Pieces,
    ProductTerm,
    Scoring,
    Term,
    WordsTerm,
)
from ._targets import in_comment

_KEYWORDS = """auto break case char const continue default do double else enum extern float for goto if inline int long
register restrict return short signed sizeof static struct switch typedef union unsigned void volatile while"""
_COMMENTS = {"number": "NAN if missing", "date": "days since 1970-01-01, NAN if missing", "text": "NULL if missing"}


def to_c(scoring: Scoring, name: str = "model") -> str:
    """The source; functions and types begin with `name`."""
    return _Source(scoring, name).text()


class _Source:
    def __init__(self, scoring: Scoring, name: str) -> None:
        self.scoring, self.name = scoring, name
        self.fields = _fields(scoring.inputs)
        self.helpers: dict[str, None] = {}
        self.tables: list[str] = []
        self.lines: list[str] = []

    def text(self) -> str:
        for term in self.scoring.terms:
            self.term(term)
        n, classes = self.scoring.n_scores, self.scoring.classes
        start = ", ".join(map(_number, self.scoring.intercept))
        body = "\n".join(f"  {line}" for line in self.lines)
        scores = (
            f"void {self.name}_scores(const struct {self.name}_row *row, double *scores) {{\n"
            f"  static const double start[] = {{{start}}};\n  int k;\n"
            f"  for (k = 0; k < {n}; ++k) scores[k] = start[k];\n{body}\n  (void)row;\n}}\n"
        )
        reading = self.values() if classes is None else self.classes(classes)
        head = HEAD.format(name=self.name, model=self.scoring.model, row=self.row(), prototypes=self.prototypes())
        return "\n".join([head, *self.helpers, *self.tables, scores, reading])

    def row(self) -> str:
        """The fields of the struct."""
        if any(each.place is not None for each in self.scoring.inputs):
            width = 1 + max(each.place or 0 for each in self.scoring.inputs)
            return f"  double x[{width}]; /* columns by their places from 0, NAN if missing; those in use: " + (
                ", ".join(str(each.place) for each in self.scoring.inputs) + " */"
            )
        lines = []
        for each in self.scoring.inputs:
            kind = "const char *" if each.type == "text" else "double "
            said = "" if self.fields[each.name] == each.name else f"{in_comment(each.name)}: "
            lines.append(f"  {kind}{self.fields[each.name]}; /* {said}{_COMMENTS[each.type]} */")
        return "\n".join(lines or ["  char unused;"])

    def prototypes(self) -> str:
        row, classes = f"const struct {self.name}_row *row", self.scoring.classes
        made = [f"void {self.name}_scores({row}, double *scores); /* writes {self.scoring.n_scores} */"]
        if classes is None:
            return f"double {self.name}_predict({row});\n" + made[0]
        made.append(f"int {self.name}_predict({row}); /* the number of the class, -1 if there is no score */")
        made.append(f"const char *{self.name}_class(int number);")
        if self.scoring.probabilities:
            made.append(f"void {self.name}_probabilities({row}, double *probabilities); /* writes {len(classes)} */")
        return "\n".join(made)

    def field(self, key: Any) -> str:
        column = self.scoring.inputs_by_key[key]
        return f"row->{self.fields[column.name]}" if column.place is None else f"row->x[{column.place}]"

    def table(self, kind: str, values: Iterable[str]) -> str:
        """The name of a constant array of these values."""
        name = f"table_{len(self.tables)}"
        self.tables.append(f"static const {kind}{name}[] = {{{', '.join(values)}}};")
        return name

    def doubles(self, values: Array) -> str:
        return self.table("double ", map(_number, np.ravel(values)))

    def need(self, *helpers: str) -> None:
        self.helpers |= dict.fromkeys(helpers)

    # --- terms

    def term(self, term: Term) -> None:
        x, n = self.field(term.column), self.scoring.n_scores
        if isinstance(term, LinearTerm):
            parts = [f"{_number(w)} * ({x} - {_number(term.center)})" for w in term.weights]
            self.add_numbers([x], parts, term.missing)
        elif isinstance(term, CurveTerm):
            self.add_numbers([x], [self.pieces(x, term.pieces, k) for k in range(n)], term.missing)
        elif isinstance(term, ProductTerm):
            self.add_product(term)
        elif isinstance(term, CategoryTerm):
            self.need(CATEGORY)
            pairs = [(value.encode(), w) for value, w in zip(term.values, term.weights, strict=True)]
            pairs = sorted(pair for pair in pairs if b"\0" not in pair[0]) if len(pairs) else []
            values = self.table("char *const ", (_string(value) for value, _ in pairs))
            weights = self.doubles(np.array([w for _, w in pairs]))
            self.lines.append(f"add_category({x}, {values}, {len(pairs)}, {weights}, {n}, scores);")
        elif isinstance(term, DateTerm):
            self.need(DATES)
            weights, missing = self.doubles(term.weights), self.doubles(term.missing)
            self.lines.append(f"add_date({x}, date_{term.part}, {weights}, {missing}, {n}, scores);")
        elif isinstance(term, HashedTerm):
            self.add_hashed(term, x)

    def add_numbers(self, columns: list[str], parts: list[str], missing: Array | None) -> None:
        gone = " || ".join(f"isnan({x})" for x in columns)
        for k, part in enumerate(parts):
            told = part if missing is None else f"{gone} ? {_number(missing[k])} : {part}"
            self.lines.append(f"scores[{k}] += {told};")

    def pieces(self, x: str, pieces: Pieces, k: int | None = None) -> str:
        self.need(PIECES)
        knots = self.doubles(pieces.knots)
        own = self.doubles(pieces.coefficients if k is None else pieces.coefficients[k])
        return f"in_pieces({x}, {knots}, {len(pieces.knots)}, {own})"

    def add_product(self, term: ProductTerm) -> None:
        columns = [self.field(key) for key in term.columns()]
        a, b = (self.pieces(x, rank) for x, rank in zip(columns, term.ranks, strict=True))
        self.lines += ["{", f"  const double a = {a}, b = {b};"]
        p, q = (["{0}", "(1.5 * {0} * {0} - 0.5)"], "ab")
        of_a, of_b = ([form.format(letter) for form in p] for letter in q)
        parts = [
            " + ".join(f"{_number(w)} * {of_a[i]} * {of_b[j]}" for (i, j), w in np.ndenumerate(weights))
            for weights in term.weights
        ]
        self.add_numbers(columns, parts, term.missing)
        self.lines.append("}")

    def add_hashed(self, term: HashedTerm, x: str) -> None:
        self.need(HASH)
        buckets = self.table("uint32_t ", (f"{b}u" for b in term.buckets.tolist()))
        prefix, weights = term.prefix.encode(), self.doubles(term.weights)
        how = f"{_string(prefix)}, {len(prefix)}, {term.n_buckets}u, {buckets}, {len(term.buckets)}, {weights}"
        if isinstance(term, WordsTerm):
            self.need(WORDS)
            count = {"count": 0, "binary": 1, "log": 2}[term.count]
            more = f"{self.doubles(term.idf)}, {_number(term.other_idf)}, {int(term.pairs)}, {count}"
            how = f"{how}, {more}, {int(term.normalized)}"
            self.lines.append(f"add_words({x}, {how}, {self.scoring.n_scores}, scores);")
        else:
            self.need(HASHED)
            self.lines.append(f"add_hashed({x}, {how}, {self.scoring.n_scores}, scores);")

    # --- reading scores

    def values(self) -> str:
        return VALUES.format(name=self.name)

    def calibrations(self, calibrations: list[Calibration], name: str) -> str:
        self.need(PIECES, CALIBRATION)
        rows = []
        for each in calibrations:
            knots, own = self.doubles(each.pieces.knots), self.doubles(each.pieces.coefficients)
            rows.append(f"  {{{len(each.pieces.knots)}, {knots}, {own}, {_number(each.unit)}, {_number(each.tilt)}}}")
        return f"static const struct calibration {name}[] = {{\n" + ",\n".join(rows) + "\n};\n"

    def classes(self, classes: list[Any]) -> str:
        labels = ", ".join(_string(str(written_label(label)).encode()) for label in classes)
        decision, told = self.scoring.decision, self.scoring.probabilities
        assert decision is not None
        how = {"name": self.name, "n": len(classes), "labels": labels}
        if told:
            self.tables.append(self.calibrations(told, "calibrations"))
        if len(classes) == 2:
            text = TWO_CLASSES["predict"].format(**how, threshold=_number(decision.threshold or 0.0))
            return text + (TWO_CLASSES["probabilities"].format(**how) if told else "")
        text = ""
        if told or decision.calibrations:
            constants = {"certain": _number(-SHARPEST), "near": _number(NEAR)}
            text += SEVERAL_CLASSES["shares"].format(**how, **constants)
        if decision.calibrations is not None and decision.factors is not None:
            self.tables.append(self.calibrations(decision.calibrations, "decisions"))
            factors = ", ".join(map(_number, decision.factors))
            text += SEVERAL_CLASSES["weighed"].format(**how, factors=factors)
        else:
            text += SEVERAL_CLASSES["predict"].format(**how)
        return text + (SEVERAL_CLASSES["probabilities"].format(**how) if told else "")


def _fields(inputs: list[InputColumn]) -> dict[str, str]:
    """Names of columns as names of C, each once."""
    made: dict[str, str] = {}
    taken = set(_KEYWORDS.split())
    for each in inputs:
        plain = re.sub(r"[^A-Za-z0-9_]+", "_", each.name).strip("_") or "column"
        plain = f"_{plain}" if plain[0].isdigit() else plain
        unique, n = plain, 2
        while unique in taken:
            unique, n = f"{plain}_{n}", n + 1
        taken.add(unique)
        made[each.name] = unique
    return made


def _number(value: float) -> str:
    return repr(float(value))


def _string(value: bytes) -> str:
    """A literal; octal escapes end by themselves, and no two question marks make a trigraph."""
    plain = set(range(32, 127)) - set(b'"\\?')
    return '"' + "".join(chr(c) if c in plain else f"\\{c:03o}" for c in value) + '"'
