"""What attacks have found: fits that broke a rule once, and must not again."""

from __future__ import annotations

import re
import sys
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

sys.path.insert(0, str(Path(__file__).parent))
from fits import ESTIMATORS, attempt

from thresher import inspection, solvers
from thresher._ensembles import ModelSumClassifier, ModelSumRegressor
from thresher.cli import main
from thresher.exporting import export
from thresher.kernels import LeastSquaresClassifier
from thresher.persistence import load_model, save_model
from thresher.preprocessing import ColumnSplines

CLASSES = {cls.__name__: cls for _, cls in ESTIMATORS}
FOUND: list[tuple[str, dict[str, Any], float]] = [
    ("FGMClassifier", {}, 1e99),
    ("FGMClassifier", {"loss": "squared_hinge"}, 1e99),
    ("SOFSClassifier", {"r": "auto"}, 1e99),
    ("SOFSClassifier", {"r": 1.0}, 1e80),
    ("SBCWClassifier", {"ranking": "full", "n_features_to_select": 5, "n_groups": 2}, 1e50),
    ("ASCWClassifier", {"ranking": "full", "n_features_to_select": 5, "n_groups": 2}, 1e50),
    ("LSSNDClassifier", {"nu": None}, 1.0),
    ("LSSNDClassifier", {"nu": "x"}, 1.0),
    ("LSSVC", {"cache_size": 2**62}, 1.0),
    ("S3VC", {"cache_size": 2**62}, 1.0),
    ("LapSVC", {"cache_size": 1e99}, 1.0),
    ("SNDClassifier", {"cache_size": 1e99}, 1.0),
    ("UniversumSVC", {"cache_size": 2**62, "tol": 0.0}, 1.0),
    ("SharedRDAClassifier", {"loss": "logistic", "tol": 1e8, "max_iter": 3}, 1e99),
    ("PoolCWClassifier", {"threshold": "cost", "cost": "adaptive", "n_features_to_select": 2}, 1.0),
    ("BCWClassifier", {"C": 10**400}, 1.0),
    ("FGMClassifier", {"C": 10**400}, 1.0),
    ("GMKLClassifier", {"C": 1e101}, 1.0),
    ("SparseSDCAClassifier", {"alpha": 1e-99}, 1.0),
    ("SparseSDCAClassifier", {"alpha": 1e-320}, 1.0),
    ("ReweightedL1RDARegressor", {"smoothing": 1e-320, "eta0": 7, "alpha": 0.1}, 1.0),
    ("SparseKMeans", {"alpha": np.float32(0.1)}, 1.0),
    ("SparseKMeans", {}, 1e-99),
    ("ReweightedL1RDAClassifier", {"eta0": 1e99}, 1e50),
    ("LapSVC", {"alpha": 1e-99, "alpha_graph": 1e99}, 1.0),
    ("LeastSquaresRegressor", {}, 1e-150),
    ("LeastSquaresRegressor", {}, 1e99),
    ("LeastSquaresRegressor", {"alpha": 1e99}, 1e-99),
    ("LeastSquaresClassifier", {"threshold": 0.0}, 1e-150),
    ("BiSemiKSC", {"outlier_label": 1e50}, 1.0),
    ("UniversumSVC", {"irrelevant_label": 1e50}, 1.0),
    ("KernelSpectralClustering", {"n_components": 1e-99}, 1.0),
    ("LapSVC", {"n_components": 1e-12}, 1.0),
    ("PoolCWClassifier", {"n_steps": 3}, 1.0),
    ("ASCWClassifier", {"n_steps": 3, "n_features_to_select": 1}, 1.0),
    ("PoolCWClassifier", {"pool": 1e12}, 1.0),
    ("PoolCWClassifier", {"pool": 1e99}, 1.0),
    ("SNDClassifier", {"nu": 1e-50}, 1.0),
    ("SNDClassifier", {"nu": 1e-320}, 1.0),
    ("LSSNDClassifier", {"C": 1e-320}, 1.0),
    ("AROWClassifier", {"warm_start": np.ones(4)}, 1.0),
    ("MultiTaskRDAClassifier", {"warm_start": np.ones(4)}, 1.0),
]


@pytest.mark.parametrize("layout", [np.asarray, sparse.csc_array], ids=["dense", "csc"])
@pytest.mark.parametrize("case", FOUND, ids=lambda case: f"{case[0]} {case[1]} {case[2]:g}")
def test_what_was_found_stays_mended(case, layout):
    name, params, scale = case
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 4))
    y = (X[:, 0] > 0).astype(int) + (rng.random(40) < 0.2)
    assert attempt(CLASSES[name], params, layout(X * scale), y) in ("works", "refused", "not saved")


def test_one_value_that_dwarfs_the_others_leaves_no_plane_without_numbers():
    X = np.random.default_rng(2).normal(size=(60, 4))
    X[49, 0] = 1e99
    for seed in range(5):
        assert attempt(CLASSES["ProximalPlaneClustering"], {"n_clusters": 5, "random_state": seed}, X, X[:, 0] > 0)
    rows = X[40:52, :3]
    assert attempt(CLASSES["GMKLRegressor"], {}, rows, np.arange(12.0) % 2)


ODD_WEIGHTS: list[tuple[str, dict[str, Any], float, float]] = [
    ("SBCWClassifier", {}, 1.0, 1e-300),
    ("ASCWClassifier", {"n_costs": 2}, 1.0, 1e-300),
    ("CSOALClassifier", {"max_iter": 2}, 1e-99, 1e-300),
    ("LeastSquaresClassifier", {"threshold": "balanced_error"}, 1e-150, 1e99),
    ("LSSNDClassifier", {"nu": 1e-99}, 1.0, 1e99),
    ("GroupFOBOSClassifier", {"intercept_scaling": 7}, 1e-150, 150.0),
]


@pytest.mark.parametrize("case", ODD_WEIGHTS, ids=lambda case: f"{case[0]} {case[3]:g}")
@pytest.mark.parametrize("layout", [np.asarray, sparse.csc_array], ids=["dense", "csc"])
def test_weights_of_any_size_are_refused_or_learned(case, layout):
    name, params, scale, weight = case
    X = np.random.default_rng(0).normal(size=(60, 4))
    weights = weight * np.random.default_rng(1).uniform(0.5, 2, 60)
    for n_classes in (2, 3):
        y = np.array(["a", "b", "c"])[np.clip(np.digitize(X[:, 0], [0, 0.7]), 0, n_classes - 1)]
        assert attempt(CLASSES[name], params, layout(X * scale), y, weights) in ("works", "refused", "not saved")


def test_weights_that_are_as_good_as_0_are_0():
    X = np.random.default_rng(0).normal(size=(40, 4))
    y, tiny = X[:, 0] > 0, np.where(np.arange(40) % 2, 1.0, 1e-101)
    a, b = (CLASSES["AROWClassifier"](random_state=0).fit(X, y, sample_weight=w) for w in (tiny, np.round(tiny)))
    assert a.coef_.tobytes() == b.coef_.tobytes()
    with pytest.raises(ValueError, match="AROWClassifier"):
        CLASSES["AROWClassifier"]().fit(X, y, sample_weight=np.full(40, 1e-300))


# fmt: off
LARGE_ROWS = 1e8 * np.array([
    [1.22, 0.2, 2.2], [-1.11, 2.57, 0.17], [0.54, -0.51, 0.82], [-0.84, 0.7, 0.66], [0.4, -0.25, 0.06],
    [-1.23, -2.37, 0.87], [-1.9, -0.79, 1.25], [1.51, -0.67, -1.22], [-0.64, 0.22, 0.35], [0.29, -0.98, 0.28],
    [-0.47, 0.27, 1.86], [-0.25, 1.11, -0.01],
])
# fmt: on


@pytest.mark.parametrize("seed", [5, 6])
def test_a_pool_that_can_be_learned_from_can_be_saved(tmp_path, seed):
    """Its covariance has a root, which is all that a batch needs; rounding made the least eigenvalue negative."""
    model = CLASSES["PoolCWClassifier"](50, random_state=seed).fit(sparse.csr_array(LARGE_ROWS), [*"babacaababac"])
    save_model(model, tmp_path / "model")
    assert np.array_equal(load_model(tmp_path / "model").predict(LARGE_ROWS), model.predict(LARGE_ROWS))


ODD_LABELS = [np.array([b"a", b"b"]), np.array([0, 1], dtype=object), np.array([-1e50, 1e99])]


@pytest.mark.parametrize("labels", ODD_LABELS, ids=["bytes", "objects", "huge"])
def test_labels_that_metrics_of_scikit_learn_do_not_take_are_scored(labels):
    X = np.random.default_rng(0).normal(size=(40, 4))
    y = labels[(X[:, 0] > 0).astype(int)]
    model = CLASSES["AROWClassifier"]().fit(X, y)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert model.score(X, y, sample_weight=np.arange(40.0)) == np.average(
            model.predict(X) == y, weights=np.arange(40)
        )


def test_truth_values_take_any_integer_for_a_word_of_their_own():
    X = np.random.default_rng(0).normal(size=(40, 4))
    assert attempt(CLASSES["BiSemiKSC"], {"unlabelled_label": 2**63}, X, X[:, 0] > 0) in ("works", "refused")


@pytest.mark.parametrize("name", ["sample_weight", "coef_init"])
def test_a_damaged_sparse_matrix_in_place_of_numbers_is_refused_before_anything_reads_it(name):
    X = np.random.default_rng(0).normal(size=(40, 4))
    damaged = sparse.csc_array(X[:, :1])
    damaged.indices[3] = 2**30
    with pytest.raises(TypeError, match=f"AROWClassifier: {name} must be a dense array, got a sparse one"):
        CLASSES["AROWClassifier"]().fit(X, X[:, 0] > 0, **{name: damaged})


ODD_ARGUMENTS = [
    (lambda: solvers.shrink("x", 1.0), "shrink: v must hold numbers"),
    (lambda: solvers.shrink(3.0, 1.0), "shrink: v must hold finite numbers, in one vector or more"),
    (lambda: solvers.soft_threshold([1.0, np.nan], 1.0), "soft_threshold: v must hold finite numbers"),
    (lambda: solvers.soft_threshold([1.0, 2.0], [1.0, 2.0, 3.0]), r"soft_threshold: a must fit the shape \(2,\)"),
    (lambda: solvers.prox_linf([1.0, 2.0], -1.0), "prox_linf: a must hold numbers of at least 0"),
    (lambda: solvers.prox_lp([1.0, 2.0], 1.0, "x"), "prox_lp: p must be a number above 1"),
    (lambda: solvers.prox_lp([10**400], 1.0, 2.0), "prox_lp: v must hold numbers that fit a float"),
    (lambda: solvers.lasso(np.eye(2), [0.0, 1.0], 1.0, start="x"), "lasso: start must hold numbers"),
    (lambda: solvers.penalty_path(np.eye(2), [0.0, 1.0], ["x"]), "penalty_path: alphas must hold numbers"),
    (lambda: solvers.multi_task([np.eye(2)], [[0.0, 1.0]], 1.0, p=10**400), "multi_task: p must be a number above 1"),
    (lambda: solvers.box_qp(np.eye(2), "x", 0.0, 1.0), "box_qp: linear must hold numbers"),
    (lambda: solvers.box_qp(np.eye(2), 0.0, 0.0, 1.0, cache_size="x"), "box_qp: cache_size must be a number"),
    (
        lambda: solvers.box_qp(sparse.csc_array(np.eye(2)), 0.0, 0.0, 1.0),
        r"box_qp: K must be an array, or have diagonal",
    ),
    (lambda: solvers.linear_qp(np.eye(2), 0.0, 0.0, 1.0, total=1j), "linear_qp: total must be a number"),
    (lambda: solvers.linear_qp(np.eye(2), 0.0, 0.0, 1.0, epsilon=np.inf), "epsilon must hold finite numbers"),
]


@pytest.mark.parametrize("call", ODD_ARGUMENTS, ids=lambda call: call[1])
def test_solvers_refuse_odd_arguments_in_their_own_words(call):
    with pytest.raises(ValueError, match=call[1]):
        call[0]()


ROWS = np.random.default_rng(0).normal(size=(20, 3))
LINEAR = LeastSquaresClassifier().fit(ROWS, ROWS[:, 0] > 0)
PAIRS = "models must be a list of (name, model) with different names"
ODD_QUESTIONS = [
    (lambda: ModelSumClassifier([("a", 1)], [1.0]).fit(ROWS, ROWS[:, 0] > 0), PAIRS),
    (lambda: ModelSumClassifier([("a", LeastSquaresClassifier)], [1.0]).fit(ROWS, ROWS[:, 0] > 0), PAIRS),
    (lambda: ModelSumRegressor([([], LINEAR)], [1.0]).fit(ROWS, ROWS[:, 0]), PAIRS),
    (lambda: inspection.contributions(None, ROWS), "This NoneType instance is not fitted yet"),
    (lambda: inspection.contributions(LINEAR, "x"), "contributions: X must hold numbers"),
    (lambda: inspection.contributions(LINEAR, ROWS[0]), "contributions: X must be a table of rows and columns"),
    (lambda: inspection.column_curves(LINEAR, "x"), "column_curves: rows must hold numbers"),
    (lambda: inspection.smallest_change(LINEAR, "x", ROWS), "smallest_change: rows must hold numbers"),
    (lambda: inspection.features_that_matter(LINEAR, scale="x"), "features_that_matter: scale must hold numbers"),
    (lambda: export(LINEAR, to="sql", table=3), "export: table and key must be names, got 3 and None"),
    (lambda: export(LINEAR, to="sql", key=[3]), "export: table and key must be names, got None and [3]"),
    (lambda: export(LINEAR, 3, to="c"), "export: path must name a file, got 3"),
]


@pytest.mark.parametrize("call", ODD_QUESTIONS, ids=lambda call: call[1])
def test_odd_questions_to_models_are_refused_in_our_own_words(call):
    with pytest.raises(ValueError, match=re.escape(call[1])):
        call[0]()


def test_splines_of_no_rows_keep_no_knots_of_the_fit_before():
    frame = pd.DataFrame({"a": [1.0, 2.0, 3.0], "b": [3.0, 1.0, 2.0]})
    splines = ColumnSplines(4).fit(frame)
    assert splines.fit(frame[["a"]][:0]).transform(frame[["a"]][:0]).shape[0] == 0
    assert list(splines.knots_) == ["a"]


@pytest.mark.parametrize("entry", ["data", "history"])
def test_a_model_whose_record_is_damaged_does_not_pass_for_a_finished_run(tmp_path, monkeypatch, capsys, entry):
    monkeypatch.chdir(tmp_path)
    Path("rows.csv").write_text("a,b\n" + "1,yes\n2,no\n" * 20)
    typed = ["train", "rows.csv", "--method", "arow", "--quiet", "--model", "model", "--resume"]
    assert main(typed) == 0
    model = load_model("model")
    model.record_[entry] = 7.5
    save_model(model, "model")
    assert main(typed) == 2
    assert capsys.readouterr().err == "thresher: model: the training record in the model file is damaged.\n"


def test_nothing_shrinks_to_nothing():
    assert solvers.prox_lp([], 1.0, 2.0).shape == (0,)
