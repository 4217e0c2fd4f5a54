"""Encoders of shards, put together as if one had read them one after the other."""

from __future__ import annotations

from copy import copy
from typing import Any

import numpy as np

from ._pieces import BucketTexts

_WORDS = {"n": "numbers", "c": "words", "h": "words", "t": "prose"}


def merge_encoders(encoder: Any, others: list[Any]) -> None:
    """Let an encoder know all that it would know after the rows of others."""
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
