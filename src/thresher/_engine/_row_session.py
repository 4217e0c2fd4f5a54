"""A learner bound to a state, for rows that come one by one: what stays the same from row to row is looked up once."""

from __future__ import annotations

from .._core import RowModels, RowReader
from ._learner import Learner
from ._measured_units import LENGTHS_OF
from ._state import State
from ._tuning import next_milestone


class RowSession:
    """Learns from a row, or scores it, as :meth:`Learner.learn` and :meth:`Learner.scores` do, bit for bit.

    That is for models of one output whose losses have bounded slopes, on rows that are learned as they come. Where a
    race between candidates is looked at again, :meth:`learn` leaves the row to the learner, and the session has ended.
    """

    __slots__ = ("_learner", "_places", "_seen", "_tuning", "models", "state")

    def __init__(self, learner: Learner, state: State) -> None:
        self.state = state
        self._learner, self._tuning = learner, learner.tuning
        self._places = [0] if learner.tuning is None else learner.tuning.running(learner, state).tolist()
        self._seen = state.views[learner.chosen(state)]["tally"]
        self.models = learner.core.row_models(
            [state.views[k] for k in self._places],
            [learner._params_of(state, k) for k in self._places],
            state.sizes["weight"],
            learner.intercept,
            self._places.index(learner.chosen(state)),
            self._milestone(),
            learner.counts_scores,
            None if learner.tuning is None else LENGTHS_OF,
        )

    def _milestone(self) -> float | None:
        """Return the number of rows at which the race is looked at again; 0 before it knows its units."""
        if self._tuning is None:
            return None
        has_unit = self.state.arrays["unit"][0, 0] > 0
        return float(next_milestone(int(self._seen[0]))) if has_unit else 0.0

    @staticmethod
    def can_hold(learner: Learner, state: State) -> bool:
        """Whether rows of this learner can be learned from one by one."""
        if not hasattr(learner.core, "row_models") or learner.steep or state.n_outputs != learner.n_models:
            return False
        tuning = learner.tuning
        if tuning is None:
            return not learner.grid
        return not (tuning.scales_target or learner.scales(state))

    def learn(self, reader: RowReader, y: float, weight: float, is_new: bool) -> bool:
        """Learn from the row that was read last; False, and nothing done, if the session has ended."""
        outcome = self.models.learn(reader, y, weight, is_new)
        if outcome == RowModels.OVERFLOWED:
            self.leave_out()
        return outcome != RowModels.LEFT

    def leave_out(self) -> None:
        """Leave out the candidates whose weights overflowed at the last row."""
        for k in self.models.failed():
            if self._tuning is None or not self._tuning.fail(self._learner, self.state, self._places[k]):
                raise FloatingPointError

    def can_score(self) -> bool:
        """Whether the model that is read holds its weights as they are."""
        learner = self._learner
        return not learner.params.get("n_selected") and not learner.reads_weights(self.state)
