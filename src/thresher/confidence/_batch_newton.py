"""Newton's method for hinge losses of rows on other machines: only sums of slopes and curvatures are sent.

    min_m  R(m) + sum_i cost_i loss(s_i),    s_i = 1 - y_i m'x_i

with loss(s) = max(0, s)^2 / 2, for which the method is exact after a few steps, or max(0, s), which is approached by

    phi(s) = max_a  a s + e (log a + log(1 - a)),    0 < a < 1

with a width e that shrinks on the way. Slopes a_i = phi'(s_i), times their costs, are dual variables of the true loss,
so that the duality gap is a sum over rows as well: with v = sum_i cost_i a_i y_i x_i,

    gap = [R(m) + R*(v) - m'v] + sum_i cost_i (max(0, s_i) - a_i s_i)

of which the first part vanishes at the best weights for this e, and the second, at most e for each row, with e.
To first order, as in methods of interior points, slopes for another width e' are a_i + (1 - e'/e) s_i phi''(s_i): so a
step can be taken for the next width at once.
"""

from __future__ import annotations

from collections.abc import Generator, Mapping
from typing import Any, ClassVar, NamedTuple, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from .._core import add_columns
from .._dataclasses import dataclass
from .._engine import Question, Sums
from .._estimators import Ids
from .._gate import Array, linalg
from ._shard_rows import Design, Present, Reader

STEPS = np.append(0.5 ** np.arange(8), 0.0)  # shares of a step whose losses are asked for; the last is where it begins
MOST_QUESTIONS = 100
_SHRINK = 0.3  # of the width, when the weights are about the best for it
_NEAR = 0.5  # excess, as a share of what smoothing adds to the gap, up to which weights are near the best
_HOLDS = 1e-3  # share of its cost from which a row counts as one that holds the weights, by the hinge
_ROUNDING = 1e-14  # of the objective
EXACT = 1e-18  # the relative gap of the squared hinge to reach: its last step, with the right rows, is exact

T = TypeVar("T")


class Place(NamedTuple):
    """The weights of one output, its next step, and the sums that it needs at the end of it."""

    positive: float
    costs: tuple[float, float]
    """The cost of a mistake on a negative and on a positive row of weight 1."""
    ids: Ids | None
    """Features of the problem; None for all."""
    coef: Array
    """Their weights, that of the constant last."""
    move: Array
    width: float
    """e; 0 for the squared hinge."""
    look: bool = False
    """Whether to sum slopes and curvatures over all features."""
    gram: bool = False
    """Whether to sum X'X over the features of the problem."""


@dataclass(frozen=True)
class Evaluate:
    """Losses along the steps of all outputs, and slopes and curvatures at their ends."""

    doing: ClassVar[str] = "learning"

    reader: Reader
    places: Mapping[int, Place]
    """Of outputs that are not done."""
    done: tuple[Place, ...] = ()
    """Others, which count only in the number of rows that hold any weights."""

    def answer(self, X: Any, y: Any, weight: Any) -> Sums:
        here = self.reader.read(X, y, weight)
        sums: Sums = {}
        holds = np.zeros(here.rows.n_rows, dtype=bool)
        whole: Design | None = None
        for output, place in [*self.places.items(), *((-1, place) for place in self.done)]:
            if place.ids is None:
                design = whole = whole or Design.of(here.rows, self.reader.constant)
            else:
                design = Design.of(here.rows, self.reader.constant, place.ids)
            signs = here.signs(place.positive)
            at = design.scores(np.column_stack([place.coef, place.move])).T * signs
            held = _holds(1.0 - at[0] - at[1], place.width)
            felt = held & design.is_felt()
            holds |= felt
            if output >= 0:
                told = _told(place, here, design, signs, at)
                told["held"] = np.array([np.count_nonzero(held), np.count_nonzero(felt)], dtype=np.float64)
                sums |= {f"{name} {output}": value for name, value in told.items()}
        return sums | {"holding": np.array(float(np.count_nonzero(holds)))}


def _told(place: Place, here: Present, design: Design, signs: Array, at: Array) -> Sums:
    """Of one output, whose margins and their change along the step are ``at``."""
    cost = here.weight * np.where(signs > 0, place.costs[1], place.costs[0])
    slack = 1.0 - at[0] - at[1]
    slope, curvature = _slopes(slack, place.width)
    paid = np.maximum(0.0, slack)
    told = {
        "pull": design.pull(cost * slope * signs),
        "bend": design.gram(cost * curvature),
        "paid": np.array(cost @ (paid if place.width else 0.5 * paid**2)),
    }
    if place.move.any():
        told["losses"] = np.array([cost @ _smooth(1.0 - at[0] - t * at[1], place.width) for t in STEPS])
    if place.width:
        told["turn"] = design.pull(cost * curvature * slack * signs)
        told["blur"] = np.array(cost @ (paid - slope * slack))
    if place.gram:
        told["gram"] = design.gram(np.ones(len(slack)))
    if place.look:
        looks = np.zeros((2, here.rows.n_features))
        add_columns(here.rows, cost * slope * signs, cost * curvature, looks[0], looks[1])
        told["looks"] = looks
    return told


def _slopes(slack: Array, width: float) -> tuple[Array, Array]:
    """phi' and phi''."""
    if not width:
        return np.maximum(0.0, slack), (slack > 0).astype(np.float64)
    less = _less(slack, width)
    slope = np.where(slack > 0, 1.0 - less, less)
    return slope, 1.0 / (width * (less**-2.0 + (1.0 - less) ** -2.0))


def _holds(slack: Array, width: float) -> NDArray[np.bool_]:
    """Whether a row affects the weights."""
    return _slopes(slack, width)[0] > (_HOLDS if width else 0.0)


def _smooth(slack: Array, width: float) -> Array:
    """phi; with 2 e instead of the loss of 0 at s = 0, as far as constants go."""
    if not width:
        return 0.5 * np.maximum(0.0, slack) ** 2
    less = _less(slack, width)
    slope = np.where(slack > 0, 1.0 - less, less)
    return slope * slack + width * (np.log(less) + np.log1p(-less))


def _less(slack: Array, width: float) -> Array:
    """The smaller one of a and 1 - a, of a with s = e (1 / (1 - a) - 1 / a)."""
    size = np.abs(slack)
    return 2.0 * width / (size + 2.0 * width + np.hypot(size, 2.0 * width))


class Regulariser(Protocol):
    """R."""

    def value(self, m: Array) -> float: ...

    def best(self, m: Array, pull: Array, bend: Array) -> Array:
        """argmin_x R(x) - pull'(x - m) + (x - m)' bend (x - m) / 2."""
        ...

    def excess(self, m: Array, pull: Array) -> float:
        """R(m) + R*(pull) - m'pull, which is 0 where ``pull`` is a slope of R at m."""
        ...


class Normal(NamedTuple):
    """R(m) = (m - c)'P(m - c) / 2."""

    precision: Array
    root: Array
    """L of P = L L'."""
    centre: Array = np.zeros(0)

    def value(self, m: Array) -> float:
        return 0.5 * float(np.sum((self.root.T @ (m - self.centre)) ** 2))

    def best(self, m: Array, pull: Array, bend: Array) -> Array:
        factor = linalg.cho_factor(self.precision + bend, lower=True, check_finite=False)
        return m + linalg.cho_solve(factor, self._rest(m, pull), check_finite=False)

    def excess(self, m: Array, pull: Array) -> float:
        rest = linalg.solve_triangular(self.root, self._rest(m, pull), lower=True, check_finite=False)
        return 0.5 * float(rest @ rest)

    def _rest(self, m: Array, pull: Array) -> Array:
        return pull - self.precision @ (m - self.centre)


class NewtonDescent:
    """The weights of one output, from total to total. The smoothed objective never rises, but by rounding."""

    def __init__(self, prior: Regulariser, start: Array, squared: bool, tol: float, width: float = 1.0) -> None:
        self.prior, self.tol = prior, tol
        self.coef, self.move = start, np.zeros_like(start)
        self.width = self._heard_of = 0.0 if squared else width
        self.settled = self.stands = False
        """Whether the best weights were reached, and whether the last answer is about the current weights."""
        self.pull = np.zeros_like(start)
        self.objective, self.gap, self.n_steps = 0.0, np.inf, -1

    @property
    def relative_gap(self) -> float:
        return self.gap / max(self.objective, np.finfo(float).tiny)

    def hear(self, told: Sums) -> bool:
        """Take the step, or as much of it as is good, and think of the next; whether all of it was taken."""
        if not all(np.isfinite(value).all() for value in told.values()):
            raise FloatingPointError
        last = False
        if self.move.any():
            values = np.array([self.prior.value(self.coef + t * self.move) for t in STEPS]) + told["losses"]
            gains, rounding = values[-1] - values, _ROUNDING * abs(values[-1])
            best = int(gains.argmax())
            last = bool(gains[best] <= rounding) and self.width == self._heard_of  # only rounding is left to gain
            if gains[0] < 0.1 * gains[best] or gains[0] < -rounding:
                self._stop_short(float(STEPS[best]))
                return False
        self.coef, self.move = self.coef + self.move, np.zeros_like(self.move)
        self.n_steps, self.stands, self._heard_of = self.n_steps + 1, True, self.width
        self.pull = told["pull"]
        excess = max(self.prior.excess(self.coef, self.pull), 0.0)
        blur = max(float(told["blur"]), 0.0) if self.width else 0.0
        gap, self.gap = self.gap, excess + blur
        self.objective = self.prior.value(self.coef) + float(told["paid"])
        self.settled = self.relative_gap <= self.tol or (last and self.gap > 0.5 * gap)
        if not self.settled:
            self._turn(told, excess <= _NEAR * blur)
        return True

    def _stop_short(self, share: float) -> None:
        """A share of the step, or none: ask again there, as the last answer is about its end."""
        if share > 0 or self.width != self._heard_of:  # a step that was chosen for another width may be of no use
            self.coef = self.coef + share * self.move
            self.move, self.stands = np.zeros_like(self.move), False
        else:
            self.move = self.move * STEPS[-2]
            self.settled = bool(np.abs(self.move).max() <= 1e-12 * np.abs(self.coef).max())

    def _turn(self, told: Sums, shrink: bool) -> None:
        """The next step, for a smaller width if the weights are near the best for this one."""
        pull = self.pull
        if shrink:
            self.width *= _SHRINK
            pull = pull + (1.0 - _SHRINK) * told["turn"]
        try:
            self.move = self.prior.best(self.coef, pull, told["bend"]) - self.coef
        except linalg.LinAlgError:
            raise FloatingPointError from None
        self.settled = not self.move.any()


Run = Generator[Place, Sums, T]
"""The steps of one output: it yields the place where it stands, and gets the totals there."""


def descend(descent: NewtonDescent, where: Place, told: Sums | None = None, most: int = MOST_QUESTIONS) -> Run[Sums]:
    """So many steps at most, or until the gap is small; returns what was told of the weights as they are.

    ``told`` is what was told already of the weights at the begin.
    """
    heard: Sums = {}
    for _ in range(MOST_QUESTIONS):
        if told is None:
            told = yield where._replace(coef=descent.coef, move=descent.move, width=descent.width)
        if descent.hear(told):
            heard = told
        if descent.settled or (descent.n_steps >= most and descent.stands):
            break
        told = None
    return heard


def in_step(reader: Reader, runs: list[Run[T]]) -> Generator[Question, Sums, tuple[list[T], int]]:
    """Several runs that share every question; returns what they return, and how many rows hold any weights at last."""
    places = {output: next(run) for output, run in enumerate(runs)}
    done: dict[int, Place] = {}
    results: dict[int, T] = {}
    n_holding = 0
    while places:
        total = yield Evaluate(reader, places, tuple(done.values()))
        n_holding = int(total["holding"])
        for output in list(places):
            end = f" {output}"
            told = {name.removesuffix(end): value for name, value in total.items() if name.endswith(end)}
            try:
                places[output] = runs[output].send(told)
            except StopIteration as stop:
                results[output], done[output] = stop.value, places.pop(output)
    return [results[output] for output in range(len(runs))], n_holding
