"""Group-sparse dual averaging against its twin, and against the problem that its weights say they solve."""

from __future__ import annotations

import copy

import cvxpy as cp
import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse

from reference import groups as reference
from reference.agreement import assert_weights_after_every_row, last, row_by_row
from reference.losses import loss as find_loss
from reference.objectives import solve
from thresher import onepass
from thresher.dual_averaging import GroupRDAClassifier, GroupRDARegressor, L1RDAClassifier

APART = [[0, 1, 2], [5, 3, 4], [10], [8, 9]]  # of 12 columns; 6, 7 and 11 are on their own
SHARED = [[0, 1, 2, 3], [3, 4, 5], [5, 0], [8, 9, 10, 11], [10]]
FORMS = {
    "group-lasso": {},
    "sparse": {"l1_weight": 0.5},
    "sparse-each": {"l1_weight": "each"},
    "enhanced": {"l1_weight": 0.3, "rho": 0.05},
    "enhanced-only": {"rho": 0.05},
    "largest": {"norm": "inf"},
    "largest-sparse": {"norm": np.inf, "l1_weight": 0.4, "rho": 0.02},
    "no-penalty": {"alpha": 0.0},
}
LOSSES = [(GroupRDAClassifier, "hinge"), (GroupRDAClassifier, "logistic"), (GroupRDARegressor, "squared")]
forms = pytest.mark.parametrize("form", FORMS)
groupings = pytest.mark.parametrize("groups", [APART, SHARED], ids=["apart", "shared"])
cases = pytest.mark.parametrize("estimator, loss", LOSSES, ids=[loss for _, loss in LOSSES])


def learner(estimator, loss, groups, form="group-lasso", **params):
    given = {"alpha": 0.04, "eta0": 0.3, "loss": loss, "max_iter": 1, "shuffle": False, "intercept_scaling": 0.3}
    given |= FORMS[form] | params
    if given.get("l1_weight") == "each":
        given["l1_weight"] = np.linspace(0, 1, len(groups))
    return estimator(groups, **given)


def each_l1(model, groups, n_all):
    """One r_g per group; columns on their own have the common one, or none."""
    r = model.l1_weight
    return [r] * n_all if np.ndim(r) == 0 else [*r, *[0.0] * (n_all - len(groups))]


def twin(model, groups, X, y, weight=None):
    everything = reference.with_singletons(groups, X.shape[1])
    return reference.group_rda(
        X.astype(float),
        y,
        groups=everything,
        loss=model.loss,
        alpha=model.alpha,
        eta0=model.eta0,
        l1_weight=each_l1(model, groups, len(everything)),
        rho=model.rho,
        norm=float(model.norm),
        intercept=model.intercept_scaling if model.fit_intercept else 0.0,
        weight=weight,
    )


def assert_agrees_row_by_row(model, groups, X, y, layout, weight=None):
    first = {"classes": [-1, 1]} if isinstance(model, GroupRDAClassifier) else {}
    steps = twin(model, groups, X, y, weight)
    seen, expected = assert_weights_after_every_row(model, X, y, layout, steps, weight, **first)
    assert_array_equal(seen[:, :-1] == 0, expected[:, :-1] == 0)
    return seen


@pytest.fixture
def data(request, estimator):
    return request.getfixturevalue("problem" if estimator is GroupRDAClassifier else "regression")


# --- against the twin -----------------------------------------------------------------------------------------------


@cases
@groupings
def test_the_group_lasso_agrees_with_the_paper_step_by_step(data, layout, dtype, estimator, loss, groups):
    X, y = data
    assert_agrees_row_by_row(learner(estimator, loss, groups), groups, X.astype(dtype), y, layout)


@cases
@groupings
@forms
@pytest.mark.parametrize("layout", [np.asarray, sparse.csr_array], ids=["dense", "sparse"])
def test_every_form_agrees_with_the_paper_step_by_step(data, estimator, loss, groups, form, layout):
    seen = assert_agrees_row_by_row(learner(estimator, loss, groups, form), groups, *data, layout)
    zeros = (seen[:, :-1] == 0).mean()
    assert (0.2 < zeros < 0.95) or form == "no-penalty"


@cases
@groupings
@forms
def test_a_row_weight_multiplies_the_slope(data, row_weights, estimator, loss, groups, form):
    model = learner(estimator, loss, groups, form)
    assert_agrees_row_by_row(model, groups, *data, sparse.csr_array, row_weights)


def a_long_stream(estimator, n_features=50, n_rows=500, seed=0):
    """Rows of one value or two, so that most groups wait long between two touches."""
    rng = np.random.default_rng(seed)
    X = sparse.random_array((n_rows, n_features), density=0.03, rng=rng, format="csr", data_sampler=rng.normal)
    values = X @ (rng.normal(size=n_features) * (np.arange(n_features) < n_features / 2))
    return X, np.where(values > 0, 1, -1) if estimator is GroupRDAClassifier else values + 0.1


def random_groups(shared, n_features=50, seed=0):
    rng = np.random.default_rng(seed)
    order, sizes = rng.permutation(n_features), rng.integers(1, 12, size=8)
    if shared:
        return [rng.choice(n_features, size=n, replace=False).tolist() for n in sizes]
    return [order[b - n : b].tolist() for n, b in zip(sizes, np.cumsum(sizes), strict=True) if b <= n_features]


@cases
@forms
@pytest.mark.parametrize("shared", [False, True], ids=["apart", "shared"])
def test_long_streams_with_gaps_have_the_twins_weights_and_support(estimator, loss, form, shared):
    X, y = a_long_stream(estimator)
    groups = random_groups(shared)
    model = learner(estimator, loss, groups, form, alpha=0.0 if form == "no-penalty" else 0.004, eta0=2.0)
    model.fit(X, y)
    w = last(twin(model, groups, X.toarray(), y))[1]
    coef = np.ravel(model.coef_)
    assert_allclose(coef, w[:-1], rtol=1e-12, atol=1e-12 * np.abs(w).max())
    assert_array_equal(coef == 0, w[:-1] == 0)
    assert form == "no-penalty" or 2 < np.count_nonzero(w[:-1]) < 48
    assert_allclose(model.decision_function(X) if estimator is GroupRDAClassifier else model.predict(X),
                    X @ coef + model.intercept_, atol=1e-10)  # fmt: skip


# --- what the weights minimise --------------------------------------------------------------------------------------


@pytest.mark.parametrize("norm", [2, "inf"])
@pytest.mark.parametrize("l1_weight, rho", [(0.0, 0.0), (0.7, 0.0), (0.5, 0.03)])
@groupings
def test_weights_minimise_the_objective_they_state(problem, groups, norm, l1_weight, rho):
    """min over shares v^g:  ubar.w + sum_g alpha (r |v^g|_1 + penalty(v^g)) + (|v^g|^2/2 + rho |v^g|_1) / (eta0 sqrt t)

    with w the sum of the shares: of the problem in copies, which is the plain one where no groups overlap.
    """
    X, y = problem
    slope = find_loss("logistic").slope
    model = learner(
        GroupRDAClassifier, "logistic", groups, norm=norm, l1_weight=l1_weight, rho=rho, fit_intercept=False
    )
    everything = reference.with_singletons(groups, X.shape[1])
    copies = np.concatenate(everything)
    total, score = np.zeros(X.shape[1]), 0.0
    for i, _ in enumerate(row_by_row(model, X, y, np.asarray, classes=[-1, 1])):
        t = i + 1
        total += slope(score, y[i]) * X[i]
        score = model.decision_function(X[(i + 1) % len(X)][None])[0]
        if t not in (2, 10, 60):
            continue
        curve = 1 / (0.3 * np.sqrt(t))
        v = cp.Variable(len(copies))
        objective = (total / t)[copies] @ v + curve * (cp.sum_squares(v) / 2 + rho * cp.norm1(v))
        begin = 0
        for group in everything:
            part, begin = v[begin : begin + len(group)], begin + len(group)
            size = np.sqrt(len(group)) * cp.norm2(part) if norm == 2 else len(group) * cp.norm_inf(part)
            objective += 0.04 * (size + l1_weight * cp.norm1(part))
        solve(objective)
        w = np.bincount(copies, weights=v.value, minlength=X.shape[1])
        assert_allclose(model.coef_[0], w, atol=2e-6)
        own = [np.abs(v.value[b : b + len(g)]).max() > 1e-5
               for g, b in zip(everything, np.cumsum([0, *map(len, everything[:-1])]), strict=True)]  # fmt: skip
        assert_array_equal(model.selected_groups_, np.flatnonzero(own))


def test_the_constant_is_not_penalised(problem):
    for form in FORMS:
        model = learner(GroupRDAClassifier, "hinge", APART, form, alpha=10.0)
        with pytest.warns(UserWarning, match="no feature is in use"):
            model.fit(*problem)
        assert not model.coef_.any()
        assert model.intercept_ != 0


# --- special cases --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("rho", [0.0, 0.05])
def test_without_groups_it_is_l1_rda_to_the_bit(problem, rho):
    X, y = problem
    for norm in (2, "inf"):
        model = learner(GroupRDAClassifier, "hinge", None, rho=rho, norm=norm).fit(X, y)
        truth = L1RDAClassifier(0.04, eta0=0.3, rho=rho, max_iter=1, shuffle=False, intercept_scaling=0.3).fit(X, y)
        assert_array_equal(model.coef_, truth.coef_)
        assert_array_equal(model.intercept_, truth.intercept_)
        assert_array_equal(model.selected_groups_, truth.support_)
    doubled = learner(GroupRDAClassifier, "hinge", None, rho=rho, l1_weight=1.0).fit(X, y)
    truth.set_params(alpha=0.08).fit(X, y)
    assert_array_equal(doubled.coef_, truth.coef_)


@pytest.mark.parametrize("form", ["group-lasso", "enhanced-only", "largest"])
def test_groups_of_one_are_l1_rda(problem, form):
    X, y = problem
    model = learner(GroupRDAClassifier, "logistic", [[j] for j in range(12)], form).fit(X, y)
    truth = L1RDAClassifier(
        0.04, eta0=0.3, rho=model.rho, max_iter=1, shuffle=False, intercept_scaling=0.3, loss="logistic"
    ).fit(X, y)
    assert_allclose(model.coef_, truth.coef_, rtol=1e-12, atol=1e-14)
    assert_array_equal(model.support_, truth.support_)


@forms
def test_shared_columns_are_copies_of_them(problem, form):
    X, y = problem
    everything = reference.with_singletons(SHARED, 12)
    copies = np.concatenate(everything)
    ends = np.cumsum([len(g) for g in everything])
    blocks = [list(range(e - len(g), e)) for g, e in zip(everything, ends, strict=True)]
    model = learner(GroupRDAClassifier, "logistic", SHARED, form).fit(X, y)
    l1_weight = each_l1(model, SHARED, len(everything))
    apart = learner(GroupRDAClassifier, "logistic", blocks, form, l1_weight=l1_weight if form != "group-lasso" else 0.0)
    apart.fit(X[:, copies], y)
    w = np.bincount(copies, weights=apart.coef_[0], minlength=12)
    assert_allclose(model.coef_[0], w, rtol=1e-11, atol=1e-13)
    assert_allclose(model.intercept_, apart.intercept_, rtol=1e-11)
    assert_array_equal(model.selected_groups_, apart.selected_groups_)
    assert 0 < len(model.selected_groups_) < len(everything) or form == "no-penalty"


# --- drift ----------------------------------------------------------------------------------------------------------


@groupings
def test_sums_that_cancel_leave_no_trace_of_their_size(groups):
    """Targets of +-1000 in turn: the sums of gradients come back to almost nothing, again and again."""
    rng = np.random.default_rng(0)
    n = 800
    X = rng.normal(size=(n // 2, 12)) * (rng.random((n // 2, 12)) < 0.5)
    X = np.repeat(X, 2, axis=0)  # each row twice, pulled up and then down
    y = np.tile([1000.0, -1000.0], n // 2) + 0.3 * X[:, 0]
    model = learner(GroupRDARegressor, "squared", groups, alpha=1.0, eta0=1e-6, fit_intercept=False)
    zero = nonzero = 0
    steps = twin(model, groups, X, y)
    for i, (_, w) in enumerate(steps):
        model.partial_fit(sparse.csr_array(X[i : i + 1]), y[i : i + 1])
        if i % 5 == 0 or i > n - 100:
            assert_array_equal(model.coef_ == 0, w[:-1] == 0)
            assert_allclose(model.coef_, w[:-1], rtol=1e-9, atol=1e-12 * np.abs(w).max())
            zero, nonzero = zero + (w[:-1] == 0).sum(), nonzero + (w[:-1] != 0).sum()
    assert zero > 50
    assert nonzero > 50
    S = model.state_.arrays["gradient_sum"][0]
    for group, square in zip(groups, model.state_.arrays["square_norm"][0], strict=True):
        assert_allclose(square, (S[group] ** 2).sum(), rtol=1e-13)


def test_a_sum_at_its_threshold_is_decided_by_the_exact_sum():
    """alpha t sqrt(d) is met to the last bit after many rows that cancel: equal is zero."""
    groups = [[0, 1, 2, 3]]
    model = GroupRDARegressor(
        groups, alpha=0.5, eta0=1e-9, fit_intercept=False, shuffle=False, loss="epsilon_insensitive"
    )
    rng = np.random.default_rng(1)
    row = rng.normal(size=(1, 4)) * 100
    there = [(row, 1e9), (row, -1e9)] * 499  # slopes -1 and +1
    last_rows = [(np.array([[500.0, 500, 500, 500]]), 1e9), (np.zeros((1, 4)), 1e9)]
    for x, target in [*there, *last_rows]:
        model.partial_fit(x, [target])
    S = model.state_.arrays["gradient_sum"][0, :4]
    assert_allclose(S, -500, rtol=1e-12)
    zero = np.sqrt((S**2).sum()) <= 0.5 * 1000 * 2
    assert (not model.coef_.any()) == zero


# --- state: merging, growing, refusals in the middle ------------------------------------------------------------------


@groupings
def test_merged_norms_are_those_of_the_merged_sums(problem, groups):
    X, y = problem
    model = learner(GroupRDAClassifier, "hinge", groups)
    parts = [copy.deepcopy(model).partial_fit(X[k::2], y[k::2], classes=[-1, 1]).state_ for k in range(2)]
    core = onepass.learner(model, 12)
    merged = core.merge(core.new_state(12), parts, [30, 30])
    S = merged.arrays["gradient_sum"][0]
    assert_allclose(merged.arrays["square_norm"][0], [(S[g] ** 2).sum() for g in groups], rtol=1e-14)
    t = merged.arrays["n_steps"][0, 0]
    w = np.zeros(13)
    for g in reference.with_singletons(groups, 12):
        w[g] += reference.prox(-0.3 * S[g] / np.sqrt(t), 0, 0.3 * np.sqrt(t) * 0.04, 2)
    assert_allclose(core.weights(merged)[0, :-1], w[:-1], rtol=1e-12, atol=1e-14)


def test_a_batch_that_diverges_is_undone_with_its_norms():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(30, 12)), rng.normal(size=30)
    for groups in (APART, SHARED):
        model = GroupRDARegressor(groups, eta0=0.1).partial_fit(sparse.csr_array(X), y)
        before = {name: a.copy() for name, a in model.state_.arrays.items()}
        bad = np.zeros((3, 12))
        bad[:, 4] = 1e99
        with pytest.raises(FloatingPointError, match=r"GroupRDARegressor: .*smaller eta0"):
            model.partial_fit(sparse.csr_array(bad), [1e99, 1e99, 1e99])
        for name, a in before.items():
            assert_array_equal(model.state_.arrays[name], a)


def test_features_that_appear_later_are_on_their_own(problem):
    X, y = problem
    for groups in (APART, SHARED):
        grew = learner(GroupRDAClassifier, "hinge", groups)
        grew.partial_fit(sparse.csr_array(X), y, classes=[-1, 1], grow=True)
        wide = sparse.csr_array(np.hstack([X, X[:, ::-1]]))
        grew.partial_fit(wide, y, grow=True)
        knew = learner(GroupRDAClassifier, "hinge", groups)
        knew.partial_fit(sparse.csr_array(np.hstack([X, 0 * X])), y, classes=[-1, 1]).partial_fit(wide, y)
        assert_array_equal(grew.coef_, knew.coef_)
        assert len(grew.groups_) == len(reference.with_singletons(groups, 24))


def test_many_touches_of_a_large_group_cost_their_non_zeros():
    """A group of a million columns is summed afresh once in a million touches, not once in 64."""
    import time

    n = 10**6
    rng = np.random.default_rng(0)
    X = sparse.csr_array(
        (rng.normal(size=60_000), rng.integers(n, size=60_000), np.arange(0, 60_001, 3)), shape=(20_000, n)
    )
    y = np.where(rng.random(20_000) < 0.5, 1, -1)
    model = GroupRDAClassifier([np.arange(n)], max_iter=1, shuffle=False)
    model.partial_fit(X[:10], y[:10], classes=[-1, 1])
    begin = time.process_time()
    model.partial_fit(X, y)
    assert time.process_time() - begin < 1.0
