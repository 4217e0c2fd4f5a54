"""Counts of words to weights of words."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ._pieces import Sparse

Array = NDArray[np.float64]


def weighted(counts: Sparse, words: str, n_texts: int, texts_with: Array, normalize: bool) -> Sparse:
    """Each row's counts as they are, as 1, or as 1 + log(count); times the inverse document frequency, if texts were
    counted for it; scaled to length 1."""
    values, buckets, starts = counts
    if words != "count":
        values = np.ones_like(values) if words == "binary" else 1 + np.log(values)
    if len(texts_with):
        values = values * (np.log((1 + n_texts) / (1 + texts_with[buckets])) + 1)
    return _unit_rows(values, starts) if normalize else values, buckets, starts


def _unit_rows(values: Array, starts: NDArray[np.int64]) -> Array:
    """Each row scaled to length 1; an empty one stays empty."""
    lengths = np.diff(starts)
    full = lengths > 0
    squares = np.add.reduceat(values**2, starts[:-1][full]) if full.any() else np.empty(0)
    unit: Array = values / np.repeat(np.sqrt(squares), lengths[full])
    return unit


def looks_like_prose(values: list[str]) -> bool:
    """Five words or more on average, and most texts different: prose and not the name of a category."""
    texts = [value for value in values if value]
    if not texts:
        return False
    n_words = sum(len(value.split()) for value in texts) / len(texts)
    return n_words >= 5 and len(set(texts)) > len(texts) / 2
