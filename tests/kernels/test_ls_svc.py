"""The least-squares support vector machine against its whole system, refits, and other people's ridge regression."""

from __future__ import annotations

import copy
import inspect

import cvxpy as cp
import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.kernel_ridge import KernelRidge
from sklearn.utils.estimator_checks import parametrize_with_checks
from threadpoolctl import threadpool_limits

from reference import ls_svc as reference
from thresher import registry
from thresher.kernels import LSSVC, RBF, FixedSizeNystroem, Linear, WeightedSum
from thresher.kernels._ls_svc import least_squares
from thresher.persistence import load_model, save_model


def exemptions(model):
    if model.kernel == "precomputed":
        return {
            "check_positive_only_tag_during_fit": "A matrix less its mean is no kernel.",
            "check_estimators_dtypes": "A kernel of rank 5 and size 1e5, rounded to float32, is not positive definite.",
            "check_classifiers_one_label_sample_weights": "Ten rows of three columns are no kernel.",
            "check_decision_proba_consistency": "Rows of two columns are no kernel.",
        }
    if model.kernel == "rbf" and model.gamma == "scale":
        why = "The width that suits rows by their variance does not know weights."
        return {f"check_sample_weight_equivalence_on_{kind}_data": why for kind in ("dense", "sparse")}
    return {}


@parametrize_with_checks(
    [
        LSSVC(C=10.0),
        LSSVC(C=10.0, gamma=0.1),
        LSSVC(C=10.0, kernel="polynomial", degree=2, gamma=0.1),
        LSSVC(C=10.0, kernel=WeightedSum([RBF(0.1), Linear(features=0)])),
        LSSVC(C=10.0, kernel="precomputed"),
    ],
    expected_failed_checks=exemptions,
)
def test_scikit_learns_contract(estimator, check):
    check(estimator)


@pytest.mark.parametrize("C", [0.1, 3.0, 1000.0])
def test_it_solves_the_whole_system(problem, row_weights, layout, dtype, C):
    X, y = problem
    X = X.astype(dtype)
    model = LSSVC(C=C, gamma=0.3).fit(layout(X), y, sample_weight=row_weights)
    there = row_weights > 0
    K = RBF(0.3)(X.astype(float))
    coef, b = reference.solve(K[np.ix_(there, there)], y[there], C, row_weights[there])
    assert_array_equal(model.support_, np.flatnonzero(there))
    assert_allclose(model.dual_coef_[0], coef, rtol=1e-8, atol=1e-10)
    assert_allclose(model.intercept_, [b], rtol=1e-8, atol=1e-10)
    assert_allclose(model.decision_function(layout(X)), K[:, there] @ coef + b, rtol=1e-8, atol=1e-9)


def test_the_optimality_conditions_hold(problem, row_weights):
    X, y = problem
    model = LSSVC(C=7.0, gamma=0.3).fit(X, y, sample_weight=row_weights)
    a, there = model.dual_coef_[0], model.support_
    errors = 1 - y[there] * model.decision_function(X[there])
    assert_allclose(a * y[there], 7.0 * row_weights[there] * errors, atol=1e-9)  # alpha_i = C v_i e_i
    assert abs(a.sum()) < 1e-10


@pytest.mark.parametrize("fit_intercept", [True, False])
def test_it_has_the_least_objective(problem, row_weights, fit_intercept):
    """Of all linear functions, by a general solver."""
    X, y = problem
    model = LSSVC(C=2.0, kernel="linear", fit_intercept=fit_intercept).fit(X, y, sample_weight=row_weights)
    w, b = cp.Variable(X.shape[1]), cp.Variable()
    errors = 1 - cp.multiply(y, X @ w + b)
    objective = cp.sum_squares(w) / 2 + cp.sum(cp.multiply(row_weights, cp.square(errors)))
    cp.Problem(cp.Minimize(objective), [] if fit_intercept else [b == 0]).solve(solver=cp.CLARABEL)
    assert_allclose(model.dual_coef_[0] @ X[model.support_], w.value, atol=1e-5)
    assert_allclose(model.intercept_, [b.value], atol=1e-5)


def test_without_a_constant_it_is_kernel_ridge_regression_on_signs(problem, row_weights):
    X, y = problem
    model = LSSVC(C=5.0, gamma=0.3, fit_intercept=False).fit(X, y, sample_weight=row_weights)
    peer = KernelRidge(alpha=1 / 5.0, kernel="rbf", gamma=0.3).fit(X, y, sample_weight=row_weights)
    assert_allclose(model.decision_function(X), peer.predict(X), rtol=1e-9, atol=1e-10)
    assert_array_equal(model.intercept_, [0.0])


def test_classes_share_a_factorisation_and_are_those_of_one_against_the_rest(three_classes, row_weights):
    X, y = three_classes
    model = LSSVC(C=5.0, gamma=0.3).fit(X, y, sample_weight=row_weights)
    scores = model.decision_function(X)
    assert scores.shape == (60, 3)
    for k, label in enumerate("abc"):
        one = LSSVC(C=5.0, gamma=0.3).fit(X, y == label, sample_weight=row_weights)
        assert_allclose(scores[:, k], one.decision_function(X), rtol=1e-9, atol=1e-10)
    assert_array_equal(model.predict(X), np.array(list("abc"))[scores.argmax(axis=1)])


# --- rows left out ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("C", [0.1, 3.0, 300.0])
def test_scores_of_rows_left_out_are_those_of_refits(problem, row_weights, C):
    X, y = problem
    there = row_weights > 0
    K, signs, weight = RBF(0.3)(X)[np.ix_(there, there)], y[there].astype(float), row_weights[there]
    found = least_squares(K, signs[:, None], 1 / (C * weight), True)
    expected = reference.left_out_scores(K, signs, C, weight)
    assert_allclose(found.left_out[:, 0], expected, rtol=1e-7, atol=1e-8)
    model = LSSVC(C=C, gamma=0.3).fit(X, y, sample_weight=row_weights)
    assert_allclose(model.loo_error_, np.average((expected > 0) != (signs > 0), weights=weight), rtol=1e-12)


@pytest.mark.parametrize("fit_intercept", [True, False])
def test_the_error_of_rows_left_out_is_that_of_refits_with_many_classes(three_classes, fit_intercept):
    X, y = three_classes
    model = LSSVC(C=3.0, gamma=0.3, fit_intercept=fit_intercept).fit(X, y)
    one_less = [np.arange(60) != i for i in range(60)]
    wrong = [LSSVC(**model.get_params()).fit(X[rest], y[rest]).predict(X[~rest]) != y[~rest] for rest in one_less]
    assert_allclose(model.loo_error_, np.mean(wrong), rtol=1e-12)
    assert 0 < model.loo_error_ < 0.7


# --- weights ----------------------------------------------------------------------------------------------------------


def test_a_row_of_weight_0_is_absent(problem, row_weights):
    X, y = problem
    there = row_weights > 0
    model = LSSVC().fit(X, y, sample_weight=row_weights)
    other = LSSVC().fit(X[there], y[there], sample_weight=row_weights[there])
    assert_array_equal(model.decision_function(X), other.decision_function(X))
    assert model.loo_error_ == other.loo_error_
    assert model.gamma == "scale"
    assert model.kernel_ == other.kernel_  # also the width is that of the rows that count


def test_a_weight_of_two_is_the_row_twice(problem):
    X, y = problem
    twice = np.r_[np.arange(60), np.arange(0, 60, 3)]
    weight = np.where(np.arange(60) % 3 == 0, 2.0, 1.0)
    model = LSSVC(gamma=0.3).fit(X, y, sample_weight=weight)
    assert_allclose(
        model.decision_function(X), LSSVC(gamma=0.3).fit(X[twice], y[twice]).decision_function(X), atol=1e-10
    )


def test_class_weights_multiply_row_weights(problem, row_weights):
    X, y = problem
    model = LSSVC(class_weight={1: 3.0}).fit(X, y, sample_weight=row_weights)
    other = LSSVC().fit(X, y, sample_weight=row_weights * np.where(y == 1, 3.0, 1.0))
    assert_array_equal(model.decision_function(X), other.decision_function(X))


# --- kernels ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("weighted", [False, True])
def test_a_precomputed_kernel_is_the_same_machine(three_classes, row_weights, weighted):
    X, y = three_classes
    weight = row_weights if weighted else None
    model = LSSVC(gamma=0.3).fit(X, y, sample_weight=weight)
    other = LSSVC(kernel="precomputed").fit(RBF(0.3)(X), y, sample_weight=weight)
    new = np.random.default_rng(5).normal(size=(9, 12))
    assert_allclose(other.decision_function(RBF(0.3)(new, X)), model.decision_function(new), atol=1e-10)
    assert_array_equal(other.support_, model.support_)
    assert other.loo_error_ == model.loo_error_


def test_a_precomputed_kernel_is_not_changed(problem):
    X, y = problem
    K = RBF(0.3)(X)
    before = K.copy()
    LSSVC(kernel="precomputed").fit(K, y)
    assert_array_equal(K, before)


def test_a_kernel_looks_at_columns_by_name(problem):
    X, y = problem
    frame = pd.DataFrame(X, columns=[f"c{j}" for j in range(12)])
    named = LSSVC(kernel=RBF(0.3, features=["c4", "c0"])).fit(frame, y)
    assert named.kernel_.features == (4, 0)
    plain = LSSVC(kernel=RBF(0.3, features=[4, 0])).fit(X, y)
    assert_array_equal(named.decision_function(frame), plain.decision_function(X))


def test_with_all_landmarks_the_fixed_size_form_is_the_same_machine(problem):
    from sklearn.linear_model import Ridge

    X, y = problem
    landmarks = FixedSizeNystroem(gamma=0.3, n_components=60, random_state=0).fit(X)
    ridge = Ridge(alpha=1 / 5.0).fit(landmarks.transform(X), y)
    model = LSSVC(C=5.0, gamma=0.3).fit(X, y)
    assert_allclose(ridge.predict(landmarks.transform(X)), model.decision_function(X), atol=1e-6)


def test_the_bits_do_not_depend_on_the_number_of_threads():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(500, 10)), rng.integers(2, size=500)
    found = []
    for n in (1, 4):
        with threadpool_limits(n, user_api="blas"):
            found.append(LSSVC().fit(X, y).dual_coef_)
    assert_array_equal(found[0], found[1])


# --- what is refused --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"C": 0.0}, r"LSSVC: C must be a number above 0, got 0.0\."),
        ({"kernel": "poly"}, r"LSSVC: kernel must be one of .* or a kernel of thresher.kernels, got 'poly'\."),
        ({"fit_intercept": 1}, r"LSSVC: fit_intercept must be True or False, got 1\."),
        ({"class_weight": "even"}, r"LSSVC: class_weight must be"),
        (
            {"cache_size": 1e-3},
            r"LSSVC: cache_size must hold the kernel matrix of 60 rows, 0 MB, got 0.001; a learner behind Fixed",
        ),
        ({"kernel": RBF(1.0, features=12)}, r"RBF: features must be columns of X, which has 12, got 12\."),
        ({"kernel": RBF(1.0, features="a")}, r"RBF: features by name need rows with column names, got 'a'\."),
    ],
)
def test_bad_parameters_are_refused_and_leave_no_trace(problem, params, message):
    model = LSSVC(**params)
    with pytest.raises(ValueError, match=message):
        model.fit(*problem)
    assert not hasattr(model, "n_features_in_")
    assert not hasattr(model, "classes_")


def test_a_refused_fit_leaves_the_old_one(problem):
    X, y = problem
    model = LSSVC(kernel="precomputed").fit(RBF(0.3)(X), y)
    before = model.decision_function(RBF(0.3)(X))
    for K, labels, weight in (
        (RBF(0.3)(X) - 10 * np.eye(60), y, None),
        (RBF(0.3)(X), y, np.zeros(60)),
        (RBF(0.3)(X), y[:-1], None),
        (RBF(0.3)(X)[:, :9], y, None),
        (np.triu(RBF(0.3)(X)), y, None),
    ):
        with pytest.raises(ValueError):
            model.fit(K, labels, sample_weight=weight)
    assert_array_equal(model.decision_function(RBF(0.3)(X)), before)


def test_a_kernel_that_is_not_positive_definite_is_refused_in_words(problem):
    K = np.ones((60, 60)) - np.eye(60)
    with pytest.raises(
        ValueError, match=r"must be positive definite; choose another kernel, or a smaller C than 2\.5\."
    ):
        LSSVC(C=2.5, kernel="precomputed").fit(K, problem[1])


def test_a_precomputed_kernel_below_0_on_its_diagonal_is_refused(problem):
    with pytest.raises(
        ValueError, match=r"^LSSVC: a precomputed kernel must not have negative entries on its diagonal\.$"
    ):
        LSSVC(kernel="precomputed").fit(-np.eye(60), problem[1])


# --- files ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "kernel", ["rbf", "precomputed", WeightedSum([RBF(features=[1]), Linear()], [0.5, 1.0])], ids=str
)
def test_a_file_keeps_all_that_is_needed(three_classes, tmp_path, kernel):
    X, y = three_classes
    X = RBF(0.3)(X) if isinstance(kernel, str) and kernel == "precomputed" else sparse.csr_array(X)
    model = LSSVC(C=3.0, kernel=kernel).fit(X, y)
    save_model(model, tmp_path / "m")
    again = load_model(tmp_path / "m")
    assert_array_equal(again.decision_function(X), model.decision_function(X))
    assert again.get_params() == model.get_params()
    assert again.loo_error_ == model.loo_error_
    assert_array_equal(again.predict(X), model.predict(X))


FORGERIES = {
    "classes of text": ("classes_", "ab"),
    "one class": ("classes_", np.array(["a"])),
    "two classes": ("classes_", np.array(["a", "b"])),
    "classes out of order": ("classes_", np.array(["b", "a", "c"])),
    "constants of another number": ("intercept_", np.zeros(2)),
    "constants of integers": ("intercept_", np.zeros(3, dtype=int)),
    "constants that are not finite": ("intercept_", np.array([0.0, np.inf, 0.0])),
    "fewer outputs": ("dual_coef_", np.zeros((2, 60))),
    "fewer coefficients": ("dual_coef_", np.zeros((3, 59))),
    "coefficients that are not finite": ("dual_coef_", np.full((3, 60), np.nan)),
    "support twice": ("support_", np.zeros(60, dtype=np.int64)),
    "error above 1": ("loo_error_", 1.5),
    "error of text": ("loo_error_", "x"),
    "kernel without a number": ("kernel_", RBF()),
    "kernel of another width": ("kernel_", RBF(1.0, features=12)),
    "kernel of text": ("kernel_", "rbf"),
    "no kernel": ("kernel_", None),
    "rows of no kind": ("_support_rows", {}),
    "width": ("n_features_in_", 3),
}


@pytest.mark.parametrize("forgery", FORGERIES.values(), ids=FORGERIES)
def test_attributes_that_do_not_belong_together_are_refused(three_classes, forgery):
    model = copy.deepcopy(LSSVC().fit(*three_classes))
    model._check_loaded()
    setattr(model, *forgery)
    with pytest.raises(ValueError, match=r"LSSVC: |RBF: "):
        model._check_loaded()


def test_every_constructor_parameter_has_a_rule_and_it_is_in_the_registry():
    assert set(LSSVC._param_rules) == set(inspect.signature(LSSVC).parameters)
    assert registry.estimators()["lssvc"] is LSSVC
