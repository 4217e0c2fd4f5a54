"""Chance without surprises: every test draws the same numbers in every run, also from generators that nobody seeded."""

from __future__ import annotations

import itertools
import zlib
from typing import Any

import numpy as np
import pytest

_default_rng = np.random.default_rng


class Chance:
    """A plugin: within a test, ``random_state=None`` is a sequence of seeds that begins with the name of the test."""

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_setup(self, item: pytest.Item) -> None:
        begin, places = zlib.crc32(item.nodeid.encode()), itertools.count()

        def default_rng(seed: Any = None) -> np.random.Generator:
            return _default_rng([begin, next(places)] if seed is None else seed)

        np.random.default_rng = default_rng  # type: ignore[assignment]
        np.random.seed(begin)  # noqa: NPY002 - scikit-learn's source where there is no seed

    @pytest.hookimpl(trylast=True)
    def pytest_runtest_teardown(self) -> None:
        np.random.default_rng = _default_rng
