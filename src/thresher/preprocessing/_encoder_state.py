"""The state of a TableEncoder: checked when it comes from a file, and put together from shards."""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from typing import Any

import numpy as np

from ._pieces import BucketTexts
from ._running import require

_WORDS = {"n": "numbers", "c": "words", "h": "words", "t": "prose"}


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


def merge_encoders(encoder: Any, others: list[Any]) -> None:
    """Bring an encoder to the state that it would have after the rows of the others."""
    for other in others:
        _check_columns(encoder, other)
    known = [dict(places) for places in encoder._places()]
    columns, values = encoder.added_columns_.tolist(), list(encoder.added_values_)
    for other in others:  # words of each in the order of appearance, those that are known left out
        for column, value in zip(other.added_columns_.tolist(), other.added_values_, strict=True):
            if value not in known[column]:
                known[column][value] = len(values)
                columns.append(column)
                values.append(value)
    for name, kind, places in zip(encoder.columns_, encoder.kinds_, known, strict=True):
        if kind == "c":
            encoder._refuse_too_many(name, len(places))
    seen = _seen(encoder)  # from here on nothing is refused
    for other in others:
        seen = joint_buckets(seen, _seen(other))
    encoder.added_columns_, encoder.added_values_, encoder._known = np.array(columns, dtype=np.int32), values, known
    encoder.fingerprints_, encoder.bucket_places_, encoder.bucket_names_ = seen
    encoder.texts_with_ = np.sum([each.texts_with_ for each in (encoder, *others)], axis=0)
    encoder.n_texts_ += sum(other.n_texts_ for other in others)


def joint_buckets(a: BucketTexts, b: BucketTexts) -> BucketTexts:
    """Fingerprints and names of buckets: the first two texts of each, where those of ``a`` came before."""
    seen, places, names = a.fingerprints.copy(), [], []
    found = b.fingerprints[b.places // 2, b.places % 2]
    known = seen[b.places // 2]
    new = (found != known[:, 0]) & (found != known[:, 1])
    for i in np.flatnonzero(new).tolist():
        bucket, slots = int(b.places[i]) // 2, seen[int(b.places[i]) // 2]
        if slots[1]:
            slots[2] = 1
            continue
        slot = 1 if slots[0] else 0
        slots[slot] = found[i]
        places.append(2 * bucket + slot)
        names.append(b.names[i])
    seen[:, 2] |= b.fingerprints[:, 2]  # three texts are more than two, whatever came before
    return BucketTexts(seen, np.append(a.places, np.array(places, dtype=np.int32)), [*a.names, *names])


def emptied_encoder(encoder: Any) -> Any:
    """The same decisions, and nothing else."""
    made = copy(encoder)
    made._forget(encoder.columns_, encoder.kinds_)
    made.__dict__.pop("_known", None)
    return made


def _seen(encoder: Any) -> BucketTexts:
    return BucketTexts(encoder.fingerprints_, encoder.bucket_places_, encoder.bucket_names_)


def _check_columns(encoder: Any, other: Any) -> None:
    who = type(encoder).__name__
    if encoder.columns_ != other.columns_:
        raise ValueError(
            f"{who}: shards must have the same columns, got {', '.join(map(repr, encoder.columns_))} and "
            f"{', '.join(map(repr, other.columns_))}."
        )
    for name, a, b in zip(encoder.columns_, encoder.kinds_, other.kinds_, strict=True):
        if a != b:
            raise ValueError(
                f"{who}: column {name!r} holds {_WORDS[a]} in one shard and {_WORDS[b]} in another; name prose in text."
            )
