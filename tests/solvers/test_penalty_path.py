"""Many strengths of a penalty in one call: the solutions of single calls."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from solvers.problems import CASES, GROUPS, LOSSES, OVERLAPPING, data
from thresher.solvers import alpha_max, group_lasso, lasso, penalty_path


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("fit_intercept", [True, False])
def test_solutions_are_those_of_single_calls(loss, fit_intercept):
    X, y = data(CASES["lasso"], loss)
    options = {"loss": loss, "fit_intercept": fit_intercept, "tol": 1e-11}
    path = penalty_path(X, y, n_alphas=5, smallest=0.05, l2_weight=0.1, **options)
    top = alpha_max(X, y, loss=loss, fit_intercept=fit_intercept)
    assert_allclose(path.alphas, top * np.geomspace(1, 0.05, 5), rtol=1e-12)
    assert not path.coefs[0].any()
    assert path.converged.all()
    for k, alpha in enumerate(path.alphas):
        one = lasso(X, y, alpha, l2_weight=0.1, **options)
        assert_allclose(path.coefs[k], one.coef, atol=1e-5)
        assert_allclose(path.intercepts[k], one.intercept, atol=1e-4)
        assert_allclose(path.objectives[k], one.objective, rtol=1e-9)
        assert path.gaps[k] <= 1e-11 * max(1, path.objectives[k])


@pytest.mark.parametrize("groups", [GROUPS, OVERLAPPING], ids=["apart", "overlapping"])
def test_groups_are_those_of_the_group_lasso(groups):
    X, y = data(CASES["group"], "logistic")
    alphas = [0.02, 0.08, 0.04]
    path = penalty_path(X, y, alphas, groups=groups, l1_weight=0.4, loss="logistic", tol=1e-11)
    assert_array_equal(path.alphas, [0.08, 0.04, 0.02])
    for alpha, coef in zip(path.alphas, path.coefs, strict=True):
        one = group_lasso(X, y, groups, alpha, l1_weight=0.4, loss="logistic", tol=1e-11)
        assert_allclose(coef, one.coef, atol=1e-5)


def test_a_path_takes_fewer_passes_than_its_solutions_from_0():
    rng = np.random.default_rng(0)
    X = np.cumsum(rng.normal(size=(80, 60)), axis=1)
    y = X[:, 10] - X[:, 30] + rng.normal(size=80)
    path = penalty_path(X, y, n_alphas=20)
    assert path.n_iter.sum() < sum(lasso(X, y, alpha).n_iter for alpha in path.alphas)


@pytest.mark.parametrize(
    "options, sentence",
    [
        ({"alphas": []}, "penalty_path: alphas must hold at least one number, and only numbers above 0."),
        ({"alphas": [1.0, 0.0]}, "penalty_path: alphas must hold at least one number, and only numbers above 0."),
        ({"smallest": 0.0}, "penalty_path: smallest must be a number above 0 and at most 1, got 0.0."),
        ({"n_alphas": 0}, "penalty_path: n_alphas must be an integer of at least 1, got 0."),
        ({}, "penalty_path: all weights are 0 for every alpha; give alphas to solve anyway."),
    ],
)
def test_refusals(options, sentence):
    with pytest.raises(ValueError) as refusal:
        penalty_path(np.zeros((4, 2)), np.arange(4.0), **options)
    assert str(refusal.value) == sentence
