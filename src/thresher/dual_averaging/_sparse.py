"""What the l1 learners have in common."""

from __future__ import annotations

from typing import Any

from .._linear import OnlineLinear
from .._losses import loss_params
from .._params import Rule, at_least, boolean, none

SPARSE_RULES: dict[str, Rule] = {
    "n_features_to_select": at_least(1) | none,
    "debias": boolean,
    "penalize_intercept": boolean,
}


class SparseLinear(OnlineLinear):
    """A learner whose weights are cut to zero by an l1 penalty."""

    _shorter_steps = "a smaller eta0"

    loss: str
    n_features_to_select: int | None
    debias: bool
    penalize_intercept: bool

    def _sparse_params(self) -> dict[str, Any]:
        """What every compiled l1 learner asks for."""
        return {
            **loss_params(self),
            "n_selected": float(self.n_features_to_select or 0),
            "debias": bool(self.debias),
            "free_constant": not self.penalize_intercept,
        }
