"""Centres by random draws: the inner loop of stochastic K-means."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .._core import learn_prototype
from .._kernels import Array
from ._sweep import Data, Objective, Swept

_STILL = 1e-5  # a centre that moves less stays


@dataclass(frozen=True)
class Draws:
    """Centres learned from rows of their clusters that are drawn with replacement, by adaptive dual averaging from the
    centres before; with the cosine metric, by the hinge loss, and scaled to length 1."""

    objective: Objective
    n_steps: int
    eta0: float
    smoothing: float
    rng: np.random.Generator

    def __call__(self, data: Data, swept: Swept, before: Array) -> Array:
        found = np.zeros_like(before)
        for c, centre in enumerate(before):
            members = np.flatnonzero(swept.labels == c)
            if not len(members):
                continue
            found[c] = centre
            learn_prototype(
                data.rows,
                self._order(members, None if data.weight is None else data.weight[members]),
                found[c],
                self.objective.alpha,
                self.eta0,
                self.smoothing,
                self.objective.cosine,
                0.0 if self.objective.cosine else _STILL,  # a row that is well placed moves nothing
            )
        return self.objective.fit_length(found)

    def _order(self, members: NDArray[np.intp], weight: Array | None) -> NDArray[np.int64]:
        chance = None if weight is None else weight / weight.sum()
        return self.rng.choice(members, size=self.n_steps, p=chance).astype(np.int64)
