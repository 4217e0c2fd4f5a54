"""AROW-K, as its page says: AROW on all features chooses, a second AROW on the chosen ones predicts."""

from __future__ import annotations

import numpy as np


class Belief:
    """A mean and a variance of each weight."""

    def __init__(self, n):
        self.mu, self.s = np.zeros(n), np.ones(n)

    def score(self, x, active):
        return self.mu[active] @ x[active]

    def learn(self, x, y, active, inertia):
        loss = 1 - y * self.score(x, active)
        if loss <= 0:
            return
        v = np.sum(self.s[active] * x[active] ** 2)
        beta = 1 / (v + inertia)
        self.mu[active] += loss * beta * y * self.s[active] * x[active]
        self.s[active] -= beta * (self.s[active] * x[active]) ** 2


def largest(order, k, among):
    """A mask of the k largest of those ``among``, without those tied with the next one; all, if there are no more."""
    values = np.sort(order[among])[::-1]
    return order > values[k] if len(values) > k else np.ones(len(order), bool)


def arow_k(X, y, *, k, r, relative=False, weight=None, constant=1.0):
    """After each row: the score before it, the weights that predict (the constant last), and both beliefs."""
    X = np.hstack([X, np.full((len(X), 1), constant)])
    n = X.shape[1]
    scout, second = Belief(n), Belief(n)
    everything, level = np.ones(n, bool), -1.0
    t, squares = 0, 0.0
    for i, (x, label) in enumerate(zip(X, y, strict=True)):
        w = 1.0 if weight is None else weight[i]
        active = scout.mu**2 / scout.s > level
        active[-1] = True
        score = second.score(x, active)
        if w > 0:
            t += 1
            squares += np.sum(x[:-1] ** 2)
            inertia = (r * squares / t if relative else r) / w
            if inertia > 0:
                second.learn(x, label, active, inertia)
                scout.learn(x, label, everything, inertia)
            if t >= 64 and (t & (t - 1)) == 0:
                order = np.sort((scout.mu**2 / scout.s)[:-1])[::-1]
                level = (order[k - 1] + order[k]) / 2 if np.count_nonzero(order) > k else -1.0
        order = scout.mu[:-1] ** 2 / scout.s[:-1]
        used = np.append(largest(order, k, (scout.mu[:-1] != 0) & (second.mu[:-1] != 0)), True)
        yield score, np.where(used, second.mu, 0.0), scout, second
