"""Checks of the state of a TableEncoder that comes from a model file."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ._running import require


def is_names(v: Any) -> bool:
    return isinstance(v, Sequence) and not isinstance(v, str) and all(isinstance(name, str) for name in v)


def is_array(v: Any, dtype: Any, shape: tuple[int, ...]) -> bool:
    return isinstance(v, np.ndarray) and v.dtype == dtype and v.shape == shape


def check_added(columns: Any, kinds: Any, added: Any, values: Any) -> None:
    """Columns, and the features that were added."""
    names = isinstance(columns, list) and is_names(columns)
    require(names and 0 < len(columns) == len(set(columns)), "columns_ must hold different names.")
    letters = isinstance(kinds, str) and len(kinds) == len(columns) and set(kinds) <= set("ncht")
    require(letters, "kinds_ must hold one letter of n, c, h or t for each column.")
    require(isinstance(values, list) and is_names(values), "added_values_ must hold texts.")
    integers = is_array(added, np.int32, (len(values),)) and ((added >= 0) & (added < len(columns))).all()
    require(integers, "added_columns_ must be columns, one for each of added_values_.")
    features = list(zip(added.tolist(), values, strict=True))
    require(len(set(features)) == len(features), "added features must be different.")
    known = all(kinds[column] == "c" or (kinds[column] == "n" and not value) for column, value in features)
    require(known, "added features must be words of categories, or missing numbers.")


def check_buckets(n_buckets: int, seen: Any, places: Any, names: Any) -> None:
    """Fingerprints, and the names that belong to them."""
    require(is_array(seen, np.uint32, (n_buckets, 3)), "fingerprints_ must hold three numbers for each bucket.")
    require(isinstance(names, list) and is_names(names), "bucket_names_ must hold texts.")
    require(is_array(places, np.int32, (len(names),)), "bucket_places_ must hold one integer for each name.")
    named = np.flatnonzero(seen[:, :2].ravel())
    belong = np.array_equal(np.sort(places), named) and not (seen[:, 2] > (seen[:, 1] > 0)).any()
    require(belong, "bucket_places_ must be those of the fingerprints.")
    in_order = not ((seen[:, 1] > 0) & (seen[:, 0] == 0)).any()
    require(in_order, "fingerprints_ must fill the first place of a bucket before the second.")


def check_frequencies(n_buckets: int, n_columns: int, n_texts: Any, texts_with: Any) -> None:
    """The number of texts, and for each bucket the number of texts with it."""
    require(type(n_texts) is int and 0 <= n_texts < 2**53, "n_texts_ must be an integer of at least 0.")
    shaped = is_array(texts_with, np.float64, (0,)) or (n_columns and is_array(texts_with, np.float64, (n_buckets,)))
    require(bool(shaped), "texts_with_ must hold one float64 for each bucket.")
    counted = ((texts_with >= 0) & (texts_with <= n_texts * n_columns)).all()
    require(counted, "texts_with_ must hold numbers from 0 to n_texts_.")
