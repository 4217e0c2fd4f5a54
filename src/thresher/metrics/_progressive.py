"""Measures of a stream whose rows are scored before they are learned: exact or with bounds, in bounded memory."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from ._finite import finite_numbers
from ._score_bins import N_BINS, ZERO, bins_of, precision_of, raise_top, top_of

Array = NDArray[np.float64]


class _Rows(NamedTuple):
    """Rows that count: of weight above 0."""

    positive: NDArray[np.bool_]
    scores: Array
    weights: Array


class _Progressive(ABC):
    """Base of the measures. The state of a measure is a flat array, of zeros at first."""

    n_cells: ClassVar[int]

    def __init__(self, *, pos_label: Any = None, cells: Array | None = None) -> None:
        self.pos_label = pos_label
        self.cells = np.zeros(self.n_cells) if cells is None else self._checked(cells)

    @property
    @abstractmethod
    def value(self) -> float:
        """The measure of all rows so far; 0 while it is undefined."""

    @abstractmethod
    def _add(self, rows: _Rows) -> None: ...

    def update(self, y_true: Any, y_score: Any, sample_weight: Any = None) -> Self:
        """Add a batch that was scored before the model learned from it.

        Parameters
        ----------
        y_true : array-like of shape (n,)
            Booleans, or 0 (or -1) and 1; any labels if `pos_label` names the positive one.
        y_score : array-like of shape (n,)
            Scores, higher for rows that seem positive.
        sample_weight : array-like of shape (n,), optional
            Weights of the rows. A row of weight 0 is absent.
        """
        rows = self._rows(y_true, y_score, sample_weight)
        if len(rows.scores):
            self._add(rows)
        return self

    def merge(self, other: Self) -> Self:
        """Add the rows that another measure of the same kind has counted.

        Parameters
        ----------
        other : object of the same class
            It is not changed.
        """
        if type(other) is not type(self) or other.pos_label != self.pos_label:
            kind = f"a {type(self).__name__} of pos_label={self.pos_label!r}"
            raise ValueError(f"{type(self).__name__}: other must be {kind}, got {other!r}.")
        self._merge(other)
        return self

    def _merge(self, other: Self) -> None:
        self.cells += other.cells

    def reset(self) -> Self:
        """Forget all rows."""
        self.cells[:] = 0
        return self

    def __repr__(self) -> str:
        label = "" if self.pos_label is None else f"pos_label={self.pos_label!r}, "
        return f"{type(self).__name__}({label}value={self.value:.4g})"

    # --- the gate ---------------------------------------------------------------------------------------------------

    def _rows(self, y_true: Any, y_score: Any, sample_weight: Any) -> _Rows:
        who = type(self).__name__
        scores = finite_numbers(who, "y_score", y_score, 1)
        positive = self._positive(np.asarray(y_true))
        weights = np.ones(len(scores))
        if sample_weight is not None:
            weights = finite_numbers(who, "sample_weight", sample_weight, 1)
        for name, column in (("y_true", positive), ("sample_weight", weights)):
            if len(column) != len(scores):
                self._refuse(f"{name} must have one entry for each of the {len(scores)} scores", len(column))
        if sample_weight is None:
            return _Rows(positive, scores, weights)
        if (weights < 0).any():
            self._refuse("sample_weight must hold numbers of at least 0", weights.min())
        there = weights > 0
        return _Rows(positive[there], scores[there], weights[there])

    def _positive(self, y: NDArray[Any]) -> NDArray[np.bool_]:
        if y.ndim != 1:
            raise ValueError(f"{type(self).__name__}: y_true must be a vector of labels, got shape {y.shape}.")
        if self.pos_label is not None:
            return np.broadcast_to(y == self.pos_label, y.shape)  # labels of another kind are equal to none
        if y.dtype.kind == "b" or not len(y):
            return y.astype(bool)
        rule = "y_true must hold booleans or 0 (or -1) and 1, unless pos_label names the positive label"
        if y.dtype.kind not in "iuf":
            self._refuse(rule, y[0])
        positive: NDArray[np.bool_] = y == 1
        other = y[~positive]
        if len(other) and not ((other == other[0]).all() and other[0] in (0, -1)):
            self._refuse(rule, next((v for v in other if v not in (0, -1)), "both 0 and -1"))
        return positive

    def _refuse(self, rule: str, value: Any) -> None:
        shown = value.item() if isinstance(value, np.generic) else value
        raise ValueError(f"{type(self).__name__}: {rule}, got {shown!r}.")

    def _checked(self, cells: Array) -> Array:
        """Check cells that another object owns; they may come from a file."""
        good = isinstance(cells, np.ndarray) and cells.dtype == np.float64 and cells.shape == (self.n_cells,)
        if not good or not (cells.flags.writeable and cells.flags.c_contiguous):
            rule = f"{self.n_cells} float64 numbers in a writeable vector without gaps"
            raise ValueError(f"{type(self).__name__}: cells must be {rule}, got {type(cells).__name__}.")
        if not self._are_sound(cells):
            raise ValueError(f"{type(self).__name__}: cells must be those of such a measure, got damaged ones.")
        return cells

    def _are_sound(self, cells: Array) -> bool:
        return bool(np.isfinite(cells).all() and (cells >= 0).all())


class ProgressiveF1(_Progressive):
    r"""F1 of a stream: the harmonic mean of precision and recall of the positive class so far.

    It is exact, because it only needs the weights of true positives, false positives and false negatives. A row is
    predicted positive if its score is above 0. Use it if decisions matter rather than the ranking of rows; it depends
    on the threshold, which cost-sensitive learners move.

    Parameters
    ----------
    pos_label : label, optional
        The positive label. By default True or 1 is positive.
    cells : ndarray of shape (n_cells,), optional
        Storage for the counts: a float64 vector of zeros, or that of an earlier measure, to continue from it. It is
        shared, not copied, so it may be part of a learner's own state.

    Attributes
    ----------
    n_cells : int
        3: weights of true positives, false positives and false negatives. Cells of two measures add up to those of all
        rows.

    Examples
    --------
    >>> from thresher.metrics import ProgressiveF1
    >>> f1 = ProgressiveF1()
    >>> f1.update([1, 0, 1], [0.3, 0.1, 0.0]).update([1, 0], [2.0, -1.0])
    ProgressiveF1(value=0.6667)
    """

    n_cells = 3

    @property
    def value(self) -> float:
        """F1 of all rows so far; 0 before there are positive rows or positive predictions."""
        true_positives, false_positives, false_negatives = self.cells.tolist()
        answers = 2 * true_positives + false_positives + false_negatives
        return 2 * true_positives / answers if answers else 0.0

    def _add(self, rows: _Rows) -> None:
        found = rows.scores > 0
        for cell, mask in enumerate((rows.positive & found, ~rows.positive & found, rows.positive & ~found)):
            self.cells[cell] += rows.weights[mask].sum()


class ProgressiveROCAUC(_Progressive):
    r"""Area under the ROC curve of a stream, from pairs of rows of the same batch.

    .. math:: \frac{\sum_b U_b}{\sum_b P_b N_b}

    U counts the pairs of a positive and a negative row of a batch that are in order, ties as one half; P and N are the
    rows of either kind. It is exact for those pairs and stores only two numbers. Scores are never compared with those
    of an earlier state of the model, which is an advantage while it learns. The value depends on how rows were divided
    into batches, and batches with a single class do not contribute. With large batches it is close to the area over all
    pairs.

    The parameters are those of :class:`ProgressiveF1`. The 2 cells are the pairs in order, and all pairs; cells of two
    measures add up to those of all batches.

    Examples
    --------
    >>> from thresher.metrics import ProgressiveROCAUC
    >>> auc = ProgressiveROCAUC(pos_label="spam")
    >>> auc.update(["spam", "ham", "ham", "spam"], [0.9, 0.1, 0.4, 0.4]).value
    0.875
    >>> auc.update(["ham", "ham"], [5.0, 6.0]).value
    0.875
    """

    n_cells = 2

    @property
    def value(self) -> float:
        """The area of all batches so far; 0 before one of them had both classes."""
        in_order, pairs = self.cells.tolist()
        return in_order / pairs if pairs else 0.0

    def _add(self, rows: _Rows) -> None:
        positive, negative = rows.positive, ~rows.positive
        order = np.argsort(rows.scores[negative])
        below = np.append(0.0, np.cumsum(rows.weights[negative][order]))  # weight of the negative rows up to a place
        scores, places = rows.scores[positive], rows.scores[negative][order]
        beaten = below[np.searchsorted(places, scores, "left")] + below[np.searchsorted(places, scores, "right")]
        self.cells += (rows.weights[positive] @ beaten / 2, rows.weights[positive].sum() * below[-1])


class ProgressiveAveragePrecision(_Progressive):
    r"""Average precision (area under the precision-recall curve) of a stream, with bounds.

    Scores are counted in 512 bins and one for exactly 0, so memory is bounded; :attr:`bounds` are the average
    precisions (as in scikit-learn) of the best and the worst order of rows within bins, and :attr:`value` is that of a
    random order within bins. The width of a bin is 3 to 6 % of the scores in it. The bins reach from the power of two
    above the largest absolute score so far to 15 octaves below; for a larger score, bins around 0 are merged in pairs,
    as if all scores had been counted that way from the start. So the result does not depend on the scale of scores,
    their order or their division into batches, and merging two measures is the same as counting all rows in one. The
    value is usually much closer to the exact one than the bounds are.

    Use it for rare positive classes. Scores of all states of the model are compared with each other; if scores grow
    during training, later rows dominate the top of the ranking.

    The parameters are those of :class:`ProgressiveF1`. The 1028 cells are the power of two above all scores, the
    smallest weight of a positive row, and the negative and positive rows in each bin. They do not add up; use
    :meth:`merge`.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.metrics import average_precision_score
    >>> from thresher.metrics import ProgressiveAveragePrecision
    >>> rng = np.random.default_rng(0)
    >>> y = rng.random(5000) < 0.05
    >>> scores = 1000 * (rng.normal(size=5000) + 2 * y)
    >>> measure = ProgressiveAveragePrecision()
    >>> for batch in np.split(np.arange(5000), 50):
    ...     _ = measure.update(y[batch], scores[batch])
    >>> round(measure.value, 3), round(float(average_precision_score(y, scores)), 3)
    (0.551, 0.552)
    >>> low, high = measure.bounds
    >>> round(low, 3), round(high, 3)
    (0.532, 0.576)
    """

    n_cells = 2 + 2 * N_BINS

    @property
    def value(self) -> float:
        """The average precision of all rows so far, with rows of a bin in random order; 0 without positive rows."""
        return self._precision()[1] if self._counts[1].any() else 0.0

    @property
    def bounds(self) -> tuple[float, float]:
        """Lower and upper bound of the average precision of all rows so far."""
        if not self._counts[1].any():
            return 0.0, 1.0
        lowest, _, highest = self._precision()
        return lowest, highest

    @property
    def roc_auc_bounds(self) -> tuple[float, float]:
        """Lower and upper bound of the area under the ROC curve, if all scores are compared with each other."""
        negatives, positives = self._counts
        pairs = positives.sum() * negatives.sum()
        if not pairs:
            return 0.0, 1.0
        unknown = positives * negatives
        tie, unknown[ZERO] = unknown[ZERO], 0
        in_order = positives @ (np.cumsum(negatives) - negatives) + tie / 2
        return float(in_order / pairs), float(min(1.0, (in_order + unknown.sum()) / pairs))

    @property
    def _counts(self) -> Array:
        """Negative rows, positive rows; by bin."""
        return self.cells[2:].reshape(2, N_BINS)

    @property
    def _has_bins(self) -> bool:
        """Whether a score was not 0, which gives the bins their places."""
        return bool(self._counts[:, :ZERO].any() or self._counts[:, ZERO + 1 :].any())

    def _precision(self) -> tuple[float, float, float]:
        negatives, positives = self._counts
        total = positives.sum()
        bins = precision_of(positives, negatives, self.cells[1])
        lowest, middle, highest = (float(sums.sum() / total) for sums in bins)
        return lowest, middle, min(highest, 1.0)

    def _add(self, rows: _Rows) -> None:
        if rows.scores.any():
            self._reach(top_of(rows.scores))
        bins = bins_of(rows.scores, int(self.cells[0])) + N_BINS * rows.positive
        self._counts[:] += np.bincount(bins, rows.weights, 2 * N_BINS).reshape(2, N_BINS)
        if rows.positive.any():
            self._note_least(float(rows.weights[rows.positive].min()))

    def _merge(self, other: Self) -> None:
        counts = other._counts.copy()
        if other._has_bins:
            self._reach(int(other.cells[0]))
            raise_top(counts, int(self.cells[0] - other.cells[0]))
        self._counts[:] += counts
        if other.cells[1]:
            self._note_least(float(other.cells[1]))

    def _reach(self, top: int) -> None:
        """Have bins up to 2^top at least."""
        if self._has_bins:
            raise_top(self._counts, max(0, int(top - self.cells[0])))
            top = max(top, int(self.cells[0]))
        self.cells[0] = top

    def _note_least(self, weight: float) -> None:
        self.cells[1] = min(self.cells[1], weight) if self.cells[1] else weight

    def _are_sound(self, cells: Array) -> bool:
        # Powers of two of doubles are between -1073 and 1024.
        return super()._are_sound(cells[1:]) and cells[0] == np.round(cells[0]) and bool(abs(cells[0]) <= 1100)
