"""Calibrated probabilities from the scores of rows that were predicted before they were learned from.

A state counts such scores by class in bins, which add up over rows and shards. With several classes, the score of a
class is its lead over the best of the others. The frequency of a class in each bin gives its calibration curve:
isotonic if there are many rows, logistic if there are few, and a mixture in between. With two classes, the bins are
first moved by as much as scores have moved since they were counted: where a class is rare, all scores of a young model
drift.
"""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from .._core import count_scores, score_bin_centres
from .._gate import Array
from ._state import Field, State

_EACH = 4.0  # rows: the weight of the smooth curve in each bin
_FEW = 200.0  # rows of the rarer class at which the bins count as much as the smooth curve
_TILT = 1e-3  # of the log-odds, so that no two scores are read alike
_MOST = 100  # steps of Newton's method
_SHARPEST = 1e-9  # the least share of the other class
_LATE = (33 / 17**2) / (5 / 3**2)  # information in rows weighted by t^16, relative to that in rows weighted by t^2
_TINY = np.finfo(float).tiny


@cache
def centres() -> Array:
    """The middle of each bin."""
    return score_bin_centres()


def score_fields(outputs: str = "") -> list[Field]:
    """The arrays in which a state counts scores; ``outputs`` names the axis of outputs that are learned together."""
    axes = f"{outputs} score_bin" if outputs else "score_bin"
    return [
        Field("score_bins", axes, 0.0, "sum"),
        Field("score_clock", "score_clock", 0.0, "sum"),
        Field("score_drift", "score_drift", 0.0, "sum", domain="any"),
    ]


def score_sizes() -> dict[str, int]:
    """The lengths of their axes."""
    return {"score_bin": 2 * len(centres()), "score_clock": 4, "score_drift": 8}


class ScoreCounts(NamedTuple):
    """Scores of one model, counted by class."""

    bins: Array
    """For each output, the bins of rows of other classes and then those of its own: ``(n_outputs, 2 * n_bins)``."""
    clock: Array
    """The number of rows, the sum of what they count, the sum of its squares, and whether rows were chosen by a user:
    then a score of 0 need not be even."""
    drift: Array
    """Sums over scores of the only output, of rows of the other class and then of its own. Three are of rows that count
    much more the later they come: what they count, their scores, and the squares of these. The fourth is of all scores,
    which count as they do in bins."""

    @classmethod
    def of_state(cls, state: State, outputs: range) -> ScoreCounts:
        """Return views of the counts of the model with these outputs, to read or to write."""
        bins = state.arrays["score_bins"]
        one = bins[outputs.start] if bins.ndim == 3 else bins[outputs.start : outputs.stop]
        return cls(one, *(state.arrays[name][outputs.start] for name in ("score_clock", "score_drift")))

    @classmethod
    def empty(cls, n_outputs: int) -> ScoreCounts:
        return cls(np.zeros((n_outputs, 2 * len(centres()))), np.zeros(4), np.zeros(8))

    def add(
        self,
        scores: Array,
        y: Array,
        weight: Array | None = None,
        order: NDArray[np.int64] | None = None,
        *,
        ages: bool = True,
    ) -> None:
        """Count scores of shape ``(n_outputs, n_steps)``; targets and weights are those of all rows. If the model
        learns from one row to the next, scores age: late ones count more."""
        count_scores(scores, y, weight, order, self.bins.reshape(-1), self.clock, self.drift, ages)

    def replace(self, other: ScoreCounts) -> None:
        """Take over the counts of another one, whose scores do not age. On average, a row of a stream counts a third of
        the last row; these rows get the same weight beside rows that come later."""
        mean = max(1.0, float(other.clock[0]) ** 2 / 3)
        self.bins[...] = mean * other.bins
        self.clock[...] = other.clock * (1.0, mean, mean**2, 1.0)
        self.drift[...] = mean * other.drift

    @property
    def is_free(self) -> bool:
        """Whether a score of 0 may be read as any probability."""
        return bool(self.clock[3])

    def rows(self) -> tuple[Array, Array]:
        """The number of rows in each bin, of other classes and of its own for each output: shape
        ``(n_outputs, 2, n_bins)``, as the equivalent number of rows of equal weight. Also return the middle of each
        bin, moved to where the same rows would be scored now."""
        rows = self._counted()
        return rows, centres() + self._moved(rows)

    def _counted(self) -> Array:
        _, n, squares, _ = self.clock
        return self.bins.reshape(len(self.bins), 2, -1) * (n / squares if squares > 0 else 0.0)

    def _moved(self, rows: Array) -> float:
        """Return how far the scores of the last rows have shifted from those of all rows: a mean over classes by their
        shares, minus what chance explains (James and Stein, 1961)."""
        moved = by_chance = 0.0
        for drift, bins, n in zip(
            self.drift.reshape(2, 4), self.bins[0].reshape(2, -1), rows[0].sum(axis=1), strict=True
        ):
            late, total, squares, of_all = drift.tolist()
            if late > 0 and n > 0:
                share, mean = float(n / rows[0].sum()), total / late
                moved += share * (mean - of_all / float(bins.sum()))
                by_chance += share * share * max(squares / late - mean * mean, 0.0) / (_LATE * float(n))
        return moved - by_chance / moved if moved * moved > by_chance else 0.0

    def curves(self, is_free: bool = True) -> list[Curve]:
        """Return the curves that turn the scores of each output into log-odds. Unless they are free, a score of 0 means
        even odds, because decisions are made there."""
        rows, at = self.rows()
        return [_curve(at, one, is_free) for one in rows]


def confusions(bins: Array, clocks: Array) -> tuple[Array, Array]:
    """Return, for the only output of each model, how often a row of another class scores above one of the class: 0 if
    scores separate the classes, 1/2 if they carry no information. Rows in the same bin count half. Also return the
    standard errors, for as many pairs as the rarer class has rows, plus one of each outcome. Models are the rows of
    both arrays, which are those of :class:`ScoreCounts`."""
    rows = (bins * (clocks[:, 1] / np.maximum(clocks[:, 2], _TINY))[:, None]).reshape(len(bins), 2, -1)
    others, own = rows[:, 0], rows[:, 1]
    n_others, n_own = rows.sum(axis=2).T
    above = n_others[:, None] - others.cumsum(axis=1) + others / 2
    n = np.minimum(n_others, n_own)
    share = np.where(n > 0, (own * above).sum(axis=1) / np.maximum(n_others * n_own, _TINY), 0.5)
    chance = (n * share + 1) / (n + 2)
    return share, np.where(n > 0, np.sqrt(chance * (1 - chance) / np.maximum(n, _TINY)), 0.5)


class Curve(NamedTuple):
    """A strictly increasing function from scores to log-odds."""

    at: Array
    """Scores, in order."""
    log_odds: Array
    """Their log-odds, which never fall; linear in between and constant beyond."""
    unit: float
    """The size of a typical score. The function rises a little with the score over it, everywhere."""
    tilt: float = _TILT

    def __call__(self, scores: Array) -> Array:
        found: Array = np.interp(scores, self.at, self.log_odds) + self.tilt * np.arcsinh(scores / self.unit)
        return found

    def score_of(self, log_odds: float) -> float:
        """The score that is read as these log-odds; infinite if none is."""
        known = self(self.at)
        if not known[0] <= log_odds <= known[-1]:
            return float(np.copysign(np.inf, log_odds - known[0]))
        return float(np.interp(log_odds, known, self.at))


def _curve(at: Array, rows: Array, is_free: bool) -> Curve:
    """Read bins: their scores, and numbers of rows of other classes and of the class, of shape (2, n_bins)."""
    both = rows.sum(axis=0)
    used = np.flatnonzero(both)
    if not len(used):
        return Curve(np.zeros(1), np.zeros(1), 1.0)
    some = slice(used[0], used[-1] + 1)
    at, rows, both = at[some], rows[:, some], both[some]
    unit = _median(np.abs(at), both)
    smooth = _logistic(np.arcsinh(at / unit), rows)
    prior = _EACH * _share(smooth)
    share = np.clip(_rising((rows[1] + prior) / (both + _EACH), both + _EACH), _SHARPEST, 1 - _SHARPEST)
    rarer = float(rows.sum(axis=1).min())
    trust = rarer / (rarer + _FEW)
    log_odds = trust * np.log(share / (1 - share)) + (1 - trust) * smooth
    if is_free:
        return Curve(at, log_odds, unit)
    log_odds = np.where(at < 0, np.minimum(log_odds, 0.0), np.maximum(log_odds, 0.0))
    place = int(np.searchsorted(at, 0.0))
    return Curve(np.insert(at, place, 0.0), np.insert(log_odds, place, 0.0), unit)


def _median(values: Array, weights: Array) -> float:
    order = np.argsort(values)
    total = np.cumsum(weights[order])
    return float(values[order][np.searchsorted(total, total[-1] / 2)])


def _share(log_odds: Array) -> Array:
    with np.errstate(over="ignore"):  # to shares of 0
        share: Array = 1 / (1 + np.exp(-log_odds))
    return share


def _logistic(x: Array, rows: Array) -> Array:
    """Log-odds ``a x + b`` with a of at least 0, of the largest likelihood, by Newton's method.

    Targets are those of Platt (1999): one row of the other class more than there are, so that classes which do not
    overlap have finite odds.
    """
    n, (others, own) = rows.sum(axis=0), rows.sum(axis=1)
    target = (rows[0] / (others + 2) + rows[1] * (own + 1) / (own + 2)) / np.maximum(n, np.finfo(float).tiny)
    a, b = 0.0, float(np.log((own + 1) / (others + 1)))

    def loss(a: float, b: float) -> float:
        f = a * x + b
        return float(n @ (np.logaddexp(0.0, f) - target * f))

    paid = loss(a, b)
    for _ in range(_MOST):
        p = _share(a * x + b)
        slope, curvature = n * (p - target), n * p * (1 - p) + 1e-12
        g = np.array([slope @ x, slope.sum()])
        h = np.array([[curvature @ (x * x), curvature @ x], [curvature @ x, curvature.sum()]]) + 1e-10 * np.eye(2)
        try:
            step, size = np.linalg.solve(h, g), 1.0
        except np.linalg.LinAlgError:  # of huge weights, beside which nothing else counts
            break
        while (now := loss(a - size * step[0], b - size * step[1])) > paid and size > 1e-6:
            size /= 2
        a, b = a - size * float(step[0]), b - size * float(step[1])
        if paid - now <= 1e-10 * abs(paid):
            break
        paid = now
    return max(a, 0.0) * x + (b if a > 0 else float(np.log((own + 1) / (others + 1))))


def _rising(values: Array, weights: Array) -> Array:
    """The values that never fall and are nearest to these, by pooling neighbours that are out of order."""
    pools: list[tuple[float, float, int]] = []
    for value, weight in zip(values.tolist(), weights.tolist(), strict=True):
        pool = (value, weight, 1)
        while pools and pools[-1][0] >= pool[0]:
            before = pools.pop()
            total = before[1] + pool[1]
            pool = ((before[0] * before[1] + pool[0] * pool[1]) / total, total, before[2] + pool[2])
        pools.append(pool)
    return np.repeat([pool[0] for pool in pools], [pool[2] for pool in pools])
