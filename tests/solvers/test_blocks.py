"""Block coordinate descent in the core: against proximal gradient steps in NumPy, and by conditions of optimality."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse

from reference import blocks as reference
from solvers.problems import FREE, LOSSES
from thresher import _core
from thresher.solvers import alpha_max, group_lasso, lasso, multi_task, multi_task_alpha_max
from thresher.solvers._solver_input import as_columns

losses = pytest.mark.parametrize("loss", LOSSES)
free = pytest.mark.parametrize("fit_intercept", FREE.values(), ids=FREE)
KINDS = ["lasso", "elastic net", "groups", "sparse groups", "groups, inf", "tasks", "sparse tasks", "tasks, inf"]


def rows(n_rows, n_features, n_tasks, loss):
    """Columns with means, of unequal size, neighbours alike; few of them matter."""
    rng = np.random.default_rng(n_features)
    w = np.zeros(n_features)
    w[:: max(2, n_features // 10)] = 2.0
    Xs, ys = [], []
    for q in range(n_tasks):
        X = rng.normal(size=(n_rows + q, n_features))
        X = (X + 0.5 * np.roll(X, 1, axis=1) + rng.normal(size=n_features)) * rng.uniform(0.5, 1.5, size=n_features)
        z = X @ w + rng.normal(size=len(X)) + q
        Xs.append(X)
        ys.append(z if LOSSES[loss].for_values else np.where(z > np.median(z), 1.0, -1.0))
    return Xs, ys


def solved(kind, loss, fit_intercept, n_rows, n_features, part, form=np.asarray, tol=1e-13):
    """Rows, targets, blocks of the penalty, l2 and the solution, with weights as a row for each task."""
    n_tasks = 3 if "tasks" in kind else 1
    Xs, ys = rows(n_rows, n_features, n_tasks, loss)
    given = [form(X) for X in Xs]
    options = {"loss": loss, "fit_intercept": fit_intercept}
    shape = {"l1_weight": 0.3 * ("sparse" in kind)}
    norm = np.inf if "inf" in kind else 2.0
    l2 = 0.0
    if "tasks" in kind:
        shape |= {"penalty": "lp1", "p": norm}
        alpha = part * multi_task_alpha_max(given, ys, **shape, **options)
        found = multi_task(given, ys, alpha, tol=tol, **shape, **options)
        places = list(np.arange(3 * n_features).reshape(3, -1).T)
    else:
        groups = [[j] for j in range(n_features)]
        if "groups" in kind:
            groups = [list(range(j, min(j + 4, n_features))) for j in range(0, n_features, 4)]
        alpha = part * alpha_max(given[0], ys[0], groups=groups, norm=norm, **shape, **options)
        if "groups" in kind:
            found = group_lasso(given[0], ys[0], groups, alpha, norm=norm, tol=tol, **shape, **options)
        else:
            l2 = 0.5 * alpha * (kind == "elastic net")
            found = lasso(given[0], ys[0], alpha, l2_weight=l2, tol=tol, **options)
        places = [np.array(group) for group in groups]
    weights = [alpha * (np.sqrt(len(b)) if "groups" in kind else 1.0) for b in places]
    blocks = reference.Blocks(places, weights, norm, alpha * shape["l1_weight"])
    return Xs, ys, blocks, l2, found, np.atleast_2d(found.coef), np.atleast_1d(found.intercept)


@pytest.mark.parametrize("kind", KINDS)
@losses
def test_answers_are_those_of_proximal_gradient_steps(kind, loss):
    fit_intercept = KINDS.index(kind) % 2 == 0
    Xs, ys, blocks, l2, found, W, c = solved(kind, loss, fit_intercept, 25, 8, 0.2)
    twin, constants = reference.minimise(Xs, ys, blocks, loss, l2, fit_intercept, 1200)
    assert found.converged
    assert W.any()
    assert_allclose(W, twin, atol=2e-5)
    assert_allclose(c, constants, atol=1e-4)


@pytest.mark.parametrize("kind", KINDS)
@losses
@free
def test_conditions_of_optimality_hold_on_many_columns(kind, loss, fit_intercept):
    """More columns than a set begins with, so that sets grow and columns are ruled out."""
    form = sparse.csc_array if fit_intercept else np.asfortranarray
    tol = 1e-13 if loss == "squared" else 1e-12  # a part of the objective, which is the largest there
    Xs, ys, blocks, l2, found, W, c = solved(kind, loss, fit_intercept, 60, 330, 0.25, form, tol=tol)
    assert found.converged
    assert 0 < np.count_nonzero(W) < W.size / 2
    assert reference.away_from_optimum(Xs, ys, blocks, loss, l2, W, c, fit_intercept) < 1e-6


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("index", [np.int32, np.int64])
def test_csc_and_fortran_order_are_read_as_they_are(dtype, index):
    X = rows(30, 20, 1, "squared")[0][0].astype(dtype)
    X[X < 0.3] = 0
    by_column, dense = sparse.csc_array(X), np.asfortranarray(X)
    by_column.indices, by_column.indptr = by_column.indices.astype(index), by_column.indptr.astype(index)
    assert np.shares_memory(as_columns(dense, "X").values, dense)
    assert np.shares_memory(as_columns(by_column, "X").values, by_column.data)
    assert np.shares_memory(as_columns(by_column, "X").columns, by_column.indices) == (index is np.int32)
    y = X.astype(float) @ np.linspace(-1, 1, 20)
    plain = lasso(X, y, 0.1, tol=1e-10)
    for other in (dense, by_column, sparse.csr_array(X), sparse.coo_array(X)):
        assert_allclose(lasso(other, y, 0.1, tol=1e-10).coef, plain.coef, atol=1e-9)


def test_tasks_may_come_in_different_forms():
    Xs, ys = rows(30, 10, 3, "squared")
    mixed = [Xs[0], sparse.csr_array(Xs[1]), np.asfortranarray(Xs[2])]
    assert_allclose(multi_task(mixed, ys, 0.2, tol=1e-11).coef, multi_task(Xs, ys, 0.2, tol=1e-11).coef, atol=1e-8)


@losses
@free
@pytest.mark.parametrize("n_tasks", [2, 3, 9])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_tasks_on_the_same_rows_have_the_answers_of_tasks_on_copies(loss, fit_intercept, n_tasks, dtype):
    """The core sweeps the former together, and reads columns of the latter task by task."""
    X = rows(45, 160, 1, loss)[0][0].astype(dtype)
    scores = np.random.default_rng(1).normal(size=(n_tasks, 160)) @ X.T.astype(float) / 10
    middle = np.median(scores, axis=1, keepdims=True)
    ys = list(scores if LOSSES[loss].for_values else np.where(scores > middle, 1.0, -1.0))
    options = {"loss": loss, "fit_intercept": fit_intercept}
    alpha = 0.2 * multi_task_alpha_max([X] * n_tasks, ys, **options)
    together = multi_task([X] * n_tasks, ys, alpha, tol=1e-12, **options)
    apart = multi_task([X.copy() for _ in ys], ys, alpha, tol=1e-12, **options)
    assert together.coef.any()
    assert_allclose(together.coef, apart.coef, atol=1e-5)
    assert_allclose(together.intercept, apart.intercept, atol=1e-5)
    assert_allclose(together.objective, apart.objective, rtol=1e-11)


@pytest.mark.parametrize("fit_intercept", [False, True])
@pytest.mark.parametrize("n_passes", [1, 2, 3, 7])
def test_tasks_on_the_same_rows_take_the_same_steps(n_passes, fit_intercept):
    """Two columns at a time, and after a column whose weights are cleared because it is constant."""
    rng = np.random.default_rng(5)
    X = rng.normal(size=(43, 12))
    X[:, 1:] += X[:, :-1]  # neighbours are correlated: the step of one changes what the next one sees
    X[:, 5] = 2.0
    ys = [X @ rng.normal(size=12) + rng.normal(size=43) for _ in range(6)]
    begin = np.full((6, 12), 0.1)
    options = {"fit_intercept": fit_intercept, "tol": 1e-12, "max_iter": n_passes, "start": begin}
    shared = multi_task([X] * 6, ys, 1e-3, **options)
    apart = multi_task([X.copy() for _ in ys], ys, 1e-3, **options)
    assert shared.n_iter == apart.n_iter == n_passes
    assert_allclose(shared.coef, apart.coef, rtol=1e-9, atol=1e-11)


def test_a_refusal_names_row_and_column_of_the_matrix_that_was_given():
    X = np.asfortranarray(np.ones((4, 3)))
    X[3, 1] = np.nan
    for form in (np.asarray, sparse.csc_array, sparse.csr_array):
        with pytest.raises(ValueError, match=r"lasso: X must hold finite numbers, got NaN in row 3, column 1\."):
            lasso(form(X), np.ones(4), 1.0)
    outside = sparse.csc_array(np.ones((4, 3)))
    outside.indices[2] = 9
    with pytest.raises(ValueError, match="lasso: row indices of sparse X must lie in 0"):
        lasso(outside, np.ones(4), 1.0)


@losses
def test_it_ends_where_rounding_hides_the_optimum(loss):
    Xs, ys = rows(40, 60, 1, loss)
    for part in (0.3, 0.9, 1.0, 1.1):
        alpha = part * alpha_max(Xs[0], ys[0], loss=loss)
        found = lasso(Xs[0], ys[0], alpha, loss=loss, tol=1e-300, max_iter=3000)
        assert found.n_iter <= 3000
        assert found.gap < 1e-11


@losses
def test_a_block_that_the_gradient_at_0_does_not_show_is_found(loss):
    """y = x0 - x1, and x1 has nothing to do with y: it is needed only where x0 is there"""
    rng = np.random.default_rng(3)
    u, v = np.linalg.qr(rng.normal(size=(200, 2)))[0].T * np.sqrt(200)
    X = np.column_stack([u + v, v, 0.1 * rng.normal(size=(200, 400))])
    y = u if LOSSES[loss].for_values else np.sign(u)
    groups = [[0, 2], [1, 3]]
    alpha = 0.1 * alpha_max(X, y, groups=groups, loss=loss, fit_intercept=False)
    found = group_lasso(X, y, groups, alpha, loss=loss, fit_intercept=False, tol=1e-10)
    assert found.converged
    assert found.coef[0] > 0.1
    assert found.coef[1] < -0.1


@losses
def test_a_start_counts_and_is_left_alone(loss):
    Xs, ys = rows(40, 60, 1, loss)
    alpha = 0.3 * alpha_max(Xs[0], ys[0], loss=loss)
    cold = lasso(Xs[0], ys[0], alpha, loss=loss, tol=1e-11)
    rough = np.zeros(60)
    rough[[3, 40]] = 1.0, -1.0
    kept = rough.copy()
    assert_allclose(lasso(Xs[0], ys[0], alpha, loss=loss, tol=1e-11, start=rough).coef, cold.coef, atol=1e-5)
    assert_array_equal(rough, kept)
    again = lasso(Xs[0], ys[0], alpha, loss=loss, tol=1e-8, start=cold.coef)
    assert again.n_iter == 0
    assert_array_equal(again.coef, cold.coef)
    assert not np.shares_memory(again.coef, cold.coef)


# --- what the core does not trust -------------------------------------------------------------------------------------

WRONG = {
    "a member names a column that is not there": {"column": [0, 3]},
    "a member names a task that is not there": {"task": [0, 1]},
    "a block must have members": {"starts": [0, 0, 2]},
    "blocks must cover their members": {"starts": [0, 1]},
    "there must be blocks": {"starts": [0]},
    "targets, shares and columns differ in length": {"y": [np.ones(3)]},
    "every task must have columns, targets and shares": {"share": []},
    "the solver needs the curvature of a loss, and has none for hinge": {"loss": "hinge"},
}


@pytest.mark.parametrize("sentence", WRONG)
def test_the_core_refuses_what_it_would_read_beyond(sentence):
    right = {
        "columns": [as_columns(np.ones((4, 3)), "X")], "y": [np.ones(4)], "share": [np.ones(4)], "loss": "squared",
        "epsilon": 0.1, "fit_intercept": True, "starts": [0, 1, 2], "task": [0, 0], "column": [0, 1],
    }  # fmt: skip
    given = right | WRONG[sentence]
    kinds = {"starts": np.int64, "task": np.int32, "column": np.int64}
    with pytest.raises(ValueError, match=sentence):
        _core.BlockSolver(**{name: np.array(v, kinds[name]) if name in kinds else v for name, v in given.items()})
