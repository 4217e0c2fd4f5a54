"""Groups of features chosen from whole batches, as Tan et al. (2016) and Liu et al. (2019) mean it: all covariances in
one matrix, symmetric roots, sums taken anew at every step."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from scipy.optimize import brentq

from .online import Array


def omega(w: Array, groups: list[Array], sigma: float) -> float:
    return sigma / 2 * w @ w + sum(np.linalg.norm(w[g]) for g in groups) ** 2 / 2


def gradient_of_conjugate(z: Array, groups: list[Array], sigma: float) -> Array:
    """argmax_w <w, z> - omega(w): all |w_k| = (|z_k| - S)_+ / sigma, and S is their sum."""
    a = np.array([np.linalg.norm(z[g]) for g in groups])
    w = np.zeros_like(z)
    if not a.any():
        return w
    S = brentq(lambda S: np.maximum(0, a - S).sum() / sigma - S, 0, a.sum() / sigma + 1, xtol=1e-16, rtol=1e-15)
    for g, length in zip(groups, a, strict=True):
        if length > S:
            w[g] = (length - S) / sigma * z[g] / length
    return w


@dataclass
class Problem:
    """min_w omega(w - w0) over the groups + |w - w0|^2 / 2 over the free columns + (C / q) sum_i D_i slack_i^q."""

    X: Array
    y: Array
    D: Array
    groups: list[Array]
    free: Array
    w0: Array
    C: float
    sigma: float
    squared: bool
    ridge: float

    def weights(self, a: Array) -> Array:
        z = self.C * (a * self.y) @ self.X
        w = gradient_of_conjugate(z, self.groups, self.sigma)
        w[self.free] = z[self.free]
        return self.w0 + w

    def slope(self, a: Array, i: int) -> float:
        return 1 - self.y[i] * self.X[i] @ self.weights(a) - self.ridge * a[i] / self.D[i]

    def step(self, a: Array, i: int, kind: str) -> float:
        """The new a_i."""
        inside = np.concatenate(self.groups) if self.groups else np.empty(0, int)
        v_in, v_out = (self.X[i, inside] ** 2).sum(), (self.X[i, self.free] ** 2).sum()
        if v_in + v_out == 0:
            return self.D[i]
        top = np.inf if self.squared else self.D[i]
        if kind == "exact":

            def slope(value: float) -> float:
                return self.slope(np.where(np.arange(len(a)) == i, value, a), i)

            end = self.D[i]
            while self.squared and slope(end) > 0:
                end *= 2
            if slope(0.0) <= 0:
                return 0.0
            if slope(end) >= 0:
                return end
            return brentq(slope, 0, end, xtol=1e-15, rtol=1e-15)
        curve = self.C * (v_out + v_in / (self.sigma if kind == "safe" else 1))
        return float(np.clip(a[i] + self.slope(a, i) / (curve + self.ridge / self.D[i]), 0, top))

    def ascend(self, a: Array, kind: str, max_inner_iter: int) -> None:
        for _ in range(max_inner_iter):
            for i in range(len(a)):
                a[i] = self.step(a, i, kind)

    def primal(self, w: Array) -> float:
        slack = np.maximum(0, 1 - self.y * (self.X @ w))
        loss = self.C * self.D @ (slack**2 / 2 if self.squared else slack)
        inside, outside = w - self.w0, (w - self.w0)[self.free]
        inside[self.free] = 0
        return omega(inside, self.groups, self.sigma) + outside @ outside / 2 + loss


def bcw(
    X: Array, y: Array, cost: Array, mean: Array, covariance: Array, C: float, squared: bool, max_inner_iter: int
) -> Array:
    """The mean after a batch: section 1, centred at the last mean, with the covariance after the batch."""
    after = np.linalg.inv(np.linalg.inv(covariance) + C * X.T @ X)
    a, mean = np.zeros(len(y)), mean.copy()
    for _ in range(max_inner_iter):
        for i, x in enumerate(X):
            v = x @ after @ x
            if v == 0:
                continue
            ridge = 1 / cost[i] if squared else 0.0
            new = max(0.0, a[i] + (1 - y[i] * mean @ x - ridge * a[i]) / (v + ridge))
            new = new if squared else min(new, cost[i])
            mean += (new - a[i]) * y[i] * after @ x
            a[i] = new
    return mean


@dataclass
class Sbcw:
    """One output. The constant, if any, is the last entry of all vectors."""

    d: int
    p: int
    r: int
    C: float = 0.1
    sigma: float = 1.0
    squared: bool = True
    ranking: str = "diagonal"
    step: str = "corrected"
    max_inner_iter: int = 1
    constant: float = 0.0
    positive_cost: float | None = None
    balanced: bool = False
    keep: bool = False
    faithful: bool = False
    mean: Array = field(init=False)
    coef: Array = field(init=False)
    group_coef: Array = field(init=False)
    covariance: Array = field(init=False)
    groups: list[Array] = field(init=False, default_factory=list)
    objectives: list[float] = field(init=False, default_factory=list)

    def __post_init__(self) -> None:
        self.mean, self.coef, self.covariance = np.zeros(self.d + 1), np.zeros(self.d + 1), np.eye(self.d + 1)
        self.n_seen = np.ones(2)  # weights of negative and positive rows, and one row of each

    def learn(self, X: Array, y: Array, weight: Array | None = None) -> None:
        n, C = len(y), self.C
        D = np.ones(n) if weight is None else weight.copy()
        if self.positive_cost is not None:
            n_of = np.array([1.0, 1.0])
            if self.balanced:
                self.n_seen += [D[y < 0].sum(), D[y > 0].sum()]
                n_of = self.n_seen / self.n_seen.sum()
            D = D * np.where(y > 0, self.positive_cost / n_of[1], (1 - self.positive_cost) / n_of[0])
        X = np.hstack([X, np.full((n, 1), self.constant)])
        groups: list[Array] = [np.array([self.d])] if self.constant else []  # first, and free
        a = np.full(n, 1 / n) if self.faithful else D.copy()
        self.objectives, n_chosen = [], 0
        while n_chosen < self.p:
            new = self._best(X, (1 if self.faithful else C) * a * y, groups, min(self.r, self.p - n_chosen))
            if not len(new):
                break
            groups.append(new)
            n_chosen += len(new)
            roots, problem = self._problem(X, y, D, groups)
            if self.faithful:
                a[:] = 0
            problem.ascend(a, self.step, self.max_inner_iter)
            w = problem.weights(a)
            self.objectives.append(problem.primal(w))
        self._finish(X, y, D, groups, roots, w)

    def _best(self, X: Array, pull: Array, groups: list[Array], n: int) -> Array:
        s = pull @ X
        if self.ranking == "full":
            after = np.linalg.inv(np.linalg.inv(self.covariance[:-1, :-1]) + self.C * X[:, :-1].T @ X[:, :-1])
            moved = np.append(after @ s[:-1], 0)
        elif self.ranking == "diagonal":
            moved = s / (1 / np.diag(self.covariance) + self.C * (X**2).sum(axis=0))
        else:
            moved = s
        m = s * moved + 2 * self.mean * s
        taken = {int(j) for g in groups for j in g} | {self.d}
        left = [j for j in range(self.d) if j not in taken and X[:, j].any()]
        return np.array(sorted(left, key=lambda j: (-m[j], j))[:n], dtype=int)

    def _problem(self, X: Array, y: Array, D: Array, groups: list[Array]) -> tuple[list[Array], Problem]:
        roots, columns, w0, places, at = [], [], [], [], 0
        for g in groups:
            P = np.linalg.inv(self.covariance[np.ix_(g, g)]) + self.C * X[:, g].T @ X[:, g]
            values, vectors = np.linalg.eigh(P)
            roots.append(vectors / np.sqrt(values) @ vectors.T)
            columns.append(X[:, g] @ roots[-1])
            w0.append(np.linalg.solve(roots[-1], self.mean[g]))
            places.append(np.arange(at, at + len(g)))
            at += len(g)
        free = places[0] if self.constant else np.empty(0, int)
        inside = places[1:] if self.constant else places
        ridge = (0.5 if self.faithful else 1.0) * self.squared
        given = (np.hstack(columns), y, D, inside, free, np.concatenate(w0), self.C, self.sigma, self.squared, ridge)
        return roots, Problem(*given)

    def _finish(self, X: Array, y: Array, D: Array, groups: list[Array], roots: list[Array], w: Array) -> None:
        chosen = np.concatenate(groups)
        prior = self.covariance[np.ix_(chosen, chosen)]
        mean = self.mean.copy() if self.keep else np.zeros(self.d + 1)
        coef = self.coef.copy() if self.keep else np.zeros(self.d + 1)
        coef[chosen] = bcw(
            X[:, chosen], y, self.C * D, self.mean[chosen], prior, self.C, self.squared, self.max_inner_iter
        )  # the refit
        covariance, at = self.covariance.copy(), 0
        for g, root in zip(groups, roots, strict=True):
            covariance[g], covariance[:, g] = 0, 0
            covariance[np.ix_(g, g)] = root @ root.T
            mean[g] = root @ w[at : at + len(g)]
            at += len(g)
        self.mean, self.coef, self.covariance = mean, coef, covariance
        self.groups = groups[1:] if self.constant else groups
