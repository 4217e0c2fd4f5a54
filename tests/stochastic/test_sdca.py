"""SparseSDCAClassifier against its twin, a general convex solver, and its own certificate."""

from __future__ import annotations

import warnings

import cvxpy as cp
import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import optimize, sparse
from sklearn.exceptions import ConvergenceWarning

from reference import sdca as reference
from reference.objectives import solve
from strict_checks import parametrize_with_checks
from thresher import registry
from thresher.persistence import load_model, save_model
from thresher.stochastic import SparseSDCAClassifier
from unsound import save_unsound

LOSSES = ("squared_hinge", "hinge", "logistic")
losses = pytest.mark.parametrize("loss", LOSSES)
WEIGHTS = ("check_sample_weight_equivalence_on_dense_data", "check_sample_weight_equivalence_on_sparse_data")
GAP = "Two runs agree to the duality gap, not to seven digits of their scores (see test_weights_count_rows)."


@parametrize_with_checks(
    [
        SparseSDCAClassifier(),
        SparseSDCAClassifier(alpha=0.01, loss="hinge", l1_ratio=0.0),
        SparseSDCAClassifier(alpha=0.01, loss="logistic", l1_ratio=0.9),
    ],
    expected_failed_checks=lambda model: dict.fromkeys(WEIGHTS, GAP),
    xfail_strict=True,
)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_scikit_learns_contract(estimator, check):
    check(estimator)


def learner(loss="squared_hinge", **params):
    given = {"alpha": 0.05, "l1_ratio": 0.6, "loss": loss, "random_state": 3, "tol": 1e-9, "max_iter": 20000}
    return SparseSDCAClassifier(**(given | params))


def twin(model, X, y, weight=None):
    share = np.ones(len(y)) if weight is None else weight
    bias = model.intercept_scaling if model.fit_intercept else 0.0
    l1, l2 = model.alpha * model.l1_ratio, model.alpha * (1 - model.l1_ratio)
    given = {"l1": l1, "l2": l2, "share": share / share.sum(), "intercept": bias}
    momentum = model.loss != "hinge" and X.shape[0] > X.shape[1]
    return reference.Sdca(X.astype(float), y, loss=model.loss, momentum=momentum, **given)


def weights_of(model, k=0):
    """The twin's form: the weight of the constant feature last."""
    scaling = model.intercept_scaling if model.fit_intercept else np.inf
    return np.append(model.coef_[k], model.intercept_[k] / scaling)


@pytest.fixture(params=[{}, {"fit_intercept": False}, {"intercept_scaling": 3.0}, {"l1_ratio": 0.0}], ids=str)
def option(request):
    return request.param


# --- step by step -----------------------------------------------------------------------------------------------------


@losses
@pytest.mark.parametrize("n_passes", [1, 2, 7])
@pytest.mark.parametrize("alpha", [0.05, 0.005])
def test_it_agrees_with_the_twin_step_by_step(problem, row_weights, layout, dtype, loss, n_passes, alpha):
    assert_agrees(learner(loss, alpha=alpha), problem[0].astype(dtype), problem[1], layout, n_passes, row_weights)


@losses
@pytest.mark.parametrize("n_passes", [3, 25])
def test_plain_passes_over_few_rows_agree_with_the_twin(problem, loss, n_passes):
    X, y = problem
    assert_agrees(learner(loss, alpha=0.3), X[1:11], y[1:11], np.asarray, n_passes)


@pytest.mark.parametrize("loss", ["squared_hinge", "logistic"])
def test_momentum_starts_anew_when_the_objective_rose(problem, loss):
    X, y = problem
    assert assert_agrees(learner(loss, alpha=1e-4, l1_ratio=0.2), X, y, np.asarray, 60) > 0


def assert_agrees(model, X, y, layout, n_passes, weight=None):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model.set_params(tol=0.0, max_iter=n_passes).fit(layout(X), y, sample_weight=weight)
    truth, rng = twin(model, X, y, weight), np.random.default_rng(3)
    primal, dual, kept, n_starts = np.inf, -np.inf, None, 0
    for i in range(1, n_passes + 1):
        w = truth.epoch(rng.permutation(len(y)))
        if i <= 5 or i % 5 == 0 or i == n_passes:
            if truth.primal(w) > primal:
                truth.start_anew(w)
                n_starts += 1
            else:
                primal, kept = truth.primal(w), w
            dual = max(dual, truth.dual())
    assert_allclose(weights_of(model), kept, rtol=1e-6, atol=1e-9)
    assert_array_equal(weights_of(model) != 0, kept != 0)
    assert_allclose(model.dual_gap_, primal - dual, rtol=1e-6, atol=1e-10)
    assert model.n_iter_ == n_passes
    return n_starts


@losses
@pytest.mark.parametrize("b", [0.0, 0.2, 0.999, 1.0])
@pytest.mark.parametrize("m", [-30.0, -0.4, 0.7, 1.0, 5.0])
@pytest.mark.parametrize("q", [1e-3, 0.8, 300.0])
def test_the_step_of_the_twin_is_the_best_one(loss, b, m, q):
    """Against a search that knows the objective only."""
    top = 1.0 if loss != "squared_hinge" else 100.0

    def value(c):
        return reference.gain(loss, np.float64(c)) - c * m - q * (c - b) ** 2 / 2

    found = reference.best(loss, b, m, q)
    search = optimize.minimize_scalar(
        lambda c: -value(c), bounds=(0.0, top), method="bounded", options={"xatol": 1e-12}
    )
    assert 0 <= found <= top
    assert value(found) >= -search.fun - 1e-10 * (1 + abs(search.fun))


@losses
def test_the_gain_is_minus_the_conjugate(loss):
    m = np.linspace(-40, 40, 400001)
    for b in (0.0, 0.3, 0.9, 1.0):
        assert_allclose(reference.gain(loss, b), np.min(reference.loss_of(loss, m) + b * m), atol=1e-6)


# --- the optimum ------------------------------------------------------------------------------------------------------


@losses
def test_the_optimum_is_that_of_a_general_solver(problem, row_weights, loss, option):
    X, y = problem
    model = learner(loss, **option).fit(X, y, sample_weight=row_weights)
    truth = twin(model, X, y, row_weights)
    w = cp.Variable(X.shape[1] + 1)
    m = cp.multiply(y, truth.X @ w)
    each = {"hinge": cp.pos(1 - m), "squared_hinge": cp.square(cp.pos(1 - m)), "logistic": cp.logistic(-m)}[loss]
    objective = truth.share @ each + truth.l1 * cp.norm1(w[:-1]) + truth.l2 / 2 * cp.sum_squares(w)
    best = solve(objective)
    found = weights_of(model)
    assert abs(truth.primal(found) - best) <= 1e-7
    assert truth.primal(found) - best <= model.dual_gap_ + 1e-9
    assert_allclose(found, w.value, atol=1e-3)
    if model.l1_ratio:
        assert 0 < len(model.support_) < X.shape[1]


@losses
def test_the_optimality_conditions_hold(problem, loss, option):
    """Where w_j is not 0, the slope of the loss is -(l1 sign(w_j) + l2 w_j); where it is 0, at most l1 in size."""
    X, y = problem
    if loss == "hinge":
        pytest.skip("the hinge has no slope at its kink, where the rows that matter lie")
    model = learner(loss, tol=1e-13, **option).fit(X, y)
    truth, w = twin(model, X, y), weights_of(model)
    m = y * (truth.X @ w)
    slope = -1 / (1 + np.exp(m)) if loss == "logistic" else -2 * np.maximum(0, 1 - m)
    g = (truth.share * slope * y) @ truth.X + truth.l2 * w
    used = w[:-1] != 0
    assert_allclose(g[:-1][used], -truth.l1 * np.sign(w[:-1][used]), atol=1e-6)
    assert (np.abs(g[:-1][~used]) <= truth.l1 + 1e-6).all()
    assert abs(g[-1]) <= 1e-6  # the constant bears no l1 penalty


@losses
@pytest.mark.parametrize("max_iter", [1, 2, 3, 6, 11])
def test_the_gap_bounds_the_distance_from_the_optimum_at_any_time(problem, loss, max_iter):
    X, y = problem
    best = learner(loss, tol=1e-12).fit(X, y)
    with pytest.warns(
        ConvergenceWarning, match=rf"SparseSDCAClassifier: the duality gap is .* after {max_iter} passes"
    ):
        early = learner(loss, tol=1e-12, alpha=0.05, max_iter=max_iter).fit(X, y)
    truth = twin(best, X, y)
    lead = truth.primal(weights_of(early)) - truth.primal(weights_of(best))
    assert 1e-9 < lead <= early.dual_gap_
    assert early.n_iter_ == max_iter


@pytest.mark.parametrize("loss", ["squared_hinge", "logistic"])
def test_momentum_pays_where_the_penalty_is_small(loss):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 6))
    y = np.where(X[:, 0] - X[:, 2] + 0.2 * rng.normal(size=300) > 0, 1, -1)
    model = SparseSDCAClassifier(alpha=1e-4, loss=loss, random_state=0).fit(X, y)
    assert model.dual_gap_ <= 1e-4
    assert model.n_iter_ <= 150  # plain passes: 455 for the logistic loss, thousands for the other


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("fit_intercept", [True, False])
def test_a_small_gap_is_reached_where_dual_steps_are_short(form, fit_intercept):
    """Dual passes alone leave a gap above 1e-3 after 1000 of them."""
    rng = np.random.default_rng(0)
    X = np.where(rng.random((400, 900)) < 0.03, rng.random((400, 900)), 0.0)
    y = np.where(X @ (rng.normal(size=900) * (rng.random(900) < 0.1)) + 0.1 * rng.normal(size=400) > 0, 1, -1)
    weight = rng.integers(3, size=400).astype(float)
    options = {"alpha": 1e-3, "l1_ratio": 0.99, "intercept_scaling": 2.0, "fit_intercept": fit_intercept}
    model = learner(tol=1e-8, max_iter=1000, **options).fit(form(X), y, sample_weight=weight)
    assert model.dual_gap_ <= 1e-8
    assert 100 < model.n_iter_ < 1000
    truth, w = twin(model, X, y, weight), weights_of(model)
    m = y * (truth.X @ w)
    g = (truth.share * -2 * np.maximum(0, 1 - m) * y) @ truth.X + truth.l2 * w
    used = w[:-1] != 0
    assert_allclose(g[:-1][used], -truth.l1 * np.sign(w[:-1][used]), atol=0.1 * truth.l1)
    assert (np.abs(g[:-1][~used]) <= 1.1 * truth.l1).all()
    assert abs(g[-1]) <= 1e-4


@losses
def test_it_stops_when_the_gap_is_small_enough(problem, loss):
    X, y = problem
    passes = [learner(loss, tol=tol).fit(X, y) for tol in (1e-1, 1e-3, 1e-6)]
    assert [m.dual_gap_ <= m.tol for m in passes] == [True] * 3
    assert passes[0].n_iter_ < passes[1].n_iter_ < passes[2].n_iter_ < 20000


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.filterwarnings("ignore:.*no feature is in use")
def test_rows_of_all_sizes_and_empty_rows_are_no_trouble(loss):
    X = np.array([[1e3, 0.0], [0.0, -1e-60], [0.0, 0.0], [-1e3, 1.0]])
    model = learner(loss, tol=1e-4, alpha=0.1, fit_intercept=False).fit(X, [1, -1, 1, -1])
    assert model.dual_gap_ <= 1e-4
    with pytest.warns(ConvergenceWarning, match="scale the features"):  # out of reach, and it says so
        huge = learner(loss, tol=1e-4, alpha=0.1, max_iter=50).fit(1e90 * X, [1, -1, 1, -1])
    assert huge.dual_gap_ > 0.01
    assert np.isfinite(huge.decision_function(X)).all()


# --- weights and classes ----------------------------------------------------------------------------------------------


@losses
def test_weights_count_rows(problem, loss):
    X, y = problem
    counts = np.arange(len(y)) % 4
    weighted = learner(loss).fit(X, y, sample_weight=2.0 * counts)
    repeated = learner(loss).fit(np.repeat(X, counts, axis=0), np.repeat(y, counts))
    assert_allclose(weighted.coef_, repeated.coef_, atol=2e-4)
    truth = twin(weighted, X, y, counts.astype(float))
    assert abs(truth.primal(weights_of(weighted)) - truth.primal(weights_of(repeated))) < 1e-8


def test_class_weight_is_the_same_weight_on_each_row(problem):
    X, y = problem
    by_class = learner(class_weight={-1: 0.5, 1: 3.0}).fit(X, y)
    by_row = learner().fit(X, y, sample_weight=np.where(y == 1, 3.0, 0.5))
    assert_array_equal(by_class.coef_, by_row.coef_)


@losses
def test_several_classes_are_learned_one_against_the_rest(three_classes, loss):
    X, y = three_classes
    model = learner(loss).fit(sparse.csr_array(X), y)
    for k, label in enumerate("abc"):
        alone = learner(loss).fit(X, np.where(y == label, 1, -1))
        truth = twin(alone, X, np.where(y == label, 1, -1))
        assert abs(truth.primal(weights_of(model, k)) - truth.primal(weights_of(alone))) < 2e-9
    assert_allclose(model.decision_function(X), X @ model.coef_.T + model.intercept_)
    assert_array_equal(model.predict(X), np.array(list("abc"))[model.decision_function(X).argmax(1)])
    assert_array_equal(model.support_, np.flatnonzero((model.coef_ != 0).any(axis=0)))


def test_a_column_that_is_never_non_zero_has_no_weight(problem):
    X, y = problem
    coef = learner(l1_ratio=0.0).fit(X, y).coef_[0]
    assert_array_equal(coef[[2, 11]], 0.0)
    assert (coef[[0, 1, 3]] != 0).all()


def test_the_same_seed_gives_the_same_bits(problem, layout):
    X, y = problem
    a, b = (learner(max_iter=30, tol=1e-2).fit(layout(X), y) for _ in range(2))
    assert_array_equal(a.coef_, b.coef_)


# --- words and files --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "params, says",
    [
        ({"l1_ratio": 1.0}, r"l1_ratio must be a number of at least 0 and below 1 \(.*0\.99.*\), got 1\.0\."),
        ({"alpha": 0.0}, "alpha must be a number above 0, got 0.0"),
        ({"loss": "pinball"}, "loss must be one of 'squared_hinge', 'hinge', 'logistic', got 'pinball'"),
        ({"tol": -1.0}, "tol must be a number of at least 0, got -1.0"),
    ],
)
def test_refusals(problem, params, says):
    model = learner().fit(*problem)
    before = model.coef_.copy()
    with pytest.raises(ValueError, match=f"SparseSDCAClassifier: {says}"):
        model.set_params(**params).fit(*problem)
    assert_array_equal(model.coef_, before)


def test_weights_stay_within_floating_point_at_the_smallest_penalty(problem):
    X, y = problem
    for scale in (1.0, 1e99):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            model = learner("logistic", alpha=1e-100, max_iter=5).fit(scale * X, y)
        assert np.isfinite(model.coef_).all()
    with pytest.raises(ValueError, match="SparseSDCAClassifier: alpha must be at least 1e-100 in size, got 1e-320"):
        learner("logistic", alpha=1e-320).fit(X, y)


def test_it_says_so_when_nothing_is_left(problem):
    with pytest.warns(ConvergenceWarning, match="SparseSDCAClassifier: all weights are 0, so no feature is in use"):
        learner(alpha=100.0).fit(*problem)


def test_rows_of_no_weight_are_refused(problem):
    X, y = problem
    with pytest.raises(ValueError, match="SparseSDCAClassifier: sample_weight must hold a weight above 0"):
        learner().fit(X, y, sample_weight=np.zeros(len(y)))


@pytest.mark.parametrize("fixture", ["problem", "three_classes"])
def test_it_is_saved_and_loaded(request, tmp_path, fixture):
    X, y = request.getfixturevalue(fixture)
    model = learner(tol=1e-3).fit(X, y)
    save_model(model, tmp_path / "m")
    loaded = load_model(tmp_path / "m")
    for name in ("coef_", "intercept_", "classes_", "support_", "dual_gap_", "n_iter_", "n_features_in_"):
        assert_array_equal(getattr(loaded, name), getattr(model, name))
    assert_array_equal(loaded.predict(X), model.predict(X))
    assert loaded.get_params() == model.get_params()


@pytest.mark.parametrize(
    "name, value",
    [
        ("coef_", np.zeros((1, 5))),
        ("coef_", np.full((1, 12), np.nan)),
        ("coef_", np.zeros((1, 12), dtype=np.float32)),
        ("intercept_", np.zeros((2,))),
        ("classes_", np.array([1, -1])),
        ("classes_", np.array([1])),
        ("dual_gap_", -1.0),
        ("dual_gap_", "x"),
        ("n_iter_", 0),
        ("n_features_in_", 0),
    ],
)
def test_a_strange_file_is_refused(problem, tmp_path, name, value):
    model = learner(tol=1e-3).fit(*problem)
    setattr(model, name, value)
    save_unsound(model, tmp_path / "m")
    with pytest.raises(ValueError, match=r"^m: "):
        load_model(tmp_path / "m")


def test_the_registry_knows_that_it_needs_all_rows():
    method = next(m for m in registry.methods() if m.name == "sparsesdca")
    assert (method.task, method.streams, method.losses) == ("classification", False, LOSSES)
    assert set(method.space) == {"alpha", "l1_ratio"}
