"""Linear least squares against a general solver, scikit-learn's ridge regression and the laws of weights."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.linear_model import Ridge, RidgeClassifier
from sklearn.utils.estimator_checks import parametrize_with_checks

from thresher.kernels import LeastSquaresClassifier, LeastSquaresRegressor
from thresher.kernels._least_squares import ridge
from thresher.persistence import load_model, save_model


@parametrize_with_checks(
    [LeastSquaresClassifier(), LeastSquaresClassifier(alpha=0.1), LeastSquaresRegressor(), LeastSquaresRegressor(0.1)]
)
def test_scikit_learns_contract(estimator, check):
    check(estimator)


def rows(n: int, d: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)) * rng.uniform(0.5, 2, d) + rng.normal(size=d)
    return X, X @ rng.normal(size=d) + rng.normal(size=n), rng.integers(0, 3, n).astype(float)


@pytest.mark.parametrize("layout", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("shape", [(40, 5), (12, 30)])
@pytest.mark.parametrize("fit_intercept", [True, False])
def test_it_is_ridge_regression(layout, shape, fit_intercept):
    X, y, weight = rows(*shape)
    alpha = 0.3
    ours = LeastSquaresRegressor(alpha, fit_intercept=fit_intercept).fit(layout(X), y, sample_weight=weight)
    theirs = Ridge(alpha * weight.sum(), fit_intercept=fit_intercept, solver="cholesky").fit(X, y, weight)
    assert_allclose(ours.coef_, theirs.coef_, rtol=1e-9, atol=1e-11)
    assert_allclose(ours.intercept_, theirs.intercept_, rtol=1e-9, atol=1e-11)
    assert_allclose(ours.predict(layout(X)), theirs.predict(X), rtol=1e-9)


@pytest.mark.parametrize("shape", [(40, 5), (12, 30)])
@pytest.mark.parametrize("fit_intercept", [True, False])
def test_scaled_columns_are_ridge_regression_of_columns_over_their_deviations(shape, fit_intercept):
    X, y, weight = rows(*shape)
    X[:, 1] = 3.7  # a constant column stays as it is
    ours = LeastSquaresRegressor(0.3, scale=True, fit_intercept=fit_intercept).fit(X, y, sample_weight=weight)
    mean = np.average(X, axis=0, weights=weight) if fit_intercept else 0.0
    units = np.sqrt(np.average((X - mean) ** 2, axis=0, weights=weight))
    units[1] = 1.0 if fit_intercept else units[1]
    theirs = Ridge(0.3 * weight.sum(), fit_intercept=fit_intercept, solver="cholesky").fit(X / units, y, weight)
    assert_allclose(ours.coef_, theirs.coef_ / units, rtol=1e-9, atol=1e-11)
    assert_allclose(ours.intercept_, theirs.intercept_, rtol=1e-9, atol=1e-11)
    assert ours.scaled_


@pytest.mark.parametrize("shape", [(400, 20), (60, 90)])
def test_units_of_columns_do_not_matter_to_an_automatic_penalty_that_refers_to_scaled_ones(shape):
    X, y, _ = rows(*shape)
    units = 10 ** np.random.default_rng(1).uniform(-4, 4, shape[1])
    scaled, auto = LeastSquaresRegressor(scale=True).fit(X, y), LeastSquaresRegressor().fit(X * units, y)
    assert auto.scaled_
    assert_allclose(auto.alpha_, scaled.alpha_, rtol=1e-9)
    assert_allclose(auto.coef_ * units, scaled.coef_, rtol=1e-6, atol=1e-9)
    given = LeastSquaresRegressor(auto.alpha_).fit(X * units, y)
    assert not given.scaled_  # a number refers to columns as they come
    assert auto.score(X * units, y) > given.score(X * units, y) + 0.01


@pytest.mark.parametrize("n_classes", [2, 4])
def test_classes_are_learned_against_the_rest(n_classes):
    X, y, _ = rows(60, 6)
    labels = np.array(list("abcd"))[np.digitize(y, np.quantile(y, np.arange(1, n_classes) / n_classes))]
    ours = LeastSquaresClassifier(0.05).fit(X, labels)
    theirs = RidgeClassifier(0.05 * len(y)).fit(X, labels)
    assert_allclose(ours.coef_, np.atleast_2d(theirs.coef_), rtol=1e-9, atol=1e-11)
    assert_array_equal(ours.predict(X), theirs.predict(X))
    assert ours.predict_proba(X).shape == (60, n_classes)


@pytest.mark.parametrize("shape", [(40, 5), (12, 30)])
def test_the_penalty_has_the_least_error_of_generalised_cross_validation(shape):
    """The error by the hat matrix itself."""
    X, y, _ = rows(*shape)
    n = len(y)
    weight = np.ones(n)

    def error(alpha: float) -> float:
        centred = X - X.mean(axis=0)
        hat = centred @ np.linalg.solve(centred.T @ centred + n * alpha * np.eye(X.shape[1]), centred.T) + 1 / n
        return float(np.mean((y - hat @ y) ** 2) / (1 - np.trace(hat) / n) ** 2)

    found = ridge(X, y[:, None], weight, None, True).alpha
    assert error(found) <= min(error(found * factor) for factor in (0.4, 2.5)) + 1e-12


def test_a_weight_is_as_many_copies_of_a_row():
    X, y, _ = rows(40, 5)
    weight = np.random.default_rng(1).integers(0, 4, 40)
    one = LeastSquaresRegressor().fit(X, y, sample_weight=weight)
    other = LeastSquaresRegressor().fit(np.repeat(X, weight, axis=0), np.repeat(y, weight))
    assert_allclose(one.coef_, other.coef_, rtol=1e-9)
    assert_allclose(one.alpha_, other.alpha_, rtol=1e-9)


def test_more_rows_and_columns_than_fit_are_refused(monkeypatch):
    monkeypatch.setattr("thresher.kernels._linear_head._MOST", 4)
    X, y, _ = rows(10, 5)
    with pytest.raises(
        ValueError, match=r"LeastSquaresRegressor: X must have at most 4 rows or columns, got \(10, 5\)"
    ):
        LeastSquaresRegressor().fit(X, y)


@pytest.mark.parametrize("model", [LeastSquaresClassifier(), LeastSquaresRegressor()])
def test_files_keep_it(model, tmp_path):
    X, y, _ = rows(40, 5)
    target = y > 0 if isinstance(model, LeastSquaresClassifier) else y
    fitted = model.fit(X, target)
    save_model(fitted, tmp_path / "m.thresher")
    assert_array_equal(load_model(tmp_path / "m.thresher").predict(X), fitted.predict(X))
