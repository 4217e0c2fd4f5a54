"""The way of a batch is straight: few Python calls between a user's call and the core."""

from __future__ import annotations

import sys
from collections.abc import Callable

import numpy as np
import pytest

from thresher.dual_averaging import L1RDAClassifier
from thresher.online import AROWClassifier


def n_frames(call: Callable[[], object]) -> int:
    """How many Python functions a call goes through."""
    n = -1  # the call itself

    def count(frame: object, event: str, argument: object) -> None:
        nonlocal n
        n += event == "call"

    sys.setprofile(count)
    try:
        call()
    finally:
        sys.setprofile(None)
    return n


@pytest.mark.parametrize("estimator", [AROWClassifier(1.0), L1RDAClassifier(eta0=1.0)])
def test_few_calls_lead_to_the_core(estimator):
    X = np.random.default_rng(0).normal(size=(50, 5))
    y = (X[:, 0] > 0).astype(int)
    model = estimator.partial_fit(X, y, classes=[0, 1])
    model.predict(X)
    assert n_frames(lambda: model.partial_fit(X, y)) <= 20
    assert n_frames(lambda: model.predict(X)) <= 12
