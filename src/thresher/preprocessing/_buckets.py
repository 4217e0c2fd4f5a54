"""Hashed features with names: the first two texts of each bucket are remembered."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from .. import _core
from .._gate import Text
from ._pieces import Sparse

News = tuple[NDArray[np.int32], list[str]]

MOST_BUCKETS = 1 << 28
_LONGEST_NAME = 60


class BucketTexts(NamedTuple):
    """Texts in buckets: for each bucket two fingerprints and whether there were more, and for each fingerprint, in the
    order of appearance, its place (two to a bucket) and its text."""

    fingerprints: NDArray[np.uint32]
    places: NDArray[np.int32]
    names: list[str]


def empty(n_buckets: int) -> NDArray[np.uint32]:
    """For each bucket two fingerprints and whether more texts fell into it; nothing seen yet."""
    return np.zeros((n_buckets, 3), dtype=np.uint32)


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
    return places, [prefix + _short(text) for text in Text(offsets, data).to_list()]


def _short(text: str) -> str:
    return text if len(text) <= _LONGEST_NAME else text[: _LONGEST_NAME - 3] + "..."


def bucket_names(seen: NDArray[np.uint32], places: NDArray[np.int32], names: list[str]) -> list[str]:
    """The name of each bucket: its texts, ``...`` if there were more than two, and its number if there was none."""
    found: list[list[str]] = [[] for _ in range(len(seen))]
    for i in np.argsort(places, kind="stable").tolist():
        found[int(places[i]) // 2].append(names[i])
    for bucket in np.flatnonzero(seen[:, 2]).tolist():
        found[bucket].append("...")
    return [" | ".join(texts) if texts else f"bucket {bucket}" for bucket, texts in enumerate(found)]
