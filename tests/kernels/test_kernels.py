"""Kernels against one entry at a time."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import sparse

from reference import kernels as reference
from thresher.kernels import RBF, Linear, Polynomial

RNG = np.random.default_rng(0)
X = RNG.normal(size=(7, 4)) * (RNG.random((7, 4)) < 0.6)
Z = RNG.normal(size=(5, 4)) * (RNG.random((5, 4)) < 0.6)
LAYOUTS = [np.asarray, sparse.csr_array, sparse.csr_matrix]


@pytest.mark.parametrize("of_z", LAYOUTS)
@pytest.mark.parametrize("of_x", LAYOUTS)
@pytest.mark.parametrize(
    ("kernel", "entry"),
    [
        (Linear(), lambda x, z: x @ z),
        (RBF(0.3), lambda x, z: reference.rbf(x, z, 0.3)),
        (Polynomial(2, 0.7, 0.5), lambda x, z: reference.polynomial(x, z, 2, 0.7, 0.5)),
    ],
)
def test_a_kernel_matrix_holds_the_kernel_of_every_pair(kernel, entry, of_x, of_z):
    expected = [[entry(x, z) for z in Z] for x in X]
    values = kernel(of_x(X), of_z(Z))
    assert type(values) is np.ndarray
    assert values.dtype == np.float64
    assert_allclose(values, expected, rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize("kernel", [RBF(), Polynomial()])
def test_scale_is_one_over_features_times_variance(kernel, layout):
    settled = kernel.settled(layout(X))
    assert_allclose(settled.gamma, 1 / (4 * X.var()), rtol=1e-12)
    assert_allclose(kernel(layout(X)), settled(layout(X), layout(X)), rtol=1e-12)
    assert settled.settled(10 * X) is settled


def test_scale_of_constant_rows_is_one():
    assert RBF().settled(np.full((3, 2), 5.0)).gamma == 1.0


def test_scale_does_not_compare_two_sets_of_rows():
    with pytest.raises(ValueError, match=r'RBF: gamma must be a number .* got "scale"; settled\(X\)'):
        RBF()(X, Z)


def test_the_gaussian_kernel_does_not_mind_where_the_origin_is():
    assert_allclose(RBF(0.3)(X + 1e7, Z + 1e7), RBF(0.3)(X, Z), rtol=1e-6)


def test_single_precision_rows_are_compared_in_double_precision(layout):
    single = X.astype(np.float32)
    assert_allclose(RBF(0.3)(layout(single)), RBF(0.3)(single.astype(np.float64)), rtol=1e-12)


def test_rows_infinitely_far_apart_are_nothing_alike():
    assert_allclose(RBF(1e300)(np.array([[0.0], [1e90]])), np.eye(2))


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: RBF(0.0), r'RBF: gamma must be "scale" or a number above 0, got 0.0\.'),
        (lambda: RBF("auto"), r"RBF: gamma must be"),
        (lambda: Polynomial(degree=0), r"Polynomial: degree must be an integer of at least 1, got 0\."),
        (lambda: Polynomial(coef0=-1.0), r"Polynomial: coef0 must be a number of at least 0, got -1.0\."),
        (lambda: Polynomial(9, 1.0)(np.full((1, 2), 1e50)), r"Polynomial: values of degree 9 leave the range"),
    ],
)
def test_bad_kernels_are_refused(make, message):
    with pytest.raises(ValueError, match=message):
        make()
