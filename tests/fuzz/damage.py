"""Damaged model files: cut, flipped, with other numbers, other values or other shapes in them."""

from __future__ import annotations

import copy
import json
import random
import struct
import tempfile
import warnings
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from fits import ESTIMATORS, Finding
from scipy import sparse

from thresher.persistence import load_model, save_model
from thresher.preprocessing import RunningScaler, StreamingPipeline

NASTY = [
    None, True, False, 0, -1, 1, 2**31, 2**63, 10**30, 1e308, -0.0, float("nan"), float("inf"), "", "x", "\0", "é" * 40,
    "__import__('os').system('touch pwned')", "os.system", "StreamingPipeline", "AROWClassifier", [], {}, [[]], [None],
    {"tensor": "nowhere"}, {"pairs": [[1]]}, {"text": [1], "as": "list"}, {"texts": "x", "as": "str"}, {"text": ["a"]},
    {"kernel": {"class": "RBF"}}, {"kernel": {"class": "Linear", "features": [7]}}, {"kernels": [1]}, {"kernel": []},
]  # fmt: skip


NUMBERS_TOO = [np.nan, np.inf, -1.0, 1e300, -1e300, 0.0, 1e-320, 7.5]


def places(value, path=()):
    """Every place in a JSON value."""
    yield path
    children = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, child in children:
        yield from places(child, (*path, key))


def changed_header(header, choose):
    """A header with something else in one place, or without it."""
    header = copy.deepcopy(header)
    path = choose.choice([p for p in places(header) if p])
    holder = header
    for key in path[:-1]:
        holder = holder[key]
    if choose.random() < 0.2:
        del holder[path[-1]]
    else:
        holder[path[-1]] = choose.choice(NASTY)
    return header


def changed(content, choose):
    """A damaged copy of a model file."""
    how = choose.random()
    if how < 0.15:
        return content[: choose.randrange(len(content))]
    if how < 0.4:
        damaged = bytearray(content)
        for _ in range(choose.choice([1, 1, 1, 4, 32])):
            damaged[choose.randrange(len(damaged))] ^= 1 << choose.randrange(8)
        return bytes(damaged)
    if how < 0.5:
        begin = choose.randrange(len(content))
        return content[:begin] + choose.randbytes(choose.randrange(40)) + content[begin + choose.randrange(40) :]
    (size,) = struct.unpack("<Q", content[:8])
    outer = json.loads(content[8 : 8 + size])
    if how < 0.85:
        inner = json.loads(outer["__metadata__"]["thresher"])
        for _ in range(choose.choice([1, 1, 2])):
            inner = changed_header(inner, choose)
        outer["__metadata__"]["thresher"] = json.dumps(inner)
        rest = content[8 + size :]
    elif how < 0.93:  # shapes, types and places of arrays
        outer = changed_header(outer, choose)
        rest = content[8 + size :]
    else:  # numbers
        rest = bytearray(content[8 + size :])
        for _ in range(choose.choice([1, 8])):
            at = choose.randrange(max(1, len(rest) // 8)) * 8
            rest[at : at + 8] = struct.pack("<d", choose.choice(NUMBERS_TOO))
    text = json.dumps(outer).encode()
    return struct.pack("<Q", len(text)) + text + bytes(rest)


def try_file(path, X):
    """Load and, if it loads, use it. Returns what happened; anything but these two is an error."""
    try:
        model = load_model(path)
    except ValueError as refusal:
        said = str(refusal)
        assert said.startswith(path.name), said
        assert "\n" not in said, said
        assert len(said) < 600, said
        return "refused"
    try:
        with np.errstate(all="ignore"):
            model.predict(X)
            model.predict(X[:1])
    except (ValueError, TypeError):  # another number of features than X has, for example
        return "refused later"
    return "works"


@cache
def fitted(place: int) -> tuple[bytes, Any]:
    """A file of one of the registry's estimators, alone or behind a scaler, and rows for it."""
    name, cls = ESTIMATORS[place // 2]
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 3))
    y = X[:, 0] if name.endswith("-regressor") else (X[:, 0] > 0).astype(int)
    some = {"max_iter": 2} if "max_iter" in cls._params else {}
    model: Any = cls(**some)
    rows: Any = sparse.csr_array(X) if place % 4 == 2 else X
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        model = StreamingPipeline([("scale", RunningScaler()), ("learn", model)]) if place % 2 else model
        try:
            model.fit(rows, y)
            save_model(model, Path(folder, "model"))
        except (
            ValueError,
            AttributeError,
            TypeError,
        ):  # what needs more than rows and targets, or goes into no pipeline
            return b"", rows
        return Path(folder, "model").read_bytes(), rows


def model_file(seed: int) -> str:
    """One damaged file of any estimator: refused in a sentence, or a model that works."""
    choose = random.Random(seed)
    content, X = fitted(choose.randrange(2 * len(ESTIMATORS)))
    if not content:
        return "no model"
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        path = Path(folder, "damaged.thresher")
        path.write_bytes(changed(content, choose))
        try:
            return try_file(path, X)
        except Exception as error:
            raise Finding(f"{type(error).__name__}: {str(error)[:300]}") from error
