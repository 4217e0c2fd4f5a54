"""Small problems and the forms in which users hold data."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy import sparse
from threadpoolctl import threadpool_limits

import chance
import tiers

threadpool_limits(1, user_api="blas")  # tests run side by side; threads of small products would wait for one another


def _features(rng: np.random.Generator, n_rows: int = 60, n_features: int = 12) -> np.ndarray:
    """Two of three values are zero, so are some rows and columns."""
    X = rng.normal(size=(n_rows, n_features)) * (rng.random((n_rows, n_features)) < 0.35)
    X[[0, 7, 31, n_rows - 1]] = 0
    X[:, [2, n_features - 1]] = 0
    return X


@pytest.fixture
def problem() -> tuple[np.ndarray, np.ndarray]:
    """Rows and labels -1, +1, some of them wrong."""
    rng = np.random.default_rng(1)
    X = _features(rng)
    y = np.where(X @ rng.normal(size=X.shape[1]) + 0.5 * rng.normal(size=len(X)) > 0.1, 1, -1)
    return X, y


@pytest.fixture
def three_classes() -> tuple[np.ndarray, np.ndarray]:
    """Rows and labels "a", "b", "c"."""
    rng = np.random.default_rng(2)
    X = _features(rng)
    y = np.array(["a", "b", "c"])[(X @ rng.normal(size=(X.shape[1], 3)) + 0.3 * rng.normal(size=(len(X), 3))).argmax(1)]
    return X, y


@pytest.fixture
def regression() -> tuple[np.ndarray, np.ndarray]:
    """Rows and targets of size 3 around 1."""
    rng = np.random.default_rng(3)
    X = _features(rng)
    return X, 1 + X @ rng.normal(size=X.shape[1]) + 0.3 * rng.normal(size=len(X))


@pytest.fixture
def row_weights() -> np.ndarray:
    """For the 60 rows of the problems; every fourth is absent."""
    weight = np.random.default_rng(4).exponential(size=60)
    weight[::4] = 0
    return weight


def _csr(kind: type, index: type) -> Callable[[np.ndarray], Any]:
    def make(X: np.ndarray) -> Any:
        rows = kind(X)
        rows.indices, rows.indptr = rows.indices.astype(index), rows.indptr.astype(index)
        return rows

    return make


@pytest.fixture(
    params=[
        pytest.param(np.asarray, id="dense"),
        pytest.param(_csr(sparse.csr_array, np.int32), id="csr_array-int32"),
        pytest.param(_csr(sparse.csr_array, np.int64), id="csr_array-int64"),
        pytest.param(_csr(sparse.csr_matrix, np.int32), id="csr_matrix-int32"),
        pytest.param(_csr(sparse.csr_matrix, np.int64), id="csr_matrix-int64"),
    ]
)
def layout(request: pytest.FixtureRequest) -> Callable[[np.ndarray], Any]:
    """Turns a dense matrix into one of the forms that users hold."""
    return request.param


@pytest.fixture(params=[np.float64, np.float32], ids=["float64", "float32"])
def dtype(request: pytest.FixtureRequest) -> type:
    return request.param


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--measure", action="store_true", help="write the CPU seconds of these tests to tests/tiers.json")


def pytest_configure(config: pytest.Config) -> None:
    config.pluginmanager.register(tiers.Tiers(config))
    config.pluginmanager.register(chance.Chance())
