"""Clusters without any other choice to make: by auto, by the wizard and from the shell."""

from __future__ import annotations

import shlex
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import make_blobs, make_circles
from sklearn.metrics import adjusted_rand_score, silhouette_score

import thresher.cluster
from thresher import auto, explain, wizard
from thresher._auto import AutoOptions
from thresher._auto._candidate_model import describe_ids
from thresher._auto._choice import choose_methods, prefer_sparse_centres
from thresher._auto._data import gather
from thresher._auto._plan import Plan
from thresher._auto._task import choose_criterion
from thresher._gate._table import Table
from thresher.cli import main
from thresher.persistence import load_model
from thresher.training import learner_of
from thresher.wizard._more_questions import MORE_QUESTIONS

with_kernel = pytest.mark.skipif(
    not hasattr(thresher.cluster, "KernelSpectralClustering"), reason="no kernel clustering here"
)
FLAT, ANY_SHAPE = "proximalplaneclustering", "kernelspectralclustering"


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def table(folder):
    """Customers with a number, two measures and two columns of words; the town goes with the measures."""
    rng = np.random.default_rng(0)
    kind = np.arange(120) % 3
    frame = pd.DataFrame(
        {
            "id": [f"c{i:03d}" for i in range(120)],
            "height": 170 + 12 * kind + rng.normal(size=120),
            "weight": 60 + 15 * kind + rng.normal(size=120),
            "town": np.array(["Gent", "Köln", "Oslo"])[kind],
        }
    )
    frame.to_csv("rows.csv", index=False)
    return kind


def plan_for(X, **options):
    given = AutoOptions(task="clustering", **options)
    return Plan(gather(X, None, given, {}), given, "clustering")


# --- auto -------------------------------------------------------------------------------------------------------------


def test_centres_are_sparse_without_losing_the_clusters():
    X, labels = make_blobs(300, 3, centers=4, cluster_std=0.5, random_state=1)
    X = np.hstack([X / X.std(axis=0), 0.3 * np.random.default_rng(0).normal(size=(300, 12))])
    model = auto(X, n_clusters=4, n_evaluations=15, cv=2, scale=False)
    centres = learner_of(model).cluster_centers_
    assert np.count_nonzero(centres[:, 3:]) <= 2  # of 48 that are noise
    assert adjusted_rand_score(labels, model.predict(X)) == 1.0
    plain = auto(X, n_clusters=4, n_evaluations=15, cv=2, scale=False, sparsity=0)
    assert silhouette_score(X, model.predict(X)) > silhouette_score(X, plain.predict(X)) - 0.02
    assert "Sparse centres are preferred: the share of zeros in them makes up 5 % of the criterion" in explain(model)
    assert "Centres of few" not in explain(plain)


@pytest.mark.parametrize("settled", [{"sparsity": 0.0}, {"sparsity": 0.3}, {"params": {"alpha": 0.1}}])
def test_what_the_user_says_of_sparsity_counts(settled):
    plan = plan_for(np.eye(30), **settled)
    assert prefer_sparse_centres(plan, choose_methods(plan)[0]) == (plan, [])


def test_methods_without_centres_are_not_asked_for_sparse_ones():
    plan = plan_for(np.eye(30), method=FLAT)
    assert prefer_sparse_centres(plan, choose_methods(plan)[0])[0].options.sparsity is None
    with pytest.raises(ValueError, match=f"sparsity needs sparse centres, which '{FLAT}' does not have"):
        auto(np.eye(30), method=FLAT, sparsity=0.1)


def test_planes_by_name():
    t = np.random.default_rng(0).uniform(-3, 3, size=120)
    X = np.column_stack([t, np.where(np.arange(120) < 60, t, -t)]) + 0.05 * np.random.default_rng(1).normal(
        size=(120, 2)
    )
    model = auto(X, method=FLAT, n_clusters=2, n_evaluations=2, cv=2)
    assert learner_of(model).n_init == 3
    assert adjusted_rand_score(np.arange(120) < 60, model.predict(X)) > 0.7


def test_columns_that_only_name_rows_are_told():
    frame = {
        "id": [f"c{i}" for i in range(30)],
        "number": np.arange(30.0) * 2,
        "size": np.ones(30),
        "town": ["Gent"] * 30,
    }
    assert describe_ids(Table.from_frame(pd.DataFrame(frame)), clustering=True) == [
        "'id', 'number' only identify rows: leave them out (drop=['id', 'number'])."
    ]
    del frame["number"]
    said = describe_ids(Table.from_frame(pd.DataFrame(frame)), clustering=True)
    assert said[0].startswith("'id' only identifies rows: leave it out")
    del frame["id"]
    frame["note"] = [f"text {i} of several words" for i in range(30)]
    frame["size"] = np.random.default_rng(0).normal(size=30)
    assert describe_ids(Table.from_frame(pd.DataFrame(frame)), clustering=True) == []
    assert describe_ids(np.arange(60.0).reshape(30, 2), clustering=True) == []


def test_line_fits_are_for_methods_that_have_them():
    assert choose_criterion(plan_for(np.eye(30)))[0] == "silhouette"
    for method in (None, FLAT):
        with pytest.raises(ValueError, match="criterion 'line_fit' is for clustering by kernels"):
            choose_criterion(plan_for(np.eye(30), criterion="line_fit", method=method))


@with_kernel
def test_clusters_of_any_shape_and_their_number():
    X, ring = make_circles(200, factor=0.4, noise=0.04, random_state=0)
    model = auto(X, method=ANY_SHAPE, n_evaluations=24, cv=2)
    said = explain(model)
    assert "Criterion: line_fit" in said
    assert "Number of clusters by line_fit: 2 clusters 0.9" in said
    assert learner_of(model).n_clusters == 2
    assert adjusted_rand_score(ring, model.predict(X)) == 1.0
    by_silhouette = auto(X, method=ANY_SHAPE, n_clusters=2, n_evaluations=2, cv=2, criterion="silhouette")
    assert "Criterion: silhouette, as requested" in explain(by_silhouette)


@with_kernel
def test_the_number_of_clusters_is_searched_with_the_width():
    X, labels = make_blobs(150, 2, centers=[[0, 0], [9, 0], [0, 9]], random_state=0)
    model = auto(X, method=ANY_SHAPE, n_evaluations=24, cv=2)
    assert learner_of(model).n_clusters == 3
    assert adjusted_rand_score(labels, model.predict(X)) == 1.0


@with_kernel
def test_many_rows_are_stood_for_by_landmarks():
    def chosen(n_rows, **options):
        plan = plan_for(np.zeros((n_rows, 2)), method=ANY_SHAPE, **options)
        return choose_methods(plan)[0][0].params.get("n_components")

    assert chosen(2000) is None
    assert chosen(2001) == chosen(50_000) == chosen(50_000, kernel="linear") == 2.0
    assert chosen(50_000, params={"n_components": 40}) == 40


# --- the shell --------------------------------------------------------------------------------------------------------


def test_a_table_with_names_and_words_from_the_shell(table, folder, capsys):
    command = "auto rows.csv --task clustering --target none --drop id --n-evaluations 6 --cv 2 --n-clusters 3"
    assert main([*shlex.split(command), "--model", "m.thresher", "--report", "r.txt"]) == 0
    assert "only identif" not in capsys.readouterr().err
    model = load_model("m.thresher")
    assert main(["predict", "m.thresher", "rows.csv", "-o", "p.csv"]) == 0
    found = [int(line) for line in Path("p.csv").read_text().split()[1:]]
    assert adjusted_rand_score(table, found) == 1.0
    assert learner_of(model).n_clusters == 3
    report = Path("r.txt").read_text(encoding="utf-8")
    assert "Cluster by cluster" in report
    assert "town" in report


def test_an_id_is_named_on_the_screen(table, folder, capsys):
    assert (
        main(shlex.split("auto rows.csv --task clustering --target none --n-evaluations 2 --cv 2 --n-clusters 3")) == 0
    )
    assert "Left out: id (every row has its own value)" in capsys.readouterr().err


@pytest.mark.parametrize("method", [FLAT, pytest.param(ANY_SHAPE, marks=with_kernel)])
def test_every_method_from_the_shell(table, folder, capsys, method):
    words = (
        f"auto rows.csv --target none --drop id --drop town --method {method} --n-clusters 3 --n-evaluations 2 --cv 2"
    )
    assert main([*shlex.split(words), "--model", "m.thresher", "--report", "r.html"]) == 0
    assert type(learner_of(load_model("m.thresher"))).__name__.lower() == method
    assert main(["predict", "m.thresher", "rows.csv", "-o", "p.csv"]) == 0
    assert set(Path("p.csv").read_text().split()[1:]) <= {"0", "1", "2"}
    assert "Cluster by cluster" in Path("r.html").read_text(encoding="utf-8")


def test_tables_with_words_are_tuned_from_the_shell(table, folder, capsys):
    words = "tune rows.csv --target none --drop id --method sparsekmeans --n-clusters 3 --n-evaluations 3 --cv 2"
    assert main([*shlex.split(words), "--model", "m.thresher"]) == 0
    assert learner_of(load_model("m.thresher")).n_clusters == 3


@with_kernel
def test_kernel_clusters_are_tuned_by_their_line_fit(table, folder, capsys, monkeypatch):
    seen = []
    monkeypatch.setattr(
        thresher.cluster.KernelSpectralClustering, "line_fit", lambda self, X: float(seen.append(X.shape[0]) or 0.5)
    )
    words = f"tune rows.csv --target none --drop id --method {ANY_SHAPE} --n-clusters 3 --n-evaluations 2 --cv 2"
    assert main([*shlex.split(words), "--model", "m.thresher"]) == 0
    assert seen == [60] * 4


# --- the wizard -------------------------------------------------------------------------------------------------------


def talk(answers):
    """Answers by the name of the question, and what was said."""
    said: list[str] = []
    asked: list[str] = []

    def ask(question, prompt):
        asked.append(question.id)
        if len(asked) == 1:
            return "more"
        return answers.get(question.id, "")

    model = wizard.wizard("rows.csv", ask=ask, say=said.append)
    return model, asked, "\n".join(said)


def test_the_wizard_asks_what_clusters_look_like(table):
    model, asked, said = talk({"target": "none", "n_clusters": "3", "n_evaluations": "2"})
    assert asked[2:] == [
        "target", "n_clusters", "max_seconds", "shape", "metric", "max_iter", "kernel", "search", "n_evaluations",
        "model", "report",
    ]  # fmt: skip
    assert "1) round   compact clusters that differ in few columns" in said
    assert "3) flat    rows along lines or planes (proximalplaneclustering)" in said or ANY_SHAPE not in said
    assert type(learner_of(model)).__name__ == "SparseKMeans"


def test_flat_clusters_need_no_metric_and_no_bends(table):
    pd.read_csv("rows.csv")[["height", "weight"]].to_csv("rows.csv", index=False)
    model, asked, said = talk(
        {"target": "none", "n_clusters": "2", "shape": "flat", "max_iter": "9", "n_evaluations": "2"}
    )
    assert "metric" not in asked
    assert "kernel" not in asked
    assert learner_of(model).max_iter == 9
    assert f"--method {FLAT}" in said


@with_kernel
def test_clusters_of_any_shape_need_neither(table):
    model, asked, _ = talk({"target": "none", "n_clusters": "2", "shape": ANY_SHAPE, "n_evaluations": "2"})
    assert not {"metric", "max_iter", "kernel"} & {*asked}
    assert type(learner_of(model)).__name__ == "KernelSpectralClustering"


def test_shapes_are_known_by_their_names():
    shape = next(question for question in MORE_QUESTIONS if question.id == "shape")
    assert shape.read("", {}) == shape.read("1", {}) == shape.read("round", {}) == "sparsekmeans"
    assert shape.read("fl", {}) == shape.read(FLAT, {}) == FLAT
    with pytest.raises(ValueError, match=r"Please answer with one of round, .*flat, or with the name of a method"):
        shape.read("square", {})
