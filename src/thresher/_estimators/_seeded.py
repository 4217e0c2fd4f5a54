"""Linear classifiers that draw by chance: the state keeps a seed for each output, and a draw is a function of it."""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import _engine
from .._engine import Learner, State
from ._declared import param
from ._linear import LinearClassifier

_WHOLE = 2.0**53  # up to here, every whole number is a float64
_SEEDS = 2**40  # so that those of thousands of shards add up exactly


class SeededClassifier(LinearClassifier):
    """Base class: draws the seeds when learning begins."""

    n_steps: int | None = param(
        default=None, doc="Make this many steps of one row each (:math:`T`) instead of ``max_iter`` passes."
    )
    random_state: Any = param(
        default=None,
        doc="""Seed of the visiting orders and of all random draws. The first call of :meth:`fit` or :meth:`partial_fit`
        draws the seeds and keeps them in ``state_``, and so in model files. All later draws follow from them, however
        the rows are split into batches.""",
    )

    def _new_state(self, learner: Learner, n_features: int, n_outputs: int) -> State:
        state = super()._new_state(learner, n_features, n_outputs)
        seeds = _engine.generator(self.random_state).integers(_SEEDS, size=n_outputs)
        state.arrays["seed"][:, 0] = np.tile(seeds, learner.n_models)  # candidates differ in nothing but their step
        return state

    def _check_counts(self, *names: str) -> None:
        """Refuse arrays of a loaded state that do not hold whole numbers."""
        for name in names:
            a = self.state_.arrays[name]
            if not ((a >= 0) & (a <= _WHOLE) & (a == np.floor(a))).all():
                raise ValueError(f"{type(self).__name__}: {name} must hold whole numbers from 0 to 2^53.")
