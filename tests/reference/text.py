"""Hashing of text in plain Python: slow, obvious, and the definition of what saved models rely on."""

from __future__ import annotations

import itertools
import re
from collections import Counter

GOLDEN, PI, MASK = 0x9E3779B97F4A7C15, 0x243F6A8885A308D3, (1 << 64) - 1
MARKS = "\u0080-\u00bf\u2000-\u206f\u3000-\u303f"
LETTERS = f"(?:[0-9A-Za-z]|[^\\x00-\\x7f{MARKS}])"
WORD = re.compile(f"{LETTERS}+(?:'+{LETTERS}+)*")


def folded_product(a: int, b: int) -> int:
    return (a * b >> 64) ^ (a * b & MASK)


def hash_bytes(text: bytes, seed: int = 0) -> int:
    h = seed ^ GOLDEN
    whole = len(text) // 8 * 8
    for i in range(0, whole, 8):
        h = folded_product(h ^ int.from_bytes(text[i : i + 8], "little"), PI)
    h = folded_product(h ^ int.from_bytes(text[whole:], "little"), PI)
    return folded_product(h ^ len(text), GOLDEN)


def bucket(text: str, prefix: bytes, n_buckets: int) -> int:
    return (hash_bytes(text.encode(), hash_bytes(prefix)) >> 32) * n_buckets >> 32


def fingerprint(text: str, prefix: bytes) -> int:
    return hash_bytes(text.encode(), hash_bytes(prefix)) & 0xFFFFFFFF or 1


def small(text: str) -> str:
    return re.sub("[A-Z]+", lambda found: found[0].lower(), text)


def words(text: str, ngrams: int = 1) -> list[str]:
    found = [word for word in map(small, WORD.findall(text)) if len(word.replace("'", "")) >= 2]
    if ngrams == 1:
        return found
    pairs = [f"{a} {b}" for a, b in itertools.pairwise(found)]
    return [text for both in itertools.zip_longest(found, pairs) for text in both if text is not None]


def counts(texts: list[str], prefix: bytes, n_buckets: int, ngrams: int = 1) -> list[dict[int, int]]:
    return [dict(sorted(Counter(bucket(w, prefix, n_buckets) for w in words(text, ngrams)).items())) for text in texts]
