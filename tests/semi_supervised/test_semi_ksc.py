"""SemiKSC: stationarity, minima and landmarks; and what it shares with BiSemiKSC: labels, weights, files, refusals."""

from __future__ import annotations

import time

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import make_moons
from sklearn.exceptions import ConvergenceWarning
from sklearn.kernel_ridge import KernelRidge
from sklearn.metrics.pairwise import rbf_kernel

from reference import semi_spectral as reference
from strict_checks import parametrize_with_checks
from thresher import registry
from thresher._kernels._fixed_size import fixed_size
from thresher.kernels import RBF, Polynomial, WeightedSum
from thresher.persistence import load_model, save_model
from thresher.semi_supervised import BiSemiKSC, SemiKSC
from thresher.semi_supervised._semi_spectral import _degrees
from thresher.semi_supervised._spread import solve
from thresher.tuning import CoupledAnnealingSearchCV, LabelledKFold
from unsound import save_unsound

METHODS = [SemiKSC, BiSemiKSC]
methods = pytest.mark.parametrize("cls", METHODS)
biases = pytest.mark.parametrize("bias", [False, True])


def rows(n=50, seed=0, share=0.3):
    """Rows and classes 0 and 1, -1 for most, anywhere among them."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(2, size=n)
    X = rng.normal(size=(n, 3)) + (1.5 * truth - 0.75)[:, None]
    y = np.where(rng.random(n) < share, truth, -1)
    y[[3, 5]] = 0, 1
    return X, y


def signs(y):
    return np.select([y == 0, y == 1], [-1.0, 1.0], 0.0)


# --- the problem ------------------------------------------------------------------------------------------------------


@biases
@pytest.mark.parametrize(("spread", "C"), [(0.0, 1.0), (0.5, 0.3), (0.99, 10.0), (0.999, 1e3), (1.7, 2.0), (5.0, 0.1)])
def test_it_solves_the_system_of_the_thesis(spread, C, bias):
    X, y = rows(seed=int(10 * spread))
    model = SemiKSC(spread, C, gamma=0.4, fit_intercept=bias).fit(X, y)
    K = rbf_kernel(X, gamma=0.4)
    alpha, b = reference.semi_ksc(K, signs(y), model.spread_, C, bias)
    coef = np.zeros(50)
    coef[model.support_] = model.dual_coef_[0]
    scale = np.abs(alpha).max()
    assert_allclose(coef, alpha, atol=1e-9 * scale)
    assert_allclose(model.intercept_, [b], atol=1e-9 * scale)
    assert_allclose(model.decision_function(X), K @ alpha + b, atol=1e-9 * scale)


@biases
@pytest.mark.parametrize(("spread", "C"), [(0.3, 10.0), (0.95, 1.0), (0.9, 0.05), (1.2, 50.0), (3.0, 0.2)])
def test_the_gradient_of_the_objective_is_0_and_a_minimum_is_told_from_a_saddle(spread, C, bias):
    """In explicit features: the answer is stationary to 1e-10, and is_minimum_ says whether the second derivative is
    positive definite."""
    X, y = rows(seed=1)
    model = SemiKSC(spread, C, gamma=0.4, fit_intercept=bias).fit(X, y)
    K = rbf_kernel(X, gamma=0.4)
    phi, V = reference.features(K), 1 / K.sum(axis=1)
    spread = model.spread_
    hessian, right = reference.semi_derivatives(phi, signs(y), V, spread, C)
    w = phi.T @ model.dual_coef_[0]
    gradient = hessian @ np.append(w, model.intercept_) - right
    used = slice(None) if bias else slice(-1)
    assert_allclose(gradient[used], 0.0, atol=1e-10 * max(1, C))
    assert model.is_minimum_ == bool(np.linalg.eigvalsh(hessian[used, used]).min() > 0)
    here = reference.semi_objective(phi, w, model.intercept_[0], signs(y), V, spread, C)
    rng, lower = np.random.default_rng(0), []
    for size in np.repeat([1e-3, 1e-1, 10.0], 60):
        step = size * rng.normal(size=len(w)) / np.sqrt(len(w))
        there = reference.semi_objective(
            phi, w + step, model.intercept_[0] + bias * size * rng.normal(), signs(y), V, spread, C
        )
        lower.append(there < here - 1e-12)
    assert not (model.is_minimum_ and any(lower))


def test_below_a_spread_of_1_there_is_a_minimum_and_beyond_it_need_not_be_one():
    X, y = rows()
    for C in (1e-3, 1.0, 100.0):
        for gamma in (0.01, 1.0, 30.0):
            assert SemiKSC(0.999, C, gamma=gamma).fit(X, y).is_minimum_
    assert not SemiKSC(1.2, 1e-3, gamma=0.4).fit(X, y).is_minimum_


@biases
def test_without_spread_it_is_kernel_ridge_regression_on_the_labels(bias):
    X, y = rows()
    known = y != -1
    model = SemiKSC(0.0, 4.0, gamma=0.4, fit_intercept=bias).fit(X, y)
    assert_array_equal(model.support_, np.flatnonzero(known))
    ridge = KernelRidge(alpha=0.25, kernel="rbf", gamma=0.4)
    if not bias:
        ridge.fit(X[known], signs(y)[known])
        assert_allclose(model.decision_function(X), ridge.predict(X), atol=1e-12)
    else:  # what remains of targets after the constant
        ridge.fit(X[known], signs(y)[known] - model.intercept_)
        assert_allclose(model.decision_function(X), ridge.predict(X) + model.intercept_, atol=1e-12)
        assert_allclose(model.dual_coef_.sum(), 0.0, atol=1e-12)
    linear = SemiKSC(0.0, kernel="linear").fit(X, y)  # no spread, no degrees
    assert linear.is_minimum_


@pytest.mark.parametrize("n_negative", [0, 3, 7])
def test_signs_of_eigenvalues_are_counted(n_negative):
    rng = np.random.default_rng(n_negative)
    for scale in (1e-3, 1.0, 1e3):
        Q = np.linalg.qr(rng.normal(size=(7, 7)))[0]
        values = scale * rng.uniform(0.1, 1, size=7) * np.where(np.arange(7) < n_negative, -1, 1)
        A, x = (Q * values) @ Q.T, rng.normal(size=(7, 2))
        found = solve(np.asfortranarray((A + A.T) / 2), A @ x)
        assert found.n_negative == n_negative
        assert_allclose(found.x, x, atol=1e-10)
        exact = 1 / np.linalg.cond(A, 1)
        assert exact / 10 < found.rcond < exact * 10


def test_blocks_of_two_count_one_negative_eigenvalue():
    found = solve(np.array([[0.0, 2.0], [2.0, 0.0]], order="F"), np.array([[2.0], [4.0]]))
    assert_allclose(found.x, [[2.0], [1.0]])
    assert found.n_negative == 1


# --- rows, classes, layouts -------------------------------------------------------------------------------------------


@methods
def test_new_rows_that_were_there_have_the_scores_they_had(cls):
    """transduction_ is read from the scores of the solution, predict from those of new rows."""
    X, y = rows(200)
    wrong = np.flatnonzero(y == 0)[:5]
    y[wrong] = 1
    for more in ({}, {"n_components": 20, "random_state": 0}):
        model = cls(C=0.1, gamma=0.5, **more).fit(X, y)
        assert_array_equal(model.transduction_, np.where(y == -1, model.predict(X), y))
        assert (model.predict(X[wrong]) == 0).any()  # labels stay, whatever the model says


@methods
def test_the_order_of_rows_does_not_matter(cls):
    X, y = rows()
    order = np.random.default_rng(0).permutation(50)
    one, other = cls(gamma=0.4).fit(X, y), cls(gamma=0.4).fit(X[order], y[order])
    assert_allclose(other.decision_function(X), one.decision_function(X), atol=1e-10)


@biases
def test_several_classes_are_learned_one_against_the_rest(three_classes, bias):
    X, labels = three_classes
    y = np.where(np.arange(60) % 3 == 0, labels, "?")
    model = SemiKSC(0.9, 2.0, gamma=0.3, fit_intercept=bias, unlabelled_label="?").fit(X, y)
    scores = model.decision_function(X)
    for k, name in enumerate("abc"):
        alone = SemiKSC(0.9, 2.0, gamma=0.3, fit_intercept=bias).fit(X, np.select([y == "?", y == name], [-1, 1], 0))
        assert_allclose(scores[:, k], alone.decision_function(X), atol=1e-10)
    assert_array_equal(model.predict(X), np.array(list("abc"))[scores.argmax(axis=1)])
    assert_array_equal(model.transduction_, np.where(y == "?", model.predict(X), y))


@methods
@pytest.mark.parametrize("n_components", [None, 15])
def test_layouts_and_precisions_give_the_same_model(cls, n_components, problem, layout, dtype):
    X, y = problem
    y = np.where(np.arange(60) % 3 == 0, (y > 0).astype(int), -1)
    X = X.astype(dtype)
    params = {"gamma": 0.3, "n_components": n_components, "random_state": 0}
    plain, model = cls(**params).fit(X.astype(float), y), cls(**params).fit(layout(X), y)
    assert_allclose(model.decision_function(layout(X)), plain.decision_function(X.astype(float)), atol=1e-6)
    assert_array_equal(model.support_, plain.support_)
    assert model.support_vectors_.shape == (len(model.support_), 12)


@methods
@pytest.mark.parametrize("weighted", [False, True])
def test_a_precomputed_kernel_gives_the_same_model(cls, row_weights, weighted):
    X, y = rows(60)
    weight = row_weights if weighted else None
    plain = cls(gamma=0.3).fit(X, y, sample_weight=weight)
    K = plain.kernel_(X)
    model = cls(kernel="precomputed").fit(K, y, sample_weight=weight)
    assert_array_equal(model.support_, plain.support_)
    assert_allclose(model.decision_function(K), plain.decision_function(X), atol=1e-10)
    before = K.copy()
    cls(kernel="precomputed").fit(K, y)
    assert_array_equal(K, before)


@methods
@pytest.mark.parametrize("kernel", [Polynomial(2, 0.5), WeightedSum([RBF(0.5), RBF(0.1, features=[0])], [1.0, 0.5])])
def test_kernels_as_objects(cls, kernel):
    X, y = rows()
    model = cls(kernel=kernel).fit(X, y)
    other = cls(kernel="precomputed").fit(kernel(X), y)
    assert_allclose(model.decision_function(X), other.decision_function(kernel(X)), atol=1e-8)


@methods
def test_the_same_rows_give_the_same_bits(cls):
    X, y = rows()
    for more in ({}, {"n_components": 20, "random_state": 3}):
        a, b = cls(gamma=0.2, **more).fit(X, y), cls(gamma=0.2, **more).fit(X, y)
        assert a.dual_coef_.tobytes() == b.dual_coef_.tobytes()


@pytest.mark.parametrize("n_components", [None, 50])
def test_the_spread_is_in_units_of_the_first_eigenvalue(n_components):
    """Of D^-1 K without a constant term, which is 1, and of D^-1 M_D K with one."""
    X, y = rows()
    K = rbf_kernel(X, gamma=0.4)
    D = K.sum(axis=1)
    M = np.eye(50) - np.outer(np.ones(50), 1 / D) / (1 / D).sum()
    options = {"gamma": 0.4, "n_components": n_components, "random_state": 0}
    plain, centred = (SemiKSC(0.8, fit_intercept=bias, **options).fit(X, y) for bias in (False, True))
    assert plain.spread_ == 0.8
    assert_allclose(centred.spread_, 0.8 / np.linalg.eigvals(M @ K / D[:, None]).real.max(), rtol=1e-8)
    assert_allclose(np.linalg.eigvals(K / D[:, None]).real.max(), 1.0)


def test_a_constant_term_lets_scores_spread_between_heaps():
    """Two wide heaps in many columns: a few labels name what clusters show."""
    rng = np.random.default_rng(0)
    truth = rng.integers(2, size=400)
    X = rng.normal(size=(400, 60))
    X[:, 0] += 4 * truth
    y = np.where(np.arange(400) < 10, truth, -1)
    right = {
        b: np.mean(SemiKSC(fit_intercept=b, C=1.0, gamma="scale").fit(X, y).transduction_ == truth)
        for b in (False, True)
    }
    assert right[True] > 0.95
    assert right[False] < 0.85


# --- landmarks --------------------------------------------------------------------------------------------------------

MODELS = [
    SemiKSC(0.9, 2.0, gamma=0.4),
    SemiKSC(0.9, 2.0, gamma=0.4, fit_intercept=True),
    SemiKSC(2.0, 0.1, gamma=0.4),
    BiSemiKSC(0.9, 0.2, 2.0, gamma=0.4),
    BiSemiKSC(0.5, 0.5, 2.0, gamma=0.4),
    BiSemiKSC(3.0, 0.2, 2.0, gamma=0.4),
]


@pytest.mark.parametrize("model", MODELS, ids=str)
def test_all_rows_as_landmarks_give_the_full_form(model, row_weights):
    X, y = rows(60)
    full = model.fit(X, y, sample_weight=row_weights)
    scores, is_minimum = full.decision_function(X), full.is_minimum_
    small = type(model)(**model.get_params() | {"n_components": 60, "random_state": 0})
    small.fit(X, y, sample_weight=row_weights)
    assert_allclose(small.decision_function(X), scores, atol=1e-8 * np.abs(scores).max())
    assert small.is_minimum_ == is_minimum


@pytest.mark.parametrize("model", MODELS, ids=str)
def test_landmarks_solve_the_problem_of_their_own_kernel(model):
    """The kernel that landmarks stand for, K[:, S] K[S, S]^-1 K[S, :], in the full form."""
    X, y = rows(60)
    small = type(model)(**model.get_params() | {"n_components": 25, "random_state": 1}).fit(X, y)
    assert len(small.support_) == 25
    S = X[small.support_]
    K = rbf_kernel(X, S, gamma=0.4)
    approximate = K @ np.linalg.solve(rbf_kernel(S, gamma=0.4), K.T)
    assert (approximate.sum(axis=1) > 1).all()
    other = type(model)(**model.get_params() | {"kernel": "precomputed"}).fit((approximate + approximate.T) / 2, y)
    found, scores = small.decision_function(X), other.decision_function(approximate)
    assert_allclose(found, scores, atol=1e-6 * np.abs(scores).max())
    assert_array_equal(small.transduction_, other.transduction_)


@methods
def test_rows_far_from_all_landmarks_are_at_least_like_themselves(cls):
    """Their degree would be 0 by the landmarks; they are found to weigh nothing instead of being refused."""
    X, y = rows(200)
    X[150:] = 100 + 10 * np.arange(50)[:, None]
    y[150:] = -1
    model = cls(gamma=1.0, n_components=10, random_state=0).fit(X, y)
    assert np.isfinite(model.decision_function(X)).all()
    assert model.is_minimum_


def test_degrees_by_landmarks_are_as_often_as_rows_count():
    X = np.vstack([np.random.default_rng(0).normal(size=(40, 2)), [[100.0, 0.0]], [[0.0, 300.0]]])
    weight = np.append(np.random.default_rng(1).uniform(0.5, 2, size=40), [3.0, 0.25])
    kernel = RBF(1.0)
    fixed = fixed_size(kernel, X[:40], 40, 0, "Any")
    features = np.vstack([fixed.features, np.zeros((2, fixed.features.shape[1]))])  # of rows that no landmark knows
    assert_allclose(_degrees(fixed._replace(features=features), X, weight), kernel(X, X) @ weight, atol=1e-8)


@pytest.mark.slow
@methods
def test_a_hundred_thousand_rows_take_seconds(cls):
    X, truth = make_moons(100_000, noise=0.1, random_state=0)
    y = np.where(np.arange(100_000) < 20, truth, -1)
    begin = time.process_time()
    model = cls(gamma=10.0, n_components=300, random_state=0).fit(X, y)
    assert time.process_time() - begin < 60
    assert len(model.support_) == 300
    assert np.mean(model.transduction_ == truth) > 0.9


@methods
def test_a_matrix_that_does_not_fit_is_refused_with_the_way_out(cls):
    X, y = rows(60)
    with pytest.raises(ValueError, match=rf"^{cls.__name__}: cache_size must hold .* 60 rows.*; n_components takes"):
        cls(cache_size=1e-3).fit(X, y)
    cls(cache_size=1e-3, n_components=10, random_state=0).fit(X, y)


# --- weights ----------------------------------------------------------------------------------------------------------


@methods
@pytest.mark.parametrize("n_components", [None, 10])
def test_a_row_of_weight_0_is_absent(cls, n_components, row_weights):
    X, y = rows(60)
    y[[0, 4, 8]] = 7, 7, 9  # classes of absent rows only
    X[[0, 4]] *= 1e3  # which gamma="scale" must not see
    there = np.flatnonzero(row_weights)
    params = {"n_components": n_components, "random_state": 0}
    model = cls(**params).fit(X, y, sample_weight=row_weights)
    alone = cls(**params).fit(X[there], y[there], sample_weight=row_weights[there])
    assert_array_equal(model.classes_, [0, 1])
    assert_array_equal(model.support_, there[alone.support_])
    assert_array_equal(model.decision_function(X), alone.decision_function(X))
    assert_array_equal(model.transduction_[there], alone.transduction_)


@methods
def test_a_doubled_weight_is_a_repeated_row(cls):
    X, y = rows()
    twice = np.r_[np.arange(50), [1, 3, 20, 21, 5]]
    weight = np.bincount(twice).astype(float)
    one = cls(gamma=0.3).fit(X, y, sample_weight=weight)
    other = cls(gamma=0.3).fit(X[twice], y[twice])
    assert_allclose(one.decision_function(X), other.decision_function(X), atol=1e-9)


def test_weights_against_the_twin(row_weights):
    X, y = rows(60)
    y[row_weights == 0] = -1
    y[[1, 2]] = 0, 1
    there = row_weights > 0
    model = SemiKSC(0.7, 3.0, gamma=0.3, fit_intercept=True).fit(X, y, sample_weight=row_weights)
    K = rbf_kernel(X[there], gamma=0.3)
    alpha, b = reference.semi_ksc(K, signs(y[there]), model.spread_, 3.0, True, row_weights[there])
    assert_allclose(model.decision_function(X[there]), K @ alpha + b, atol=1e-9)


@methods
def test_class_weights_multiply_c_of_labelled_rows(cls):
    X, y = rows()
    n = np.bincount(y[y >= 0])
    balanced = cls(gamma=0.3, class_weight="balanced").fit(X, y)
    given = cls(gamma=0.3, class_weight={0: n.sum() / (2 * n[0]), 1: n.sum() / (2 * n[1])}).fit(X, y)
    assert_array_equal(balanced.decision_function(X), given.decision_function(X))
    doubled = cls(gamma=0.3, class_weight={0: 2.0, 1: 2.0}, C=3.0).fit(X, y)
    assert_array_equal(doubled.decision_function(X), cls(gamma=0.3, C=6.0).fit(X, y).decision_function(X))
    assert np.abs(balanced.decision_function(X) - doubled.decision_function(X)).max() > 1e-3


# --- labels, names, files ---------------------------------------------------------------------------------------------


@methods
@pytest.mark.parametrize(
    ("names", "unlabelled"),
    [
        (np.array([0.0, 1.0, -1.0]), -1),
        (np.array([3, 7, 0]), 0),
        (np.array(["ham", "spam", "-1"]), -1),
        (np.array(["ham", "spam", "?"]), "?"),
        (np.array(["ham", "spam", -1], dtype=object), -1),
        (np.array([0, 1, "?"], dtype=object), "?"),
    ],
    ids=str,
)
def test_labels_of_any_kind(cls, names, unlabelled):
    X, y = rows()
    plain, model = cls(gamma=0.3).fit(X, y), cls(gamma=0.3, unlabelled_label=unlabelled).fit(X, names[y])
    assert_array_equal(model.classes_, names[:2])
    assert_array_equal(model.decision_function(X), plain.decision_function(X))
    assert_array_equal(model.predict(X), names[plain.predict(X)])
    assert_array_equal(model.transduction_, names[plain.transduction_])
    assert model.transduction_.dtype.kind == names.dtype.kind


WEIGHTS = ("check_sample_weight_equivalence_on_dense_data", "check_sample_weight_equivalence_on_sparse_data")


@parametrize_with_checks(
    [
        SemiKSC(unlabelled_label="?"),  # among the labels of the checks is -1
        SemiKSC(unlabelled_label=None, fit_intercept=True, spread=0.5),
        SemiKSC(unlabelled_label=None, n_components=1.0, random_state=0),
        BiSemiKSC(unlabelled_label="?"),
        BiSemiKSC(unlabelled_label=None, n_components=1.0, random_state=0),
    ],
    expected_failed_checks=lambda model: dict.fromkeys(
        WEIGHTS, "gamma='scale' looks at rows, not at their weights; so do landmarks."
    ),
    xfail_strict=True,
)
def test_scikit_learns_contract(estimator, check):
    check(estimator)


@methods
@pytest.mark.parametrize(
    "params",
    [{}, {"kernel": "precomputed"}, {"kernel": Polynomial(2, 0.5)}, {"n_components": 7, "random_state": 0}],
    ids=str,
)
def test_files_keep_all_that_predicts(cls, params, tmp_path):
    X, y = rows()
    frame = pd.DataFrame(X, columns=["a", "b", "c"])
    given = rbf_kernel(X) if params.get("kernel") == "precomputed" else frame
    more = {"outlier_label": "none"} if cls is BiSemiKSC else {"fit_intercept": True}
    model = cls(unlabelled_label="?", **params, **more).fit(given, np.array(["no", "yes", "?"])[y])
    save_model(model, tmp_path / "m")
    again = load_model(tmp_path / "m")
    assert_array_equal(again.decision_function(given), model.decision_function(given))
    assert_array_equal(again.predict(given), model.predict(given))
    assert (again.rcond_, again.is_minimum_) == (model.rcond_, model.is_minimum_)
    if given is frame:
        assert again.feature_names_in_.tolist() == ["a", "b", "c"]
        with pytest.raises(ValueError, match="feature names"):
            again.predict(frame[["b", "a", "c"]])


@methods
@pytest.mark.parametrize(
    ("name", "value", "said"),
    [
        ("classes_", np.array([1, 0]), "classes_ must be at least two, in order"),
        ("classes_", np.array([0, 1, 2]), "intercept_ must be float64 of shape"),
        ("intercept_", np.array([1.0, 2.0, 3.0]), "intercept_ must be float64 of shape"),
        ("intercept_", np.array([1, 2]), "intercept_ must be float64 of shape"),
        ("dual_coef_", np.ones((3, 50)), "dual_coef_ must be float64 of shape"),
        ("support_", np.array([3, 1]), "support_"),
        ("rcond_", 2.0, "rcond_ must be a number between 0 and 1, got 2.0"),
        ("rcond_", None, "rcond_ must be a number between 0 and 1, got None"),
        ("is_minimum_", 1, "is_minimum_ must be True or False, got 1"),
    ],
)
def test_a_file_whose_parts_do_not_belong_together_is_refused(cls, name, value, said, tmp_path):
    model = cls().fit(*rows())
    setattr(model, name, value)
    save_unsound(model, tmp_path / "m")
    with pytest.raises(ValueError, match=said):
        load_model(tmp_path / "m")


@methods
def test_constants_of_a_file_must_be_finite(cls, tmp_path):
    model = cls().fit(*rows())
    model.intercept_ = np.full_like(model.intercept_, np.nan)
    save_unsound(model, tmp_path / "m")
    with pytest.raises(ValueError, match="_ must be float64 of shape"):
        load_model(tmp_path / "m")


# --- refusals and warnings --------------------------------------------------------------------------------------------

X, Y = rows()


@pytest.mark.parametrize(
    ("model", "y", "said"),
    [
        (SemiKSC(spread=-0.1), Y, "SemiKSC: spread must be a number of at least 0, got -0.1."),
        (SemiKSC(C=0), Y, "SemiKSC: C must be a number above 0, got 0."),
        (SemiKSC(fit_intercept=1), Y, "SemiKSC: fit_intercept must be True or False, got 1."),
        (SemiKSC(n_components=0), Y, "SemiKSC: n_components must be None or .*, got 0."),
        (SemiKSC(kernel="precomputed", n_components=5), Y, "SemiKSC: a precomputed kernel must be a square matrix"),
        (SemiKSC(unlabelled_label=[1]), Y, "SemiKSC: unlabelled_label must be a number or text or None"),
        (SemiKSC(class_weight={0: 0.0}), Y, "SemiKSC: class_weight must leave every class a weight above 0"),
        (SemiKSC(class_weight={5: 1.0}), Y, r"SemiKSC: class_weight must name classes among \[0, 1\], got 5."),
        (SemiKSC(), np.where(Y == 0, -1, Y), r"at least two classes, got one class: 1 \(-1 means unlabelled\)."),
        (SemiKSC(), Y[:5], "SemiKSC: y must have one entry per row, got 5 for 50 rows."),
        (
            SemiKSC(kernel="linear"),
            Y,
            r"SemiKSC: the kernel of a row with all rows must have a sum above 0, got -\d.*such as 'rbf', or",
        ),
        (SemiKSC(kernel="linear", n_components=20), Y, "SemiKSC: the kernel of a row with all rows must have a sum"),
        (BiSemiKSC(coupling=1), Y, "BiSemiKSC: coupling must be a number above 1, got 1."),
        (BiSemiKSC(spread_rest=-1), Y, "BiSemiKSC: spread_rest must be a number of at least 0, got -1."),
        (BiSemiKSC(outlier_label=1), Y, "BiSemiKSC: outlier_label must not be a label of y, got 1; for rows that are"),
        (BiSemiKSC(outlier_label=-1), Y, "BiSemiKSC: outlier_label must not be a label of y, got -1; for rows that"),
        (BiSemiKSC(kernel="linear"), Y, "BiSemiKSC: the kernel of a row with all rows must have a sum above 0"),
    ],
    ids=lambda value: str(value) if isinstance(value, str) else None,
)
def test_refusals_are_one_sentence_and_change_nothing(model, y, said):
    fitted = type(model)().fit(X, Y)
    before, attributes = fitted.decision_function(X), set(vars(fitted))
    fitted.set_params(**model.get_params(deep=False))
    with pytest.raises(ValueError, match=said) as refusal:
        fitted.fit(X, y)
    assert "\n" not in str(refusal.value)
    fitted.set_params(**type(model)().get_params(deep=False))
    assert_array_equal(fitted.decision_function(X), before)
    assert set(vars(fitted)) == attributes


def test_weights_of_nothing_are_refused():
    with pytest.raises(ValueError, match=r"SemiKSC: sample_weight must hold a weight above 0, got only zeros\."):
        SemiKSC().fit(X, Y, sample_weight=np.zeros(50))


SINGULAR = [SemiKSC(kernel="precomputed"), BiSemiKSC(0.9, 0.9, kernel="precomputed")]


@pytest.mark.parametrize("model", SINGULAR, ids=str)
def test_systems_that_are_nearly_singular_say_so_and_singular_ones_are_refused(model):
    who = type(model).__name__
    with pytest.warns(ConvergenceWarning, match=rf"^{who}: the linear system is nearly singular .* or lower C\.$"):
        model.set_params(C=1e15).fit(rbf_kernel(X), Y)
    assert model.rcond_ < 1e-12
    with pytest.raises(ValueError, match=rf"^{who}: the linear system must not be singular; change the spread"):
        model.set_params(C=1e100).fit(np.full((50, 50), 1e99), Y)


@pytest.mark.parametrize("model", [SemiKSC(1.0, kernel="precomputed"), BiSemiKSC(1.5, 0.0, kernel="precomputed")])
@pytest.mark.filterwarnings("error")
def test_a_spread_at_which_a_cluster_has_no_answer_is_found_out(model):
    """Rows without a label that are like no labelled row, and a spread of 1 over their eigenvalue."""
    K = np.kron(np.eye(2), np.ones((4, 4)))
    y = np.array([0, 1, 0, 1, -1, -1, -1, -1])
    with pytest.raises((ValueError, ConvergenceWarning), match="singular"):  # which of them is up to rounding
        model.fit(K, y)
    assert model.set_params(spread=0.999).fit(K, y).is_minimum_


# --- tuning -----------------------------------------------------------------------------------------------------------


def test_they_are_methods_with_ranges_to_tune():
    known = registry.estimators()
    assert [known[name] for name in ("semiksc", "bisemiksc")] == METHODS
    for method in registry.methods():
        if method.cls in METHODS:
            assert {"spread", "C", "gamma"} <= set(method.space)
            assert method.needs == ("unlabelled",)
            assert method.task == "classification"


@methods
def test_searches_score_labelled_rows_only(cls):
    search = CoupledAnnealingSearchCV(cls(), n_evaluations=4, cv=3, random_state=0).fit(X, Y)
    given = CoupledAnnealingSearchCV(cls(), n_evaluations=4, cv=LabelledKFold(3), random_state=0).fit(X, Y)
    assert search.best_params_ == given.best_params_
    assert search.best_score_ == given.best_score_
    assert set(search.best_params_) == set(cls._search_space)


def test_a_narrow_kernel_finds_the_moons_from_three_labels_each():
    X, truth = make_moons(200, noise=0.05, random_state=3)
    y = np.full(200, -1)
    for k in (0, 1):
        y[np.flatnonzero(truth == k)[:3]] = k
    without, model = SemiKSC(0.0, gamma=10.0).fit(X, y), SemiKSC(gamma=10.0).fit(X, y)
    assert np.mean(model.transduction_ == truth) > 0.97
    assert np.mean(without.transduction_ == truth) < 0.9
