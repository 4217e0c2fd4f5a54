"""The solver of kernel problems in boxes as the core sees it: structure is checked, and what goes wrong comes back."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse

from thresher import _core
from thresher._gate._validation import as_rows

RNG = np.random.default_rng(0)
N = 60
X = RNG.normal(size=(N, 4)) * (RNG.random((N, 4)) < 0.7)
Y = np.where(X[:, 0] + 0.5 * RNG.normal(size=N) > 0, 1.0, -1.0)
K = np.ascontiguousarray(np.exp(-0.3 * ((X[:, None] - X[None]) ** 2).sum(axis=2)))


def arguments(m=1, **other):
    some = {
        "matrix": K,
        "room": 3,
        "diagonal": np.ones(N),
        "linear": np.tile(Y, (m, 1)),
        "lower": np.tile(np.minimum(0, Y), (m, 1)),
        "upper": np.tile(np.maximum(0, Y), (m, 1)),
        "epsilon": np.zeros((m, N)),
        "sign": np.ones((m, N)),
        "total": np.zeros(m),
        "coupling": np.eye(m) + 0.3,
        "x": np.zeros((m, N)),
    }
    return some | other


def solved(**other):
    given = arguments(**other)
    solver = _core.BoxQP(*given.values())
    assert solver.run(100_000, 1e-9)
    scores, multiplier = np.empty(given["x"].size), np.empty(len(given["x"]))
    return given["x"], scores, multiplier, solver.read(scores, multiplier)


@pytest.mark.parametrize("m", [1, 3])
def test_rows_made_one_by_one_are_the_matrix(m):
    whole, made = solved(m=m), solved(m=m, matrix=lambda i: K[i].copy())
    for one, other in zip(whole, made, strict=True):
        assert_array_equal(one, other)


@pytest.mark.parametrize(
    "broken",
    [
        {"linear": np.zeros((1, N - 1))},
        {"lower": np.zeros((2, N))},
        {"diagonal": np.ones(N + 1)},
        {"total": np.zeros(2)},
        {"coupling": np.ones((2, 2))},
        {"matrix": K[:, :-1].copy()},
        {"matrix": K.astype(np.float32)},
        {"lower": np.ones((1, N)), "upper": np.zeros((1, N))},
        {"epsilon": np.full((1, N), -1.0)},
        {"sign": np.full((1, N), 0.5)},
        {"lower": np.full((1, N), np.nan)},
        {"x": np.zeros((1, 0))},
    ],
)
def test_what_does_not_fit_is_refused(broken):
    with pytest.raises((ValueError, TypeError)):
        _core.BoxQP(*arguments(**broken).values())


def test_outputs_that_do_not_fit_are_refused():
    solver = _core.BoxQP(*arguments().values())
    solver.conclude()
    with pytest.raises(ValueError, match="outputs must fit"):
        solver.read(np.empty(N - 1), np.empty(1))
    with pytest.raises(ValueError, match="outputs must fit"):
        solver.read(np.empty(N), np.empty(2))


@pytest.mark.parametrize("row", [lambda i: K[i, :-1].copy(), lambda i: K[i].astype(np.float32), lambda i: "row"])
def test_rows_that_are_none_are_refused(row):
    with pytest.raises(ValueError, match="a row of the kernel matrix must be float64"):
        _core.BoxQP(*arguments(matrix=row).values()).run(10, 1e-3)


def test_what_goes_wrong_in_python_comes_back():
    def row(i):
        if i == row.last:
            raise KeyError("no such row")
        return K[i].copy()

    row.last = None
    solver = _core.BoxQP(*arguments(matrix=row).values())
    row.last = int(np.argmax(Y))  # among the first to be asked for
    with pytest.raises(KeyError, match="no such row"):
        solver.run(100_000, 1e-12)


@pytest.mark.parametrize("layout", [np.asarray, sparse.csr_array], ids=["dense", "csr"])
def test_a_pass_over_rows_keeps_weights_and_variables_together(layout):
    rows = as_rows(layout(X), "test")
    squares = _core.row_squares(rows, 1.0)
    x, w, slack = np.zeros(N), np.zeros(5), np.empty(N)
    order = RNG.permutation(N)
    for _ in range(3):
        _core.box_descend(rows, 1.0, squares, Y, np.minimum(0, Y), np.maximum(0, Y), np.zeros(N), order, x, w, slack)
    assert_allclose(w, np.c_[X, np.ones(N)].T @ x, atol=1e-12)
    for bad in ({"order": np.array([N])}, {"order": np.array([-1])}, {"w": np.zeros(4)}, {"x": np.zeros(N + 1)}):
        given = {"order": order, "x": x, "w": w} | bad
        with pytest.raises(ValueError):
            _core.box_descend(
                rows, 1.0, squares, Y, np.minimum(0, Y), np.maximum(0, Y), np.zeros(N),
                given["order"], given["x"], given["w"], slack,
            )  # fmt: skip
    with pytest.raises(ValueError, match="squares must be above 0"):
        _core.box_descend(rows, 1.0, 0 * squares, Y, -np.ones(N), np.ones(N), np.zeros(N), order, x, w, slack)
    with pytest.raises(ValueError):
        _core.box_certify(np.zeros(N - 1), Y, -np.ones(N), np.ones(N), np.zeros(N), 0.0, x)
