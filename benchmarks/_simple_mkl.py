"""SimpleMKL (Rakotomamonjy et al. 2008) as one would write it on scikit-learn: the peer of the mkl section."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from sklearn.svm import SVC

_GOLDEN = (np.sqrt(5) - 1) / 2


class Found(NamedTuple):
    theta: Any
    gap: float
    n_svm: int


class _Machines:
    def __init__(self, K: Any, y: Any, C: float) -> None:
        self.K, self.y, self.C, self.n_svm, self.lower = K, y, C, 0, -np.inf
        self.precision = 0.1  # of line searches; finer when they get nowhere, as in the authors' toolbox

    def solve(self, theta: Any) -> tuple[float, Any, float]:
        """J, its gradient and its distance from the best lower bound so far, at weights of the simplex."""
        self.n_svm += 1
        used = np.flatnonzero(theta)
        svm = SVC(C=self.C, kernel="precomputed", tol=1e-4).fit(np.tensordot(theta[used], self.K[used], 1), self.y)
        x = np.zeros(len(self.y))
        x[svm.support_] = svm.dual_coef_[0]
        energies = 0.5 * ((self.K.reshape(-1, len(x)) @ x).reshape(len(theta), -1) @ x)
        total = np.abs(x).sum()
        value = total - theta @ energies
        self.lower = max(self.lower, total - energies.max())
        return value, -energies, value - self.lower


def simple_mkl(K: Any, y: Any, C: float, gap: float, most: int = 5000) -> Found:
    machines = _Machines(K, y, C)
    theta = np.full(len(K), 1 / len(K))
    value, gradient, distance = machines.solve(theta)
    while distance > gap * value and machines.n_svm < most:
        theta, value, gradient, distance = _step(machines, theta, value, gradient, distance)
    return Found(theta, distance / value, machines.n_svm)


def _direction(theta: Any, gradient: Any) -> Any:
    """The reduced gradient with respect to the largest weight."""
    top = int(theta.argmax())
    way = gradient[top] - gradient
    way[(theta <= 0) & (way < 0)] = 0.0
    way[top] = 0.0
    way[top] = -way.sum()
    return way


def _longest(theta: Any, way: Any) -> tuple[float, int]:
    down = np.flatnonzero(way < 0)
    ratios = -theta[down] / way[down]
    return float(ratios.min()), int(down[ratios.argmin()])


def _step(machines: Any, theta: Any, value: float, gradient: Any, distance: float) -> Any:
    way = _direction(theta, gradient)
    if not (way < 0).any():
        raise RuntimeError("SimpleMKL has nowhere to go.")
    start, longest, cost = theta, 0.0, -np.inf
    while True:  # as far as weights that reach 0 on the way are still worth dropping
        longest, first = _longest(start, way)
        trial = np.maximum(start + longest * way, 0.0)
        trial[first] = 0.0
        cost, *_ = machines.solve(trial / trial.sum())
        if cost >= value:
            break
        start, value = trial / trial.sum(), cost
        way = way.copy()
        way[int(start.argmax())] += way[first]
        way[first] = 0.0
        if not (way < 0).any():
            break
    low, high = 0.0, longest
    left, right = high - _GOLDEN * (high - low), low + _GOLDEN * (high - low)
    at = {t: machines.solve(np.maximum(start + t * way, 0.0))[0] for t in (left, right)}
    while high - low > machines.precision * longest:  # golden section
        if at[left] < at[right]:
            high, right, left = right, left, right - _GOLDEN * (right - low)
            at[left] = machines.solve(np.maximum(start + left * way, 0.0))[0]
        else:
            low, left, right = left, right, left + _GOLDEN * (high - left)
            at[right] = machines.solve(np.maximum(start + right * way, 0.0))[0]
    best = min(at, key=lambda t: at[t])
    if at[best] >= value * (1 - 1e-5):
        machines.precision /= 10
    end = np.maximum(start + (best if at[best] < value else 0.0) * way, 0.0)
    end /= end.sum()
    return end, *machines.solve(end)
