"""Shares of classes: what each of several scores says of its class."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.special import log_ndtr, ndtr

from .._gate import Array


def shares_of_classes(scores: Array, variances: Array) -> Array:
    """Shares of the classes whose scores, of shape (n_rows, n_outputs), have these variances: with two, the
    probability that the score is above 0; with more, those of each, the variance averaged over them, divided by their
    sum. The largest share is that of the class with the largest score."""
    deviation = np.sqrt(variances.mean(axis=1, keepdims=True))
    with np.errstate(divide="ignore", invalid="ignore"):
        z = np.where(scores == 0, 0.0, scores / deviation)  # no doubt at all: 0 or 1, and 1/2 for a score of 0
    if z.shape[1] == 1:
        return in_favour_of(ndtr(np.hstack([-z, z])), (scores[:, 0] > 0).astype(np.intp))
    logs = log_ndtr(np.maximum(z, -1e100))  # of which the largest is never minus infinity
    shares = np.exp(logs - logs.max(axis=1, keepdims=True))
    return in_favour_of(shares / shares.sum(axis=1, keepdims=True), scores.argmax(axis=1))


def in_favour_of(shares: Array, winner: np.ndarray[Any, Any]) -> Array:
    """Shares whose largest is the winner's: where rounding left it even with another, the other gives way."""
    for i in np.flatnonzero(shares.argmax(axis=1) != winner):
        even = (shares[i] >= shares[i, winner[i]]) & (np.arange(shares.shape[1]) != winner[i])
        shares[i, even] = np.nextafter(shares[i, winner[i]], 0.0)
    return shares


def leads(scores: Array) -> Array:
    """The lead of each class over the best of the others; that of the first of equal ones is 0, too."""
    two = np.partition(scores, -2, axis=1)[:, -2:]
    best = scores.argmax(axis=1)[:, None] == np.arange(scores.shape[1])
    return scores - np.where(best, two[:, :1], two[:, 1:])
