"""Laplacian support vector machines as users meet them: labels, layouts, weights, graphs of their own, files."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse

from reference import laplacian as reference
from reference.laplacian import rows
from strict_checks import parametrize_with_checks
from thresher import registry
from thresher.cli import main
from thresher.kernels import Polynomial
from thresher.persistence import load_model, save_model
from thresher.semi_supervised import LapSVC
from unsound import save_unsound

solvers = pytest.mark.parametrize("solver", ["dual", "primal"])


# --- several classes, layouts, kernels --------------------------------------------------------------------------------


@solvers
def test_several_classes_are_learned_one_against_the_rest(solver, three_classes):
    X, labels = three_classes
    X = X + 0.1 * np.random.default_rng(0).normal(size=X.shape)  # no two rows alike
    y = labels.astype(object)
    y[25:] = "?"
    params = {"alpha": 1e-3, "solver": solver, "gamma": 0.3, "tol": 1e-10}
    model = LapSVC(unlabelled_label="?", **params).fit(X, y)
    scores = model.decision_function(X)
    for k, name in enumerate("abc"):
        alone = LapSVC(**params).fit(X, np.select([y == "?", y == name], [-1, 1], 0))
        assert_allclose(scores[:, k], alone.decision_function(X), atol=1e-6)
        assert_allclose(model.objectives_[k], alone.objectives_, rtol=1e-8)
    assert_array_equal(model.predict(X), np.array(list("abc"))[scores.argmax(axis=1)])
    assert_array_equal(model.transduction_[25:], model.predict(X)[25:])
    assert_allclose(model.objective_, sum(each[-1] for each in model.objectives_))


@solvers
def test_layouts_and_precisions_give_the_same_model(solver, layout, dtype):
    X, y = rows()
    X = (X * (np.random.default_rng(1).random(X.shape) < 0.8)).astype(dtype)
    plain = LapSVC(solver=solver, gamma=0.3, tol=1e-10).fit(X.astype(float), y)
    model = LapSVC(solver=solver, gamma=0.3, tol=1e-10).fit(layout(X), y)
    assert_allclose(model.decision_function(layout(X)), plain.decision_function(X.astype(float)), atol=1e-6)


@solvers
@pytest.mark.parametrize("weighted", [False, True])
def test_a_precomputed_kernel_measures_distances_in_its_space(solver, weighted):
    X, y = rows(60)
    weight = np.where(np.arange(60) % 4 == 3, 0.0, 1.5) if weighted else None
    params = {"solver": solver, "tol": 1e-10, "n_neighbors": 5}
    plain = LapSVC(kernel="linear", **params).fit(X, y, sample_weight=weight)
    model = LapSVC(kernel="precomputed", **params).fit(X @ X.T, y, sample_weight=weight)
    assert_allclose(model.decision_function(X @ X.T), plain.decision_function(X), atol=1e-6)
    assert model.kernel_ is None
    with pytest.raises(ValueError, match=r"LapSVC: n_components must be None if kernels are precomputed, got 5\."):
        LapSVC(kernel="precomputed", n_components=5).fit(X @ X.T, y)


@pytest.mark.parametrize("form", [sparse.csr_array, np.asarray])
def test_a_graph_of_the_users_takes_the_place_of_ours(form):
    X, y = rows(60)
    W = reference.knn_adjacency(reference.distances(X), 5)
    ours = LapSVC(n_neighbors=5, tol=1e-10).fit(X, y)
    theirs = LapSVC(n_neighbors=30, tol=1e-10).fit(X, y, adjacency=form(W + np.eye(60)))
    assert_allclose(theirs.decision_function(X), ours.decision_function(X), atol=1e-6)
    weight = np.where(np.arange(60) % 5 == 4, 0.0, 1.0)
    there = weight > 0
    part = LapSVC(tol=1e-10).fit(X, y, sample_weight=weight, adjacency=form(W))
    alone = LapSVC(tol=1e-10).fit(X[there], y[there], adjacency=form(W[np.ix_(there, there)]))
    assert_allclose(part.decision_function(X), alone.decision_function(X), atol=1e-9)
    with pytest.raises(ValueError, match="LapSVC: adjacency must be symmetric"):
        LapSVC().fit(X, y, adjacency=form(np.triu(W)))


# --- weights ----------------------------------------------------------------------------------------------------------


@solvers
@pytest.mark.parametrize("scaling", ["belkin", "thesis"])
def test_a_row_of_weight_0_is_absent_from_the_graph_too(solver, scaling, row_weights):
    X, y = rows(60)
    y[[0, 4, 8]] = 7, 7, 9  # classes of absent rows only
    X[[0, 4]] *= 1e3  # which gamma="scale" must not see
    y[1:3] = 0, 1
    there = np.flatnonzero(row_weights)
    model = LapSVC(solver=solver, scaling=scaling).fit(X, y, sample_weight=row_weights)
    alone = LapSVC(solver=solver, scaling=scaling).fit(X[there], y[there], sample_weight=row_weights[there])
    assert_array_equal(model.classes_, [0, 1])
    assert_array_equal(model.support_, there[alone.support_])
    assert_array_equal(model.decision_function(X), alone.decision_function(X))
    assert_array_equal(model.transduction_[there], alone.transduction_)


def test_weights_are_of_losses_and_class_weights_multiply_them():
    X, y = rows()
    weight = np.select([y == 0, y == 1], [3.0, 0.5], 1.0)
    for scaling in ("belkin", "thesis"):
        by_class = LapSVC(alpha_graph=1000.0, gamma="scale", scaling=scaling, class_weight={0: 3.0, 1: 0.5}).fit(X, y)
        by_row = LapSVC(alpha_graph=1000.0, gamma="scale", scaling=scaling).fit(X, y, sample_weight=weight)
        assert_array_equal(by_class.decision_function(X), by_row.decision_function(X))
        plain = LapSVC(alpha_graph=1000.0, gamma="scale", scaling=scaling, tol=1e-10).fit(X, y)
        assert np.abs(plain.decision_function(X) - by_row.decision_function(X)).max() > 1e-3
        heavy = LapSVC(alpha_graph=1000.0, gamma="scale", scaling=scaling, tol=1e-10).fit(
            X, y, sample_weight=np.where(y == -1, 9.0, 1.0)
        )
        assert_allclose(heavy.decision_function(X), plain.decision_function(X), atol=1e-9)
    mean = LapSVC(alpha_graph=1000.0, gamma="scale", tol=1e-10).fit(X, y, sample_weight=np.full(50, 7.0))
    assert_allclose(
        mean.decision_function(X),
        LapSVC(alpha_graph=1000.0, gamma="scale", tol=1e-10).fit(X, y).decision_function(X),
        atol=1e-6,
    )


# --- scikit-learn, refusals, files ------------------------------------------------------------------------------------

NODES = "A row that is repeated is two nodes of the graph; one of double weight is one."
WEIGHTS = ("check_sample_weight_equivalence_on_dense_data", "check_sample_weight_equivalence_on_sparse_data")


@parametrize_with_checks(
    [
        LapSVC(unlabelled_label="?"),  # among the labels of the checks is -1
        LapSVC(unlabelled_label="?", solver="primal"),
        LapSVC(unlabelled_label=None, solver="primal", inner="cg", tol=1e-9),
        LapSVC(unlabelled_label=-9, n_components=20, random_state=0, graph="full"),
    ],
    expected_failed_checks=lambda model: dict.fromkeys(WEIGHTS, NODES),
    xfail_strict=True,
)
def test_scikit_learns_contract(estimator, check):
    check(estimator)


def test_it_is_a_method_with_ranges_to_tune():
    assert registry.estimators()["lapsvc"] is LapSVC
    method = next(m for m in registry.methods() if m.cls is LapSVC)
    assert set(method.space) == {"alpha", "alpha_graph", "gamma"}
    assert (method.task, method.needs) == ("classification", ("unlabelled",))


X, Y = rows()


@pytest.mark.parametrize(
    ("params", "y", "said"),
    [
        ({"alpha": 0}, Y, "LapSVC: alpha must be a number above 0, got 0."),
        ({"alpha_graph": -1}, Y, 'LapSVC: alpha_graph must be a number of at least 0 or "auto", got -1.'),
        ({"solver": "auto"}, Y, "LapSVC: solver must be one of 'dual', 'primal', got 'auto'."),
        ({"scaling": None}, Y, "LapSVC: scaling must be one of 'belkin', 'thesis', got None."),
        ({"graph": "ring"}, Y, "LapSVC: graph must be one of 'knn', 'full', got 'ring'."),
        ({"n_neighbors": 0}, Y, "LapSVC: n_neighbors must be an integer of at least 1, got 0."),
        ({"graph_gamma": 0}, Y, "LapSVC: graph_gamma must be a number above 0 or None, got 0."),
        ({"graph_power": 1.5}, Y, "LapSVC: graph_power must be an integer from 1 to 100, got 1.5."),
        ({"graph_power": 2**31}, Y, "LapSVC: graph_power must be an integer from 1 to 100, got 2147483648."),
        ({"inner": "lu"}, Y, "LapSVC: inner must be one of 'auto', 'direct', 'cg', got 'lu'."),
        ({"n_components": 0}, Y, "LapSVC: n_components must be"),
        ({}, np.where(Y == 0, -1, 1), r"LapSVC: y must hold at least two classes, got one class: 1 \(-1 means unlab"),
        ({}, np.full(50, -1), r"LapSVC: y must hold at least two classes, got no class \(-1 means unlabelled\)."),
        ({}, Y[:5], "LapSVC: y must have one entry per row, got 5 for 50 rows."),
        ({"class_weight": {0: 0.0}}, Y, "LapSVC: class_weight must leave every class a weight above 0"),
        ({"kernel": "precomputed"}, Y, "LapSVC: a precomputed kernel must be a square matrix in fit"),
    ],
)
def test_refusals_are_one_sentence_and_change_nothing(params, y, said):
    model = LapSVC().fit(X, Y)
    before, attributes = model.decision_function(X), set(vars(model))
    with pytest.raises(ValueError, match=said) as refusal:
        model.set_params(**params).fit(X, y)
    assert "\n" not in str(refusal.value)
    model.set_params(**LapSVC().get_params(deep=False))
    assert_array_equal(model.decision_function(X), before)
    assert set(vars(model)) == attributes


def test_rows_that_are_all_absent_are_refused():
    with pytest.raises(ValueError, match=r"LapSVC: sample_weight must hold a weight above 0, got only zeros\."):
        LapSVC().fit(X, Y, sample_weight=np.zeros(50))


@pytest.mark.parametrize(
    "params",
    [{}, {"solver": "primal"}, {"kernel": "precomputed"}, {"n_components": 8, "kernel": Polynomial(2, 0.5)}],
    ids=str,
)
def test_files_keep_all_that_predicts(params, tmp_path):
    frame = pd.DataFrame(X, columns=["a", "b", "c"])
    given = X @ X.T if params.get("kernel") == "precomputed" else frame
    names = np.array(["no", "yes", "?"])[Y]
    model = LapSVC(unlabelled_label="?", random_state=0, **params).fit(given, names)
    save_model(model, tmp_path / "m")
    again = load_model(tmp_path / "m")
    assert_array_equal(again.decision_function(given), model.decision_function(given))
    assert_array_equal(again.predict(given), model.predict(given))
    assert_array_equal(again.objectives_, model.objectives_)
    assert (again.n_iter_, again.residual_) == (model.n_iter_, model.residual_)
    if given is frame:
        assert again.feature_names_in_.tolist() == ["a", "b", "c"]
        with pytest.raises(ValueError, match="feature names"):
            again.predict(frame[["b", "a", "c"]])


@pytest.mark.parametrize(
    ("name", "value", "said"),
    [
        ("classes_", np.array([1, 0]), "classes_ must be at least two, in order"),
        ("classes_", np.array([0, 1, 2]), "intercept_ must be float64 of shape"),
        ("intercept_", np.array([1.0, 2.0]), "intercept_ must be float64 of shape"),
        ("intercept_", np.array([np.nan]), "intercept_ must be float64 of shape"),
        ("dual_coef_", np.ones((2, 50)), "dual_coef_ must be float64 of shape"),
        ("support_", np.arange(50)[::-1].copy(), "support_"),
        ("residual_", -1.0, "residual_ must be a number of at least 0"),
        ("n_iter_", -1, "n_iter_ an integer of at least 0"),
        ("n_iter_", 1.5, "n_iter_ an integer of at least 0"),
        ("_objectives", [[1.0, -2.0]], "the objectives must be lists of numbers of at least 0"),
        ("_objectives", [[1.0], [1.0]], "the objectives must be lists of numbers of at least 0"),
    ],
)
def test_a_file_whose_parts_do_not_belong_together_is_refused(name, value, said, tmp_path):
    model = LapSVC().fit(X, Y)
    setattr(model, name, value)
    save_unsound(model, tmp_path / "m")
    with pytest.raises(ValueError, match=said):
        load_model(tmp_path / "m")


# --- from the shell ---------------------------------------------------------------------------------------------------


def test_from_the_shell(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    names = np.array(["no", "yes", "?"])[Y]
    lines = [",".join([*map(str, row.round(4).tolist()), name]) for row, name in zip(X, names, strict=True)]
    Path("rows.csv").write_text("\n".join(["a,b,c,label", *lines]) + "\n")
    few = ["rows.csv", "--method", "lapsvc", "--unlabelled-label", "?", "--model", "m", "--json"]
    assert main(["train", *few, "--alpha-graph", "50", "--solver", "primal", "--report", "r.html"]) == 0
    assert json.loads(capsys.readouterr().out)["sections"]["measures"]["rows"]["measured"] == (Y != -1).sum()
    learner = load_model("m")
    learner = learner[-1] if hasattr(learner, "steps") else learner
    assert (learner.alpha_graph, learner.solver, learner.unlabelled_label) == (50, "primal", "?")
    assert main(["predict", "m", "rows.csv", "-o", "p.csv"]) == 0
    assert set(Path("p.csv").read_text().split()[1:]) == {"no", "yes"}
    assert main(["tune", *few, "--n-evaluations", "2"]) == 0
    assert main(["auto", *few, "--n-evaluations", "2"]) == 0
    learner = load_model("m")[-1]
    assert isinstance(learner, LapSVC)
    assert learner.unlabelled_label == "?"
