"""The penalty that couples groups, in the form that Newton's method needs."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy import linalg

from .._gate import Array
from ..solvers import group_square, group_square_conjugate
from ._group_search import Group

_MOST_STEPS = 20_000
_STILL = 1e-15  # change of a step, relative to the weights, that ends the search


class GroupPrior:
    """R(m) = Omega(u - u0) + (u_c - u0_c)^2 / 2 with u = L_k' m_k for each group and u_c = root m_c for the constant,
    which comes last; Omega as in :func:`~thresher.solvers.group_square`."""

    def __init__(self, groups: Sequence[Group], constant_root: float, centre: Array, sigma: float) -> None:
        sizes = [len(group.ids) for group in groups]
        self.sigma, self.labels = sigma, np.repeat(np.arange(len(groups)), sizes)
        self.whiten = linalg.block_diag(*(group.root.T for group in groups), [[constant_root]])
        self.colour: Array = linalg.solve_triangular(self.whiten, np.eye(len(self.whiten)), check_finite=False)
        self.centre: Array = self.whiten @ centre

    def value(self, m: Array) -> float:
        away = self.whiten @ m - self.centre
        return group_square(away[:-1], self.labels, self.sigma) + 0.5 * float(away[-1]) ** 2

    def excess(self, m: Array, pull: Array) -> float:
        z, u0 = self.colour.T @ pull, self.centre
        conjugate = group_square_conjugate(z[:-1], self.labels, self.sigma, u0[:-1])[0]
        return self.value(m) + conjugate + float(z[-1] * (0.5 * z[-1] + u0[-1]) - m @ pull)

    def best(self, m: Array, pull: Array, bend: Array) -> Array:
        """By accelerated proximal steps, begun anew whenever they go uphill; the width is that of the choice."""
        A, z, here = self.colour.T @ bend @ self.colour, self.colour.T @ pull, self.whiten @ m
        steep = float(np.linalg.eigvalsh(A)[-1])
        if steep <= 0:
            moved = group_square_conjugate(z[:-1], self.labels, self.sigma)[1]
            return self._weights(self.centre + np.append(moved, z[-1]))
        u = ahead = here
        momentum, n_still = 1.0, 0
        for _ in range(_MOST_STEPS):
            step = self._prox(ahead + (z - A @ (ahead - here)) / steep, steep)
            if (ahead - step) @ (step - u) > 0:
                momentum = 1.0
            faster = 0.5 * (1.0 + np.sqrt(1.0 + 4.0 * momentum**2))
            ahead = step + (momentum - 1.0) / faster * (step - u)
            n_still = n_still + 1 if np.abs(step - u).max() <= _STILL * np.abs(u).max() else 0
            u, momentum = step, faster
            if n_still == 2:
                break
        return self._weights(u)

    def _weights(self, u: Array) -> Array:
        weights: Array = self.colour @ u
        return weights

    def reach(self, pull: Array) -> float:
        """The length of a group's pull up to which it would stay at its means: the sum of the lengths of the others."""
        w = group_square_conjugate((self.colour.T @ pull)[:-1], self.labels, self.sigma)[1]
        return float(np.sqrt(np.bincount(self.labels, w * w)).sum())

    def _prox(self, u: Array, steep: float) -> Array:
        """argmin_x R(x) + steep |x - u|^2 / 2."""
        away = steep * (u - self.centre)
        moved = group_square_conjugate(away[:-1], self.labels, self.sigma + steep)[1]
        best: Array = self.centre + np.append(moved, away[-1] / (1.0 + steep))
        return best
