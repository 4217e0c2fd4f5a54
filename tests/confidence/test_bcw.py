"""BCWClassifier against its twin and against the problem it says it solves."""

from __future__ import annotations

import itertools
import warnings
from fractions import Fraction

import cvxpy as cp
import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import sparse
from scipy.optimize import minimize_scalar
from sklearn.exceptions import ConvergenceWarning

from reference import batches as reference
from reference.online import with_constant
from thresher import onepass
from thresher.confidence import BCWClassifier
from variants import assert_same_bits, bits

Q = {"hinge": 1, "squared_hinge": 2}
losses = pytest.mark.parametrize("loss", Q)
centres = pytest.mark.parametrize("centre", ["previous", "kl", "zero"])
constants = pytest.mark.parametrize("scaling", [0.0, 0.7], ids="constant={}".format)
CUTS = [0, 23, 40, 60]


def learner(loss="squared_hinge", scaling=0.0, **params):
    """A scaling of 0 means no constant."""
    given = {"C": 0.6, "scale": False, "max_iter": 1, "shuffle": False, "gap_tol": 1e-12} | params
    return BCWClassifier(loss=loss, fit_intercept=scaling > 0, intercept_scaling=scaling or 1.0, **given)


def feed(model, X, y, layout=np.asarray, weight=None, classes=(-1, 1)):
    """Three batches; pauses after each."""
    for begin, end in itertools.pairwise(CUTS):
        some = slice(begin, end)
        model.partial_fit(
            layout(X[some]), y[some], classes=list(classes), sample_weight=None if weight is None else weight[some]
        )
        yield some


def twin(before, X, y, loss, scaling, weight=None, **params):
    """The next batch of the twin; rows of weight 0 are absent."""
    X, present = with_constant(X, scaling), np.ones(len(y), bool) if weight is None else weight > 0
    cost = None if weight is None else weight[present]
    return reference.bcw(before, X[present], y[present], C=0.6, q=Q[loss], cost=cost, **params)


def assert_agrees(model, known, output=0):
    scaling = model.intercept_scaling if model.fit_intercept else 0.0
    assert_allclose(model.coef_[output], known.mu[:-1], rtol=1e-9, atol=1e-12)
    assert_allclose(model.intercept_[output], known.mu[-1] * scaling, rtol=1e-9, atol=1e-12)
    assert_allclose(model.covariance_, known.sigma[:-1, :-1], rtol=1e-9, atol=1e-13)
    assert_allclose(model.variance_, np.diag(known.sigma)[:-1], rtol=1e-9)
    assert_allclose(model.precision_, np.linalg.inv(known.sigma)[:-1, :-1], rtol=1e-8, atol=1e-10)


@losses
@centres
@constants
@pytest.mark.parametrize("max_inner_iter", [1, 3])
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("layout", [np.asarray, sparse.csr_array], ids=["dense", "csr"])
def test_bcw_agrees_with_the_paper_batch_by_batch(problem, layout, dtype, loss, centre, scaling, max_inner_iter):
    X, y = problem
    X = X.astype(dtype)
    model = learner(loss, scaling, centre=centre, max_inner_iter=max_inner_iter)
    known, n_updates = reference.start(X.shape[1] + 1), 0
    for some in feed(model, X, y, layout):
        options = {"centre": centre, "max_inner_iter": max_inner_iter}
        known = twin(known, X[some].astype(float), y[some], loss, scaling, **options)
        assert_agrees(model, known)
        n_updates += np.count_nonzero(known.alpha)
        assert model.n_updates_ == n_updates
        assert_allclose(model.gap_, (known.primal - known.dual) / known.primal, rtol=1e-6, atol=1e-12)


@losses
@constants
def test_row_weights_are_costs_and_not_confidence(problem, row_weights, layout, loss, scaling):
    X, y = problem
    model, known = learner(loss, scaling), reference.start(X.shape[1] + 1)
    for some in feed(model, X, y, layout, row_weights):
        known = twin(known, X[some], y[some], loss, scaling, row_weights[some])
        assert_agrees(model, known)
    plain = learner(loss, scaling).fit(X[row_weights > 0], y[row_weights > 0])
    assert_allclose(model.precision_, plain.precision_, rtol=1e-12, atol=1e-14)


def test_class_weights_are_row_weights(problem):
    X, y = problem
    by_class = learner(class_weight={-1: 0.3, 1: 2.0}).fit(X, y)
    by_row = learner().fit(X, y, sample_weight=np.where(y > 0, 2.0, 0.3))
    assert_same_bits(by_class.state_, by_row.state_)


@losses
def test_three_classes_share_the_precision(three_classes, layout, loss):
    X, y = three_classes
    model = learner(loss, 0.7)
    known = [reference.start(X.shape[1] + 1)] * 3
    for some in feed(model, X, y, layout, classes="abc"):
        for k, label in enumerate("abc"):
            known[k] = twin(known[k], X[some], np.where(y[some] == label, 1, -1), loss, 0.7)
            assert_agrees(model, known[k], k)
        gaps = [(each.primal - each.dual) / each.primal for each in known]
        assert_allclose(model.gap_, max(gaps), rtol=1e-8)
    assert model.precision_.shape == (X.shape[1], X.shape[1])


@losses
@centres
def test_any_root_of_the_covariance_gives_the_same_iterates(problem, loss, centre):
    X, y = problem
    turn = np.linalg.qr(np.random.default_rng(0).normal(size=(X.shape[1] + 1,) * 2))[0]
    model = learner(loss, 0.7, centre=centre)
    for root in (lambda s: np.linalg.cholesky(s), lambda s: np.linalg.cholesky(s) @ turn):
        known = reference.start(X.shape[1] + 1)
        for some in (slice(0, 30), slice(30, 60)):
            known = twin(known, X[some], y[some], loss, 0.7, centre=centre, root=root)
        model = learner(loss, 0.7, centre=centre, batch_size=30).fit(X, y)
        assert_agrees(model, known)


# --- the problem ----------------------------------------------------------------------------------------------------


@losses
@centres
@constants
def test_many_passes_solve_the_problem_they_say_they_solve(problem, row_weights, loss, centre, scaling):
    X, y = problem
    X, y, weight = X[row_weights > 0], y[row_weights > 0], row_weights[row_weights > 0]
    model = learner(loss, scaling, centre=centre, max_inner_iter=100_000)
    model.partial_fit(X[:20], y[:20], classes=[-1, 1], sample_weight=weight[:20])
    before = model.state_.copy()
    model.partial_fit(X[20:], y[20:], sample_weight=weight[20:])
    Z, P = with_constant(X[20:], scaling), before.arrays["precision"][0]
    if centre != "kl":
        P = P + 0.6 * Z.T @ Z
    middle = np.zeros(len(P)) if centre == "zero" else before.arrays["coef"][0, :, 0]
    mu = cp.Variable(len(P))
    slack = cp.pos(1 - cp.multiply(y[20:], Z @ mu))
    data = slack if loss == "hinge" else cp.square(slack) / 2
    root = np.linalg.cholesky(P)
    problem_ = cp.Problem(cp.Minimize(cp.sum_squares(root.T @ (mu - middle)) / 2 + 0.6 * weight[20:] @ data))
    problem_.solve(solver=cp.CLARABEL, tol_gap_abs=1e-12, tol_gap_rel=1e-12, tol_feas=1e-12)
    assert model.gap_ < 1e-8
    assert_allclose(model.state_.arrays["coef"][0, :, 0], mu.value, atol=2e-6)


@losses
def test_the_conditions_of_an_optimum_hold_after_many_passes(problem, loss):
    """P (mu - m) = sum_i a_i y_i x_i with a_i = C D_i where q = 1 and the margin is below 1, C D_i (1 - margin) where
    q = 2, and 0 where it is above."""
    X, y = problem
    model = learner(loss, max_inner_iter=100_000).fit(X, y)
    margins = y * model.decision_function(X)
    pull = np.eye(X.shape[1]) @ model.coef_[0] + 0.6 * X.T @ (X @ model.coef_[0])
    if loss == "squared_hinge":
        assert_allclose(pull, X.T @ (y * 0.6 * np.maximum(0, 1 - margins)), atol=1e-5)
    else:
        at_bound, edge = margins < 1 - 1e-6, np.abs(margins - 1) <= 1e-6
        rest = pull - X[at_bound].T @ (0.6 * y[at_bound])
        a = np.linalg.lstsq((X[edge] * y[edge, None]).T, rest, rcond=None)[0]
        assert_allclose((X[edge] * y[edge, None]).T @ a, rest, atol=1e-6)
        assert ((a > -1e-6) & (a < 0.6 + 1e-6)).all()


def test_the_hinge_loss_is_ridge_regression_where_all_margins_are_below_one(problem):
    """Then every a_i is at its bound C, and mu = C Sigma X'y."""
    X, y = problem
    X = 0.1 * X
    model = learner("hinge").fit(X, y)
    margins = y * model.decision_function(X)
    assert margins.max() < 1
    assert_allclose(model.coef_[0], np.linalg.solve(np.eye(X.shape[1]) + 0.6 * X.T @ X, 0.6 * X.T @ y), rtol=1e-10)


def test_a_step_of_the_squared_hinge_has_the_right_constant():
    """One row: a maximises a - a^2 v / 2 - a^2 / (2 C), which 1 / (v + 0.5 / C), as printed, does not."""
    x, C = 0.3833, 0.7
    v = x**2 / (1 + C * x**2)
    best = minimize_scalar(lambda a: a**2 * (v + 1 / C) / 2 - a, options={"xtol": 1e-12}).x
    assert_allclose(best, 0.6403, atol=1e-4)
    assert_allclose(1 / (v + 0.5 / C), 1.180, atol=1e-3)
    model = learner(C=C).partial_fit([[x]], [1], classes=[-1, 1])
    assert_allclose(model.coef_, [[best * x / (1 + C * x**2)]], rtol=1e-7)


def test_a_row_without_features_changes_nothing_but_the_books(problem):
    X, y = problem
    some = X.any(axis=1)
    assert not some.all()
    with_them, without = (
        learner(max_inner_iter=100_000).fit(X, y),
        learner(max_inner_iter=100_000).fit(X[some], y[some]),
    )
    for name in ("precision", "coef", "pull"):
        assert_allclose(with_them.state_.arrays[name], without.state_.arrays[name], rtol=1e-10, atol=1e-13)
    assert with_them.gap_ < 1e-11
    assert with_them.n_updates_ == without.n_updates_


# --- digits ---------------------------------------------------------------------------------------------------------


def exact_inverse(P):
    """By Gauss and Jordan, in fractions."""
    n = len(P)
    rows = [[Fraction(int(a)) for a in row] + [Fraction(int(i == k)) for k in range(n)] for i, row in enumerate(P)]
    for k in range(n):
        pivot = rows[k][k]
        rows[k] = [a / pivot for a in rows[k]]
        for i in range(n):
            if i != k:
                factor = rows[i][k]
                rows[i] = [a - factor * b for a, b in zip(rows[i], rows[k], strict=True)]
    return np.array([[float(a) for a in row[n:]] for row in rows])


def test_the_precision_keeps_its_digits_where_a_covariance_would_not():
    """C |x|^2 = 10^12 in two of three directions, in two batches."""
    X = np.array([[700_000.0, 650_000.0, 1.0], [-400_000.0, 900_000.0, -2.0], [3.0, -1.0, 1.0], [1.0, 2.0, 2.0]])
    y = np.array([1, -1, 1, 1])
    model = learner(C=1.0, batch_size=2).fit(X, y)
    truth = exact_inverse(np.eye(3, dtype=int) + X.astype(int).T @ X.astype(int))
    assert_allclose(model.covariance_, truth, rtol=1e-9)
    assert_allclose(np.linalg.eigvalsh(model.covariance_)[0], np.linalg.eigvalsh(truth)[0], rtol=1e-3)
    sigma = np.eye(3)
    for some in (slice(0, 2), slice(2, 4)):  # the form that subtracts
        A = X[some]
        sigma = sigma - sigma @ A.T @ np.linalg.inv(np.eye(2) + A @ sigma @ A.T) @ A @ sigma
    assert np.abs(sigma / truth - 1).max() > 1e-6


@pytest.mark.parametrize("layout", [np.asarray, sparse.csr_array], ids=["dense", "csr"])
@centres
def test_rows_or_costs_beyond_floating_point_are_refused_and_change_nothing(problem, layout, centre, monkeypatch):
    monkeypatch.setattr("thresher._gate._rules.HUGE", 1e308)  # what the door would stop
    X, y = problem
    model = learner(scaling=0.7, centre=centre).partial_fit(layout(X[:30]), y[:30], classes=[-1, 1])
    before = bits(model.state_)
    huge = np.repeat(1e60 * X[30:].sum(axis=1, keepdims=True), X.shape[1], axis=1)  # of one rank, and nothing beside it
    with pytest.raises(FloatingPointError, match=r"BCWClassifier: the weights overflowed.*a smaller C"):
        model.partial_fit(layout(huge), y[30:])
    with pytest.raises(FloatingPointError, match="overflowed"):
        model.set_params(C=1e308).partial_fit(layout(X[30:] * 1e3), y[30:])
    with pytest.raises(FloatingPointError, match="overflowed"):
        model.set_params(C=1e250).partial_fit(layout(X[30:]), y[30:], sample_weight=np.full(30, 1e99))
    model.set_params(C=0.6)
    assert bits(model.state_) == before
    model.partial_fit(layout(X[30:]), y[30:])
    again = learner(scaling=0.7, centre=centre).partial_fit(layout(X[:30]), y[:30], classes=[-1, 1])
    assert_same_bits(model.state_, again.partial_fit(layout(X[30:]), y[30:]).state_)


@losses
def test_a_huge_c_still_solves_the_problem(problem, loss):
    """Nothing is held to the start any more; margins go to where the loss is least."""
    X, y = problem
    X = X[:, X.any(axis=0)]
    model = learner(loss, C=1e10, max_inner_iter=2000, gap_tol=1e-6).fit(X, y)
    assert model.gap_ < 1e-6
    least = cp.Variable(X.shape[1])
    margins = cp.multiply(y, X @ least)
    data = cp.square(margins) / 2 + (cp.pos(1 - margins) if loss == "hinge" else cp.square(cp.pos(1 - margins)) / 2)
    value = cp.Problem(cp.Minimize(cp.sum(data))).solve(solver=cp.CLARABEL)
    m = y * model.decision_function(X)
    reached = m**2 / 2 + (np.maximum(0, 1 - m) if loss == "hinge" else np.maximum(0, 1 - m) ** 2 / 2)
    assert_allclose(reached.sum(), value, rtol=1e-5)


# --- several batches, several passes, several shards ----------------------------------------------------------------


@pytest.mark.parametrize(("n_features", "n_rows"), [(3, 256), (100, 400)])
def test_rows_of_a_call_are_cut_into_batches_of_the_documented_size(n_features, n_rows):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(2 * n_rows + 17, n_features))
    y = np.where(X[:, 0] + rng.normal(size=len(X)) > 0, 1, -1)
    whole = learner().fit(X, y)
    assert_same_bits(whole.state_, learner(batch_size=n_rows).fit(X, y).state_)
    in_one_call = learner().partial_fit(X, y, classes=[-1, 1])
    assert_same_bits(whole.state_, in_one_call.state_)
    one_batch = learner(batch_size=len(X)).fit(X, y)
    assert np.abs(one_batch.coef_ - whole.coef_).max() > 1e-6


def test_batches_longer_than_a_block_are_one_batch():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(5000, 3))
    y = np.where(X[:, 0] + rng.normal(size=len(X)) > 0, 1, -1)
    known = reference.bcw(reference.start(4), with_constant(X, 0.7), y, C=0.6)
    for layout in (np.asarray, sparse.csr_array):
        assert_agrees(learner(scaling=0.7, batch_size=5000).fit(layout(X), y), known)


def test_several_passes_stop_at_the_tolerance_or_say_that_they_did_not(problem):
    X, y = problem
    with pytest.warns(ConvergenceWarning, match="BCWClassifier: 2 passes left the last batch with a duality gap"):
        short = learner(centre="kl", max_inner_iter=2, C=50.0).fit(X, y)
    with pytest.warns(ConvergenceWarning, match="gap_tol=1e-12"):
        learner(centre="kl", max_inner_iter=2, C=50.0).partial_fit(X, y, classes=[-1, 1])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        one = learner(centre="kl", C=50.0).fit(X, y)
        enough = learner(centre="kl", max_inner_iter=10_000, C=50.0, gap_tol=1e-4).fit(X, y)
        more = learner(centre="kl", max_inner_iter=100_000, C=50.0, gap_tol=1e-10).fit(X, y)
    assert min(one.gap_, short.gap_) > 1e-4 >= enough.gap_ > 1e-10 >= more.gap_
    assert np.abs(enough.coef_ - more.coef_).max() > 1e-8  # it stopped there


def test_shards_that_share_no_features_merge_to_one_batch():
    """P = P0 + sum (P_k - P0) and P mu = sum P_k mu_k: where rows of one shard have no features of another's, dual
    variables of one do not feel those of the other."""
    rng = np.random.default_rng(0)
    A, B = rng.normal(size=(30, 4)), rng.normal(size=(25, 3))
    X = np.block([[A, np.zeros((30, 3))], [np.zeros((25, 4)), B]])
    y = rng.choice([-1, 1], size=55)
    models = [learner().partial_fit(X[some], y[some], classes=[-1, 1]) for some in (slice(0, 30), slice(30, 55))]
    rule = onepass.learner(learner(), 7)
    merged = rule.merge(rule.new_state(7), [m.state_ for m in models], [30, 25])
    whole = learner().partial_fit(X, y, classes=[-1, 1]).state_
    for name in ("precision", "pull", "coef"):
        assert_allclose(merged.arrays[name], whole.arrays[name], rtol=1e-10, atol=1e-13)


def test_shards_add_their_precisions_and_pulls(three_classes):
    X, y = three_classes
    start = learner(scaling=0.7).partial_fit(X[:10], y[:10], classes=list("abc"))
    rule = onepass.learner(start, X.shape[1])
    reached = []
    for some in (slice(10, 30), slice(30, 60)):
        shard = learner(scaling=0.7)
        shard.partial_fit(X[:10], y[:10], classes=list("abc")).partial_fit(X[some], y[some])
        reached.append(shard.state_.arrays)
    merged = rule.merge(start.state_, [rule_state(start, r) for r in reached], [20, 30]).arrays
    P0, P1, P2 = (a["precision"][0] for a in (start.state_.arrays, *reached))
    m0, m1, m2 = (a["coef"][0] for a in (start.state_.arrays, *reached))
    P = P1 + P2 - P0
    assert_allclose(merged["precision"][0], P, rtol=1e-12, atol=1e-14)
    assert_allclose(P, np.eye(len(P)) + 0.6 * with_constant(X, 0.7).T @ with_constant(X, 0.7), rtol=1e-10, atol=1e-12)
    assert_allclose(merged["coef"][0], np.linalg.solve(P, P1 @ m1 + P2 @ m2 - P0 @ m0), rtol=1e-9, atol=1e-12)


def rule_state(model, arrays):
    state = model.state_.copy()
    for name, values in arrays.items():
        state.arrays[name][...] = values
    return state
