"""Rows in shards, asked by rounds in this process, and the conditions that the answers must meet."""

from __future__ import annotations

import itertools

import numpy as np
from scipy import sparse

from thresher._engine import ShardFacts, join, one_blas_thread


def run_round(estimator, facts, batches):
    """One round over batches ``(X, y, weight)`` in this process; returns what the round does."""
    batches, steps, total = list(batches), estimator._round(facts), None
    with one_blas_thread():
        while True:
            try:
                question = steps.send(total)  # None begins
            except StopIteration as end:
                return bool(end.value)
            total = None
            for X, y, weight in batches:
                total = join(question, total, question.answer(X, y, weight))


def begun(model, n_features, classes):
    """As a learner is before the first round."""
    nothing = np.zeros((1, n_features))
    return model.partial_fit(nothing, np.asarray(classes)[:1], classes=classes, sample_weight=[0.0])


def play(model, X, y, weight=None, cuts=(), n_rounds=1):
    """Rounds over the rows in shards that begin at ``cuts``; sparse shards lose the columns behind their last one."""
    X, y = (X if sparse.issparse(X) else np.asarray(X)), np.asarray(y)
    if not hasattr(model, "state_"):
        begun(model, X.shape[1], np.unique(y))
    ends = [0, *cuts, len(y)]
    shards = [slice(a, b) for a, b in itertools.pairwise(ends)]
    batches = [(narrow(X[some]), y[some], None if weight is None else weight[some]) for some in shards]
    for _ in range(n_rounds):
        run_round(model, ShardFacts(len(y), X.shape[1], np.unique(y)), batches)
    return model


def narrow(X):
    if not sparse.issparse(X) or not X.nnz:
        return X
    return X[:, : X.indices.max() + 1]


def slope_of_squares(m, X, y, cost, P, centre):
    """Of (m - c)'P(m - c) / 2 + sum_i cost_i max(0, 1 - y_i m'x_i)^2 / 2: zero at its only minimum."""
    slack = np.maximum(0, 1 - y * (X @ m))
    return P @ (m - centre) - X.T @ (cost * slack * y)


def hinge_value(m, X, y, cost, P, centre):
    return 0.5 * (m - centre) @ P @ (m - centre) + cost @ np.maximum(0, 1 - y * (X @ m))
