"""3C-SVM, U-SVM and S3VM against their twin, their optimality conditions, and machines that they become."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning
from sklearn.svm import SVC

from reference import tri_class as reference
from thresher._kernels import Gram
from thresher.semi_supervised import S3VC, TriClassSVC, UniversumSVC, _descent
from thresher.semi_supervised._descent import cheapest_side, losses
from thresher.solvers import box_qp

METHODS = {TriClassSVC: "tri", UniversumSVC: "universum", S3VC: "s3"}
EXACT = {"tol": 1e-10}


def rows(seed=0, n_labelled=16, n_unlabelled=36, n_features=3):
    """Two classes of unequal size, 0 and 1, a third of the unlabelled (-1) between them, and irrelevant ones (2)."""
    rng = np.random.default_rng(seed)
    n = n_labelled + n_unlabelled
    truth = rng.choice(3, size=n, p=[0.3, 0.4, 0.3])
    X = rng.normal(size=(n, n_features)) + 1.2 * np.array([-1.0, 1.0, 0.1])[truth][:, None]
    y = np.where(np.arange(n) < n_labelled, truth, -1)
    y[:3] = 0, 1, 2
    return X, y


def twin(model, X, y):
    """The same problem for the twin, from the parameters of a model with two classes."""
    K = model.kernel_(X)
    sides = np.select([y == -1, y == 2], [np.nan, 0.0], 2.0 * y - 1)
    cost = np.where(y == -1, model.C_unlabelled, model.C)
    return reference.Rows(reference.features(K), sides, cost, model.epsilon, getattr(model, "balance", None))


CASES = [
    TriClassSVC(C=2.0, C_unlabelled=0.5, epsilon=0.1, kernel="linear"),
    TriClassSVC(C=5.0, C_unlabelled=1.0, epsilon=0.3, gamma=0.2),
    TriClassSVC(C=5.0, C_unlabelled=1.0, epsilon=0.0, gamma=0.2, init="svm"),
    TriClassSVC(C=2.0, C_unlabelled=0.5, epsilon=0.5, gamma=0.5, init="svm", balance=0.4),
    TriClassSVC(C=2.0, C_unlabelled=0.7, epsilon=0.1, kernel="linear", balance=-0.3),
    UniversumSVC(C=2.0, C_unlabelled=0.3, epsilon=0.2, gamma=0.3),
    UniversumSVC(C=0.5, C_unlabelled=4.0, epsilon=0.0, kernel="polynomial", degree=2, gamma=0.3),
    S3VC(C=2.0, C_unlabelled=0.5, kernel="linear"),
    S3VC(C=3.0, C_unlabelled=2.0, gamma=0.3),
    S3VC(C=3.0, C_unlabelled=0.5, gamma=0.3, balance=0.2),
]
cases = pytest.mark.parametrize("model", CASES, ids=lambda model: " ".join(str(model).split()))


def fitted(model, seed):
    X, y = rows(seed)
    if isinstance(model, S3VC):
        X, y = X[y != 2], y[y != 2]
    else:
        model.set_params(irrelevant_label=2)
    return model.set_params(**EXACT).fit(X, y), X, y


@cases
@pytest.mark.parametrize("seed", [0, 1])
def test_every_convex_problem_agrees_with_a_general_solver(model, seed):
    """Step by step: the objective after each is that of the twin, and so are the scores at the end."""
    model, X, y = fitted(model, seed)
    method = METHODS[type(model)]
    given = twin(model, X, y)
    init = {"tri": getattr(model, "init", ""), "universum": "universum", "s3": "svm"}[method]
    _, machines, values = reference.descend(given, method, init)
    assert_allclose(model.objectives_, values, rtol=1e-7)
    assert model.n_iter_ == len(values)
    assert_allclose(model.decision_function(X), reference.scores(given, machines[-1]), atol=1e-4)


def test_the_cases_above_take_several_steps():
    steps = {cls: [fitted(m, s)[0].n_iter_ for m in CASES if type(m) is cls for s in (0, 1)] for cls in METHODS}
    assert max(steps[TriClassSVC]) >= 4
    assert max(steps[S3VC]) >= 3
    assert set(steps[UniversumSVC]) == {1}


@cases
def test_the_last_problem_is_solved_to_its_optimality_conditions(model):
    """0 <= s beta <= c with beta = 0 where s f > 1 and s beta = c where s f < 1; the like for rows of no class."""
    model, X, y = fitted(model, 3)
    f = model.decision_function(X)
    beta = np.zeros(len(y))
    beta[model.support_] = model.dual_coef_[0]
    assert abs(beta.sum()) < 1e-9
    if getattr(model, "balance", None) is not None:  # its variable is spread over all unlabelled rows: see the twin
        assert_allclose(f[y == -1].mean(), model.balance, atol=1e-6)
        return
    read = {"tri": cheapest_side, "universum": lambda f, e: 0 * f, "s3": lambda f, e: np.where(f > 0, 1.0, -1.0)}
    side = np.select([y == -1, y == 2], [read[METHODS[type(model)]](f, model.epsilon), 0.0], 2.0 * y - 1)
    cost = np.where(y == -1, model.C_unlabelled, model.C)
    margin = np.where(side == 0, model.epsilon - np.abs(f), side * f - 1)  # above 0: the row costs nothing
    signed = np.where(side == 0, -np.sign(f) * beta, side * beta)
    near = 1e-4
    assert_allclose(signed[margin > near], 0.0, atol=1e-12)
    assert_allclose(signed[margin < -near], cost[margin < -near], rtol=1e-12)
    assert (signed[(side != 0) | (np.abs(f) > near)] >= -1e-12).all()
    assert (signed <= cost * (1 + 1e-12)).all()


@pytest.mark.parametrize("cls", [TriClassSVC, S3VC])
@pytest.mark.parametrize("tol", [1e-2, 1e-4, 1e-8])
def test_the_objective_never_rises(cls, tol):
    for seed, cost, width in itertools.product(range(4), (0.05, 1.0), (0.1, 1.0)):
        X, y = rows(seed)
        y[y == 2] = -1
        values = cls(C=3.0, C_unlabelled=cost, gamma=width, tol=tol).fit(X, y).objectives_
        assert (np.diff(values) <= 0).all()


@pytest.mark.parametrize("init", ["universum", "svm"])
def test_the_end_is_a_local_minimum(init):
    model, X, y = fitted(TriClassSVC(C=4.0, C_unlabelled=1.0, epsilon=0.2, gamma=0.2, init=init), 5)
    given, rng = twin(model, X, y), np.random.default_rng(0)
    b = model.intercept_[0]
    w = np.linalg.lstsq(given.phi, model.decision_function(X) - b, rcond=None)[0]
    here = reference.objective(given, reference.Machine(w, b, 0.0), "tri")
    assert_allclose(here, model.objective_, rtol=1e-7)
    for size in np.repeat([1e-3, 1e-2], 200):
        there = reference.Machine(w + size * rng.normal(size=len(w)) / 7, b + size * rng.normal(), 0.0)
        assert reference.objective(given, there, "tri") >= here - 1e-7


# --- the loss of an unlabelled row ------------------------------------------------------------------------------------


@pytest.mark.parametrize("epsilon", [0.0, 0.1, 0.6, 0.99])
def test_the_loss_of_an_unlabelled_row_in_its_forms(epsilon):
    u = np.linspace(-3, 3, 1201)
    M = losses(u, cheapest_side(u, epsilon), epsilon)
    H, band, m = reference.H, reference.band, (1 + epsilon) / 2
    assert_allclose(M, np.minimum(H(np.abs(u)), band(u, epsilon)), atol=1e-12)
    assert_allclose(M, np.minimum(np.minimum(H(u), H(-u)), band(u, epsilon)), atol=1e-12)
    assert_allclose(M, band(u, epsilon) - 2 * band(u, m) + band(u, 1.0), atol=1e-12)
    assert M.max() <= (1 - epsilon) / 2 + 1e-12
    assert_allclose(losses(np.array([m]), np.array([0.0]), epsilon), (1 - epsilon) / 2)
    assert cheapest_side(np.array([m, -m, 0.0]), epsilon).tolist() == [1.0, -1.0, 0.0]  # a tie belongs to the class


# --- what they become -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("cls", list(METHODS))
@pytest.mark.parametrize(
    "params", [{"kernel": "linear"}, {"gamma": 0.3}, {"gamma": "scale", "class_weight": "balanced"}], ids=str
)
def test_without_unlabelled_rows_it_is_a_support_vector_machine(cls, params):
    X, y = rows(7, 60, 0)
    y = np.array(["no", "yes"])[(y > 0).astype(int)]
    model, known = cls(C=2.0, **params, **EXACT).fit(X, y), SVC(C=2.0, tol=1e-9, **params).fit(X, y)
    assert_allclose(model.decision_function(X), known.decision_function(X), atol=1e-5)
    assert_array_equal(model.predict(X), known.predict(X))
    assert_array_equal(model.support_, np.sort(known.support_))
    assert model.n_iter_ == 1


@pytest.mark.parametrize("cls", list(METHODS))
def test_a_cost_of_0_leaves_unlabelled_rows_out(cls):
    X, y = rows(7)
    y[y == 2] = -1
    model, known = cls(C_unlabelled=0.0, gamma="scale", **EXACT).fit(X, y), SVC(tol=1e-9).fit(X[y != -1], y[y != -1])
    assert_allclose(model.decision_function(X), known.decision_function(X), atol=1e-5)
    assert_array_equal(model.transduction_, y)


def test_the_universum_machine_is_the_first_step_of_the_other():
    X, y = rows(1)
    y[y == 2] = -1
    params = {"C": 3.0, "C_unlabelled": 0.2, "epsilon": 0.2, "gamma": 0.2, **EXACT}
    one = UniversumSVC(**params).fit(X, y)
    with pytest.warns(ConvergenceWarning, match="TriClassSVC: not converged after 1 convex problems; raise max_iter"):
        other = TriClassSVC(max_iter=1, **params).fit(X, y)
    assert_array_equal(one.decision_function(X), other.decision_function(X))
    assert other.objective_ < one.objective_


def test_unlabelled_rows_of_the_universum_are_irrelevant_rows_of_another_weight():
    X, y = rows(2)
    y[y == 2] = -1
    params = {"C": 3.0, "epsilon": 0.2, "gamma": 0.2, **EXACT}
    unlabelled = UniversumSVC(C_unlabelled=0.6, **params).fit(X, y)
    for cls in (UniversumSVC, TriClassSVC):
        named = cls(irrelevant_label=7, class_weight={7: 0.2}, **params).fit(X, np.where(y == -1, 7, y))
        assert_allclose(named.decision_function(X), unlabelled.decision_function(X), atol=1e-6)


# --- several classes --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("cls", list(METHODS))
def test_several_classes_are_learned_one_against_the_rest(cls, three_classes):
    X, labels = three_classes
    y = labels.astype(object)
    y[20:] = "?"
    model = cls(C=2.0, gamma=0.3, unlabelled_label="?", **EXACT).fit(X, y)
    scores = model.decision_function(X)
    for k, name in enumerate("abc"):
        one = np.select([y == "?", y == name], [-1, 1], 0)
        alone = cls(C=2.0, gamma=0.3, **EXACT).fit(X, one)
        assert_allclose(scores[:, k], alone.decision_function(X), atol=1e-6)
        assert_allclose(model.objectives_[k], alone.objectives_, rtol=1e-8)
    assert_array_equal(model.predict(X), np.array(list("abc"))[scores.argmax(axis=1)])
    assert_array_equal(model.transduction_[20:], model.predict(X)[20:])
    assert_array_equal(model.transduction_[:20], y[:20])
    assert_allclose(model.objective_, sum(each[-1] for each in model.objectives_))


def test_a_row_is_irrelevant_where_that_costs_less_than_the_best_class(three_classes):
    X, y = three_classes
    y = np.where(np.arange(60) < 40, y, "none")
    model = TriClassSVC(epsilon=0.3, gamma=0.3, irrelevant_label="none").fit(X, y)
    for f, said in zip(model.decision_function(X), model.predict(X), strict=True):
        as_none = sum(float(reference.band(u, 0.3)) for u in f)
        as_class = [sum(float(reference.H(u if j == k else -u)) for j, u in enumerate(f)) for k in range(3)]
        assert said == ("none" if as_none < min(as_class) else "abc"[int(np.argmin(as_class))])
    assert set(model.predict(X)) > {"none"}
    assert "none" not in model.predict_relevant(X)


# --- layouts ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("cls", list(METHODS))
def test_layouts_and_precisions_give_the_same_model(cls, problem, layout, dtype):
    X, y = problem
    y = np.where(np.arange(60) < 20, (y > 0).astype(int), -1)
    X = X.astype(dtype)
    plain = cls(gamma=0.3, C_unlabelled=0.02, **EXACT).fit(X.astype(float), y)
    model = cls(gamma=0.3, C_unlabelled=0.02, **EXACT).fit(layout(X), y)
    assert_allclose(model.decision_function(layout(X)), plain.decision_function(X.astype(float)), atol=1e-6)
    assert len(model.support_) < 60
    assert model.support_vectors_.shape == (len(model.support_), 12)


@pytest.mark.parametrize("cls", list(METHODS))
@pytest.mark.parametrize("weighted", [False, True])
def test_a_precomputed_kernel_gives_the_same_model(cls, row_weights, weighted):
    X, y = rows(4, 30, 30)
    y[y == 2] = -1
    weight = row_weights if weighted else None
    plain = cls(gamma=0.3, **EXACT).fit(X, y, sample_weight=weight)
    K = plain.kernel_(X)
    model = cls(kernel="precomputed", **EXACT).fit(K, y, sample_weight=weight)
    assert_array_equal(model.support_, plain.support_)
    assert_allclose(model.decision_function(K), plain.decision_function(X), atol=1e-8)
    assert model.kernel_ is None


@pytest.mark.parametrize("balance", [None, 0.2])
@pytest.mark.parametrize("kernel", ["rbf", "linear"])
def test_a_kernel_matrix_that_does_not_fit_gives_the_same_model(kernel, balance):
    X, y = rows(6)
    y[y == 2] = -1
    params = {"gamma": 0.3, "kernel": kernel, "balance": balance, "tol": 1e-9}
    whole, in_rows = TriClassSVC(**params).fit(X, y), TriClassSVC(cache_size=1e-3, **params).fit(X, y)
    assert_allclose(in_rows.decision_function(X), whole.decision_function(X), atol=1e-4)
    assert_allclose(in_rows.objective_, whole.objective_, rtol=1e-7)
    sparse_rows = TriClassSVC(cache_size=1e-3, **params).fit(sparse.csr_array(X), y)
    assert_allclose(sparse_rows.decision_function(X), whole.decision_function(X), atol=1e-4)


def test_inner_products_that_single_variables_cannot_solve_are_solved_by_pairs(monkeypatch):
    X, y = rows(6)
    whole = UniversumSVC(100.0, 10.0, kernel="linear").fit(X, y)
    asked = []
    monkeypatch.setattr(_descent, "_PASSES", 1)
    monkeypatch.setattr(_descent, "box_qp", lambda K, *a, **k: asked.append(type(K)) or box_qp(K, *a, **k))
    in_rows = UniversumSVC(100.0, 10.0, kernel="linear", cache_size=1e-3).fit(X, y)
    assert set(asked) == {Gram}
    assert in_rows.objective_ == pytest.approx(whole.objective_, rel=1e-3)


def test_a_problem_that_is_left_half_solved_says_so(monkeypatch):
    X, y = rows(6)
    monkeypatch.setattr(_descent, "_STEPS", 3)
    monkeypatch.setattr(_descent, "_STEPS_A_ROW", 0)
    with pytest.warns(
        ConvergenceWarning, match=r"^TriClassSVC: a convex problem was left at a duality gap of .*lower C"
    ):
        TriClassSVC().fit(X, y)


def test_the_same_rows_give_the_same_bits():
    X, y = rows(8)
    y[y == 2] = -1
    a, b = TriClassSVC(gamma=0.2).fit(X, y), TriClassSVC(gamma=0.2).fit(X, y)
    assert a.dual_coef_.tobytes() == b.dual_coef_.tobytes()
    assert a.intercept_.tobytes() == b.intercept_.tobytes()
