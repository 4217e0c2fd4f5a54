"""FGM: its features step by step, its weights against a general solver."""

from __future__ import annotations

import itertools

import cvxpy as cp
import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.estimator_checks import parametrize_with_checks

from reference.groups_of_features import Problem
from thresher.confidence import FGMClassifier
from thresher.persistence import load_model
from thresher.preprocessing import RunningScaler, StreamingPipeline
from unsound import save_unsound


@pytest.mark.parametrize("loss", ["squared_hinge", "hinge"])
@pytest.mark.parametrize("sigma", [1.0, 0.5])
def test_rounds_choose_the_features_that_the_dual_variables_pull_at_most(problem, row_weights, layout, loss, sigma):
    X, y = problem
    model = FGMClassifier(5, n_groups=3, C=0.3, sigma=sigma, loss=loss, tol=1e-9, max_iter=5000, fit_intercept=True)
    model.set_params(intercept_scaling=0.5)
    model.fit(layout(X), y, sample_weight=row_weights)
    there = row_weights > 0
    X, y, D = X[there], y[there].astype(float), row_weights[there]
    a, chosen, squared = D.copy(), [], loss == "squared_hinge"
    for group in model.groups_:
        s = np.abs((a * y) @ X)
        s[chosen] = -1
        assert_array_equal(group, np.argsort(-s, kind="stable")[: len(group)])
        chosen += group.tolist()
        ends = np.cumsum([1, *(len(g) for g in model.groups_)])
        places = [np.arange(b, e) for b, e in itertools.pairwise(ends)]
        n = 1 + [g.tolist() for g in model.groups_].index(group.tolist())
        columns = np.hstack([np.full((len(y), 1), 0.5), X[:, chosen]])
        steps = Problem(
            columns, y, D, places[:n], np.array([0]), np.zeros(1 + len(chosen)), 0.3, sigma, squared, squared
        )
        w = cp.Variable(columns.shape[1])
        slack = cp.pos(1 - cp.multiply(y, columns @ w))
        total = sum(cp.norm(w[g]) for g in places[:n])
        penalty = sigma / 2 * cp.sum_squares(w[1:]) + cp.square(total) / 2 + cp.sum_squares(w[:1]) / 2
        loss_ = 0.3 * D @ (cp.square(slack) / 2 if squared else slack)
        general = cp.Problem(cp.Minimize(penalty + loss_))
        general.solve(solver=cp.CLARABEL)
        if squared:  # the dual variables at the optimum
            a = D * np.maximum(0, 1 - y * (columns @ w.value))
        else:
            steps.ascend(a, "corrected" if sigma >= 1 else "safe", 40)
    assert_allclose(np.append(model.intercept_ / 0.5, model.coef_[0, chosen]), w.value, atol=2e-3)
    assert model.dual_gap_ <= 1e-9
    assert len(chosen) == 5


@pytest.mark.parametrize("with_intercept", [True, False])
def test_columns_in_other_units_are_standardized(problem, row_weights, with_intercept):
    X, y = problem
    X = X[:, [0, 1, 3, 4]] * [1e-3, 1, 50, 1e6] + np.array([5, 0, -1e3, 1e6]) * with_intercept
    share = row_weights / row_weights.sum()
    middle = share @ X * with_intercept
    size = np.sqrt(share @ (X - middle) ** 2)
    model = FGMClassifier(4, n_groups=2, tol=1e-8, fit_intercept=with_intercept).fit(X, y, sample_weight=row_weights)
    plain = FGMClassifier(4, n_groups=2, tol=1e-8, fit_intercept=with_intercept, intercept_scaling=1.0, scale=False)
    plain.fit((X - middle) / size, y, sample_weight=row_weights)
    assert_allclose(model.coef_, plain.coef_ / size, rtol=1e-6)
    assert_allclose(model.decision_function(X), plain.decision_function((X - middle) / size), rtol=1e-6, atol=1e-9)


def test_columns_that_never_vary_get_no_weight(problem):
    X, y = problem
    model = FGMClassifier(4, n_groups=2).fit(np.c_[1e3 * X[:, [0, 1, 3]], np.full(len(X), 0.1)], y)
    assert model.coef_[0, 3] == 0
    assert model.coef_[0, :3].all()


def test_columns_of_unit_size_sparse_rows_and_scaled_rows_stay_as_they_are(problem):
    X, y = problem
    found = {}
    for scale in ("auto", False):
        model = FGMClassifier(4, n_groups=2, scale=scale)
        found[scale] = [
            clone(model).fit(X, y).coef_,
            clone(model).fit(sparse.csr_array(X * np.logspace(0, 1, X.shape[1])), y).coef_,
            StreamingPipeline([("scale", RunningScaler()), ("learn", clone(model))]).fit(9 * X + 4, y)[-1].coef_,
        ]
    for one, other in zip(*found.values(), strict=True):
        assert_array_equal(one, other)


def test_a_gap_that_is_not_reached_is_told(problem):
    X, y = problem
    with pytest.warns(ConvergenceWarning, match="FGMClassifier: the duality gap is"):
        FGMClassifier(4, n_groups=2, C=1e4, sigma=0.01, max_iter=1).fit(X, y)


def test_classes_and_files(three_classes, tmp_path):
    X, y = three_classes
    model = FGMClassifier(3, n_groups=3, selection="class").fit(X, y)
    for k, name in enumerate("abc"):
        assert_allclose(model.coef_[k], FGMClassifier(3, n_groups=3).fit(X, y == name).coef_[0], rtol=1e-12)
    save_unsound(model, tmp_path / "m")
    assert_array_equal(load_model(tmp_path / "m").decision_function(X), model.decision_function(X))
    model.coef_ = model.coef_[:, :2]
    save_unsound(model, tmp_path / "bad")
    with pytest.raises(ValueError, match="coef_ must be float64 of shape"):
        load_model(tmp_path / "bad")


UP_TO_TOL = "A repeated row is two dual variables: the same model up to the tolerance only."
EXEMPT = dict.fromkeys(
    ("check_sample_weight_equivalence_on_dense_data", "check_sample_weight_equivalence_on_sparse_data"), UP_TO_TOL
)


@pytest.mark.filterwarnings("ignore:FGMClassifier. the duality gap")
@parametrize_with_checks([FGMClassifier()], expected_failed_checks=lambda model: EXEMPT)
def test_scikit_learns_contract(estimator, check):
    check(estimator)
