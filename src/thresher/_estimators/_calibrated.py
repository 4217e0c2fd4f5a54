"""Calibrated probabilities, from rows that were scored before the model learned from them."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from types import MethodType
from typing import Any, ClassVar, Self
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from .. import _gate
from .._engine import Curve, ScoreCounts
from .._gate import Array, beside, is_foreign_array, on_host, one_of, sparse, take
from ._any_estimator import clone
from ._contract import check_is_fitted, is_fitted
from ._declared import Declared, param
from ._shares import adding_up, in_favour_of, leads

Places = NDArray[np.intp]

N_FOLDS = 5
ENOUGH = 2_500  # rows that are scored by models that have not seen them


def log_of(probabilities: Array) -> Array:
    """Logarithms, minus infinity for a probability of 0."""
    with np.errstate(divide="ignore"):
        return np.log(probabilities)


class WithProbabilities:
    """A method of classifiers that count scores; the others do not have it."""

    def __init__(self, method: Callable[..., Any]) -> None:
        self._method = method
        self.__doc__ = method.__doc__

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        if instance is None:
            return self._method
        missing = instance._missing_for(self._method.__name__)
        if missing:
            raise AttributeError(f"{type(instance).__name__}: {self._method.__name__} needs {missing}.")
        return MethodType(self._method, instance)


class _Counted:
    """The types of the counts, and of their keys."""

    classes_: np.ndarray[Any, Any]
    _score_bins: Array
    _score_clock: Array
    _is_learning: bool


class Calibrated(_Counted, Declared):
    """Mixin of classifiers whose scores are read as probabilities. ``_score_table`` makes scores of shape
    ``(n_rows, n_outputs)``, and ``_score_counts`` knows how often a class had which."""

    probability: str = param(
        default="calibrated",
        rule=one_of("calibrated", "frequencies", "none"),
        doc="""``"calibrated"`` provides :meth:`predict_proba`: the learner counts, by class, the score of each row
        before it learns from the row, which tells how often a class occurs at a score. Rows count by their weights,
        class weights included. With ``"frequencies"``, class weights move decisions only: probabilities are how often
        a class occurs in rows as they come. ``"none"`` saves the time.""",
    )

    @classmethod
    def _from_file(cls, params: Mapping[str, Any]) -> Mapping[str, Any]:
        """Files without a probability setting hold models that count no scores."""
        known: Mapping[str, Any] = super()._from_file(params)  # type: ignore[misc]
        return known if "probability" in known else {**known, "probability": "none"}

    def _missing_for(self, method: str) -> str:
        """Return what is missing for probabilities, as words; usually nothing."""
        if self.probability == "none":
            return f'probability="calibrated", got {self.probability!r}'
        if method == "calibrate" or not is_fitted(self) or self._score_counts().clock[0]:
            return ""
        return "scores of rows that the model has not learned from; call calibrate with such rows"

    def _score_table(self, X: Any) -> Array:
        """The scores of rows, one column per output."""
        raise NotImplementedError

    def _score_counts(self) -> ScoreCounts:
        """The scores that were counted, to be read or replaced."""
        raise NotImplementedError

    def _curves(self) -> list[Curve]:
        """Return the curves from scores to log-odds, one per output."""
        return self._score_counts().curves(self._reads_freely())

    def _reads_freely(self) -> bool:
        """Whether a score of 0 is not where classes are even: because decisions weigh mistakes by a cost or classes by
        their weights, or because a user has chosen the rows to read by."""
        return self._weighs_mistakes or self._counts_as_they_come or self._score_counts().is_free

    @property
    def _counts_as_they_come(self) -> bool:
        """Whether classes have weights that do not count in calibration."""
        return self.probability == "frequencies" and self.__dict__.get("class_weight") is not None

    @property
    def _decides_otherwise(self) -> bool:
        """Whether a threshold is given that changes decisions, and can be computed."""
        return True

    @property
    def _weighs_mistakes(self) -> bool:
        """Whether scores are learned so that 0 is where the cost of mistakes, not their number, is even."""
        return False

    @WithProbabilities
    def predict_proba(self, X: Any) -> Array:
        """Return the probability of each class.

        The probability of a class is how often rows with a similar score belonged to that class, among rows that were
        scored before the model learned from them. With more than two classes, the score of a class is its lead over the
        best other class, and the probabilities are raised to the power at which they sum to 1. Late rows count more
        than early ones, and rows count by their weight. The class with the largest score has the largest probability. A
        score of 0 has a probability of 1/2, unless the learner weighs mistakes on a rare class by a cost,
        ``probability="frequencies"`` leaves out class weights, or :meth:`calibrate` was given other rows.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
            In the order of ``classes_``.
        """
        check_is_fitted(self)
        scores = self._score_table(X)
        return beside(self._probabilities_of(on_host(scores)), scores)

    @WithProbabilities
    def predict_log_proba(self, X: Any) -> Array:
        """Return the logarithm of the probability of each class; see :meth:`predict_proba`."""
        check_is_fitted(self)
        scores = self._score_table(X)
        return beside(log_of(self._probabilities_of(on_host(scores))), scores)

    @WithProbabilities
    def calibrate(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Calibrate the probabilities on these rows from now on, for example on more recent rows or on rows from
        another source. The model must not have learned from them.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
            Their classes.
        sample_weight : array-like of shape (n_samples,), optional
            Nonnegative weights.

        Returns
        -------
        self
        """
        check_is_fitted(self)
        return self._calibrate(on_host(self._score_table(X)), y, sample_weight)

    def _calibrate(self, scores: Array, y: Any, sample_weight: Any) -> Self:
        who = type(self).__name__
        codes = _gate.encode(y, self.classes_, who)
        _gate.check_length(codes, len(scores), "y", who)
        weight = _gate.check_weights(sample_weight, len(scores), who)
        if weight is not None and not weight.any():
            raise ValueError(f"{who}: sample_weight must hold a weight above 0, got only zeros.")
        counts = ScoreCounts.empty(scores.shape[1])
        counts.add(np.ascontiguousarray(scores.T), np.asarray(codes, dtype=np.float64), weight, ages=False)
        counts.clock[3] = 1.0
        self._score_counts().replace(counts)
        return self

    def _probabilities_of(self, scores: Array) -> Array:
        if scores.shape[1] > 1:
            shares, winner = self._read_shares(scores, self._curves()), scores.argmax(axis=1)
        else:
            log_odds = self._curves()[0](scores[:, 0])
            shares, winner = _shares(np.stack([-log_odds, log_odds], axis=1)), (scores[:, 0] > 0).astype(np.intp)
        return shares if self._reads_freely() else in_favour_of(shares, winner)

    @staticmethod
    def _read_shares(scores: Array, curves: list[Curve]) -> Array:
        """Shares of more than two classes, which add up to 1."""
        log_odds = np.stack([curve(lead) for curve, lead in zip(curves, leads(scores).T, strict=True)], axis=1)
        return adding_up(-np.logaddexp(0.0, -log_odds))


def _shares(log_odds: Array) -> Array:
    return 1 / (1 + np.exp(-log_odds))


def n_folds(n_rows: int) -> int:
    """Return how many of five folds to score with models of the others, so that there are enough scores."""
    return min(N_FOLDS, -(-N_FOLDS * ENOUGH // n_rows))


def row_keys(rows: Any) -> NDArray[np.uint64]:
    """Numbers of rows, the same for equal ones."""
    if sparse.issparse(rows):
        ends = zip(rows.indptr[:-1].tolist(), rows.indptr[1:].tolist(), strict=True)
        parts = (rows.indices[a:b].tobytes() + rows.data[a:b].tobytes() for a, b in ends)
    else:
        parts = (row.tobytes() for row in np.ascontiguousarray(rows))
    return np.array([crc32(part) for part in parts], dtype=np.uint64)


def _folds(keys: NDArray[Any], codes: Array, n: int) -> Places:
    """The fold of each row: of each class, every n-th key is in one."""
    folds = np.empty(len(keys), dtype=np.intp)
    for code in np.unique(codes):
        of_class = codes == code
        folds[of_class] = np.unique(keys[of_class], return_inverse=True)[1] % n
    return folds


class CalibratedOnFolds(Calibrated):
    """Mixin of classifiers that learn from all rows at once. Models fitted on the other folds score each fold of the
    labelled rows, for the probabilities only; the model that predicts learns from all rows."""

    probability: str = param(
        default="calibrated",
        doc="""``"calibrated"`` provides :meth:`predict_proba`: models fitted on the other folds score each fold of the
        labelled rows, and these scores tell how often a class occurs at a score. Rows count by their weights, class
        weights included. With ``"frequencies"``, class weights move decisions only: probabilities are how often a class
        occurs in rows as they come. :meth:`fit` also fits a model for each fold; ``"none"`` saves that time.""",
    )

    _fitted: ClassVar[tuple[str, ...]] = ("_score_bins", "_score_clock")
    _n_folds: ClassVar[int] = 3

    def _score_counts(self) -> ScoreCounts:
        return ScoreCounts(self._score_bins, self._score_clock, np.zeros(8))  # of a model that stays as it is

    @contextmanager
    def _without_scores(self) -> Iterator[None]:
        """Until a fit has counted scores, decisions are the usual ones."""
        self._is_learning = True
        try:
            yield
        finally:
            del self._is_learning

    @property
    def _decides_otherwise(self) -> bool:
        return "_is_learning" not in self.__dict__

    def _n_curves(self) -> int:
        """The number of scores of a row."""
        raise NotImplementedError

    def _divisible(self, X: Any) -> Any:
        """The rows in a form that parts can be taken of."""
        if is_foreign_array(X):
            return X
        return X.tocsr() if hasattr(X, "tocsr") else _gate.known_frame(X) if _gate.is_frame(X) else np.asarray(X)

    def _parts(self, X: Any, there: Places, others: Places | None = None) -> Any:
        """Some of the rows; of precomputed kernels the columns of others, by default of the same."""
        return X.iloc[there] if hasattr(X, "iloc") else take(X, there)

    def _score_folds(self, X: Any, y: Any, sample_weight: Any, **between_rows: Any) -> None:
        """Score labelled rows by models that have not seen them, once all rows were learned from."""
        if self.probability == "none":
            return
        X = self._divisible(X)
        y = _gate.as_column(y, type(self).__name__)
        code_of = {label: code for code, label in enumerate(self.classes_.tolist())}
        codes = np.array([code_of.get(label, -1) for label in y.tolist()], dtype=np.float64)
        weight = None if sample_weight is None else np.asarray(on_host(sample_weight), dtype=np.float64)
        weights = self._weights_of_classes(codes, weight)
        labelled = np.flatnonzero((codes >= 0) & (weights > 0))
        folds = _folds(self._row_keys(X)[labelled], codes[labelled], self._n_folds)
        counts = ScoreCounts.empty(self._n_curves())
        for fold in range(self._n_folds):
            held = labelled[folds == fold]
            scores = self._scores_of_held(X, y, weight, held, between_rows)
            if scores is not None:
                counts.add(scores, codes, weights, held, ages=False)
        counts.clock[2] = counts.clock[1]  # a weight is as many copies of a row
        self._score_bins, self._score_clock = counts.bins, counts.clock

    def _row_keys(self, X: Any) -> NDArray[np.uint64]:
        """Numbers that equal rows share, so that copies of a row are in one fold, and rows in any order in the same."""
        return row_keys(on_host(_gate.check_matrix(self, X, reset=False)))

    def _weights_of_classes(self, codes: Array, weight: Array | None) -> Array:
        """Return the weights of rows in calibration: their weights times those of their classes, if these count."""
        weights, factors = np.ones(len(codes)) if weight is None else weight, self.__dict__.get("class_weight")
        if factors is None:
            return weights
        known = codes >= 0
        if not isinstance(factors, str):
            factors = {label: factor for label, factor in factors.items() if label in self.classes_.tolist()}
        found = _gate.class_factors(factors, self.classes_, codes[known], type(self).__name__)
        if found is not None:
            weights = weights.copy()
            weights[known] *= (found > 0 if self._counts_as_they_come else found)[codes[known].astype(np.intp)]
        return weights

    def _scores_of_held(self, X: Any, y: Any, weight: Any, held: Places, between_rows: Any) -> Array | None:
        """Scores, of shape (n_outputs, n_held), by a model of all other rows; None if it cannot be."""
        rest = np.setdiff1d(np.arange(len(y)) if weight is None else np.flatnonzero(weight), held)
        model = clone(self).set_params(probability="none", threshold=None)
        options = {} if weight is None else {"sample_weight": weight[rest]}
        options |= {name: value[rest][:, rest] for name, value in between_rows.items() if value is not None}
        try:
            with warnings.catch_warnings(), np.errstate(all="ignore"):
                warnings.simplefilter("ignore")
                model.fit(self._parts(X, rest), y[rest], **options)
                scores = on_host(model._score_table(self._parts(X, held, rest)))
        except (ValueError, FloatingPointError, np.linalg.LinAlgError):
            return None
        known = np.array_equal(model.classes_, self.classes_)
        return np.ascontiguousarray(scores.T) if known and np.isfinite(scores).all() else None

    def _check_counts(self) -> None:
        """Refuse counts of a file that are not valid."""
        if self.probability == "none":
            return
        counts = {"_score_bins": self._score_bins, "_score_clock": self._score_clock}
        shapes = {name: of.shape for name, of in zip(counts, ScoreCounts.empty(self._n_curves())[:2], strict=True)}
        _gate.check_loaded_arrays(self, shapes)
        if any((values < 0).any() for values in counts.values()):
            raise ValueError(f"{type(self).__name__}: counts of scores must be numbers of at least 0.")
