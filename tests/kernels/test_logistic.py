"""Logistic regression against a general solver and scikit-learn, its bound, and what it refuses."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import optimize, sparse
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.utils.estimator_checks import parametrize_with_checks

from thresher.kernels import LogisticClassifier
from thresher.kernels._logistic import logistic


@parametrize_with_checks([LogisticClassifier()])
def test_scikit_learns_contract(estimator, check):
    check(estimator)


def rows(n: int, d: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)) * rng.uniform(0.5, 2, d) + rng.normal(size=d)
    return X, X @ rng.normal(size=d) + rng.normal(size=n) > 0.5, rng.integers(0, 3, n).astype(float)


def objective(z: np.ndarray, X: np.ndarray, y: np.ndarray, weight: np.ndarray, alpha: float) -> float:
    """As the docstring has it; the constant is the last of the weights."""
    margins = np.where(y, 1.0, -1.0) * (X @ z[:-1] + z[-1])
    return float(np.average(np.logaddexp(0.0, -margins), weights=weight) + alpha * z[:-1] @ z[:-1])


@pytest.mark.parametrize("layout", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("shape", [(60, 4), (15, 30)])
@pytest.mark.parametrize("fit_intercept", [True, False])
def test_no_general_solver_finds_less(layout, shape, fit_intercept):
    X, y, weight = rows(*shape)
    model = LogisticClassifier(0.01, fit_intercept=fit_intercept, probability="none")
    model.fit(layout(X), y, sample_weight=weight)
    found = np.append(model.coef_[0], model.intercept_)
    args = (X, y, weight, 0.01)
    free = np.append(np.ones(shape[1]), float(fit_intercept))
    best = optimize.minimize(lambda z: objective(z * free, *args), np.zeros(shape[1] + 1), tol=1e-10)
    assert abs(objective(found, *args) - best.fun) < 1e-9
    assert_allclose(found, best.x * free, atol=1e-3)
    moved = optimize.approx_fprime(found, objective, 1e-6, *args)
    assert_allclose(moved * free, 0.0, atol=1e-5)
    assert model.gap_ <= model.tol


@pytest.mark.parametrize("alpha", [1.0, 1e-3, 1e-6])
def test_it_is_scikit_learns(alpha):
    X, y, weight = rows(80, 5)
    ours = LogisticClassifier(alpha, probability="none").fit(X, y, sample_weight=weight)
    theirs = LogisticRegression(C=0.5 / (alpha * weight.sum()), solver="newton-cholesky", tol=1e-12)
    theirs.fit(X, y, sample_weight=weight)
    assert_allclose(ours.coef_, theirs.coef_, rtol=1e-6, atol=1e-9)
    assert_allclose(ours.intercept_, theirs.intercept_, rtol=1e-6, atol=1e-9)


def test_classes_are_learned_against_the_rest():
    X, _, _ = rows(90, 4)
    y = np.array(list("abc"))[np.arange(90) % 3]
    model = LogisticClassifier(1e-3).fit(X, y)
    alone = LogisticClassifier(1e-3, probability="none").fit(X, y == "b")
    assert_allclose(model.coef_[1], alone.coef_[0], rtol=1e-12)
    assert_allclose(model.intercept_[1], alone.intercept_[0], rtol=1e-12)
    assert model.predict_proba(X).shape == (90, 3)


@pytest.mark.parametrize("max_iter", [0, 1, 2, 3])
def test_the_bound_is_above_the_truth(max_iter):
    X, y, weight = rows(50, 3)
    signs = np.where(y, 1.0, -1.0)[:, None]
    best, early = (logistic(X, signs, weight, 1e-3, True, 1e-15, most) for most in (100, max_iter))
    values = [objective(np.append(one.coef[0], one.intercept), X, y, weight, 1e-3) for one in (best, early)]
    assert early.n_iter == max_iter
    assert best.gap < 1e-15
    assert -1e-15 <= values[1] - values[0] <= early.gap


def test_steps_that_do_not_reach_the_minimum_are_told():
    X, _, _ = rows(50, 3)
    with pytest.warns(ConvergenceWarning, match="LogisticClassifier: not converged, the objective may be .* above"):
        model = LogisticClassifier(1e-9, max_iter=2, probability="none").fit(X, X[:, 0] > 0)
    assert model.n_iter_ == 2
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = LogisticClassifier(1e-9, probability="none").fit(X, X[:, 0] > 0)  # nothing is on the wrong side
    assert_array_equal(model.predict(X), X[:, 0] > 0)


def test_rows_far_from_0():
    X, y, _ = rows(60, 3)
    near, far = (LogisticClassifier(0.01, probability="none").fit(X + shift, y) for shift in (0.0, 1e6))
    assert_allclose(far.coef_, near.coef_, rtol=1e-7)


def test_small_units():
    X, y, _ = rows(60, 3)
    usual, small = (LogisticClassifier(1e-3 * c * c, probability="none").fit(X * c, y) for c in (1.0, 2.0**-150))
    assert_allclose(small.coef_ * 2.0**-150, usual.coef_, rtol=1e-9)


def test_a_class_without_weight_is_refused():
    X, y, _ = rows(30, 3)
    with pytest.raises(ValueError, match="sample_weight must be above zero for at least one row of every class"):
        LogisticClassifier().fit(X, y, sample_weight=y * 1.0)
