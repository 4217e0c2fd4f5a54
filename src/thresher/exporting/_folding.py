"""From a fitted model to the description of its scoring: steps are folded into the weights, from the last to the first.

What the learner says of its features, ``weights * (x - center)``, is said of the columns before each step in turn. That
keeps centers apart from intercepts, so that columns such as 1e9 +- 1 lose no digits.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from copy import copy
from functools import singledispatchmethod
from typing import Any

import numpy as np

from .. import _core
from .._estimators import Estimator, LinearClasses, check_is_fitted, task_of
from .._gate import Array, Text, dense_weights
from ..preprocessing import (
    DATE_PARTS,
    DAY_2000,
    DAYS_IN_YEAR,
    ColumnSplines,
    DateEncoder,
    RunningScaler,
    StreamingPipeline,
    TableEncoder,
)
from ._scoring import (
    Calibration,
    CategoryTerm,
    CurveTerm,
    DateTerm,
    Decision,
    HashedTerm,
    InputColumn,
    Key,
    LinearTerm,
    Pieces,
    ProductTerm,
    Scoring,
    Term,
    WordsTerm,
)

UNEXPORTED = {"tasks": "a model of several tasks", "outliers": "a model that can reject rows"}


def scoring_of(model: Any) -> Scoring:
    """Describe the scoring of a fitted linear or additive model.

    Parameters
    ----------
    model : estimator or StreamingPipeline

    Returns
    -------
    Scoring
    """
    steps = [step for _, step in model.steps] if isinstance(model, StreamingPipeline) else [model]
    *transformers, learner = steps
    _check_learner(learner)
    named = any(map(_has_names, steps))
    if hasattr(learner, "to_float64"):  # weights as predictions use them
        learner = copy(learner).to_float64()
    fold = _Fold(dense_weights(learner.coef_), np.atleast_1d(learner.intercept_), named)
    for step in reversed(transformers):
        fold.before(step)
    terms = fold.all_terms(getattr(learner, "feature_names_in_", None))
    is_classifier = task_of(learner) == "classification"
    return Scoring(
        model=type(learner).__name__,
        inputs=_inputs(terms, fold.dates, getattr(model, "feature_names_in_", None) if named else None),
        terms=terms,
        intercept=fold.intercept,
        classes=[_label(each) for each in learner.classes_.tolist()] if is_classifier else None,
        decision=_decision(learner) if is_classifier else None,
        probabilities=_calibrations(learner._curves()) if hasattr(learner, "predict_proba") else None,
    )


def _check_learner(learner: Any) -> None:
    who = type(learner).__name__
    for need, words in UNEXPORTED.items():
        if need in getattr(learner, "_needs", ()):
            raise ValueError(f"export: {who} is {words}; only linear and additive models of one task can be exported.")
    if not isinstance(learner, Estimator):
        raise ValueError(
            f"export: {who} is not an estimator of thresher; build pipelines with thresher.preprocessing.prepared."
        )
    check_is_fitted(learner)
    if not isinstance(learner, LinearClasses if task_of(learner) == "classification" else Estimator) or not hasattr(
        learner, "coef_"
    ):
        raise ValueError(f"export: {who} is not linear; only linear and additive models can be exported.")


def _has_names(step: Any) -> bool:
    """Whether the columns of a step have names; else they are known by their places."""
    if isinstance(step, ColumnSplines):
        return step._named
    if isinstance(step, (TableEncoder, DateEncoder)):
        counted = step.columns_ == [f"x{j + 1}" for j in range(len(step.columns_))]
        return not counted or bool(step.dates_ if isinstance(step, DateEncoder) else step.kinds_.strip("n"))
    return hasattr(step, "feature_names_in_")


def _inputs(terms: list[Term], dates: set[Key], names: Any) -> list[InputColumn]:
    """The columns that are used, in the order of the table."""
    types = {key: "date" if key in dates else term.type for term in terms for key in term.columns()}
    if names is None:
        return [InputColumn(f"x{j + 1}", types[j], j) for j in sorted(map(int, types))]
    return [InputColumn(name, types[name], None) for name in map(str, names) if name in types]


def _label(label: Any) -> Any:
    return label.decode("utf-8", "replace") if isinstance(label, bytes) else label


# --- scores to classes ----------------------------------------------------------------------------------------------


def _calibrations(curves: list[Any]) -> list[Calibration]:
    return [Calibration(Pieces.interpolating(c.at, c.log_odds), c.unit, c.tilt) for c in curves]


def _decision(learner: Any) -> Decision:
    if len(learner.classes_) == 2:
        largest = sys.float_info.max  # instead of infinity, which JSON does not know
        return Decision(threshold=float(np.clip(learner.threshold_, -largest, largest)))
    if learner.threshold is None:
        return Decision()
    curves = learner._free_curves(len(learner.classes_))
    return Decision(calibrations=_calibrations(curves), factors=learner._factors_of_classes(learner._criterion))


# --- steps ----------------------------------------------------------------------------------------------------------


class _Fold:
    """Scores as a function of the columns before a step: first ``weights @ (x - centers)`` of numbers by their places,
    then terms of columns, once a step makes features of other things."""

    def __init__(self, weights: Array, intercept: Array, named: bool) -> None:
        self.weights, self.centers = np.array(weights, dtype=np.float64), np.zeros(weights.shape[1])
        self.intercept = np.array(intercept, dtype=np.float64)
        self.named = named
        self.terms: list[Term] | None = None
        self.dates: set[Key] = set()

    def keys(self, names: Any) -> list[Key]:
        """Columns by their names, or by their places."""
        return [str(name) for name in names] if self.named else list(range(len(names)))

    def all_terms(self, names: Any = None) -> list[Term]:
        """The terms of all columns in use, once numbers are known by these names."""
        if self.terms is None:
            keys = self.keys(range(self.weights.shape[1]) if names is None else names)
            used = np.flatnonzero(self.weights.any(axis=0)).tolist()
            self.terms = [LinearTerm(keys[j], float(self.centers[j]), self.weights[:, j], None) for j in used]
        return self.terms

    @singledispatchmethod
    def before(self, step: Any) -> None:
        """Go from the columns behind a step to those before it."""
        raise ValueError(
            f"export: {type(step).__name__} cannot be exported; the steps that can are DateEncoder, ColumnSplines, "
            "RunningScaler and TableEncoder."
        )

    # --- scaling

    @before.register
    def _(self, step: RunningScaler) -> None:
        if step.unit_rows:
            raise ValueError("export: a RunningScaler with unit_rows=True cannot be exported.")
        scales, centers = step.scale_, np.zeros(step.n_features_in_)
        if step.centred_:
            centers = step._middle(step.mean_, step.var_)
        if self.terms is None:
            room = self.weights.shape[1] - len(scales)  # sparse rows may have more columns than were scaled
            scales, centers = np.pad(scales, (0, room), constant_values=1.0), np.pad(centers, (0, room))
            self.weights, self.centers = self.weights / scales, centers + scales * self.centers
            if hasattr(step, "feature_names_in_"):
                self.all_terms(step.feature_names_in_)
            return
        keys = self.keys(getattr(step, "feature_names_in_", scales))
        self._scaled({key: (float(c), float(s)) for key, c, s in zip(keys, centers, scales, strict=True)})

    def _scaled(self, how: dict[Key, tuple[float, float]]) -> None:
        def scaled(term: Term) -> Term:
            for key in term.columns():
                if term.type == "number" and key in how:
                    term = term.of_scaled(key, *how[key])
            return term

        self.terms = [scaled(term) for term in self.all_terms()]

    # --- tables

    @before.register
    def _(self, step: TableEncoder) -> None:
        if self.terms is not None:
            raise ValueError("export: a TableEncoder can only be exported after all steps that use column names.")
        room = step.n_features_out_ - self.weights.shape[1]  # features that the learner has not met
        weights, centers = np.pad(self.weights, [(0, 0), (0, room)]), np.pad(self.centers, (0, room))
        n_numbers, n_buckets, keys = step.kinds_.count("n"), len(step.fingerprints_), self.keys(step.columns_)
        made = slice(n_numbers, None)
        self.intercept -= weights[:, made] @ centers[made]
        added = weights[:, n_numbers + n_buckets :]
        numbers = iter(range(n_numbers))
        self.terms = []
        for column, kind in enumerate(step.kinds_):
            own = np.flatnonzero(step.added_columns_ == column)
            if kind == "n":
                j = next(numbers)
                if weights[:, j].any() or added[:, own].any():
                    gone = -centers[j] * weights[:, j] + added[:, own].sum(axis=1)
                    missing = None if step.missing == "error" else gone
                    self.terms.append(LinearTerm(keys[column], float(centers[j]), weights[:, j], missing))
            elif kind == "c":
                used = own[added[:, own].any(axis=0)].tolist()
                if used:
                    values = [step.added_values_[place] for place in used]
                    self.terms.append(CategoryTerm(keys[column], values, added[:, used].T))
            elif (buckets := weights[:, n_numbers : n_numbers + n_buckets]).any():
                self.terms.append((_hashed if kind == "h" else _words)(step, column, keys[column], buckets))

    # --- splines

    @before.register
    def _(self, step: ColumnSplines) -> None:
        basis, keys, made = step._basis, self.keys(step._number_names()), step._feature_names(step._number_names())
        at = {key: place for place, key in enumerate(self.keys(made))}
        shape = (len(self.intercept), len(made))
        weights, centers, gone = np.zeros(shape), np.zeros(len(made)), np.zeros(shape)
        terms, self.terms = self.all_terms(made), []
        for term in terms:
            if term.column not in at:
                self.terms.append(term)
            elif isinstance(term, LinearTerm):
                place = at[term.column]
                weights[:, place], centers[place] = term.weights, term.center
                gone[:, place] = np.nan if term.missing is None else term.missing
            else:
                raise ValueError("export: ColumnSplines can only be exported before RunningScaler and TableEncoder.")
        constants = weights * (-centers - np.where(basis.is_made, basis.means, 0.0))
        at_means = np.where(basis.is_made, -weights * centers, gone)  # of a missing number, splines are at their means
        owners = np.array([own[0] if len(own) == 1 else -1 for own in basis.owners])
        for j, key in enumerate(keys):
            own = np.flatnonzero(owners == j)
            self._add_column(key, basis, j, weights[:, own], centers[own[0]], constants[:, own[1:]], at_means[:, own])
        for a, b in basis.pairs.tolist():
            own = np.array([k for k, columns in enumerate(basis.owners) if columns == (a, b)], dtype=np.intp)
            self._add_product((keys[a], keys[b]), basis, (a, b), weights[:, own], constants[:, own], at_means[:, own])

    def _add_column(
        self, key: Key, basis: Any, j: int, weights: Array, center: float, constants: Array, missing: Array
    ) -> None:
        """The curve of a column, or its straight line."""
        if not weights.any() and not missing.any():
            return
        assert self.terms is not None
        shift = constants.sum(axis=1)
        self.intercept += shift
        total = missing.sum(axis=1) - shift
        gone = None if np.isnan(total).any() else total
        if not weights[:, 1:].any():
            self.terms.append(LinearTerm(key, float(center), weights[:, 0], gone))
            return
        pieces = _spline_pieces(basis.knots_of(j), weights[:, 1:])
        lines = weights[:, :1] * (pieces.anchors - center)
        pieces.coefficients[..., 0] += lines
        pieces.coefficients[..., 1] += weights[:, :1]
        self.terms.append(CurveTerm(key, pieces, gone))

    def _add_product(
        self, keys: tuple[Key, Key], basis: Any, pair: tuple[int, int], weights: Array, constants: Array, missing: Array
    ) -> None:
        if not weights.any():
            return
        assert self.terms is not None
        shift = constants.sum(axis=1)
        self.intercept += shift
        knots = [basis.knots_of(j) for j in pair]
        a, b = (Pieces.interpolating(each, np.linspace(-1, 1, len(each))) for each in knots)
        shape = (len(weights), *basis.degrees[list(pair)].tolist())
        self.terms.append(ProductTerm(keys[0], keys[1], (a, b), weights.reshape(shape), missing.sum(axis=1) - shift))

    # --- dates

    @before.register
    def _(self, step: DateEncoder) -> None:
        terms = self.all_terms(step._columns_out())
        parts = {
            made: (name, part)
            for name in step.dates_
            for made, part in zip(step._parts(name), DATE_PARTS, strict=False)
        }
        self.dates = set(step.dates_)
        self.terms = [_date_term(term, *parts[term.column]) if term.column in parts else term for term in terms]
        self._scaled({name: (float(DAY_2000), DAYS_IN_YEAR) for name in step.dates_})


def _date_term(term: Term, column: str, part: str) -> DateTerm:
    """Return the term of a category for the words of a part of a date."""
    words = ["", *DATE_PARTS[part]]
    if isinstance(term, CategoryTerm):
        known: dict[Any, Array] = dict(zip(term.values, term.weights, strict=True))
        asked: list[Any] = list(words)
    elif type(term) is HashedTerm:
        texts = Text.from_list(words)
        found, _ = _core.hash_texts(texts.offsets, texts.data, term.prefix.encode(), term.n_buckets, None)
        known, asked = dict(zip(term.buckets.tolist(), term.weights, strict=True)), found.tolist()
    else:
        raise ValueError(f"export: the {part} of column {column!r} is encoded as text, which cannot be exported.")
    nothing = np.zeros(term.weights.shape[1])
    missing, *weights = (known.get(each, nothing) for each in asked)
    return DateTerm(column, part, np.stack(weights), missing)


def _hashed(step: TableEncoder, column: int, key: Key, weights: Array) -> HashedTerm:
    used = np.flatnonzero(weights.any(axis=0))
    return HashedTerm(key, f"{step.columns_[column]}=", weights.shape[1], used, weights[:, used].T)


def _words(step: TableEncoder, column: int, key: Key, weights: Array) -> WordsTerm:
    counted = step.texts_with_ if len(step.texts_with_) else np.zeros(weights.shape[1])
    used = np.flatnonzero(weights.any(axis=0) | (counted > 0))
    idf: Callable[[Any], Any] = lambda n: np.log((1 + step.n_texts_) / (1 + n)) + 1  # noqa: E731
    has_idf = len(step.texts_with_) > 0
    return WordsTerm(
        key,
        f"{step.columns_[column]}:",
        weights.shape[1],
        used,
        weights[:, used].T,
        pairs=int(step.ngrams) == 2,
        count=step.words,
        normalized=bool(step.normalize_text),
        idf=idf(counted[used]) if has_idf else np.ones(len(used)),
        other_idf=float(idf(0)) if has_idf else 1.0,
    )


def _spline_pieces(t: Array, weights: Array) -> Pieces:
    """The sum of weights * B_k, with the B-splines of core/splines.hpp, as polynomials between knots."""
    h = np.diff(t)
    before, after = np.append(h[:1], t[2:] - t[:-2]), np.append(t[2:] - t[:-2], h[-1:])
    left, right = weights[:, :-2] - weights[:, 1:-1], weights[:, 2:] - weights[:, 1:-1]
    inner = np.stack(
        [weights[:, 1:-1] + left * h / before, -2 * left / before, left / (h * before) + right / (h * after)], axis=-1
    )
    zero = np.zeros(len(weights))
    first = np.stack([weights[:, 0], 2 * (weights[:, 1] - weights[:, 0]) / h[0], zero], axis=-1)
    last = np.stack([weights[:, -1], 2 * (weights[:, -1] - weights[:, -2]) / h[-1], zero], axis=-1)
    return Pieces(t, np.concatenate([first[:, None], inner, last[:, None]], axis=1))
