"""The fixed-size map: identities, landmarks, entropy, files."""

from __future__ import annotations

import copy
import inspect

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.kernel_approximation import Nystroem
from sklearn.metrics.pairwise import pairwise_kernels
from sklearn.utils.estimator_checks import parametrize_with_checks

from thresher._kernels import _fixed_size
from thresher._kernels import _kept_rows as _kept
from thresher.kernels import RBF, FixedSizeNystroem, Linear, Polynomial, WeightedSum

KERNELS = ["rbf", "polynomial", "linear", "cosine"]


@parametrize_with_checks(
    [FixedSizeNystroem(kernel) for kernel in KERNELS]
    + [FixedSizeNystroem(selection="random", n_components=3), FixedSizeNystroem(selection="kmeans", n_candidates=9)]
    + [FixedSizeNystroem(WeightedSum([RBF(), Linear(features=0)]))]
)
def test_scikit_learns_contract(estimator, check):
    check(estimator)


def kernel_matrix(model, X, Z=None):
    """By scikit-learn."""
    options = {"rbf": {"gamma": model.gamma_}, "linear": {}, "cosine": {}}
    options["polynomial"] = {"gamma": model.gamma_, "degree": model.degree, "coef0": model.coef0}
    return pairwise_kernels(X, Z, metric=model.kernel, **options[model.kernel])


@pytest.mark.parametrize("kernel", KERNELS)
def test_with_all_rows_as_landmarks_the_map_reproduces_the_kernel(problem, layout, kernel):
    X, _ = problem
    model = FixedSizeNystroem(kernel, n_components=len(X), random_state=0).fit(layout(X))
    features = model.transform(layout(X))
    assert_allclose(features @ features.T, kernel_matrix(model, X), atol=1e-8)
    assert sorted(model.component_indices_) == list(range(len(X)))


@pytest.mark.parametrize("kernel", KERNELS)
def test_the_map_is_the_one_of_the_specification(problem, layout, dtype, kernel):
    X = problem[0].astype(dtype)
    model = FixedSizeNystroem(kernel, n_components=9, random_state=1).fit(layout(X))
    X = X.astype(np.float64)
    S = X[model.component_indices_]
    values, vectors = np.linalg.eigh(kernel_matrix(model, S))
    kept = values > 1e-12 * values.max()
    expected = kernel_matrix(model, X, S) @ vectors[:, kept] / np.sqrt(values[kept])
    features = model.transform(layout(X.astype(dtype)))
    assert_allclose(features @ features.T, expected @ expected.T, atol=1e-9)
    assert features.shape == (len(X), kept.sum())
    assert_allclose(np.abs(features), np.abs(expected[:, ::-1]), atol=1e-7)


@pytest.mark.parametrize("kernel", KERNELS)
def test_it_approximates_the_kernel_as_scikit_learn_does_with_the_same_landmarks(kernel):
    X = np.random.default_rng(5).normal(size=(80, 12))
    peer = Nystroem(kernel, gamma=0.05, degree=3, coef0=1, n_components=10, random_state=0)
    if kernel in ("linear", "cosine"):
        peer.set_params(gamma=None, degree=None, coef0=None)
    features = peer.fit_transform(X)
    model = FixedSizeNystroem(kernel, gamma=0.05, n_components=10).fit(peer.components_)  # all of them
    mine = model.transform(X)
    assert_allclose(mine @ mine.T, features @ features.T, rtol=1e-8, atol=1e-8)


def test_landmarks_are_rows_of_the_data(problem, layout):
    X, _ = problem
    model = FixedSizeNystroem(n_components=20, random_state=3).fit(layout(X))
    rows = model.components_
    assert_array_equal(rows.toarray() if sparse.issparse(rows) else rows, X[model.component_indices_])
    assert len(set(model.component_indices_)) == 20


def test_many_sparse_landmarks_stay_sparse_and_map_the_same(problem, monkeypatch):
    X, _ = problem
    dense = FixedSizeNystroem(n_components=9, random_state=1).fit(sparse.csr_array(X))
    monkeypatch.setattr(_kept, "_FEW", 10)
    model = FixedSizeNystroem(n_components=9, random_state=1).fit(sparse.csr_array(X))
    assert isinstance(dense.components_, np.ndarray)
    assert isinstance(model.components_, sparse.csr_array)
    assert_allclose(model.transform(X), dense.transform(X), atol=1e-10)
    assert_allclose(model.transform(sparse.csr_array(X)), dense.transform(X), atol=1e-10)


def test_blocks_of_rows_leave_no_trace(problem, layout, monkeypatch):
    X, _ = problem
    model = FixedSizeNystroem(n_components=9, random_state=1).fit(X)
    whole = model.transform(layout(X))
    monkeypatch.setattr(_fixed_size, "_BLOCK", 84)  # seven rows or nine at a time
    assert_allclose(model.transform(layout(X)), whole, atol=1e-12)


@pytest.mark.parametrize(
    ("n_components", "n_rows", "expected"),
    [
        *[("sqrt", 100, 10), ("sqrt", 101, 11), (1.0, 101, 11), (0.07, 10000, 7), (0.1, 901, 4), (2.0, 100, 20)],
        *[(1, 100, 1), (7, 100, 7), (500, 100, 100), (50.0, 100, 100), (np.int64(7), 100, 7), (0.2, 1, 1)],
    ],
)
def test_the_number_of_landmarks(n_components, n_rows, expected):
    X = np.random.default_rng(0).normal(size=(n_rows, 3))
    model = FixedSizeNystroem(n_components=n_components, random_state=0).fit(X)
    assert len(model.component_indices_) == expected


def test_rows_that_repeat_add_no_directions():
    X = np.repeat(np.random.default_rng(0).normal(size=(4, 3)), 5, axis=0)
    model = FixedSizeNystroem(gamma=1.0, n_components=20).fit(X)
    assert model.transform(X).shape == (20, 4)
    assert_allclose(model.transform(X) @ model.transform(X).T, RBF(1.0)(X), atol=1e-8)
    assert list(model.get_feature_names_out()) == [f"fixedsizenystroem{i}" for i in range(4)]


# --- kernels as objects -----------------------------------------------------------------------------------------------


def test_a_kernel_as_an_object_has_its_own_parameters(problem, layout):
    X, _ = problem
    kernel = WeightedSum([RBF(0.3, features=[0, 1]), Polynomial(2, 0.5)], [0.5, 2.0])
    model = FixedSizeNystroem(kernel, gamma=9.0, n_components=len(X), random_state=0).fit(layout(X))
    features = model.transform(layout(X))
    assert_allclose(features @ features.T, kernel(X), atol=1e-7)
    assert model.kernel_ == kernel
    assert model.gamma_ is None


def test_names_and_widths_of_a_kernel_are_settled(problem):
    X, _ = problem
    frame = pd.DataFrame(X, columns=[f"c{j}" for j in range(X.shape[1])])
    model = FixedSizeNystroem(RBF(features=["c3", "c1"]), random_state=0).fit(frame)
    assert model.kernel_ == RBF(1 / (2 * X[:, [1, 3]].var()), features=[3, 1])
    assert model.gamma_ == model.kernel_.gamma
    streamed = FixedSizeNystroem(RBF(1.0, features=["c3", "c1"]), random_state=0).partial_fit(frame)
    assert streamed.kernel_.features == (3, 1)


def test_kernels_with_a_width_are_worth_tuning():
    assert [name for name in KERNELS if FixedSizeNystroem(name)._search_space] == ["rbf", "polynomial"]
    assert FixedSizeNystroem(RBF())._search_space == {}


# --- what is refused --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("params", "message"),
    [
        (
            {"kernel": "poly"},
            r"kernel must be one of 'rbf', 'polynomial', 'linear', 'cosine' or a kernel of .*, got 'poly'\.",
        ),
        ({"gamma": -1.0}, r'gamma must be "scale", "neighbors" or a number above 0, got -1.0\.'),
        ({"n_components": 0}, r'n_components must be "sqrt", an integer of at least 1 or a float above 0, got 0\.'),
        ({"n_components": "all"}, r"n_components must be"),
        ({"selection": "leverage"}, r"selection must be one of 'entropy', 'random', 'kmeans', got 'leverage'\."),
        ({"n_candidates": 0}, r"n_candidates must be None or an integer of at least 1, got 0\."),
        ({"random_state": "x"}, r"random_state must be"),
    ],
)
def test_bad_parameters_are_refused_and_leave_no_trace(problem, params, message):
    model = FixedSizeNystroem(**params)
    for learn in (model.fit, model.partial_fit):
        with pytest.raises(ValueError, match="FixedSizeNystroem: " + message):
            learn(problem[0])
    assert not hasattr(model, "n_features_in_")


def test_a_refused_fit_leaves_the_old_one():
    X = np.eye(4)
    model = FixedSizeNystroem("linear", random_state=0).fit(X)
    before = model.transform(X)
    with pytest.raises(ValueError, match="the kernel must not be 0 on all landmarks"):
        model.fit(np.zeros((3, 2)))
    assert_array_equal(model.transform(X), before)


def test_rows_beyond_floating_point_are_refused():
    model = FixedSizeNystroem("linear", random_state=0).fit(1e-90 * np.eye(3))
    model._root = 1e215 * model._root
    with pytest.raises(ValueError, match="FixedSizeNystroem: X is so much larger than the landmarks"):
        model.transform(np.full((2, 3), 1e99))


def test_columns_keep_their_names_and_places():
    frame = pd.DataFrame({"a": [0.0, 1.0, 2.0], "b": [1.0, 0.0, 5.0]})
    model = FixedSizeNystroem().fit(frame)
    assert list(model.feature_names_in_) == ["a", "b"]
    with pytest.raises(ValueError, match="feature names"):
        model.transform(frame[["b", "a"]])
    with pytest.raises(ValueError, match="column 'b'"):
        model.transform(frame.assign(b=np.nan))


# --- model files ------------------------------------------------------------------------------------------------------


def reloaded(model, **changes):
    """A model with only what a file keeps, some of it changed."""
    again = FixedSizeNystroem(**model.get_params())
    for name in model._fitted:
        if hasattr(model, name):
            setattr(again, name, copy.deepcopy(changes.get(name, getattr(model, name))))
    return again


@pytest.mark.parametrize("few", [1 << 20, 10], ids=["dense landmarks", "sparse landmarks"])
def test_a_file_keeps_all_that_is_needed(problem, few, monkeypatch):
    monkeypatch.setattr(_kept, "_FEW", few)
    X = sparse.csr_array(problem[0])
    model = FixedSizeNystroem(random_state=0).fit(X)
    again = reloaded(model)
    again._check_loaded()
    assert_array_equal(again.transform(X), model.transform(X))
    assert_array_equal(again.get_feature_names_out(), model.get_feature_names_out())


def with_nan(array):
    array = array.copy()
    array.flat[0] = np.nan
    return array


FORGERIES = {
    "width": ("n_features_in_", lambda v: 2),
    "width of no type": ("n_features_in_", lambda v: float(v)),
    "rows seen": ("n_rows_seen_", lambda v: 3),
    "no rows seen": ("n_rows_seen_", lambda v: 0),
    "rows seen of text": ("n_rows_seen_", lambda v: "x"),
    "one limit": ("_limits", lambda v: v[:1]),
    "limit of 0": ("_limits", lambda v: [0, v[1]]),
    "more landmarks": ("_limits", lambda v: [v[0] + 1, v[1]]),
    "fewer candidates": ("_limits", lambda v: [v[0], v[1] - 1]),
    "limits of text": ("_limits", lambda v: "ab"),
    "another seed": ("_seed", lambda v: v // 2),
    "negative seed": ("_seed", lambda v: -1),
    "seed of no type": ("_seed", lambda v: 0.5),
    "index twice": ("_indices", lambda v: np.zeros_like(v)),
    "negative index": ("_indices", lambda v: v - 1000),
    "index beyond": ("_indices", lambda v: v + 1000),
    "indices turned round": ("_indices", lambda v: v[::-1].copy()),
    "fewer indices": ("_indices", lambda v: v[1:]),
    "no indices": ("_indices", lambda v: v[:0]),
    "indices of floats": ("_indices", lambda v: v.astype(float)),
    "landmark twice": ("_chosen", lambda v: np.zeros_like(v)),
    "negative landmark": ("_chosen", lambda v: v - 1),
    "landmark beyond": ("_chosen", lambda v: v + 100),
    "fewer landmarks": ("_chosen", lambda v: v[1:]),
    "landmarks of floats": ("_chosen", lambda v: v.astype(float)),
    "narrow root": ("_root", lambda v: v[:, :0]),
    "wide root": ("_root", lambda v: np.hstack([v, v])),
    "short root": ("_root", lambda v: v[1:]),
    "root with NaN": ("_root", with_nan),
    "root of text": ("_root", lambda v: "x"),
    "kernel of text": ("_settled_kernel", lambda v: "rbf"),
    "kernel without a number": ("_settled_kernel", lambda v: RBF()),
    "kernel of a name": ("_settled_kernel", lambda v: RBF(1.0, features="a")),
    "kernel of another width": ("_settled_kernel", lambda v: WeightedSum([RBF(1.0, features=12)])),
    "candidates of no kind": ("_candidates", lambda v: [1]),
    "nameless candidates": ("_candidates", lambda v: {}),
}
SPARSE_FORGERIES = {
    "fewer starts": ("_candidates", lambda v: v | {"indptr": v["indptr"][1:]}),
    "starts that fall": ("_candidates", lambda v: v | {"indptr": np.r_[v["indptr"][:1], 9, v["indptr"][2:] * 0 + 3]}),
    "starts beyond the data": (
        "_candidates",
        lambda v: v | {"indptr": v["indptr"] + np.eye(len(v["indptr"]), dtype=int)[-1]},
    ),
    "column too large": ("_candidates", lambda v: v | {"indices": v["indices"] + 100}),
    "negative column": ("_candidates", lambda v: v | {"indices": v["indices"] - 100}),
    "columns out of order": ("_candidates", lambda v: v | {"indices": v["indices"][::-1].copy()}),
    "fewer columns": ("_candidates", lambda v: v | {"indices": v["indices"][1:]}),
    "data with NaN": ("_candidates", lambda v: v | {"data": with_nan(v["data"])}),
    "data beyond the gate": ("_candidates", lambda v: v | {"data": 1e200 * v["data"]}),
    "data of integers": ("_candidates", lambda v: v | {"data": v["data"].astype(int)}),
}
DENSE_FORGERIES = {
    "fewer rows": ("_candidates", lambda v: {"rows": v["rows"][1:]}),
    "rows with NaN": ("_candidates", lambda v: {"rows": with_nan(v["rows"])}),
    "rows beyond the gate": ("_candidates", lambda v: {"rows": 1e200 * v["rows"]}),
    "rows of text": ("_candidates", lambda v: {"rows": v["rows"].astype(str)}),
}


@pytest.mark.parametrize(
    ("few", "forgery"),
    [(1 << 20, f) for f in (FORGERIES | DENSE_FORGERIES).values()]
    + [(10, f) for f in (FORGERIES | SPARSE_FORGERIES).values()],
    ids=["dense " + f for f in FORGERIES | DENSE_FORGERIES] + ["sparse " + f for f in FORGERIES | SPARSE_FORGERIES],
)
def test_attributes_that_do_not_belong_together_are_refused(problem, monkeypatch, few, forgery):
    monkeypatch.setattr(_kept, "_FEW", few)
    model = FixedSizeNystroem(random_state=0).fit(sparse.csr_array(problem[0]))
    name, change = forgery
    with pytest.raises(ValueError, match=r"FixedSizeNystroem: |RBF: "):
        reloaded(model, **{name: change(getattr(model, name))})._check_loaded()


def test_every_constructor_parameter_has_a_rule():
    assert set(FixedSizeNystroem._param_rules) == set(inspect.signature(FixedSizeNystroem).parameters)


def test_the_fixed_size_form_of_kernel_machines_has_the_same_landmarks_and_kernel():
    rows = np.random.default_rng(0).normal(size=(200, 3))
    map_ = FixedSizeNystroem(gamma=0.3, n_components=1.5, random_state=4).fit(rows)
    fixed = _fixed_size.fixed_size(map_.kernel_, rows, 1.5, map_._seed, "Any")
    assert_array_equal(fixed.places, np.sort(map_.component_indices_))
    features = map_.transform(rows)
    assert_allclose(fixed.features @ fixed.features.T, features @ features.T, atol=1e-10)
    weights = np.random.default_rng(1).normal(size=(2, fixed.features.shape[1]))
    scores = map_.kernel_(rows, rows[fixed.places]) @ fixed.coef(weights).T
    assert_allclose(scores, fixed.features @ weights.T, atol=1e-8)
