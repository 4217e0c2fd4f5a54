"""Kernels against one entry at a time."""

from __future__ import annotations

import copy
import json
import os

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from threadpoolctl import threadpool_limits

from reference import kernels as reference
from thresher._kernels import Gram, gram
from thresher._kernels import _kernel_blocks as _blocks
from thresher._kernels._plain import from_plain, to_plain
from thresher.kernels import RBF, Cosine, Kernel, Linear, Polynomial, Scaled, WeightedSum

RNG = np.random.default_rng(0)
X = RNG.normal(size=(7, 4)) * (RNG.random((7, 4)) < 0.6)
X[2] = 0
Z = RNG.normal(size=(5, 4)) * (RNG.random((5, 4)) < 0.6)
LAYOUTS = [np.asarray, sparse.csr_array, sparse.csr_matrix]
ENTRIES = {
    "linear": (Linear, (), lambda x, z: float(x @ z)),
    "cosine": (Cosine, (), reference.cosine),
    "rbf": (RBF, (0.3,), lambda x, z: reference.rbf(x, z, 0.3)),
    "polynomial": (Polynomial, (2, 0.7, 0.5), lambda x, z: reference.polynomial(x, z, 2, 0.7, 0.5)),
}
FEATURES = [None, 2, [3, 0], np.array([1])]
FEW = pytest.mark.parametrize("features", FEATURES, ids=["all", "one", "two", "array"])
KINDS = pytest.mark.parametrize("kind", ENTRIES)


def made(kind, features=None):
    """A kernel, and its matrix of rows one entry at a time."""
    cls, params, entry = ENTRIES[kind]
    some = None if features is None else np.atleast_1d(features).tolist()
    return cls(*params, features=features), lambda rows, others: reference.matrix(entry, rows, others, some)


@pytest.mark.parametrize("of_z", LAYOUTS)
@pytest.mark.parametrize("of_x", LAYOUTS)
@FEW
@KINDS
def test_a_kernel_matrix_holds_the_kernel_of_every_pair(kind, features, of_x, of_z):
    kernel, expected = made(kind, features)
    values = kernel(of_x(X), of_z(Z))
    assert type(values) is np.ndarray
    assert values.dtype == np.float64
    assert_allclose(values, expected(X, Z), rtol=1e-12, atol=1e-14)


@FEW
@KINDS
def test_the_matrix_of_rows_with_one_another_is_symmetric_and_has_the_diagonal(kind, features, layout):
    kernel, expected = made(kind, features)
    K = kernel(layout(X))
    assert_allclose(K, expected(X, X), rtol=1e-12, atol=1e-14)
    assert_array_equal(K, K.T)
    assert_array_equal(kernel.diagonal(layout(X)), np.diag(K))


# --- columns ----------------------------------------------------------------------------------------------------------


def test_columns_are_found_by_name():
    frame = pd.DataFrame(X, columns=["a", "b", "c", "d"])
    named = RBF(0.3, features=["d", "a"])
    assert named.settled(frame).features == (3, 0)
    assert named.settled(X, names=["a", "b", "c", "d"]).features == (3, 0)
    assert_array_equal(named(frame), RBF(0.3, features=[3, 0])(X))
    both = WeightedSum([named, Scaled(Linear(features="b"), 2.0)]).settled(frame)
    assert [both.kernels[0].features, both.kernels[1].kernel.features] == [(3, 0), (1,)]


def test_a_kernel_that_is_settled_stays_as_it_is():
    kernel = RBF(0.3, features=[1])
    assert kernel.settled(X) is kernel


@KINDS
def test_other_columns_change_nothing(kind):
    kernel, _ = made(kind, [3, 0])
    other = X.copy()
    other[:, [1, 2]] = 1e5
    assert_array_equal(kernel(other), kernel(X))


@pytest.mark.parametrize("kernel", [RBF(features=[0, 2]), Polynomial(features=[0, 2])])
def test_scale_is_of_the_columns_that_count(kernel, layout):
    assert_allclose(kernel.settled(layout(X)).gamma, 1 / (2 * X[:, [0, 2]].var()), rtol=1e-12)


@pytest.mark.parametrize("kernel", [RBF(), Polynomial()])
def test_scale_is_one_over_features_times_variance(kernel, layout):
    settled = kernel.settled(layout(X))
    assert_allclose(settled.gamma, 1 / (4 * X.var()), rtol=1e-12)
    assert_allclose(kernel(layout(X)), settled(layout(X), layout(X)), rtol=1e-12)
    assert_allclose(kernel.diagonal(layout(X)), np.diag(kernel(X)), rtol=1e-12)
    assert settled.settled(10 * X) is settled


def test_scale_of_constant_rows_is_one():
    assert RBF().settled(np.full((3, 2), 5.0)).gamma == 1.0


# --- precision --------------------------------------------------------------------------------------------------------


def test_the_gaussian_kernel_does_not_mind_where_the_origin_is():
    assert_allclose(RBF(0.3)(X + 1e7, Z + 1e7), RBF(0.3)(X, Z), rtol=1e-6)
    assert_allclose(RBF(0.3)(X + 1e7), RBF(0.3)(X), rtol=1e-6)


def test_single_precision_rows_are_compared_in_double_precision(layout):
    single = X.astype(np.float32)
    assert_allclose(RBF(0.3)(layout(single)), RBF(0.3)(single.astype(np.float64)), rtol=1e-12)


def test_rows_infinitely_far_apart_are_nothing_alike():
    assert_allclose(RBF(1e100)(np.array([[0.0], [1e90]])), np.eye(2))


# --- sums and sizes ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("of", LAYOUTS)
def test_a_weighted_sum_adds_matrices(of):
    parts = [made("rbf", 1), made("linear"), made("cosine", [0, 2]), made("polynomial")]
    weights = [0.5, 0.0, 2.0, 0.1]
    kernel = WeightedSum([part for part, _ in parts], weights)
    expected = sum(w * f(X, Z) for w, (_, f) in zip(weights, parts, strict=True))
    assert_allclose(kernel(of(X), of(Z)), expected, rtol=1e-12, atol=1e-14)
    assert_allclose(kernel.diagonal(of(X)), np.diag(kernel(of(X))), rtol=1e-12)
    assert_allclose(WeightedSum([part for part, _ in parts])(X, Z), sum(f(X, Z) for _, f in parts), rtol=1e-12)


def test_kernels_of_weight_0_are_not_computed():
    wide = np.full((2, 2), 1e99)
    assert_allclose(WeightedSum([Cosine(), Polynomial(9, 1.0)], [1.0, 0.0])(wide), np.ones((2, 2)))
    assert_array_equal(WeightedSum([Polynomial(9, 1.0)], [0.0])(wide), np.zeros((2, 2)))


@KINDS
def test_normalised_by_trace_or_variance(kind, layout):
    kernel, expected = made(kind, [1, 3])
    sizes = {"trace": reference.trace, "variance": reference.variance}
    for by, size in sizes.items():
        scaled = kernel.normalised(layout(X), by=by)
        assert_allclose(scaled.factor, 1 / size(expected(X, X)), rtol=1e-10)
        assert_allclose(size(scaled(X)), 1.0, rtol=1e-10)
        assert_allclose(scaled(Z, X), expected(Z, X) / size(expected(X, X)), rtol=1e-10, atol=1e-14)
        assert_allclose(scaled.diagonal(Z), np.diag(expected(Z, Z)) / size(expected(X, X)), rtol=1e-10)


def test_normalising_puts_in_what_depends_on_the_rows():
    frame = pd.DataFrame(X, columns=list("abcd"))
    scaled = RBF(features="c").normalised(frame)
    assert scaled.kernel == RBF(1 / X[:, 2].var(), features=2)
    scaled(Z, X)


def test_variance_is_the_one_of_the_images():
    assert_allclose(1 / Linear().normalised(X, by="variance").factor, X.var(axis=0).sum(), rtol=1e-12)


@pytest.mark.parametrize(
    ("kernel", "by"), [(Linear(), "trace"), (Linear(), "variance"), (RBF(0.1), "variance"), (Cosine(), "trace")]
)
def test_a_kernel_without_size_keeps_its_values(kernel, by):
    assert kernel.normalised(np.zeros((5, 3)), by=by).factor == 1.0
    if by == "variance":  # of rows that are alike, but for rounding
        for n_rows in range(2, 40):
            assert kernel.normalised(np.full((n_rows, 3), 1 / 3), by=by).factor == 1.0


# --- blocks -----------------------------------------------------------------------------------------------------------


@KINDS
def test_blocks_leave_no_trace(kind, layout, monkeypatch):
    kernel, _ = made(kind)
    whole, others = kernel(layout(X)), kernel(layout(X), layout(Z))
    monkeypatch.setattr(_blocks, "_TILE", 3)
    monkeypatch.setattr(_blocks, "_VALUES", 11)
    assert_allclose(kernel(layout(X)), whole, rtol=1e-12, atol=1e-14)
    assert_allclose(kernel(layout(X), layout(Z)), others, rtol=1e-12, atol=1e-14)
    assert_array_equal(kernel(layout(X)), kernel(layout(X)).T)
    assert_allclose(kernel.normalised(X, by="variance")(X), kernel.normalised(X, by="variance").factor * whole)


def test_the_bits_do_not_depend_on_the_number_of_threads(monkeypatch):
    rows = np.random.default_rng(0).normal(size=(1100, 30))  # enough for threads
    matrices = []
    for n in (1, 2, 4):
        monkeypatch.setattr(os, "cpu_count", lambda n=n: n)
        with threadpool_limits(n, user_api="blas"):
            matrices.append(RBF(0.1)(rows))
    assert_array_equal(matrices[0], matrices[1])
    assert_array_equal(matrices[0], matrices[2])


def test_what_goes_wrong_in_a_block_is_said(monkeypatch):
    monkeypatch.setattr(_blocks, "_TILE", 2)
    monkeypatch.setattr(_blocks, "_VALUES", 10)
    with pytest.raises(ValueError, match="Polynomial: values of degree 9 overflow"):
        Polynomial(9, 1.0)(np.full((7, 2), 1e50))


@FEW
@KINDS
def test_rows_on_demand_are_those_of_the_matrix(kind, features, layout):
    kernel, expected = made(kind, features)
    K = Gram(kernel, layout(X))
    assert K.shape == (7, 7)
    for i in range(7):
        assert_allclose(K.row(i), expected(X, X)[i], rtol=1e-10, atol=1e-12)
    assert_allclose(K.diagonal(), np.diag(expected(X, X)), rtol=1e-12, atol=1e-14)
    weights = RNG.normal(size=(2, 7)) * (RNG.random((2, 7)) < 0.5)
    assert_allclose(K.times(weights), weights @ expected(X, X), rtol=1e-10, atol=1e-12)


def test_a_matrix_is_whole_where_it_fits():
    assert isinstance(gram(RBF(), np.ones((200, 2)), 1), np.ndarray)
    assert isinstance(gram(RBF(), np.ones((400, 2)), 1), Gram)


# --- names ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("kernel", "name"),
    [
        (Linear(), "linear"),
        (RBF(0.5, features=[1]), "rbf(gamma=0.5) on column 1"),
        (RBF(features=["petal width"]), "rbf(gamma=scale) on petal width"),
        (Polynomial(2, 1.0, 0.0, features=[0, 3]), "polynomial(degree=2, gamma=1, coef0=0) on columns 0, 3"),
        (Cosine(features=range(5)), "cosine on 5 columns"),
        (Scaled(Cosine(), 0.1), "cosine"),
        (WeightedSum([Linear(), RBF(2.0)], [0.25, 0.0]), "0.25 linear"),
        (WeightedSum([Linear()], [0.0]), "nothing"),
    ],
)
def test_kernels_have_short_names(kernel, name):
    assert str(kernel) == name


def test_names_of_columns_are_used_where_they_are_known():
    kernel = WeightedSum([RBF(0.5, features=1), Scaled(Linear(features=[0, 1]), 3.0)], [1.0, 2.0])
    assert kernel.describe(["sepal", "petal"]) == "1 rbf(gamma=0.5) on petal + 2 linear on sepal, petal"


# --- plain data -------------------------------------------------------------------------------------------------------

ALL = [
    Linear(),
    Cosine(features=np.array([1, 2])),
    RBF(features="a"),
    Polynomial(2, np.float64(0.5), 0, features=3),
    Scaled(WeightedSum([RBF(np.float32(0.5)), Scaled(Linear(), 2)], np.array([0.5, 1])), 0.1),
]


@pytest.mark.parametrize("kernel", ALL, ids=str)
def test_a_kernel_comes_back_from_plain_data(kernel):
    again = from_plain(json.loads(json.dumps(to_plain(kernel))))
    assert again == kernel
    assert copy.deepcopy(kernel) == kernel
    assert hash(again) == hash(kernel)


@pytest.mark.parametrize(
    "plain",
    [
        {},
        {"class": "Kernel"},
        {"class": "os.system", "features": None},
        {"class": ["RBF"], "features": None},
        {"class": "RBF", "features": None},
        {"class": "RBF", "gamma": 1.0, "features": None, "more": 1},
        {"class": "RBF", "gamma": float("nan"), "features": None},
        {"class": "RBF", "gamma": [1.0], "features": None},
        {"class": "Linear", "features": [-1]},
        {"class": "Linear", "features": [1, "a"]},
        {"class": "Linear", "features": [[1]]},
        {"class": "Linear", "features": 1.5},
        {"class": "Linear", "features": {"class": "Linear", "features": None}},
        {"class": "WeightedSum", "kernels": [], "weights": []},
        {"class": "WeightedSum", "kernels": [1], "weights": [1.0]},
        {"class": "WeightedSum", "kernels": [{"class": "Linear", "features": None}], "weights": [-1.0]},
        {"class": "WeightedSum", "kernels": [{"class": "Linear", "features": None}], "weights": [1.0, 1.0]},
    ],
    ids=str,
)
def test_what_is_no_kernel_is_refused(plain):
    with pytest.raises(ValueError):
        from_plain(plain)


def test_kernels_in_kernels_have_an_end():
    kernel = Linear()
    for _ in range(40):
        kernel = Scaled(kernel, 1.0)
    with pytest.raises(ValueError, match="is not a kernel"):
        from_plain(to_plain(kernel))


def test_kernels_of_others_are_not_kept():
    class Mine(Linear):
        pass

    with pytest.raises(ValueError, match="Mine is not a kernel of thresher"):
        to_plain(WeightedSum([Mine()]))


# --- what is refused --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: RBF(0.0), r'RBF: gamma must be "scale", "neighbors" or a number above 0, got 0.0\.'),
        (lambda: RBF("auto"), r"RBF: gamma must be"),
        (lambda: Polynomial(degree=0), r"Polynomial: degree must be an integer of at least 1, got 0\."),
        (lambda: Polynomial(coef0=-1.0), r"Polynomial: coef0 must be a number of at least 0, got -1.0\."),
        (lambda: Polynomial(9, 1.0)(np.full((1, 2), 1e50)), r"Polynomial: values of degree 9 overflow"),
        (lambda: RBF()(X, Z), r'RBF: gamma must be a number .* got "scale"; settled\(X\)'),
        (lambda: WeightedSum([RBF()])(X, Z), r'RBF: gamma must be a number .* got "scale"; settled\(X\)'),
        (lambda: Linear(features="a")(X, Z), r"Linear: features must be numbers of columns .*, got 'a'; settled\(X\)"),
        (lambda: Scaled(Linear(features="a"))(X, Z), r"Linear: features must be numbers of columns"),
        (lambda: Linear(features=[]), r"Linear: features must be None, a column of X .*, got \(\)\."),
        (lambda: Linear(features=[1, 1]), r"Linear: features must be .* list of different columns, got \(1, 1\)\."),
        (lambda: Linear(features=-1), r"Linear: features must be .*, got \(-1,\)\."),
        (lambda: Linear(features=True), r"Linear: features must be .*, got \(True,\)\."),
        (lambda: Linear(features=1.5), r"Linear: features must be .*, got 1.5\."),
        (lambda: Linear(features=[0, "a"]), r"Linear: features must be"),
        (lambda: Linear(features=4)(X), r"Linear: features must be columns of X, which has 4, got 4\."),
        (lambda: Linear(features=4)(X, Z), r"Linear: features must be columns of X, which has 4, got 4\."),
        (lambda: Linear(features=4)(sparse.csr_array(X), Z), r"Linear: features must be columns of X, which has 4"),
        (lambda: Linear(features="a")(X), r"Linear: features by name need rows with column names, got 'a'\."),
        (lambda: Linear(features="e").settled(X, names=list("abcd")), r"Linear: features must be columns .*, got 'e'"),
        (lambda: WeightedSum([]), r"WeightedSum: kernels must be a sequence of at least one kernel, got \(\)\."),
        (lambda: WeightedSum(Linear()), r"WeightedSum: kernels must be a sequence"),
        (
            lambda: WeightedSum([Linear()], [1.0, 2.0]),
            r"WeightedSum: weights must be one number per kernel, got 2 for 1",
        ),
        (lambda: WeightedSum([Linear()], [-1.0]), r"WeightedSum: weights must be numbers of at least 0"),
        (lambda: WeightedSum([Linear()], "a"), r"WeightedSum: weights must be numbers"),
        (lambda: Scaled(Linear(), 0.0), r"Scaled: factor must be a number above 0, got 0.0\."),
        (lambda: Scaled("rbf"), r"Scaled: kernel must be a kernel, got 'rbf'\."),
        (lambda: Linear().normalised(X, by="size"), r"normalised: by must be one of 'trace', 'variance', got 'size'\."),
    ],
)
def test_bad_kernels_are_refused(make, message):
    with pytest.raises(ValueError, match=message):
        make()


def test_the_base_class_is_public():
    assert all(isinstance(kernel, Kernel) for kernel in ALL)


def test_rows_that_cannot_be_compared_are_refused():
    for given, said in (
        (([[1.0, 2.0]], [[3.0]]), "RBF: both sets of rows must have the same columns, got 2 and 1."),
        (([1.0, 2.0],), "RBF: rows must be a table of two dimensions, got shape"),
        (([[np.nan]],), "RBF: rows must hold finite numbers."),
        (([[1.0]], sparse.csr_array([[np.inf]])), "RBF: rows must hold finite numbers."),
    ):
        with pytest.raises(ValueError, match=said):
            RBF(1.0)(*given)
