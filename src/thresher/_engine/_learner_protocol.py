"""The interface of learners, for any rule and any place where they run."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from .._core import Rows
from .._gate import Array
from ._learner import Learner
from ._lesson import Lesson, PassResult
from ._state import Field, State
from ._target import Target


class LearnerProtocol(Protocol):
    """A rule that changes a state when it sees rows. It holds nothing that was learned."""

    def fields(self) -> list[Field]:
        """The arrays that make up its state."""

    def new_state(self, n_features: int, n_outputs: int = 1) -> State:
        """The state before the first row."""

    def room(self, n_features: int, target: Target) -> dict[str, int]:
        """The sizes that rows of this width, with these targets, ask of a state."""

    def learn(self, lesson: Lesson, state: State) -> PassResult:
        """One pass over all outputs: predict each row, then learn from it."""

    def scores(self, rows: Rows, state: State) -> Array:
        """Scores of shape ``(n_rows, n_outputs)``."""

    def weights(self, state: State, model: int | None = None) -> Array:
        """All weights, shape ``(n_outputs, n_features + 1)``, that of the constant feature last."""

    def finish(self, state: State) -> None:
        """Close an unfinished mini-batch."""

    def settle(self, state: State) -> None:
        """Bring lazy state to the form in which it merges."""

    def rebuild(self, state: State) -> None:
        """Recompute what is derived from the rest of the state."""

    def merge(self, start: State, states: Sequence[State], weights: Sequence[float], again: bool = False) -> State:
        """One state from those that shards reached from a common start."""


_: type[LearnerProtocol] = Learner  # type checkers compare the two
