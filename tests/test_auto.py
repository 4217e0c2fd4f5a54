"""The black box: what it chooses and says, how it measures, and that files and arrays come to the same."""

from __future__ import annotations

import ast
import json
import re
import time
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.base import clone
from sklearn.model_selection import KFold
from sklearn.preprocessing import StandardScaler

import thresher
from thresher import registry
from thresher._auto import CRITERIA, KERNELS, AutoOptions, _compared_rows, _contest, run_auto
from thresher._auto._candidate_model import column_sizes
from thresher._auto._choice import choose_methods
from thresher._auto._data import TrainingData, gather
from thresher._auto._plan import Plan
from thresher._auto._task import choose_task
from thresher._engine import FOR_VALUES
from thresher._estimators import Advice, GoodFor
from thresher.online import AROWClassifier
from thresher.persistence import load_model, save_model
from thresher.preprocessing import RunningScaler
from thresher.report import report_of
from thresher.streams import open_stream
from thresher.training import look

auto, explain = thresher.auto, thresher.explain


def rows(n: int = 120, d: int = 4, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).normal(size=(n, d))


def two_classes(n: int = 120, d: int = 4, seed: int = 0, noise: float = 0.3) -> tuple[np.ndarray, np.ndarray]:
    X = rows(n, d, seed)
    score = X[:, 0] - 2 * X[:, 1] + noise * np.random.default_rng(seed + 1).normal(size=n)
    return X, np.where(score > 0, "yes", "no")


def ring(n: int = 300) -> tuple[np.ndarray, np.ndarray]:
    X = rows(n, 2)
    return X, ((X**2).sum(axis=1) > 1.4).astype(int)


def csv(path: Path, X: np.ndarray, y: Any, header: str | None = None) -> Path:
    lines = [",".join([*(repr(float(v)) for v in x), str(label)]) for x, label in zip(X, y, strict=True)]
    path.write_text("\n".join(([header] if header else []) + lines) + "\n", encoding="utf-8")
    return path


def learner(model: Any) -> Any:
    return model[-1] if hasattr(model, "steps") else model


def data_of(X: Any, y: Any = None) -> TrainingData:
    return gather(X, y, AutoOptions(), {})


# --- the task ---------------------------------------------------------------------------------------------------------

TARGETS = {
    "words": (["a", "b"] * 30, "classification"),
    "truth values": ([True, False] * 30, "classification"),
    "two whole numbers": ([-1, 1] * 30, "classification"),
    "few whole numbers as floats": ([1.0, 2.0, 3.0] * 20, "classification"),
    "counts": (list(range(60)), "regression"),
    "amounts": ([0.5, 1.25, 2.75] * 20, "regression"),
}


@pytest.mark.parametrize("name", TARGETS)
def test_the_task_is_read_from_the_targets(name):
    y, expected = TARGETS[name]
    assert choose_task(data_of(rows(60), np.array(y)), AutoOptions())[0] == expected


@pytest.mark.parametrize("name", [name for name in TARGETS if name != "truth values"])
def test_files_and_arrays_are_judged_by_the_same_rule(tmp_path, name):
    y, _ = TARGETS[name]
    path = csv(tmp_path / "data.csv", rows(60), y)
    assert choose_task(data_of(str(path)), AutoOptions()) == choose_task(data_of(rows(60), y), AutoOptions())
    assert choose_task(data_of(str(path)), AutoOptions())[0] == look(open_stream(path)).task


def test_without_targets_the_task_is_clustering():
    assert choose_task(data_of(rows(60)), AutoOptions())[0] == "clustering"


def test_a_method_decides_the_task_where_the_user_did_not():
    X = rows(60)
    y = np.arange(60) % 3
    assert choose_task(data_of(X, y), AutoOptions(method="pegasos-regressor"))[0] == "regression"
    with pytest.raises(ValueError, match=r"method 'pegasos-regressor' is for regression, but task is 'classification'"):
        auto(X, y, "classification", method="pegasos-regressor")


# --- which method -----------------------------------------------------------------------------------------------------


def names(X: Any, y: Any, task: str, **options: Any) -> list[str]:
    return [c.method.name for c in choose_methods(Plan(data_of(X, y), AutoOptions(**options), task))[0]]


def test_methods_follow_the_kind_of_data():
    X, y = two_classes()
    wide = sparse.random_array((120, 5000), density=0.01, rng=0, format="csr")
    assert names(X, y, "classification")[0] == "pegasos"
    assert names(wide, y, "classification")[0] == "arow"
    assert names(wide.toarray(), y, "classification")[0] == "arow"
    assert names(X, y, "classification", sparsity=0.1) == ["l1rda"]
    assert names(wide, y, "classification", sparsity=0.1) == ["adaptivel1rda", "l1rda"]
    assert names(X, X[:, 0], "regression")[:2] == ["leastsquares-regressor", "pegasos-regressor"]
    assert names(wide, X[:, 0], "regression")[0] == "pegasos-regressor"
    assert names(X, X[:, 0], "regression", sparsity=0.1) == ["l1rda-regressor"]
    assert names(X, None, "clustering") == ["sparsekmeans"]


def test_a_rare_class_and_few_of_many_features_are_for_a_learner_that_weighs_costs(monkeypatch):
    wide = sparse.random_array((120, 5000), density=0.01, rng=0, format="csr")
    rarely = (np.arange(120) % 20 == 0).astype(int)
    others = [method for method in registry.methods() if method.name != "poolcw"]
    pool = next(method for method in registry.methods() if method.name == "poolcw")
    monkeypatch.setattr(registry, "_all_methods", lambda: others)
    assert names(wide, rarely, "classification", sparsity=0.1) == ["adaptivel1rda", "l1rda"]
    monkeypatch.setattr(registry, "_all_methods", lambda: [*others, pool])
    assert names(wide, rarely, "classification", sparsity=0.1) == ["poolcw", "adaptivel1rda", "l1rda"]
    assert names(wide, rarely, "classification")[0] == "arow"
    assert names(wide[:, :50].toarray(), rarely, "classification", sparsity=0.1) == ["l1rda"]
    assert "poolcw" not in names(wide, np.arange(120) % 2, "classification", sparsity=0.1)


def test_a_learner_with_a_grid_of_costs_is_tried_with_one_cost_and_one_pass():
    wide = sparse.random_array((120, 5000), density=0.01, rng=0, format="csr")
    data = data_of(wide, (np.arange(120) % 20 == 0).astype(int))
    (pool, *_), _ = choose_methods(Plan(data, AutoOptions(sparsity=0.1), "classification"))
    assert pool.method.name == "poolcw"
    assert (pool.params["cost"], pool.params["max_iter"]) == (0.5, 1)
    assert "class_weight" not in pool.params  # it weighs classes by itself


def test_preferred_methods_exist():
    known = {m.name: m.task for m in registry.methods()}
    X, y = two_classes()
    for task, target in (("classification", y), ("regression", X[:, 0]), ("clustering", None)):
        for sparsity in (None, 0.1):
            assert all(known[name] == task for name in names(X, target, task, sparsity=sparsity))


def test_only_methods_that_take_the_loss_are_considered():
    X, y = two_classes()
    for loss in ("logistic", "log_loss"):
        assert names(X, y, "classification", loss=loss) == ["pegasos"]
    assert names(X, X[:, 0], "regression", loss="squared_error") == ["pegasos-regressor", "l1rda-regressor"]
    assert names(X, y, "classification", loss="log_loss", method="l1rda") == ["l1rda"]
    model = auto(X, y, loss="logistic", kernel="linear", n_evaluations=2)
    assert learner(model).loss == model.record_["auto"]["loss"] == "logistic"


def test_methods_that_need_more_than_rows_are_not_picked(monkeypatch):
    class Groups(AROWClassifier):
        _needs = ("groups",)

    odd = registry._describe("online", Groups)._replace(name="arow")
    others = [m for m in registry.methods() if m.name != "arow"]
    monkeypatch.setattr(registry, "_all_methods", lambda: [odd, *others])
    X, y = two_classes()
    assert names(X, y, "classification") == ["pegasos"]
    assert names(X, y, "classification", method="arow") == ["arow"]


def test_parameters_that_only_some_methods_take_narrow_the_choice():
    X, y = two_classes()
    assert names(X, y, "classification", params={"r": 2.0}) == ["arow"]
    assert names(X, y, "classification", params={"max_iter": 2}) == ["pegasos", "arow"]


def test_a_new_class_is_offered_where_it_declares_itself_good(monkeypatch):
    class Newcomer(AROWClassifier):
        """A learner that nobody knows."""

        _advice = Advice(GoodFor(0, "{first} is new and {p.n_rows} rows are enough", lambda p: p.n_rows < 200))

    new, known = registry._describe("online", Newcomer), registry.methods()
    monkeypatch.setattr(registry, "_all_methods", lambda: [*known, new])
    X, y = two_classes()
    candidates, why = choose_methods(Plan(data_of(X, y), AutoOptions(), "classification"))
    assert [candidate.name for candidate in candidates] == ["newcomer", "pegasos", "arow"]
    assert why == "Methods to try: newcomer, pegasos and arow, because the first is new and 120 rows are enough."
    assert "newcomer" not in names(rows(300), np.arange(300) % 2, "classification")


@pytest.mark.parametrize("room", ["_auto", "wizard"])
def test_no_room_that_chooses_methods_knows_one_by_name(room):
    names_of_methods = {name for m in registry.methods() for name in (m.name, m.cls.__name__)}
    folder = Path(thresher.__file__).parent / room
    for file in folder.glob("*.py"):
        tree = ast.parse(file.read_text(encoding="utf-8"))
        documented = [node for node in ast.walk(tree) if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef))]
        docs = {id(node.body[0].value) for node in documented if ast.get_docstring(node)}
        texts = [node for node in ast.walk(tree) if isinstance(node, ast.Constant) and id(node) not in docs]
        said = [
            text.value.replace("logistic regression", "") for text in texts if isinstance(text.value, str)
        ]  # a baseline
        words = {word for text in said for word in re.findall(r"[\w-]+", text)}
        words |= {node.name for node in ast.walk(tree) if isinstance(node, ast.alias)}
        assert not words & names_of_methods, file.name


def test_every_method_can_be_asked_for():
    X, y = two_classes(60)
    targets = {"classification": y, "regression": X[:, 0] + 1, "clustering": None}
    for method in registry.methods():
        if not method.needs:
            many, curved = hasattr(method.cls(), "kernels"), method.name == "kernelspectralclustering"
            kernel = None if many or curved else "linear"  # means of 0 leave no degrees to the second
            model = auto(X, targets[method.task], method=method.name, kernel=kernel, n_evaluations=1, cv=2)
            assert type(learner(model)) is method.cls
            assert model.record_["auto"]["method"] == method.name


# --- imbalanced classes -----------------------------------------------------------------------------------------------


def rare(n: int = 400, share: float = 0.05) -> tuple[np.ndarray, np.ndarray]:
    y = (np.arange(n) % round(1 / share) == 0).astype(int)
    return rows(n) + 1.2 * y[:, None], y


def test_rare_classes_weigh_more_and_that_is_said():
    X, y = rare()
    model = auto(X, y, n_evaluations=3, cv=2)
    assert model.record_["auto"]["criterion"] == "balanced_error"
    assert learner(model).class_weight == "balanced"
    assert "imbalanced: '1' has 5 % of the rows" in explain(model)
    assert "f1 and average_precision measure only the second class" in explain(model)
    plain = AROWClassifier(max_iter=5, random_state=0).fit(StandardScaler().fit_transform(X), y)
    fresh, truth = rare(2000)
    assert model.predict_proba(fresh)[:, 1].mean() == pytest.approx(0.05, abs=0.02)  # as often as they occur
    recall = np.mean(model.predict(fresh)[truth == 1] == 1)
    assert recall > 0.7 > np.mean(plain.predict(StandardScaler().fit_transform(fresh))[truth == 1] == 1)


@pytest.mark.parametrize(
    ("counts", "expected"), [((90, 10), False), ((91, 9), True), ((47, 47, 6), False), ((20,) * 5, False)]
)
def test_one_of_two_classes_is_rare_below_a_tenth_of_the_rows(counts, expected):
    y = np.repeat(np.arange(len(counts)), counts)
    assert data_of(rows(100), y).is_imbalanced is expected


def test_the_criterion_can_be_chosen():
    X, y = rare()
    assert auto(X, y, criterion="roc_auc", n_evaluations=1).record_["auto"]["criterion"] == "roc_auc"
    with pytest.raises(ValueError, match=r"criterion must be one of 'error', .* for classification, got 'mse'"):
        auto(X, y, criterion="mse")


# --- how it measures --------------------------------------------------------------------------------------------------


def test_the_score_is_that_of_cross_validation_with_all_steps_inside():
    """Scaling belongs to what is learned from the other folds."""
    X, y = two_classes()
    X = X * [1, 1000, 0.01, 1] + 5
    folds = list(KFold(4, shuffle=True, random_state=3).split(X))
    model = auto(X, y, method="pegasos", kernel="linear", n_evaluations=3, cv=folds)
    errors = []
    for train, test in folds:
        scaler = RunningScaler().fit(X[train])
        fitted = clone(learner(model)).fit(scaler.transform(X[train]), y[train])
        errors.append(np.mean(fitted.predict(scaler.transform(X[test])) != y[test]))
    assert_allclose(model.record_["auto"]["score"], -np.mean(errors), atol=1e-12)
    assert "scale" in dict(model.steps)


def test_the_final_model_learns_from_all_rows():
    X, y = two_classes()
    model = auto(X, y, method="arow", kernel="linear", n_evaluations=2)
    Z = RunningScaler().fit_transform(X)
    assert_allclose(clone(learner(model)).fit(Z, y).coef_, model.coef_, rtol=1e-8)


@pytest.mark.parametrize("budget", [1, 5, 12, 24, 37, 50])
def test_the_budget_is_one_for_everything(budget):
    X, y = two_classes(60)
    record = auto(X, y, n_evaluations=budget, cv=2).record_["auto"]
    assert record["n_evaluations"] == len(record["search"]) <= budget
    assert [entry["evaluation"] for entry in record["search"]] == list(range(len(record["search"])))


def test_no_setting_is_measured_twice():
    X, y = ring()
    tried = auto(X, y, n_evaluations=40, cv=2).record_["auto"]["search"]
    settings = [(e["candidate"], e["n_rows"], *e["params"].items()) for e in tried]
    assert len(set(settings)) == len(settings)
    assert tried[-1]["stage"] == "simplex"  # around the best of the first round


def test_kinds_of_models_compete_and_the_best_has_the_rest():
    X, y = ring()
    record = auto(X, y, n_evaluations=50, cv=2).record_["auto"]
    tried = [entry["candidate"] for entry in record["search"]]
    kinds = list(dict.fromkeys(tried))
    assert kinds[:3] == ["pegasos", "arow", "sparsesdca with a curve for each column"]
    assert kinds[3:] == [
        "sparsesdca with curves and pairs of columns",
        "leastsquares with rbf features",
        "leastsquares with rbf features of curves",
        "lssvc",
    ]
    assert tried.count("pegasos") == 1  # it chooses its own step
    assert len(set(tried[-2:])) == 1
    best = max(record["search"], key=lambda entry: entry["score"])
    assert record["score"] == best["score"]


def test_many_rows_are_compared_on_few_first():
    X, y = ring(2_600)
    record = auto(X, y, n_evaluations=16).record_["auto"]
    n_rows = [entry["n_rows"] for entry in record["search"]]
    assert n_rows == sorted(n_rows)
    assert set(n_rows) == {2_000, 2_600}
    on_all = {entry["candidate"] for entry in record["search"] if entry["n_rows"] == 2_600}
    assert 1 < len(on_all) <= 4
    assert "In cross-validation of 2,000 of 2,600 rows (error):" in "\n".join(record["reasons"])


def test_an_even_part_keeps_rare_classes_and_labels():
    y = np.zeros(5_000, dtype=int)
    y[:12] = 1
    plan = Plan(data_of(rows(5_000), y), AutoOptions(), "classification", "error")
    part = _compared_rows.sampled(plan, 500)
    assert 500 <= len(part.data.y) <= 520
    assert 10 <= np.sum(part.data.y == 1) <= 12
    assert _compared_rows.sampled(plan, 5_000) is plan
    again = _compared_rows.sampled(plan, 500)
    assert_array_equal(again.data.X, part.data.X)


# --- yardsticks -------------------------------------------------------------------------------------------------------


def test_yardsticks_stand_beside_the_answer_and_are_never_it():
    X, y = two_classes(200)
    model = auto(X, y, n_evaluations=10, cv=3)
    record = model.record_["auto"]
    assert [each["name"] for each in record["yardsticks"]] == [
        "the most frequent class",
        "logistic regression",
        "gradient-boosted trees",
    ]
    assert all(entry["candidate"].split()[0] in registry.estimators() for entry in record["search"])
    assert "For comparison only (error): the most frequent class 0." in explain(model)
    folds = _compared_rows.make_folds(Plan(data_of(X, y), AutoOptions(cv=3), "classification", "error"))
    mean = np.mean([np.mean(y[test] != max(set(y[train]), key=list(y[train]).count)) for train, test in folds])
    assert_allclose(-record["yardsticks"][0]["score"], mean)


def test_amounts_are_compared_with_the_mean_and_ridge_regression():
    X = rows(200)
    record = auto(X, X[:, 0] + 0.1 * X[:, 1] ** 2, n_evaluations=8, cv=3).record_["auto"]
    assert [each["name"] for each in record["yardsticks"]] == ["the mean", "ridge regression", "gradient-boosted trees"]
    assert not any(each["is_better"] for each in record["yardsticks"])


def test_text_is_read_in_several_ways_and_compared_with_logistic_regression():
    rng = np.random.default_rng(0)
    truth = rng.integers(0, 2, 120)
    words = (["bad", "poor", "day", "sun", "rain"], ["good", "fine", "day", "sun", "rain"])
    frame = pd.DataFrame({"text": [" ".join(rng.choice(words[k], 8)) for k in truth]})
    model = auto(frame, np.array(["no", "yes"], dtype=object)[truth], n_evaluations=20, cv=2)
    record = model.record_["auto"]
    tried = {entry["candidate"] for entry in record["search"]}
    assert {"arow", "arow with pairs of words", "arow with pairs of words, without weights"} <= tried
    assert "sparsesdca" in tried
    assert [each["name"] for each in record["yardsticks"]] == ["the most frequent class", "logistic regression"]
    assert model.score(frame, np.array(["no", "yes"], dtype=object)[truth]) > 0.9


def test_a_yardstick_that_is_clearly_better_is_named_first():
    rng = np.random.default_rng(0)
    X = rng.integers(0, 2, size=(600, 6)).astype(float)
    y = (X[:, :4].sum(axis=1) % 2).astype(int)  # parity, of which a linear method sees nothing
    run = run_auto(X, y, method="arow", kernel="linear", n_evaluations=2, cv=3, predict=True)
    assert "Gradient-boosted trees would do clearly better: error" in explain(run.model)
    text = report_of(run, []).to_text()
    assert "would do clearly better" in " ".join(text.splitlines()[:12])


def test_time_is_limited():
    X, y = two_classes(2000, 20)
    begin = time.monotonic()
    record = auto(X, y, n_evaluations=5000, max_seconds=1.0, kernel="linear").record_["auto"]
    assert time.monotonic() - begin < 5
    assert record["n_evaluations"] < 5000


def test_the_same_seed_gives_the_same_model():
    X, y = two_classes()
    first, again, other = (auto(X, y, n_evaluations=14, cv=2, random_state=seed) for seed in (0, 0, 1))
    assert_array_equal(first.coef_, again.coef_)
    untimed = [
        [{k: v for k, v in e.items() if k != "seconds"} for e in m.record_["auto"]["search"]] for m in (first, again)
    ]
    assert untimed[0] == untimed[1]
    assert first.record_["auto"]["search"][0]["params"] == other.record_["auto"]["search"][0]["params"]
    tried = [[entry["params"] for entry in m.record_["auto"]["search"]] for m in (first, other)]
    assert tried[0] != tried[1]


# --- straight or curved -----------------------------------------------------------------------------------------------


def test_curved_boundaries_are_kept_where_they_help():
    X, y = ring()
    model = auto(X, y, n_evaluations=24, cv=4)
    assert "Boundaries: curved, because" in explain(model)
    fresh = rows(1000, 2, seed=9)
    assert np.mean(model.predict(fresh) == ((fresh**2).sum(axis=1) > 1.4)) > 0.93


def test_straight_boundaries_are_kept_where_they_are_enough():
    X, y = two_classes(600, 2)
    model = auto(X, y, n_evaluations=24, cv=4)
    assert model.record_["auto"]["kernel"] is None
    assert "Boundaries: straight" in explain(model)


def test_a_curved_winner_must_be_clearly_better():
    def found(kernel: str | None, scores: list[float]) -> Any:
        candidate = choose_methods(Plan(data_of(*two_classes()), AutoOptions(), "classification"))[0][0]
        candidate = candidate if kernel is None else _contest.with_kernel(candidate, AutoOptions())
        return _contest.TunedCandidate(candidate, None, {}, np.array(scores), [])

    straight = found(None, [0.8, 0.8, 0.8, 0.8])
    for curved, wins in (([0.82, 0.81, 0.82, 0.81], True), ([0.9, 0.7, 0.9, 0.72], False), ([0.7] * 4, False)):
        best, said = _contest._winner([straight, found("rbf", curved)], str)
        assert (best.candidate.kernel is not None) is wins
        assert "curved" in said[-1]


@pytest.mark.parametrize("kernel", ["linear", *KERNELS])
def test_the_kernel_can_be_chosen(kernel):
    X, y = ring(120)
    model = auto(X, y, kernel=kernel, n_evaluations=2, cv=2)
    assert model.record_["auto"]["kernel"] == KERNELS.get(kernel)
    assert ("map" in dict(model.steps)) is (kernel != "linear")
    assert all((" features" in entry["candidate"]) is (kernel != "linear") for entry in model.record_["auto"]["search"])


# --- regression, clusters, few features -------------------------------------------------------------------------------


def test_regression():
    X = rows(200) * [1, 50, 1, 1]
    y = 3 * X[:, 0] + X[:, 1] / 10 + 7 + 0.1 * np.random.default_rng(1).normal(size=200)
    model = auto(X, y, n_evaluations=15, kernel="linear", cv=3)
    assert model.record_["auto"]["task"] == "regression"
    assert model.score(X, y) > 0.98


def test_clusters_are_found_and_counted():
    centres = np.array([[0, 0], [8, 0], [0, 8]])
    X = centres[np.arange(150) % 3] + rows(150, 2)
    model = auto(X, n_evaluations=15, cv=3)
    assert learner(model).n_clusters == 3
    found = model.predict(X)
    assert all(len(set(found[k::3])) == 1 for k in range(3))
    assert learner(auto(X, n_clusters=5, n_evaluations=2, cv=2)).n_clusters == 5
    fixed = learner(auto(X, n_evaluations=2, cv=2, params={"n_clusters": 4, "metric": "cosine", "max_iter": 7}))
    assert (fixed.n_clusters, fixed.metric, fixed.max_iter) == (4, "cosine", 7)


def test_few_features_if_they_are_wanted():
    X, y = two_classes(300, 40)
    few = auto(X, y, sparsity=0.3, n_evaluations=40, cv=3)
    assert type(learner(few)).__name__ == "L1RDAClassifier"
    assert len(learner(few).support_) <= 10
    assert few.score(X, y) > 0.9


@pytest.mark.parametrize("loss", FOR_VALUES)
@pytest.mark.parametrize("method", ["pegasos-regressor", "l1rda-regressor"])
def test_the_unit_of_targets_does_not_matter(method, loss):
    X = rows(100, 5)
    y = X[:, 0] - X[:, 1] + 3
    fixed = {"method": method, "loss": loss, "kernel": "linear", "n_evaluations": 6, "cv": 2, "sparsity": 0.2}
    runs = [auto(X, unit * y, **fixed).record_["auto"]["search"] for unit in (1.0, 1e5)]
    scores = [[np.nan if e["score"] is None else e["score"] for e in run] for run in runs]
    same = np.isclose(*scores, rtol=0.02, equal_nan=True)
    assert np.count_nonzero(~same) <= 1  # rounding decides what steps that are far too long lead to
    fitted = auto(X, 1e5 * y, **fixed | {"sparsity": None, "n_evaluations": 12})
    assert fitted.score(X, 1e5 * y) > 0.9


# --- forms of data ----------------------------------------------------------------------------------------------------


def test_sparse_rows_stay_as_they_are_unless_their_columns_differ_widely():
    X = sparse.random_array((200, 30), density=0.3, rng=0, format="csr")
    y = (X[:, [0]].toarray()[:, 0] > 0.1).astype(int)
    model = auto(X, y, n_evaluations=2)
    assert not hasattr(model, "steps")
    assert "Sparse rows are not scaled." in explain(model)
    sizes = 10.0 ** np.linspace(-3, 3, 30)
    uneven = auto(X @ sparse.diags_array(sizes), y, n_evaluations=2)
    assert next(name for name, _ in uneven.steps) == "scale"
    assert "sizes differ widely" in explain(uneven)
    assert_allclose(column_sizes(sparse.csr_array([[1.0, 0, 0], [3.0, -10, 0]])), (2 + 0.95 * 8) / (2 + 0.05 * 8))


def test_scaling_can_be_refused():
    X, y = two_classes()
    assert "scale" not in dict(auto(X, y, scale=False, n_evaluations=1).steps)


def test_tables_with_words():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"age": rng.normal(40, 9, 200), "town": rng.choice(["Gent", "Köln", "Rome"], 200)})
    frame.loc[3, "age"] = np.nan
    frame["buys"] = np.where((frame.town == "Rome") | (frame.age > 50), "yes", "no")
    model = auto(frame, "buys", n_evaluations=6, cv=3)
    assert model.record_["auto"]["task"] == "classification"
    assert model.score(frame[["age", "town"]], frame["buys"]) > 0.9
    assert {"town=Rome", "age"} <= set(model.get_feature_names_out())
    assert "Text columns become word counts" in explain(model)
    assert "one-hot encoded: town." in explain(model)


def test_columns_that_only_name_rows_are_told():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"id": [f"c{i}" for i in range(60)], "row": np.arange(1, 61), "size": rng.normal(size=60)})
    frame["year"] = np.arange(1960, 2020)  # rises too, but may matter
    answer = np.where(frame["size"] > 0, "big", "small")
    said = explain(auto(frame, answer, n_evaluations=1, cv=2))
    assert "'id', 'row' only identify rows: leave them out.\n" in said + "\n"
    assert "identif" not in explain(auto(frame[["size", "year"]], answer, n_evaluations=1, cv=2))


def test_a_file_is_the_same_as_its_rows(tmp_path):
    X, y = two_classes()
    path = csv(tmp_path / "data.csv", X, y, "a,b,c,d,answer")
    frame = pd.DataFrame(X, columns=list("abcd"))
    from_file = auto(path, target="answer", n_evaluations=3, cv=2)
    from_frame = auto(frame, y, n_evaluations=3, cv=2)
    assert_array_equal(from_file.coef_, from_frame.coef_)
    assert_array_equal(auto(open_stream(path), n_evaluations=3, cv=2).coef_, from_file.coef_)
    assert_array_equal(auto([path], n_evaluations=3, cv=2).coef_, from_file.coef_)
    assert_array_equal(auto(str(tmp_path / "*.csv"), n_evaluations=3, cv=2).coef_, from_file.coef_)
    assert_array_equal(from_file.predict(frame), from_frame.predict(frame))


def test_how_a_file_was_read_is_kept(tmp_path):
    path = tmp_path / "data.csv"
    path.write_text("a;b\n" + "1,5;0\n2,5;1\n" * 20)
    record = auto(path, delimiter=";", text_columns=["a"], n_evaluations=1, cv=2).record_
    assert record["stream"] == {"delimiter": ";"}
    assert record["layout"]["columns"] == ["a"]
    assert record["layout"]["target"] == "b"


def test_whole_numbers_in_a_file_are_labels_as_written(tmp_path):
    X, y = two_classes()
    path = csv(tmp_path / "data.csv", X, np.where(y == "yes", 1, 0))
    model = auto(path, n_evaluations=1)
    assert model.classes_.dtype.kind == "i"
    assert model.record_["data"]["classes"].keys() == {"0", "1"}


def test_without_a_target_the_last_column_counts_too(tmp_path):
    path = csv(tmp_path / "data.csv", rows(60, 2), rows(60, 1)[:, 0])
    assert auto(path, task="clustering", n_evaluations=1).n_features_in_ == 3
    assert auto(path, target=None, n_evaluations=1).n_features_in_ == 3


@pytest.mark.parametrize("scale", [None, True])
def test_sparse_files_may_differ_in_width(tmp_path, scale):
    path = tmp_path / "data.svm"
    path.write_text("1 1:1 3:2\n-1 2:1 3:2\n" * 20)
    model = auto(path, n_evaluations=1, scale=scale)
    assert_array_equal(model.predict(sparse.csr_array([[1.0, 0.0]])), [1])
    assert_array_equal(model.predict(sparse.csr_array([[0.0, 1.0, 0.0, 9.0]])), [-1])


# --- files larger than memory -----------------------------------------------------------------------------------------


def test_a_large_file_is_tuned_on_a_part_and_learned_whole(tmp_path):
    X, y = two_classes(1000)
    path = csv(tmp_path / "data.csv", X, y)
    model = auto(path, n_evaluations=3, kernel="linear", max_rows=200, batch_size=64)
    assert learner(model).n_samples_seen_ == 1000
    assert "trained on all of them in one pass" in explain(model)
    assert model.record_["data"]["n_rows"] == 1000
    assert model.record_["history"]["rows"][-1] == 1000
    assert model.score(X, y) > 0.9


def test_the_part_is_even(tmp_path):
    y = np.arange(1000)
    path = csv(tmp_path / "data.csv", rows(1000, 1), y)
    part = gather(str(path), None, AutoOptions(max_rows=300), {"batch_size": 37})
    assert_array_equal(part.y, np.arange(0, 1000, 4))
    assert part.facts.n_rows == 1000
    assert gather(str(path), None, AutoOptions(max_rows=1000), {}).rest is None


def test_rare_classes_in_a_stream_weigh_by_their_counts(tmp_path):
    X, y = rare(1000)
    path = csv(tmp_path / "data.csv", X, y)
    model = auto(path, method="arow", kernel="linear", n_evaluations=2, max_rows=400)
    assert learner(model).class_weight == {0: 1000 / 2 / 950, 1: 1000 / 2 / 50}
    assert learner(model).n_samples_seen_ == 1000


def test_a_file_sorted_by_target_is_learned_from_an_even_part(tmp_path):
    X, y = two_classes(1000)
    order = np.argsort(y)
    path = csv(tmp_path / "data.csv", X[order], y[order])
    model = auto(path, n_evaluations=2, kernel="linear", max_rows=300)
    assert "sorted by target" in explain(model)
    assert model.score(X, y) > 0.9


@pytest.mark.parametrize("kernel", ["rbf", "polynomial"])
def test_curved_boundaries_of_a_large_file_have_landmarks_in_the_part_and_are_learned_from_all(tmp_path, kernel):
    X, y = ring(1000)
    path = csv(tmp_path / "data.csv", X, y)
    model = auto(path, kernel=kernel, n_evaluations=4, max_rows=200, batch_size=64)
    assert "trained on all of them in one pass" in explain(model)
    assert learner(model).n_samples_seen_ == 1000
    assert model["map"].n_rows_seen_ == 125
    assert len(model["map"].component_indices_) == 23  # 2 sqrt(125): as many as it was tuned with
    assert model.score(X, y) > 0.9


def test_a_kernel_machine_needs_no_map():
    X, y = ring()
    model = auto(X, y, method="lssvc", n_evaluations=40, cv=3)
    assert "map" not in dict(model.steps)
    assert "map" not in explain(model)
    assert model.score(X, y) > 0.95


def test_a_map_may_compare_directions():
    X = rows(300, 3)
    y = (np.abs(X[:, 0]) > np.abs(X[:, 1])).astype(int)
    model = auto(X, y, kernel="cosine", n_evaluations=3)
    assert model["map"].kernel == model.record_["auto"]["kernel"] == "cosine"


@pytest.mark.parametrize("n_distinct", [2, 3])
def test_no_more_clusters_than_rows_differ(n_distinct):
    """Further clusters would stay empty, and no better."""
    X = np.repeat(np.random.default_rng(0).normal(size=(n_distinct, 3)), 30, axis=0)
    assert learner(auto(X, n_evaluations=14)).n_clusters == n_distinct


def test_clusters_of_a_large_file_come_from_the_part(tmp_path):
    X, y = ring(600)
    path = csv(tmp_path / "data.csv", X, y)
    clusters = auto(path, task="clustering", n_evaluations=2, max_rows=200)
    assert "trained on these only, because sparsekmeans" in explain(clusters)


def test_many_rows_in_memory_are_tuned_on_some_and_learned_all():
    X, y = two_classes(1000)
    model = auto(X, y, n_evaluations=2, kernel="linear", max_rows=200)
    assert "tuned on 200 of 1,000 rows, and the final model was trained on all" in explain(model)
    assert learner(model).n_samples_seen_ == 1000 * learner(model).n_iter_


# --- what is kept -----------------------------------------------------------------------------------------------------


def test_the_record_is_plain_and_saved_with_the_model(tmp_path):
    X, y = ring(150)
    model = run_auto(X, y, n_evaluations=24, cv=2, record={"mine": 1}).model
    assert json.loads(json.dumps(model.record_)) == model.record_
    assert {"task", "method", "loss", "criterion", "params", "score", "reasons", "search"} <= model.record_[
        "auto"
    ].keys()
    assert model.record_["data"]["n_rows"] == 150
    assert model.record_["mine"] == 1
    save_model(model, tmp_path / "m.thresher")
    again = load_model(tmp_path / "m.thresher")
    assert again.record_ == model.record_
    assert explain(again) == explain(model)
    assert_array_equal(again.predict(X), model.predict(X))


def test_a_model_of_someone_else_has_no_explanation():
    X, y = two_classes(20)
    with pytest.raises(ValueError, match=r"model must come from thresher\.auto"):
        explain(AROWClassifier().fit(X, y))


@pytest.mark.parametrize(("n", "d"), [(60, 300), (2500, 4)])
def test_predictions_are_of_rows_that_were_not_learned(n, d):
    X = rows(n, d)
    y = np.random.default_rng(1).permutation(np.arange(n) % 2)  # nothing to learn, and room to remember everything
    run = run_auto(X, y, n_evaluations=2, method="arow", kernel="linear", predict=True)
    assert run.held_out.n_rows == n == len(run.held_out.y)
    assert sorted(run.held_out.y) == sorted(y)
    assert 0.3 < np.mean(run.held_out.predicted != run.held_out.y) < 0.7
    assert run.held_out.scores.shape == (n,)
    assert len(run.sample[0]) <= 1000


def test_a_stream_is_predicted_before_it_is_learned(tmp_path):
    X, y = two_classes(1000)
    path = csv(tmp_path / "data.csv", X, y)
    run = run_auto(path, n_evaluations=2, kernel="linear", max_rows=200, batch_size=100, predict=True)
    assert run.held_out.n_rows == 900
    assert np.mean(run.held_out.predicted == run.held_out.y) > 0.9


def test_a_method_that_cannot_learn_drops_out(monkeypatch):
    def refuses(self: Any, X: Any, y: Any, sample_weight: Any = None) -> Any:
        raise ValueError("no.")

    monkeypatch.setattr(AROWClassifier, "fit", refuses)
    X, y = two_classes()
    model = auto(X, y, n_evaluations=36, cv=2)
    assert "arow was left out: no." in explain(model)
    assert model.record_["auto"]["method"] == "pegasos"
    with pytest.raises(ValueError, match=r"^no\.$"):
        auto(X, y, method="arow")


# --- refusals ---------------------------------------------------------------------------------------------------------

X3, Y3 = two_classes(30)
WORDS = [["a", "b"]] * 30
REFUSALS: list[tuple[tuple[Any, ...], dict[str, Any], str]] = [
    (
        (X3, Y3, "ranking"),
        {},
        "task must be None or one of 'classification', 'regression', 'clustering', got 'ranking'.",
    ),
    ((X3, Y3), {"method": "svm"}, "method must be one of 'adaptivel1rda',"),
    ((X3, Y3), {"method": "arow", "loss": "hinge"}, "method 'arow' has no choice of losses, got loss='hinge'."),
    ((X3, Y3), {"method": "pegasos", "loss": "quantile"}, "loss must be one of 'hinge',"),
    ((X3, Y3), {"loss": "quantile"}, "loss must be one of 'hinge',"),
    ((X3, Y3), {"n_evaluations": 0}, "n_evaluations must be an integer of at least 1, got 0."),
    ((X3, Y3), {"sparsity": 2}, "sparsity must be None or a number between 0 and 1, got 2."),
    ((X3, Y3), {"kernel": "cubic"}, "kernel must be None or one of 'linear',"),
    ((X3, Y3), {"params": {"speed": 1}}, "params must name parameters of 'pegasos', got 'speed'."),
    ((X3, Y3), {"cv": 50}, "cv must be at least 2 and at most the number of rows (30), got 50."),
    ((X3, Y3[:-1]), {}, "y must have one target per row, got 29 for 30 rows."),
    ((X3, [None, np.nan] * 15), {}, "the target is missing in every row; name another column with target=."),
    ((X3, ["yes", None] * 15), {}, "all rows have the same target, 'yes'; there is nothing to learn."),
    ((X3, Y3), {"unlabelled_label": ""}, "unlabelled_label='' stands for rows without a target, but every row has"),
    ((X3, np.ones((30, 2))), {}, "y must be one column of targets, got an array of shape (30, 2)."),
    ((X3, "answer"), {}, "target names a column, so X must be a data frame or a file, got ndarray."),
    ((X3, np.ones(30)), {}, "all rows have the same target, 1; there is nothing to learn."),
    (
        (X3, [f"${k},000" for k in range(30)]),
        {},
        "targets that are text must repeat, got 30 different values in 30 rows; name another column with target=,",
    ),
    ((X3, Y3, "regression"), {}, "regression needs targets that are numbers, got text."),
    ((X3, None, "regression"), {}, "regression needs targets, and there are none."),
    ((X3[:3], Y3[:3]), {}, "at least 4 rows are needed to compare models, got 3."),
    (
        (X3, np.arange(30)),
        {"task": "classification"},
        "at least two classes must have 2 rows each, but the second largest has 1.",
    ),
    ((X3, [0] * 27 + [1] * 3), {"cv": 4}, "at least two classes must have 4 rows each, but the second largest has 3."),
    ((WORDS, Y3), {}, "X must hold numbers; text needs a data frame or a file."),
    ((X3[0], Y3), {}, "X must be rows of numbers, got float64 of 1 dimension(s)."),
    ((X3, Y3), {"target": "a"}, "y and target= cannot both be given, because each of them names the targets."),
    (("data.csv", Y3), {}, "y must be None when X is a file; name its column with target=."),
]


@pytest.mark.parametrize(("arguments", "options", "sentence"), REFUSALS)
def test_refusals_are_one_sentence(arguments, options, sentence):
    with pytest.raises(ValueError) as refusal:
        auto(*arguments, **options)
    assert str(refusal.value).startswith(f"auto: {sentence}")
    assert "\n" not in str(refusal.value)


def test_values_that_no_learner_takes_are_named():
    X = rows(30)
    X[7, 2] = np.inf
    with pytest.raises(ValueError, match="inf") as refusal:
        auto(X, np.arange(30) % 2, n_evaluations=2)
    assert "\n" not in str(refusal.value)


@pytest.mark.filterwarnings("ignore:auto. the best model does worse")  # there is nothing to learn
@pytest.mark.filterwarnings("error")
def test_rare_classes_do_not_spoil_the_folds():
    y = np.zeros(60, dtype=int)
    y[:3], y[3:5] = 1, 2
    assert list(auto(rows(60), y, n_evaluations=1).classes_) == [0, 1, 2]
    assert list(auto(rows(60), y == 1, n_evaluations=1).classes_) == [False, True]


def test_misspelt_arguments_are_refused(tmp_path):
    path = csv(tmp_path / "data.csv", X3, Y3)
    for X in (X3, path):
        with pytest.raises(TypeError, match=r"there is no parameter 'n_evaluation'; similar names: n_evaluations\.$"):
            auto(X, n_evaluation=3)


def test_criteria_are_those_of_the_tuner():
    from thresher.tuning import criterion

    for names_of_task in CRITERIA.values():
        for name in names_of_task:
            assert criterion(name).name == name
