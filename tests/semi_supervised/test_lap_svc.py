"""Laplacian support vector machines against a general solver, the systems as printed, and machines that they become."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import optimize
from sklearn.datasets import make_moons
from sklearn.exceptions import ConvergenceWarning
from sklearn.svm import SVC, LinearSVC

from reference import laplacian as reference
from reference.laplacian import rows
from thresher.kernels import Polynomial
from thresher.semi_supervised import LapSVC
from thresher.semi_supervised._graph import Laplacian
from thresher.semi_supervised._manifold import ManifoldPenalty, reduced, root


def twin(model, X, y, weight=None):
    """The same problem as printed, from the parameters of a model with two classes."""
    weight, n, labelled = np.ones(len(y)) if weight is None else weight, len(y), y != -1
    D = reference.distances(X, model.metric)
    if model.graph == "full":
        W = reference.full_adjacency(D, model.graph_gamma or reference.default_gamma(D, model.n_neighbors))
    else:
        W = reference.knn_adjacency(D, model.n_neighbors, model.weights, model.graph_gamma)
    d = W.sum(axis=1)
    L = np.eye(n) - W / np.sqrt(np.outer(d, d)) if model.normalized else np.diag(d) - W
    L = np.linalg.matrix_power(L, model.graph_power)
    belkin = model.scaling == "belkin"
    return reference.Problem(
        K=model.kernel_(X),
        L=L,
        y=np.where(labelled, 2.0 * y - 1, 0.0),
        cost=weight / weight[labelled].sum() if belkin else weight,
        ambient=model.alpha,
        smoothness=model.alpha_graph / n**2 if belkin else model.alpha_graph,
        primal=model.solver == "primal",
    )


def coefficients(model, n):
    coef = np.zeros(n)
    coef[model.support_] = model.dual_coef_[0]
    return coef


CASES = [
    {"alpha": 1e-2, "alpha_graph": 50.0, "n_neighbors": 4},
    {"alpha": 1e-2, "alpha_graph": 5.0, "n_neighbors": 6, "normalized": False, "weights": "heat"},
    {"alpha": 0.05, "alpha_graph": 0.3, "scaling": "thesis", "n_neighbors": 5},
    {"alpha": 0.3, "alpha_graph": 0.05, "scaling": "thesis", "normalized": False, "kernel": "linear"},
    {"alpha": 1e-3, "alpha_graph": 500.0, "graph": "full", "gamma": 0.2},
    {"alpha": 1e-2, "alpha_graph": 100.0, "graph_power": 3, "metric": "cosine", "gamma": 0.5},
    {"alpha": 1e-2, "alpha_graph": 20.0, "graph": "full", "graph_gamma": 0.5, "kernel": Polynomial(2, 0.3)},
]
cases = pytest.mark.parametrize("params", CASES, ids=str)
solvers = pytest.mark.parametrize("solver", ["dual", "primal"])


@cases
@solvers
@pytest.mark.parametrize("weighted", [False, True])
def test_the_objective_of_either_scaling_is_as_small_as_a_general_solver_makes_it(params, solver, weighted):
    X, y = rows()
    weight = np.random.default_rng(5).exponential(size=50) + 0.1 if weighted else None
    model = LapSVC(solver=solver, tol=1e-10, **params).fit(X, y, sample_weight=weight)
    problem = twin(model, X, y, weight)
    scores, value = reference.by_general_solver(problem)
    mine = problem.objective(coefficients(model, 50), model.intercept_[0])
    assert_allclose(mine, value, rtol=1e-7)
    assert_allclose(model.objective_, mine, rtol=1e-8)
    assert_allclose(model.decision_function(X), scores, atol=2e-4)


@cases
def test_the_dual_is_the_one_that_is_printed_and_its_conditions_hold(params):
    """Q of the labelled rows, alpha = S0 J'Y beta, and beta in its box by the margins."""
    X, y = rows(seed=1)
    model = LapSVC(solver="dual", tol=1e-12, **params).fit(X, y)
    problem = twin(model, X, y)
    Q, S0 = reference.dual_matrix(problem)
    labelled, signs = y != -1, problem.y[y != -1]
    penalty = ManifoldPenalty(problem.ambient, problem.smoothness, Laplacian(problem.L), False)
    small = reduced(root(problem.K), np.flatnonzero(labelled), penalty)
    assert_allclose(small.Q / 2, Q * np.outer(signs, signs), rtol=1e-7, atol=1e-7 * np.abs(Q).max())
    assert_array_equal(small.Q, small.Q.T)

    coef = coefficients(model, 50)
    beta = np.linalg.solve(S0, coef)
    scale = problem.cost[labelled].max()
    assert_allclose(beta[~labelled], 0, atol=1e-8 * scale)
    beta = beta[labelled] * signs
    assert abs(signs @ beta) < 1e-9 * scale
    margins = signs * model.decision_function(X)[labelled]
    cost = problem.cost[labelled]
    assert (beta > -1e-8 * scale).all()
    assert (beta < cost + 1e-8 * scale).all()
    assert_allclose(beta[margins > 1 + 1e-5], 0, atol=1e-8 * scale)
    assert_allclose(beta[margins < 1 - 1e-5], cost[margins < 1 - 1e-5], atol=1e-8 * scale)
    dual = beta.sum() - beta @ Q @ beta / 2
    assert_allclose(model.objective_, dual, rtol=1e-8)
    assert model.residual_ < 1e-9


def test_the_gap_says_how_far_the_optimum_may_be():
    X, y = rows(60, 50, seed=1)
    best = LapSVC(1e-4, 10.0, gamma=2.0, tol=1e-12).fit(X, y).objective_
    gaps = []
    for tol in (0.3, 0.03, 0.003):
        model = LapSVC(1e-4, 10.0, gamma=2.0, tol=tol).fit(X, y)
        assert model.objective_ * (1 - model.residual_) <= best * (1 + 1e-9) <= model.objective_ * (1 + 2e-9)
        gaps.append(model.residual_)
    assert gaps[0] > gaps[1] > gaps[2] > 1e-5


@cases
def test_the_primal_gradient_vanishes_and_the_printed_system_says_the_same(params):
    X, y = rows(seed=2)
    model = LapSVC(solver="primal", **params).fit(X, y)
    problem = twin(model, X, y)
    coef, b = coefficients(model, 50), model.intercept_[0]
    by_coef, by_b = problem.gradient(coef, b)
    at_0, by_b_at_0 = problem.gradient(np.zeros(50), 0.0)
    size = max(np.abs(at_0).max(), abs(by_b_at_0))
    assert np.abs(by_coef).max() < 1e-10 * size
    assert abs(by_b) < 1e-10 * size
    assert model.residual_ < 1e-11
    there, constant = reference.newton(problem)
    assert_allclose(model.decision_function(X), problem.K @ there + constant, atol=1e-8)


def test_the_constant_counts_along_the_graph_in_the_primal_only():
    """With equal degrees it costs nothing even when normalised; with others, it is drawn towards 0."""
    X, y = rows(seed=3)
    model = LapSVC(0.01, 1e4, solver="primal", n_neighbors=4).fit(X, y)
    other = LapSVC(0.01, 1e4, solver="primal", n_neighbors=4, normalized=False).fit(X, y)
    problem = twin(model, X, y)
    one = np.ones(50)
    assert one @ problem.L @ one > 1e-3
    assert abs(twin(other, X, y).L @ one).max() < 1e-12
    without = problem._replace(primal=False)
    scores = model.decision_function(X)
    assert (
        abs(
            without.penalty(coefficients(model, 50), 0.0)
            - problem.penalty(coefficients(model, 50), model.intercept_[0])
        )
        > 1e-6
    )
    assert_allclose(scores, reference.by_general_solver(problem)[0], atol=1e-4)


# --- conjugate gradients, landmarks -----------------------------------------------------------------------------------


@cases
def test_conjugate_gradients_come_to_the_same(params):
    X, y = rows(seed=4)
    direct = LapSVC(solver="primal", inner="direct", **params).fit(X, y)
    tol = 1e-9 if "kernel" in params else 1e-12  # a matrix of low rank leaves rounding of its own
    by_products = LapSVC(solver="primal", inner="cg", tol=tol, **params).fit(X, y)
    assert_allclose(by_products.decision_function(X), direct.decision_function(X), atol=1e-8)
    assert_allclose(by_products.objective_, direct.objective_, rtol=1e-12)
    assert_allclose(by_products.transduction_, direct.transduction_)
    assert by_products.residual_ <= (10 * tol if "kernel" in params else tol)  # how much, depends on the machine's BLAS


def test_conjugate_gradients_stop_where_they_say_they_do():
    X, y = rows(seed=4)
    model = LapSVC(alpha_graph=1000.0, gamma="scale", solver="primal", inner="cg", tol=1e-3).fit(X, y)
    assert 1e-8 < model.residual_ <= 1e-3
    problem = twin(model, X, y)

    def norm(coef, b):
        """In the space of features, where a constant counts as one of length 1."""
        f = problem.K @ coef + b
        by_f = problem.smoothness * problem.L @ f - problem.cost * problem.y * np.maximum(1 - problem.y * f, 0)
        g = problem.ambient * coef + by_f
        return np.sqrt(g @ problem.K @ g + by_f.sum() ** 2)

    now, at_first = norm(coefficients(model, 50), model.intercept_[0]), norm(np.zeros(50), 0.0)
    assert_allclose(model.residual_, now / at_first, rtol=1e-6)
    with pytest.warns(ConvergenceWarning, match=r"^LapSVC: not converged, the relative gradient is .*raise max_iter"):
        LapSVC(alpha_graph=1000.0, gamma="scale", solver="primal", inner="cg", tol=1e-9, max_iter=1).fit(X, y)
    with pytest.warns(ConvergenceWarning, match=r"^LapSVC: not converged, the relative gradient is"):
        model = LapSVC(alpha_graph=1000.0, gamma="scale", solver="primal", inner="cg", tol=1e-30, max_iter=10_000).fit(
            X, y
        )
    assert model.n_iter_ < 100  # rounding is noticed
    assert model.residual_ < 1e-11


def test_a_kernel_matrix_that_does_not_fit_is_multiplied_with_in_pieces():
    X, y = rows(seed=4)
    plain = LapSVC(solver="primal").fit(X, y)
    in_pieces = LapSVC(solver="primal", cache_size=1e-3, tol=1e-12).fit(X, y)
    assert_allclose(in_pieces.decision_function(X), plain.decision_function(X), atol=1e-7)
    for params in ({"solver": "dual"}, {"solver": "primal", "inner": "direct"}):
        with pytest.raises(ValueError, match="LapSVC: cache_size must hold the kernel matrix of 50 rows"):
            LapSVC(cache_size=1e-3, **params).fit(X, y)
    with pytest.raises(
        ValueError, match=r"LapSVC: cache_size must hold the graph of 50 rows, 0 MB, got 0\.001; graph="
    ):
        LapSVC(graph="full", solver="primal", cache_size=1e-3).fit(X, y)
    no_graph = LapSVC(alpha_graph=0, graph="full", solver="primal", cache_size=1e-3, tol=1e-10).fit(X, y)
    assert_allclose(no_graph.objective_, LapSVC(alpha_graph=0, solver="primal").fit(X, y).objective_, rtol=1e-9)


@solvers
def test_landmarks_at_all_rows_are_no_approximation(solver):
    X, y = rows(seed=5)
    params = {"alpha": 1e-3, "alpha_graph": 100.0, "solver": solver, "gamma": 0.5, "tol": 1e-10}
    all_rows = LapSVC(**params).fit(X, y)
    same = LapSVC(n_components=50, random_state=0, **params).fit(X, y)
    assert_allclose(same.decision_function(X), all_rows.decision_function(X), atol=1e-5)
    assert_allclose(same.objective_, all_rows.objective_, rtol=1e-7)


@solvers
@pytest.mark.parametrize("params", CASES[:3], ids=str)
def test_landmarks_solve_the_problem_of_the_approximate_kernel(solver, params, layout):
    X, y = rows(seed=5)
    model = LapSVC(n_components=9, random_state=1, solver=solver, tol=1e-11, **params).fit(layout(X), y)
    assert len(model.support_) == 9
    S = X[model.support_]
    K = model.kernel_(X, S) @ np.linalg.pinv(model.kernel_(S), rcond=1e-13, hermitian=True) @ model.kernel_(S, X)
    problem = twin(model, X, y)._replace(K=(K + K.T) / 2)
    scores, value = reference.by_general_solver(problem)
    assert_allclose(model.objective_, value, rtol=1e-6)
    assert_allclose(model.decision_function(layout(X)), scores, atol=1e-3)
    assert_array_equal(model.transduction_[y == -1], model.predict(X)[y == -1])


# --- what they become -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("scaling", ["belkin", "thesis"])
@pytest.mark.parametrize("params", [{"kernel": "linear"}, {"gamma": 0.3}, {"gamma": 0.3, "class_weight": "balanced"}])
def test_without_a_graph_the_dual_is_a_support_vector_machine_of_labelled_rows(scaling, params):
    X, y = rows(60, 40, seed=6)
    labelled = y != -1
    alpha = 0.01 if scaling == "belkin" else 0.4
    C = 1 / (2 * alpha * (labelled.sum() if scaling == "belkin" else 1))
    model = LapSVC(alpha, 0.0, scaling=scaling, tol=1e-10, **params).fit(X, y)
    known = SVC(C=C, tol=1e-10, **params).fit(X[labelled], y[labelled])
    assert_allclose(model.decision_function(X), known.decision_function(X), atol=1e-5)
    assert_array_equal(model.support_, np.flatnonzero(labelled)[np.sort(known.support_)])
    assert_allclose(2 * alpha * model.dual_coef_.sum(), 0, atol=1e-8)


@solvers
@pytest.mark.parametrize("params", [{}, {"kernel": "precomputed"}, {"n_components": 5, "random_state": 0}], ids=str)
def test_without_a_graph_unlabelled_rows_are_absent_and_answered(solver, params):
    X, y = rows(300, 20, seed=6)
    data, labelled = X, y != -1
    if params.get("kernel") == "precomputed":
        data, X = X @ X.T, X[labelled] @ X[labelled].T
    else:
        X = X[labelled]
    alone = LapSVC(0.01, 0.0, solver=solver, **params).fit(X, y[labelled])
    model = LapSVC(0.01, 0.0, solver=solver, cache_size=0.1, **params).fit(data, y)  # 300 rows would not fit
    assert_array_equal(model.dual_coef_, alone.dual_coef_)
    assert_array_equal(model.support_, np.flatnonzero(labelled)[alone.support_])
    assert_array_equal(model.transduction_[labelled], y[labelled])
    assert_array_equal(model.transduction_[~labelled], model.predict(data)[~labelled])


@pytest.mark.parametrize("scaling", ["belkin", "thesis"])
def test_without_a_graph_the_primal_has_squared_losses_and_a_free_constant(scaling):
    X, y = rows(60, 40, seed=6)
    labelled = y != -1
    alpha = 0.01 if scaling == "belkin" else 0.4
    C = 1 / (2 * alpha * (labelled.sum() if scaling == "belkin" else 1))
    model = LapSVC(alpha, 0.0, scaling=scaling, solver="primal", kernel="linear").fit(X, y)

    def objective(z):
        lack = np.maximum(1 - (2 * y[labelled] - 1) * (X[labelled] @ z[:3] + z[3]), 0)
        return z[:3] @ z[:3] / 2 + C * lack @ lack

    best = optimize.minimize(objective, np.zeros(4), tol=1e-12).x
    assert_allclose(model.decision_function(X), X @ best[:3] + best[3], atol=1e-5)
    known = LinearSVC(C=C, intercept_scaling=1e4, tol=1e-10, max_iter=1_000_000).fit(X[labelled], y[labelled])
    assert_array_equal(np.sign(model.decision_function(X)), np.sign(known.decision_function(X)))
    assert not set(model.support_) & set(np.flatnonzero(~labelled))


def test_few_labels_spread_along_moons():
    X, truth = make_moons(300, noise=0.05, random_state=1)
    y = np.where(np.arange(300) < 6, truth, -1)
    plain = LapSVC(gamma=2.0, alpha_graph=0).fit(X, y)
    for params in ({}, {"solver": "primal"}, {"n_components": 60, "random_state": 0}):
        model = LapSVC(1e-4, 1e4, gamma=2.0, **params).fit(X, y)
        assert (model.transduction_ == truth).mean() > (plain.transduction_ == truth).mean() + 0.05


# --- in sample, out of sample; rows in any order ----------------------------------------------------------------------


@cases
@solvers
def test_training_rows_are_scored_like_new_ones(params, solver):
    X, y = rows(seed=8)
    model = LapSVC(solver=solver, **params).fit(X, y)
    assert_array_equal(model.transduction_, np.where(y == -1, model.predict(X), y))
    assert_array_equal(model.predict(X[::-1].copy()), model.predict(X)[::-1])


@cases
@solvers
def test_the_order_of_rows_does_not_matter(params, solver):
    X, y = rows(seed=9)
    order = np.random.default_rng(0).permutation(50)
    model = LapSVC(solver=solver, tol=1e-11, **params).fit(X, y)
    other = LapSVC(solver=solver, tol=1e-11, **params).fit(X[order], y[order])
    assert_allclose(other.decision_function(X), model.decision_function(X), atol=1e-4)
    assert_allclose(other.objective_, model.objective_, rtol=1e-9)


@solvers
def test_the_same_rows_give_the_same_bits(solver):
    X, y = rows()
    for params in ({}, {"n_components": 10, "random_state": 3}):
        a, b = (LapSVC(solver=solver, **params).fit(X, y) for _ in range(2))
        assert a.dual_coef_.tobytes() == b.dual_coef_.tobytes()
        assert a.intercept_.tobytes() == b.intercept_.tobytes()
