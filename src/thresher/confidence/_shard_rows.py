"""Queries to rows on other machines: reading a batch, and the first query of all rounds."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import replace
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .. import _gate
from .._core import Rows
from .._dataclasses import dataclass
from .._engine import ColumnUnits, Learner, Question, State, Sums, joined, matrix_of, moments_of, part_of
from .._estimators import MEASURES, BatchLearner, Ids, take
from .._gate import Array, sparse


class LearnsInSums:
    """Mixin of confidence-weighted learners whose rounds of sums are a batch of all rows, wherever they are.

    References
    ----------
    .. [1] M. Tan, Y. Yan, L. Wang, A. van den Hengel, I. W. Tsang and Q. Shi, "Learning sparse confidence-weighted
       classifier on very high dimensional data", AAAI 2016.
    .. [2] Y. Liu, Y. Yan, L. Chen, Y. Han and Y. Yang, "Adaptive sparse confidence-weighted learning for online feature
       selection", AAAI 2019.
    """

    @property
    def _prefers_sums(self) -> bool:
        return True

    def _n_rounds(self) -> int:
        return 1


class Present(NamedTuple):
    """The rows of a batch that count, with the codes of their classes and their weights."""

    rows: Rows
    codes: Array
    weight: Array

    def signs(self, positive: float) -> Array:
        return np.where(self.codes == positive, 1.0, -1.0)


class Design(NamedTuple):
    """BatchColumns of some rows, in float64; the constant comes last, whether there is one or not."""

    X: Any
    constant: float

    @classmethod
    def of(cls, rows: Rows, constant: float, ids: Ids | None = None) -> Design:
        """All columns, or dense ones with these indices."""
        if ids is not None:
            return cls(take(rows, 0.0, ids), constant)
        return cls(matrix_of(rows).astype(np.float64, copy=False), constant)

    def scores(self, weights: Array) -> Array:
        return np.asarray(self.X @ weights[:-1] + self.constant * weights[-1])

    def pull(self, share: Array) -> Array:
        """X' share."""
        return np.append(self.X.T @ share, self.constant * share.sum())

    def gram(self, share: Array) -> Array:
        """X' diag(share) X, for shares of at least 0."""
        some = np.flatnonzero(share)
        root = np.sqrt(share[some])
        X = self.X if len(some) == self.X.shape[0] else self.X[some]
        out = np.empty((X.shape[1] + 1, X.shape[1] + 1))
        if sparse.issparse(X):
            X = sparse.csr_array(sparse.diags_array(root) @ X)
            out[:-1, :-1] = (X.T @ X).toarray()
        else:
            X = X * root[:, None]
            np.matmul(X.T, X, out=out[:-1, :-1])
        out[-1, :-1] = out[:-1, -1] = self.constant * (X.T @ root)
        out[-1, -1] = self.constant**2 * share.sum()
        return out

    def is_felt(self) -> NDArray[np.bool_]:
        """Whether a row has any feature: one without has no say in the weights."""
        if self.constant:
            return np.ones(self.X.shape[0], dtype=bool)
        return np.asarray((self.X != 0).sum(axis=1)).ravel() > 0


@dataclass(frozen=True)
class Reader:
    """Reads a batch as the estimator on the driver would."""

    who: str
    n_features: int
    constant: float
    classes: NDArray[Any]
    factors: Array
    """Factors of the weights of each class."""
    units: ColumnUnits | None = None
    """In which dense rows are learned, if they are scaled."""

    @classmethod
    def of(cls, estimator: Any) -> Reader:
        who, classes = type(estimator).__name__, estimator.classes_
        given = getattr(estimator, "class_weight", None)
        factors = None if isinstance(given, str) else _gate.class_factors(given, classes, np.empty(0), who)
        constant = estimator._learner_now().constant(estimator.state_)
        return cls(
            who, estimator.n_features_in_, constant, classes, np.ones(len(classes)) if factors is None else factors
        )

    @property
    def positives(self) -> list[float]:
        """The class that each output learns against the rest."""
        return [1.0] if len(self.classes) == 2 else [float(code) for code in range(len(self.classes))]

    def weighing(self, shares: Array) -> Reader:
        """With more weight to some classes, less to others."""
        return replace(self, factors=self.factors * shares)

    def codes(self, y: Any) -> Array:
        return _gate.encode(y, self.classes, self.who)

    def read(self, X: Any, y: Any, weight: Any) -> Present:
        rows = _gate.as_rows(X, self.who, n_features=self.n_features)
        if rows.n_features != self.n_features:
            raise ValueError(
                f"X has {rows.n_features} features, but {self.who} is expecting {self.n_features} features as input."
            )
        codes = self.codes(y)
        _gate.check_length(codes, rows.n_rows, "y", self.who)
        given = _gate.check_weights(weight, rows.n_rows, self.who)
        weights = self.factors[codes.astype(np.intp)] * (1.0 if given is None else given)
        present = np.flatnonzero(weights)
        if len(present) < rows.n_rows:
            rows, codes, weights = part_of(rows, present), codes[present], weights[present]
        return Present(rows if self.units is None else self.units.scaled(rows), codes, weights)


@dataclass(frozen=True)
class MeasureColumns:
    """Moments of the columns of dense rows, before a round learns from them."""

    doing: ClassVar[str] = "measuring"

    reader: Reader

    def answer(self, X: Any, y: Any, weight: Any) -> Sums:
        return moments_of(self.reader.read(X, y, weight).rows)

    def add(self, total: Sums | None, more: Sums) -> Sums:
        return more if total is None else joined(total, more)


def read_rows(estimator: Any) -> Generator[Question, Sums, tuple[Reader, State]]:
    """Return how rows are read and the state at the start of a round; for scaled dense rows, including their
    moments."""
    learner, state, reader = estimator._learner_now(), estimator.state_, Reader.of(estimator)
    if not learner.scales(state):
        return reader, state
    total, state = (yield MeasureColumns(reader)), state.copy()
    state.grow(state.sizes["weight"], column=reader.n_features)
    learner.tuning.measure_more(state, total)
    learner.tuning.freeze(learner, state)
    return replace(reader, units=learner.tuning.units(state)), state


class Speaker(NamedTuple):
    """The weights of an output that predict before a round; the constant's last. None stands for all features."""

    ids: Ids | None
    coef: Array


def speakers_of(learner: BatchLearner, state: State) -> tuple[Speaker, ...]:
    """Of a learner with a few features in use."""
    speakers = []
    for output in range(state.n_outputs):
        chosen = learner.selection(state, output)
        assert chosen is not None
        ids, coef = chosen
        last = ids == state.sizes["weight"] - 1
        speakers.append(Speaker(ids[~last], np.append(coef[~last], coef[last].sum())))
    return tuple(speakers)


def predictors_of(estimator: Any) -> tuple[Speaker, ...]:
    """Of what predicts before a round, from rows as they come."""
    used = [(np.flatnonzero(w[:-1]), w) for w in estimator._all_weights()]
    return tuple(Speaker(ids, np.append(w[ids], w[-1])) for ids, w in used)


@dataclass(frozen=True)
class Begin:
    """The first question of a round: how many rows there are and how they are predicted so far."""

    doing: ClassVar[str] = "counting"

    reader: Reader
    speakers: tuple[Speaker, ...]
    """Of all outputs, one model after the other."""
    predictors: tuple[Speaker, ...]
    gram: bool = False
    squares: bool = False
    measure: str | None = None

    def answer(self, X: Any, y: Any, weight: Any) -> Sums:
        reader, n_classes = self.reader, len(self.reader.classes)
        here = reader.read(X, y, weight)
        codes, positives = here.codes.astype(np.intp), reader.positives
        signs = [here.signs(positive) for positive in positives]
        scores = np.empty((len(self.speakers), here.rows.n_rows))
        for own, (ids, coef) in zip(scores, self.speakers, strict=True):
            own[:] = Design.of(here.rows, reader.constant, ids).scores(coef)
        losses = [
            np.bincount(codes, here.weight * np.maximum(0.0, 1.0 - signs[k % len(signs)] * own), n_classes)
            for k, own in enumerate(scores)
        ]
        wrong = [_n_wrong(model, codes) for model in np.split(scores, len(scores) // len(positives))]
        sums: Sums = {
            "classes": np.bincount(reader.codes(y).astype(np.intp), minlength=n_classes).astype(np.float64),
            "rows": np.array(float(here.rows.n_rows)),
            "weight": np.bincount(codes, here.weight, n_classes).astype(np.float64),
            "loss": np.array(losses),
            "mistakes": np.array(wrong, dtype=np.float64),
            "wrong": np.array(float(_n_wrong(self._predict(X, y, weight), codes))),
        }
        if self.gram:
            sums["gram"] = Design.of(here.rows, reader.constant).gram(np.ones(here.rows.n_rows))
        if self.squares:
            matrix = matrix_of(here.rows).astype(np.float64, copy=False)
            sums["squares"] = np.asarray((matrix * matrix).sum(axis=0), dtype=np.float64).ravel()
        if self.measure is not None:
            measures = [MEASURES[self.measure]() for _ in scores]
            for k, (one, own) in enumerate(zip(measures, scores, strict=True)):
                one.update(signs[k % len(signs)] > 0, own, here.weight)
            sums["cells"] = np.array([one.cells for one in measures])
        return sums

    def _predict(self, X: Any, y: Any, weight: Any) -> Array:
        """Scores of rows as they come."""
        rows = replace(self.reader, units=None).read(X, y, weight).rows
        return np.stack([Design.of(rows, self.reader.constant, ids).scores(coef) for ids, coef in self.predictors])


def _n_wrong(scores: Array, codes: NDArray[np.intp]) -> int:
    winner = (scores[0] > 0).astype(np.intp) if len(scores) == 1 else scores.argmax(axis=0)
    return int(np.count_nonzero(winner != codes))


def class_shares(estimator: Any, first: Sums) -> Array:
    """Factors of the weights of classes that only a look at all rows can tell."""
    counts = first["classes"]
    balanced = isinstance(getattr(estimator, "class_weight", None), str)
    return _gate.balanced(counts) if balanced else np.ones(len(counts))


def keep_tally(learner: Learner, state: State, first: Sums, shares: Array, n_updates: Any) -> None:
    """As a batch of all rows would: losses and mistakes are those of the weights before it."""
    tally, losses = state.arrays["tally"], first["loss"] @ shares
    tally[:, 0] += first["rows"]
    tally[:, 1] += n_updates
    tally[:, 2] += losses.reshape(len(tally), -1).mean(axis=1)  # outputs that share a state share a line
    tally[:, 3] += first["weight"] @ shares
    if learner.grid:
        state.arrays["n_mistakes"][:, 0] += first["mistakes"]
    learner.add_mistakes(state, int(first["wrong"]))


def close(estimator: Any) -> None:
    """Forget what was derived from the state before a round."""
    estimator._weights_cache = None
    estimator._keep(estimator._learner_now())
