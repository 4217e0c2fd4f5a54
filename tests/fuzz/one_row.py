"""Rows as dicts, one by one: learned and predicted as the same row of a table would be, or refused in one sentence."""

from __future__ import annotations

import datetime
import random
import warnings
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
from words import Finding, check

from thresher.online import AROWClassifier, PAClassifier
from thresher.preprocessing import RunningScaler, StreamingPipeline, TableEncoder
from thresher.stochastic import PegasosRegressor

VALUES: list[Any] = [
    0,
    1.5,
    -2,
    True,
    1e99,
    1e101,
    1e-320,
    float("nan"),
    float("inf"),
    10**400,
    None,
    "",
    "red",
    "x" * 999,
]
VALUES += [np.float32(1), np.int64(3), np.bool_(True), b"red", [], [1.0], {}, (1,), object(), 1j, Decimal("1.5")]
VALUES += [Fraction(1, 3), np.array(2.0), np.array([1.0, 2.0]), datetime.date(2024, 5, 1), np.datetime64("2024-05-01")]
VALUES += ["\0", "\ud800", "é", np.str_("red"), type, lambda: 0]
NAMES: list[Any] = [
    "a",
    "b",
    "colour",
    "a",
    "b",
    "colour",
    "new",
    "",
    "\0",
    "\ud800",
    "é" * 300,
    3,
    None,
    1.5,
    ("a",),
    b"a",
]
ROWS: list[Any] = [None, [], [1.0, 2.0], "a", 3, {1, 2}, np.ones(3), [("a", 1.0)]]
TARGETS: list[Any] = [
    *["yes", "no"] * 6,
    0,
    1,
    1.5,
    None,
    "",
    float("nan"),
    [],
    b"yes",
    "perhaps",
    10**400,
    object(),
    True,
]


def model_for(choose: random.Random) -> Any:
    table = [("encode", TableEncoder(n_buckets=32)), ("learn", AROWClassifier())]
    scaled = [("scale", RunningScaler()), ("encode", TableEncoder(categories="hash", n_buckets=32))]
    models = [AROWClassifier(), PAClassifier(), PegasosRegressor(), StreamingPipeline(table)]
    models += [StreamingPipeline([*scaled, ("learn", PAClassifier(C=0.1))])]
    return choose.choice(models)


def row_for(choose: random.Random) -> Any:
    if choose.random() < 0.03:
        return choose.choice(ROWS)
    numbers = {"a": choose.gauss(0, 1), "b": choose.choice([0.0, 1.0, 2.5])}
    row: dict[Any, Any] = dict(numbers)
    for _ in range(choose.choice([0, 0, 1, 1, 3])):
        row[choose.choice(NAMES)] = choose.choice(VALUES)
    return row


def one_row(seed: int) -> str:
    """Some rows in turn; a refused one must leave the model as it was."""
    choose = random.Random(seed)
    model, outcome = model_for(choose), "works"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        warnings.simplefilter("error", RuntimeWarning)
        for _ in range(8):
            row = row_for(choose)
            regresses = isinstance(model, PegasosRegressor) and choose.random() < 0.8
            y = choose.gauss(0, 1) if regresses else choose.choice(TARGETS)
            call = choose.choice(["learn_one", "learn_one", "learn_one", "predict_one", "predict_proba_one"])
            if not hasattr(model, call):
                continue
            given = {"x": row, "y": y} if call == "learn_one" else {"x": row}
            try:
                found = getattr(model, call)(*given.values())
            except Exception as error:
                outcome = check(error, f"{type(model).__name__}.{call}({row!r:.100}, {y!r:.30})")
                continue
            if call == "predict_one" and isinstance(found, float) and not np.isfinite(found):
                raise Finding(f"predict_one({row!r:.100}) is {found}")
    return outcome
