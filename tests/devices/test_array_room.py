"""Functions for arrays of any kind, against NumPy, and what the gate refuses."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse

from thresher._gate import (
    beside,
    check_room,
    factor_beside,
    is_foreign_array,
    k_smallest,
    kth_smallest,
    namespace,
    on_host,
    row_blocks,
    solve_lower,
    take,
    with_diagonal,
    zeros,
)
from thresher.kernels import (
    LSSVC,
    RBF,
    Cosine,
    FixedSizeNystroem,
    LeastSquaresClassifier,
    Linear,
    Polynomial,
    WeightedSum,
)
from thresher.online import AROWClassifier
from thresher.preprocessing import ColumnSplines, RunningScaler

RNG = np.random.default_rng(0)
A = RNG.normal(size=(7, 7))
X, Z = RNG.normal(size=(40, 3)), RNG.normal(size=(9, 3))
Y = (X[:, 0] > 0).astype(np.int64)


def test_values_go_there_and_back(make):
    there = beside(A, make(X))
    assert is_foreign_array(there)
    assert namespace(there) is namespace(make(X))
    assert there.device == make(X).device
    assert beside(there, make(X)) is there
    assert_array_equal(on_host(there), A)
    assert_array_equal(beside(there, X), A)
    assert_array_equal(on_host(beside(A[::-1].astype(">f8"), make(X))), A[::-1])


def test_numpy_arrays_are_left_alone():
    assert namespace(A) is np
    assert on_host(A) is beside(A, X) is A
    assert not is_foreign_array(A)


def test_parts_agree_with_numpy(make):
    assert_array_equal(on_host(take(make(A), np.array([3, 0]))), A[[3, 0]])
    assert_array_equal(on_host(zeros((2, 3), make(A))), np.zeros((2, 3)))
    assert_array_equal(on_host(kth_smallest(make(A), 2)), np.sort(A, axis=1)[:, 2:3])
    L = np.tril(A) + 4 * np.eye(7)
    assert_allclose(on_host(solve_lower(make(L), make(A))), np.linalg.solve(L, A), rtol=1e-12, atol=1e-14)
    changed = A.copy()
    np.fill_diagonal(changed, np.arange(7.0))
    assert_array_equal(on_host(with_diagonal(make(A.copy()), make(np.arange(7.0)))), changed)


def test_nearest_and_products_agree_with_numpy(make):
    values, places = map(on_host, k_smallest(make(A), 3))
    assert_array_equal(np.sort(values, axis=1), np.sort(A, axis=1)[:, :3])
    assert_array_equal(np.take_along_axis(A, places, axis=1), values)
    thin = sparse.csr_array(A * (A > 0))
    for matrix in (thin, A):
        assert_allclose(on_host(factor_beside(matrix, make(A)) @ make(A)), matrix @ A, rtol=1e-12, atol=1e-14)
        assert factor_beside(matrix, A) is matrix


@pytest.mark.parametrize("pairs", [None, "all"])
def test_splines_agree_with_numpy(pairs, make):
    rows = np.column_stack([X, X[:, 0] > 0, 0 * X[:, 0]])
    expected = ColumnSplines(5, pairs=pairs).fit(rows)
    found = ColumnSplines(5, pairs=pairs).fit(make(rows))
    assert_array_equal(found._knots, expected._knots)
    others = 1.7 * rows  # some beyond the knots
    others[3, 0] = others[5, 2] = np.nan
    features = found.transform(make(others))
    assert is_foreign_array(features)
    assert_allclose(on_host(features), expected.transform(others), rtol=1e-10, atol=1e-12)
    others[7, 1] = np.inf
    with pytest.raises(ValueError, match="X must hold finite numbers up to 1e100"):
        found.transform(make(others))
    with pytest.raises(ValueError, match="X has 3 features, but ColumnSplines is expecting 5"):
        found.transform(make(X))


def test_other_transformers_copy_rows_to_numpy(make):
    assert_array_equal(RunningScaler().fit(make(X)).transform(make(X)), RunningScaler().fit(X).transform(X))


def test_blocks_cover_all_rows_once(make):
    rows = np.concatenate([np.arange(1000)[part] for part in row_blocks((1000, 1 << 20), make(A))])
    assert_array_equal(rows, np.arange(1000))


def test_what_fits_has_room(make):
    check_room((10, 10), make(A))


@pytest.mark.cuda
def test_what_cannot_fit_is_refused():
    torch = pytest.importorskip("torch")
    if not torch.cuda.is_available():
        pytest.skip("no GPU")
    with pytest.raises(MemoryError, match=r"takes 8000\.0 GB, and cuda:0 has .* GB free; take fewer rows"):
        zeros((1_000_000, 1_000_000), torch.zeros(1, device="cuda"))


@pytest.mark.parametrize(
    "kernel",
    [
        Linear(),
        Linear(features=[2, 0]),
        Cosine(),
        RBF(),
        RBF("neighbors"),
        RBF(0.3, features=1),
        Polynomial(2),
        WeightedSum([Linear(), RBF(0.2)], [0.5, 2.0]),
        RBF(0.5).normalised(X),
    ],
    ids=str,
)
def test_kernels_agree_with_numpy(kernel, make):
    settled = kernel.settled(X)
    assert_allclose(on_host(kernel(make(X))), kernel(X), rtol=1e-10, atol=1e-12)
    assert_allclose(on_host(settled(make(X), make(Z))), settled(X, Z), rtol=1e-10, atol=1e-12)
    assert_allclose(on_host(settled(make(X), Z)), settled(X, Z), rtol=1e-10, atol=1e-12)
    assert_allclose(on_host(kernel.diagonal(make(X))), kernel.diagonal(X), rtol=1e-10)


def test_rows_of_one_precision_or_the_other(make):
    for dtype in (np.float32, np.int64):
        rows = (10 * X).astype(dtype)
        expected = LSSVC(probability="none").fit(rows, Y).decision_function(rows)
        found = LSSVC(probability="none").fit(make(rows), Y).decision_function(make(rows))
        assert_allclose(on_host(found), expected, rtol=1e-8)


@pytest.mark.parametrize(
    "rows, sentence",
    [
        (np.where(np.arange(3) == 1, np.nan, X), "X must hold finite numbers up to 1e100 in size, got nan."),
        (np.where(np.arange(3) == 1, 1e200, X), "X must hold finite numbers up to 1e100 in size, got 1e"),
        (X[:, 0], "X must be a table of rows and columns"),
        (X[:0], "found array with 0 sample"),
        (X[:, :0], "found array with 0 feature"),
        (X + 1j, "Complex data not supported"),
    ],
)
def test_rows_that_are_none_are_refused(rows, sentence, make):
    with pytest.raises(ValueError, match=sentence):
        FixedSizeNystroem().fit(make(rows))


def test_another_width_is_refused(make):
    model = FixedSizeNystroem(random_state=0).fit(make(X))
    with pytest.raises(ValueError, match="X has 2 features, but FixedSizeNystroem is expecting 3"):
        model.transform(make(X[:, :2]))


def test_a_matrix_that_is_not_positive_definite_is_refused(make):
    K = -RBF(1.0)(X) + 2 * np.eye(len(X))
    with pytest.raises(ValueError, match="must be positive definite"):
        LSSVC(C=1e6, kernel="precomputed").fit(make(K), Y)


def test_a_precomputed_kernel_is_not_changed(make):
    K = RBF(1.0)(X)
    there = make(K.copy())
    model = LSSVC(kernel="precomputed").fit(there, Y)
    assert_array_equal(on_host(there), K)
    expected = LSSVC(kernel="precomputed").fit(K, Y)
    assert_allclose(on_host(model.decision_function(there)), expected.decision_function(K), rtol=1e-8)
    with pytest.raises(ValueError, match="must be symmetric"):
        LSSVC(kernel="precomputed").fit(make(A), Y[:7])


def test_a_tape_of_derivatives_is_cut():
    torch = pytest.importorskip("torch")
    rows = torch.tensor(X, requires_grad=True)
    model = LSSVC(probability="none").fit(rows, Y)
    assert not model.dual_coef_.requires_grad
    assert not model.decision_function(rows).requires_grad


def test_other_estimators_copy_rows_to_numpy(make):
    found = AROWClassifier(random_state=0).fit(make(X), make(Y))
    expected = AROWClassifier(random_state=0).fit(X, Y)
    assert_array_equal(found.coef_, expected.coef_)
    assert isinstance(found.predict(make(X)), np.ndarray)


def test_features_in_the_dual(make):
    """More columns than rows."""
    wide = RNG.normal(size=(20, 50))
    found = LeastSquaresClassifier(probability="none").fit(make(wide), Y[:20])
    expected = LeastSquaresClassifier(probability="none").fit(wide, Y[:20])
    assert_allclose(on_host(found.coef_), expected.coef_, rtol=1e-8, atol=1e-12)
