"""ard_weights against the printed form of its rounds, its objective, and the learner it is made for."""

from __future__ import annotations

import cvxpy as cp
import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning

from reference import ard as reference
from reference.objectives import solve
from thresher.persistence import load_model, save_model
from thresher.stochastic import PegasosClassifier, PegasosRegressor, ard_weights
from thresher.stochastic._ard import _lasso, _pulls, _variances


@pytest.fixture
def data():
    """Three features matter, and less and less; the others do not."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 12))
    X[:, 11] = 0
    y = X[:, 1] + 0.5 * X[:, 4] - 0.25 * X[:, 7] + 0.1 * rng.normal(size=80)
    return X, y


def relative(v):
    inverse = np.divide(1, v, out=np.full(len(v), np.inf), where=v > 0)
    return inverse / inverse[np.isfinite(inverse)].mean()


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("noise", [0.05, 1.0, 10.0])
@pytest.mark.parametrize("n_rounds", [1, 2, 5])
@pytest.mark.parametrize("form", [np.asarray, sparse.csc_matrix])
def test_rounds_are_those_of_the_printed_form(data, noise, n_rounds, form):
    X, y = data
    truth = reference.rounds(X, y, noise, n_rounds)[-1]
    truth[truth < 1e-7] = 0  # what the general solver means by 0
    found = ard_weights(form(X), y, noise=noise, max_iter=n_rounds, tol=1e-9)
    assert_allclose(found, relative(truth), rtol=1e-3)
    if n_rounds == 5 and noise > 0.1:
        assert np.isinf(found).sum() > 3


@pytest.mark.parametrize("noise", [1e-3, 0.1, 5.0])
def test_the_objective_never_rises(data, noise):
    X, y = data
    G, b = X.T @ X, X.T @ y
    values = [reference.objective(X, y, _variances(G, b, noise, 1e-8, n)[0], noise) for n in (1, 2, 3, 5, 9)]
    assert (np.diff(values) <= 1e-9 * np.abs(values[:-1])).all()
    assert values[0] - values[-1] > 0.01


def test_no_variance_nearby_is_more_likely(data):
    X, y = data
    noise = 0.5
    v, settled = _variances(X.T @ X, X.T @ y, noise, 1e-10, 500)
    assert settled
    least = reference.objective(X, y, v, noise)
    for j in range(11):
        for changed in (v[j] * 0.95, v[j] * 1.05, v[j] + 1e-4):
            other = v.copy()
            other[j] = changed
            assert reference.objective(X, y, other, noise) >= least - 1e-9


@pytest.mark.parametrize("noise", [1e-3, 1.0])
def test_woodbury_gives_the_pulls_of_the_large_matrix(data, noise):
    X, _ = data
    v = np.where(np.arange(12) % 3, 0.0, np.linspace(0.01, 2.0, 12))
    truth = np.einsum("ij,ij->j", X, np.linalg.solve(reference.covariance(X, v, noise), X))
    found = _pulls(X.T @ X, v, noise)
    assert_allclose(found[:11], truth[:11], rtol=1e-8)
    assert_allclose(_pulls(X.T @ X, np.zeros(12), noise)[:11], (X**2).sum(axis=0)[:11] / noise)


def test_the_lasso_is_that_of_a_general_solver(data):
    X, y = data
    cuts = np.linspace(0.1, 30.0, 12)
    w = cp.Variable(12)
    solve(cp.sum_squares(y - X @ w) / 2 + cuts @ cp.abs(w))
    start = np.ones(12)
    start[11] = 0
    found = _lasso(X.T @ X, X.T @ y, cuts, start, 1e-12)
    assert_allclose(found, w.value, atol=1e-7)
    slope = X.T @ (y - X @ found)
    assert_allclose(slope[found != 0], (cuts * np.sign(found))[found != 0], rtol=1e-9)
    assert (np.abs(slope) <= cuts + 1e-9).all()
    assert 0 < np.count_nonzero(found) < 11


def test_what_matters_has_small_penalties_and_the_rest_is_left_out(data):
    X, y = data
    found = ard_weights(X, y, noise=1.0)
    assert_array_equal(np.flatnonzero(np.isfinite(found)), [1, 4, 7])
    assert found[1] < found[4] < found[7]
    assert_allclose(found[np.isfinite(found)].mean(), 1.0)


# --- with Pegasos -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("estimator", [PegasosClassifier, PegasosRegressor])
def test_the_recipe_works_and_leaves_features_out(data, tmp_path, estimator):
    X, y = data
    y = y if estimator is PegasosRegressor else np.where(y > 0, "yes", "no")
    penalties = ard_weights(X, y, noise=5.0)
    kept = np.flatnonzero(np.isfinite(penalties))
    assert 0 < len(kept) < 11
    given = {"random_state": 0, "batch_size": 4, "average": True}
    model = estimator(alpha=0.05 * penalties, **given).fit(sparse.csr_array(X), y)
    assert_array_equal(model.support_, kept)
    alone = estimator(alpha=0.05 * penalties[kept], **given).fit(sparse.csr_array(X[:, kept]), y)
    assert_allclose(np.ravel(model.coef_)[kept], np.ravel(alone.coef_), rtol=1e-9)
    assert_allclose(model.intercept_, alone.intercept_, rtol=1e-9)
    save_model(model, tmp_path / "m")
    again = load_model(tmp_path / "m")
    assert_array_equal(again.predict(X), model.predict(X))
    again.set_params(alpha=0.1 * penalties).partial_fit(X, y)  # which makes the norm anew
    assert np.isfinite(again.coef_).all()
    assert_array_equal(again.support_, kept)


def test_a_feature_must_be_left(data):
    X, y = data
    with pytest.raises(ValueError, match="PegasosClassifier: alpha must be finite for at least one feature"):
        PegasosClassifier(alpha=np.full(12, np.inf)).fit(X, y > 0)
    with pytest.raises(ValueError, match="PegasosClassifier: alpha must hold numbers above 0, got nan for feature 3"):
        PegasosClassifier(alpha=np.where(np.arange(12) == 3, np.nan, 1.0)).fit(X, y > 0)


# --- what it takes ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("labels", [("no", "yes"), (0, 1), (-1.0, 1.0), (False, True), (3, 70)], ids=str)
def test_two_classes_are_minus_and_plus_one(data, labels):
    X, y = data
    truth = ard_weights(X, np.where(y > 0, 1.0, -1.0), noise=1.0)
    assert_array_equal(ard_weights(X, np.asarray(labels)[(y > 0).astype(int)], noise=1.0), truth)


@pytest.mark.parametrize(
    "change, says",
    [
        ({"noise": 0.0}, r"ard_weights: noise must be a number above 0, got 0\.0\."),
        ({"tol": -1.0}, r"ard_weights: tol must be a number of at least 0, got -1\.0\."),
        ({"max_iter": 0}, r"ard_weights: max_iter must be an integer of at least 1, got 0\."),
        ({"noise": 1e6}, r"ard_weights: noise must be smaller than 1000000\.0, at which no feature is relevant\."),
        ({"y": ["a", "b", "c", "a"] * 20}, r"ard_weights: y must hold two classes or numbers, got 3 classes\."),
        ({"y": [1.0, np.nan] * 40}, r"ard_weights: y must hold finite numbers"),
        ({"y": [1.0] * 79}, r"ard_weights: y must have one entry per row, got 79 for 80 rows\."),
        ({"X": [["a"]] * 80}, r"ard_weights: X must hold numbers"),
        ({"X": [[np.inf]] * 80}, r"ard_weights: X must hold finite numbers, got infinity in row 0, column 0\."),
    ],
)
def test_refusals(data, change, says):
    given = {"X": data[0], "y": data[1]} | change
    with pytest.raises(ValueError, match=says):
        ard_weights(given.pop("X"), given.pop("y"), **given)


def test_it_says_so_when_rounds_did_not_come_to_rest(data):
    with pytest.warns(ConvergenceWarning, match=r"ard_weights: the weights still moved by more than tol=1e-05"):
        ard_weights(*data, noise=1.0, max_iter=1)
