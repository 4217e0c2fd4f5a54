"""Learners with a mean and a variance of every weight: against their twins and the problems they say they solve."""

from __future__ import annotations

import math

import cvxpy as cp
import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse, stats

from reference import confidence as reference
from reference.agreement import assert_weights, gappy_stream, last, progressive, row_by_row
from reference.confidence import beliefs
from thresher.online import (
    AROWClassifier,
    CWClassifier,
    NAROWClassifier,
    NHERDClassifier,
    SCWClassifier,
    SOPClassifier,
)
from thresher.training import merge_models

PHI = float(stats.norm.ppf(0.85))
RULES = {
    "cw": (CWClassifier, {"confidence": 0.85}, reference.cw(PHI)),
    "cw-variance": (CWClassifier, {"confidence": 0.85, "variant": "variance"}, reference.cw_variance(PHI)),
    "scw-I": (SCWClassifier, {"confidence": 0.85, "C": 0.3}, reference.scw(0.3, PHI, "I")),
    "scw-II": (SCWClassifier, {"confidence": 0.85, "C": 0.3, "variant": "II"}, reference.scw(0.3, PHI, "II")),
    "narow": (NAROWClassifier, {"b": 1.7}, reference.narow(1.7)),
    "nherd": (NHERDClassifier, {"C": 0.6}, reference.nherd(0.6)),
    "sop": (SOPClassifier, {"a": 0.6}, None),
}
FORMS = {"drop": {"diagonal": "drop"}, "precision": {"diagonal": "precision"}, "full": {"covariance": "full"}}
CASES = [(rule, form) for rule in RULES for form in FORMS if rule != "sop"] + [("sop", "diagonal"), ("sop", "full")]
over_cases = pytest.mark.parametrize(("rule", "form"), CASES)
over_rules = pytest.mark.parametrize("rule", RULES)
over_layouts = pytest.mark.parametrize("layout", [np.asarray, sparse.csr_array], ids=["dense", "csr"])
constants = pytest.mark.parametrize("scaling", [0.0, 0.3], ids="constant={}".format)


def learner(rule: str, form: str = "diagonal", scaling: float = 1.0, **params):
    """A scaling of 0 means no constant."""
    cls, own, _ = RULES[rule]
    given = {"max_iter": 1, "shuffle": False} | own | FORMS.get(form, {}) | params
    return cls(fit_intercept=scaling > 0, intercept_scaling=scaling or 1.0, **given)


def twin(rule: str, form: str, X, y, scaling: float = 1.0, weight=None):
    if rule == "sop":
        return reference.sop(X, y, a=0.6, form=form, intercept=scaling, weight=weight)
    return reference.run(RULES[rule][2], X, y, form=form, intercept=scaling, weight=weight)


def assert_agrees(model, mu, sigma, rtol=1e-10):
    assert_weights(model, mu, rtol=rtol)
    if sigma.ndim == 2:
        assert_allclose(model.covariance_[0], sigma[:-1, :-1], rtol=rtol, atol=1e-13)
        sigma = np.diag(sigma)
    assert_allclose(model.variance_[0], sigma[:-1], rtol=rtol, atol=1e-13)


@over_cases
@over_layouts
@constants
def test_learners_agree_with_the_papers_step_by_step(problem, layout, dtype, rule, form, scaling):
    X, y = problem
    model = learner(rule, form, scaling)
    steps = twin(rule, form, X.astype(dtype).astype(float), y, scaling)
    for _, (_, mu, sigma) in zip(row_by_row(model, X.astype(dtype), y, layout, classes=[-1, 1]), steps, strict=True):
        assert_agrees(model, mu, sigma)
    assert model.n_updates_ > 5


@over_cases
@over_layouts
def test_row_weights_do_what_the_docstrings_say(problem, row_weights, layout, rule, form):
    X, y = problem
    model = learner(rule, form)
    steps = twin(rule, form, X, y, weight=row_weights)
    for _, (_, mu, sigma) in zip(row_by_row(model, X, y, layout, row_weights, classes=[-1, 1]), steps, strict=True):
        assert_agrees(model, mu, sigma)
    plain = learner(rule, form).fit(layout(X), y, sample_weight=(row_weights > 0).astype(float))
    assert np.array_equal(plain.coef_, model.coef_) == rule.startswith("cw")  # a hard constraint knows no weights


@over_cases
def test_books_are_those_of_the_twin(problem, row_weights, rule, form):
    X, y = problem
    model = learner(rule, form).fit(X, y, sample_weight=row_weights)
    scores = np.array([step[0] for step in twin(rule, form, X, y, weight=row_weights)])
    assert_allclose(model.progressive_loss_, progressive(scores, y, "hinge", row_weights), rtol=1e-10)
    assert model.n_mistakes_ == np.count_nonzero(((scores > 0) != (y > 0))[row_weights > 0])


@pytest.mark.parametrize(("rule", "form"), [case for case in CASES if case[1] != "full"])
def test_a_long_sparse_stream_agrees_with_the_papers(rule, form):
    X, scores = gappy_stream(1500)
    y = np.where(scores > 0, 1, -1)
    assert_agrees(learner(rule, form).fit(X, y), *last(twin(rule, form, X.toarray(), y))[1:], rtol=1e-8)


@over_cases
def test_several_classes_are_learned_one_against_the_rest(three_classes, rule, form):
    X, y = three_classes
    model = learner(rule, form).fit(X, y)
    for k, label in enumerate("abc"):
        _, mu, sigma = last(twin(rule, form, X, np.where(y == label, 1, -1)))
        assert_allclose(model.coef_[k], mu[:-1], rtol=1e-9, atol=1e-12)
        assert_allclose(model.variance_[k], (np.diag(sigma) if sigma.ndim == 2 else sigma)[:-1], rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("rule", [name for name in RULES if name.startswith(("cw", "scw", "sop"))])
@over_layouts
def test_a_mean_of_late_iterates_counts_iterate_t_so_often(problem, row_weights, layout, dtype, rule):
    X, y = problem
    model = learner(rule, "drop" if rule != "sop" else "diagonal", 0.3, average=True)
    steps = twin(rule, "drop", X.astype(dtype).astype(float), y, 0.3, row_weights)
    total, mass, t = np.zeros(X.shape[1] + 1), 0, 0
    for i, (_, (_, mu, _)) in enumerate(
        zip(row_by_row(model, X.astype(dtype), y, layout, row_weights, classes=[-1, 1]), steps, strict=True)
    ):
        if row_weights[i] > 0:
            t += 1
            total, mass = total + t * mu, mass + t
        assert_weights(model, total / max(mass, 1), rtol=1e-9)
    assert not np.allclose(model.coef_[0], mu[:-1])
    assert_allclose(
        model.decision_function(layout(X.astype(dtype))), model.coef_[0] @ X.T + model.intercept_, rtol=1e-5, atol=1e-5
    )


def test_units_matter_in_neither_form_of_sop_and_correlations_in_the_diagonal_one_alone():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(2000, 8)) @ rng.normal(size=(8, 8))
    y = np.where(X @ rng.normal(size=8) + 0.5 * rng.normal(size=2000) > 0, 1, -1)
    units, turned = X * 10.0 ** rng.uniform(-1, 1, size=8), X @ rng.normal(size=(8, 8))
    agree = {}
    for covariance in ("full", "diagonal"):
        model = SOPClassifier(1e-7, covariance=covariance, fit_intercept=False, average=False, shuffle=False)
        answers = [model.fit(rows, y).predict(rows) for rows in (X, units, turned)]
        agree[covariance] = [np.mean(answers[0] == other) for other in answers[1:]]
    assert min(agree["full"]) > 0.97
    assert agree["diagonal"][0] > 0.99
    assert agree["diagonal"][1] < 0.95


def test_wrong_labels_cost_scw_no_more_than_arow():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((6000, 20)) @ rng.standard_normal((20, 20))
    y = X @ rng.standard_normal(20) > 0
    given = np.where(rng.random(4000) < 0.1, ~y[:4000], y[:4000])
    scw, arow = (cls().partial_fit(X[:4000], given, classes=[False, True]) for cls in (SCWClassifier, AROWClassifier))
    assert scw.score(X[4000:], y[4000:]) > arow.score(X[4000:], y[4000:]) - 0.01


@pytest.mark.parametrize("cls", [CWClassifier, SCWClassifier, SOPClassifier])
def test_a_number_or_a_full_covariance_reads_the_last_iterate(problem, cls):
    X, y = problem
    given = {CWClassifier: {"confidence": 0.85}, SCWClassifier: {"C": 0.6}, SOPClassifier: {"a": 0.6}}[cls]
    assert "lag" not in cls(**given).fit(X, y).state_.arrays
    assert "lag" in cls().fit(X, y).state_.arrays
    assert "lag" not in cls(covariance="full").fit(X, y).state_.arrays
    with pytest.raises(ValueError, match='average must be False or "auto" with covariance="full", got True'):
        cls(covariance="full", average=True).fit(X, y)


# --- the problems they solve ----------------------------------------------------------------------------------------


def steps_of(rule, n_steps=12, seed=0, weights=(1.0,)):
    """(before, row, after) of a model with a full covariance, for each step that moved it."""
    rng = np.random.default_rng(seed)
    model = learner(rule, "full", 0.0)
    mu, sigma = np.zeros(3), np.eye(3)
    for i in range(n_steps):
        x, label, weight = rng.normal(size=3), rng.choice([-1, 1]), rng.choice(weights)
        model.partial_fit(x[None], [label], classes=[-1, 1] if i == 0 else None, sample_weight=[weight])
        after = model.coef_[0].copy(), model.covariance_[0].copy()
        if not np.array_equal(after[0], mu):
            yield (mu, sigma), (x, label, weight), after
        mu, sigma = after


@pytest.mark.parametrize(("rule", "power"), [("cw", 0.5), ("cw-variance", 1.0)])
def test_cw_meets_its_constraint_exactly(rule, power):
    """m' = phi sqrt(v') or m' = phi v'."""
    met = 0
    for (mu, sigma), (x, label, _), (mu_after, sigma_after) in steps_of(rule, 60):
        assert label * (mu @ x) < PHI * (x @ sigma @ x) ** power
        assert_allclose(label * (mu_after @ x), PHI * (x @ sigma_after @ x) ** power, rtol=1e-10)
        met += 1
    assert met > 20


@pytest.mark.parametrize("size", [1e-9, 1e-3, 1e3, 1e9])
@pytest.mark.parametrize("rule", ["cw", "cw-variance"])
def test_cw_meets_its_constraint_for_rows_of_any_length(rule, size):
    """Differences of large numbers would lose it."""
    model = learner(rule, "full", 0.0)
    x = size * np.array([1.0, 0.5])
    for i, label in enumerate([1, 1, 1, -1, 1]):
        model.partial_fit(x[None], [label], classes=[-1, 1] if i == 0 else None)
        v = x @ model.covariance_[0] @ x
        bound = PHI * (v if rule == "cw-variance" else math.sqrt(v))
        assert label * model.decision_function(x[None])[0] >= bound * (1 - 1e-6)


def solve(objective, constraints=()):
    problem = cp.Problem(cp.Minimize(objective), list(constraints))
    problem.solve(solver=cp.CLARABEL, tol_gap_abs=1e-9, tol_gap_rel=1e-9, tol_feas=1e-9)
    assert problem.status == "optimal"


def roots(sigma):
    values, vectors = np.linalg.eigh(sigma)
    return vectors @ np.diag(values**-0.5) @ vectors.T


@pytest.mark.parametrize("rule", ["cw", "cw-variance", "scw-I", "scw-II"])
def test_a_full_step_of_cw_and_scw_solves_the_problem_it_says_it_solves(rule):
    """KL(N(m, S') || N(mu, S)) plus a price or a constraint; convex in m and a root Y of S', or in S'."""
    weights = (0.5, 1.0, 2.0)
    moved = capped = 0
    for (mu, sigma), (x, label, weight), (mu_after, sigma_after) in steps_of(rule, 10, weights=weights):
        root = roots(sigma)
        m = cp.Variable(3)
        if rule == "cw-variance":
            S = cp.Variable((3, 3), PSD=True)
            precision = root @ root
            divergence = (cp.trace(precision @ S) - cp.log_det(S)) / 2
            constraints = [label * (m @ x) >= PHI * (x @ S @ x)]
        else:
            Y = cp.Variable((3, 3), PSD=True)
            divergence = cp.sum_squares(root @ Y) / 2 - cp.log_det(Y)
            constraints = [label * (m @ x) >= PHI * cp.norm(Y @ x)] if rule == "cw" else []
        objective = divergence + cp.sum_squares(root @ (m - mu)) / 2
        if rule.startswith("scw"):
            short = cp.pos(PHI * cp.norm(Y @ x) - label * (m @ x))
            objective += 0.3 * weight * (short if rule == "scw-I" else cp.square(short))
            after = PHI * math.sqrt(x @ sigma_after @ x) - label * (mu_after @ x)
            capped += after > 1e-6
        solve(objective, constraints)
        assert_allclose(mu_after, m.value, atol=2e-4)
        assert_allclose(sigma_after, S.value if rule == "cw-variance" else Y.value @ Y.value, atol=2e-4)
        moved += 1
    assert moved > 5
    assert capped or rule.startswith("cw")  # the price was reached


def test_a_full_step_of_nherd_moves_the_herd_at_the_least_cost():
    """min over A, b: E[(Aw + b - w)' S^-1 (Aw + b - w) + C (1 - y x.(Aw + b))^2] / 2, w ~ N(mu, S)"""
    moved = 0
    for (mu, sigma), (x, label, weight), (mu_after, sigma_after) in steps_of("nherd", 10, weights=(0.5, 1.0, 2.0)):
        root, half = roots(sigma), np.linalg.inv(roots(sigma))
        A, b = cp.Variable((3, 3)), cp.Variable(3)
        change = cp.sum_squares(root @ (A - np.eye(3)) @ half) + cp.sum_squares(root @ (A @ mu + b - mu))
        paid = cp.square(1 - label * (x @ (A @ mu + b))) + cp.sum_squares(half @ A.T @ x)
        solve((change + 0.6 * weight * paid) / 2)
        assert_allclose(mu_after, A.value @ mu + b.value, atol=1e-4)
        assert_allclose(sigma_after, A.value @ sigma @ A.value.T, atol=1e-4)
        moved += 1
    assert moved > 4


def test_scw_ii_is_the_minimum_on_a_grid():
    """One feature, S = 1, m = 0: phi, C as below. A well-known implementation writes 2 v for v^2 and is off."""
    phi, C = PHI, 0.3
    model = learner("scw-II", "full", 0.0).partial_fit([[1.0]], [1], classes=[-1, 1])
    mean, deviation = np.meshgrid(np.linspace(0, 1, 1001), np.linspace(0.2, 1.2, 1001))
    short = np.maximum(0, phi * deviation - mean)
    value = (deviation**2 - 1 + mean**2) / 2 - np.log(deviation) + C * short**2
    best = np.unravel_index(value.argmin(), value.shape)
    assert_allclose(model.coef_[0, 0], mean[best], atol=2e-3)
    assert_allclose(math.sqrt(model.variance_[0, 0]), deviation[best], atol=2e-3)


@pytest.mark.parametrize("rule", [rule for rule in RULES if rule != "sop"])
def test_the_inverse_covariance_adds_up_what_rows_ask_for(problem, rule):
    """S'^-1 = S^-1 + gain x x' with the gain that a twin names."""
    for (mu, sigma), (x, label, _), (_, sigma_after) in steps_of(rule, 15, seed=3):
        _, gain, _ = RULES[rule][2](label * (mu @ x), x @ sigma @ x, 1.0)
        assert_allclose(np.linalg.inv(sigma_after), np.linalg.inv(sigma) + gain * np.outer(x, x), rtol=1e-8, atol=1e-9)


def test_sop_learns_from_mistakes_alone(problem):
    X, y = problem
    for form in ("diagonal", "full"):
        model = learner("sop", form)
        for i, _ in enumerate(row_by_row(model, X, y, np.asarray, classes=[-1, 1])):
            score = model.decision_function(X[i : i + 1])[0]
            updates = model.n_updates_
            if y[i] * score > 0:
                model.partial_fit(X[i : i + 1], y[i : i + 1])
                assert model.n_updates_ == updates
                assert model.decision_function(X[i : i + 1])[0] == score


def test_narow_learns_nothing_where_it_is_sure():
    model = NAROWClassifier(b=1.0, fit_intercept=False)
    with pytest.warns(UserWarning, match=r"NAROWClassifier: no row was doubtful enough .* a larger b learns from more"):
        model.fit([[1.0, 0.0], [0.6, 0.8]], [0, 1])  # v = 1 = 1 / b
    assert model.set_params(b=1.5).fit([[1.0, 0.0], [0.6, 0.8]], [0, 1]).n_updates_ == 2


def test_a_changed_parameter_of_sop_takes_effect_or_is_refused(problem):
    X, y = problem
    model = learner("sop").fit(X, y)
    u, squares = model.state_.arrays["label_sum"][0], model.state_.arrays["square_sum"][0]
    assert_allclose(model.set_params(a=3.0).coef_[0], (u / (3 + squares))[:-1], rtol=1e-12)
    full = learner("sop", "full").fit(X, y)
    with pytest.raises(ValueError, match=r"SOPClassifier: a parameter .* has changed"):
        full.set_params(a=3.0).predict(X)


# --- numbers at the edge --------------------------------------------------------------------------------------------


@over_cases
@pytest.mark.parametrize("size", [1e-200, 1e-160, 1e-30, 1e12, 1e30, 1e100])
def test_rows_of_any_length_leave_a_model_that_works(rule, form, size):
    X = np.array([[size, 0.0], [0.0, size], [size, -size], [1.0, 1.0], [0.0, 0.0]])
    model = learner(rule, form, 0.0)
    for _ in range(3):
        try:
            model.partial_fit(X, [1, -1, -1, 1, 1], classes=[-1, 1])
        except FloatingPointError:
            assert size >= 1e100
            return
    assert np.isfinite(model.coef_).all()
    assert np.isfinite(model.variance_).all()
    if size <= 1e100:
        assert (model.variance_ > 0).all()
    shares = model.predict_confidence(X[3:])
    assert np.isfinite(shares).all()


@over_cases
@pytest.mark.parametrize("variance", [1e-320, 1e-300, 1e300])
def test_variances_of_a_strangers_file_do_no_harm(problem, rule, form, variance):
    X, y = problem
    model = learner(rule, form).fit(X, y)
    for name, array in model.state_.arrays.items():
        if name in ("variance", "square_sum"):
            array[...] = variance
        elif name == "covariance":
            array[...] = -1.0  # not a covariance at all
            array[:, range(array.shape[1]), range(array.shape[1])] = variance
    try:
        model.partial_fit(X, y)
    except FloatingPointError:
        return
    model.predict(X)
    with np.errstate(all="ignore"):
        assert not np.isnan(model.predict_confidence(X)).any()


# --- reading --------------------------------------------------------------------------------------------------------


@over_cases
def test_k_features_are_read_and_all_of_them_learn(problem, rule, form):
    X, y = problem
    for K in (1, 3, 9, 50):
        model = learner(rule, form, n_features_to_select=K)
        steps = twin(rule, form, X, y)
        for _, (_, mu, sigma) in zip(row_by_row(model, X, y, np.asarray, classes=[-1, 1]), steps, strict=True):
            expected = reference.surest(mu, np.diag(sigma) if sigma.ndim == 2 else sigma, K)
            assert_weights(model, expected)
            assert len(model.support_) == min(K, np.count_nonzero(mu[:-1]))
        scores = X @ model.coef_[0] + model.intercept_[0]
        assert_allclose(model.decision_function(X), scores, rtol=1e-10, atol=1e-12)
        core = model._learner_now()
        assert_allclose(core.scores(model._rows_to_score(X), model.state_)[:, 0], scores, rtol=1e-10, atol=1e-12)


@over_rules
def test_of_equal_features_the_first_are_read(rule):
    X = np.ones((1, 6))
    X[:, 4] = 2.0
    model = learner(rule, n_features_to_select=3).partial_fit(X, [1], classes=[-1, 1])
    assert_array_equal(model.support_, [0, 1, 4])
    assert model.intercept_[0] != 0  # the constant does not count


@over_cases
def test_k_features_are_read_after_a_merge(problem, rule, form):
    X, y = problem
    shards = [learner(rule, form, n_features_to_select=4) for _ in range(2)]
    for k, shard in enumerate(shards):
        shard.partial_fit(X[k::2], y[k::2], classes=[-1, 1])
    whole = [learner(rule, form).partial_fit(X[k::2], y[k::2], classes=[-1, 1]) for k in range(2)]
    merged, all_of_it = merge_models(shards), merge_models(whole)
    variance = np.append(all_of_it.variance_[0], 1)
    mu = np.append(all_of_it.coef_[0], all_of_it.intercept_[0])
    assert len(merged.support_) == 4
    assert_allclose(merged.coef_[0], reference.surest(mu, variance, 4)[:-1], rtol=1e-12)


def test_merged_sums_of_sop_are_those_of_all_mistakes(problem):
    X, y = problem
    for form in ("diagonal", "full"):
        parts = [learner("sop", form).partial_fit(X[k::2], y[k::2], classes=[-1, 1]) for k in range(2)]
        first, second, merged = (np.linalg.inv(next(beliefs(m))[1]) for m in (*parts, merge_models(parts)))
        assert_allclose(merged, first + second - 0.6 * np.eye(len(first)), rtol=1e-9, atol=1e-9)
        sums = [np.linalg.inv(sigma) @ mu for m in (*parts, merge_models(parts)) for mu, sigma in beliefs(m)]
        assert_allclose(sums[2], sums[0] + sums[1], rtol=1e-9, atol=1e-9)


# --- arguments ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("confidence", [0.5, 1.0, 0.2, math.nan, "0.9", True])
@pytest.mark.parametrize("cls", [CWClassifier, SCWClassifier])
def test_a_confidence_is_above_a_half_and_below_one(cls, confidence):
    with pytest.raises(ValueError, match=rf"{cls.__name__}: confidence must be a number above 0.5 and below 1.*, got"):
        cls(confidence=confidence).fit([[0.0], [1.0]], [0, 1])


def test_a_covariance_that_is_not_kept_is_not_there(problem):
    for rule in RULES:
        model = learner(rule).fit(*problem)
        with pytest.raises(AttributeError, match=rf"{type(model).__name__} keeps covariance_ only with"):
            _ = model.covariance_


def test_the_raced_confidences_are_those_of_their_quantiles():
    raced, confidences = CWClassifier._raced, [0.55, 0.7, 0.9]
    assert_allclose(raced.candidates, stats.norm.ppf(confidences), rtol=1e-15)
    assert [raced.given(phi) for phi in raced.candidates] == confidences
