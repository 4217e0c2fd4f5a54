"""Measures of predictions with their 95 % intervals."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from .._dataclasses import dataclass
from .._figures import Estimate as Estimate  # measures are estimates, and come from here together
from ._quantiles import Z, quantile_of_sorted, student_quantile

Array = NDArray[np.float64]
Counts = NDArray[np.int64]

_DRAWS = 2_000
_MOST_CELLS = 2_000_000  # of the tables drawn at once
_MOST_BLOCKS = 1_000


def proportion(part: float, whole: float) -> Estimate:
    """Estimate a share of rows by Wilson's interval, which stays inside [0, 1] and is right near its ends."""
    if whole <= 0:
        return Estimate(np.nan, 0.0, 1.0)
    share = part / whole
    middle = (share + Z * Z / (2 * whole)) / (1 + Z * Z / whole)
    half = Z / (1 + Z * Z / whole) * np.sqrt(share * (1 - share) / whole + (Z / (2 * whole)) ** 2)
    # rounding may leave the share itself a hair outside
    return Estimate(share, max(0.0, min(share, middle - half)), min(1.0, max(share, middle + half)))


def between_0_and_1(value: float, variance: float, rows: int) -> Estimate:
    """Estimate a mean of numbers in [0, 1] by an interval that is symmetric on the scale of log-odds.

    ``rows`` is the number of rows of the rarer kind, on which it rests. When all of them agree there is no variance to
    go by, and the interval is that of a share of so many rows.
    """
    if not variance > 0 or not 0 < value < 1:
        return proportion(value * rows, rows)
    centre = np.log(value / (1 - value))
    half = student_quantile(max(rows - 1, 1)) * np.sqrt(variance) / (value * (1 - value))
    low, high = 1 / (1 + np.exp(-np.array([centre - half, centre + half])))
    return Estimate(value, float(low), float(high))


def confusion(true: NDArray[np.intp], predicted: NDArray[np.intp], n_classes: int) -> Counts:
    """Count the rows of each true class (down) that were given each class (across); both are codes."""
    cells: Counts = np.bincount(true * n_classes + predicted, minlength=n_classes**2).astype(np.int64)
    return cells.reshape(n_classes, n_classes)


def error(table: Counts) -> Estimate:
    return proportion(float(table.sum() - np.trace(table)), float(table.sum()))


def baseline_error(table: Counts) -> float:
    """Return the error of always predicting the most frequent class."""
    return float(1 - table.sum(axis=1).max() / table.sum())


class ClassMeasures(NamedTuple):
    precision: Estimate
    recall: Estimate
    f1: Estimate
    n_rows: int


def by_class(table: Counts) -> list[ClassMeasures]:
    """Estimate precision, recall and F1 of every class.

    Of the rows that are of a class or are taken for it, a share J is both; F1 = 2 J / (1 + J), so the interval of that
    share is one of F1.
    """
    found = []
    for k in range(len(table)):
        hits, given, there = float(table[k, k]), float(table[:, k].sum()), float(table[k].sum())
        f1 = Estimate(*(2 * share / (1 + share) for share in proportion(hits, given + there - hits)))
        found.append(ClassMeasures(proportion(hits, given), proportion(hits, there), f1, int(there)))
    return found


def balanced_accuracy(table: Counts) -> Estimate:
    """Average the recall of the classes that occur; recalls are independent, so squared distances to limits add up."""
    recalls = np.array([m.recall for m in by_class(table) if m.n_rows])
    value, n_classes = recalls[:, 0].mean(), len(recalls)
    low = value - np.sqrt(((recalls[:, 0] - recalls[:, 1]) ** 2).sum()) / n_classes
    high = value + np.sqrt(((recalls[:, 2] - recalls[:, 0]) ** 2).sum()) / n_classes
    return Estimate(float(value), float(low), float(high))


def macro_f1(table: Counts, seed: int = 0) -> Estimate:
    """Average the F1 of the classes; its limits are those of tables drawn around this one.

    One row is spread over all cells first, so that a table without mistakes is not taken for certainty.
    """
    n_classes = len(table)
    rng = np.random.default_rng(seed)
    at_once = max(1, _MOST_CELLS // n_classes**2)
    n_draws = min(_DRAWS, max(100, 20 * at_once))  # with very many classes, fewer tables have to do
    parts = [
        _macro_f1(rng.dirichlet(table.ravel() + 1 / n_classes**2, n).reshape(-1, n_classes, n_classes))
        for n in [at_once] * (n_draws // at_once) + [n_draws % at_once]
        if n
    ]
    means = np.sort(np.concatenate(parts))
    value = float(_macro_f1(table[None].astype(np.float64))[0])
    low, high = (quantile_of_sorted(means, share) for share in (0.025, 0.975))
    return Estimate(value, min(value, low), max(value, high))


def _macro_f1(tables: Array) -> Array:
    hits = np.diagonal(tables, axis1=1, axis2=2)
    sums = tables.sum(axis=1) + tables.sum(axis=2)
    scores = np.divide(2 * hits, sums, out=np.full_like(hits, np.nan), where=sums > 0)
    return np.nanmean(scores, axis=1)  # a class that neither occurs nor is answered has no F1


@dataclass(frozen=True)
class Ranked:
    """Rows in falling order of score; rows of one score stand together.

    Attributes
    ----------
    positives, negatives : ndarray of shape (n_groups,)
        Numbers of rows of either kind with each distinct score.
    group : ndarray of shape (n_rows,)
        The group of every row.
    """

    positives: Array
    negatives: Array
    group: NDArray[np.intp]

    @classmethod
    def of(cls, positive: NDArray[np.bool_], scores: Array) -> Ranked:
        order = np.argsort(-scores, kind="stable")
        ordered = scores[order]
        new = np.empty(len(ordered), dtype=bool)
        new[:1] = True
        np.not_equal(ordered[1:], ordered[:-1], out=new[1:])
        places = np.cumsum(new) - 1
        group = np.empty(len(order), dtype=np.intp)
        group[order] = places
        totals = np.bincount(places).astype(np.float64)
        positives: Array = np.asarray(np.bincount(places, weights=positive[order].astype(np.float64)))
        return cls(positives, totals - positives, group)

    def roc(self) -> tuple[Array, Array]:
        """Return false and true positive rates, from (0, 0) on."""
        false, true = np.cumsum(self.negatives), np.cumsum(self.positives)
        return np.append(0.0, false / false[-1]), np.append(0.0, true / true[-1])

    def precision_recall(self) -> tuple[Array, Array]:
        """Return precision and recall if the rows of the first groups, more and more of them, are called positive."""
        true = np.cumsum(self.positives)
        return true / (true + np.cumsum(self.negatives)), true / true[-1]


def auroc(ranked: Ranked) -> tuple[float, Array]:
    """Return the area under the ROC curve, and what each row adds to it: the sum of squares is DeLong's variance."""
    m, n = ranked.positives.sum(), ranked.negatives.sum()
    below = n - np.cumsum(ranked.negatives) + ranked.negatives / 2
    above = np.cumsum(ranked.positives) - ranked.positives / 2
    area = float(ranked.positives @ below / (m * n))
    of_positives = (below / n - area) / np.sqrt(m * max(m - 1, 1))
    of_negatives = (above / m - area) / np.sqrt(n * max(n - 1, 1))
    return area, _spread(ranked, of_positives, of_negatives)


def average_precision(ranked: Ranked) -> tuple[float, Array]:
    """Return the average precision, and what each row adds to it: the derivative by the row's weight."""
    m = ranked.positives.sum()
    taken = np.cumsum(ranked.positives + ranked.negatives)
    precision = np.cumsum(ranked.positives) / taken
    value = float(ranked.positives @ precision / m)
    share = ranked.positives / (m * taken)  # of a threshold in the mean, per row above it
    gain = np.cumsum(share[::-1])[::-1]
    loss = np.cumsum((share * precision)[::-1])[::-1]
    return value, _spread(ranked, (precision - value) / m + gain - loss, -loss)


def _spread(ranked: Ranked, of_positives: Array, of_negatives: Array) -> Array:
    """Look up what each row adds if it is negative (first column) or positive (second)."""
    return np.stack([of_negatives, of_positives], axis=1)[ranked.group]


Output = tuple[NDArray[np.bool_], Ranked]  # the rows of a class, and all rows in order of its score


def auroc_estimate(outputs: list[Output]) -> Estimate:
    """Average the AUROC over outputs, each one class against the rest; two classes have one output."""
    return _mean_over_outputs(auroc, outputs)


def average_precision_estimate(outputs: list[Output]) -> Estimate:
    """Average the average precision over outputs."""
    return _mean_over_outputs(average_precision, outputs)


def _mean_over_outputs(measure: Callable[[Ranked], tuple[float, Array]], outputs: list[Output]) -> Estimate:
    """Average a measure over outputs. A row adds to all of them, so what it adds is summed before it is squared."""
    values, added = [], np.zeros(len(outputs[0][0]))
    for positive, ranked in outputs:
        value, pairs = measure(ranked)
        values.append(value)
        added += np.take_along_axis(pairs, positive[:, None].astype(np.intp), axis=1)[:, 0]
    added /= len(outputs)
    rows = min(min(ranked.positives.sum(), ranked.negatives.sum()) for _, ranked in outputs)
    return between_0_and_1(float(np.mean(values)), float(added @ added), int(rows))


def mean(values: Array, seed: int = 0) -> Estimate:
    """Average numbers, one for each row."""
    return _bootstrap(values[:, None], lambda sums: sums[..., 0], seed)


def rmse(y: Array, predicted: Array, seed: int = 0) -> Estimate:
    return _bootstrap(((y - predicted) ** 2)[:, None], lambda means: np.sqrt(means[..., 0]), seed)


def mae(y: Array, predicted: Array, seed: int = 0) -> Estimate:
    return mean(np.abs(y - predicted), seed)


def r2(y: Array, predicted: Array, seed: int = 0) -> Estimate:
    """Estimate the share of the variance that is explained."""
    centred = y - y.mean()

    def explained(means: Array) -> Array:
        total = means[..., 2] - means[..., 1] ** 2
        return 1 - np.divide(means[..., 0], total, out=np.full_like(total, np.nan), where=total > 0)

    return _bootstrap(np.stack([(y - predicted) ** 2, centred, centred**2], axis=1), explained, seed)


def _bootstrap(rows: Array, measure: Callable[[Array], Array], seed: int) -> Estimate:
    """Bootstrap a measure of the means of some columns, bias-corrected and accelerated.

    More than a thousand rows are first summed in a thousand random blocks, whose sums vary as the rows do.
    """
    from statistics import NormalDist

    rng = np.random.default_rng(seed)
    value = float(measure(rows.mean(axis=0)))
    n_blocks = min(len(rows), _MOST_BLOCKS)
    if n_blocks < 2:
        return Estimate(value, np.nan, np.nan)
    if len(rows) > n_blocks:
        size = len(rows) // n_blocks
        rows = rng.permutation(rows)[: size * n_blocks].reshape(n_blocks, size, -1).mean(axis=1)
    drawn = [rows[rng.integers(0, n_blocks, (_DRAWS // 20, n_blocks))].mean(axis=1) for _ in range(20)]
    draws = measure(np.concatenate(drawn))
    draws = np.sort(draws[np.isfinite(draws)])
    if not len(draws) or draws[0] == draws[-1]:
        return Estimate(value, value, value)
    left_out = measure((rows.sum(axis=0) - rows) / (n_blocks - 1))
    pull = left_out.mean() - left_out
    acceleration = (pull**3).sum() / max(6 * (pull**2).sum() ** 1.5, np.finfo(float).tiny)
    below = np.searchsorted(draws, value) + np.searchsorted(draws, value, side="right")
    bias = NormalDist().inv_cdf(min(max(below / (2 * len(draws)), 1 / len(draws)), 1 - 1 / len(draws)))
    ends = (bias - Z, bias + Z)
    low, high = (NormalDist().cdf(bias + end / (1 - acceleration * end)) for end in ends)
    return Estimate(value, quantile_of_sorted(draws, low), quantile_of_sorted(draws, high))


_MOST_SCORES = 4_000_000
_RARE = 0.3  # of an equal share: 15 % of the rows, with two classes


class Answers:
    """Codes of the true and the predicted classes of rows, and scores."""

    def __init__(
        self, classes: list[str], true: NDArray[np.intp], predicted: NDArray[np.intp], scores: Array | None
    ) -> None:
        self.classes, self.true, self.predicted, self.scores = classes, true, predicted, scores
        self.table = confusion(true, predicted, len(classes))

    @cached_property
    def rarest(self) -> int | None:
        """The class with the fewest rows, if it is rare."""
        totals = self.table.sum(axis=1)
        there = np.flatnonzero(totals)
        k = int(there[totals[there].argmin()])
        return k if len(there) > 1 and totals[k] * len(there) < _RARE * totals.sum() else None

    @property
    def sought(self) -> int:
        """Of two classes, the one to find: the first if it is rare, else the second."""
        return 0 if self.rarest == 0 else 1

    def scores_of(self, k: int) -> Array:
        """Scores that are high for class ``k``."""
        scores = np.asarray(self.scores)
        if scores.ndim == 1:
            return scores if k == 1 else -scores
        return scores[:, k]

    @cached_property
    def outputs(self) -> dict[int, Output]:
        """Rows of each class against the rest, of classes that occur, and not in every row; of two classes, only those
        of the class to find."""
        if self.scores is None:
            return {}
        columns = [self.sought] if self.scores.ndim == 1 else range(self.scores.shape[1])
        step = -(-len(self.true) * len(columns) // _MOST_SCORES)
        found = {}
        for k in columns:
            positive = self.true[::step] == k
            if 0 < np.count_nonzero(positive) < len(positive):
                found[k] = positive, Ranked.of(positive, self.scores_of(k)[::step])
        return found
