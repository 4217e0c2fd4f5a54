"""Columns that the solver rules out: never one that the optimum uses."""

from __future__ import annotations

import numpy as np
import pytest

from reference import blocks as reference
from solvers.problems import LOSSES
from thresher.solvers import alpha_max, group_lasso, lasso, multi_task, multi_task_alpha_max


def hidden_columns(seed, n_tasks, loss):
    """Columns that share much, so that the weights of some decide whether others are needed: many that the optimum uses
    show nothing in the gradient of the first sets, which hold 100 of them."""
    rng = np.random.default_rng(seed)
    n_rows, n_features = 30, 360
    X = rng.normal(size=(n_rows, 6)) @ rng.normal(size=(6, n_features)) + 0.4 * rng.normal(size=(n_rows, n_features))
    X *= rng.uniform(0.3, 1.0, size=n_features)
    W = rng.normal(size=(n_tasks, n_features)) * (rng.random(n_features) < 0.2)
    Z = W @ X.T + rng.normal(size=(n_tasks, n_rows))
    Z /= Z.std(axis=1, keepdims=True)
    return X, Z if LOSSES[loss].for_values else np.where(np.median(Z, axis=1, keepdims=True) < Z, 1.0, -1.0)


@pytest.mark.parametrize("kind", ["lasso", "groups", "tasks"])
@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("part", [0.3, 0.1])
def test_no_column_that_the_optimum_uses_is_ruled_out(kind, loss, part):
    """By conditions of optimality of all columns: the solver's own gap knows only of those that it kept."""
    n_tasks = 3 if kind == "tasks" else 1
    for seed in range(6):
        X, Y = hidden_columns(seed, n_tasks, loss)
        options = {"loss": loss, "fit_intercept": False}
        places, weights = [np.array([j]) for j in range(X.shape[1])], np.ones(X.shape[1])
        if kind == "tasks":
            Xs, ys = [X] * n_tasks, list(Y)
            alpha = part * multi_task_alpha_max(Xs, ys, **options)
            found = multi_task(Xs, ys, alpha, tol=1e-10, **options)
            places = list(np.arange(n_tasks * X.shape[1]).reshape(n_tasks, -1).T)
        elif kind == "groups":
            places = list(np.arange(X.shape[1]).reshape(-1, 3))
            weights = np.full(len(places), np.sqrt(3.0))
            alpha = part * alpha_max(X, Y[0], groups=places, **options)
            found = group_lasso(X, Y[0], places, alpha, tol=1e-10, **options)
        else:
            alpha = part * alpha_max(X, Y[0], **options)
            found = lasso(X, Y[0], alpha, tol=1e-10, **options)
        blocks = reference.Blocks(places, list(alpha * weights))
        W, c = np.atleast_2d(found.coef), np.zeros(n_tasks)
        away = reference.away_from_optimum([X] * n_tasks, list(Y), blocks, loss, 0.0, W, c, False)
        assert found.converged
        assert away < 1e-3 * alpha, seed
