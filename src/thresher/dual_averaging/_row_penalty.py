"""What multi-task learners have in common: their penalties."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from .._engine import loss_params
from .._estimators import CoupledLearner, MultiTask
from .._gate import Array, Rule, non_negative, one_of, positive

_one_per_feature = Rule(
    "one number of at least 0 per feature", lambda v: isinstance(v, (np.ndarray, list, tuple)) and np.ndim(v) == 1
)
_power = Rule("a number of at least 1, or infinity", lambda v: _is_power(v))

PENALTY_RULES: dict[str, Rule] = {
    "penalty": one_of("l1", "l21", "l1_l21", "lp1"),
    "alpha": non_negative,
    "eta0": positive,
    "p": _power,
    "l1_weight": non_negative | _one_per_feature,
}


def _is_power(v: Any) -> bool:
    return isinstance(v, (int, float, np.integer, np.floating)) and not isinstance(v, bool) and bool(v >= 1)


class PenalisedTasks(MultiTask):
    """A feature is a row of weights, one per task, and the rows are penalised."""

    _core_learner: Any

    penalty: str
    alpha: float
    eta0: float
    p: float
    l1_weight: Any
    loss: str

    def _learner(self, n_features: int) -> CoupledLearner:
        weight, each = self._l1_weights(n_features)
        params = {
            **loss_params(self),
            "penalty": self._penalty_name(),
            "p": 2.0 if math.isinf(self.p) else float(self.p),
            "alpha": float(self.alpha),
            "eta0": float(self.eta0),
            "l1_weight": weight,
            "l1_weights": each,
        }
        return CoupledLearner(type(self)._core_learner, params)

    def _penalty_name(self) -> str:
        """The penalty in the core's words: powers with a closed form have names of their own."""
        if self.penalty != "lp1":
            return self.penalty
        return {1.0: "l1", 2.0: "l21", math.inf: "linf1"}.get(float(self.p), "lp1")

    def _l1_weights(self, n_features: int) -> tuple[float, Array | None]:
        if np.ndim(self.l1_weight) == 0:
            return float(self.l1_weight), None
        who = type(self).__name__
        try:
            weights = np.asarray(self.l1_weight, dtype=np.float64)
        except (TypeError, ValueError):
            raise ValueError(f"{who}: l1_weight must be numbers of at least 0, got {self.l1_weight!r}.") from None
        if len(weights) != n_features:
            raise ValueError(
                f"{who}: l1_weight must have one entry per feature, got {len(weights)} for {n_features} features."
            )
        if not (np.isfinite(weights) & (weights >= 0)).all():
            bad = weights[~(np.isfinite(weights) & (weights >= 0))][0]
            raise ValueError(f"{who}: l1_weight must be numbers of at least 0, got {bad}.")
        return 0.0, np.append(weights, 0.0)
