"""Learners that tune themselves: candidates for a step size learn side by side, and the best of them goes on.

Candidates count in units of the data, so that neither the scale of a column nor that of the targets matters. The race
is in the state. In a stream, the best candidate is chosen after 1, 2, 3, 4, 6, 8, 12, ... rows, units are set and
candidates dropped after 1, 2, 4, 8, ..., and all stays as it is in between; so any chunking of the rows gives the same
bits. A fit has measured its rows, and skips milestones at which nothing would be dropped.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from .._dataclasses import dataclass
from .._gate import Array
from ._calibration import confusions
from ._measured_units import MeasuredUnits, one
from ._state import Field, State, added

if TYPE_CHECKING:
    from ._learner import Learner

_MARKS = ("older_mark", "mark")
_STANDINGS = ("n_raced", "raced")  # rows and mistakes or mean loss of each candidate where the race was ended
# After each share of a race, how many candidates at most continue.
_PLACES = ((1 / 16, 4), (1 / 8, 3), (1 / 2, 2), (1.0, 1))
_NEVER = 1 << 62  # more rows than there can be
_FIRST = 1 << 11  # rows after which the second part of a race begins
_SURE = 3.0  # standard errors: candidates further behind are dropped from the first of these milestones on


@dataclass(frozen=True, kw_only=True)
class Tuning(MeasuredUnits):
    """Automatic step size and units of a learner.

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
    race_rows : int, default=32768
        The number of rows after which one candidate is left.
    derives : bool, default=False
        Whether the core keeps weights that follow from the parameter, and must be told when its unit changes.
    """

    races: bool = False
    n_first: int = 0
    name: str = ""
    power: float = 0.0
    race_rows: int = 1 << 15
    derives: bool = False

    # --- state --------------------------------------------------------------------------------------------------------

    def fields(self) -> list[Field]:
        """The arrays that a state keeps besides those of the learner."""
        race = [Field(name, "model", 0.0, "sum") for name in ("missed", "n_drops")]
        race += [Field(name, "model", 0.0, "derived") for name in (*_MARKS, *_STANDINGS)]
        race += [Field("ahead", "model", -1.0, "derived")]  # mistakes or loss of the best when a candidate was left
        leader = [Field("leader", "shared", 0.0, "derived")] if self.n_first else []
        return [*(race if self.races else ()), *leader, *self.unit_fields()]

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
        if not self.races:
            return np.arange(learner.n_models)
        drops = state.arrays["n_drops"][:, 0]
        if self.n_first:
            drops = np.where(self.parts(learner, state) == (2 if one(state, "leader") else 1), drops, np.inf)
        return (drops == np.minimum.reduce(drops)).nonzero()[0]  # asked for often, of few

    def parts(self, learner: Learner, state: State) -> NDArray[np.int64]:
        """The part of the race that each candidate is in, 1 or 2; the leader of the first goes on in the second."""
        places, leader = np.arange(learner.n_models), int(one(state, "leader")) - 1 if self.n_first else -1
        return np.where((places >= (self.n_first or len(places))) | (places == leader), 2, 1)

    def best(self, learner: Learner, state: State) -> int:
        """The candidate that has done best lately; of equal ones, that of the least loss."""
        running = self.running(learner, state)
        if len(running) == 1:
            return int(running[0])
        recent = self._against(learner, state) - state.arrays["older_mark"][:, 0]
        with np.errstate(over="ignore"):  # beyond all others
            losses = state.arrays["tally"][:, 2].reshape(learner.n_models, -1).sum(axis=1)
        order = np.lexsort((losses[running], self._behind(learner, state, running, recent[running])))
        return int(running[order[0]])

    def _behind(self, learner: Learner, state: State, models: NDArray[np.intp], against: Array) -> Array:
        """Return how far each candidate is behind the best, ignoring differences that may be chance.

        Of a rare class, a candidate that finds none makes as few mistakes as any. So candidates within a standard error
        of the fewest mistakes are put in order by two distances, in standard errors each: that of their mistakes from
        the fewest, and that of their ROC area from the largest. They must have learned from every row and counted as
        many scores, of two classes: one that merged shards or an error left out under way goes by its mistakes. So do
        all if rows do not weigh 1 on average, because the standard error is then another one.
        """
        least = against.min()
        error = np.sqrt(least + 1)
        distance = (against - least) / error
        close = np.flatnonzero(distance <= 1)
        if len(close) == 1 or learner.judge != "mistakes" or not learner.counts_scores:
            return distance
        n_rows, weight = state.arrays["tally"][:, [0, 3]].sum(axis=0).tolist()
        if abs(weight - n_rows) > 1e-5 * n_rows:
            return distance
        bins, clock, near = state.arrays["score_bins"], state.arrays["score_clock"], models[close]
        if bins.size > learner.n_models * bins.shape[-1]:  # of several outputs
            return distance
        bins = bins.reshape(learner.n_models, -1)
        n_seen, n_counted = state.arrays["tally"][:, 0].reshape(learner.n_models, -1)[:, 0], clock[near, 0]
        whole = np.flatnonzero((n_seen[near] == n_seen.max()) & (n_counted == n_counted.max()))
        if len(whole) > 1:
            confusion, errors = confusions(bins[near[whole]], clock[near[whole]])
            best = confusion.argmin()
            distance[close[whole]] += (confusion - confusion[best]) / errors[best]
        return distance

    def _against(self, learner: Learner, state: State) -> Array:
        """Return the penalty of each candidate so far: the weight of misclassified rows, or its loss."""
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
        """Record the result of the best candidate where others stop."""
        state.arrays["ahead"][models, 0] = self.standings(learner, state)[1][best]

    @staticmethod
    def _drop(state: State, models: Any) -> None:
        state.arrays["n_drops"][models, 0] += 1

    def first_milestone(self, learner: Learner, state: State) -> int:
        """The milestone with which a fit begins: nothing is dropped before. One candidate alone needs no milestones."""
        if not learner.grid or (self.races and len(self.running(learner, state)) == 1):
            return _NEVER
        few = int(one(state, "n_measured")) >> 3
        return min(int(_PLACES[0][0] * self.race_rows), 1 << max(few.bit_length() - 1, 0))

    def turn(self, learner: Learner, state: State, n_rows: int) -> None:
        """After a power of two of rows: drop candidates that are far behind, and those too many."""
        if not self.races:
            return
        places = min((most for part, most in _PLACES if n_rows >= part * self.race_rows), default=0)
        running = self.running(learner, state)
        total, mark = self._against(learner, state), state.arrays["mark"][:, 0]
        if places and len(running) > 1:
            lately = (total - mark)[running]
            distance = self._behind(learner, state, running, lately)
            best = running[np.lexsort((total[running], distance))[0]]
            gap = lately - lately.min()
            behind = np.zeros(len(running), dtype=bool)
            behind[np.lexsort((abs(running - best), distance))[places:]] = True
            if learner.judge == "mistakes":
                behind |= (gap > _SURE * np.sqrt(lately + lately.min() + 1)) & (abs(running - best) > 1)
            self._leave(learner, state, running[behind], int(best))
            self._drop(state, running[behind])
        if self.n_first and not one(state, "leader") and self._is_late(state, n_rows):
            self._begin_second(learner, state)
        state.arrays["older_mark"][:, 0] = mark
        mark[:] = self._against(learner, state)

    def leader(self, learner: Learner, state: State) -> int:
        """The candidate of the first part that the others continue from; until then, the one that is read."""
        leader = int(one(state, "leader")) if self.n_first else 0
        return leader - 1 if leader else learner.chosen(state)

    @staticmethod
    def _is_late(state: State, n_rows: int) -> bool:
        """Whether the first part of a race is over: it is long enough, or as long as the number of rows allows."""
        return n_rows >= _FIRST or n_rows < one(state, "n_measured") < 4 * n_rows

    def _begin_second(self, learner: Learner, state: State) -> None:
        """Let the second part of the grid continue from the state of the leader."""
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
        """Record which of some rows a candidate misclassified."""
        if self.races:
            missed = state.arrays["missed"]
            at = missed[model % len(missed)]
            at[0] = at[0] + np.count_nonzero(wrong) if weight is None else np.cumsum([at[0], *weight[wrong]])[-1]

    def fail(self, learner: Learner, state: State, model: int) -> bool:
        """Drop a candidate whose weights overflowed. Returns whether another one continues."""
        if not self.races or len(self.running(learner, state)) == 1:
            return False
        fresh, outputs = state.blank(state.sizes["weight"]), learner.outputs_of(state, model)
        shared = {f.name for f in state.fields if f.axes.startswith(("shared", "model"))}
        for name, array in state.arrays.items():
            if name not in shared:
                array[outputs.start : outputs.stop] = fresh.arrays[name][outputs.start : outputs.stop]
        self._drop(state, model)
        return True

    def merge(self, learner: Learner, merged: State, start: State, states: Sequence[State]) -> None:
        """Merge the comparisons of candidates and the units of all shards."""
        for name in _MARKS if self.races else ():  # what all shards missed lately is what the merged candidate did
            lately = [self._against(learner, s) - s.arrays[name][:, 0] for s in states]
            total = self._against(learner, merged)
            merged.arrays[name][:, 0] = np.maximum(total - added(np.zeros_like(total), lately), 0.0)
        if self.n_first:
            merged.arrays["leader"][...] = max(one(s, "leader") for s in states)
        self.merge_units(merged, start, states)


def nearest(running: NDArray[np.intp], state: State) -> int:
    """Of the candidates that go on, the one that is read."""
    return int(running[abs(running - state.arrays["reads"][0, 0]).argmin()])


def next_milestone(n_rows: int) -> int:
    """The number of rows after which the best candidate is chosen next: a power of two, or midway between two."""
    power = 1 << n_rows.bit_length()
    midway = power - power // 4
    return midway if n_rows < midway else power


def segments(
    state: State, order: NDArray[np.int64], present: NDArray[np.bool_] | None, first: int = 0
) -> Iterator[tuple[int, int, int]]:
    """Pieces of an order that end where milestones lie: begin, end, and the milestone if it was reached, else 0.

    With ``first``, milestones are the powers of two from there on.
    """
    n_seen = int(state.arrays["tally"][:, 0].max())
    counts = None if present is None else np.cumsum(present)
    begin = 0
    while begin < len(order):
        goal = max(first, 1 << n_seen.bit_length()) if first else next_milestone(n_seen)
        if counts is None:
            end = min(begin + goal - n_seen, len(order))
            n_seen += end - begin
        else:
            before = int(counts[begin - 1]) if begin else 0
            end = min(int(np.searchsorted(counts, before + goal - n_seen)) + 1, len(order))
            n_seen += int(counts[end - 1]) - before
        yield begin, end, goal if n_seen == goal else 0
        begin = end
