"""Centres by draws: Algorithm 12 step by step, and where it leads."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from scipy.optimize import linprog
from sklearn.datasets import make_blobs
from sklearn.preprocessing import normalize

from reference import cluster as reference
from thresher._core import learn_prototype
from thresher.cluster import SparseKMeans
from thresher.cluster._sweep import as_rows


def rows_with_zeros(seed=0, n_rows=40, width=15):
    rng = np.random.default_rng(seed)
    X = rng.normal(0.3, 1.0, size=(n_rows, width)) * (rng.random((n_rows, width)) < 0.5)
    return X, rng.integers(n_rows, size=120), rng.normal(size=width) * (rng.random(width) < 0.5)


@pytest.mark.parametrize("hinge", [False, True], ids=["squared", "hinge"])
@pytest.mark.parametrize("alpha", [0.0, 0.05, 0.3])
def test_every_draw_is_that_of_the_algorithm(layout, dtype, hinge, alpha):
    X, order, start = rows_with_zeros()
    X = X.astype(dtype)
    expected = list(reference.prototype(X[order].astype(float), start, alpha, 0.7, 0.1, hinge))
    assert any((w == 0).any() and w.any() for w in expected) or alpha == 0
    rows = as_rows(layout(X))
    for n_draws in (1, 2, 3, 7, 40, 120):
        w = start.copy()
        learn_prototype(rows, order[:n_draws], w, alpha, 0.7, 0.1, hinge)
        assert_allclose(w, expected[n_draws - 1], atol=1e-11)
        assert_array_equal(w == 0, expected[n_draws - 1] == 0)


def test_draws_come_close_to_the_shrunken_mean():
    X, _, start = rows_with_zeros(n_rows=200)
    order = np.random.default_rng(1).integers(200, size=200_000)
    w = start.copy()
    learn_prototype(as_rows(X), order, w, 0.1, 1.0, 0.1, False)
    exact = reference.centre(X, 0.1, cosine=False)
    assert np.abs(w - exact).max() < 0.05
    costs = [np.mean([reference.cost(x, each, 0.1, cosine=False) for x in X]) for each in (w, exact)]
    assert costs[1] <= costs[0] < costs[1] + 1e-2


def test_the_hinge_form_comes_close_to_the_minimum():
    """min mean [1 - x.w]_+ + alpha |w|_1 is a linear programme: w = p - q, slack s."""
    X = normalize(np.abs(rows_with_zeros(n_rows=60, width=6)[0]))
    n, d = X.shape
    alpha = 0.05
    cost = np.concatenate([np.full(2 * d, alpha), np.full(n, 1 / n)])
    best = linprog(cost, A_ub=np.hstack([-X, X, -np.eye(n)]), b_ub=-np.ones(n))
    order = np.random.default_rng(1).integers(n, size=300_000)
    w = np.zeros(d)
    learn_prototype(as_rows(X), order, w, alpha, 1.0, 0.1, True)
    value = np.maximum(1 - X @ w, 0).mean() + alpha * np.abs(w).sum()
    assert best.fun <= value <= best.fun + 0.01


@pytest.mark.parametrize("alpha", [0.0, 0.3])
def test_more_draws_come_nearer_to_the_exact_centre(layout, alpha):
    """The deviation is sqrt(eta s / 2) T^(-1/4), as of an Ornstein-Uhlenbeck process whose pull falls with sqrt(T)."""
    X = np.random.default_rng(0).normal(1.0, 1.0, size=(500, 1))
    (exact,) = SparseKMeans(1, alpha=alpha).fit(X).cluster_centers_[0]
    assert exact == pytest.approx(reference.centre(X, alpha, cosine=False)[0])
    for n_steps in (100, 10_000, 200_000):
        drawn = [
            SparseKMeans(1, alpha=alpha, solver="rda", n_steps=n_steps, max_iter=1, random_state=seed).fit(layout(X))
            for seed in range(20)
        ]
        off = np.array([model.cluster_centers_[0, 0] for model in drawn]) - exact
        assert 0.5 < np.sqrt(np.mean(off**2)) / (np.sqrt(0.5) * n_steps**-0.25) < 1.5


def test_a_draw_that_moves_nothing_is_not_the_last():
    """The second row is where the centre is by then, and moves it by less than 1e-9."""
    X = np.array([[1.0], [3.0]])
    at = next(reference.prototype(X[:1], np.array([0.5]), 0.0, 1.0, 0.1, False))
    rows = np.array([[1.0], at, [3.0]])
    order = np.array([0, 1] + [2] * 50)
    w = np.array([0.5])
    learn_prototype(as_rows(rows), order, w, 0.0, 1.0, 0.1, False)
    *_, expected = reference.prototype(rows[order], np.array([0.5]), 0.0, 1.0, 0.1, False)
    assert_allclose(w, expected, atol=1e-11)
    assert abs(w[0] - at[0]) > 0.5


@pytest.mark.parametrize("metric", ["euclidean", "cosine"])
def test_kmeans_by_draws_is_close_to_kmeans(layout, metric):
    X, _ = make_blobs(400, 5, centers=4, cluster_std=0.5, random_state=1)
    X[np.abs(X) < 0.5] = 0
    exact = SparseKMeans(4, alpha=0.05, metric=metric, n_init=3, random_state=0).fit(X)
    drawn = SparseKMeans(
        4, alpha=0.05, metric=metric, solver="rda", init=exact.cluster_centers_, max_iter=5, random_state=0
    ).fit(layout(X))
    assert (drawn.labels_ == exact.labels_).mean() > 0.98
    assert (np.diff(drawn.objective_history_) <= 0).all()
    if metric == "euclidean":
        assert exact.inertia_ <= drawn.inertia_ < 1.1 * exact.inertia_
    else:
        assert_allclose(np.linalg.norm(drawn.cluster_centers_, axis=1), 1.0)
    again = SparseKMeans(
        4, alpha=0.05, metric=metric, solver="rda", init=exact.cluster_centers_, max_iter=5, random_state=0
    ).fit(layout(X))
    assert_array_equal(again.cluster_centers_, drawn.cluster_centers_)


def test_rows_are_drawn_by_their_weights():
    X = np.array([[0.0], [0.0], [0.0], [4.0], [10.0], [14.0]])
    weight = np.array([1.0, 1.0, 1.0, 9.0, 1.0, 3.0])
    model = SparseKMeans(2, solver="rda", init=[[0.0], [10.0]], max_iter=1, n_steps=50_000, random_state=0)
    assert_allclose(model.fit(X, sample_weight=weight).cluster_centers_, [[3.0], [13.0]], atol=0.2)


def test_bad_calls_are_refused():
    rows = as_rows(sparse.csr_array(np.eye(3)))
    order, w = np.zeros(2, dtype=np.int64), np.zeros(3)
    for bad, said in [
        ({"order": order + 3}, "row that is not there"),
        ({"w": w[:2]}, "weight for every feature"),
        ({"alpha": -1.0}, "alpha must not be negative"),
        ({"eta0": 0.0}, "above 0"),
        ({"smoothing": 0.0}, "above 0"),
    ]:
        call = {"order": order, "w": w, "alpha": 0.1, "eta0": 1.0, "smoothing": 0.1, "hinge": False} | bad
        with pytest.raises(ValueError, match=said):
            learn_prototype(rows, **call)


def test_centres_are_learned_from_where_they_were():
    """After one draw, the centre before still counts."""
    X = np.array([[1.0, 2.0], [10.0, -9.0]])
    start = np.array([[0.5, 2.5], [9.0, -8.0]])
    model = SparseKMeans(2, solver="rda", init=start, n_steps=1, max_iter=1, random_state=0).fit(X)
    expected = [next(reference.prototype(x[None], w, 0.0, 1.0, 0.1, False)) for x, w in zip(X, start, strict=True)]
    assert_allclose(model.cluster_centers_, expected, atol=1e-12)
