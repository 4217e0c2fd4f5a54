"""BiSemiKSC: six conditions, the smaller exact form, the collapse at equal spreads, several classes and outliers."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics.pairwise import rbf_kernel

from reference import semi_spectral as reference
from thresher.persistence import load_model, save_model
from thresher.semi_supervised import BiSemiKSC, SemiKSC, _pair
from thresher.semi_supervised._pair import Pair, direct, in_parts, pair, pair_features
from thresher.semi_supervised._spread import stationary
from unsound import save_unsound

from .test_semi_ksc import rows, signs

UNEQUAL = [(0.9, 0.1), (0.2, 0.999), (0.0, 0.6), (0.6, 0.0), (1e-7, 0.5), (0.5, 0.5 + 1e-9)]
NO_FIRM_BASE = [(1.5, 0.2), (3.0, 0.2), (0.1, 8.0)]


def given(spreads, coupling=2.0, n=40, n_problems=2, seed=0):
    rng = np.random.default_rng(seed)
    K = rbf_kernel(rng.normal(size=(n, 3)), gamma=0.5)
    weight = rng.uniform(0.5, 2, size=n)
    cost = np.where(rng.random(n) < 0.3, rng.uniform(1, 5, size=n), 0.0)
    targets = np.where(cost[:, None] > 0, np.sign(rng.normal(size=(n, n_problems))), 0.0)
    return K, Pair(coupling, spreads, weight / (K @ weight), cost, targets)


# --- the problem ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("g", [(2.0, 10.0, 0.9, 0.5), (1.1, 0.5, 0.05, 0.0), (5.0, 3.0, 2.0, 3.5), (2.0, 3.0, 4.0, 0)])
def test_six_conditions_hold_and_the_corrected_system_agrees(g):
    g1, g2, g3, g4 = g
    X, y = rows(seed=2)
    model = BiSemiKSC(g3, g4, g2, g1, gamma=0.4).fit(X, y)
    K, t = rbf_kernel(X, gamma=0.4), signs(y)
    assert_array_equal(model.support_, np.arange(50))
    coef_2, coef_1 = model.dual_coef_  # f2 is the function of the first class
    for left in reference.kkt(K, t, g, coef_1, coef_2):
        assert_allclose(left, 0.0, atol=1e-10)
    _, _, f1, f2 = reference.bi_semi_ksc(K, t, *g)
    assert_allclose(model.class_scores(X), np.column_stack([f2, f1]), atol=1e-9)
    assert_allclose(model.decision_function(X), f1 - f2, atol=1e-9)
    assert_array_equal(model.predict(X), (f1 > f2).astype(int))
    assert_array_equal(model.intercept_, [0.0, 0.0])


@pytest.mark.parametrize("g", [(2.0, 10.0, 0.9, 0.5), (1.5, 1.0, 0.3, 0.0), (2.0, 0.2, 2.5, 0.3), (3.0, 50.0, 2.2, 0)])
def test_the_primal_in_explicit_features_agrees_and_tells_a_minimum(g):
    g1, g2, g3, g4 = g
    X, y = rows(seed=3)
    model = BiSemiKSC(g3, g4, g2, g1, gamma=0.4).fit(X, y)
    K, t = rbf_kernel(X, gamma=0.4), signs(y)
    phi, V = reference.features(K), 1 / K.sum(axis=1)
    hessian, right = reference.bi_derivatives(phi, t, V, g)
    w1, w2 = phi.T @ model.dual_coef_[1], phi.T @ model.dual_coef_[0]
    assert_allclose(hessian @ np.concatenate([w1, w2]), right, atol=1e-10 * max(1, g2))
    lowest = np.linalg.eigvalsh(hessian).min()
    assert model.is_minimum_ == bool(lowest > 0)
    here, rng = reference.bi_objective(phi, w1, w2, t, V, g), np.random.default_rng(0)
    steps = [size * rng.normal(size=(2, len(w1))) / 7 for size in np.repeat([1e-3, 1e-1, 10.0], 60)]
    lower = [reference.bi_objective(phi, w1 + s, w2 + z, t, V, g) < here - 1e-12 for s, z in steps]
    assert not (model.is_minimum_ and any(lower))
    if (g1 - g3) * (g1 - g4) > 1 and max(g3, g4) < g1:
        assert model.is_minimum_


# --- the smaller exact form -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("spreads", UNEQUAL)
@pytest.mark.parametrize("coupling", [1.999, 2.5, 20.0])
def test_two_factorisations_give_what_the_large_system_gives(spreads, coupling):
    K, problem = given(spreads, coupling)
    small, large = in_parts(K, problem), direct(K, problem)
    for name in ("coef", "scores"):
        assert_allclose(getattr(small, name), getattr(large, name), atol=1e-9)
    assert_array_equal(small.intercept, np.zeros(4))
    assert small.is_minimum
    assert large.is_minimum
    assert 1e-3 < small.rcond <= 1


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize(("spreads", "coupling"), [((1e-300, 0.9), 2.0), ((1e-160, 1e-170), 2.0), ((0.9, 0.5), 1e160)])
def test_parameters_at_the_ends_of_floating_point(spreads, coupling):
    K, problem = given(spreads, coupling)
    small, large = in_parts(K, problem), direct(K, problem)
    assert_allclose(small.scores, large.scores, atol=1e-9 * np.abs(large.scores).max())
    assert small.is_minimum


ENDS = [{"spread": 1e100}, {"coupling": 1e100}, {"coupling": 1e100, "spread": 1e100}, {"spread": 1e-100}]
ENDS.append({"spread": 1e-100, "spread_rest": 1e-99})


@pytest.mark.parametrize("params", ENDS, ids=str)
def test_beyond_the_ends_of_floating_point_it_is_said_that_no_digit_is_left(params):
    X, y = rows()
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        model = BiSemiKSC(**params).fit(X, y)
    assert model.is_minimum_ or all(issubclass(each.category, ConvergenceWarning) for each in said)
    assert model.is_minimum_ != bool(said)
    assert np.isfinite(model.decision_function(X)).all()


@pytest.mark.parametrize("spreads", NO_FIRM_BASE)
def test_where_rows_alone_have_no_minimum_the_large_system_is_solved(spreads):
    K, problem = given(spreads)
    assert in_parts(K, problem) is None
    found = pair(K, problem)
    assert_array_equal(found.coef, direct(K, problem).coef)


def test_a_base_that_is_nearly_singular_is_not_solved_in_parts():
    K, problem = given((1.0, 0.0))
    edge = 2.0 - 1 / 2.0  # (g - g_1) (g - 0) = 1
    assert in_parts(K, problem._replace(spreads=(edge * (1 - 1e-12), 0.0))) is None
    assert in_parts(K, problem._replace(spreads=(edge * (1 - 1e-3), 0.0))) is not None


def test_the_worst_of_its_condition_numbers_is_told():
    K, problem = given((0.9, 0.1))
    nearly = (1.5 * (1 - 1e-6), 0.0)  # a root of 1 + 1e-6 or so
    for light in (1.0, 1e-9):  # labels that count, and some that hardly do, whose own system is easy
        assert in_parts(K, problem._replace(spreads=nearly, cost=light * problem.cost)).rcond < 1e-5
    first, second = np.flatnonzero(problem.cost)[:2]
    K[second], K[:, second] = K[first], K[:, first]  # two labelled rows that are one
    assert in_parts(K, problem._replace(cost=1e14 * problem.cost)).rcond < 1e-12


@pytest.mark.parametrize("spreads", [*UNEQUAL, *NO_FIRM_BASE, (0.7, 0.7), (0.0, 0.0), (1.4, 1.4)])
def test_features_give_what_the_matrix_gives(spreads):
    K, problem = given(spreads)
    by_matrix, by_features = pair(K, problem), pair_features(reference.features(K), problem)
    scale = np.abs(by_matrix.scores).max()
    assert_allclose(by_features.scores, by_matrix.scores, atol=1e-9 * scale)
    assert by_features.is_minimum == by_matrix.is_minimum


# --- equal spreads ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("spread", "C", "coupling"), [(0.9, 10.0, 2), (0.0, 1.0, 1.5), (3.0, 2.0, 6.0), (1.3, 1.0, 2)])
def test_equal_spreads_collapse_to_one_function(spread, C, coupling, monkeypatch):
    """f2 = -f1, which is that of SemiKSC with everything divided by coupling - 1, from one system of one size."""
    X, y = rows(seed=4)
    sizes = []
    monkeypatch.setattr(_pair, "stationary", lambda K, *more: sizes.append(len(K)) or stationary(K, *more))
    model = BiSemiKSC(spread, spread, C, coupling, gamma=0.4, outlier_label=9, probability="none").fit(X, y)
    assert sizes == [50]
    one = SemiKSC(spread / (coupling - 1), C / (coupling - 1), gamma=0.4).fit(X, y)
    scores = model.class_scores(X)
    assert_allclose(scores[:, 1], one.decision_function(X), atol=1e-10)
    assert_array_equal(scores[:, 0], -scores[:, 1])
    assert 9 not in model.predict(X)  # no row is ever an outlier
    K, problem = given((spread, spread), coupling)
    assert_allclose(pair(K, problem).coef, direct(K, problem).coef, atol=1e-9)
    assert pair(K, problem).is_minimum or not direct(K, problem).is_minimum


# --- classes and outliers ---------------------------------------------------------------------------------------------


def test_several_classes_each_have_their_function_against_the_rest(three_classes):
    X, labels = three_classes
    y = np.where(np.arange(60) % 3 == 0, labels, "?")
    params = {"spread": 0.9, "spread_rest": 0.2, "C": 2.0, "gamma": 0.3}
    model = BiSemiKSC(unlabelled_label="?", outlier_label="none", **params).fit(X, y)
    scores = model.class_scores(X)
    assert scores.shape == (60, 3)
    for k, name in enumerate("abc"):
        alone = BiSemiKSC(**params).fit(X, np.select([y == "?", y == name], [-1, 1], 0))
        assert_allclose(scores[:, k], alone.class_scores(X)[:, 1], atol=1e-10)
    assert_array_equal(model.decision_function(X), scores)
    for f, said in zip(scores, model.predict(X), strict=True):
        assert said == ("abc"[int(f.argmax())] if f.max() > 0 else "none")
    model.set_params(outlier_label=None)
    assert_array_equal(model.predict(X), np.array(list("abc"))[scores.argmax(axis=1)])


@pytest.mark.parametrize(
    ("classes", "label", "kind"),
    [([0, 1], 2, "i"), (["a", "b"], "neither", "U"), ([0, 1], "neither", "O"), (["a", "b"], 5, "U")],
)
def test_rows_on_which_no_function_is_above_0_are_outliers(classes, label, kind, tmp_path):
    X, y = rows(seed=5)
    y = np.array([*classes, "-1" if isinstance(classes[0], str) else -1])[y]
    model = BiSemiKSC(0.0, 2.5, 0.1, 1.05, gamma=2.0, outlier_label=label).fit(X, y)
    assert model.reject
    scores, said = model.class_scores(X), model.predict(X)
    assert said.dtype.kind == kind
    expected = str(label) if isinstance(classes[0], str) else label
    for f, one in zip(scores, said.tolist(), strict=True):
        assert one == (expected if f.max() <= 0 else classes[int(f.argmax())])
    assert 0 < np.mean([one == expected for one in said.tolist()]) < 1
    assert expected in model.transduction_.tolist()
    save_model(model, tmp_path / "m")
    assert_array_equal(load_model(tmp_path / "m").predict(X), said)
    model.set_params(outlier_label=None)
    assert not model.reject
    assert set(model.predict(X).tolist()) == set(classes)


def test_rows_so_far_that_kernels_are_0_are_outliers():
    X, y = rows()
    model = BiSemiKSC(gamma="scale", outlier_label=7).fit(X, y)
    assert_array_equal(model.class_scores(X + 1e6), 0.0)
    assert_array_equal(model.predict(X + 1e6), 7)


def test_a_score_of_exactly_0_belongs_to_no_class():
    X, y = rows()
    model = BiSemiKSC(kernel="rbf", gamma=5.0, outlier_label=9).fit(X, y)
    far = np.full((1, 3), 1e6)
    assert_array_equal(model.class_scores(far), [[0.0, 0.0]])
    assert model.predict(far) == 9
    assert model.set_params(outlier_label=None).predict(far) == 0


def test_files_must_not_hold_outliers_as_a_class(tmp_path):
    model = BiSemiKSC().fit(*rows())
    model.outlier_label = 1
    save_unsound(model, tmp_path / "m")
    with pytest.raises(ValueError, match="classes_ must not hold the label of outliers"):
        load_model(tmp_path / "m")


# --- both -------------------------------------------------------------------------------------------------------------

both = pytest.mark.parametrize("cls", [SemiKSC, BiSemiKSC])


@both
@pytest.mark.parametrize("kernel", ["linear", "cosine"])
@pytest.mark.parametrize("n_components", [None, 30])
def test_an_empty_row_is_like_none_and_changes_nothing(cls, kernel, n_components):
    X, y = rows()
    X, empty = np.abs(X), np.array([1, 7, 30])  # of which the first has a label
    y[empty] = 1, -1, -1
    X[empty] = 0.0
    rest = np.delete(np.arange(50), empty)
    model = cls(kernel=kernel).set_params(n_components=n_components, random_state=0).fit(X, y)
    assert_array_equal(model.decision_function(X[empty]), 0.0)
    if n_components is None:
        alone = cls(kernel=kernel).fit(X[rest], y[rest])
        assert_allclose(model.decision_function(X), alone.decision_function(X), atol=1e-10)


def test_an_empty_row_has_no_share_in_the_spread():
    X, y = rows()
    X, empty = np.abs(X), 7
    y[empty], X[empty] = -1, 0.0
    rest = np.arange(50) != empty
    model, alone = (SemiKSC(kernel="linear", fit_intercept=True).fit(X[some], y[some]) for some in (slice(None), rest))
    assert_allclose(model.decision_function(X), alone.decision_function(X), atol=1e-10)


@both
def test_a_sum_of_0_that_is_not_of_zeros_is_refused(cls):
    K = np.kron(np.eye(2), [[1.0, -1.0], [-1.0, 1.0]])
    with pytest.raises(ValueError, match=r"the kernel of a row with all rows must have a sum above 0, got 0;"):
        cls(kernel="precomputed").fit(K, [0, 1, -1, -1])


@both
def test_condition_numbers_that_exceed_1_by_rounding_can_be_saved(cls, tmp_path, monkeypatch):
    found = cls._by_matrix
    monkeypatch.setattr(cls, "_by_matrix", lambda *given: found(*given)._replace(rcond=1.0000000000000002))
    save_model(cls().fit(*rows()), tmp_path / "m")
    assert load_model(tmp_path / "m").rcond_ == 1.0
