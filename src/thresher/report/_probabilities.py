"""Probabilities compared with outcomes: reliability, log loss and Brier score."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from .._figures import Estimate, number, plural, quoted
from . import _measures
from ._measures import Array
from ._subject import Section, Subject

_ROWS_IN_BIN, _MOST_BINS = 40, 10
_HISTOGRAM = 25
_DRAWS = 2_000
_MOSTLY = 0.7  # of the deviation that goes one way


class Chances(NamedTuple):
    """Probabilities of the classes, and the codes of those that came true."""

    true: NDArray[np.intp]
    of_classes: Array
    is_sample: bool  # of rows that the model may have learned from
    note: str = ""  # what to add to the name of a measure

    @property
    def n_classes(self) -> int:
        return self.of_classes.shape[1]

    def losses(self) -> dict[str, Array]:
        """The Brier score and the log loss of each row."""
        return _losses(self.true, self.of_classes)

    def constant_losses(self) -> dict[str, Array]:
        """The same if every row had the base rates of these rows."""
        rates = np.bincount(self.true, minlength=self.n_classes) / len(self.true)
        return _losses(self.true, np.broadcast_to(rates, self.of_classes.shape))


def _losses(true: NDArray[np.intp], chances: Array) -> dict[str, Array]:
    of_truth = chances[np.arange(len(true)), true]
    n_classes = chances.shape[1]
    squares = ((chances - np.eye(n_classes)[true]) ** 2).sum(axis=1) / (2 if n_classes == 2 else 1)
    return {"Brier score": squares, "log loss": -np.log(np.maximum(of_truth, np.finfo(float).eps))}


def chances_of(subject: Subject) -> Chances | None:
    """Probabilities of the rows that are measured, or of the sample if only its rows have them."""
    rows, _ = subject.measured
    if rows is None or subject.task != "classification":
        return None
    y, probabilities, is_sample, note = rows.y, rows.probabilities, subject.held_out is None, ""
    if probabilities is None and (sample := subject.sample) is not None and sample.y is not None:
        y, probabilities, is_sample, note = sample.y, sample.probabilities, True, " (sample)"
    if probabilities is None:
        return None
    true = subject.codes(y)
    if true.max() >= probabilities.shape[1]:  # a label that has no probability
        return None
    return Chances(true, probabilities, is_sample, note)


def estimates(chances: Chances | None) -> tuple[dict[str, Estimate], dict[str, float]]:
    """Estimate log loss and Brier score, and compute those of the base rates."""
    if chances is None:
        return {}, {}
    found = {f"{name}{chances.note}": _measures.mean(losses) for name, losses in chances.losses().items()}
    constant = {f"{name}{chances.note}": float(each.mean()) for name, each in chances.constant_losses().items()}
    return found, constant


class Bins(NamedTuple):
    """Rows with similar predictions: about the same number in each, and equal predictions in one."""

    rows: NDArray[np.int64]
    predicted: Array
    observed: Array

    @classmethod
    def of(cls, predicted: Array, came_true: NDArray[np.bool_]) -> Bins:
        n_bins = int(np.clip(len(predicted) // _ROWS_IN_BIN, 1, _MOST_BINS))
        cuts = np.quantile(predicted, np.arange(1, n_bins) / n_bins, method="lower")
        places = np.searchsorted(np.unique(cuts), predicted, side="left")
        rows = np.bincount(places)
        there = rows > 0
        sums = (np.bincount(places, weights=each)[there] for each in (predicted, came_true.astype(np.float64)))
        means = (total / rows[there] for total in sums)
        return cls(rows[there], *means)

    def error(self, observed: Array | None = None) -> Array:
        """Return the expected calibration error, of these or of other shares."""
        observed = self.observed if observed is None else observed
        return np.asarray(np.abs(self.predicted - observed) @ self.rows / self.rows.sum())

    def error_by_chance(self) -> float:
        """Return the error that probabilities which are right exceed with so many rows 1 time in 20."""
        rng = np.random.default_rng(0)
        drawn = rng.binomial(self.rows, np.clip(self.predicted, 0, 1), size=(_DRAWS, len(self.rows))) / self.rows
        return float(np.quantile(self.error(drawn), 0.95))


def probabilities(subject: Subject) -> Section | None:
    """Compare predicted with observed shares: of two classes, of the one to find; of several, of the likeliest."""
    chances, rows = chances_of(subject), subject.answers
    if chances is None or rows is None:
        return None
    name = subject.classes[rows.sought] if chances.n_classes == 2 else None
    if name is not None:
        predicted, came_true = chances.of_classes[:, rows.sought], chances.true == rows.sought
    else:
        predicted, came_true = chances.of_classes.max(axis=1), chances.of_classes.argmax(axis=1) == chances.true
    bins = Bins.of(predicted, came_true)
    low, high = float(predicted.min()), float(predicted.max())
    edges = np.linspace(low, high if high - low > 0.001 else low + 0.01, _HISTOGRAM + 1)
    found, constants = estimates(chances)
    section: Section = {
        "title": "Calibration of the probabilities",
        "class": name,
        "measures": found,
        "constants": constants,
        "rows": len(predicted),
        "bins": [
            {"rows": n, "predicted": p, "observed": _measures.proportion(o * n, n)}
            for n, p, o in zip(bins.rows.tolist(), bins.predicted.tolist(), bins.observed.tolist(), strict=True)
        ],
        "calibration error": float(bins.error()),
        "by chance": bins.error_by_chance(),
        "edges": edges,
        "counts": np.histogram(predicted, edges)[0],
    }
    learner = subject.learner
    counts_weights = getattr(learner, "probability", None) == "calibrated"
    is_weighted = counts_weights and getattr(learner, "class_weight", None) is not None
    says = f"{_calibration_sentence(section, bins, is_weighted)} {_loss_sentence(chances)}"
    if chances.is_sample:
        says += " The model may have learned from these rows. If so, its probabilities for new ones are worse."
    return section | {"says": says}


def _calibration_sentence(section: Section, bins: Bins, is_weighted: bool) -> str:
    what = "of the answer" if section["class"] is None else f"of {quoted(section['class'])}"
    off, chance = section["calibration error"], section["by chance"]
    says = (
        f"The probability {what} is off by {_points(off)} on average (expected calibration error of "
        f"{plural(section['rows'], 'row')} in {plural(len(bins.rows), 'bin')}), "
    )
    if off <= chance:
        return f"{says}within what chance explains (up to {_points(chance)}), so there is no reason to doubt it."
    why = "; class weights move probabilities unless probability is 'frequencies'" if is_weighted else ""
    return (
        f"{says}more than chance explains (up to {_points(chance)}){_lean(section['class'], bins)}{why}: "
        "calibrate it before you use it as a probability."
    )


def _points(share: float) -> str:
    """Write a difference of shares, to a hundredth of a point."""
    points = number(max(round(100 * share, 2), 0.01), 2)
    return f"{points} percentage point{'' if points == '1' else 's'}"


def _lean(name: str | None, bins: Bins) -> str:
    """Say which way most of the differences go."""
    excess = (bins.predicted - bins.observed) * bins.rows
    size = _MOSTLY * np.abs(excess).sum()
    if abs(excess.sum()) > size:
        return f"; it is mostly too {'high' if excess.sum() > 0 else 'low'}"
    rate = bins.observed @ bins.rows / bins.rows.sum()
    outwards = excess @ np.sign(bins.predicted - rate)
    if name is not None and abs(outwards) > size:
        return "; it is mostly too near 0 and 1" if outwards > 0 else "; it is mostly too far from 0 and 1"
    return ""


def _loss_sentence(chances: Chances) -> str:
    loss, constant = chances.losses()["log loss"], chances.constant_losses()["log loss"]
    says = f"The log loss is {number(float(loss.mean()), 3)}"
    beside = f"{number(float(constant.mean()), 3)} of a constant, the share of each class"
    gain = _measures.mean(constant - loss)
    if gain.low > 0:
        return f"{says}, better than the {beside}."
    if gain.high < 0:
        return f"{says}, worse than the {beside}."
    return f"{says}, not clearly better than the {beside}."
