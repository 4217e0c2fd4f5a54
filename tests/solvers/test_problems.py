"""Every problem of the solvers against a general convex solver, by its conditions, and by its certificate."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.linear_model import ElasticNet, Lasso

from reference.losses import loss as find_loss
from solvers.problems import CASES, FREE, GROUPS, LOSSES, data, objective, truth
from thresher.solvers import alpha_max, group_lasso, lasso, multi_task, multi_task_alpha_max

cases = pytest.mark.parametrize("name", CASES)
losses = pytest.mark.parametrize("loss", LOSSES)
free = pytest.mark.parametrize("fit_intercept", FREE.values(), ids=FREE)


def given(name, loss, part=0.2, fit_intercept=True):
    """The case, its data, a penalty at a part of the largest, and what all calls share."""
    case = CASES[name]
    X, y = data(case, loss)
    alpha = part * case.top(X, y, loss=loss, fit_intercept=fit_intercept)
    return case, X, y, alpha, {"loss": loss, "fit_intercept": fit_intercept}


def each(f, X):
    return [f(x) for x in X] if isinstance(X, list) else f(X)


@cases
@losses
@free
def test_solutions_are_those_of_a_general_solver(name, loss, fit_intercept):
    case, X, y, alpha, options = given(name, loss, fit_intercept=fit_intercept)
    found = case.solver(X, y, alpha, tol=1e-11, **options)
    value, coef, intercept = truth(case, X, y, alpha, loss, fit_intercept)
    assert found.converged
    assert found.coef.shape == coef.shape
    assert np.count_nonzero(found.coef) > 0
    assert_allclose(found.objective, value, rtol=1e-6)
    assert_allclose(found.coef, coef, atol=1e-4)
    assert_allclose(found.intercept, intercept, atol=5e-4)


@cases
@losses
def test_the_stated_objective_is_that_of_the_stated_model(name, loss):
    case, X, y, alpha, options = given(name, loss)
    found = case.solver(X, y, alpha, **options)
    assert_allclose(found.objective, objective(case, X, y, alpha, loss, found.coef, found.intercept), rtol=1e-7)


@cases
@losses
def test_the_gap_bounds_the_distance_to_the_optimum_after_any_number_of_steps(name, loss):
    case, X, y, alpha, options = given(name, loss)
    best = case.solver(X, y, alpha, tol=1e-11, **options)
    for max_iter in (1, 5, 20, 70):
        found = case.solver(X, y, alpha, tol=1e-12, max_iter=max_iter, **options)
        assert found.objective - best.objective <= found.gap + 1e-12
        assert found.objective >= best.objective - best.gap - 1e-12
        assert found.n_iter <= max_iter
        assert found.converged == (found.gap <= 1e-12 * max(1, found.objective))
    assert best.gap < 1e-9


@pytest.mark.parametrize("name", ["lasso", "elastic-net", "sparse-group", "tasks-l21"])
@free
def test_the_gap_bounds_the_distance_to_the_optimum_of_a_general_solver(name, fit_intercept):
    case, X, y, alpha, options = given(name, "logistic", fit_intercept=fit_intercept)
    value, *_ = truth(case, X, y, alpha, "logistic", fit_intercept)
    for max_iter in (1, 5, 20, 50):
        found = case.solver(X, y, alpha, max_iter=max_iter, **options)
        assert -1e-8 <= found.objective - value <= found.gap + 1e-8


@cases
@losses
@free
def test_weights_appear_just_below_the_largest_alpha(name, loss, fit_intercept):
    case, X, y, top, options = given(name, loss, part=1.0, fit_intercept=fit_intercept)
    above = case.solver(X, y, top * (1 + 1e-6), **options)
    assert above.converged
    assert not above.coef.any()
    below = case.solver(X, y, top * (1 - 1e-3), tol=1e-12, **options)
    assert below.coef.any()
    assert below.objective < objective(case, X, y, top * (1 - 1e-3), loss, above.coef, above.intercept)


@cases
@losses
def test_a_start_changes_the_steps_and_not_the_answer(name, loss):
    case, X, y, alpha, options = given(name, loss)
    cold = case.solver(X, y, alpha, tol=1e-11, **options)
    rough = np.random.default_rng(1).normal(size=cold.coef.shape)
    warm = case.solver(X, y, alpha, tol=1e-11, start=rough, **options)
    assert warm.converged
    assert_allclose(warm.coef, cold.coef, atol=1e-4)
    assert_allclose(warm.objective, cold.objective, rtol=1e-9)
    assert_array_equal(rough, np.random.default_rng(1).normal(size=cold.coef.shape))
    if "overlapping" not in name:  # sums do not say which copy a weight belongs to
        again = case.solver(X, y, alpha, tol=1e-8, start=cold.coef, **options)
        assert again.n_iter == 0
        assert_array_equal(again.coef, cold.coef)


@cases
@pytest.mark.parametrize("form", [sparse.csr_array, sparse.csc_matrix])
def test_all_forms_of_rows_give_one_answer(name, form):
    case, X, y, alpha, options = given(name, "logistic")
    dense = case.solver(X, y, alpha, **options)
    other = case.solver(each(form, X), y, alpha, **options)
    assert_allclose(other.coef, dense.coef, rtol=1e-7, atol=1e-9)
    assert_allclose(other.intercept, dense.intercept, rtol=1e-7)
    assert_allclose(case.top(each(form, X), y, **options), case.top(X, y, **options), rtol=1e-12)


def test_entries_that_are_stored_twice_count_twice():
    X = sparse.csr_array(([1.0, 2.0, 1.0, 3.0], [0, 0, 1, 1], [0, 2, 3, 4]), shape=(3, 2))
    y = [1.0, 0.0, 2.0]
    assert_allclose(lasso(X, y, 0.1).coef, lasso(X.toarray(), y, 0.1).coef, rtol=1e-9)
    assert X.nnz == 4


# --- conditions of optimality ---------------------------------------------------------------------------------------


@losses
@pytest.mark.parametrize("l1_weight", [0.0, 0.4])
def test_groups_hold_their_conditions(loss, l1_weight):
    """0 in G_g + alpha (sqrt(d_g) d|w_g| + r d|w_g|_1), G the gradient, written out"""
    X, y = data(CASES["group"], loss)
    alpha = 0.3 * alpha_max(X, y, groups=GROUPS, l1_weight=l1_weight, loss=loss)
    found = group_lasso(X, y, GROUPS, alpha, l1_weight=l1_weight, loss=loss, tol=1e-13)
    p = X @ found.coef + found.intercept
    slopes = np.array([find_loss(loss).slope(*at) for at in zip(p, y, strict=True)])
    assert abs(slopes.mean()) < 1e-12
    G = X.T @ slopes / len(y)
    n_zero = 0
    for group in [*GROUPS, [9], [10], [11]]:
        w, g = found.coef[group], G[group]
        left = np.sign(g) * np.maximum(np.abs(g) - alpha * l1_weight, 0)
        if w.any():
            used = w != 0
            pull = alpha * (np.sqrt(len(w)) * w / np.linalg.norm(w) + l1_weight * np.sign(w))
            assert_allclose(g[used], -pull[used], atol=1e-5)
            assert (np.abs(g[~used]) <= alpha * l1_weight + 1e-6).all()
        else:
            n_zero += 1
            assert np.linalg.norm(left) <= alpha * np.sqrt(len(w)) * (1 + 1e-6)
    assert 0 < n_zero < 6


# --- against scikit-learn -------------------------------------------------------------------------------------------


@free
def test_plain_lasso_is_scikit_learns(fit_intercept):
    X, y = data(CASES["lasso"], "squared")
    for alpha in (0.01, 0.1, 1.0):
        model = Lasso(alpha, fit_intercept=fit_intercept, tol=1e-12, max_iter=100_000).fit(X, y)
        found = lasso(X, y, alpha, fit_intercept=fit_intercept, tol=1e-12)
        assert_allclose(found.coef, model.coef_, atol=1e-5)
        assert_allclose(found.intercept, model.intercept_, atol=1e-4)
        net = ElasticNet(2 * alpha, l1_ratio=0.5, fit_intercept=fit_intercept, tol=1e-12, max_iter=100_000).fit(X, y)
        found = lasso(X, y, alpha, l2_weight=alpha, fit_intercept=fit_intercept, tol=1e-12)
        assert_allclose(found.coef, net.coef_, atol=1e-5)


# --- problems contain each other ------------------------------------------------------------------------------------


@losses
def test_special_cases_agree(loss):
    X, y = data(CASES["lasso"], loss)
    alone = [[j] for j in range(12)]
    options = {"loss": loss, "tol": 1e-12}
    plain = lasso(X, y, 0.05, **options)
    for other in (
        group_lasso(X, y, [], 0.05, **options),
        group_lasso(X, y, alone, 0.05, norm=np.inf, **options),
        group_lasso(X, y, alone, 0.05 / 1.5, l1_weight=0.5, **options),
        multi_task([X], [y], 0.05, penalty="lp1", p=3.0, **options),
    ):
        assert_allclose(other.coef.reshape(-1), plain.coef, atol=1e-5)
    assert_allclose(alpha_max(X, y, loss=loss), multi_task_alpha_max([X], [y], loss=loss), rtol=1e-12)
    several, targets = data(CASES["tasks-l1"], loss)
    apart = [lasso(A, t, 0.05, **options).coef for A, t in zip(several, targets, strict=True)]
    assert_allclose(multi_task(several, targets, 0.05, penalty="l1", **options).coef, apart, atol=1e-5)
    two, three = (multi_task(several, targets, 0.05, penalty="lp1", p=p, **options) for p in (2.0, 2.0 + 1e-9))
    assert_allclose(two.coef, three.coef, atol=1e-5)
    assert_allclose(two.coef, multi_task(several, targets, 0.05, penalty="l21", **options).coef, atol=1e-5)


def test_copies_of_a_group_change_nothing_and_a_union_of_groups_is_chosen():
    X, y = data(CASES["group"], "squared")
    twice = group_lasso(X, y, [*GROUPS, GROUPS[0]], 0.3, tol=1e-12)
    assert_allclose(twice.coef, group_lasso(X, y, GROUPS, 0.3, tol=1e-12).coef, atol=1e-5)
    alpha = 0.5 * alpha_max(X, y, groups=[[0, 1, 2], [2, 3, 4]])
    used = set(np.flatnonzero(group_lasso(X, y, [[0, 1, 2], [2, 3, 4]], alpha).coef)) & set(range(5))
    assert used in ({0, 1, 2}, {2, 3, 4}, {0, 1, 2, 3, 4}, set())


# --- hard and empty data --------------------------------------------------------------------------------------------


def test_columns_far_from_zero_do_not_slow_it_down():
    X, y = data(CASES["lasso"], "logistic")
    near, far = lasso(X, y, 0.05, loss="logistic"), lasso(X + 1e4, y, 0.05, loss="logistic")
    assert far.converged
    assert far.n_iter <= 2 * near.n_iter
    assert_allclose(far.coef, near.coef, atol=1e-5)


@losses
@free
def test_tasks_on_the_same_rows_are_those_on_copies_of_them(loss, fit_intercept):
    rng = np.random.default_rng(4)
    X = rng.normal(size=(40, 8)) + 0.5
    ys = [np.sign(X @ w - (X @ w).mean()) for w in rng.normal(size=(3, 8))]
    options = {"loss": loss, "fit_intercept": fit_intercept, "tol": 1e-12}
    top = multi_task_alpha_max([X] * 3, ys, loss=loss, fit_intercept=fit_intercept)
    assert_allclose(
        top, multi_task_alpha_max([X.copy() for _ in ys], ys, loss=loss, fit_intercept=fit_intercept), rtol=1e-12
    )
    same = multi_task([X] * 3, ys, 0.2 * top, **options)
    copies = multi_task([X.copy() for _ in ys], ys, 0.2 * top, **options)
    assert same.converged
    assert_allclose(same.objective, copies.objective, rtol=1e-10)
    assert_allclose(same.coef, copies.coef, atol=1e-5)
    assert_allclose(same.intercept, copies.intercept, atol=1e-5)


@losses
def test_columns_that_are_alike_take_no_tens_of_thousands_of_passes(loss):
    rng = np.random.default_rng(0)
    X = np.cumsum(rng.normal(size=(80, 40)), axis=1)  # neighbours are alike
    y = X[:, 10] - X[:, 30] + rng.normal(size=80)
    y = y if LOSSES[loss].for_values else np.where(y > np.median(y), 1.0, -1.0)
    found = lasso(X, y, 0.02 * alpha_max(X, y, loss=loss), loss=loss, tol=1e-6, max_iter=2000)
    assert found.converged


@free
def test_many_weights_for_few_rows_take_few_passes(fit_intercept):
    """A small penalty leaves nearly as many weights as rows, and directions in which descent alone is slow."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 400))
    y = X[:, :40] @ rng.normal(size=40) + rng.normal(size=200)
    options = {"fit_intercept": fit_intercept}
    found = lasso(X, y, 0.01 * alpha_max(X, y, **options), tol=1e-10, max_iter=130, **options)
    assert found.converged
    assert np.count_nonzero(found.coef) > 100


@losses
def test_rows_of_zeros_leave_the_intercept_alone(loss):
    y = np.array([1.0, 1.0, -1.0])
    found = lasso(np.zeros((3, 2)), y, 0.1, loss=loss, start=[1.0, 2.0])
    assert found.converged
    assert_array_equal(found.coef, [0, 0])
    expected = {"logistic": np.log(2), "huber": 0.95}.get(loss, 1 / 3)
    assert_allclose(found.intercept, expected, rtol=1e-12)
    assert alpha_max(np.zeros((3, 2)), y, loss=loss) == 0
    assert lasso(np.zeros((3, 2)), y, 0.1, loss=loss, fit_intercept=False).intercept == 0


def test_one_class_can_be_met_by_the_squared_hinge():
    X, _ = data(CASES["lasso"], "squared")
    found = lasso(X, np.ones(len(X)), 0.1, loss="squared_hinge")
    assert found.converged
    assert found.objective < 1e-12


# --- refusals -------------------------------------------------------------------------------------------------------

X2, Y2 = np.eye(3, 2), np.array([1.0, -1.0, 1.0])
REFUSALS = [
    (lambda: lasso(X2, Y2, 0), "lasso: alpha must be a number above 0, got 0."),
    (lambda: lasso(X2, Y2, 1, tol=0), "lasso: tol must be a number above 0, got 0."),
    (lambda: lasso(X2, Y2, 1, max_iter=0), "lasso: max_iter must be an integer of at least 1, got 0."),
    (
        lambda: lasso(X2, Y2, 1, loss="hinge"),
        "lasso: loss must be one of 'squared_hinge', 'logistic', 'squared', 'huber', got 'hinge'.",
    ),
    (lambda: lasso(X2, Y2, 1, l2_weight=-1), "lasso: l2_weight must be a number of at least 0, got -1."),
    (lambda: lasso(X2, Y2, 1, fit_intercept=2), "lasso: fit_intercept must be True or False, got 2."),
    (
        lambda: lasso(X2, [1, 2, -1], 1, loss="logistic"),
        "lasso: y must hold -1 and 1 with loss='logistic', got 2.0 in row 1.",
    ),
    (
        lambda: lasso(X2, [1, 1, 1], 1, loss="logistic"),
        "lasso: y must hold both -1 and 1 when an intercept is fitted, got 1.0 only.",
    ),
    (
        lambda: lasso(X2 * np.nan, Y2, 1),
        "lasso: X must hold finite numbers, got NaN in row 0, column 0.",
    ),
    (
        lambda: lasso(X2, Y2, 1, start=[1.0]),
        "lasso: start must hold finite weights of shape (2,), got shape (1,).",
    ),
    (lambda: group_lasso(X2, Y2, [[0]], 1, norm=1), "group_lasso: norm must be 2 or inf, got 1."),
    (
        lambda: group_lasso(X2, Y2, [[0]], 1, l1_weight=-1),
        "group_lasso: l1_weight must be a number of at least 0, got -1.",
    ),
    (
        lambda: group_lasso(X2, Y2, 3, 1),
        "group_lasso: groups must be a list of arrays of column indices, got int.",
    ),
    (
        lambda: group_lasso(X2, Y2, [[0], []], 1),
        "group_lasso: groups[1] must be a list of column indices, at least one.",
    ),
    (lambda: group_lasso(X2, Y2, [[0.5]], 1), "group_lasso: groups[0] must be a list of column indices, at least one."),
    (lambda: group_lasso(X2, Y2, [[0, 2]], 1), "group_lasso: groups[0] must hold columns in 0 ... 1, got 2."),
    (lambda: group_lasso(X2, Y2, [[-1]], 1), "group_lasso: groups[0] must hold columns in 0 ... 1, got -1."),
    (lambda: group_lasso(X2, Y2, [[1, 1]], 1), "group_lasso: groups[0] must name each column once."),
    (
        lambda: multi_task(X2, Y2, 1),
        "multi_task: Xs and ys must be two lists of one length, with an array for every task.",
    ),
    (
        lambda: multi_task([X2, X2], [Y2], 1),
        "multi_task: Xs and ys must be two lists of one length, with an array for every task.",
    ),
    (
        lambda: multi_task([X2, np.eye(3)], [Y2, Y2], 1),
        "multi_task: every task must have 2 features as task 0 has, got 3 in task 1.",
    ),
    (
        lambda: multi_task([X2, X2], [Y2, Y2 * 0 + 1], 1, loss="logistic"),
        "multi_task, task 1: y must hold both -1 and 1 when an intercept is fitted, got 1.0 only.",
    ),
    (
        lambda: multi_task([X2], [Y2], 1, penalty="l2"),
        "multi_task: penalty must be one of 'l1', 'l21', 'l1_l21', 'lp1', got 'l2'.",
    ),
    (lambda: multi_task([X2], [Y2], 1, penalty="lp1", p=1), "multi_task: p must be a number above 1, or inf, got 1."),
    (
        lambda: multi_task([X2], [Y2], 1, penalty="l1", l1_weight=1.0),
        "multi_task: l1_weight must be 0 with penalty='l1', got 1.0.",
    ),
    (lambda: alpha_max(X2, Y2, norm=3), "alpha_max: norm must be 2 or inf, got 3."),
]


@pytest.mark.parametrize("call, sentence", REFUSALS, ids=[sentence for _, sentence in REFUSALS])
def test_refusals_name_the_solver_the_parameter_the_rule_and_the_value(call, sentence):
    with pytest.raises(ValueError) as refusal:
        call()
    assert str(refusal.value) == sentence
