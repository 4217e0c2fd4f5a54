"""A learner bound to a state, for rows that come one by one: what stays the same from row to row is looked up once."""

from __future__ import annotations

from .._core import RowReader
from ._learner import Learner
from ._state import State
from ._tuning import next_milestone

_WRONG, _DIVERGED, _PAUSED = 1, 2, 4  # what becomes of a row, in any combination


class _Candidate:
    """A model that learns, and where its mistakes in a race are counted."""

    __slots__ = ("model", "params", "raced", "tally", "view")

    def __init__(self, learner: Learner, state: State, model: int) -> None:
        self.model, self.view, self.params = model, state.views[model], learner._params_of(state, model)
        self.tally = self.view["tally"]
        self.raced = self.view.get("missed")


class RowSession:
    """Learns from a row, or scores it, as :meth:`Learner.learn` and :meth:`Learner.scores` do, bit for bit.

    That is for models of one output whose losses have bounded slopes, on rows that are learned as they come. Where a
    race between candidates is looked at again, :meth:`learn` leaves the row to the learner, and the session has ended.
    """

    __slots__ = (
        "_candidates",
        "_constant",
        "_core",
        "_counts",
        "_goal",
        "_learner",
        "_reads",
        "_tuning",
        "has_ended",
        "state",
        "views",
    )

    def __init__(self, learner: Learner, state: State) -> None:
        self.state, self.views = state, state.views
        self._learner, self._core, self._tuning = learner, learner.core, learner.tuning
        self._constant, self.has_ended = learner.intercept, False
        self._counts = learner.counts_scores
        models = [0] if learner.tuning is None else learner.tuning.running(learner, state).tolist()
        self._candidates = [_Candidate(learner, state, model) for model in models]
        n_seen, has_unit = int(self._candidates[0].tally[0]), "unit" in state.arrays and state.arrays["unit"][0, 0] > 0
        self._goal = next_milestone(n_seen) if has_unit else 0  # the next milestone of a race
        self._reads = next(each for each in self._candidates if each.model == learner.chosen(state))

    @staticmethod
    def can_hold(learner: Learner, state: State) -> bool:
        """Whether rows of this learner can be learned from one by one."""
        if not hasattr(learner.core, "learn_row") or learner.steep or state.n_outputs != learner.n_models:
            return False
        tuning = learner.tuning
        if tuning is None:
            return not learner.grid
        return not (tuning.scales_target or learner.scales(state))

    def learn(self, reader: RowReader, y: float, weight: float, is_new: bool) -> bool:
        """Learn from the row that was read last; False, and nothing done, if the session has ended."""
        tuning, counts = self._tuning, is_new and self._counts
        if tuning is None:
            if self._learn(self._reads, reader, y, weight, counts) & _DIVERGED:
                raise FloatingPointError
            return True
        if weight == 0 or self._reads.tally[0] + 1 >= self._goal:
            return False
        for each in self._candidates:
            outcome = self._learn(each, reader, y, weight, counts)
            if outcome & _DIVERGED:
                self.has_ended = True
                if not tuning.fail(self._learner, self.state, each.model):
                    raise FloatingPointError
            elif outcome & _WRONG:
                self._count(each, weight)
        tuning.measure_row(self.state, int(self._reads.tally[0]), reader.rows)
        return True

    def _learn(self, each: _Candidate, reader: RowReader, y: float, weight: float, counts: bool) -> int:
        outcome = self._core.learn_row(reader, self._constant, y, weight, each.view, each.params, counts)
        if outcome & _PAUSED:
            self._core.settle(each.view, each.params, self.state.sizes["weight"])
        return outcome

    def _count(self, each: _Candidate, weight: float) -> None:
        """Count a mistake in the race, and for the model that is read."""
        if each.raced is not None:
            each.raced[0] += weight
        if each is self._reads and self._learner.grid:
            self.views[0]["n_wrong"][0] += 1

    def can_score(self) -> bool:
        """Whether the model that is read holds its weights as they are."""
        learner = self._learner
        return not learner.params.get("n_selected") and not learner.reads_weights(self.state)

    def score(self, reader: RowReader) -> float:
        """The score of the row that was read last."""
        reads = self._reads
        return self._core.score_row(reader, self._constant, reads.view, reads.params)
