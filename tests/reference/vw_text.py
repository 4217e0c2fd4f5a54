"""Vowpal Wabbit's text read slowly, word by word: what the compiled parser must agree with."""

from __future__ import annotations

import math
import re

import numpy as np

from .text import hash_bytes

NUMBER = re.compile(rb"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")
BLANKS = re.compile(rb"[ \t]+")

Row = tuple[float, float, list[tuple[int, float]]]


def read_vw_line(line: bytes, n_features: int, dtype: type = np.float64) -> Row | tuple[()] | None:
    """(target, weight, [(column, value)]), () for no row, None for a refusal."""
    if not line.strip(b" \t"):
        return ()
    head, bar, rest = line.partition(b"|")
    label = read_label(head)
    if not bar or label is None:
        return None
    row: dict[int, float] = {}
    for space in rest.split(b"|"):
        name, words = (b"", space) if space[:1] in (b"", b" ", b"\t") else [*BLANKS.split(space, maxsplit=1), b""][:2]
        name, _, scale = name.partition(b":") if b":" in name else (name, b"", b"1")
        if number(scale) is None:
            return None
        n_unnamed = 0
        for word in filter(None, BLANKS.split(words)):
            feature, colon, written = word.partition(b":")
            value = number(written if colon else b"1")
            if value is None or math.isinf(value * number(scale)):
                return None
            if not feature:
                feature, n_unnamed = b"%d" % n_unnamed, n_unnamed + 1
            j = column_of(name, feature, n_features)
            row[j] = row.get(j, -0.0) + value * number(scale)
    with np.errstate(over="ignore"):
        pairs = [(j, float(dtype(x))) for j, x in sorted(row.items())]
    return (*label, pairs) if all(math.isfinite(x) for _, x in pairs) else None


def read_label(head: bytes) -> tuple[float, float] | None:
    """Target, NaN if there is none, and weight; None for a refusal."""
    words = [word for word in BLANKS.split(head) if word]
    if words and (words[-1].startswith(b"'") or head[-1:] not in (b" ", b"\t")):
        del words[-1]
    numbers = [number(word) for word in words]
    if len(numbers) > 3 or None in numbers or numbers[1:2] < [0] * len(numbers[1:2]) or any(numbers[2:]):
        return None
    target, weight = [*numbers, math.nan][0], [*numbers[1:], 1.0][0]
    return target, weight


def number(word: bytes) -> float | None:
    return float(word) if NUMBER.fullmatch(word) and math.isfinite(float(word)) else None


def column_of(space: bytes, feature: bytes, n_features: int) -> int:
    seed = hash_bytes(space) if space else 0
    if re.fullmatch(rb"[0-9]{1,18}", feature):
        return ((bucket_of(seed, n_features) if space else 0) + int(feature)) % n_features
    return bucket_of(hash_bytes(feature, seed), n_features)


def bucket_of(value: int, n: int) -> int:
    return (value >> 32) * n >> 32
