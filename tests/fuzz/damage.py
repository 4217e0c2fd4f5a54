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
import pandas as pd
from fits import ESTIMATORS
from scipy import sparse
from words import Finding, scratch

from thresher._ensembles import ModelSumClassifier, ModelSumRegressor
from thresher.dual_averaging import FTRLClassifier
from thresher.kernels import LSSVC, LeastSquaresClassifier, LeastSquaresRegressor
from thresher.online import AROWClassifier, PAClassifier
from thresher.persistence import load_model, save_model
from thresher.preprocessing import ColumnSplines, RunningScaler, StreamingPipeline, prepared

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


RNG = np.random.default_rng(0)
NUMBERS = RNG.normal(size=(40, 3))
ABOVE, THREE = (NUMBERS[:, 0] > 0).astype(int), np.array(["no", "perhaps", "yes"])[NUMBERS.argmax(axis=1)]
DAYS = pd.Series(pd.date_range("2024-01-31", periods=40, freq="17h"))
FRAME = pd.DataFrame(NUMBERS, columns=["a", "b", "c"]).assign(
    sold=DAYS,
    colour=["red", "green", "blue", None] * 10,
    note=[f"row {i} of some words, {i * i} of them" for i in range(40)],
)
ADDITIVE = ColumnSplines(4, pairs=[("a", "b")])


def for_frame(learner: Any, **options: Any) -> Any:
    return prepared(learner, FRAME, n_buckets=32, **options)


TWO_TABLES = [("a", for_frame(AROWClassifier())), ("b", for_frame(LeastSquaresClassifier()))]
# Pipelines and sums: models, rows and targets.
OTHERS: list[tuple[Any, Any, Any]] = [
    (for_frame(AROWClassifier()), FRAME, THREE),
    (for_frame(LeastSquaresClassifier(), splines=ADDITIVE), FRAME, ABOVE),
    (for_frame(LeastSquaresRegressor(), splines=True), FRAME, NUMBERS[:, 0]),
    (for_frame(FTRLClassifier(), categories="hash"), FRAME, THREE),
    (for_frame(AROWClassifier(threshold="f1", probability="calibrated")), FRAME, ABOVE),
    (AROWClassifier(threshold="cost", cost={"no": 1.0, "perhaps": 2.0, "yes": 3.0}), NUMBERS, THREE),
    (PAClassifier(threshold="error", probability="calibrated"), NUMBERS, ABOVE),
    (ModelSumClassifier([("a", AROWClassifier()), ("b", LSSVC())], [0.5, 1.0]), NUMBERS, THREE),
    (ModelSumClassifier(TWO_TABLES, [0.5, 1.0]), FRAME, ABOVE),
    (ModelSumRegressor([("a", for_frame(LeastSquaresRegressor(), splines=ADDITIVE))], [2.0]), FRAME, NUMBERS[:, 0]),
]


def unfitted(place: int) -> tuple[Any, Any, Any]:
    """One of the registry's estimators, alone or behind a scaler, or another pipeline, with rows and targets for it."""
    if place >= 2 * len(ESTIMATORS):
        return OTHERS[place - 2 * len(ESTIMATORS)]
    name, cls = ESTIMATORS[place // 2]
    some = {"max_iter": 2} if "max_iter" in cls._params else {}
    model: Any = cls(**some)
    model = StreamingPipeline([("scale", RunningScaler()), ("learn", model)]) if place % 2 else model
    rows: Any = sparse.csr_array(NUMBERS) if place % 4 == 2 else NUMBERS
    return model, rows, NUMBERS[:, 0] if name.endswith("-regressor") else ABOVE


@cache
def fitted(place: int) -> tuple[bytes, Any]:
    """A file of a model, and rows for it."""
    model, rows, y = unfitted(place)
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            model.fit(rows, y)
            save_model(model, Path(folder, "model"))
        except (ValueError, AttributeError, TypeError):
            if place >= 2 * len(ESTIMATORS):
                raise
            return b"", rows  # needs more than rows and targets, or goes into no pipeline
        return Path(folder, "model").read_bytes(), rows


def model_file(seed: int) -> str:
    """One damaged file of any estimator: refused in a sentence, or a model that works."""
    choose = random.Random(seed)
    among = 2 * len(ESTIMATORS) + len(OTHERS)
    content, X = fitted(choose.randrange(among) if choose.random() < 0.8 else among - 1 - choose.randrange(len(OTHERS)))
    if not content:
        return "no model"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        path = scratch() / "damaged.thresher"
        path.write_bytes(changed(content, choose))
        try:
            return try_file(path, X)
        except Exception as error:
            raise Finding(f"{type(error).__name__}: {str(error)[:300]}") from error
