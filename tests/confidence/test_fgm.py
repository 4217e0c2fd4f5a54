"""FGM: its features step by step, its weights against a general solver."""

from __future__ import annotations

import itertools

import cvxpy as cp
import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.estimator_checks import parametrize_with_checks

from reference.groups_of_features import Problem
from thresher.confidence import FGMClassifier
from thresher.persistence import load_model
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
) | {"check_class_weight_classifiers": "Without a constant term no class can win everywhere."}


@pytest.mark.filterwarnings("ignore:FGMClassifier. the duality gap")
@parametrize_with_checks([FGMClassifier()], expected_failed_checks=lambda model: EXEMPT)
def test_scikit_learns_contract(estimator, check):
    check(estimator)
