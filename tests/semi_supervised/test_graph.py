"""Graphs edge by edge, and their Laplacians against SciPy's."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from scipy.sparse import csgraph

from reference import laplacian as reference
from thresher.semi_supervised._graph import Drawn, Laplacian, check_adjacency, kernel_distances, laplacian, near_width

X = np.random.default_rng(0).normal(size=(40, 5)) * (np.random.default_rng(1).random((40, 5)) < 0.7)
X[3] = 0


def dense(W):
    return W.toarray() if sparse.issparse(W) else W


def drawn(graph="knn", k=4, weights="binary", gamma=None, metric="euclidean"):
    return Drawn(graph, k, weights, gamma, metric)


@pytest.mark.parametrize("metric", ["euclidean", "cosine"])
@pytest.mark.parametrize(("weights", "gamma"), [("binary", None), ("heat", None), ("heat", 0.3)])
@pytest.mark.parametrize("k", [1, 4, 1000])
@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
def test_neighbours_are_joined_in_both_directions(metric, weights, gamma, k, form, dtype):
    rows = X.astype(dtype)
    if metric == "cosine":
        rows[3] = 1  # a row of zeros is as far from all others
    W = drawn(k=k, weights=weights, gamma=gamma, metric=metric).between(form(rows), is_kernel=False)
    D = reference.distances(rows.astype(float), metric)
    expected = reference.knn_adjacency(D, min(k, 39), weights, gamma)
    assert_allclose(dense(W), expected, rtol=1e-6 if metric == "cosine" else 1e-9, atol=1e-12)
    assert_array_equal(dense(W), dense(W).T)
    assert not W.diagonal().any()
    assert W.nnz <= 2 * 40 * k


@pytest.mark.parametrize("gamma", [None, 0.7])
def test_a_full_graph_joins_all_rows(gamma, layout):
    W = drawn("full", gamma=gamma).between(layout(X), is_kernel=False)
    D = reference.distances(X)
    assert_allclose(W, reference.full_adjacency(D, gamma or reference.default_gamma(D, 4)), rtol=1e-9)
    assert_array_equal(W, W.T)


@pytest.mark.parametrize("graph", ["knn", "full"])
@pytest.mark.parametrize("metric", ["euclidean", "cosine"])
def test_a_kernel_has_distances_of_its_own(graph, metric):
    rows = np.delete(X, 3, axis=0)
    plain = drawn(graph, weights="heat", metric=metric).between(rows, is_kernel=False)
    inner = drawn(graph, weights="heat", metric=metric).between(rows @ rows.T, is_kernel=True)
    assert_allclose(dense(inner), dense(plain), rtol=1e-9, atol=1e-12)
    assert_allclose(kernel_distances(rows @ rows.T, metric), reference.distances(rows, metric) ** 2, atol=1e-12)


def test_rows_that_are_equal_are_neighbours_but_not_of_themselves():
    rows = np.repeat([[0.0, 1.0], [2.0, 0.0]], 3, axis=0)
    W = dense(drawn(k=2, weights="heat").between(rows, is_kernel=False))
    assert_array_equal(W, np.kron(np.eye(2), np.ones((3, 3)) - np.eye(3)))
    assert near_width(np.zeros((3, 2))) == 1.0


def test_rows_so_far_apart_that_nothing_is_left_have_no_edge():
    rows = np.array([[0.0], [1.0], [100.0]])
    W = drawn(k=1, weights="heat", gamma=1.0).between(rows, is_kernel=False)
    assert W.nnz == 2
    L = laplacian(W, normalized=True).toarray()
    assert_allclose(L, [[1, -1, 0], [-1, 1, 0], [0, 0, 0]], atol=1e-15)


@pytest.mark.parametrize("normalized", [True, False])
@pytest.mark.parametrize("form", [sparse.csr_array, np.asarray])
def test_laplacians_are_those_of_scipy_and_count_edges(normalized, form):
    rng = np.random.default_rng(2)
    W = reference.knn_adjacency(reference.distances(X), 3, "heat")
    W[7] = W[:, 7] = 0  # without edges
    L = laplacian(form(W), normalized=normalized)
    assert sparse.issparse(L) == (form is not np.asarray)
    L = dense(L)
    assert_allclose(L, csgraph.laplacian(W, normed=normalized), atol=1e-14)
    assert_array_equal(L, L.T)
    assert_array_equal(L[7], 0)
    assert np.linalg.eigvalsh(L).min() > -1e-12
    f = rng.normal(size=40)
    assert_allclose(f @ L @ f, reference.variation(W, f, normalized), rtol=1e-12)
    assert_allclose(Laplacian(form(L), 3).times(f), L @ L @ L @ f, rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("form", [sparse.csr_array, np.asarray])
@pytest.mark.parametrize("factor", [1e-310, 1e-200, 1e307])
def test_a_normalised_graph_has_no_scale(form, factor):
    W = reference.knn_adjacency(reference.distances(X), 3, "binary")
    assert_allclose(
        dense(laplacian(form(factor * W), normalized=True)), dense(laplacian(W, normalized=True)), atol=1e-14
    )


@pytest.mark.parametrize("form", [sparse.csr_array, np.asarray])
def test_rows_of_which_nothing_is_left_beside_others_have_no_edges(form):
    W = np.kron(np.diag([1.0, 1e-315]), 1 - np.eye(2))
    assert_array_equal(dense(laplacian(form(W), normalized=True)), [[1, -1, 0, 0], [-1, 1, 0, 0], [0] * 4, [0] * 4])


# --- a graph of the user's --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("form", [sparse.csr_array, sparse.coo_matrix, np.asarray, lambda W: W.tolist()])
def test_a_graph_of_the_users_loses_its_diagonal_and_stays_as_it_was(form):
    W = np.array([[5.0, 1, 0], [1, 0, 2], [0, 2, 0]])
    given = form(W)
    assert_array_equal(dense(check_adjacency(given, 3, "LapSVC", normalized=True)), W - np.diag([5.0, 0, 0]))
    assert_array_equal(dense(given), W)


@pytest.mark.parametrize(
    ("W", "said"),
    [
        (np.eye(2), r"LapSVC: adjacency must be a square matrix with a row for each of 3, got \(2, 2\)."),
        (np.ones((3, 2)), r"LapSVC: adjacency must be a square matrix with a row for each of 3, got \(3, 2\)."),
        (
            np.array([[0, 1, 0], [1, 0, -2], [0, -2, 0]]),
            "LapSVC: adjacency must hold finite numbers of at least 0, got -2.",
        ),
        (np.array([[0, 1, 0], [0, 0, 2], [0, 2, 0]]), "LapSVC: adjacency must be symmetric."),
        (
            np.array([[0, np.nan, 0], [np.nan, 0, 2], [0, 2, 0]]),
            "LapSVC: adjacency must hold finite numbers of at least 0, got nan.",
        ),
        (np.full((3, 3), np.inf), "LapSVC: adjacency must hold finite numbers of at least 0, got inf."),
        ([["a", "b"], ["c", "d"]], "LapSVC: adjacency must be a matrix of numbers."),
        ([[1.0], [2.0, 3.0]], "LapSVC: adjacency must be a matrix of numbers."),
        ("knn", "LapSVC: adjacency must be a matrix of numbers."),
        (np.ones(3), r"LapSVC: adjacency must be a square matrix with a row for each of 3, got \(3,\)."),
        (sparse.csr_array(np.triu(np.ones((3, 3)))), "LapSVC: adjacency must be symmetric."),
        (1e-20 * np.triu(np.ones((3, 3))), "LapSVC: adjacency must be symmetric."),
        (np.full((3, 3), 1 + 1j), "LapSVC: adjacency must be a matrix of numbers."),
        (sparse.csr_array(np.full((3, 3), 1 + 0j)), "LapSVC: adjacency must be a matrix of numbers."),
    ],
)
def test_what_is_no_graph_is_refused(W, said):
    with pytest.raises(ValueError, match=said) as refusal:
        check_adjacency(W, 3, "LapSVC", normalized=True)
    assert "\n" not in str(refusal.value)


def test_indices_beyond_the_matrix_are_refused():
    W = sparse.csr_array(np.ones((3, 3)))
    W.indices[4] = 1_000_000
    with pytest.raises(ValueError, match=r"LapSVC: adjacency must be a matrix of numbers\."):
        check_adjacency(W, 3, "LapSVC", normalized=True)


def test_weights_whose_sums_and_squares_leave_floating_point_need_a_normalised_graph():
    W = 1e200 * (1 - np.eye(3))
    said = r"^LapSVC: adjacency must hold no number above 1e\+100 unless normalized is True, got 1e\+200\.$"
    with pytest.raises(ValueError, match=said):
        check_adjacency(W, 3, "LapSVC", normalized=False)
    assert_array_equal(check_adjacency(W, 3, "LapSVC", normalized=True), W)
