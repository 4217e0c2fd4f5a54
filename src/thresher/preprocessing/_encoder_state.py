"""What a file says a TableEncoder has learned: believed only if it belongs together."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np


def is_names(v: Any) -> bool:
    return isinstance(v, Sequence) and not isinstance(v, str) and all(isinstance(name, str) for name in v)


def check_added(columns: Any, kinds: Any, added: Any, values: Any) -> None:
    """Columns, and the features that were added."""
    if not isinstance(columns, list) or not is_names(columns) or not columns or len(set(columns)) != len(columns):
        raise ValueError("columns_ must hold different names.")
    if not isinstance(kinds, str) or len(kinds) != len(columns) or not set(kinds) <= set("ncht"):
        raise ValueError("kinds_ must hold one letter of n, c, h or t for each column.")
    if not isinstance(added, np.ndarray) or added.dtype != np.int32 or not isinstance(values, list):
        raise ValueError("added_columns_ must hold integers, and added_values_ texts.")
    if not is_names(values) or added.shape != (len(values),) or ((added < 0) | (added >= len(columns))).any():
        raise ValueError("added_columns_ must be columns, one for each of added_values_.")
    features = list(zip(added.tolist(), values, strict=True))
    if len(set(features)) != len(features):
        raise ValueError("added features must be different.")
    if any(kinds[column] not in "nc" or (kinds[column] == "n" and value) for column, value in features):
        raise ValueError("added features must be words of categories, or missing numbers.")


def check_buckets(n_buckets: int, seen: Any, places: Any, names: Any) -> None:
    """Fingerprints, and the names that belong to them."""
    if not isinstance(seen, np.ndarray) or seen.dtype != np.uint32 or seen.shape != (n_buckets, 3):
        raise ValueError("fingerprints_ must hold three numbers for each bucket.")
    if not isinstance(places, np.ndarray) or places.dtype != np.int32 or places.ndim != 1:
        raise ValueError("bucket_places_ must hold integers.")
    if not isinstance(names, list) or not all(isinstance(name, str) for name in names) or len(names) != len(places):
        raise ValueError("bucket_names_ must hold one name for each place.")
    named = np.flatnonzero(seen[:, :2].ravel())
    if not np.array_equal(np.sort(places), named) or (seen[:, 2] > (seen[:, 1] > 0)).any():
        raise ValueError("bucket_places_ must be those of the fingerprints.")
    if ((seen[:, 1] > 0) & (seen[:, 0] == 0)).any():
        raise ValueError("fingerprints_ must fill the first place of a bucket before the second.")


def check_frequencies(n_buckets: int, n_columns: int, n_texts: Any, texts_with: Any) -> None:
    """How many texts there were, and in how many of them a bucket came."""
    if type(n_texts) is not int or not 0 <= n_texts < 2**53:
        raise ValueError("n_texts_ must be an integer of at least 0.")
    if not isinstance(texts_with, np.ndarray) or texts_with.dtype != np.float64:
        raise ValueError("texts_with_ must hold float64.")
    if texts_with.shape not in ((0,), (n_buckets,)) or (len(texts_with) and not n_columns):
        raise ValueError("texts_with_ must hold one number for each bucket.")
    if not ((texts_with >= 0) & (texts_with <= n_texts * n_columns)).all():
        raise ValueError("texts_with_ must hold numbers from 0 to n_texts_.")
