"""Multi-task dual averaging and FOBOS against their eager twins, step by step, and against the problems they solve."""

from __future__ import annotations

import cvxpy as cp
import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse

from reference import multi_task as reference
from reference.losses import loss as find_loss
from thresher.dual_averaging import (
    L1RDAClassifier,
    L1RDARegressor,
    MultiTaskFOBOSClassifier,
    MultiTaskFOBOSRegressor,
    MultiTaskRDAClassifier,
    MultiTaskRDARegressor,
)

LEARNERS = [
    (MultiTaskRDAClassifier, "hinge"),
    (MultiTaskRDAClassifier, "logistic"),
    (MultiTaskRDARegressor, "squared"),
    (MultiTaskFOBOSClassifier, "hinge"),
    (MultiTaskFOBOSClassifier, "logistic"),
    (MultiTaskFOBOSRegressor, "squared"),
]
PENALTIES = {
    "l1": {"penalty": "l1"},
    "l21": {"penalty": "l21"},
    "l1_l21": {"penalty": "l1_l21", "l1_weight": 0.7},
    "l1_l21-each": {"penalty": "l1_l21", "l1_weight": np.linspace(0, 2, 9)},
    "linf1": {"penalty": "lp1", "p": np.inf},
    "lp1-3": {"penalty": "lp1", "p": 3.0},
    "lp1-1.3": {"penalty": "lp1", "p": 1.3},
}
learners = pytest.mark.parametrize("cls, loss", LEARNERS, ids=[f"{c.__name__[9:]}-{loss}" for c, loss in LEARNERS])
penalties = pytest.mark.parametrize("penalty", PENALTIES)


def make(cls, loss, penalty, **params):
    given = {"alpha": 0.05, "eta0": 0.4, "loss": loss, "intercept_scaling": 0.3, "max_iter": 1, "shuffle": False}
    return cls(**(given | PENALTIES[penalty] | params))


def kind(model):
    return "rda" if "RDA" in type(model).__name__ else "fobos"


def stream(n_rows, n_tasks=4, n_features=9, seed=0, regression=False):
    """Sparse rows with long gaps, tasks of very different rates, some rows absent, and ids of rounds."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, n_features)) * (rng.random((n_rows, n_features)) < np.geomspace(0.9, 0.03, n_features))
    rates = np.geomspace(1, 0.15, n_tasks)
    rounds, tasks = [], []
    t = 0
    while len(tasks) < n_rows:
        held = rng.permutation(np.flatnonzero(rng.random(n_tasks) < rates))
        tasks += held.tolist()
        rounds += [t] * len(held)
        t += 1
    tasks, rounds = np.array(tasks[:n_rows]), np.array(rounds[:n_rows])
    codes = np.unique(tasks, return_index=True)[1].argsort().argsort()[tasks]  # tasks in the order of their appearance
    truth = rng.normal(size=(n_features, n_tasks)) * (rng.random((n_features, 1)) < 0.5)
    value = np.einsum("ij,ji->i", X, truth[:, codes]) + 0.3 * rng.normal(size=n_rows)
    weight = rng.exponential(size=n_rows) * (rng.random(n_rows) < 0.85)
    weight[np.unique(codes, return_index=True)[1]] = 1.0
    return X, (value if regression else np.where(value > 0, 1, -1)), codes, rounds, weight


def first_call(model):
    return {} if hasattr(model, "epsilon") else {"classes": [-1, 1]}


# --- step by step ----------------------------------------------------------------------------------------------------


@learners
@penalties
@pytest.mark.parametrize("named", [False, True], ids=["tasks-repeat", "round-ids"])
def test_it_agrees_with_the_eager_twin_after_every_row(cls, loss, penalty, named):
    model = make(cls, loss, penalty)
    X, y, tasks, ids, weight = stream(30 if "lp1-" in penalty else 80, regression=loss == "squared")
    rows, ids = sparse.csr_array(X), ids if named else None
    paid = []
    find = find_loss(loss, model.tau, 0.0)
    for i, score, W in reference.multi_task(kind(model), model, X, y, tasks, ids, weight):
        said = {} if ids is None else {"round_ids": ids[i : i + 1]}
        model.partial_fit(
            rows[i : i + 1], y[i : i + 1], tasks=tasks[i : i + 1], sample_weight=weight[i : i + 1], **said,
            **(first_call(model) if not paid else {}),
        )  # fmt: skip
        known = len(model.tasks_)
        assert_allclose(model.coef_, W[:-1, :known].T, rtol=1e-9, atol=1e-12)
        used, truth = model.coef_ != 0, W[:-1, :known].T != 0
        if "lp1-" in penalty:  # where a row is in use, small entries are tiny instead of 0, and the twin's roots end
            used, truth = used.any(axis=0), truth.any(axis=0)
        assert_array_equal(used, truth)
        assert_allclose(model.intercept_, 0.3 * W[-1, :known], rtol=1e-9, atol=1e-12)
        read = model.decision_function if hasattr(model, "classes_") else model.predict
        assert_allclose(read(X[:3], [0] * 3), np.c_[X[:3], [0.3] * 3] @ W[:, 0], rtol=1e-9, atol=1e-12)
        paid.append(weight[i] * find.value(score, y[i]))
    assert_allclose(model.progressive_loss_, np.sum(paid) / weight.sum(), rtol=1e-10)
    assert model.n_samples_seen_ == len(paid)


@pytest.mark.parametrize("cls, loss", [LEARNERS[0], LEARNERS[5]], ids=["RDA", "FOBOS"])
@pytest.mark.parametrize("penalty", ["l1", "l21", "l1_l21", "linf1"])
@pytest.mark.parametrize("layout", [np.asarray, sparse.csr_array], ids=["dense", "csr"])
def test_a_long_stream_in_any_form_ends_where_the_eager_twin_does(cls, loss, penalty, layout, dtype):
    model = make(cls, loss, penalty, alpha=0.02)
    X, y, tasks, _, weight = stream(600, n_tasks=5, seed=1, regression=loss == "squared")
    X = X.astype(dtype)
    *_, (_, _, W) = reference.multi_task(kind(model), model, X, y, tasks, None, weight)
    model.fit(layout(X), y, tasks=tasks, sample_weight=weight)
    assert_allclose(model.coef_, W[:-1].T, rtol=1e-8, atol=1e-12)
    assert_array_equal(model.coef_ != 0, W[:-1].T != 0)
    assert 0 < np.count_nonzero(model.coef_) < model.coef_.size or penalty == "linf1"
    assert model.state_.arrays["is_open"][0, 0] == 0


@pytest.mark.parametrize("rda, plain, loss", [(MultiTaskRDAClassifier, L1RDAClassifier, "hinge"),
                                              (MultiTaskRDARegressor, L1RDARegressor, "squared")])  # fmt: skip
@pytest.mark.parametrize("penalty", PENALTIES)
def test_one_task_is_l1_dual_averaging(rda, plain, loss, penalty):
    """Every norm of one number is its size; r + 1 of them with l1_l21."""
    X, y, _, _, weight = stream(300, regression=loss == "squared")
    share = PENALTIES[penalty].get("l1_weight", 0.0) if "l1_l21" in penalty else 0.0
    if np.ndim(share):
        return
    shuffled = {"shuffle": True, "max_iter": 3, "random_state": 4}
    one = make(rda, loss, penalty, **shuffled).fit(sparse.csr_array(X), y, sample_weight=weight)
    other = plain(alpha=0.05 * (1 + share), eta0=0.4, loss=loss, intercept_scaling=0.3, **shuffled)
    other.fit(sparse.csr_array(X), y, sample_weight=weight)
    assert one.coef_.any()
    assert_allclose(one.coef_[0], np.ravel(other.coef_), rtol=1e-8, atol=1e-11)
    assert_array_equal(one.support_, other.support_)
    assert_allclose(one.progressive_loss_, other.progressive_loss_, rtol=1e-10)
    assert_array_equal(one.tasks_, [0])


# --- the problems ----------------------------------------------------------------------------------------------------


def norm_of(row, penalty, p, share):
    if penalty == "l1":
        return cp.norm1(row)
    if penalty == "lp1":
        return cp.pnorm(row, p)
    return cp.norm2(row) + (share * cp.norm1(row) if penalty == "l1_l21" else 0)


@penalties
@pytest.mark.parametrize("alpha", [0.3, 1.2, 4.0])
def test_after_one_round_the_weights_solve_their_problem(penalty, alpha):
    """The first gradients are -y x, so any matrix G can be put in: a test of each proximal map by a cone solver."""
    n_tasks, n_features = 5, 9
    G = np.random.default_rng(3).normal(size=(n_features, n_tasks)) * np.geomspace(0.05, 3, n_features)[:, None]
    G[2, 1:] = 0
    G[4] = np.abs(G[4, 0])
    model = make(MultiTaskRDARegressor, "squared", penalty, alpha=alpha, fit_intercept=False)
    model.fit(G.T, -np.ones(n_tasks), tasks=np.arange(n_tasks))
    shares = np.broadcast_to(model.l1_weight, n_features)
    for g, w, share in zip(G, model.coef_.T, shares, strict=True):
        row = cp.Variable(n_tasks)
        norm = norm_of(row, model.penalty, model.p, share)
        problem = cp.Problem(cp.Minimize(g @ row + alpha * norm + cp.sum_squares(row) / (2 * model.eta0)))
        problem.solve(solver="CLARABEL", tol_gap_abs=1e-12, tol_gap_rel=1e-12, tol_feas=1e-12)
        assert_allclose(w, row.value, rtol=1e-4, atol=2e-6)
        row.value = w
        reached = g @ w + alpha * norm.value + w @ w / (2 * model.eta0)
        assert reached <= problem.value + 1e-8 * max(1, abs(problem.value))
        assert_allclose(
            w, model.eta0 * reference.row_prox(-g, alpha, model.penalty, model.p, share), rtol=1e-9, atol=1e-12
        )


@pytest.mark.parametrize("p", [1.1, 1.5, 2.5, 30.0])
@pytest.mark.parametrize("scale", [1e-9, 1.0, 1e9])
def test_the_proximal_map_of_any_power_satisfies_its_optimality_conditions(p, scale):
    """w + a (w / |w|_p)^(p - 1) = v for every entry, or the dual norm of v is at most a."""
    rng = np.random.default_rng(5)
    V, alpha = scale * rng.normal(size=(12, 6)) * rng.choice([1e-3, 1.0, 5.0], size=(12, 6)), 2.0 * scale
    model = MultiTaskRDARegressor("lp1", alpha, p=p, eta0=1.0, fit_intercept=False, shuffle=False, max_iter=1)
    W = -model.fit(V.T, -np.ones(6), tasks=np.arange(6)).coef_.T
    for v, w in zip(V, W, strict=True):
        if not w.any():
            dual = np.linalg.norm(v / scale, ord=p / (p - 1))
            assert dual <= alpha / scale * (1 + 1e-12)
            continue
        size = scale * np.linalg.norm(w / scale, ord=p)
        assert_allclose(w + alpha * np.sign(w) * (np.abs(w) / size) ** (p - 1), v, rtol=1e-9, atol=1e-9 * scale)
    assert 0 < np.count_nonzero(W.any(axis=1)) < 12 or p > 3


def batch_optimum(X, y, tasks, alpha, shares):
    """min sum_q share_q mean_i (x w_q - y)^2 / 2 + alpha sum_j |W_j|_2"""
    W = cp.Variable((X.shape[1], len(shares)))
    losses = []
    for q, share in enumerate(shares):  # the same squares, of as many rows as there are features
        A, b = X[tasks == q], y[tasks == q]
        Q, R = np.linalg.qr(A)
        losses.append(share * cp.sum_squares(R @ W[:, q] - Q.T @ b) / (2 * len(b)))
    problem = cp.Problem(cp.Minimize(cp.sum(losses) + alpha * cp.sum(cp.norm(W, 2, axis=1))))
    problem.solve(solver="CLARABEL")
    return W.value


def rare_tasks(n_rounds, rates, seed=0):
    """Rounds in which task q is present with probability rates[q], and a shared sparse truth."""
    rng = np.random.default_rng(seed)
    present = rng.random((n_rounds, len(rates))) < rates
    present[0] = True
    rounds, tasks = np.nonzero(present)
    X = rng.normal(size=(len(tasks), 8))
    truth = rng.normal(size=(8, len(rates))) * (np.arange(8) < 4)[:, None]
    return X, np.einsum("ij,ji->i", X, truth[:, tasks]) + 0.1 * rng.normal(size=len(tasks)), tasks, rounds


def test_tasks_that_are_seen_rarely_are_not_over_penalised():
    """The limit solves (4.3), not the problem weighted by presence that zeros in place of absent rows lead to."""
    rates = np.array([1, 1, 0.5, 0.5, 0.15, 0.15])
    X, y, tasks, rounds = rare_tasks(12_000, rates)
    model = MultiTaskRDARegressor("l21", 0.3, eta0=0.5, fit_intercept=False, shuffle=False, max_iter=1)
    model.fit(X, y, tasks=tasks, round_ids=rounds)
    truth = batch_optimum(X, y, tasks, 0.3, np.ones(6))
    biased = batch_optimum(X, y, tasks, 0.3, rates)
    assert np.linalg.norm(biased - truth) > 1.0
    assert np.linalg.norm(model.coef_.T - truth) < 0.2
    assert np.linalg.norm(model.coef_.T - biased) > 0.9


def test_fobos_counts_the_gradients_of_rare_tasks_more():
    rates = np.array([1, 1, 0.5, 0.5, 0.15, 0.15])
    X, y, tasks, rounds = rare_tasks(12_000, rates)
    model = MultiTaskFOBOSRegressor(alpha=0.3, eta0=0.2, fit_intercept=False, shuffle=False, max_iter=1)
    iterates = []
    for begin in range(0, len(y), 400):  # the last iterate is noisy, their mean is not
        part = slice(begin, begin + 400)
        model.partial_fit(X[part], y[part], tasks=tasks[part], round_ids=rounds[part])
        iterates.append(model.coef_.T.copy())
    mean = np.mean(iterates[len(iterates) // 2 :], axis=0)
    truth, biased = (batch_optimum(X, y, tasks, 0.3, shares) for shares in (np.ones(6), rates))
    assert np.linalg.norm(mean - truth) < 0.25
    assert np.linalg.norm(mean - biased) > 0.9


@pytest.mark.parametrize("n_before, times", [(0, 1), (9, 10), (15, 16), (40, 16)])
def test_fobos_counts_a_gradient_sixteen_times_at_most(n_before, times):
    """A task that comes first in round t has been absent from t - 1 of t rounds."""
    model = MultiTaskFOBOSRegressor(alpha=0.0, eta0=0.1, fit_intercept=False)
    if n_before:
        model.partial_fit(np.ones((n_before, 1)), np.zeros(n_before), tasks=np.zeros(n_before, int))
    model.partial_fit([[1.0]], [1.0], tasks=[1], round_ids=[5])
    assert_allclose(model.coef_[-1], times * 0.1 / np.sqrt(n_before + 1), rtol=1e-14)


@pytest.mark.parametrize("p", [1.0, 1.5, 2.0, 3.0, np.inf])
def test_without_a_penalty_every_power_is_plain_dual_averaging(p):
    X, y, tasks, _, weight = stream(100)
    one = MultiTaskRDAClassifier("lp1", 0.0, p=p, shuffle=False, max_iter=1).fit(
        X, y, tasks=tasks, sample_weight=weight
    )
    other = MultiTaskRDAClassifier("l1", 0.0, shuffle=False, max_iter=1).fit(X, y, tasks=tasks, sample_weight=weight)
    assert_allclose(one.coef_, other.coef_, rtol=1e-11, atol=1e-14)


@pytest.mark.parametrize("penalty", ["l1", "l21", "l1_l21", "linf1"])
@pytest.mark.parametrize("gamma_of_best", [0.3, 1.0, 3.0])
def test_the_regret_is_within_the_corrected_bound(penalty, gamma_of_best):
    """(1/T) sum (Omega(W_t) + l_t(W_t)) - S_T(W*) <= (gamma D^2 + L^2 / gamma) / sqrt(T) for all T, where
    D^2 = |W*|^2 / 2 and L is the largest Frobenius norm of a round's gradients."""
    rng = np.random.default_rng(2)
    n_tasks, n_rounds, alpha = 3, 150, 0.02
    X = rng.normal(size=(n_rounds, n_tasks, 9))
    X /= np.linalg.norm(X, axis=2, keepdims=True)
    truth = rng.normal(size=(9, n_tasks)) * (np.arange(9) < 3)[:, None]
    y = np.where(np.einsum("tqj,jq->tq", X, truth) > 0, 1, -1)
    shape = PENALTIES[penalty]
    p, share = shape.get("p", 2.0), shape.get("l1_weight", 0.0)

    def omega(W):
        return alpha * sum(norm_of(row, shape["penalty"], p, share) for row in W)

    def omega_now(W):
        sizes, lengths = np.abs(W).sum(axis=1), np.linalg.norm(W, axis=1)
        rows = {"l1": sizes, "l21": lengths, "l1_l21": lengths + share * sizes, "linf1": np.abs(W).max(axis=1)}
        return alpha * rows[penalty].sum()

    def losses(W):
        return sum(cp.sum(cp.pos(1 - cp.multiply(y[:, q], X[:, q] @ W[:, q]))) for q in range(n_tasks)) / n_rounds

    W = cp.Variable((9, n_tasks))
    problem = cp.Problem(cp.Minimize(losses(W) + omega(W)))
    problem.solve(solver="CLARABEL")
    D, L = np.linalg.norm(W.value) / np.sqrt(2), np.sqrt(n_tasks)
    gamma = gamma_of_best * L / D
    model = make(MultiTaskRDAClassifier, "hinge", penalty, alpha=alpha, eta0=1 / gamma, fit_intercept=False)
    total, now = 0.0, np.zeros((9, n_tasks))
    of_best = np.maximum(1 - y * np.einsum("tqj,jq->tq", X, W.value), 0).sum(axis=1)
    for t in range(1, n_rounds + 1):
        total += np.maximum(1 - y[t - 1] * np.einsum("qj,jq->q", X[t - 1], now), 0).sum() + omega_now(now)
        model.partial_fit(X[t - 1], y[t - 1], tasks=np.arange(n_tasks), round_ids=[t] * n_tasks, classes=[-1, 1])
        now = model.coef_.T
        regret = total / t - of_best[:t].mean() - omega_now(W.value)
        assert regret <= (gamma * D**2 + L**2 / gamma) / np.sqrt(t)
    assert regret > -0.5


@penalties
@pytest.mark.parametrize("cls", [MultiTaskRDAClassifier, MultiTaskFOBOSClassifier])
@pytest.mark.parametrize("alpha", [0.0, 1e100])
def test_rows_of_weights_stay_finite_without_a_penalty_and_with_the_largest(cls, penalty, alpha):
    """Neither rows of length 0 nor those that the penalty outweighs give a quotient that is not a number."""
    X = np.random.default_rng(0).normal(size=(40, 9)) * (np.arange(9) < 8)
    model = make(cls, "hinge", penalty, alpha=alpha).fit(X, np.tile([-1, 1], 20), tasks=np.arange(40) // 2 % 3)
    assert np.isfinite(model.coef_).all()
    assert (model.coef_[:, :8] != 0).any() == (alpha == 0)
    if cls is MultiTaskFOBOSClassifier:
        assert not np.signbit(model.coef_[model.coef_ == 0]).any()  # 0, not -0
