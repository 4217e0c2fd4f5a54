"""The regret bounds of dual averaging, as they hold: Yang (2011), section 3.5, with two corrections.

With |u_t| <= L for the gradient of every round and h(w) = |w|^2 / 2 <= D^2, gamma = 1 / eta0, and S_T(w) the mean loss
of T rounds plus the penalty, the average regret  R = (1/T) sum_t (loss_t(w_t) + Omega(w_t)) - S_T(w)  has

    R  <=  (1/T) (gamma sqrt(T) D^2 + (L^2 / (2 gamma)) (1 + sum_{t < T} 1 / sqrt(t)))
       <=  (gamma D^2 + L^2 / gamma) / sqrt(T)
    |w_{T+1} - w|^2 / 2  <=  D^2 + L^2 / gamma^2 - (sqrt(T) / gamma) R

A learner enters by a :class:`Run`: its weights before every round, what they cost, and the best weights in hindsight.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import NamedTuple

import cvxpy as cp
import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.base import is_classifier

from reference.agreement import row_by_row
from reference.losses import loss as find_loss
from reference.objectives import mean_loss, solve
from thresher.dual_averaging import GroupRDAClassifier, L1RDAClassifier, L1RDARegressor
from thresher.solvers import group_lasso, lasso

N_ROWS, ALPHA = 150, 0.05
GROUPS = [[0, 1, 2], [3, 4], [5, 6, 7]]
LOOKS = (2, 3, 5, 10, 30, 75, N_ROWS)  # rounds after which the best weights in hindsight are found


class Run(NamedTuple):
    weights: np.ndarray  # before every round and after the last, flat, intercepts included
    cost: Callable[[int, np.ndarray], float]  # loss_t + Omega of round t, from 0 on, at any weights
    steepest: float  # L
    best: Callable[[int], np.ndarray]  # the minimiser of S_T

    def objective(self, T: int, w: np.ndarray) -> float:
        """S_T(w)"""
        return float(np.mean([self.cost(t, w) for t in range(T)]))


def bounds(T, L, gamma, D2):
    """The sharper and the simpler bound on the average regret."""
    sharp = (gamma * np.sqrt(T) * D2 + L**2 / (2 * gamma) * (1 + (np.arange(1, T) ** -0.5).sum())) / T
    return sharp, (gamma * D2 + L**2 / gamma) / np.sqrt(T)


# --- linear learners ------------------------------------------------------------------------------------------------


@cache
def rows(loss):
    """The first two are of different classes."""
    rng = np.random.default_rng(7)
    X = rng.normal(size=(N_ROWS, 8))
    z = X @ [1.0, -1.0, 0.5, 0, 0, 0, 0, 0] + 0.7 * rng.normal(size=N_ROWS) + 0.4
    if loss in ("logistic", "hinge"):
        z = np.where(z > 0, 1.0, -1.0)
        z[:2] = 1, -1
    return X, z


@cache
def best_in_hindsight(loss, T, fit_intercept):
    """Weights and the intercept that minimise the mean loss of T rows + ALPHA |w|_1."""
    X, y = (part[:T] for part in rows(loss))
    if loss in ("logistic", "squared"):
        found = lasso(X, y, ALPHA, loss=loss, fit_intercept=fit_intercept, tol=1e-10)
        assert found.converged
        return np.append(found.coef, found.intercept)
    w, b = cp.Variable(8), cp.Variable() if fit_intercept else cp.Constant(0.0)
    solve(mean_loss(loss, X @ w + b, y) + ALPHA * cp.norm1(w), tolerance=1e-9)
    return np.append(w.value, b.value)


@cache
def best_groups_in_hindsight(T, l1_weight, fit_intercept):
    """Weights and the intercept that minimise the mean logistic loss of T rows + ALPHA times the penalty of groups."""
    X, y = (part[:T] for part in rows("logistic"))
    options = {"l1_weight": l1_weight, "loss": "logistic", "fit_intercept": fit_intercept, "tol": 1e-10}
    found = group_lasso(X, y, GROUPS, ALPHA, **options)
    assert found.converged
    return np.append(found.coef, found.intercept)


def linear_run(model, penalty, best):
    """penalty is that of the weights, without alpha; best is a function of T."""
    X, y = rows(model.loss)
    first = {"classes": [-1, 1]} if is_classifier(model) else {}
    fed = row_by_row(model, X, y, np.asarray, **first)
    weights = np.array([np.zeros(9), *(np.append(model.coef_, model.intercept_) for _ in fed)])

    extended = np.column_stack([X, np.full(N_ROWS, float(model.fit_intercept))])
    rule = find_loss(model.loss, epsilon=0.1)

    def cost(t, w):
        return rule.value(extended[t] @ w, y[t]) + ALPHA * penalty(w[:-1])

    slopes = [rule.slope(x @ w, target) for x, w, target in zip(extended, weights[:-1], y, strict=True)]
    lengths = np.linalg.norm(extended, axis=1)
    unbounded = model.loss == "squared"  # its slopes have no bound that is known before
    steepest = (np.abs(slopes) * lengths).max() if unbounded else lengths.max()
    return Run(weights, cost, float(steepest), best)


def l1_rda_run(estimator, loss, gamma, fit):
    model = estimator(ALPHA, eta0=1 / gamma, loss=loss, fit_intercept=fit, intercept_scaling=1.0)
    return linear_run(model, lambda w: np.abs(w).sum(), lambda T: best_in_hindsight(loss, T, fit))


def group_rda_run(l1_weight, gamma, fit):
    options = {"l1_weight": l1_weight, "loss": "logistic", "fit_intercept": fit, "intercept_scaling": 1.0}
    model = GroupRDAClassifier(GROUPS, ALPHA, eta0=1 / gamma, **options)

    def penalty(w):
        return sum(np.sqrt(len(g)) * np.linalg.norm(w[g]) + l1_weight * np.abs(w[g]).sum() for g in GROUPS)

    return linear_run(model, penalty, lambda T: best_groups_in_hindsight(T, l1_weight, fit))


LEARNERS = [
    (L1RDAClassifier, "logistic"),
    (L1RDAClassifier, "hinge"),
    (L1RDARegressor, "epsilon_insensitive"),
    (L1RDARegressor, "squared"),
]
RUNS = {
    f"{estimator.__name__}-{loss}-{'intercept' if fit else 'no-intercept'}": (
        lambda gamma, estimator=estimator, loss=loss, fit=fit: l1_rda_run(estimator, loss, gamma, fit)
    )
    for estimator, loss in LEARNERS
    for fit in (False, True)
} | {
    f"GroupRDAClassifier-{l1_weight}-{'intercept' if fit else 'no-intercept'}": (
        lambda gamma, l1_weight=l1_weight, fit=fit: group_rda_run(l1_weight, gamma, fit)
    )
    for l1_weight in (0.0, 0.5)  # the group lasso and the sparse one
    for fit in (False, True)
}


# --- the bounds -----------------------------------------------------------------------------------------------------


runs = pytest.mark.parametrize("make", RUNS.values(), ids=RUNS)


@runs
@pytest.mark.parametrize("gamma", [1.0, 3.0, 10.0])
def test_regret_and_distance_keep_their_bounds(make, gamma):
    run = make(gamma)
    L = run.steepest
    paid = np.array([run.cost(t, run.weights[t]) for t in range(N_ROWS)])
    best = {T: run.best(T) for T in LOOKS}

    def check(T, w, value):  # value is S_T(w)
        regret, D2 = paid[:T].mean() - value, w @ w / 2
        sharp, simple = bounds(T, L, gamma, D2)
        assert regret <= sharp + 1e-9
        assert sharp <= simple * (1 + 1e-12)
        away = run.weights[T] - w
        assert away @ away / 2 <= D2 + L**2 / gamma**2 - np.sqrt(T) / gamma * regret + 1e-9

    for T, w in best.items():
        check(T, w, run.objective(T, w))
    for w in (best[N_ROWS], np.zeros_like(best[N_ROWS])):  # any weights do: these after every round
        values = np.cumsum([run.cost(t, w) for t in range(N_ROWS)])
        for T in range(1, N_ROWS + 1):
            check(T, w, values[T - 1] / T)


@runs
def test_the_best_in_hindsight_is_the_best(make):
    """A wrong minimiser would weaken the test above."""
    run = make(3.0)
    rng = np.random.default_rng(0)
    for T in LOOKS:
        w = run.best(T)
        for size in (1e-3, 1e-1):
            move = size * rng.normal(size=w.shape)
            move[-1] *= w[-1] != 0  # the intercept stays 0 where there is none
            assert run.objective(T, w) <= run.objective(T, w + move) + 1e-8


@runs
def test_the_bounds_are_not_so_wide_that_any_weights_keep_them(make):
    gamma = 3.0
    run = make(gamma)
    w = run.best(N_ROWS)
    wrong = np.mean([run.cost(t, -5 * run.weights[t]) for t in range(N_ROWS)]) - run.objective(N_ROWS, w)
    assert wrong > bounds(N_ROWS, run.steepest, gamma, w @ w / 2)[1]


# --- errata ---------------------------------------------------------------------------------------------------------


def linear_rounds(u, gamma):
    """Dual averaging without a penalty on the losses u_t w: the weights before each round."""
    t = np.arange(1, len(u))
    return np.append(0.0, -np.sqrt(t) / gamma * np.cumsum(u)[:-1] / t)


def test_a_bound_on_mean_gradients_is_not_enough():
    """Theorem 2 as printed asks for |mean of u_1 ... u_t| <= L only. Every mean here is of size L; R has no bound."""
    T, L, gamma, D2 = 100, 1.0, 1.0, 1.0
    t = np.arange(1, T + 1)
    u = L * (-1.0) ** t * (2 * t - 1)
    means = np.cumsum(u) / t
    assert_allclose(np.abs(means), L)
    regret = (u * linear_rounds(u, gamma)).mean() + np.sqrt(2 * D2) * abs(means[-1])
    assert bounds(T, L, gamma, D2)[1] == pytest.approx(0.2)
    assert regret > 790
    assert regret <= bounds(T, np.abs(u).max(), gamma, D2)[0]  # every gradient counted, it holds


@pytest.mark.parametrize("gamma", [0.5, 2.0])
def test_the_sum_of_the_sharper_bound_starts_with_two_ones(gamma):
    """(3.15) as printed sums 1 / sqrt(t) over t = 1 ... T; two rounds of gradients L, -L break that at w = 0, and meet
    the corrected bound with equality."""
    L = 3.0
    u = np.array([L, -L])
    regret = (u * linear_rounds(u, gamma)).mean()
    printed = L**2 / (2 * gamma) * (1 + 2**-0.5) / 2
    assert regret == pytest.approx(L**2 / (2 * gamma))
    assert regret > 1.1 * printed
    assert regret == pytest.approx(bounds(2, L, gamma, 0.0)[0])

    model = L1RDAClassifier(0.0, eta0=1 / gamma, loss="hinge", fit_intercept=False)
    model.partial_fit([[L]], [-1], classes=[-1, 1])
    costs = np.array([1.0, 1 - model.decision_function([[L]])[0]])  # the second row is [L], of class 1
    assert costs.mean() - 1.0 == pytest.approx(regret)
