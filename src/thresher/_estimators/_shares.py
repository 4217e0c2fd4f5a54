"""Probabilities of several classes from the score of each."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._gate import Array, special

_MOST = 100  # steps of Newton's method
NEAR = 1e-6  # to 1: what a sum may lack, before the rest is divided out
SHARPEST = 1e-9  # what is left to all other classes


def shares_of_classes(scores: Array, variances: Array) -> Array:
    """Shares of the classes whose scores, of shape (n_rows, n_outputs), have these variances: with two, the
    probability that the score is above 0; with more, those of each, the variance averaged over them, divided by their
    sum. The largest share is that of the class with the largest score."""
    deviation = np.sqrt(variances.mean(axis=1, keepdims=True))
    with np.errstate(divide="ignore", invalid="ignore"):
        z = np.where(scores == 0, 0.0, scores / deviation)  # no doubt at all: 0 or 1, and 1/2 for a score of 0
    if z.shape[1] == 1:
        return in_favour_of(special.ndtr(np.hstack([-z, z])), (scores[:, 0] > 0).astype(np.intp))
    logs = special.log_ndtr(np.maximum(z, -1e100))  # of which the largest is never minus infinity
    shares = np.exp(logs - logs.max(axis=1, keepdims=True))
    return in_favour_of(shares / shares.sum(axis=1, keepdims=True), scores.argmax(axis=1))


def in_favour_of(shares: Array, winner: np.ndarray[Any, Any]) -> Array:
    """Shares in which the winner's is the largest: if rounding made another one equal, that one is lowered."""
    for i in np.flatnonzero(shares.argmax(axis=1) != winner):
        even = (shares[i] >= shares[i, winner[i]]) & (np.arange(shares.shape[1]) != winner[i])
        shares[i, even] = np.nextafter(shares[i, winner[i]], 0.0)
    return shares


def leads(scores: Array) -> Array:
    """The lead of each class over the best of the others; that of the first of equal ones is 0, too."""
    two = np.partition(scores, -2, axis=1)[:, -2:]
    best = scores.argmax(axis=1)[:, None] == np.arange(scores.shape[1])
    return scores - np.where(best, two[:, :1], two[:, 1:])


def adding_up(log_shares: Array) -> Array:
    """Shares that were estimated class by class. Each row is raised to the power at which it adds up to 1.

    Dividing by the sum would take most from a class that is nearly certain, which is the share that is known best.
    """
    log_shares = np.minimum(log_shares, -SHARPEST)
    power = np.ones((len(log_shares), 1))
    left = np.arange(len(log_shares))
    for _ in range(_MOST):  # by Newton's method; the logarithm of the sum is convex in the power, and falls
        logs = log_shares[left]
        parts = np.exp(power[left] * logs)
        total = parts.sum(axis=1, keepdims=True)
        slope = (parts * logs).sum(axis=1, keepdims=True) / total
        step = np.where(np.abs(total - 1) > NEAR, -np.log(total) / slope, 0.0)
        power[left] = np.maximum(power[left] + step, 0.0)
        left = left[step[:, 0] != 0]
        if not len(left):
            break
    shares: Array = np.exp(power * log_shares)
    return shares / shares.sum(axis=1, keepdims=True)
