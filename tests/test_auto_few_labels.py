"""``auto`` with few labels: what takes part, and when unlabelled rows are believed."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import sparse
from sklearn.datasets import make_moons
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import NearestNeighbors

from thresher import auto, explain
from thresher._auto import AutoOptions, make_plan
from thresher._auto._candidate_model import build
from thresher._auto._contest import for_comparison, line_up
from thresher._auto._evaluation import TunedCandidate
from thresher._auto._few_labels import choose, follows_neighbors
from thresher._auto._plan import Candidate, Plan

ALONE = "lapsvc of the labelled rows alone"


def few(truth: np.ndarray, n_labels: int) -> np.ndarray:
    return np.where(np.arange(len(truth)) < n_labels, truth, -1)


def noise(n: int = 200, n_labels: int = 40) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Two classes in three of 60 columns: neighbours say nothing."""
    X = np.random.default_rng(1).normal(size=(n, 60))
    truth = (X[:, :3].sum(axis=1) > 0).astype(int)
    return X, few(truth, n_labels), truth


def plan_of(X: Any, y: Any, **options: Any) -> tuple[Plan, list[Candidate]]:
    plan, candidates, _ = make_plan(X, y, AutoOptions(unlabelled_label=-1, **options), {})
    return plan, line_up(candidates, plan)


# --- the answer -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", [0, 1])
def test_five_labels_spread_along_two_moons(seed):
    X, truth = make_moons(200, noise=0.05, random_state=seed)
    y = np.full(200, -1)
    for label, n in (0, 3), (1, 2):
        y[np.flatnonzero(truth == label)[:n]] = label
    model = auto(X, y, unlabelled_label=-1)
    assert np.mean(model.predict(X) == truth) == 1
    assert "Unlabelled rows are used, because neighbouring rows tend to share a label" in explain(model)


def test_the_labelled_rows_alone_answer_where_neighbours_say_nothing():
    X, y, truth = noise()
    model = auto(X, y, unlabelled_label=-1, cv=3)
    assert "Only labelled rows are used" in explain(model)
    assert model[-1].alpha_graph == 0
    known = y >= 0
    logistic = LogisticRegression().fit(X[known], y[known])
    assert np.mean(model.predict(X) == truth) > logistic.score(X, truth) - 0.02


def test_two_heaps_in_many_columns_are_found_where_neighbours_say_little():
    rng = np.random.default_rng(0)
    truth = rng.integers(2, size=200)
    X = rng.normal(size=(200, 200)) + 0.18 * (2 * truth - 1)[:, None]
    model = auto(X, few(truth, 30), unlabelled_label=-1, cv=3)
    assert "Unlabelled rows are used, because " in explain(model)
    assert model.record_["auto"]["method"] == "semiksc"
    assert np.mean(model.predict(X) == truth) > 0.97


# --- what takes part --------------------------------------------------------------------------------------------------


def test_a_model_of_the_labelled_rows_takes_part_in_units_of_the_data():
    X, y, _ = noise()
    plan, contest = plan_of(X, y)
    assert [each.name for each in contest][1] == ALONE
    assert contest[-1].name == "semiksc of the two largest clusters"
    assert [each.labelled_only for each in contest].count(True) == 1
    assert contest[1].params["alpha"] == pytest.approx(X.var(axis=0).sum() / 20, rel=0.01)
    halves = sparse.csr_array(np.eye(200, 60) / 2)
    wide = plan_of(halves, y, scale=False)[1]
    assert wide[1].params["alpha"] == pytest.approx((halves.toarray().var(axis=0).sum()) / 20, rel=0.01)
    whole = build(contest[1], plan).fit(X, y)
    known = np.flatnonzero(y >= 0)
    part = contest[1].method.cls(**contest[1].params)
    Z = X
    for _, step in whole.steps[:-1]:
        Z = step.transform(Z)
    assert_allclose(whole.decision_function(X), part.fit(Z[known], y[known]).decision_function(Z), rtol=1e-6)


def test_forms_keep_to_what_the_user_has_settled():
    X, y, _ = noise()
    assert [each.name for each in plan_of(X, y, method="semiksc")[1]] == ["semiksc"]
    assert ALONE not in [each.name for each in plan_of(X, y, params={"spread": 0.5})[1]]
    curved = next(each for each in plan_of(X, y, kernel="rbf")[1] if each.labelled_only)
    assert curved.params["kernel"] == "rbf"
    three = np.where(y < 0, y, np.arange(len(y)) % 3)
    assert "semiksc of the two largest clusters" not in [each.name for each in plan_of(X, three)[1]]


def test_few_labels_are_compared_on_some_of_many_rows():
    X = np.random.default_rng(0).normal(size=(5_000, 2))
    plan, _ = plan_of(X, few((X[:, 0] > 0).astype(int), 50))
    part = for_comparison(plan).data
    assert part.X.shape[0] == 2_000
    assert np.count_nonzero(part.y >= 0) == 50


# --- the rule ---------------------------------------------------------------------------------------------------------


def measured(candidate: Candidate, plan: Plan, wrong: list[int]) -> TunedCandidate:
    """A result with mistakes on these of the labelled rows, in one fold of all."""
    mistakes = np.where(plan.data.y >= 0, 0.0, np.nan)
    mistakes[wrong] = 1.0
    score = -np.array([np.nanmean(mistakes)])
    return TunedCandidate(candidate, None, {}, score, [], plan.data.X.shape[0], mistakes=mistakes)


@pytest.mark.parametrize("n_more, is_alone", [(0, True), (2, True), (3, False), (8, False)])
def test_where_labels_do_not_follow_neighbours_a_gain_must_be_clear(n_more, is_alone):
    X, y, _ = noise()
    plan, (first, alone, *_) = plan_of(X, y)
    results = [measured(first, plan, [0]), measured(alone, plan, list(range(1 + n_more)))]
    best, (why,) = choose(results, plan)
    assert best.candidate.labelled_only == is_alone
    error = np.sqrt(n_more + 1) / 40  # of the rows on which they differ, and one more
    assert f"by {n_more / 40:.3g} (standard error {error:.2g})" in why
    assert (n_more > 1.28 * np.sqrt(n_more + 1)) != is_alone


@pytest.mark.parametrize("n_more, is_alone", [(-1, True), (0, False), (1, False)])
def test_where_labels_follow_neighbours_no_loss_is_enough(n_more, is_alone):
    X, truth = make_moons(120, noise=0.05, random_state=0)
    plan, (first, alone, *rest) = plan_of(X, few(truth, 40))
    results = [measured(first, plan, [0, 1]), measured(alone, plan, list(range(2 + n_more)))]
    assert choose(results, plan)[0].candidate.labelled_only == is_alone
    heaps = next(each for each in rest if each.note)  # compares by distances
    results[0] = measured(heaps, plan, [0, 1])
    assert choose(results, plan)[0].candidate.labelled_only


def test_rows_of_a_rare_class_count_more_where_classes_are_weighed():
    X, _, _ = noise(200, 100)
    y = np.where(np.arange(200) < 100, (np.arange(200) < 8).astype(int), -1)
    plan, (first, alone, *_) = plan_of(X, y)
    assert plan.criterion == "balanced_error"
    best, (why,) = choose([measured(first, plan, [50]), measured(alone, plan, [0, 1, 2, 3])], plan)
    assert f"by {(4 / 8 - 1 / 92) / 2:.3g} (" in why
    assert not best.candidate.labelled_only


# --- labels and neighbours --------------------------------------------------------------------------------------------


def spread_share(X: np.ndarray, codes: np.ndarray, seed: int = 0) -> float:
    """The same by many small steps along the edges."""
    n, known = len(X), np.flatnonzero(codes >= 0)
    near = NearestNeighbors(n_neighbors=10).fit(X).kneighbors(return_distance=False)
    edges = {tuple(sorted((i, int(j)))) for i in range(n) for j in near[i]}
    degree = np.bincount(np.array(list(edges)).ravel(), minlength=n)
    along = np.zeros((n, n))
    for i, j in edges:
        along[i, j] = along[j, i] = 1 / np.sqrt(degree[i] * degree[j])

    def kappa(given: np.ndarray) -> float:
        start = np.zeros((n, given.max() + 1))
        for row, label in zip(known, given, strict=True):
            start[row, label] = 1 / np.sum(given == label)
        F = start
        for _ in range(3_000):
            F = start + 0.99 * along @ F
        found = F.argmax(axis=1)
        chance = sum(np.mean(found == label) ** 2 for label in set(found))
        return float((np.mean([found[i] == found[j] for i, j in edges]) - chance) / (1 - chance))

    rng = np.random.default_rng(seed)
    by_chance = np.mean([kappa(rng.permutation(given)) for given in [codes[known]] * 20])
    return float((kappa(codes[known]) - by_chance) / (1 - by_chance))


def test_labels_that_follow_neighbours_are_told_from_labels_that_do_not():
    X, truth = make_moons(200, noise=0.05, random_state=0)
    assert follows_neighbors(X, few(truth, 20)) > 0.9
    assert follows_neighbors(sparse.csr_array(X), few(truth, 20)) == follows_neighbors(X, few(truth, 20))
    rng = np.random.default_rng(0)
    assert abs(np.mean([follows_neighbors(X, few(rng.permutation(truth), 40)) for _ in range(8)])) < 0.3
    assert follows_neighbors(*noise()[:2]) < 0.3


def test_the_share_agrees_with_steps_along_the_edges():
    X, truth = make_moons(60, noise=0.2, random_state=0)
    codes = few(truth, 8)
    assert follows_neighbors(X, codes) == pytest.approx(spread_share(X, codes), abs=1e-9)


# --- progress ---------------------------------------------------------------------------------------------------------

WATCHED = """
import sys, time
from thresher._figures import progress_bar, progress_lines

with progress_lines(True, "auto", every=0.05) as tell:
    tell("trying semiksc")
    with progress_bar(True, "search"):
        time.sleep(0.5)
"""


def on_a_terminal(code: str) -> str:
    """What a program writes to a terminal."""
    import pty

    main, terminal = pty.openpty()
    subprocess.run([sys.executable, "-c", code], stdin=terminal, stdout=terminal, stderr=terminal, check=True)
    os.close(terminal)
    written = os.read(main, 1 << 16).decode()
    os.close(main)
    return written


def test_lines_about_progress_appear_in_log_files_and_on_terminals():
    line = re.compile(r"auto: \d+ s, trying semiksc")
    logged = subprocess.run([sys.executable, "-c", WATCHED], capture_output=True, text=True, check=True).stderr
    assert len(line.findall(logged)) >= 2
    assert len(line.findall(on_a_terminal(WATCHED))) >= 2
