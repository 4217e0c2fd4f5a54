"""Proximal plane clustering: steps, stationarity, the objective, starts, files."""

from __future__ import annotations

import itertools
import warnings

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import optimize, sparse
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import adjusted_rand_score
from sklearn.utils.estimator_checks import parametrize_with_checks

from reference import planes as reference
from thresher.cluster import ProximalPlaneClustering
from thresher.cluster._planes import Fit, Planes, filled, spread_planes, steps
from thresher.cluster._planes import PlaneRun as _Run
from thresher.cluster._planes import PlaneStep as _Step
from thresher.persistence import load_model, save_model

WEIGHTS = pytest.mark.parametrize("c", [0.0, 0.01, 0.1])


@parametrize_with_checks([ProximalPlaneClustering(), ProximalPlaneClustering(3, C_others=0.0, n_init=2)])
def test_scikit_learns_contract(estimator, check):
    check(estimator)


def flat(n=180, k=3, d=4, noise=0.1, seed=0):
    """Rows near k planes that cross, a third of the values 0."""
    rng = np.random.default_rng(seed)
    labels = np.arange(n) % k
    normals = np.linalg.qr(rng.normal(size=(d, d)))[0][:k]
    X = rng.normal(size=(n, d)) * 3
    X -= ((X * normals[labels]).sum(axis=1) - labels)[:, None] * normals[labels]
    return X + noise * rng.normal(size=(n, d)), labels


def holey(X, seed=5):
    return X * (np.random.default_rng(seed).random(X.shape) < 0.7)


# --- the steps --------------------------------------------------------------------------------------------------------


@WEIGHTS
def test_every_step_is_that_of_the_specification(layout, dtype, c):
    X = holey(flat()[0]).astype(dtype)
    start = Planes(np.eye(4)[:3], np.array([0.0, 0.5, -1.0]))
    mine = steps(Fit(layout(X.astype(np.float64)), c), start)
    theirs = reference.proximal_planes(X.astype(np.float64), *start, c)
    made = 0
    for step, (normals, offsets, labels, objective) in itertools.islice(zip(mine, theirs, strict=False), 6):
        assert_array_equal(step.labels, labels)
        assert_allclose(step.planes.normals, normals, atol=1e-9)
        assert_allclose(step.planes.offsets, offsets, atol=1e-9)
        assert_allclose(step.objective(c), objective, rtol=1e-9)
        made += 1
    assert made >= 3


@WEIGHTS
def test_planes_are_stationary_and_best(c):
    """(A - s s' / N) w = lambda w with the smallest lambda, which is the value of the sum; b = -s.w / N."""
    X, _ = flat()
    model = ProximalPlaneClustering(3, C_others=c, tol=0, random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # 0.1 cannot be borne
        model.fit(X)
    c = model.C_others_
    for i, (w, b) in enumerate(zip(model.normals_, model.offsets_, strict=True)):
        own = model.labels_ == i
        _, best_b, M = reference.plane(X, own, c)
        assert abs(np.linalg.norm(w) - 1) < 1e-12
        least = np.linalg.eigvalsh(M)[0]
        assert np.abs(M @ w - least * w).max() < 1e-10 * np.abs(M).max()
        assert b == pytest.approx(best_b, abs=1e-10)
        assert reference.value(X, own, c, w, b) == pytest.approx(least, abs=1e-9 * np.abs(M).max())


@WEIGHTS
def test_no_plane_that_a_general_solver_finds_is_better(c):
    X, _ = flat(n=60, k=2, d=3)
    own = np.arange(60) % 2 == 0
    w, b = Fit(X, c).plane(np.flatnonzero(own))

    def at(p):
        length = np.linalg.norm(p[:3])
        return reference.value(X, own, c, p[:3] / length, p[3]) if length > 1e-9 else 1e9

    found = [optimize.minimize(at, np.random.default_rng(s).normal(size=4), method="BFGS").fun for s in range(5)]
    mine = reference.value(X, own, c, w, b)
    assert mine <= min(found) + 1e-9 * abs(mine)
    assert mine == pytest.approx(min(found), rel=1e-4)


@pytest.mark.parametrize("c", [0.0, 0.01, 0.1, 1.0])
def test_the_objective_never_rises(c):
    lengths = []
    for seed in range(12):
        X, _ = flat(seed=seed, noise=0.5)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            model = ProximalPlaneClustering(3, C_others=c, n_init=1, tol=0, random_state=seed).fit(X)
        history = model.objective_history_
        assert (np.diff(history) <= 1e-12 * np.abs(history[1:])).all()
        own = [model.labels_ == i for i in range(3)]
        expected = sum(
            reference.value(X, mine, model.C_others_, w, b)
            for mine, w, b in zip(own, model.normals_, model.offsets_, strict=True)
        )
        assert history[-1] == pytest.approx(expected)
        lengths.append(len(history))
    assert max(lengths) > 5


def test_a_push_that_is_too_strong_has_no_minimum():
    """With N < 0, a plane far away has any value below 0; steps end before that."""
    X, labels = flat()
    own, start = labels == 0, Planes(np.eye(4)[:3], np.zeros(3))
    w, b, _ = reference.plane(X, own, 5.0)
    assert reference.value(X, own, 5.0, w, b + 1e3) < reference.value(X, own, 5.0, w, b) - 1e6
    assert list(steps(Fit(X, 5.0), start)) == []
    sizes = np.bincount(reference.nearest(X, *start))
    edge = 0.5 * (sizes / (180 - sizes)).min()
    assert list(steps(Fit(X, edge * 1.001), start)) == []
    assert next(steps(Fit(X, edge * 0.999), start)).own > 0


def test_a_push_that_is_too_strong_is_halved_until_it_can_be_borne():
    X, _ = flat()
    with pytest.warns(
        ConvergenceWarning, match=r"C_others was lowered from 6.4 to 0\.\d+, because a cluster lost all its"
    ):
        model = ProximalPlaneClustering(3, C_others=6.4, n_init=1, random_state=0).fit(X)
    halvings = np.log2(6.4 / model.C_others_)
    assert halvings == round(halvings) > 3
    start = spread_planes(X - X.mean(axis=0), 3, np.random.default_rng(0))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        same = ProximalPlaneClustering(3, C_others=model.C_others_, n_init=1, random_state=0).fit(X)
    assert_array_equal(same.normals_, model.normals_)
    assert len(list(steps(Fit(X - X.mean(axis=0), 2 * model.C_others_), start))) < 50  # ends: some cluster was lost


def test_runs_are_compared_at_a_push_that_all_could_bear(monkeypatch):
    def a(own, others, c):
        step = _Step(Planes(np.eye(2), np.full(2, 0.5)), np.array([0, 1], dtype=np.int32), own, others)
        return _Run(c, [step])

    runs = iter([a(1.0, 60.0, 0.01), a(0.8, 10.0, 0.001)])  # at 0.01 the first is better, at 0.001 the second
    monkeypatch.setattr("thresher.cluster._proximal_planes.descend", lambda *_: next(runs))
    model = ProximalPlaneClustering(2, n_init=2).fit([[0.0, 1.0], [1.0, 0.0]])
    assert_array_equal(model.objective_history_, [0.8 - 0.001 * 10])
    assert model.C_others_ == 0.001


# --- clusters ---------------------------------------------------------------------------------------------------------


def test_planes_that_cross_are_found(layout):
    X, labels = flat(n=300, noise=0.02)
    model = ProximalPlaneClustering(3, random_state=0).fit(layout(X))
    assert adjusted_rand_score(labels, model.labels_) > 0.9
    assert_array_equal(model.predict(layout(X)), model.labels_)
    expected = np.abs(X @ model.normals_.T + model.offsets_)
    assert_allclose(model.transform(layout(X)), expected, atol=1e-12)
    assert model.inertia_ == pytest.approx(np.sum(expected.min(axis=1) ** 2))
    assert model.score(layout(X)) == pytest.approx(-model.inertia_)
    assert list(model.get_feature_names_out()) == [f"proximalplaneclustering{i}" for i in range(3)]


def test_all_layouts_find_the_same_planes(layout, dtype):
    X = holey(flat()[0]).astype(dtype)
    dense = ProximalPlaneClustering(3, random_state=0).fit(X.astype(np.float64))
    model = ProximalPlaneClustering(3, random_state=0).fit(layout(X))
    assert_allclose(model.normals_, dense.normals_, atol=1e-8)
    assert_allclose(model.offsets_, dense.offsets_, atol=1e-8)


def test_rows_may_lie_far_from_the_origin():
    X, _ = flat()
    near = ProximalPlaneClustering(3, random_state=0).fit(X)
    far = ProximalPlaneClustering(3, random_state=0).fit(X + 1e6)
    assert_allclose(far.inertia_, near.inertia_, rtol=1e-6)
    assert adjusted_rand_score(far.labels_, near.labels_) == 1.0  # in any order: rounding decides between equal starts


def test_others_push_planes_away():
    X, _ = flat()
    pushed, plain = (ProximalPlaneClustering(3, C_others=c, random_state=0).fit(X).transform(X) for c in (0.01, 0.0))
    assert (pushed.sum() - pushed.min(axis=1).sum()) > (plain.sum() - plain.min(axis=1).sum())


def test_the_seed_and_the_number_of_starts_decide():
    X, _ = flat(noise=0.6)
    first, again, other = (ProximalPlaneClustering(3, n_init=1, random_state=s).fit(X) for s in (0, 0, 1))
    assert_array_equal(first.normals_, again.normals_)
    assert not np.array_equal(first.normals_, other.normals_)
    rng = np.random.default_rng(3)
    single = [ProximalPlaneClustering(3, n_init=1, random_state=rng).fit(X).objective_history_[-1] for _ in range(5)]
    best = ProximalPlaneClustering(3, n_init=5, random_state=np.random.default_rng(3)).fit(X)
    assert best.objective_history_[-1] == min(single) < max(single)


def test_starts_lie_along_the_rows_around_them():
    rng = np.random.default_rng(0)
    X = np.vstack([np.column_stack([rng.uniform(-5, 5, 100), np.full(100, y)]) for y in (0.0, 10.0)])
    X += 0.01 * rng.normal(size=X.shape)
    for seed in range(20):
        start = spread_planes(X, 2, np.random.default_rng(seed))
        assert_allclose(np.abs(start.normals[:, 1]), 1.0, atol=1e-2)
        assert_allclose(np.sort(-start.offsets * start.normals[:, 1]), [0, 10], atol=0.1)


def test_a_cluster_without_rows_gets_the_farther_half_of_the_worst():
    labels = np.array([0, 0, 0, 0, 2, 2, 2], dtype=np.int32)
    away = np.array([1.0, 3.0, 2.0, 0.5, 0.1, 0.2, 0.3])
    assert_array_equal(filled(labels, away, 3), [0, 1, 1, 0, 2, 2, 2])
    assert_array_equal(labels, [0, 0, 0, 0, 2, 2, 2])


def test_clusters_that_run_empty_are_filled():
    X, _ = flat()
    start = Planes(np.repeat(np.eye(4)[:1], 3, axis=0), np.array([0.0, 50.0, 60.0]))
    assert len(np.unique(next(steps(Fit(X, 0.0), start)).labels)) == 3
    assert list(steps(Fit(X, 0.01), start)) == []  # the push is to blame


def test_rows_that_are_all_alike_are_one_cluster():
    with pytest.warns(ConvergenceWarning, match=r"only 1 of 2 clusters have rows; fewer planes fit them as well\."):
        model = ProximalPlaneClustering(2, random_state=0).fit(np.ones((5, 2)))
    assert model.inertia_ == pytest.approx(0, abs=1e-20)


# --- the estimator ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"n_clusters": 0}, r"n_clusters must be an integer of at least 1, got 0\."),
        ({"n_clusters": 7}, r"n_clusters must be at most the number of rows \(n_samples=6\), got 7\."),
        ({"C_others": -1.0}, r"C_others must be a number of at least 0, got -1.0\."),
        ({"max_iter": 0}, r"max_iter must be an integer of at least 1, got 0\."),
        ({"tol": None}, r"tol must be a number of at least 0, got None\."),
        ({"n_init": "auto"}, r"n_init must be an integer of at least 1, got 'auto'\."),
    ],
)
def test_bad_parameters_are_refused_and_leave_no_trace(params, message):
    model = ProximalPlaneClustering(**params)
    with pytest.raises(ValueError, match="ProximalPlaneClustering: " + message):
        model.fit(np.eye(6))
    assert not hasattr(model, "n_features_in_")


def test_too_many_features_are_refused_before_their_squares_are_made():
    X = sparse.csr_array((np.ones(3), (np.arange(3), [0, 5, 900_000])), shape=(3, 10**6))
    with pytest.raises(ValueError, match=r"X must have at most 5,000 features, .*, got 1,000,000\."):
        ProximalPlaneClustering(2).fit(X)


def test_columns_keep_their_names():
    frame = pd.DataFrame({"a": [0.0, 1.0, 2.0], "b": [1.0, 0.0, 5.0]})
    model = ProximalPlaneClustering(1).fit(frame)
    with pytest.raises(ValueError, match="feature names"):
        model.predict(frame[["b", "a"]])
    with pytest.raises(ValueError, match="X has 3 features, but ProximalPlaneClustering is expecting 2 features"):
        ProximalPlaneClustering(1).fit(np.eye(2)).predict(np.eye(3))


def test_saved_and_loaded_it_predicts_the_same(tmp_path):
    X, _ = flat()
    model = ProximalPlaneClustering(3, random_state=0).fit(X)
    save_model(model, tmp_path / "m.thresher")
    again = load_model(tmp_path / "m.thresher")
    assert_array_equal(again.predict(X), model.labels_)
    assert again.get_params() == model.get_params()
    assert not hasattr(again, "labels_")


def test_planes_of_huge_rows_are_read_again(tmp_path):
    X = 1e99 * np.random.default_rng(0).uniform(5, 9, size=(40, 30))
    model = ProximalPlaneClustering(1, random_state=0).fit(X)
    save_model(model, tmp_path / "m")
    assert_array_equal(load_model(tmp_path / "m").predict(X), model.labels_)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"normals_": np.ones((3, 4))}, "normals_ must be one direction of length 1 per cluster"),
        ({"normals_": np.eye(4)[:2]}, r"normals_ must be float64 of shape \(3, 4\)"),
        ({"offsets_": np.zeros(2)}, r"offsets_ must be float64 of shape \(3,\)"),
        ({"offsets_": np.array([0.0, np.nan, 1.0])}, r"offsets_ must be float64 of shape \(3,\)"),
        ({"offsets_": np.array([0.0, 1e200, 1.0])}, "offsets_ must be one number up to .* per cluster"),
        ({"n_iter_": 99}, r"objective_history_ must be float64 of shape \(99,\)"),
        ({"C_others_": 0.5}, "C_others_ must be a number from 0 to C_others"),
        ({"C_others_": float("nan")}, "C_others_ must be a number from 0 to C_others"),
        ({"inertia_": -1.0}, "inertia_ must be a number of at least 0"),
        ({"n_features_in_": 9}, r"normals_ must be float64 of shape \(3, 9\)"),
    ],
)
def test_damaged_files_are_refused(tmp_path, change, message):
    model = ProximalPlaneClustering(3, random_state=0).fit(flat()[0])
    vars(model).update(change)
    with pytest.raises(ValueError, match="ProximalPlaneClustering: " + message):
        model._check_loaded()
