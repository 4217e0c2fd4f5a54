"""Machines with many kernels against the primal problem of the thesis, solved by a general convex solver."""

import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.svm import SVC, SVR

from reference.mkl import optimum, unit_trace
from thresher.datasets import make_additive
from thresher.kernels import RBF, Linear, Polynomial
from thresher.mkl import GMKLClassifier, GMKLRegressor, LpMKLClassifier, UniformMKLClassifier, simple_mkl_kernels
from thresher.mkl._gmkl import FREE, PRICES
from thresher.mkl._weight_search import Search
from thresher.persistence import load_model, save_model
from unsound import save_unsound

KERNELS = [
    Linear(),
    RBF(0.5),
    RBF(0.1, features=0),
    Polynomial(2, 1.0, features=1),
    RBF(2.0, features=[1, 2]),
    Linear(features=2),
]
SHARP = {"tol": 1e-7, "standardise": False, "max_svm": 3000}


@pytest.fixture
def rows():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(28, 3))
    y = np.where(X[:, 0] + X[:, 1] ** 2 + 0.7 * rng.normal(size=28) > 0.6, 1.0, -1.0)
    return X, y


def models():
    for v in (0.0, 0.3, 0.8, 1.0):
        for solver in ("auto", "spg", "level"):
            yield pytest.param({"v": v}, GMKLClassifier(KERNELS, v, 30.0, solver=solver), id=f"{v}-{solver}")
    for p in (1, 1.3, 2.0, 4.0):
        yield pytest.param({"p": p}, LpMKLClassifier(KERNELS, p, 30.0), id=f"p-{p}")
    yield pytest.param({}, UniformMKLClassifier(KERNELS, 30.0), id="uniform")


@pytest.mark.filterwarnings("ignore:pnorm")
@pytest.mark.parametrize("weights, model", list(models()))
def test_the_bounds_hold_the_optimum_and_the_machine_is_there(rows, weights, model):
    X, y = rows
    truth = optimum(unit_trace(KERNELS, X), y, np.full(len(y), 30.0), **weights)
    model = model.set_params(**SHARP).fit(X, y)
    lower, upper = model.bounds_[0]
    assert lower - 1e-7 * upper <= truth.value <= upper + 1e-7 * upper
    assert model.gap_ <= 1e-7
    assert_allclose(model.decision_function(X), truth.scores, atol=2e-3)


@pytest.mark.parametrize("v", [0.0, 0.5, 1.0])
@pytest.mark.parametrize("solver", ["spg", "level"])
@pytest.mark.parametrize("max_svm", [1, 2, 3, 5, 9])
def test_the_bounds_hold_the_optimum_wherever_the_search_is_left(rows, v, solver, max_svm):
    X, y = rows
    truth = optimum(unit_trace(KERNELS, X), y, np.full(len(y), 100.0), v=v).value
    model = GMKLClassifier(KERNELS, v, solver=solver, standardise=False, max_svm=max_svm, tol=1e-9)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model.fit(X, y)
    history = model.history_[0]
    assert len(history) == model.n_svm_ <= max_svm
    assert (history[:, 0] <= truth * (1 + 1e-8)).all()
    assert (history[:, 1] >= truth * (1 - 1e-8)).all()
    assert (np.diff(history[:, 0]) >= 0).all()
    assert (np.diff(history[:, 1]) <= 0).all()


@pytest.mark.parametrize("v", [0.5, 1.0])
@pytest.mark.parametrize("solver", ["spg", "level", "auto"])
@pytest.mark.parametrize("cache_size", [0.3, 500])
def test_kernels_that_are_left_out_are_looked_at_again_before_anything_is_claimed(v, solver, cache_size, monkeypatch):
    """Where all but the kernels of large weight are left out, some are missed, and taken back."""
    X, y = make_additive(60, n_features=8, random_state=1)
    widened, near, heavy = [], 0.0, 0.0
    widen, leave_out = Search.widen, Search._leave_out

    def leave_out_more(search, theta, gains):
        with monkeypatch.context() as patch:
            patch.setattr("thresher.mkl._weight_search._NEAR", near)
            leave_out(search, theta * (theta >= heavy * theta.max()), gains)

    monkeypatch.setattr(Search, "widen", lambda search: widened.append(len(search._some)) or widen(search))
    monkeypatch.setattr(Search, "_leave_out", leave_out_more)

    def fitted(tol, solver=solver):
        widened.clear()
        model = GMKLClassifier(v=v, solver=solver, tol=tol, cache_size=cache_size, probability="none").fit(X, y)
        history = model.history_[0]
        assert (np.diff(history[:, 0]) >= 0).all()
        assert (np.diff(history[:, 1]) <= 0).all()
        assert model.gap_ <= tol
        return history

    exact = fitted(1e-5, "auto")
    assert widened == [len(simple_mkl_kernels(X))]
    for choice in ((0.5, 0.0), (1e9, 0.5)):
        near, heavy = choice
        history = fitted(1e-3)
        assert widened[0] < len(simple_mkl_kernels(X)) / 2
        assert history[:, 0].max() <= exact[-1, 1] * (1 + 1e-8)
        assert history[:, 1].min() >= exact[-1, 0] * (1 - 1e-8)
    assert len(widened) > 1


@pytest.mark.parametrize("v", [0.0, 0.5, 1.0])
@pytest.mark.parametrize("epsilon", [0.0, 0.2])
def test_regression_is_the_optimum_of_its_primal(rows, v, epsilon):
    X, _ = rows
    y = 2 + np.sin(2 * X[:, 0]) + 0.1 * X[:, 1]
    truth = optimum(unit_trace(KERNELS, X), y, np.full(len(y), 5.0), epsilon=epsilon, v=v)
    model = GMKLRegressor(KERNELS, v, 5.0, epsilon=epsilon, **SHARP).fit(X, y)
    lower, upper = model.bounds_[0]
    assert lower - 1e-7 * upper <= truth.value <= upper + 1e-7 * upper
    assert_allclose(model.predict(X), truth.scores, atol=3e-3)


def test_one_kernel_is_a_plain_machine(rows):
    X, y = rows
    factor = 1 / np.trace(RBF(0.5)(X))
    plain = SVC(C=30.0 * factor, gamma=0.5, tol=1e-9).fit(X, y)
    for model in (GMKLClassifier([RBF(0.5)], C=30.0, **SHARP), UniformMKLClassifier([RBF(0.5)], 30.0, **SHARP)):
        assert_allclose(model.fit(X, y).decision_function(X), plain.decision_function(X), atol=1e-3)
        assert_array_equal(model.support_, plain.support_[np.argsort(plain.support_)])
    values = SVR(C=30.0 * factor, gamma=0.5, epsilon=0.2, tol=1e-9).fit(X, X[:, 0])
    model = GMKLRegressor([RBF(0.5)], C=30.0, epsilon=0.2, **SHARP).fit(X, X[:, 0])
    assert_allclose(model.predict(X), values.predict(X), atol=1e-3)


@pytest.mark.parametrize("v", [0.0, 0.5, 0.9])
@pytest.mark.parametrize("solver", ["auto", "spg", "level"])
def test_identical_kernels_get_identical_weights(rows, v, solver):
    X, y = rows
    model = GMKLClassifier([*KERNELS, KERNELS[1], KERNELS[1]], v, solver=solver, standardise=False).fit(X, y)
    weights = model.weights_[0]
    assert weights[1] > 0
    assert_allclose(weights[[6, 7]], weights[1], rtol=1e-12)


def test_weights_stand_for_copies_and_a_row_of_weight_0_is_absent(rows):
    X, y = rows
    counts = np.arange(len(y)) % 3
    model = GMKLClassifier(KERNELS, tol=1e-8, max_svm=3000)
    weighed = clone(model).fit(X, y, sample_weight=counts)
    copied = clone(model).fit(np.repeat(X, counts, axis=0), np.repeat(y, counts))
    without = clone(model).fit(X[counts > 0], y[counts > 0], sample_weight=0.25 * counts[counts > 0])
    assert_allclose(weighed.bounds_, copied.bounds_, rtol=1e-7)
    assert_allclose(weighed.decision_function(X), copied.decision_function(X), atol=2e-3)
    assert_allclose(weighed.decision_function(X), without.decision_function(X), atol=2e-3)
    assert (counts[weighed.support_] > 0).all()
    with pytest.raises(ValueError, match=r"^GMKLClassifier: sample_weight must hold a weight above 0"):
        model.fit(X, y, sample_weight=np.zeros(len(y)))


def test_gamma_of_scale_does_not_see_rows_that_are_absent(rows):
    X, y = rows
    wild = np.vstack([X, [[1e3, 1e3, 1e3]]])
    weight = np.append(np.ones(len(y)), 0.0)
    a = GMKLClassifier([RBF()], standardise=False).fit(wild, np.append(y, 1.0), sample_weight=weight)
    b = GMKLClassifier([RBF()], standardise=False).fit(X, y)
    assert a.kernels_ == b.kernels_


def test_class_weights_multiply_the_costs(rows):
    X, y = rows
    costs = np.where(y > 0, 60.0, 30.0)
    truth = optimum(unit_trace(KERNELS, X), y, costs, v=0.5)
    model = GMKLClassifier(KERNELS, C=30.0, class_weight={1.0: 2.0}, **SHARP).fit(X, y)
    assert_allclose(model.bounds_[0], truth.value, rtol=1e-6)


def test_layouts_and_precisions_agree(rows):
    X, y = rows
    X = np.where(np.abs(X) < 0.3, 0.0, X).astype(np.float32).astype(np.float64)
    for standardise in (False, True):
        model = GMKLClassifier(KERNELS, standardise=standardise)
        dense = clone(model).fit(X, y)
        for other in (sparse.csr_array(X), X.astype(np.float32), sparse.csr_matrix(X.astype(np.float32))):
            found = clone(model).fit(other, y)
            assert_allclose(found.bounds_, dense.bounds_, rtol=1e-3)
            assert_allclose(found.decision_function(other), found.decision_function(X), rtol=1e-6, atol=1e-6)


def test_standardising_is_what_it_says(rows):
    X, y = rows
    X = X * [1, 100, 0.01] + [0, 3, -7]
    Z = (X - X.mean(axis=0)) / X.std(axis=0)
    new = X[:5] + 1
    model = GMKLClassifier(KERNELS, tol=1e-8, max_svm=3000).fit(X, y)
    other = GMKLClassifier(KERNELS, **SHARP | {"tol": 1e-8}).fit(Z, y)
    assert_allclose(model.bounds_, other.bounds_, rtol=1e-7)
    assert_allclose(model.decision_function(new), other.decision_function((new - X.mean(0)) / X.std(0)), rtol=1e-3)
    constant = GMKLClassifier(KERNELS).fit(np.column_stack([X, np.full(len(X), 0.1)]), y)
    assert constant.scale_[3] == 1


def test_precomputed_matrices_are_the_same_machine(rows):
    X, y = rows
    model = GMKLClassifier(KERNELS, **SHARP).fit(X[:20], y[:20])
    matrices = np.array([7 * kernel(X[:20]) for kernel in KERNELS])  # their size does not matter
    given = GMKLClassifier("precomputed", **SHARP).fit(matrices, y[:20])
    assert_allclose(given.bounds_, model.bounds_, rtol=2e-7)
    assert_allclose(given.weights_, model.weights_, atol=1e-3)
    test = np.array([7 * kernel(X[20:], X[:20]) for kernel in KERNELS])
    assert_allclose(given.decision_function(test), model.decision_function(X[20:]), atol=1e-3)
    assert given.n_features_in_ == 20
    assert given.kernel_names_.tolist()[:2] == ["kernel 1", "kernel 2"]
    single = GMKLClassifier("precomputed").fit(list(matrices.astype(np.float32)), y[:20])
    assert_allclose(single.bounds_, model.bounds_, rtol=2e-3)


def test_room_for_matrices_changes_nothing_but_time(rows):
    X, y = rows
    half = 8 * 28 * 29 / 2 / 2**20
    whole = GMKLClassifier(KERNELS).fit(X, y)
    for room in (0.1, 2.5):
        found = GMKLClassifier(KERNELS, cache_size=room * half).fit(X, y)
        assert_allclose(found.bounds_, whole.bounds_, rtol=2e-3)
        assert_allclose(found.bounds_[0, 1], whole.bounds_[0, 1], rtol=1e-3)


def test_several_classes_have_their_own_weights(rows):
    X, _ = rows
    y = np.array(["a", "b", "c"])[np.digitize(X[:, 0], [-0.4, 0.5])]
    model = GMKLClassifier(KERNELS).fit(X, y)
    assert model.weights_.shape == (3, 6)
    scores = model.decision_function(X)
    for k, name in enumerate("abc"):
        alone = GMKLClassifier(KERNELS).fit(X, y == name)
        assert_allclose(model.weights_[k], alone.weights_[0], atol=1e-9)
        assert_allclose(scores[:, k], alone.decision_function(X), rtol=1e-6, atol=1e-7)
    assert_array_equal(model.predict(X), np.array(["a", "b", "c"])[scores.argmax(axis=1)])


class Counted(RBF):
    """Says when it is asked."""

    asked = 0

    def _against(self, Z):
        type(self).asked += 1
        return super()._against(Z)


def test_kernels_of_weight_0_and_rows_without_a_coefficient_are_not_looked_at(rows):
    X, y = rows
    X = np.column_stack([X, np.random.default_rng(3).normal(size=(len(y), 1))])
    model = GMKLClassifier([*KERNELS, Counted(50.0, features=3)], v=1.0, C=1.0, standardise=False).fit(X, y)
    assert model.weights_[0, -1] == 0
    before = Counted.asked
    model.decision_function(X)
    assert Counted.asked == before
    assert model.support_vectors_.shape == (len(model.support_), 4)
    assert_array_equal(model.support_vectors_, X[model.support_])


@pytest.mark.parametrize("example", [1, 2])
@pytest.mark.parametrize("seed", range(3))
def test_273_kernels_take_20_machines_to_a_gap_of_a_hundredth_and_40_to_a_thousandth(example, seed):
    X, y = make_additive(example=example, random_state=seed)
    for tol, most in ((1e-2, 20), (1e-3, 40)):
        model = GMKLClassifier(tol=tol, probability="none").fit(X[:150], y[:150])
        assert model.gap_ <= tol
        assert model.n_svm_ <= most
        assert np.count_nonzero(model.weights_) < 60


def test_the_same_rows_give_the_same_bits(rows):
    X, y = rows
    a, b = (GMKLClassifier().fit(X, y) for _ in range(2))
    assert a.weights_.tobytes() == b.weights_.tobytes()
    assert a.dual_coef_.tobytes() == b.dual_coef_.tobytes()


@pytest.mark.parametrize(
    "model", [GMKLClassifier(), GMKLClassifier(KERNELS), GMKLRegressor(KERNELS), LpMKLClassifier(KERNELS, 1.5),
              UniformMKLClassifier(KERNELS)]
)  # fmt: skip
def test_files_hold_the_machine(tmp_path, rows, model):
    X, y = rows
    model.fit(X, y)
    save_model(model, tmp_path / "m.thresher")
    again = load_model(tmp_path / "m.thresher")
    scores = (again.predict(X[:7]), model.predict(X[:7]))
    assert_array_equal(*scores)
    assert again.weights_.tobytes() == model.weights_.tobytes()
    assert list(again.kernel_names_) == list(model.kernel_names_)
    assert_allclose(again.gap_, model.gap_)


def test_files_hold_a_machine_of_precomputed_kernels(tmp_path, rows):
    X, y = rows
    matrices = np.array([kernel(X) for kernel in KERNELS])
    model = GMKLClassifier("precomputed").fit(matrices, y)
    save_model(model, tmp_path / "m.thresher")
    assert_array_equal(load_model(tmp_path / "m.thresher").predict(matrices), model.predict(matrices))


@pytest.mark.parametrize(
    "name, value",
    [
        ("weights_", -np.ones((1, 6))),
        ("weights_", np.ones((1, 5))),
        ("weights_", np.full((1, 6), np.nan)),
        ("factors_", np.ones(5)),
        ("factors_", -np.ones(6)),
        ("kernels_", None),
        ("kernels_", [RBF(0.5)] * 5),
        ("kernels_", [RBF()] * 6),
        ("kernels_", [RBF(0.5, features=9)] * 6),
        ("kernel_names_", np.array(["a"] * 5, dtype=object)),
        ("intercept_", np.zeros(2)),
        ("bounds_", np.zeros((1, 3))),
        ("dual_coef_", np.zeros((1, 1))),
        ("support_", np.array([3, 2, 1])),
        ("support_", np.array([-1, 2, 4])),
        ("scale_", np.zeros(3)),
        ("mean_", None),
        ("n_svm_", 0),
        ("classes_", np.array([1.0])),
        ("_support_rows", {"rows": np.zeros((2, 2))}),
    ],
)
def test_files_whose_parts_do_not_belong_together_are_refused(tmp_path, rows, name, value):
    X, y = rows
    model = GMKLClassifier(KERNELS).fit(X, y)
    setattr(model, name, value)
    save_unsound(model, tmp_path / "m.thresher")
    with pytest.raises(ValueError, match=r"^m.thresher: "):
        load_model(tmp_path / "m.thresher")


def test_names_are_those_of_the_columns(rows):
    import pandas as pd

    X, y = rows
    frame = pd.DataFrame(X, columns=["width", "height", "age"])
    model = GMKLClassifier([RBF(0.5, features="age"), Linear()]).fit(frame, y)
    assert model.kernel_names_.tolist() == ["rbf(gamma=0.5) on age", "linear"]
    assert model.kernels_[0].features == (2,)
    assert_array_equal(model.feature_names_in_, frame.columns)
    with pytest.raises(ValueError, match="feature names"):
        model.predict(frame[["age", "width", "height"]])
    assert GMKLClassifier([RBF(0.5, features=2)]).fit(X, y).kernel_names_.tolist() == ["rbf(gamma=0.5) on x3"]


@pytest.mark.parametrize(
    "given, said",
    [
        ({"v": 1.5}, "v must be a number between 0 and 1, got 1.5."),
        ({"kernels": "rbf"}, "kernels must be None, \"precomputed\" or a list of kernels, got 'rbf'."),
        ({"kernels": []}, 'kernels must be None, "precomputed" or a list of kernels, got [].'),
        ({"C": 0}, "C must be a number above 0, got 0."),
        ({"solver": "newton"}, "solver must be one of 'auto', 'spg', 'level', got 'newton'."),
        ({"tol": 0}, "tol must be a number above 0, got 0."),
        ({"max_svm": 0}, "max_svm must be an integer of at least 1, got 0."),
    ],
)
def test_parameters_are_refused_in_one_sentence(rows, given, said):
    with pytest.raises(ValueError) as refusal:
        GMKLClassifier(**given).fit(*rows)
    assert str(refusal.value) == f"GMKLClassifier: {said}"


def test_the_power_is_refused_where_it_cannot_be_computed(rows):
    for p in (0.5, 1.0001, 1e4):
        with pytest.raises(ValueError, match=r"^LpMKLClassifier: p must be 1 or a number from 1.001 to 1000, got"):
            LpMKLClassifier(p=p).fit(*rows)


@pytest.mark.parametrize(
    "matrices, said",
    [
        (np.zeros((3, 4)), "an array of shape"),
        (np.zeros((2, 28, 27)), "square matrices in fit"),
        (np.random.default_rng(0).normal(size=(2, 28, 28)), "symmetric in fit, but kernel 0"),
        (-np.stack([np.eye(28)] * 2), "diagonals of at least 0, but kernel 0"),
        (np.full((2, 28, 28), np.nan), "finite numbers"),
        ([np.eye(3), np.eye(4)], "of one shape"),
    ],
)
def test_matrices_are_refused_in_one_sentence(rows, matrices, said):
    with pytest.raises(ValueError, match=rf"^GMKLClassifier: precomputed kernels must .*{said}"):
        GMKLClassifier("precomputed").fit(matrices, rows[1])


def test_new_matrices_must_be_as_wide_as_those_of_fit(rows):
    model = GMKLClassifier("precomputed").fit(np.stack([np.eye(28), np.ones((28, 28))]), rows[1])
    with pytest.raises(ValueError, match=r"must be of shape \(2, n_rows, 28\), as in fit, got \(2, 5, 27\)"):
        model.predict(np.zeros((2, 5, 27)))


def test_a_refused_fit_leaves_the_model_as_it_was(rows):
    X, y = rows
    model = GMKLClassifier(KERNELS).fit(X, y)
    before = model.decision_function(X)
    with pytest.raises(ValueError):
        model.fit(X, np.full(len(y), 1.0))
    with pytest.raises(ValueError):
        model.set_params(kernels=[RBF(1.0, features=8)]).fit(X[:, :2], y)
    assert_array_equal(model.set_params(kernels=KERNELS).decision_function(X), before)


def test_a_search_that_is_cut_short_says_so(rows):
    with pytest.warns(ConvergenceWarning, match=r"^GMKLClassifier: the bounds are .* apart after 2 machines"):
        GMKLClassifier(KERNELS, max_svm=2).fit(*rows)


def test_values_that_are_all_alike_need_no_kernel(rows):
    model = GMKLRegressor(KERNELS).fit(rows[0], np.full(28, 3.0))
    assert_allclose(model.predict(rows[0]), 3.0, atol=0.1001)
    assert model.gap_ <= 1e-3


# --- values in units of their own -----------------------------------------------------------------------------------


def waves(n=90):
    rng = np.random.default_rng(0)
    X = rng.uniform(-2, 2, size=(n, 3))
    return X, np.sin(2 * X[:, 1]) + 0.1 * rng.normal(size=n)


def test_an_automatic_price_leaves_out_curved_kernels_that_fit_the_noise():
    """Linear relations with hardly more rows than features; a curved one of few features keeps all kernels."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((120, 25))
    y = X @ rng.standard_normal(25) + 0.1 * rng.standard_normal(120)
    model = GMKLRegressor().fit(X[:40], y[:40])
    assert len(model.kernels_) == 26
    assert all(name.startswith("linear") for name in model.kernel_names_)
    assert model.score(X[40:], y[40:]) > GMKLRegressor(C=model.C_).fit(X[:40], y[:40]).score(X[40:], y[40:]) + 0.1
    curved = GMKLRegressor().fit(X[:, :3], np.sin(2 * X[:, 0]))
    assert len(curved.kernels_) == 13 * 4
    refitted = model.fit(X[:, :3], np.sin(2 * X[:, 0]))
    assert_array_equal(refitted.predict(X[:, :3]), curved.predict(X[:, :3]))


def test_an_automatic_price_is_the_one_that_predicts_rows_held_back_best():
    X, y = waves()
    model = GMKLRegressor(KERNELS).fit(X, y)
    assert_allclose(model.epsilon_, FREE * y.std())
    held = np.arange(90) % 3 == 0
    errors = []
    for relative in PRICES:
        part = GMKLRegressor(KERNELS, C=relative * y.std() * 60, epsilon=model.epsilon_).fit(X[~held], y[~held])
        errors.append(np.mean((part.predict(X[held]) - y[held]) ** 2))
    assert_allclose(model.C_, PRICES[np.argmin(errors)] * y.std() * 90)
    same = GMKLRegressor(KERNELS, C=model.C_, epsilon=model.epsilon_).fit(X, y)
    assert_allclose(same.predict(X), model.predict(X))


def test_the_units_of_values_do_not_matter():
    X, y = waves()
    one, other = GMKLRegressor(KERNELS).fit(X, y), GMKLRegressor(KERNELS).fit(X, 1024 * y + 50_000)
    assert one.score(X, y) > 0.9
    assert_allclose(other.predict(X), 1024 * one.predict(X) + 50_000, rtol=1e-4)


def test_frames_and_matrices_choose_the_same_price():
    X, y = waves()
    names = ["a", "b", "c"]
    kernels = [RBF(0.5, features="b"), Linear(features=["a", "c"])]
    frame = GMKLRegressor(kernels, standardise=False).fit(pd.DataFrame(X, columns=names), y)
    assert frame.C_ == GMKLRegressor(kernels, standardise=False).fit(pl.DataFrame(X, schema=names), y).C_
    matrices = np.stack([np.exp(-0.5 * (X[:, [1]] - X[:, 1]) ** 2), X[:, [0, 2]] @ X[:, [0, 2]].T])
    assert_allclose(GMKLRegressor("precomputed").fit(matrices, y).C_, frame.C_)


def test_few_rows_take_the_price_in_the_middle():
    X, y = waves(8)
    assert_allclose(GMKLRegressor(KERNELS).fit(X, y).C_, PRICES[2] * y.std() * 8)


def test_values_of_any_size_give_the_same_machine(rows):
    X, _ = rows
    y = np.sin(3 * X[:, 0])
    one = GMKLRegressor(KERNELS, C=50.0, epsilon=0.01).fit(X, y)
    unit = 2.0**325  # 7e97, whose fourth power leaves floating point
    huge = GMKLRegressor(KERNELS, C=50.0 * unit, epsilon=0.01 * unit).fit(X, y * unit)
    assert_array_equal(huge.weights_, one.weights_)
    assert_array_equal(huge.predict(X), one.predict(X) * unit)
    assert_array_equal(huge.bounds_, one.bounds_ * unit**2)
    one, huge = (GMKLRegressor(KERNELS).fit(X, values) for values in (y, y * unit))
    assert one.C_ * unit == huge.C_
    assert_array_equal(huge.predict(X), one.predict(X) * unit)


def test_a_search_that_would_take_minutes_ends(rows, monkeypatch):
    """No error is free, and values that a kernel fits exactly: pairs of coefficients move for millions of steps."""
    monkeypatch.setattr("thresher.mkl._weight_search._MOVES", 50)
    X, _ = rows
    model = GMKLRegressor(KERNELS, C=1e50, epsilon=1e-99, tol=1e-12)
    with pytest.warns(ConvergenceWarning, match=r"machines, more than tol=1e-12; lower C, or raise tol\."):
        model.fit(X, X[:, 0])
    lower, upper = model.bounds_[0]
    assert lower < upper < np.inf
