"""How the answer is found: Newton's steps, roots of kernel matrices, and what is said where precision ends."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import optimize, sparse
from sklearn.datasets import make_moons
from sklearn.exceptions import ConvergenceWarning

from reference.laplacian import rows
from thresher.semi_supervised import LapSVC
from thresher.semi_supervised._conjugate import PrimalProblem
from thresher.semi_supervised._graph import Laplacian
from thresher.semi_supervised._lap_newton import _solved, exact_step, newton
from thresher.semi_supervised._manifold import ManifoldPenalty, Reduced, reduced, root

solvers = pytest.mark.parametrize("solver", ["dual", "primal"])


def test_a_step_is_the_best_along_its_way():
    rng = np.random.default_rng(0)
    for _ in range(200):
        n = rng.integers(1, 12)
        m, d, c = rng.normal(size=n) + 1, rng.normal(size=n), rng.exponential(size=n)
        if rng.random() < 0.3:
            m[0] = 1.0
        if rng.random() < 0.3:
            d[-1] = 0.0
        curvature = rng.exponential() + 0.01
        slope = -rng.exponential() + 2 * float((c * d * np.maximum(1 - m, 0)).sum())  # downhill at 0

        def value(t, m=m, d=d, c=c, slope=slope, curvature=curvature):
            return slope * t + curvature * t**2 + float(c @ np.maximum(1 - m - t * d, 0) ** 2)

        best = optimize.minimize_scalar(value, bounds=(0, 1e3), method="bounded", options={"xatol": 1e-12})
        t = exact_step(slope, curvature, m, d, c)
        assert t > 0
        assert value(t) <= best.fun + 1e-10 * (1 + abs(best.fun))


@pytest.mark.parametrize("inner", ["direct", "cg"])
def test_the_objective_never_rises_and_ends_where_no_start_matters(inner):
    steps = []
    for seed in range(20):
        X, y = rows(60, 50, seed)
        model = LapSVC(10.0 ** -(seed % 6), 10.0 ** (seed % 5), solver="primal", inner=inner, tol=1e-9, gamma=3.0)
        model.fit(X, y)
        assert model.residual_ < 1e-8
        assert (np.diff(model.objectives_) <= 0).all()
        steps.append(model.n_iter_)
    assert max(steps) >= 3


def test_a_plain_newton_step_that_would_cycle_or_overshoot_is_cut_short():
    """A problem of labelled rows alone where the minimum with the first active rows is worse than the start."""
    rng, cut = np.random.default_rng(0), 0
    for _ in range(300):
        F = rng.normal(size=(8, 3)) * 10.0 ** rng.uniform(-1, 2)
        y = np.where(rng.random(8) < 0.5, 1.0, -1.0)
        cost = 10.0 ** rng.uniform(-3, 3, size=8)
        penalty = ManifoldPenalty(10.0 ** rng.uniform(-4, 0), 0.0, Laplacian(sparse.csr_array((8, 8))), True)
        small = reduced(F, np.arange(8), penalty)
        found = newton(small, y, cost, 1e-10, 100)
        assert found.converged
        f = small.Q @ found.coef + found.intercept
        assert_allclose(found.coef, cost * y * np.maximum(1 - y * f, 0), atol=1e-7 * cost.max())
        cut += found.n_iter > 3
    assert cut > 10


def test_too_few_steps_are_said():
    X, y = rows(60, 50)
    with pytest.warns(ConvergenceWarning, match=r"^LapSVC: not converged, the relative gradient is"):
        LapSVC(1e-5, 1.0, solver="primal", gamma=3.0, max_iter=1).fit(X, y)


@pytest.mark.parametrize("shape", [(3, 8), (8, 3), (5, 5), (4, 300)])
def test_systems_are_as_large_as_the_fewer_of_features_and_labels(shape):
    rng = np.random.default_rng(0)
    H, cost = rng.normal(size=shape), 10.0 ** rng.uniform(-3, 3, size=shape[1])
    right = rng.normal(size=(shape[1], 2))
    expected = np.linalg.solve(H.T @ H + np.diag(1 / cost), right)
    assert_allclose(_solved(H, cost, right), expected, atol=1e-8 * np.abs(expected).max())


def test_many_labels_need_no_matrix_of_labels_in_the_primal(monkeypatch):
    X, y = rows(200, 190, seed=3)
    params = {"n_components": 10, "random_state": 0, "gamma": 0.5}
    model = LapSVC(solver="primal", cache_size=0.1, **params)
    with monkeypatch.context() as patch:
        patch.setattr(Reduced, "Q", property(lambda self: pytest.fail("made")))
        model.fit(X, y)
    assert model.residual_ < 1e-12
    said = r'^LapSVC: cache_size must hold a matrix of \d+ labels, 0 MB, got 0\.1; solver="primal" needs none\.$'
    with pytest.raises(ValueError, match=said):
        LapSVC(solver="dual", cache_size=0.1, **params).fit(X, y)
    LapSVC(solver="dual", cache_size=0.3, **params).fit(X, y)


@pytest.mark.parametrize("n_columns", [30, 65, 130])
def test_features_beyond_a_block_of_columns_count(n_columns):
    X = np.random.default_rng(0).normal(size=(160, n_columns))
    y = np.where(np.arange(160) < 60, (X[:, 0] > 0).astype(int), -1)
    params = {"solver": "primal", "kernel": "linear", "alpha": 0.1, "alpha_graph": 1e4}
    direct = LapSVC(**params).fit(X, y)
    assert root(direct.kernel_(X)).shape == (160, n_columns)
    by_products = LapSVC(inner="cg", tol=1e-8, **params).fit(X, y)
    assert_allclose(by_products.decision_function(X), direct.decision_function(X), atol=1e-8)


# --- conditions -------------------------------------------------------------------------------------------------------


def test_a_singular_kernel_matrix_is_no_trouble():
    X, y = rows()
    twice = np.r_[np.arange(50), np.arange(20)]
    for solver in ("dual", "primal"):
        model = LapSVC(kernel="linear", solver=solver, tol=1e-10, n_neighbors=4).fit(X[twice], y[twice])
        assert np.linalg.matrix_rank(model.kernel_(X[twice])) == 3
        assert_allclose(model.decision_function(X[:20]), model.decision_function(X[twice][50:]), atol=1e-9)
        assert root(model.kernel_(X[twice])).shape == (70, 3)


def test_a_root_is_one_or_is_refused():
    rng = np.random.default_rng(0)
    for rank in (1, 5, 20):
        F = rng.normal(size=(20, rank))
        found = root(F @ F.T)
        assert found.shape == (20, rank)
        assert_allclose(found @ found.T, F @ F.T, atol=1e-12)
    assert_array_equal(root(np.zeros((3, 3))), np.zeros((3, 1)))
    indefinite = rng.normal(size=(20, 20))
    assert root(indefinite + indefinite.T) is None
    hidden = np.zeros((4, 4))
    hidden[0, 0], hidden[2, 3], hidden[3, 2] = 1.0, 0.1, 0.1  # not seen on the diagonal
    assert root(hidden) is None
    X, y = rows()
    K = X @ X.T
    K[5, 6] = K[6, 5] = 50.0
    with pytest.raises(ValueError, match=r"^LapSVC: the kernel matrix must be positive semi-definite.$"):
        LapSVC(kernel="precomputed").fit(K, y)


ways = pytest.mark.parametrize("way", [("dual", "auto"), ("primal", "direct"), ("primal", "cg")], ids=str)


@ways
@pytest.mark.parametrize("seed", range(3))
def test_kernels_that_are_not_positive_semi_definite_are_refused(way, seed):
    y, rng = rows()[1], np.random.default_rng(seed)
    K = rng.normal(size=(50, 50)) if seed else -0.5 * np.ones((50, 50))
    K = (K + K.T) / 2
    K[np.diag_indices(50)] = 1.0
    with pytest.raises(ValueError, match=r"^LapSVC: the kernel matrix must be positive semi-definite.$"):
        LapSVC(kernel="precomputed", solver=way[0], inner=way[1]).fit(K, y)


@ways
@pytest.mark.parametrize("shift", [3000.0, 30_000.0])
def test_kernels_that_are_off_by_rounding_are_taken(way, shift):
    X, truth = make_moons(200, noise=0.05, random_state=0)
    y = np.where(np.arange(200) < 8, truth, -1)
    model = LapSVC(solver=way[0], inner=way[1], gamma=2.0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # scores are said to be off
        far = model.fit(sparse.csr_array(X + shift), y).decision_function(sparse.csr_array(X + shift))
    assert_allclose(far, model.fit(X, y).decision_function(X), atol=1e-9 * shift**1.5)


@ways
@pytest.mark.parametrize("alpha_graph", [0.0, 1000.0])
def test_a_kernel_that_is_0_leaves_the_constant(way, alpha_graph):
    y = np.array([0, 0, 0, 1, 1, -1, -1])
    model = LapSVC(1e-4, alpha_graph, solver=way[0], inner=way[1], kernel="linear", n_neighbors=2, normalized=False)
    model.fit(np.zeros((7, 2)), y)
    expected = -1.0 if way[0] == "dual" else -0.2  # the side of most labels, or their mean
    assert_allclose(model.decision_function(np.zeros((3, 2))), expected, atol=1e-9)
    assert_array_equal(model.transduction_, [0, 0, 0, 1, 1, 0, 0])


@pytest.mark.parametrize(
    ("params", "factor", "weight"),
    [({"alpha": 1e-300, "alpha_graph": 1e300}, 1.0, 1.0), ({"kernel": "linear"}, 1e90, 1e90)],  # later, and at once
)
def test_conjugate_gradients_that_leave_floating_point_are_refused(params, factor, weight, monkeypatch):
    monkeypatch.setattr("thresher._gate._rules.HUGE", 1e308)  # what the door would stop
    X, y = rows()
    model = LapSVC(solver="primal", inner="cg", scaling="thesis", **params)
    with pytest.raises(ValueError, match=r"^LapSVC: the solution overflowed; raise alpha, lower alpha_graph, or"):
        model.fit(factor * X, y, sample_weight=np.full(50, weight))
    assert not hasattr(model, "dual_coef_")


def test_conjugate_gradients_tell_how_far_scores_and_coefficients_differ():
    X, y = rows()
    K, labelled = np.exp(-((X[:, None] - X) ** 2).sum(axis=2)), np.flatnonzero(y != -1)
    penalty = ManifoldPenalty(1e-8, 1.0, Laplacian(np.eye(50)), True)
    found = PrimalProblem(K, labelled, penalty, 2.0 * y[labelled] - 1, np.ones(len(labelled))).descend(1e-9, 100)
    off = np.abs(K @ found.coef + found.intercept - found.scores).max() / max(1.0, np.abs(found.scores).max())
    assert 0 < off < 1e-6
    assert_allclose(found.off, off, rtol=0.5)


@solvers
def test_penalties_too_far_apart_are_said_or_refused(solver):
    X, y = rows()
    seen = []
    for power in range(0, 40, 2):
        model = LapSVC(10.0**-power, 10.0**power, solver=solver, gamma=2.0)
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always")
            try:
                model.fit(X, y)
            except ValueError as refusal:
                seen.append(str(refusal))
                continue
        seen += [str(each.message) for each in said]
        if not said:
            assert np.isfinite(model.decision_function(X)).all()
            assert_array_equal(model.transduction_[y == -1], model.predict(X)[y == -1])
    refused, said = (
        "LapSVC: alpha is too small compared with alpha_graph; raise",
        "LapSVC: alpha is so small compared with alpha_",
    )
    assert all(sentence.startswith((refused, said, "LapSVC: not converged")) for sentence in seen)
    assert {sentence[:30] for sentence in seen} >= {refused[:30], said[:30]}


@pytest.mark.slow
def test_a_hundred_thousand_rows_are_learned_by_landmarks():
    X, truth = make_moons(100_000, noise=0.1, random_state=0)
    y = np.where(np.arange(100_000) < 40, truth, -1)
    for solver in ("dual", "primal"):
        model = LapSVC(1e-4, 1e5, gamma=2.0, solver=solver, n_components="sqrt", random_state=0).fit(X, y)
        assert len(model.support_) == 317
        assert (model.transduction_ == truth).mean() > 0.98
        assert model.residual_ < 1e-6
