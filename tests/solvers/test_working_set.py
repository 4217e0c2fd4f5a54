"""Problems solved on some columns, and judged on all: the answers of the loop on all columns, with fewer products."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.linear_model import Lasso

from solvers.problems import CASES, FREE, LOSSES, data, truth
from thresher.solvers import _working_set, alpha_max, group_lasso, lasso, multi_task, multi_task_alpha_max
from thresher.solvers._fista import CompositeProblem
from thresher.solvers._penalties import grouped, rows_of, singles
from thresher.solvers._solver_rows import TaskRows

losses = pytest.mark.parametrize("loss", LOSSES)
free = pytest.mark.parametrize("fit_intercept", FREE.values(), ids=FREE)
forms = pytest.mark.parametrize("form", [np.asarray, sparse.csr_array], ids=["dense", "csr"])
N_WIDE = 60
SLOW = ("tasks-l1.5", "tasks-l3-l1")  # their proximal maps are


@pytest.fixture
def rounds(monkeypatch):
    """Small sets, and what the loop was called with: the number of columns and the steps it took."""
    called = []
    plain = _working_set.minimise

    def spied(problem, W, tol, max_iter):
        found = plain(problem, W, tol, max_iter)
        called.append((len(W), found.n_iter))
        return found

    monkeypatch.setattr(_working_set, "minimise", spied)
    monkeypatch.setattr(_working_set, "_FIRST", 3)
    monkeypatch.setattr(_working_set, "_MOST", 0.9)
    return called


def wide(case, loss):
    """Columns that do not matter beside those of the small problems."""
    X, y = data(case, loss)
    rng = np.random.default_rng(9)

    def widened(A):
        return np.hstack([A, (rng.normal(size=(len(A), N_WIDE - A.shape[1])) + 1) * (rng.random() + 0.5)])

    return ([widened(A) for A in X] if case.n_tasks else widened(X)), y


def whole(monkeypatch, solve):
    """The same, on all columns at once."""
    with monkeypatch.context() as patch:
        patch.setattr(_working_set, "_FIRST", np.inf)
        return solve()


# --- the same answers -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", [pytest.param(name, marks=[pytest.mark.slow] * (name in SLOW)) for name in CASES])
@losses
@free
def test_answers_are_those_of_the_loop_on_all_columns(rounds, monkeypatch, name, loss, fit_intercept):
    case = CASES[name]
    form = sparse.csr_array if fit_intercept == (loss == "squared") else np.asarray
    X, y = wide(case, loss)
    options = {"loss": loss, "fit_intercept": fit_intercept}
    alpha = (0.12 if fit_intercept else 0.3) * case.top(X, y, **options)
    X = [form(A) for A in X] if case.n_tasks else form(X)

    found = case.solver(X, y, alpha, tol=1e-11, **options)
    sizes = [size for size, _ in rounds]
    assert len(sizes) > 1
    assert max(sizes) < N_WIDE
    assert found.n_iter == sum(steps for _, steps in rounds)
    rounds.clear()
    plain = whole(monkeypatch, lambda: case.solver(X, y, alpha, tol=1e-11, **options))
    assert [steps for _, steps in rounds] == [plain.n_iter]
    assert rounds[0][0] >= N_WIDE

    assert found.converged
    assert plain.converged
    assert abs(found.objective - plain.objective) <= max(found.gap, plain.gap) + 1e-13
    assert_array_equal(found.coef != 0, plain.coef != 0)
    assert_allclose(found.coef, plain.coef, atol=2e-5)
    assert_allclose(found.intercept, plain.intercept, atol=2e-4)


@forms
def test_hundreds_of_columns_are_solved_on_few_without_being_asked(monkeypatch, form):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(100, 1000)) * (rng.random((100, 1000)) < 0.3) + 0.1
    y = X[:, ::100] @ rng.normal(size=10) + 0.1 * rng.normal(size=100)
    sizes = []
    on_columns = _working_set.on_columns
    monkeypatch.setattr(_working_set, "on_columns", lambda p, c: sizes.append(len(c)) or on_columns(p, c))
    alpha = 0.2 * alpha_max(X, y)
    found = lasso(form(X), y, alpha, tol=1e-10)
    model = Lasso(alpha, tol=1e-12, max_iter=100_000).fit(X, y)
    assert_allclose(found.coef, model.coef_, atol=1e-5)
    assert_array_equal(found.coef != 0, model.coef_ != 0)
    assert_allclose(found.intercept, model.intercept_, atol=1e-5)
    assert 0 < max(sizes) <= 500


# --- the certificate --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["lasso", "elastic-net", "sparse-group", "overlapping", "tasks-l21"])
@free
def test_the_gap_is_that_of_the_whole_problem_after_any_number_of_steps(rounds, name, fit_intercept):
    case = CASES[name]
    X, y = data(case, "logistic")
    options = {"loss": "logistic", "fit_intercept": fit_intercept}
    alpha = 0.2 * case.top(X, y, **options)
    value, *_ = truth(case, X, y, alpha, "logistic", fit_intercept)
    for max_iter in (1, 5, 12, 20, 35, 60):
        rounds.clear()
        found = case.solver(X, y, alpha, max_iter=max_iter, tol=1e-12, **options)
        assert rounds[0][0] < 12
        assert -1e-8 <= found.objective - value <= found.gap + 1e-8
        assert found.converged == (found.gap <= 1e-12)
        assert found.n_iter == max_iter or (found.n_iter < max_iter and found.converged)


@losses
def test_a_group_that_the_first_set_misses_is_found(rounds, loss):
    """y = x0 - x1, and x1 has nothing to do with y: it is needed only where x0 is there"""
    rng = np.random.default_rng(3)
    u, v = np.linalg.qr(rng.normal(size=(200, 2)))[0].T * np.sqrt(200)
    X = np.column_stack([u + v, v, 0.1 * rng.normal(size=(200, 58))])
    y = u if loss == "squared" else np.sign(u)
    groups = [[0, 2], [1, 3]]
    alpha = 0.1 * alpha_max(X, y, groups=groups, loss=loss, fit_intercept=False)
    penalty = grouped([*groups, *([j] for j in range(4, 60))], 2.0, 0.0).times(alpha)
    problem = CompositeProblem([TaskRows(X, y, LOSSES[loss], False)], LOSSES[loss], penalty, 0.0)
    first = _working_set.enlarged(penalty, problem.null_gradient(), np.zeros(60, dtype=bool))
    assert first[0]
    assert not first[1]
    found = group_lasso(X, y, groups, alpha, loss=loss, fit_intercept=False, tol=1e-10)
    assert found.converged
    assert found.coef[0] > 0.1
    assert found.coef[1] < -0.1


# --- where it ends ----------------------------------------------------------------------------------------------------


def test_a_set_that_grows_to_almost_all_columns_ends_on_all(rounds):
    X, y = wide(CASES["lasso"], "squared")
    found = lasso(np.vstack([X, X[:, ::-1]]), np.tile(y, 2), 1e-3, tol=1e-9)
    assert found.converged
    assert np.count_nonzero(found.coef) > 0.8 * N_WIDE
    assert rounds[0][0] < N_WIDE
    assert rounds[-1][0] == N_WIDE
    assert found.n_iter == sum(steps for _, steps in rounds)


@pytest.mark.parametrize("seed", range(2))
@losses
def test_it_ends_where_rounding_hides_the_optimum(rounds, loss, seed):
    X, y = wide(CASES["lasso"], loss)
    X = X + 1e-3 * np.random.default_rng(seed).normal(size=X.shape)
    top = alpha_max(X, y, loss=loss)
    for part in (0.5, 0.9, 1.0, 1.1):
        found = lasso(X, y, part * top, loss=loss, tol=1e-300, max_iter=3000)
        assert found.n_iter <= 3000
        assert found.gap < 1e-12


def test_sets_that_cannot_come_nearer_are_left(rounds, monkeypatch):
    """A loop that takes no step on a set: as where the gap there is 0, and that on all columns is not, by rounding."""
    X, y = wide(CASES["lasso"], "squared")
    plain = _working_set.minimise

    def idle(problem, W, tol, max_iter):
        return plain(problem, W, tol if len(W) == N_WIDE else np.inf, max_iter)

    monkeypatch.setattr(_working_set, "minimise", idle)
    found = lasso(X, y, 0.9 * alpha_max(X, y))
    assert found.converged
    assert rounds[-1][0] == N_WIDE


def test_a_set_without_columns_is_not_tried(rounds, monkeypatch):
    """No block is pulled from 0, and still the bound is a little below the objective"""
    certify = CompositeProblem.certify

    def rounded(self, *point):
        here = certify(self, *point)
        return here._replace(lower=here.lower - 1e-6)

    monkeypatch.setattr(CompositeProblem, "certify", rounded)
    X, y = wide(CASES["lasso"], "squared")
    found = lasso(X, y, 1.1 * alpha_max(X, y), max_iter=20)
    assert rounds == [(N_WIDE, 20)]
    assert not found.coef.any()
    assert not found.converged


@losses
def test_a_start_counts_and_is_left_alone(rounds, loss):
    case = CASES["sparse-group"]
    X, y = wide(case, loss)
    alpha = 0.3 * case.top(X, y, loss=loss)
    cold = case.solver(X, y, alpha, loss=loss, tol=1e-11)
    rough = np.zeros(N_WIDE)
    rough[[3, 40]] = 1.0, -1.0  # 3 is one of a group's three
    kept = rough.copy()
    warm = case.solver(X, y, alpha, loss=loss, tol=1e-11, start=rough)
    assert_allclose(warm.coef, cold.coef, atol=1e-5)
    assert_array_equal(rough, kept)
    rounds.clear()
    again = case.solver(X, y, alpha, loss=loss, tol=1e-8, start=cold.coef)
    assert (again.n_iter, rounds) == (0, [])
    assert_array_equal(again.coef, cold.coef)
    assert not np.shares_memory(again.coef, cold.coef)


# --- sets -------------------------------------------------------------------------------------------------------------


def test_sets_grow_by_the_blocks_that_are_pulled_hardest_and_at_most_double(monkeypatch):
    monkeypatch.setattr(_working_set, "_FIRST", 2)
    none = np.zeros(8, dtype=bool)
    G = np.array([0.5, 3.0, -9.0, 1.0, 2.0, 8.0, -7.0, 0.0])[:, None]
    one = _working_set.enlarged(singles(8), G, none)
    assert_array_equal(np.flatnonzero(one), [2, 5])
    two = _working_set.enlarged(singles(8), G, one)
    assert_array_equal(np.flatnonzero(two), [1, 2, 5, 6])
    three = _working_set.enlarged(singles(8), G, two)
    assert_array_equal(np.flatnonzero(three), [1, 2, 4, 5, 6])  # 1.0 is no more than the penalty bears
    assert_array_equal(_working_set.enlarged(singles(8), G, three), three)
    assert not none.any()


def test_a_block_joins_as_a_whole_even_where_there_is_no_room(monkeypatch):
    monkeypatch.setattr(_working_set, "_FIRST", 1)
    penalty = grouped([[0, 4, 5], [1, 2], [3], [6, 7]], 2.0, 0.5)
    G = np.array([9.0, 1.0, 1.0, 2.0, 0.0, 0.0, 1.0, 1.0])[:, None]
    chosen = _working_set.enlarged(penalty, G, np.zeros(8, dtype=bool))
    assert_array_equal(np.flatnonzero(chosen), [0, 4, 5])
    in_part = np.zeros(8, dtype=bool)
    in_part[4] = in_part[7] = True
    chosen = _working_set.enlarged(penalty, G, in_part)
    assert_array_equal(np.flatnonzero(chosen), [0, 3, 4, 5, 6, 7])


@pytest.mark.parametrize("norm", [1.5, 2.0, np.inf])
@pytest.mark.parametrize("l1_weight", [0.0, 0.4])
def test_pulls_above_1_are_those_that_move_a_block_from_0(norm, l1_weight):
    penalty = rows_of(400, 3, norm, l1_weight)
    G = np.random.default_rng(0).normal(size=(400, 3))
    moved = penalty.prox(-G, 1.0).any(axis=1)
    assert 0 < moved.sum() < 400
    assert_array_equal(penalty.pulls(G)[0] > 1, moved)


@pytest.mark.parametrize("penalty", ["l1", "l21"])
def test_tasks_that_share_rows_share_the_columns_taken_from_them(penalty):
    rng = np.random.default_rng(0)
    X, Y = rng.normal(size=(30, 10)), rng.normal(size=(30, 4))
    omega = singles(40) if penalty == "l1" else rows_of(10, 4, 2.0, 0.0)
    problem = CompositeProblem([TaskRows(X, y, LOSSES["squared"], True) for y in Y.T], LOSSES["squared"], omega, 0.3)
    columns = np.array([1, 4, 8])
    part = _working_set.on_columns(problem, columns)
    assert part.same_rows()
    W = np.zeros((10, 4))
    W[columns] = rng.normal(size=(3, 4))
    here, there = problem.certify(W), part.certify(W[columns])
    assert_allclose(there.objective, here.objective, rtol=1e-13)
    assert_allclose(there.gradient, here.gradient[columns], rtol=1e-10)
    assert_allclose(there.intercepts, here.intercepts, atol=1e-13)


def test_tasks_on_one_set_of_rows_are_those_on_copies_of_it(rounds):
    rng = np.random.default_rng(4)
    X = rng.normal(size=(50, N_WIDE)) + 0.5
    ys = [X[:, :5] @ w + 0.1 * rng.normal(size=50) for w in rng.normal(size=(3, 5))]
    alpha = 0.3 * multi_task_alpha_max([X] * 3, ys)
    same = multi_task([X] * 3, ys, alpha, tol=1e-11)
    copies = multi_task([X.copy() for _ in ys], ys, alpha, tol=1e-11)
    assert max(size for size, _ in rounds) < N_WIDE
    assert_allclose(same.coef, copies.coef, atol=1e-5)
    assert_array_equal(same.coef != 0, copies.coef != 0)
