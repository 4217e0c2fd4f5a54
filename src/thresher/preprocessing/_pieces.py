"""Columns as sparse pieces of rows: hashed texts with their names, and weights of words."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from .. import _core
from .._gate import Text

Array = NDArray[np.float64]
Sparse = tuple[Array, NDArray[np.int32], NDArray[np.int64]]  # values, columns, starts
News = tuple[NDArray[np.int32], list[str]]

MOST_BUCKETS = 1 << 28
_LONGEST_NAME = 60


# --- buckets ---------------------------------------------------------------------------------------------------------


class BucketTexts(NamedTuple):
    """Texts in buckets: for each bucket two fingerprints and whether there were more, and for each fingerprint, in the
    order of appearance, its place (two to a bucket) and its text."""

    fingerprints: NDArray[np.uint32]
    places: NDArray[np.int32]
    names: list[str]


def hash_categories(column: str, values: Text, n_buckets: int, seen: NDArray[np.uint32] | None) -> tuple[Sparse, News]:
    """Each value as one feature of value 1, called ``column=value``."""
    prefix = f"{column}="
    buckets, news = _core.hash_texts(values.offsets, values.data, prefix.encode(), n_buckets, seen)
    return (np.ones(len(buckets)), buckets, np.arange(len(buckets) + 1)), _named(prefix, news)


def hash_words(
    column: str, texts: Text, n_buckets: int, ngrams: int, seen: NDArray[np.uint32] | None
) -> tuple[Sparse, News]:
    """The words of each text and how often they come, called ``column:word``."""
    prefix = f"{column}:"
    counts, buckets, starts, news = _core.hash_words(
        texts.offsets, texts.data, prefix.encode(), n_buckets, ngrams, seen
    )
    return (counts, buckets, starts), _named(prefix, news)


def _named(prefix: str, news: tuple[NDArray[np.int32], NDArray[np.int64], NDArray[np.uint8]]) -> News:
    places, offsets, data = news
    longest = _LONGEST_NAME
    texts = Text(offsets, data).to_list()
    return places, [prefix + (text if len(text) <= longest else text[: longest - 3] + "...") for text in texts]


def bucket_names(seen: NDArray[np.uint32], places: NDArray[np.int32], names: list[str]) -> list[str]:
    """The name of each bucket: its texts, ``...`` if there were more than two, and its number if there was none."""
    found: list[list[str]] = [[] for _ in range(len(seen))]
    for i in np.argsort(places, kind="stable").tolist():
        found[int(places[i]) // 2].append(names[i])
    for bucket in np.flatnonzero(seen[:, 2]).tolist():
        found[bucket].append("...")
    return [" | ".join(texts) if texts else f"bucket {bucket}" for bucket, texts in enumerate(found)]


# --- words -----------------------------------------------------------------------------------------------------------


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
    return values / np.repeat(np.sqrt(squares), lengths[full])
