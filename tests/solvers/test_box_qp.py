"""Kernel problems in boxes: against a general solver, by their optimality conditions, and by what a gap promises."""

from __future__ import annotations

import cvxpy as cp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.svm import SVC, SVR, OneClassSVM

from thresher._kernels import RBF, Gram
from thresher.solvers import box_qp, linear_qp


def problem(seed, n=25, m=1, wide=False):
    """Boxes of all kinds, kinks in some variables, signs and a total that can be met."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    K = rbf_kernel(X, gamma=0.3) if rng.random() < 0.7 else X @ X.T
    lower, upper = -rng.exponential(size=(m, n)), rng.exponential(size=(m, n))
    kind = rng.integers(5, size=(m, n))
    lower[kind == 0] = 0
    upper[kind == 1] = 0
    upper[kind == 2] = lower[kind == 2] + 0.1
    if wide:
        lower[:, 0], upper[:, 0] = -np.inf, np.inf
    signs = rng.choice([-1.0, 1.0], size=(m, n))
    inside = np.clip(rng.normal(size=(m, n)), lower, upper)
    epsilon = rng.exponential(size=(m, n)) * (rng.random((m, n)) < 0.5) * 0.3
    if wide:
        epsilon[:, 0] = 0
    A = rng.normal(size=(m, m))
    return {
        **{"K": K, "linear": rng.normal(size=(m, n)), "lower": lower, "upper": upper, "epsilon": epsilon},
        **{"signs": signs, "total": (signs * inside).sum(axis=1), "coupling": A @ A.T + 0.01 * np.eye(m)},
    }


def by_cvxpy(p):
    m, n = p["linear"].shape
    x = cp.Variable((m, n))
    root = np.linalg.cholesky(p["K"] + 1e-12 * np.eye(n))
    mixing = np.linalg.cholesky(p["coupling"])
    smooth = 0.5 * cp.sum_squares(mixing.T @ x @ root)
    objective = smooth - cp.sum(cp.multiply(p["linear"], x)) + cp.sum(cp.multiply(p["epsilon"], cp.abs(x)))
    low, high = np.maximum(p["lower"], -1e6), np.minimum(p["upper"], 1e6)
    equal = cp.sum(cp.multiply(p["signs"], x), axis=1) == p["total"]
    cp.Problem(cp.Minimize(objective), [x >= low, x <= high, equal]).solve(solver=cp.CLARABEL)
    return float(objective.value)


def objective_of(p, x):
    smooth = 0.5 * np.sum(p["coupling"] * (x @ p["K"] @ x.T))
    return smooth - np.sum(p["linear"] * x) + np.sum(p["epsilon"] * np.abs(x))


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("m", [1, 3])
def test_the_least_objective_is_that_of_a_general_solver(seed, m):
    p = problem(seed, m=m, wide=seed % 4 == 3)
    found = box_qp(**p, tol=1e-10)
    assert found.converged
    best = by_cvxpy(p)
    assert found.objective == pytest.approx(best, rel=1e-6, abs=1e-6)
    assert objective_of(p, found.x) == pytest.approx(found.objective, rel=1e-12, abs=1e-12)
    assert (found.x >= p["lower"]).all()
    assert (found.x <= p["upper"]).all()
    assert_allclose((p["signs"] * found.x).sum(axis=1), p["total"], atol=1e-12)
    assert_allclose(found.scores, p["coupling"] @ found.x @ p["K"], atol=1e-10)


@settings(max_examples=40, deadline=None)
@given(seed=st.integers(0, 10_000), m=st.integers(1, 3), n_steps=st.integers(1, 60))
def test_the_optimum_lies_within_the_gap_wherever_the_search_is_left(seed, m, n_steps):
    p = problem(seed, n=15, m=m)
    best = box_qp(**p, tol=1e-12)
    found = box_qp(**p, tol=0.0, max_iter=n_steps)
    slack = 1e-9 * max(1.0, abs(best.objective))
    x = np.atleast_2d(found.x)
    assert objective_of(p, x) == pytest.approx(found.objective, rel=1e-10, abs=1e-10)
    assert_allclose(np.atleast_2d(found.scores), p["coupling"] @ x @ p["K"], atol=1e-9)
    assert found.objective >= best.objective - slack
    assert found.objective - found.gap <= best.objective + slack


@pytest.mark.parametrize("seed", range(8))
def test_every_variable_is_best_at_its_rate(seed):
    """KKT: with r = linear - scores - multiplier * signs, an x inside its box has r = epsilon sign(x), one at an end
    would go on if it could, one at 0 has |r| <= epsilon."""
    p = {name: value[0] if value.ndim == 2 and name != "K" else value for name, value in problem(seed).items()}
    del p["coupling"]
    p["total"] = float(p["total"][0])
    found = box_qp(**p, tol=1e-13)
    x, e = found.x, p["epsilon"]
    r = p["linear"] - found.scores - found.multiplier * p["signs"]
    inside = (x > p["lower"]) & (x < p["upper"])
    assert_allclose(r[inside & (x != 0)], (e * np.sign(x))[inside & (x != 0)], atol=1e-6)
    assert (np.abs(r) <= e + 1e-6)[inside & (x == 0)].all()
    assert (r >= -e - 1e-6)[(x == p["upper"]) & (x == 0)].all()
    assert (r <= e + 1e-6)[(x == p["lower"]) & (x == 0)].all()
    assert (r >= e - 1e-6)[(x == p["upper"]) & (x > 0)].all()
    assert (r <= -e + 1e-6)[(x == p["lower"]) & (x < 0)].all()


def machine(n=300, seed=0, C=1.0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 4))
    y = np.where(X[:, 0] * X[:, 1] + X[:, 2] + 0.5 * rng.normal(size=n) > 0.3, 1.0, -1.0)
    return X, y, np.minimum(0, C * y), np.maximum(0, C * y)


@pytest.mark.parametrize("C", [0.01, 1.0, 100.0])
def test_a_support_vector_machine_is_that_of_libsvm(C):
    X, y, low, high = machine(C=C)
    K = rbf_kernel(X, gamma=0.2)
    ours, theirs = box_qp(K, y, low, high, tol=1e-11), SVC(C=C, kernel="precomputed", tol=1e-9).fit(K, y)
    assert_allclose(ours.x[theirs.support_], theirs.dual_coef_[0], atol=5e-5 * C)  # whose kernel values are of float32
    assert_array_equal(np.flatnonzero(np.abs(ours.x) > 5e-5 * C), np.sort(theirs.support_))
    assert_allclose(ours.scores + ours.multiplier, theirs.decision_function(K), atol=1e-4)


def test_regression_and_the_one_class_machine_are_those_of_libsvm():
    X, _, _, _ = machine()
    K, target = rbf_kernel(X, gamma=0.2), np.sin(X[:, 0]) + X[:, 1]
    ours = box_qp(K, target, -2.0, 2.0, epsilon=0.1, tol=1e-11)
    theirs = SVR(C=2.0, epsilon=0.1, kernel="precomputed", tol=1e-9).fit(K, target)
    assert_allclose(ours.scores + ours.multiplier, theirs.predict(K), atol=1e-4)
    one = OneClassSVM(nu=0.2, kernel="precomputed", tol=1e-10).fit(K)
    ours = box_qp(K, 0.0, 0.0, 1.0, total=0.2 * len(K), tol=1e-11)
    assert_allclose(ours.scores + ours.multiplier, one.decision_function(K), atol=1e-4)


@pytest.mark.parametrize("room", [0.0001, 0.2, 100.0], ids=["two rows", "some rows", "all rows"])
def test_rows_on_demand_give_the_same_bits_as_the_whole_matrix(room):
    X, y, low, high = machine(n=400, C=10.0)
    kernel, asked = RBF(gamma=0.2), []

    class Counted(Gram):
        def row(self, i):
            asked.append(i)
            return K[i].copy()

        def diagonal(self):
            return K.diagonal().copy()

    K = kernel(X)
    whole = box_qp(K, y, low, high)
    lazy = box_qp(Counted(kernel, X), y, low, high, cache_size=room)
    assert_array_equal(lazy.x, whole.x)
    assert lazy.n_iter == whole.n_iter
    if room == 100.0:
        assert len(asked) == len(set(asked)) <= 400
    else:
        assert len(asked) > len(set(asked))


def test_a_gram_is_its_matrix():
    X, *_ = machine(n=50)
    lazy, K = Gram(RBF(gamma=0.2), sparse.csr_array(X)), RBF(gamma=0.2)(X)
    assert_allclose(lazy.row(7), K[7], atol=1e-14)
    assert_allclose(lazy.diagonal(), K.diagonal())
    weights = np.random.default_rng(0).normal(size=(2, 50)) * (np.arange(50) % 3 == 0)
    assert_allclose(lazy.times(weights), weights @ K, atol=1e-12)


def test_a_start_near_the_end_saves_steps_and_leads_to_the_same_end():
    X, y, low, high = machine(n=500, C=10.0)
    K = rbf_kernel(X, gamma=0.2)
    cold = box_qp(K, y, low, high, tol=1e-9)
    K *= 1.001
    warm = box_qp(K, y, low, high, start=cold.x, tol=1e-5)
    again = box_qp(K, y, low, high, tol=1e-5)
    assert warm.n_iter < 0.2 * again.n_iter
    assert warm.objective == pytest.approx(again.objective, rel=1e-5)
    assert box_qp(K / 1.001, y, low, high, start=cold.x, tol=1e-8).n_iter == 0


@pytest.mark.parametrize("seed", range(6))
def test_no_step_raises_the_objective(seed):
    """Kinks at 0 included: a step that goes through one goes on only while that pays."""
    p = problem(seed, n=15, m=1 + seed % 2)
    values = [box_qp(**p, tol=0.0, max_iter=k).objective for k in range(1, 40)]
    assert (np.diff(values) <= 1e-12).all()


def test_a_variable_that_reaches_the_end_of_its_box_is_there_to_the_bit():
    X, y, low, high = machine(C=0.3)
    x = box_qp(rbf_kernel(X, gamma=0.2), y, low, high, tol=1e-9).x
    assert ((x == low) | (np.abs(x - low) > 1e-12)).all()
    assert ((x == high) | (np.abs(x - high) > 1e-12)).all()


def test_without_a_variable_inside_its_box_the_multiplier_is_in_the_middle_of_where_it_may_be():
    """Two rows, each at its C: all constants between -0.9 and 0.9 are as good."""
    found = box_qp(np.eye(2), [1.0, -1.0], [0.0, -0.1], [0.1, 0.0])
    assert_array_equal(found.x, [0.1, -0.1])
    assert found.multiplier == pytest.approx(0.0, abs=1e-12)


def test_shrinking_leaves_the_answer_alone():
    """Thousands of steps on 600 rows: variables are left out and come back."""
    X, y, low, high = machine(n=600, C=1000.0)
    K = rbf_kernel(X, gamma=0.05)
    found = box_qp(K, y, low, high, tol=1e-9)
    assert found.n_iter > 5000
    assert found.converged
    assert_allclose(found.scores, K @ found.x, atol=1e-9)
    assert found.gap <= 1e-9 * abs(found.objective)


@pytest.mark.parametrize("room", [0.0, 0.05, 500.0], ids=["two rows", "some rows", "all rows"])
def test_memory_for_rows_in_single_precision_does_not_change_a_bit(room):
    X, y, low, high = machine(n=600, C=100.0)
    K = rbf_kernel(X, gamma=0.05)
    found, most = (box_qp(K, y, low, high, tol=1e-7, cache_size=megabytes) for megabytes in (room, 1000.0))
    assert_array_equal(found.x, most.x)
    assert found.n_iter == most.n_iter


@pytest.mark.parametrize("scale", [1e-90, 1e-30, 1e30, 1e90])
def test_kernels_beyond_single_precision_are_solved_as_others(scale):
    X, y, low, high = machine(n=600, C=100.0)
    K = rbf_kernel(X, gamma=0.05)
    plain = box_qp(K, y, low, high, tol=1e-9)
    found = box_qp(K * scale, y, low / scale, high / scale, tol=1e-9)
    assert found.converged
    assert found.n_iter > 1000  # some of them on copies
    assert found.objective * scale == pytest.approx(plain.objective, rel=2e-9)


def test_rows_that_single_precision_cannot_tell_apart_do_not_keep_the_gap_from_closing():
    """Pairs of rows 1e-9 apart: kernels differ by less than a float can say, and curvatures come from the matrix."""
    X, y, low, high = machine(n=300, C=1000.0)
    twins = np.repeat(X, 2, axis=0) + 1e-9 * np.random.default_rng(1).normal(size=(600, 4))
    K = rbf_kernel(twins, gamma=0.05)
    found = box_qp(K, np.repeat(y, 2), np.repeat(low, 2), np.repeat(high, 2), tol=1e-9)
    assert found.converged
    assert found.n_iter > 3000
    assert found.gap <= 1e-9 * abs(found.objective)
    assert_allclose(found.scores, K @ found.x, rtol=1e-9, atol=1e-7)


def test_rows_that_are_alike_and_rows_of_zeros_do_no_harm():
    X, y, low, high = machine(n=60)
    K = np.tile(rbf_kernel(X[:30], gamma=0.2), (2, 2))
    K[:, :3] = K[:3] = 0
    found = box_qp(K, y, low, high, tol=1e-8)
    assert found.converged


def test_a_square_that_is_not_one_is_refused():
    K = np.eye(3)
    for bad, said in [
        ({"K": K[:2]}, "square"),
        ({"K": K.astype(np.float32)}, "float64"),
        ({"linear": [1, 2]}, "linear must fit"),
        ({"lower": np.nan}, "lower must not hold NaN"),
        ({"linear": np.inf}, "finite"),
        ({"total": 5.0}, "no x inside the boxes"),
        ({"epsilon": -1.0}, "epsilon must not be negative"),
        ({"signs": 2.0}, "signs must be 1 or -1"),
        ({"tol": -1.0}, "tol must be"),
        ({"lower": -np.inf, "upper": np.inf, "K": np.zeros((3, 3)), "linear": [1.0, 0, 0]}, "no least value"),
    ]:
        given = {"K": K, "linear": np.ones(3), "lower": -1.0, "upper": 1.0} | bad
        with pytest.raises(ValueError, match=said):
            box_qp(**given)


# --- on rows ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "layout", [np.asarray, sparse.csr_array, lambda X: X.astype(np.float32)], ids=["dense", "csr", "float32"]
)
@pytest.mark.parametrize("seed", range(4))
def test_the_linear_kernel_on_rows_is_the_same_problem(layout, seed):
    rng = np.random.default_rng(seed)
    X = np.round(rng.normal(size=(60, 5)) * (rng.random((60, 5)) < 0.6), 2).astype(np.float32).astype(float)
    linear, epsilon = rng.normal(size=60), 0.2 * rng.random(60) * (rng.random(60) < 0.5)
    low, high = -rng.exponential(size=60), rng.exponential(size=60)
    low[:10], total = 0, 0.7
    dense = box_qp(X @ X.T, linear, low, high, epsilon=epsilon, total=total, tol=1e-10)
    found = linear_qp(layout(X), linear, low, high, epsilon=epsilon, total=total, tol=1e-9)
    assert found.converged
    assert found.objective == pytest.approx(dense.objective, rel=1e-8)
    assert found.x.sum() == pytest.approx(total, abs=1e-12)
    assert_allclose(found.x @ X, dense.x @ X, atol=1e-4)
    assert found.objective - found.gap <= dense.objective + 1e-9
    assert_array_equal(np.clip(found.x, low, high), found.x)


def test_a_linear_machine_on_rows_is_that_of_libsvm():
    X, y, low, high = machine(n=400)
    found = linear_qp(X, y, low, high, tol=1e-9)
    theirs = SVC(kernel="linear", C=1.0, tol=1e-8).fit(X, y)
    assert_allclose(found.x @ X, theirs.coef_[0], atol=1e-4)
    assert found.multiplier == pytest.approx(theirs.intercept_[0], abs=1e-4)
    again = linear_qp(X, y, low, high, start=found.x, tol=1e-8)
    assert again.n_iter <= 2


def test_linear_problems_that_are_none_are_refused():
    X = np.ones((3, 2))
    for bad, said in [
        ({"upper": np.inf}, "finite"),
        ({"total": 9.0}, "no x inside"),
        ({"lower": 2.0}, "must not exceed"),
        ({"linear": [1.0]}, None),
    ]:
        given = {"X": X, "linear": np.ones(3), "lower": -1.0, "upper": 1.0} | bad
        if said is None:
            assert linear_qp(**given).converged
            continue
        with pytest.raises(ValueError, match=said):
            linear_qp(**given)
    assert not linear_qp(X, np.arange(3.0), -1.0, 1.0, tol=0.0, max_iter=1).converged
