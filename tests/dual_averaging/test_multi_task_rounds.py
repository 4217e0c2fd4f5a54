"""Tasks and rounds: chunks, files, shards, growth, orders and what is refused."""

from __future__ import annotations

import copy
import itertools
import pickle

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn import config_context
from sklearn.kernel_approximation import RBFSampler
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline

from thresher import inspection, onepass, registry
from thresher._engine import _task_rounds as _tasks
from thresher.cli import main
from thresher.dual_averaging import (
    MultiTaskFOBOSClassifier,
    MultiTaskFOBOSRegressor,
    MultiTaskRDAClassifier,
    MultiTaskRDARegressor,
)
from thresher.persistence import load_model, save_model
from thresher.training import merge_models
from variants import assert_same_bits, bits, name_of

NAMES = np.array(["oak", "elm", "fir", "ash"])
MODELS = [
    MultiTaskRDAClassifier(alpha=0.02, eta0=1.0),
    MultiTaskRDAClassifier("l1", alpha=0.02, fit_intercept=False),
    MultiTaskRDAClassifier("l1_l21", alpha=0.02, loss="logistic"),
    MultiTaskRDARegressor("lp1", p=np.inf, alpha=0.02, eta0=0.1),
    MultiTaskRDARegressor("lp1", p=3.0, alpha=0.02, eta0=0.1),
    MultiTaskFOBOSClassifier(alpha=0.02, eta0=0.1),
    MultiTaskFOBOSClassifier("lp1", p=np.inf, alpha=0.02, eta0=0.1),
    MultiTaskFOBOSRegressor("l1_l21", alpha=0.02, eta0=0.1),
    MultiTaskFOBOSRegressor("l1", alpha=0.02, eta0=0.1, loss="epsilon_insensitive"),
]
over_all = pytest.mark.parametrize("model", MODELS, ids=name_of)


def rows(model, n_rows=90, n_features=7, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, n_features)) * (rng.random((n_rows, n_features)) < 0.4)
    tasks = NAMES[rng.choice(4, size=n_rows, p=[0.5, 0.25, 0.15, 0.1])]
    y = X[:, 0] * np.where(tasks == "oak", 1, 2) - X[:, 1] + 0.2 * rng.normal(size=n_rows)
    weight = rng.exponential(size=n_rows) * (rng.random(n_rows) < 0.8)
    return sparse.csr_array(X), (y if hasattr(model, "epsilon") else y > 0), tasks, weight


def learn(model, X, y, tasks, cuts=(), fresh=True, **options):
    model = copy.deepcopy(model)
    for begin, end in itertools.pairwise([0, *sorted(cuts), X.shape[0]]):
        part = {k: v[begin:end] for k, v in options.items()}
        if not hasattr(model, "epsilon") and not hasattr(model, "state_"):
            part["classes"] = [False, True]
        model.partial_fit(X[begin:end], y[begin:end], tasks=tasks[begin:end], **part)
    return model


# --- chunks, files, shards ------------------------------------------------------------------------------------------


@over_all
@settings(max_examples=8, deadline=None)
@given(cuts=st.sets(st.integers(1, 89)), named=st.booleans())
def test_any_chunks_give_the_same_bits_wherever_rounds_are_cut(model, cuts, named):
    X, y, tasks, weight = rows(model)
    said = {"sample_weight": weight}
    if named:
        turns = pd.Series(np.arange(90)).groupby(tasks).cumcount().to_numpy()
        order = np.argsort(turns, kind="stable")  # a task at most once in a round
        X, y, tasks, said = (
            X[order],
            y[order],
            tasks[order],
            {"sample_weight": weight[order], "round_ids": turns[order]},
        )
    whole = learn(model, X, y, tasks, **said)
    cut = learn(model, X, y, tasks, cuts, **said)
    assert_same_bits(cut.state_, whole.state_)
    assert_array_equal(cut.tasks_, whole.tasks_)
    assert_array_equal(cut.coef_, whole.coef_)


@over_all
def test_fit_in_row_order_is_partial_fit_with_the_last_round_closed(model):
    X, y, tasks, weight = rows(model)
    fitted = copy.deepcopy(model).set_params(shuffle=False, max_iter=1).fit(X, y, tasks=tasks, sample_weight=weight)
    streamed = learn(model, X, y, tasks, [40], sample_weight=weight)
    assert streamed.state_.arrays["is_open"][0, 0] == 1
    assert_array_equal(streamed.coef_, fitted.coef_)  # reading shows the open round as if it were closed
    before = bits(streamed.state_)
    streamed.predict(X, tasks)
    assert bits(streamed.state_) == before
    onepass.learner(streamed, X.shape[1]).finish(streamed.state_)
    assert_same_bits(streamed.state_, fitted.state_)


@over_all
@pytest.mark.parametrize("way", ["pickle", "file"])
def test_saved_in_an_open_round_and_continued_is_never_stopped(model, way, tmp_path):
    X, y, tasks, weight = rows(model)
    stopped = learn(model, X[:40], y[:40], tasks[:40], sample_weight=weight[:40])
    if way == "file":
        save_model(stopped, tmp_path / "m")
        again = load_model(tmp_path / "m")
    else:
        again = pickle.loads(pickle.dumps(stopped))
    assert_array_equal(again.tasks_, stopped.tasks_)
    again = learn(again, X[40:], y[40:], tasks[40:], sample_weight=weight[40:])
    assert_same_bits(again.state_, learn(model, X, y, tasks, sample_weight=weight).state_)


def test_a_file_with_tasks_that_do_not_fit_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr("thresher.persistence._model_files._check_loads", lambda *_: None)
    model = learn(MODELS[0], *rows(MODELS[0])[:3])
    for wrong in (model.tasks_[:2], np.array(["a", "a", "b", "c"]), np.array([0.5, 1, 2, 3])):
        bad = copy.deepcopy(model)
        bad.tasks_ = wrong
        save_model(bad, tmp_path / "m")
        with pytest.raises(ValueError, match=r"tasks_ must hold labels|sizes of the state"):
            load_model(tmp_path / "m")


@pytest.mark.parametrize("model", [MODELS[0], MODELS[4]], ids=name_of)
def test_gradient_sums_and_rounds_of_shards_add_up(model):
    X, y, tasks, _ = rows(model)
    tasks[[0, 1, 2, 3, 45, 46, 47, 48]] = np.tile(NAMES, 2)  # both shards meet the tasks in this order
    shards = [learn(model, X[part], y[part], tasks[part]) for part in (slice(45), slice(45, 90))]
    merged = merge_models(shards)
    for name in ("gradient_sum", "n_seen", "n_rounds"):
        opened = [s.state_.arrays["is_open"][0, 0] if name == "n_rounds" else 0 for s in shards]
        total = sum(s.state_.arrays[name] + o for s, o in zip(shards, opened, strict=True))
        assert_allclose(merged.state_.arrays[name], total, rtol=1e-15)
    view = merged.state_.view(0)
    mean = merged.state_.arrays["gradient_sum"][0, :-1] / view["n_seen"]
    if model.penalty == "l21":
        shrunk = np.maximum(1 - model.alpha / np.linalg.norm(mean, axis=1), 0)[:, None] * mean
        assert_allclose(merged.coef_.T, -model.eta0 * np.sqrt(view["n_rounds"]) * shrunk, rtol=1e-11)
    with pytest.raises(ValueError, match="models must have the same tasks"):
        merge_models([shards[0], learn(model, X, y, tasks[::-1])])


@pytest.mark.parametrize("model", [m for m in MODELS if "FOBOS" in type(m).__name__], ids=name_of)
def test_merged_fobos_is_the_mean_and_owes_nothing(model):
    X, y, tasks, _ = rows(model)
    tasks[:4] = NAMES
    start = learn(model, X[:30], y[:30], tasks[:30])
    shards = [learn(start, X[part], y[part], tasks[part]) for part in (slice(30, 60), slice(60, 90))]
    merged = merge_models(shards, start)
    assert_allclose(merged.coef_, (shards[0].coef_ + shards[1].coef_) / 2, rtol=1e-12, atol=1e-15)
    assert merged.state_.view(0)["n_rounds"][0] > max(s.state_.view(0)["n_rounds"][0] for s in shards)
    learn(merged, X, y, tasks)


@over_all
def test_features_and_tasks_that_appear_later_are_as_if_they_had_been_known(model):
    X, y, tasks, _ = rows(model)
    X = X.toarray()
    X[:50, 4:] = 0
    tasks[:50] = np.where(np.isin(tasks[:50], NAMES[:2]), tasks[:50], "oak")
    knew = learn(model, sparse.csr_array(X), y, tasks)
    grew = copy.deepcopy(model)
    announced = {} if hasattr(model, "epsilon") else {"classes": [False, True]}
    grew.partial_fit(sparse.csr_array(X[:50, :4]), y[:50], tasks=tasks[:50], grow=True, **announced)
    assert grew.coef_.shape == (2, 4)
    grew.partial_fit(sparse.csr_array(X[50:]), y[50:], tasks=tasks[50:], grow=True)
    assert grew.coef_.shape == (4, 7)
    assert_same_bits(grew.state_, knew.state_)
    assert_array_equal(grew.tasks_, knew.tasks_)


@over_all
def test_rows_of_weight_zero_are_absent_and_so_are_their_tasks(model):
    X, y, tasks, weight = rows(model)
    with_them = learn(model, X, y, np.where(weight == 0, "new", tasks), sample_weight=weight)
    without = learn(model, X[weight > 0], y[weight > 0], tasks[weight > 0], sample_weight=weight[weight > 0])
    assert_same_bits(with_them.state_, without.state_)
    assert_array_equal(with_them.tasks_, without.tasks_)


def test_a_round_costs_no_more_for_tasks_that_are_absent():
    """The penalty l1 touches a row's own entries only: no sweep over tasks, however many there are."""
    wide = MultiTaskRDAClassifier("l1", alpha=0.0, fit_intercept=False)
    wide.partial_fit(np.ones((5000, 1)), np.tile([0, 1], 2500), tasks=np.arange(5000), classes=[0, 1])
    assert wide.state_.arrays["n_rounds"][0, 0] == 0
    wide.partial_fit(np.ones((1, 1)), [1], tasks=[7])
    assert wide.state_.arrays["n_rounds"][0, 0] == 1
    assert_array_equal(wide.state_.arrays["n_seen"][0, :9], [1, 1, 1, 1, 1, 1, 1, 2, 1])


# --- orders ---------------------------------------------------------------------------------------------------------


def target_of(tasks, ids=None, weight=None):
    labels, codes = _tasks.read_tasks(tasks, np.empty(0), np.ones(len(tasks), bool), "who")
    present = np.ones(len(tasks), bool) if weight is None else weight > 0
    rounds = _tasks.read_rounds(ids, len(tasks), True, "who")
    return _tasks.TaskTarget(np.zeros(len(tasks)), None, labels, codes, rounds, present)


def rounds_of(order, target):
    """How the core cuts an order into rounds."""
    out, held = [], set()
    for i in order.tolist():
        if not target.present[i]:
            continue
        if not out or target.codes[i] in held or target.rounds[i] != target.rounds[out[-1][-1]]:
            out.append([])
            held = set()
        out[-1].append(i)
        held.add(target.codes[i])
    return out


@settings(max_examples=60, deadline=None)
@given(tasks=st.lists(st.integers(0, 4), min_size=1, max_size=40), seed=st.integers(0, 99), data=st.data())
def test_a_shuffled_pass_deals_one_row_of_each_task_to_a_round(tasks, seed, data):
    weight = np.array(data.draw(st.lists(st.sampled_from([0.0, 1.0]), min_size=len(tasks), max_size=len(tasks))))
    weight[0] = 1.0
    target = target_of(tasks, weight=weight)
    passes = [next(p) for p in _tasks.round_orders(target, 3, None, np.random.default_rng(seed))]
    assert len(passes) == 3
    for order in passes:
        assert_array_equal(np.sort(order), np.arange(len(tasks)))
    seen = np.bincount(target.codes[weight > 0])
    rounds = rounds_of(np.concatenate(passes), target)
    assert len(rounds) == 3 * seen.max()
    for k, held in enumerate(rounds):  # in round k of a pass, the tasks that have more than k rows
        assert len(held) == np.count_nonzero(seen > k % seen.max())


def test_a_shuffled_pass_keeps_rounds_with_ids():
    tasks = ["a", "b", "a", "b", "c", "a", "c", "b"]
    ids = [5, 5, 6, 6, 6, 9, 9, 5]  # the last is a round of its own
    target = target_of(tasks, ids)
    runs = {(0, 1), (2, 3, 4), (5, 6), (7,)}
    seen = set()
    for p in _tasks.round_orders(target, 30, None, np.random.default_rng(0)):
        order = next(p)
        seen.add(tuple(order))
        places = [tuple(sorted(run)) for run in np.split(order, np.flatnonzero(np.diff(np.array(ids)[order])) + 1)]
        assert set(itertools.chain(*places)) == set(range(8))
        for run in runs:
            where = [list(order).index(i) for i in run]
            assert where == list(range(where[0], where[0] + len(run)))
    assert len(seen) > 10


@pytest.mark.parametrize("shuffle", [True, False])
@pytest.mark.parametrize("n_steps", [1, 3, 50, 200])
def test_a_budget_counts_rounds(shuffle, n_steps):
    X, y, tasks, _ = rows(MODELS[0])
    model = MultiTaskRDAClassifier(n_steps=n_steps, shuffle=shuffle, random_state=0).fit(X, y, tasks=tasks)
    assert model.state_.arrays["n_rounds"][model.race_["chosen"], 0] == n_steps


def test_passes_visit_every_row_as_often():
    X, y, tasks, _ = rows(MODELS[0])
    model = MultiTaskRDAClassifier(max_iter=3, random_state=0).fit(X, y, tasks=tasks)
    counts = np.array([np.sum(tasks == name) for name in model.tasks_])
    chosen = model.race_["chosen"].argmax()
    assert_array_equal(model.state_.arrays["n_seen"][chosen], 3 * counts)
    assert model.state_.arrays["n_rounds"][chosen, 0] == 3 * counts.max()
    assert model.n_samples_seen_ == 270


# --- words ----------------------------------------------------------------------------------------------------------


def test_what_is_wrong_with_tasks_and_rounds_is_said_in_one_sentence():
    X, y, tasks, _ = rows(MODELS[0])
    X, y, tasks = X[:6], y[:6].copy(), np.array(["a", "b", "a", "b", "a", "b"])
    y[:2] = [False, True]
    who = "MultiTaskRDAClassifier: "
    model = MultiTaskRDAClassifier().partial_fit(X, y, tasks=tasks, round_ids=[1, 1, 2, 2, 3, 3], classes=[False, True])
    before, known = bits(model.state_), model.tasks_.copy()
    for said, words in (
        ({"tasks": tasks[:5]}, "tasks must have one entry per row, got 5 for 6 rows"),
        ({"tasks": tasks[:, None].repeat(2, 1)}, "tasks must be one label per row"),
        ({"tasks": [0, 1] * 3}, "tasks must be text as before, got int64"),
        ({"tasks": [0.5, 1] * 3}, "tasks must be whole numbers or text, got float64"),
        ({"tasks": [None, "a"] * 3}, "tasks must be whole numbers or text, got object"),
        ({"tasks": None}, "tasks must be given, one per row, because the model was trained on 2 tasks"),
        ({"round_ids": [4, 4, 4, 5, 5, 5]}, "round_ids must name a task once in a round, got task 'a' again in row 2"),
        ({"round_ids": [3, 4, 4, 5, 5, 6]}, "round_ids must name a task once in a round, got task 'a' again in row 0"),
        ({"round_ids": [4, 4, 5, 5, 6]}, "round_ids must have one entry per row"),
        ({"round_ids": [-1, 4, 4, 5, 5, 6]}, "round_ids must be whole numbers of at least 0"),
        ({"round_ids": ["x"] * 6}, "round_ids must be whole numbers of at least 0"),
    ):
        with pytest.raises(ValueError, match=who + words):
            model.partial_fit(X, y, **({"tasks": tasks} | said))
    for said, words in (
        (None, "tasks must be given"),
        (["a"] * 5, "tasks must have one entry per row"),
        (["a"] * 5 + ["c"], "tasks must be among those of training, got 'c'"),
    ):
        with pytest.raises(ValueError, match=who + words):
            model.predict(X, said)
    with pytest.raises(ValueError, match=who + "Only binary classification is supported, got 3 classes; SharedRDA"):
        MultiTaskRDAClassifier().fit(X, [0, 1, 2, 0, 1, 2], tasks=tasks)
    assert bits(model.state_) == before
    assert_array_equal(model.tasks_, known)


def test_l1_weights_that_do_not_fit_are_refused():
    X, y, tasks, _ = rows(MODELS[0])
    for wrong, words in (
        ([1.0, 2.0], "l1_weight must have one entry per feature, got 2 for 7 features"),
        ([-1.0] * 7, "l1_weight must be numbers of at least 0, got -1.0"),
        (-1.0, "l1_weight must be a number of at least 0"),
    ):
        with pytest.raises(ValueError, match=words):
            MultiTaskRDAClassifier("l1_l21", l1_weight=wrong).fit(X, y, tasks=tasks)
    for p in (0.5, np.nan, "two", True):
        with pytest.raises(ValueError, match="p must be a number of at least 1, or infinity"):
            MultiTaskRDAClassifier("lp1", p=p).fit(X, y, tasks=tasks)


@pytest.mark.parametrize("cls", [MultiTaskRDARegressor, MultiTaskFOBOSRegressor])
def test_weights_that_outgrow_floating_point_are_refused_and_nothing_has_changed(cls):
    X, y, tasks, _ = rows(cls())
    model = learn(cls(eta0=0.1), X, y, tasks)
    before, known = bits(model.state_), model.tasks_.copy()
    wild = sparse.csr_array(np.full((200, 7), 1e60))
    with pytest.raises(FloatingPointError, match=r"overflowed at row \d+; scale .* smaller eta0"):
        model.partial_fit(wild, np.full(200, 1e60), tasks=np.tile(["oak", "yew"], 100))
    assert bits(model.state_) == before
    assert_array_equal(model.tasks_, known)
    with pytest.raises(FloatingPointError):
        model.partial_fit(sparse.hstack([wild, wild]).tocsr(), np.full(200, 1e60), tasks=["yew"] * 200, grow=True)
    assert bits(model.state_) == before
    assert model.coef_.shape == (4, 7)


def test_labels_of_tasks_come_in_many_forms():
    X, y, tasks, _ = rows(MODELS[0])
    truth = learn(MODELS[0], X, y, tasks)
    assert list(truth.tasks_) == list(dict.fromkeys(tasks))
    for form in (list, pd.Series, lambda t: t.astype(object), lambda t: pd.Categorical(t), lambda t: t[:, None]):
        model = copy.deepcopy(MODELS[0]).partial_fit(X, y, tasks=form(tasks), classes=[False, True])
        assert_same_bits(model.state_, truth.state_)
        assert_array_equal(model.predict(X, form(tasks)), truth.predict(X, tasks))
    numbers = (1 + np.unique(tasks, return_inverse=True)[1]) * 10
    for dtype in (np.int8, np.uint16, np.float64):
        model = copy.deepcopy(MODELS[0]).partial_fit(X, y, tasks=numbers.astype(dtype), classes=[False, True])
        assert model.tasks_.dtype == np.int64
        assert_same_bits(model.state_, truth.state_)


def test_a_single_named_task_need_not_be_named_again_to_predict():
    X, y, _, _ = rows(MODELS[0])
    model = learn(MODELS[0], X, y, np.full(90, "only"))
    assert_array_equal(model.predict(X), model.predict(X, ["only"] * 90))
    assert model.score(X, y) == model.score(X, y, tasks=["only"] * 90)


# --- around it ------------------------------------------------------------------------------------------------------


def test_the_lab_knows_that_tasks_are_needed():
    needs = {m.name: m.needs for m in registry.methods()}
    for name in ("multitaskrda", "multitaskrda-regressor", "multitaskfobos", "multitaskfobos-regressor"):
        assert needs[name] == ("tasks",)
    assert needs["sharedrda"] == ()


@pytest.mark.parametrize("command", ["train", "tune"])
def test_the_command_line_says_that_files_have_no_tasks(command, tmp_path, capsys):
    (tmp_path / "x.svm").write_text("1 1:1\n-1 1:-1\n")
    given = [command, str(tmp_path / "x.svm"), "--method", "multitaskrda", "--model", str(tmp_path / "m")]
    assert main(given) == 2
    assert "multitaskrda needs the task of each row" in capsys.readouterr().err


def test_features_that_matter_are_told_by_task():
    X, y, tasks, _ = rows(MODELS[0])
    tasks = np.where(tasks == "oak", "oak", "elm")  # two tasks, and two classes
    model = learn(MODELS[0], X, y, tasks)
    best = inspection.features_that_matter(model)[0]
    assert set(best.weights) == {"oak", "elm"}


def test_tasks_are_routed_by_scikit_learn():
    X, y, tasks, _ = rows(MODELS[0], n_rows=300)
    with config_context(enable_metadata_routing=True):
        model = MultiTaskRDAClassifier(alpha=0.02, random_state=0)
        model.set_fit_request(tasks=True).set_score_request(tasks=True).set_predict_request(tasks=True)
        scores = cross_val_score(model, X.toarray(), y, params={"tasks": tasks}, cv=3)
    assert scores.min() > 0.65


def test_a_feature_map_in_front_learns_tasks_that_are_not_linear():
    """Circles whose radius differs by task: no linear model tells inside from outside."""
    rng = np.random.default_rng(0)
    X, tasks = rng.uniform(-1.5, 1.5, size=(3000, 2)), rng.integers(3, size=3000)
    y = np.linalg.norm(X, axis=1) < np.array([0.7, 0.9, 1.1])[tasks]
    learner = MultiTaskRDAClassifier(alpha=1e-3, eta0=3.0, intercept_scaling=1.0, random_state=0)
    half = slice(0, 2000)
    linear = copy.deepcopy(learner).fit(X[half], y[half], tasks=tasks[half])
    curved = make_pipeline(RBFSampler(gamma=1.0, n_components=200, random_state=0), learner)
    curved.fit(X[half], y[half], multitaskrdaclassifier__tasks=tasks[half])
    truth = y[2000:]
    assert np.mean(linear.predict(X[2000:], tasks[2000:]) == truth) < 0.8
    assert np.mean(curved.predict(X[2000:], tasks=tasks[2000:]) == truth) > 0.93


def test_penalties_that_fobos_still_owes_are_those_of_the_old_alpha():
    X, y, tasks, _ = rows(MODELS[5])
    model = learn(MODELS[5], X, y, tasks)
    before = model.coef_.copy()
    model.set_params(alpha=0.0).partial_fit(sparse.csr_array((1, 7)), [True], tasks=["oak"])
    assert before.any()
    assert_allclose(model.coef_, before, rtol=1e-12)  # what was owed is paid, and nothing since
