"""Coupled simulated annealing, one state and one coordinate after the other. Jumutc (2016), section 9 of the spec.

Draws, in order: for each step the numbers of the moves, state by state and coordinate by coordinate, then one number
per state for its acceptance.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from math import atan, exp, pi, tan

import numpy as np

Array = np.ndarray


def coupled_annealing(
    energy: Callable[[Array], float],
    starts: Array,
    rng: np.random.Generator,
    *,
    move: float,
    steps_per_level: int,
    temperature: float,
    a: float = 0.05,
) -> Iterator[tuple[Array, Array, float]]:
    """For ever: after each step the probes, the states and the acceptance temperature."""
    x = [list(start) for start in starts]
    m, d = len(x), len(x[0])
    E = [energy(np.array(state)) for state in x]
    k, step = 1, 0
    while True:
        probes = []
        for i in range(m):
            u = rng.random(d)
            probes.append([x[i][j] + truncated_cauchy(u[j], move / k, -x[i][j], 1 - x[i][j]) for j in range(d)])
        found = [energy(np.array(probe)) for probe in probes]
        u = rng.random(m)
        weight = [exp((E[i] - max(E)) / temperature) for i in range(m)]
        A = [weight[i] / sum(weight) for i in range(m)]
        for i in range(m):
            if found[i] < E[i] or A[i] > u[i]:
                x[i], E[i] = probes[i], found[i]
        sigma2 = sum(p**2 for p in A) / m - 1 / m**2
        temperature *= (1 - a) if sigma2 < 0.99 * (m - 1) / m**2 else (1 + a)
        step += 1
        if step % steps_per_level == 0:
            k += 1
        yield np.array(probes), np.array(x), temperature


def truncated_cauchy(u: float, scale: float, low: float, high: float) -> float:
    """The value below which a Cauchy variable of this scale, known to lie between low and high, falls with chance u."""

    def F(t: float) -> float:
        return 0.5 + atan(t / scale) / pi

    p = F(low) + u * (F(high) - F(low))
    return scale * tan(pi * (p - 0.5))
