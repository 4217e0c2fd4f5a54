"""Several models side by side, each with another cost of the classes; the best so far predicts.

The best cost of a mistake on the rare class depends on the measure, and there is no formula for it. So models for all
costs of a grid learn from every batch. Each predicts the batch first, and a progressive measure of these predictions,
kept in the state, decides which model predicts next.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._core import Rows
from .._dataclasses import dataclass
from .._engine import Field, State, added
from .._gate import Array, one_of
from ..metrics import ProgressiveAveragePrecision, ProgressiveF1, ProgressiveROCAUC
from ._batches import BatchClassifier, BatchLearner
from ._declared import param

Measure = ProgressiveF1 | ProgressiveROCAUC | ProgressiveAveragePrecision

MEASURES: dict[str, type[Measure]] = {
    "f1": ProgressiveF1,
    "roc_auc": ProgressiveROCAUC,
    "average_precision": ProgressiveAveragePrecision,
}


@dataclass(frozen=True)
class MeasuredLearner(BatchLearner):
    """A learner whose models are compared by a measure. Each entry of ``grid`` has a parameter ``"cost"``.

    The state has the cells of each output's measure, and the model that was chosen after each batch. Rows that came
    before anything was learned say nothing about the costs, and are not measured: all their positives are missed, and a
    measure that counts them prefers costs that find too many.
    """

    measure: str = "f1"

    def fields(self) -> list[Field]:
        return [*super().fields(), Field("cells", "cell", 0.0, "derived"), Field("choices", "choice", -1.0, "derived")]

    def sizes(self, n_features: int) -> dict[str, int]:
        return {**super().sizes(n_features), "cell": MEASURES[self.measure].n_cells, "choice": 1}

    @property
    def open_axes(self) -> tuple[str, ...]:
        return (*super().open_axes, "choice")

    def continues(self, other: Any) -> bool:
        same: bool = self.measure == other.measure and self.grid == other.grid
        return same and super().continues(other)

    def measures(self, state: State) -> Array:
        """The measure of each model so far, a mean over its outputs; 0 before anything can be said."""
        values = [self._measure(view["cells"]).value for view in state.views]
        return np.reshape(values, (self.n_models, -1)).mean(axis=1)

    def best(self, state: State) -> int:
        """The model with the largest measure; the first of several."""
        return int(self.measures(state).argmax())

    def choices(self, state: State) -> NDArray[np.intp]:
        """The model that was chosen after each batch."""
        written = state.arrays["choices"].T.ravel()  # batch after batch over the outputs, so that no room is lost
        return written[written >= 0].astype(np.intp)

    def learn_batch(
        self, rows: Rows, targets: Array, weight: Array, state: State, run: Callable[..., Iterator[Any]] = map
    ) -> Array:
        margins = super().learn_batch(rows, targets, weight, state, run)
        if margins.any() or self.params.get("printed"):
            for k, view in enumerate(state.views):  # by its own predictions, before it learned
                self._measure(view["cells"]).update(targets[k % len(targets)] > 0, margins[k], weight)
        self.note_choice(state)
        return margins

    def note_choice(self, state: State) -> None:
        """Choose the model that is read until the next batch."""
        self.choose(state)
        n_batches, (n_outputs, room) = len(self.choices(state)), state.arrays["choices"].shape
        if n_batches == n_outputs * room:
            state.grow(state.sizes["weight"], choice=2 * room)
        state.arrays["choices"][n_batches % n_outputs, n_batches // n_outputs] = self.chosen(state)

    def merge(self, start: State, states: Sequence[State], weights: Sequence[float], again: bool = False) -> State:
        """Measures are those of all rows, the common start's once; the choices are the start's."""
        merged = super().merge(start, states, weights, again)
        if len(states) > 1:
            for k, view in enumerate(merged.views):
                view["cells"][:] = self._joint_cells(*(s.views[k]["cells"] for s in (start, *states)))
            self._choose_merged(merged, start, states)
        return merged

    def _joint_cells(self, *cells: Array) -> Array:
        """start + sum of changes, in cells of one meaning; the order of the shards leaves no trace."""
        all_ = [self._measure(c.copy()) for c in cells]
        ends: tuple[float, ...] = ()
        if self.measure == "average_precision":  # bins of one width, then the top of them and the least weight
            top = max((int(one.cells[0]) for one in all_ if one._has_bins), default=0)
            ends = top, min((one.cells[1] for one in all_ if one.cells[1] > 0), default=0.0)
            for one in all_:
                one._reach(top)
        first, *each = (one.cells for one in all_)
        joint: Array = np.maximum(added(first, each), 0.0)
        joint[: len(ends)] = ends
        return joint

    def _measure(self, cells: Array) -> Any:
        return MEASURES[self.measure](cells=cells)


class ChoosesCosts(BatchClassifier):
    """Base class of estimators whose :meth:`_learner` is a :class:`MeasuredLearner` with a grid of costs.

    Attributes
    ----------
    cost_ : float
        The cost of the positive class in the model that predicts.
    costs_ : ndarray of shape (n_costs,)
        All costs.
    measures_ : ndarray of shape (n_costs,)
        The progressive measure of each cost.
    cost_history_ : ndarray of shape (n_batches,)
        The cost chosen after each batch.
    """

    measure: str = param(
        default="f1",
        rule=one_of(*MEASURES),
        doc="""Measure that chooses the cost. It rates predictions for each batch before the model learns from it, in
        bounded memory: :class:`~thresher.metrics.ProgressiveF1`, :class:`~thresher.metrics.ProgressiveROCAUC`,
        :class:`~thresher.metrics.ProgressiveAveragePrecision`. The first batch does not count, because the model has no
        weights yet. With several classes, one cost is chosen for all of them, by the mean of their measures.""",
    )

    @property
    def _weighs_mistakes(self) -> bool:
        return self.cost is not None and (self._is_lopsided or not (self.cost == 0.5 or isinstance(self.cost, str)))

    def _cost_ratio(self) -> float | None:
        return None if self.cost is None else self._ratio_of_share(self.cost_)

    def _measured(self) -> MeasuredLearner:
        learner = self._learner_now()
        assert isinstance(learner, MeasuredLearner)
        return learner

    @property
    def costs_(self) -> Array:
        """The costs of the models that learn side by side."""
        return np.array([model["cost"] for model in self._measured().grid])

    @property
    def cost_(self) -> float:
        """The cost of the model that predicts."""
        return float(self.costs_[self._measured().chosen(self.state_)])

    @property
    def cost_history_(self) -> Array:
        """The cost of the model chosen after each batch."""
        return self.costs_[self._measured().choices(self.state_)]

    @property
    def measures_(self) -> Array:
        """The progressive measure of each model."""
        return self._measured().measures(self.state_)

    def _check_loaded(self) -> None:
        """Refuse choices and measures of a file that no run can have left."""
        learner, who = self._measured(), type(self).__name__
        written = self.state_.arrays["choices"].T.ravel()
        n = np.count_nonzero(written >= 0)
        if (written[:n] != np.clip(written[:n].round(), 0, learner.n_models - 1)).any() or (written[n:] != -1).any():
            raise ValueError(f"{who}: choices must be numbers of models, one after the other.")
        learner.measures(self.state_)  # looks at the cells
