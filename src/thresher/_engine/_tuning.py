"""Learners that tune themselves: candidates for a step size learn side by side, and columns are scaled as they come.

Candidates count in units of the data, and so do scaled rows, so that neither the scale of a column nor that of the
targets matters. All that is measured is in the state. It is looked at again after 1, 2, 4, 8, ... rows and stays as it
is in between; so any chunking of the rows gives the same bits.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from operator import add
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .._core import Rows, add_moments, measure_rows, scale_rows
from .._gate import Array
from ._lesson import OtherForm
from ._moments import joined
from ._shard_rounds import Sums
from ._state import Field, State, added
from ._target import Target

if TYPE_CHECKING:
    from ._learner import Learner

_MEASURED = 1 << 12  # rows from which the unit of sparse rows is told; after them, columns are told by a sample
_SAMPLED = 8  # of later rows, every so many-th is measured: the deviation of a column is known by then
_BYTES = 1 << 21  # of scaled rows at a time: they stay in cache while all outputs learn from them
_FEW = 8  # rows: with so many, deviations are taken for twice as large as they seem
_FAR = 5.0  # deviations: what lies farther from the mean decides a class as if it lay there
_SETTLED = 64  # rows: units that stay are taken from so many at least
COMES_SCALED = 2.0  # in place of 1 in is_scaled: by a step before the learner, so that units are those of the rows
_MARKS = ("older_mark", "mark")
_STANDINGS = ("n_raced", "raced")  # rows and mistakes or mean loss of each candidate where the race was ended
_TARGETS = ("target_shift", "target_scale")
_SAME = 1e-12  # a deviation this small beside the mean is rounding, not variation
# After such a part of a race, at most so many candidates go on: half as many rows as it took cost two passes in all.
_PLACES = ((1 / 16, 4), (1 / 8, 3), (1 / 2, 2), (1.0, 1))
_FIRST = 1 << 11  # rows after which the second part of a race begins
_SURE = 3.0  # standard errors: a candidate that is so far behind is dropped from the first of these milestones on


@dataclass(frozen=True)
class Tuning:
    """What a learner finds out by itself.

    Parameters
    ----------
    races : bool, default=False
        Whether the models of the grid are candidates, of which the best alone goes on.
    n_first : int, default=0
        Where the grid has two parts, the number of models of the first. They race alone; then those of the second go on
        from the state of the leader, with its step size, for which they have None.
    name : str, default=""
        The parameter of the core that counts in units of the data, if there is one.
    power : float, default=0.0
        These units: this power of the typical squared length of a row.
    scales : bool, default=False
        Whether dense rows are centred and scaled.
    scales_target : bool, default=False
        Whether targets are, too.
    race_rows : int, default=32768
        The number of rows after which one candidate is left.
    derives : bool, default=False
        Whether the core keeps weights that follow from the parameter, and must be told when its unit changes.
    holds : bool, default=False
        Whether the units of a column stay once it has varied, so that what was learned in them stays true.
    """

    races: bool = False
    n_first: int = 0
    name: str = ""
    power: float = 0.0
    scales: bool = False
    scales_target: bool = False
    race_rows: int = 1 << 15
    derives: bool = False
    holds: bool = False

    # --- state --------------------------------------------------------------------------------------------------------

    def fields(self) -> list[Field]:
        """What a state keeps beside what is learned."""
        race = [Field(name, "model", 0.0, "sum") for name in ("missed", "n_drops")]
        race += [Field(name, "model", 0.0, "derived") for name in (*_MARKS, *_STANDINGS)]
        race += [Field("ahead", "model", -1.0, "derived")]  # mistakes or loss of the best when a candidate was left
        numbers = ["unit_sum", "unit_count", "unit", "is_scaled", "n_measured", *(["leader"] if self.n_first else [])]
        derived = [Field(name, "shared", 0.0, "derived") for name in numbers]
        target = [Field(name, "shared", 0.0, "derived") for name in ("target_mean", "target_m2", "target_shift")]
        columns = ("column_mean", "column_m2", "column_count", *self._units)
        return [
            *(race if self.races else ()),
            *derived,
            *((*target, Field("target_scale", "shared", 1.0, "derived")) if self.scales_target else ()),
            *(Field(name, "shared column", 0.0, "derived") for name in columns),
        ]

    @property
    def _units(self) -> tuple[str, ...]:
        """What the state keeps of the units of columns."""
        return ("shift", "inverse", "reach") if self.holds else ("shift", "inverse")

    def params(self, params: dict[str, Any], state: State, grid: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
        """The parameters of a candidate, which are relative, in the units of these data."""
        if self.name and params[self.name] is None:
            params = {**params, self.name: grid[max(int(one(state, "leader")) - 1, 0)][self.name]}
        unit = one(state, "unit") or 1.0
        absolute = {self.name: params[self.name] * unit**self.power} if self.name else {}
        if self.scales_target and params.get("epsilon"):
            absolute["epsilon"] = params["epsilon"] / one(state, "target_scale")
        return {**params, **absolute}

    # --- the race -----------------------------------------------------------------------------------------------------

    def running(self, learner: Learner, state: State) -> NDArray[np.intp]:
        """The candidates that go on."""
        drops = state.arrays["n_drops"][:, 0] if self.races else np.zeros(learner.n_models)
        if self.n_first:
            drops = np.where(self.parts(learner, state) == (2 if one(state, "leader") else 1), drops, np.inf)
        return np.flatnonzero(drops == drops.min())

    def parts(self, learner: Learner, state: State) -> NDArray[np.int64]:
        """The part of the race that each candidate is in, 1 or 2; the leader of the first goes on in the second."""
        places, leader = np.arange(learner.n_models), int(one(state, "leader")) - 1 if self.n_first else -1
        return np.where((places >= (self.n_first or len(places))) | (places == leader), 2, 1)

    def best(self, learner: Learner, state: State) -> int:
        """The candidate that has done best lately: fewest mistakes, of equal ones the least loss."""
        running = self.running(learner, state)
        recent = self._against(learner, state) - state.arrays["older_mark"][:, 0]
        losses = state.arrays["tally"][:, 2].reshape(learner.n_models, -1).sum(axis=1)
        return int(running[np.lexsort((losses[running], recent[running]))[0]])

    def _against(self, learner: Learner, state: State) -> Array:
        """What counts against each candidate so far: the weight of rows that it missed, or its loss."""
        if learner.judge == "mistakes":
            missed: Array = state.arrays["missed"][:, 0]
            return missed
        return state.arrays["tally"][:, 2].reshape(learner.n_models, -1).sum(axis=1)

    def decide(self, learner: Learner, state: State) -> None:
        """End the race: what comes now are rows that were seen before, which say nothing about new ones."""
        if self.races:
            for name, values in zip(_STANDINGS, self.standings(learner, state), strict=True):
                state.arrays[name][:, 0] = values
            best = self.best(learner, state)
            others = np.setdiff1d(self.running(learner, state), best)
            self._leave(learner, state, others, best)
            self._drop(state, others)

    @staticmethod
    def standings(learner: Learner, state: State) -> tuple[Array, Array]:
        """The rows that each candidate had not seen before, and its mistakes or mean loss on them."""
        counts_mistakes = learner.judge == "mistakes"
        n_rows = state.arrays["tally"][:, 0].reshape(learner.n_models, -1)[:, 0]
        against = state.arrays["n_mistakes"][:, 0] if counts_mistakes else learner.progressive_losses(state)
        n_raced, raced = (state.arrays[name][:, 0] for name in _STANDINGS)
        return np.where(n_raced > 0, n_raced, n_rows), np.where(n_raced > 0, raced, against)

    def _leave(self, learner: Learner, state: State, models: NDArray[np.intp], best: int) -> None:
        """Note how the best one stands where others stop."""
        state.arrays["ahead"][models, 0] = self.standings(learner, state)[1][best]

    @staticmethod
    def _drop(state: State, models: Any) -> None:
        state.arrays["n_drops"][models, 0] += 1

    def turn(self, learner: Learner, state: State, n_rows: int) -> None:
        """A milestone: drop candidates that are far behind, and those for which there is no place any more."""
        if not self.races:
            return
        places = min((most for part, most in _PLACES if n_rows >= part * self.race_rows), default=0)
        running = self.running(learner, state)
        total, mark = self._against(learner, state), state.arrays["mark"][:, 0]
        if places and len(running) > 1:
            lately = (total - mark)[running]
            best = running[int(np.lexsort((total[running], lately))[0])]
            gap = lately - lately.min()
            rank = np.lexsort((abs(running - best), lately))
            behind = np.zeros(len(running), dtype=bool)
            behind[rank[places:]] = True
            if learner.judge == "mistakes":
                behind |= (gap > _SURE * np.sqrt(lately + lately.min() + 1)) & (abs(running - best) > 1)
            self._leave(learner, state, running[behind], int(best))
            self._drop(state, running[behind])
        if self.n_first and not one(state, "leader") and self._is_late(state, n_rows):
            self._begin_second(learner, state)
        state.arrays["older_mark"][:, 0] = mark
        mark[:] = self._against(learner, state)

    def leader(self, learner: Learner, state: State) -> int:
        """The candidate of the first part that the others go on from; until they do, the one that is read."""
        leader = int(one(state, "leader")) if self.n_first else 0
        return leader - 1 if leader else learner.chosen(state)

    @staticmethod
    def _is_late(state: State, n_rows: int) -> bool:
        """Whether the first part of a race is long enough, or as long as rows of which all are known allow."""
        return n_rows >= _FIRST or n_rows < one(state, "n_measured") < 4 * n_rows

    def _begin_second(self, learner: Learner, state: State) -> None:
        """Let the second part of the grid go on from the state of the leader."""
        leader = self.best(learner, state)
        self._leave(learner, state, self.running(learner, state), leader)
        state.arrays["leader"][0, 0] = leader + 1
        from_there = learner.outputs_of(state, leader)
        for each in state.fields:
            array = state.arrays[each.name]
            if each.axes == "model":
                array[self.n_first :] = array[leader]
            elif not each.axes.startswith("shared"):
                for model in range(self.n_first, learner.n_models):
                    outputs = learner.outputs_of(state, model)
                    array[outputs.start : outputs.stop] = array[from_there.start : from_there.stop]
        state.arrays["n_drops"][:, 0] = 0

    def count(self, state: State, model: int, wrong: NDArray[np.bool_], weight: Array | None) -> None:
        """Note which of some rows a candidate missed."""
        if self.races:
            missed = state.arrays["missed"]
            at = missed[model % len(missed)]
            at[0] = at[0] + np.count_nonzero(wrong) if weight is None else np.cumsum([at[0], *weight[wrong]])[-1]

    def fail(self, learner: Learner, state: State, model: int) -> bool:
        """Leave out a candidate whose weights outgrew floating point; whether another one goes on."""
        if not self.races or len(self.running(learner, state)) == 1:
            return False
        fresh, outputs = state.blank(state.sizes["weight"]), learner.outputs_of(state, model)
        shared = {f.name for f in state.fields if f.axes.startswith(("shared", "model"))}
        for name, array in state.arrays.items():
            if name not in shared:
                array[outputs.start : outputs.stop] = fresh.arrays[name][outputs.start : outputs.stop]
        self._drop(state, model)
        return True

    # --- measures -----------------------------------------------------------------------------------------------------

    def begin(self, state: State, rows: Rows, part: NDArray[np.int64] | None = None) -> None:
        """Decide by the first rows whether columns are scaled, and make room for what is known about them.

        The first row of a stream is learned from in its own units: later ones may not undo a step in others.
        """
        if not state.arrays["tally"][:, 0].any():
            is_scaled = self.scales and rows.columns is None
            state.arrays["is_scaled"][0, 0] = max(one(state, "is_scaled"), 1.0) if is_scaled else 0.0
        if one(state, "is_scaled") and state.sizes["column"] < rows.n_features:
            state.grow(state.sizes["weight"], column=rows.n_features)
        self._keep_units(state)
        if part is not None and len(part) and not one(state, "unit"):
            (square,) = row_squares(rows, part[:1], counts=bool(one(state, "is_scaled")))
            state.arrays["unit"][0, 0] = rounded(np.log(square)) if square > 0 else 0.0

    def meet(self, learner: Learner, state: State, y: Array) -> None:
        """Until targets have been seen to vary, take their units from the first that differs: a step in any others
        would never be undone."""
        if one(state, "target_m2") > 0 or (not learner.intercept and one(state, "target_mean") != 0) or not len(y):
            return
        if learner.intercept and one(state, "n_measured") == 0:
            state.arrays["target_shift"][0, 0] = y[0]
        sizes = np.abs(y - one(state, "target_shift"))
        state.arrays["target_scale"][0, 0] = sizes[(sizes > 0).argmax()] or 1.0

    @staticmethod
    def sample(state: State, part: NDArray[np.int64]) -> NDArray[np.int64]:
        """Those of the last rows learned from that are measured."""
        n_seen = int(state.arrays["tally"][:, 0].max())
        early = min(max(_MEASURED - (n_seen - len(part)), 0), len(part))
        if early == len(part):
            return part
        later = part[early:]
        later = later[-(n_seen - len(later)) % _SAMPLED :: _SAMPLED]
        return np.concatenate([part[:early], later]) if early else later

    def measure(self, state: State, rows: Rows, target: Target, part: NDArray[np.int64]) -> None:
        """Add rows to what is known about their columns, their length and their targets."""
        n_before = one(state, "n_measured")
        if one(state, "is_scaled"):
            mean, m2, count = (state.arrays[f"column_{name}"][0] for name in ("mean", "m2", "count"))
            measure_rows(rows, np.ascontiguousarray(part), n_before, mean, m2, count)
        elif n_before < _MEASURED:
            squares = row_squares(rows, part[: int(_MEASURED - n_before)])
            logs = np.log(squares[squares > 0])
            total = state.arrays["unit_sum"]
            total[0, 0] = reduce(add, logs.tolist(), total[0, 0])  # one by one: chunks leave no trace
            state.arrays["unit_count"][0, 0] += len(logs)
        if self.scales_target:
            n, missing = np.full(1, n_before), np.zeros(1)
            mean, m2 = state.arrays["target_mean"][0], state.arrays["target_m2"][0]
            add_moments(
                Rows.dense(np.asarray(target.y[part], dtype=np.float64).reshape(-1, 1), False), n, mean, m2, missing
            )
        state.arrays["n_measured"][0, 0] = n_before + len(part)

    def measure_more(self, state: State, moments: Sums) -> None:
        """The same for dense rows that are elsewhere, of which :func:`moments_of` are known."""
        n, names = state.arrays["n_measured"][0], ("mean", "m2", "count")
        known = {"n": n, **{name: state.arrays[f"column_{name}"][0] for name in names}}
        for name, value in joined(known, moments).items():
            (n if name == "n" else state.arrays[f"column_{name}"][0])[...] = value

    def freeze(self, learner: Learner, state: State) -> None:
        """Take what was measured so far as the scale of the rows that come."""
        n = one(state, "n_measured")
        if n == 0:
            return
        unit = one(state, "unit_sum") / max(one(state, "unit_count"), 1.0)
        if one(state, "is_scaled"):
            self._freeze_columns(state, n, learner.intercept != 0)
            self._keep_units(state)
            unit = np.log(max(float(state.arrays["column_count"].sum()) / n, 1.0))
        state.arrays["unit"][0, 0] = rounded(unit)
        if self.scales_target:
            deviation = np.sqrt(one(state, "target_m2") / n)
            state.arrays["target_shift"][0, 0] = one(state, "target_mean") if learner.intercept else 0.0
            if learner.intercept == 0:
                deviation = np.sqrt(deviation**2 + one(state, "target_mean") ** 2)
            state.arrays["target_scale"][0, 0] = deviation if deviation > 0 else 1.0
        if "row_sum" in state.arrays:
            self._centre(state)

    def _centre(self, state: State) -> None:
        """Bring sums over all rows so far to new units, in which rows and targets have a mean of 0."""
        sums = state.arrays["row_sum"]  # that of the targets last
        if one(state, "is_scaled"):
            sums[:, :-1] = 0.0
        if self.scales_target:
            sums[:, -1] = 0.0

    def _freeze_columns(self, state: State, n: float, centred: bool) -> None:
        mean, m2, count = (state.arrays[f"column_{name}"][0] for name in ("mean", "m2", "count"))
        squares = m2 if centred else m2 + n * mean**2
        varies = (count > 0) & (squares > n * (_SAME * mean) ** 2)
        inverse = np.sqrt(np.divide(count, squares, out=np.zeros_like(squares), where=varies))
        inverse = np.where(np.isfinite(inverse), inverse / (1 + _FEW / n), 0.0)
        shift = mean if centred else np.zeros_like(mean)
        held = self.holds & (state.arrays["inverse"][0] > 0) & (state.arrays["tally"][:, 0].max() >= _SETTLED)
        for name, now in (("shift", shift), ("inverse", inverse)):
            state.arrays[name][0] = np.where(held, state.arrays[name][0], now)
        if self.holds:
            before, unit = state.arrays["shift"][0], state.arrays["inverse"][0]
            deviation = np.divide(unit, inverse, out=np.zeros_like(unit), where=inverse > 0)
            state.arrays["reach"][0] = _FAR * deviation + np.abs(shift - before) * unit

    def _keep_units(self, state: State) -> None:
        """Leave columns that come scaled in their units; values that lie far out are far out in these, too."""
        if one(state, "is_scaled") == COMES_SCALED:
            for name, value in zip(self._units, (0.0, 1.0, _FAR), strict=False):
                state.arrays[name][...] = value

    # --- learning -----------------------------------------------------------------------------------------------------

    def chunk(self, state: State, rows: Rows) -> int:
        """How many rows are learned by all outputs before the next ones."""
        return max(1, min(4096, _BYTES // (8 * rows.n_features))) if one(state, "is_scaled") else 4096

    def scaled(
        self, state: State, rows: Rows, part: NDArray[np.int64] | None = None, room: Array | None = None
    ) -> Rows:
        """Rows in the units in which they are learned, in ``room`` if there is some."""
        return self.units(state).scaled(rows, part, room)

    def units(self, state: State) -> ColumnUnits:
        shift, inverse, *reach = (state.arrays[name][0] for name in self._units)
        return ColumnUnits(shift, inverse, reach[0] if reach else np.inf if self.scales_target else _FAR)

    def as_read(self, state: State, rows: Rows, part: NDArray[np.int64], is_far: NDArray[np.uint8]) -> OtherForm:
        """Rows that lie too far out to be learned from as they are: predictions take them as they are."""
        at = np.full(len(part), -1, dtype=np.int64)
        far = np.flatnonzero(is_far)
        at[far] = np.arange(len(far))
        whole = self.units(state)._replace(reach=np.inf).scaled(rows, part[far])
        return OtherForm(whole.values.reshape(-1), at)

    def targets(self, state: State, y: Array) -> Array:
        return (y - one(state, "target_shift")) / one(state, "target_scale") if self.scales_target else y

    # --- reading ------------------------------------------------------------------------------------------------------

    def in_users_units(self, weights: Array, state: State, intercept: float) -> Array:
        """Weights for rows and targets as they come."""
        weights = weights.copy()
        if one(state, "is_scaled"):
            width = min(weights.shape[1] - 1, state.sizes["column"])
            weights[:, :width] *= state.arrays["inverse"][0, :width]
            if intercept:
                weights[:, -1] -= weights[:, :width] @ state.arrays["shift"][0, :width] / intercept
        if self.scales_target:
            weights *= one(state, "target_scale")
            if intercept:
                weights[:, -1] += one(state, "target_shift") / intercept
        return weights

    def in_target_units(self, scores: Array, state: State) -> Array:
        """Scores for targets as they come."""
        if not self.scales_target:
            return scores
        return scores * one(state, "target_scale") + one(state, "target_shift")

    def merge(self, learner: Learner, merged: State, start: State, states: Sequence[State]) -> None:
        """Moments of all rows, those of the start once; the order of the shards leaves no trace."""
        for name in _MARKS if self.races else ():  # what all shards missed lately is what the merged candidate did
            lately = [self._against(learner, s) - s.arrays[name][:, 0] for s in states]
            total = self._against(learner, merged)
            merged.arrays[name][:, 0] = np.maximum(total - added(np.zeros_like(total), lately), 0.0)
        counts = [s.arrays["n_measured"] for s in (start, *states)]
        total = np.maximum(added(counts[0], counts[1:]), 0.0)
        for name in ("unit_sum", "unit_count"):
            begun, *reached = (s.arrays[name] for s in (start, *states))
            merged.arrays[name][...] = added(begun, reached)
        if self.n_first:
            merged.arrays["leader"][...] = max(one(s, "leader") for s in states)
        merged.arrays["is_scaled"][...] = max(one(s, "is_scaled") for s in states)
        pairs = [("column_mean", "column_m2")] if one(merged, "is_scaled") else []
        for mean, m2 in [*pairs, *([("target_mean", "target_m2")] if self.scales_target else [])]:
            width = merged.arrays[mean].shape[1]
            each = [(s.arrays["n_measured"], padded(s, mean, width), padded(s, m2, width)) for s in (start, *states)]
            about = np.min([a for _, a, _ in each[1:]], axis=0)
            sums = [n * (a - about) for n, a, _ in each]
            squares = [q + n * (a - about) ** 2 for n, a, q in each]
            first, second = added(sums[0], sums[1:]), added(squares[0], squares[1:])
            merged.arrays[mean][...] = about + np.divide(first, total, out=np.zeros_like(first), where=total > 0)
            square = np.divide(first**2, total, out=np.zeros_like(first), where=total > 0)
            merged.arrays[m2][...] = np.maximum(second - square, 0.0)
        if pairs:
            width = merged.sizes["column"]
            stored = [padded(s, "column_count", width) for s in (start, *states)]
            merged.arrays["column_count"][...] = np.maximum(added(stored[0], stored[1:]), 0.0)
        merged.arrays["n_measured"][...] = total
        rows = np.array([one(s, "n_measured") for s in states])
        share = rows / np.sort(rows).sum() if rows.any() else np.full(len(states), 1 / len(states))
        for name in ("unit", *(_TARGETS if self.scales_target else ())):
            _average(merged, states, name, share[:, None])
        if pairs:  # until the next milestone, the scales that the weights of the shards belong to
            knows = np.array([padded(s, "inverse", width)[0] > 0 for s in states])
            for name in self._units:
                _average(merged, states, name, np.where(knows.any(axis=0), knows, True) * share[:, None])


class ColumnUnits(NamedTuple):
    """The units in which dense rows are learned."""

    shift: Array
    inverse: Array
    reach: Array | float
    """In these units, how far from 0 a value may lie; what lies farther is learned from as if it lay there."""

    def scaled(
        self,
        rows: Rows,
        part: NDArray[np.int64] | None = None,
        room: Array | None = None,
        is_far: NDArray[np.uint8] | None = None,
    ) -> Rows:
        """Some rows, or all of them, in ``room`` if there is some; ``is_far`` receives which of them lie beyond a
        ``reach`` that all columns share."""
        part = np.arange(rows.n_rows) if part is None else np.ascontiguousarray(part)
        scaled = np.empty((len(part), rows.n_features)) if room is None else room[: len(part)]
        far = self.reach if isinstance(self.reach, float) else np.inf
        scale_rows(rows, part, self.shift, self.inverse, far, scaled.reshape(-1), is_far)
        if not isinstance(self.reach, float):
            np.clip(scaled, -self.reach, self.reach, out=scaled)
        return Rows.dense(scaled, False)


def _average(merged: State, states: Sequence[State], name: str, share: Array) -> None:
    """The mean over shards of numbers that all outputs share, in which each column may have shares of its own."""
    width = merged.arrays[name].shape[1]
    total = np.sort(share, axis=0).sum(axis=0)
    weights = np.divide(share, total, out=np.zeros_like(share), where=total > 0)
    parts = [w * padded(s, name, width) for w, s in zip(weights, states, strict=True)]
    merged.arrays[name][...] = added(np.zeros_like(parts[0]), parts)


def segments(
    state: State, order: NDArray[np.int64], present: NDArray[np.bool_] | None
) -> Iterator[tuple[int, int, int]]:
    """Pieces of an order that end where milestones lie: begin, end, and the milestone if it was reached, else 0."""
    n_seen = int(state.arrays["tally"][:, 0].max())
    counts = None if present is None else np.cumsum(present)
    begin = 0
    while begin < len(order):
        goal = 1 << n_seen.bit_length() if n_seen else 1
        if counts is None:
            end = min(begin + goal - n_seen, len(order))
            n_seen += end - begin
        else:
            before = int(counts[begin - 1]) if begin else 0
            end = min(int(np.searchsorted(counts, before + goal - n_seen)) + 1, len(order))
            n_seen += int(counts[end - 1]) - before
        yield begin, end, goal if n_seen == goal else 0
        begin = end


def rounded(log: float) -> float:
    """A unit whose logarithm is given, to a quarter of a power of two: the last digits leave no trace."""
    return float(2.0 ** (np.round(4 * log / np.log(2)) / 4))


def one(state: State, name: str) -> float:
    """A number that all outputs share."""
    return float(state.arrays[name][0, 0])


def padded(state: State, name: str, width: int) -> Array:
    """An array of columns, with zeros for those that the state has not met."""
    array = state.arrays[name]
    return np.pad(array, ((0, 0), (0, width - array.shape[1])))


def row_squares(rows: Rows, part: NDArray[np.int64], *, counts: bool = False) -> Array:
    """The squared length of some rows; in ``counts``, each value other than 0 is a 1: columns that are to be scaled."""
    if rows.columns is None:
        block = np.asarray(rows.values[part] != 0 if counts else rows.values[part], dtype=np.float64)
        return np.add.reduce(block * block, axis=1)
    lengths, squares = rows.starts[part + 1] - rows.starts[part], np.zeros(len(part))
    if lengths.any():
        begins = np.cumsum(lengths) - lengths
        if part[-1] - part[0] + 1 == len(part) and (np.diff(part) == 1).all():
            places: Any = slice(rows.starts[part[0]], rows.starts[part[-1] + 1])
        else:
            places = np.repeat(rows.starts[part] - begins, lengths) + np.arange(lengths.sum())
        values = np.asarray(rows.values[places] != 0 if counts else rows.values[places], dtype=np.float64)
        squares[lengths > 0] = np.add.reduceat(values * values, begins[lengths > 0])
    return squares
