"""A scoring as one SQL query, in words that SQLite and DuckDB share.

Each stage of the query adds columns to the one before. Stages are materialised, because SQLite would otherwise copy the
expression of a score to every place that asks for it.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from .._estimators import NEAR, SHARPEST
from .._gate import Array
from ..training import written_label
from ._scoring import (
    Calibration,
    CategoryTerm,
    CurveTerm,
    DateTerm,
    InputColumn,
    LinearTerm,
    Pieces,
    ProductTerm,
    Scoring,
    Term,
)
from ._targets import POWER_STEPS, cannot, in_comment

Columns = dict[str, str]
_HEAD = """\
-- {model}, exported by thresher. It reads these columns of {table}:
{columns}
-- NULL is a missing value. floor, exp, ln and sqrt are needed (SQLite has them if compiled with its math functions).
"""
_TYPES = {
    "number": "a number",
    "text": "text",
    "date": "a number of days since 1970-01-01, with the time as a fraction",
}
_DATES = """\
-- Convert dates first: epoch(d) / 86400.0 in DuckDB, julianday(d) - 2440587.5 in SQLite. SQLite would read the text
-- '2024-05-03' as the number 2024.
"""


def to_sql(scoring: Scoring, table: str = "data", key: Sequence[str] = ()) -> str:
    """The query, over a table that has the columns of the model; columns of `key` come out beside the predictions."""
    return _Query(scoring, table, key).text()


class _Query:
    def __init__(self, scoring: Scoring, table: str, key: Sequence[str]) -> None:
        self.scoring, self.table = scoring, table
        self.keys = [(f"k{i}", name) for i, name in enumerate(key)]
        self.stages: list[str] = []
        self.n_made = 0
        self.names = {each.name: f"c{i}" for i, each in enumerate(scoring.inputs)}
        read = {self.names[each.name]: _read(each) for each in scoring.inputs} | {k: _name(n) for k, n in self.keys}
        self.add(read or {"c": "0"}, first=True)

    def add(self, columns: Columns, first: bool = False) -> None:
        """A stage with more columns."""
        if not columns:
            return
        made = ",\n    ".join(f"{expression} AS {name}" for name, expression in columns.items())
        n = len(self.stages)
        source = _name(self.table) if first else f"stage_{n - 1}"
        self.stages.append(f"stage_{n} AS MATERIALIZED (\n  SELECT {'' if first else '*, '}{made}\n  FROM {source}\n)")

    def new(self, letter: str) -> str:
        self.n_made += 1
        return f"{letter}{self.n_made}"

    def text(self) -> str:
        scores = [f"s{k}" for k in range(self.scoring.n_scores)]
        self.add({name: _sum(parts) for name, parts in zip(scores, self.parts(), strict=True)})
        results = self.classes(scores) if self.scoring.classes is not None else {"prediction": scores[0]}
        outputs = [f"{k} AS {_name(name)}" for k, name in self.keys]
        outputs += [f"{expression} AS {_name(name)}" for name, expression in results.items()]
        columns = "\n".join(f"--   {in_comment(_name(each.name))}: {_TYPES[each.type]}" for each in self.scoring.inputs)
        head = _HEAD.format(model=self.scoring.model, table=in_comment(_name(self.table)), columns=columns)
        head += _DATES if any(each.type == "date" for each in self.scoring.inputs) else ""
        stages = ",\n".join(self.stages)
        return f"{head}WITH {stages}\nSELECT " + ",\n  ".join(outputs) + f"\nFROM stage_{len(self.stages) - 1}\n"

    # --- terms

    def parts(self) -> list[list[str]]:
        """For each score its parts."""
        parts = [[_number(b)] for b in self.scoring.intercept]
        for term in self.scoring.terms:
            for k, expression in enumerate(self.term(term)):
                parts[k].append(expression)
        return parts

    def term(self, term: Term) -> Iterable[str]:
        x = self.names[self.scoring.inputs_by_key[term.column].name]
        if isinstance(term, LinearTerm):
            return _or_missing([f"{_number(w)} * ({x} - {_number(term.center)})" for w in term.weights], term.missing)
        if isinstance(term, CurveTerm):
            return _or_missing([_piecewise(x, term.pieces.knots, c) for c in term.pieces.coefficients], term.missing)
        if isinstance(term, CategoryTerm):
            return [_case(x, map(_text, term.values), weights) for weights in term.weights.T]
        if isinstance(term, DateTerm):
            part, places = self.date_part(x, term.part), [str(place) for place in range(len(term.weights))]
            cases = [_case(part, places, weights) for weights in term.weights.T]
            told = zip(cases, term.missing, strict=True)
            return [f"CASE WHEN {x} IS NULL THEN {_number(gone)} ELSE {case} END" for case, gone in told]
        if isinstance(term, ProductTerm):
            return self.product(term)
        raise cannot("sql", term)

    def product(self, term: ProductTerm) -> list[str]:
        ranks = [self.new("r"), self.new("r")]
        columns = [self.names[self.scoring.inputs_by_key[key].name] for key in term.columns()]
        curves = [_piecewise(x, rank.knots, rank.coefficients) for x, rank in zip(columns, term.ranks, strict=True)]
        self.add(dict(zip(ranks, curves, strict=True)))
        a, b = ([r, f"(1.5e0 * {r} * {r} - 0.5e0)"] for r in ranks)
        sums = [
            _sum([f"{_number(w)} * {a[i]} * {b[j]}" for (i, j), w in np.ndenumerate(weights)])
            for weights in term.weights
        ]
        return _or_missing(sums, term.missing)

    def date_part(self, x: str, part: str) -> str:
        """The column that holds the month, weekday or hour, counted from 0."""
        seconds, day, made = self.new("t"), self.new("d"), self.new("p")
        self.add({seconds: f"floor({x} * 86400e0 + 0.5e0)"})
        self.add({day: f"floor({seconds} / 86400e0)"})
        if part == "hour":
            self.add({made: f"floor(({seconds} - 86400e0 * {day}) / 3600e0)"})
        elif part == "weekday":  # 1970 began on a Thursday
            self.add({made: f"{day} + 3e0 - 7e0 * floor(({day} + 3e0) / 7e0)"})
        else:  # in eras of 400 years, each from March on
            era, year, since_march, month = (self.new(letter) for letter in "eyqm")
            shifted = f"({day} + 719468e0)"
            self.add({era: f"{shifted} - 146097e0 * floor({shifted} / 146097e0)"})
            leaps = f"floor({era} / 1460e0) + floor({era} / 36524e0) - floor({era} / 146096e0)"
            self.add({year: f"floor(({era} - {leaps}) / 365e0)"})
            self.add({since_march: f"{era} - (365e0 * {year} + floor({year} / 4e0) - floor({year} / 100e0))"})
            self.add({month: f"floor((5e0 * {since_march} + 2e0) / 153e0)"})
            self.add({made: f"CASE WHEN {month} < 10e0 THEN {month} + 2e0 ELSE {month} - 10e0 END"})
        return made

    # --- classes

    def classes(self, scores: list[str]) -> Columns:
        labels = self.scoring.classes or []
        names = [str(written_label(label)) for label in labels]
        decision, calibrations = self.scoring.decision, self.scoring.probabilities
        assert decision is not None
        results: Columns = {}
        if len(labels) == 2:
            (score,), above = scores, _number(decision.threshold or 0.0)
            first, second = map(_label, labels)
            results["prediction"] = (
                f"CASE WHEN {score} > {above} THEN {second} WHEN {score} <= {above} THEN {first} END"
            )
            results["score"] = score
            if calibrations:
                odds = self.new("o")
                self.add({odds: _log_odds(score, calibrations[0])})
                for name, sign in zip(names, ("", "-"), strict=True):
                    results[f"probability {name}"] = f"1e0 / (1e0 + exp({sign}{odds}))"
            return results
        winner, leads = self.leads(scores)
        if decision.calibrations is not None:
            shares = self.shares(leads, decision.calibrations)
            assert decision.factors is not None
            gains = [self.new("g") for _ in shares]
            weighed = zip(gains, shares, decision.factors, strict=True)
            self.add({gain: f"{share} * {_number(factor)}" for gain, share, factor in weighed})
            winner = self.largest(gains)[0]
        cases = " ".join(f"WHEN {k} THEN {_label(label)}" for k, label in enumerate(labels))
        results["prediction"] = f"CASE {winner} {cases} END"
        results |= {f"score {name}": score for name, score in zip(names, scores, strict=True)}
        if calibrations:
            shares = self.shares(leads, calibrations)
            results |= {f"probability {name}": share for name, share in zip(names, shares, strict=True)}
        return results

    def largest(self, values: list[str]) -> tuple[str, str, str]:
        """The place of the largest value, that value, and the second largest."""
        first, second = values[:2]
        place, top, next_ = self.new("w"), self.new("x"), self.new("z")
        self.add(
            {
                place: f"CASE WHEN {second} > {first} THEN 1 WHEN {second} <= {first} THEN 0 END",
                top: f"CASE WHEN {second} > {first} THEN {second} ELSE {first} END",
                next_: f"CASE WHEN {second} > {first} THEN {first} ELSE {second} END",
            }
        )
        for k, value in enumerate(values[2:], start=2):
            before, was, after = place, top, next_
            place, top, next_ = self.new("w"), self.new("x"), self.new("z")
            self.add(
                {
                    place: f"CASE WHEN {value} > {was} THEN {k} ELSE {before} END",
                    top: f"CASE WHEN {value} > {was} THEN {value} ELSE {was} END",
                    next_: f"CASE WHEN {value} > {was} THEN {was} WHEN {value} > {after} THEN {value} ELSE {after} END",
                }
            )
        return place, top, next_

    def leads(self, scores: list[str]) -> tuple[str, list[str]]:
        winner, top, second = self.largest(scores)
        leads = [self.new("l") for _ in scores]
        rivals = [f"CASE WHEN {winner} = {k} THEN {second} ELSE {top} END" for k in range(len(scores))]
        self.add({lead: f"{s} - {rival}" for lead, s, rival in zip(leads, scores, rivals, strict=True)})
        return winner, leads

    def shares(self, leads: list[str], calibrations: list[Calibration]) -> list[str]:
        """Probabilities of several classes, raised to the power at which they add up to 1."""
        odds, logs = [self.new("o") for _ in leads], [self.new("h") for _ in leads]
        self.add({o: _log_odds(lead, c) for o, lead, c in zip(odds, leads, calibrations, strict=True)})
        certain = _number(-SHARPEST)
        told = [f"(0e0 - ln(1e0 + exp(0e0 - {o})))" for o in odds]
        self.add({h: f"CASE WHEN {t} > {certain} THEN {certain} ELSE {t} END" for h, t in zip(logs, told, strict=True)})
        power = "1e0"
        for _ in range(POWER_STEPS):
            total, slope, raised = self.new("n"), self.new("v"), self.new("u")
            parts = [f"exp({power} * {h})" for h in logs]
            moments = [f"{h} * {part}" for h, part in zip(logs, parts, strict=True)]
            self.add({total: _sum(parts), slope: _sum(moments)})
            near = f"abs({total} - 1e0) <= {_number(NEAR)}"
            moved = f"{power} - ln({total}) * {total} / {slope}"
            self.add({raised: f"CASE WHEN {near} THEN {power} WHEN {moved} > 0e0 THEN {moved} ELSE 0e0 END"})
            power = raised
        parts = [self.new("f") for _ in logs]
        self.add({part: f"exp({power} * {h})" for part, h in zip(parts, logs, strict=True)})
        total = self.new("n")
        self.add({total: _sum(parts)})
        return [f"{part} / {total}" for part in parts]


def _read(column: InputColumn) -> str:
    name = _name(column.name)
    return f"COALESCE({name}, '')" if column.type == "text" else f"CAST({name} AS DOUBLE PRECISION)"


def _name(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def _text(value: str) -> str:
    if "\0" in value:
        raise ValueError(
            f"export: text in SQL cannot hold a zero byte, as in the value {value!r}; export to onnx or json."
        )
    return "'" + value.replace("'", "''") + "'"


def _label(label: Any) -> str:
    return _text(label) if isinstance(label, str) else json.dumps(label)


def _number(value: float) -> str:
    """A double: without an exponent, DuckDB takes it for a decimal."""
    written = repr(float(value))
    return written if "e" in written else written + "e0"


def _sum(parts: Sequence[str]) -> str:
    """A sum in pairs of pairs: SQLite limits the depth of expressions."""
    if len(parts) == 1:
        return parts[0]
    half = len(parts) // 2
    return f"({_sum(parts[:half])} + {_sum(parts[half:])})"


def _case(x: str, values: Iterable[str], results: Array) -> str:
    cases = " ".join(f"WHEN {value} THEN {_number(w)}" for value, w in zip(values, results, strict=True) if w != 0)
    return f"CASE {x} {cases} ELSE 0e0 END" if cases else "0e0"


def _or_missing(parts: list[str], missing: Array | None) -> list[str]:
    if missing is None:
        return parts
    return [f"COALESCE({part}, {_number(m)})" for part, m in zip(parts, missing, strict=True)]


def _piecewise(x: str, knots: Array, coefficients: Array) -> str:
    """The piece that x is in; NULL of NULL."""
    pieces = []
    for anchor, (c0, c1, c2) in zip(Pieces(knots, coefficients).anchors, coefficients, strict=True):
        u = f"({x} - {_number(anchor)})"
        slope = f"({_number(c1)} + {u} * {_number(c2)})" if c2 else _number(c1)
        pieces.append(f"{_number(c0)} + {u} * {slope}" if c1 or c2 else _number(c0))
    cases = " ".join(f"WHEN {x} < {_number(t)} THEN {piece}" for t, piece in zip(knots, pieces[:-1], strict=True))
    return f"CASE WHEN {x} IS NULL THEN NULL {cases} ELSE {pieces[-1]} END"


def _log_odds(score: str, how: Calibration) -> str:
    r = f"abs({score}) / {_number(how.unit)}"
    asinh = f"ln({r} + sqrt({r} * ({r}) + 1e0))"
    tilt = f"{_number(how.tilt)} * CASE WHEN {score} < 0e0 THEN 0e0 - {asinh} ELSE {asinh} END"
    return f"{_piecewise(score, how.pieces.knots, how.pieces.coefficients)} + {tilt}"
