"""The mean of the models after each round, in which later rounds count more."""

from __future__ import annotations

from copy import copy
from typing import Any

import numpy as np

from .._engine import Sums


def averages(learner: Any, mode: str, asked: bool | str) -> bool:
    """Whether rounds end with a mean; a request for one is refused if the learner has none."""
    can = mode == "passes" and can_average(learner)
    if asked == "auto":
        return can and bool(getattr(learner, "_wanders", False))
    if asked and not can:
        why = "sums have nothing to average" if mode == "sums" else "its weights are not merged by averages"
        if _averages_itself(learner):
            why = "it averages its steps itself"
        raise ValueError(f"fit: average must be False for {type(learner).__name__}, as {why}, got True.")
    return bool(asked)


def can_average(learner: Any) -> bool:
    """Whether a learner's weights are merged by averages, and it does not average its steps itself."""
    state = getattr(learner, "state_", None)
    return state is not None and bool(averaged(state)) and not _averages_itself(learner)


def _averages_itself(learner: Any) -> bool:
    return bool(learner._learner_now().params.get("average", False))


def averaged(state: Any) -> list[str]:
    return [field.name for field in state.fields if field.merge == "mean" and field.axes.startswith("weight")]


class Average:
    """The mean of learners, added one after the other; each costs one read of its weights.

        mean_n = sum_r r w_r / sum_r r = mean_{n-1} + (w_n - mean_{n-1}) 2 / (n + 1)

    so that what the first rounds had not learned yet is forgotten.   Shamir and Zhang, ICML (2013): polynomial decay.

    Only weights are averaged, mini-batches closed as in merging. Clocks and counts are those of the last one; features
    beyond the number to select are left out of the mean when it is asked for, not before. With arrays of
    :meth:`to_keep`, it continues from these.
    """

    def __init__(self, kept: Sums | None = None) -> None:
        self._means = {name: np.array(each) for name, each in (kept or {}).items() if name != "n"}
        self.n = 0 if kept is None else int(kept["n"])

    def add(self, learner: Any) -> None:
        """Add a model to the mean. Features that earlier models had not met have weight 0 there."""
        state = self._settled(learner)
        self.n += 1
        share = 2 / (self.n + 1)
        for name in averaged(state):
            now = np.array(state.arrays[name])
            mean = self._as_wide(name, state) if self.n > 1 else now
            self._means[name] = mean + (now - mean) * share

    def result(self, last: Any) -> Any:
        """The mean as a learner: a copy of the last one with other weights."""
        if self.n == 0:
            raise ValueError("Average: there is no mean before a model was added.")
        if self.n == 1:
            return last
        made, state = copy(last), self._settled(last)
        for name in self._means:
            state.arrays[name][...] = self._as_wide(name, state)
        last._learner_now().rebuild(state)
        made.state_, made._weights_cache = state, None
        return made

    def to_keep(self) -> Sums:
        """The arrays that a checkpoint keeps beside the last model."""
        return {**self._means, "n": np.array(float(self.n))}

    @staticmethod
    def _settled(learner: Any) -> Any:
        state = learner.state_.copy()
        learner._learner_now().settle(state)
        return state

    def _as_wide(self, name: str, state: Any) -> Any:
        """A mean with room for features that the state has met since; the constant stays last."""
        mean, shape = self._means[name], state.arrays[name].shape
        if mean.shape == shape:
            return mean
        field = next(f for f in state.fields if f.name == name)
        grown = np.zeros(shape)
        places = [np.arange(mean.shape[0])]
        for axis, n, wide in zip(field.axes.split(), mean.shape[1:], shape[1:], strict=True):
            places.append(np.r_[: n - 1, wide - 1] if axis == "weight" else np.arange(n))
        grown[np.ix_(*places)] = mean
        return grown
