"""What the l1 learners have in common."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from .._engine import Learner, loss_params
from .._gate import Array, Log, Range, Rule, at_least, boolean, none
from ._synchronous import Synchronous

N_PENALTIES = 13  # of "auto": two in a decade of the usual six

SPARSE_RULES: dict[str, Rule] = {
    "n_features_to_select": at_least(1) | none,
    "debias": boolean,
    "penalize_intercept": boolean,
}


class SparseLinear(Synchronous):
    """A learner whose weights are cut to zero by an l1 penalty."""

    _shorter_steps = "a smaller eta0"

    _search_space: ClassVar[dict[str, Range]]

    loss: str
    n_features_to_select: int | None
    debias: bool
    penalize_intercept: bool

    def _sparse_learner(self, core: Any, **params: float) -> Learner:
        """The compiled learner, or with an automatic penalty the learners of a whole path."""
        shared = {**self._sparse_params(), **params}
        if getattr(self, self._penalty) != "auto":
            return Learner(core, {**shared, self._penalty: float(getattr(self, self._penalty))})
        if self.n_features_to_select is not None:
            raise ValueError(
                f"{type(self).__name__}: {self._penalty} must be a number when n_features_to_select is given, "
                'got "auto".'
            )
        path = tuple({self._penalty: penalty} for penalty in self._penalties().tolist())
        return Learner(core, {**shared, **path[0]}, grid=path)

    def _penalties(self) -> Array:
        """What an automatic penalty is chosen from: the range worth tuning, evenly on a logarithmic scale."""
        span = self._search_space[self._penalty]
        assert isinstance(span, Log)
        penalties: Array = np.geomspace(span.low, span.high, N_PENALTIES)
        return penalties

    @property
    def penalty_(self) -> float:
        """The strength of the l1 penalty: of several, the one with the least progressive loss so far."""
        learner = self._learner_now()
        number: float = (learner.grid[learner.chosen(self.state_)] if learner.grid else learner.params)[self._penalty]
        return number

    @property
    def path_(self) -> dict[str, Array]:
        """Of every penalty that learns: its strength, its progressive loss, and the number of features in use."""
        learner = self._learner_now()
        used = [learner.weights(self.state_, k)[:, :-1].any(axis=0).sum() for k in range(learner.n_models)]
        penalties = [each[self._penalty] for each in learner.grid or (learner.params,)]
        return {
            "penalty": np.asarray(penalties, dtype=float),
            "progressive_loss": learner.progressive_losses(self.state_),
            "n_features": np.asarray(used, dtype=float),
        }

    def _sparse_params(self) -> dict[str, Any]:
        """What every compiled l1 learner asks for."""
        return {
            **loss_params(self),
            "n_selected": float(self.n_features_to_select or 0),
            "debias": bool(self.debias),
            "free_constant": not self.penalize_intercept,
        }
