"""POOL in NumPy, from its definition: all sums fade eagerly, all features are looked at, all algebra is dense."""

from __future__ import annotations

import math

import numpy as np


class Pool:
    """One class against another. ``A`` holds features in the order in which they came, and always the constant, whose
    column is the last of X."""

    def __init__(self, d, p, C=1.0, forgetting=0.9, kappa=0.5, pool=3, max_inner_iter=10, constant=False, scout=False):
        self.p, self.C, self.gamma, self.kappa, self.max_inner_iter = p, C, forgetting, kappa, max_inner_iter
        self.m, self.add = math.ceil(pool * p), math.ceil(p / 5)
        self.d, self.constant, self.scout = d, constant, scout
        self.A = [d] if constant else []
        self.mean, self.cov = np.zeros(len(self.A)), np.eye(len(self.A))
        self.g, self.h = np.zeros(d), np.zeros(d)
        self.arow_mean, self.arow_var = np.zeros(d + 1), np.ones(d + 1)
        self.n = {1: 1.0, -1: 1.0}

    def features(self):
        return [j for j in self.A if j < self.d]

    def learn(self, X, y, weight=None):
        """One batch; X has the column of the constant (or of zeros) last."""
        weight = np.ones(len(y)) if weight is None else weight
        X, y, weight = X[weight > 0], y[weight > 0], weight[weight > 0]
        for side in (1, -1):
            self.n[side] += weight[y == side].sum()
        kappa = {1: self.kappa, -1: 1 - self.kappa}
        D = np.array([w * kappa[t] * (self.n[1] + self.n[-1]) / self.n[t] for t, w in zip(y, weight, strict=True)])
        if self.scout:
            self.walk(X, y, D)
        g0, h0 = self.gamma * self.g, self.gamma * self.h
        prior_A, prior_mean, prior_cov = list(self.A), self.mean, self.cov
        n_rounds = max(1, math.ceil((self.m - len(self.features())) / self.add))
        for _ in range(n_rounds):
            xi = np.maximum(0, 1 - y * (X[:, self.A] @ self.mean))
            self.g = g0 + self.C * X[:, : self.d].T @ (D * xi * y)
            self.h = h0 + self.C * (X[:, : self.d] ** 2).T @ (D * (xi > 0))
            score = self.arow_mean**2 / self.arow_var if self.scout else self.g**2 / (1 + self.h)
            outside = [j for j in range(self.d) if j not in self.A and score[j] > 0]
            new = sorted(outside, key=lambda j: (-score[j], j))[: self.add]
            self.A = self.A + new
            k = len(self.A) - len(prior_A)
            mean0 = np.concatenate([prior_mean, np.zeros(k)])
            cov0 = np.eye(len(self.A))
            cov0[: len(prior_A), : len(prior_A)] = prior_cov
            self.mean = self.best_mean(X[:, self.A], y, self.C * D, mean0, cov0)
        x = X[:, self.A]
        active = y * (x @ self.mean) < 1
        self.cov = np.linalg.inv(np.linalg.inv(cov0) + self.C * (x[active].T * D[active]) @ x[active])
        self.keep_the_best()

    def walk(self, X, y, D):
        """Diagonal AROW, r = 1 / (C D)."""
        for x, t, D_i in zip(X, y, D, strict=True):
            loss = 1 - t * (self.arow_mean @ x)
            if loss > 0:
                beta = 1 / (self.arow_var @ x**2 + 1 / (self.C * D_i))
                self.arow_mean = self.arow_mean + loss * beta * t * self.arow_var * x
                self.arow_var = self.arow_var - beta * (self.arow_var * x) ** 2

    def best_mean(self, x, y, cost, mean, cov):
        """min (m - mean)' cov^-1 (m - mean) / 2 + sum_i cost_i max(0, 1 - y_i m'x_i)^2 / 2, by Newton's method from
        ``self.mean``; each step as long as the objective allows."""
        precision = np.linalg.inv(cov)
        m = np.concatenate([self.mean, np.zeros(len(mean) - len(self.mean))])

        def objective(m):
            return 0.5 * (m - mean) @ precision @ (m - mean) + 0.5 * cost @ np.maximum(0, 1 - y * (x @ m)) ** 2

        for _ in range(self.max_inner_iter):
            lossy = y * (x @ m) < 1
            bend = precision + (x[lossy].T * cost[lossy]) @ x[lossy]
            aim = np.linalg.solve(bend, precision @ mean + x[lossy].T @ (cost * y)[lossy])
            share = 1.0
            while objective(m + share * (aim - m)) > objective(m) * (1 + 1e-12) and share > 1e-6:
                share /= 2
            m = m + share * (aim - m)
            if share == 1 and np.array_equal(y * (x @ m) < 1, lossy):
                break
        return m

    def keep_the_best(self):
        features = self.features()
        if len(features) > self.m:
            score = dict(zip(self.A, self.mean**2 / np.diag(self.cov), strict=True))
            best = set(sorted(features, key=lambda j: (-score[j], j))[: self.m])
            at = [k for k, j in enumerate(self.A) if j in best or j == self.d]
            self.A = [self.A[k] for k in at]
            self.mean, self.cov = self.mean[at], self.cov[np.ix_(at, at)]

    def output(self):
        """Features in use (the constant too), their means and covariance, by conditional pruning."""
        A, mean, cov = list(self.A), self.mean.copy(), self.cov.copy()
        while sum(j < self.d for j in A) > self.p:
            score = [(mean[k] ** 2 / cov[k, k], -A[k], k) for k in range(len(A)) if A[k] < self.d]
            a = min(score)[2]
            mean = mean - cov[:, a] * mean[a] / cov[a, a]
            cov = cov - np.outer(cov[:, a], cov[a]) / cov[a, a]
            A.pop(a)
            mean, cov = np.delete(mean, a), np.delete(np.delete(cov, a, 0), a, 1)
        return A, mean, cov

    def coef(self):
        A, mean, _ = self.output()
        weights = np.zeros(self.d + 1)
        weights[A] = mean
        return weights
