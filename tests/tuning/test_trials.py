"""What all searches on a plain function share: budgets, cache, seeds, failures, words."""

from __future__ import annotations

import math
import time

import numpy as np
import pytest

from thresher.tuning import Choice, Log, Uniform, Whole, coupled_annealing, directed_search, nelder_mead, random_search

SEARCHES = [coupled_annealing, directed_search, nelder_mead, random_search]
SPACE = {"a": Log(1e-4, 1.0), "b": Uniform(-1, 2)}
searches = pytest.mark.parametrize("search", SEARCHES)


def score(p):
    return -((math.log10(p["a"]) + 1.3) ** 2) - math.cos(9 * p["b"]) - p["b"] ** 2


def without_times(found):
    return [{k: v for k, v in h.items() if k != "seconds"} for h in found.history]


@searches
@pytest.mark.parametrize("budget", [1, 2, 4, 7, 23])
def test_the_budget_is_never_exceeded_and_used_up(search, budget):
    calls = []
    found = search(lambda p: calls.append(p) or score(p), SPACE, n_evaluations=budget)
    assert len(calls) == len(found.history) == found.n_evaluations == budget
    assert found.stopped == "evaluations"


@searches
def test_all_points_are_in_the_space_and_no_point_is_tried_twice(search):
    found = search(score, SPACE, n_evaluations=80)
    points = [tuple(h["params"].values()) for h in found.history]
    assert all(p in SPACE["a"] and q in SPACE["b"] for p, q in points)
    assert len(set(points)) == len(points)


@searches
def test_the_result_is_the_best_of_the_history(search):
    found = search(score, SPACE, n_evaluations=30)
    best = max(found.history, key=lambda h: h["score"])
    assert (found.params, found.score) == (best["params"], best["score"])
    assert [h["evaluation"] for h in found.history] == list(range(30))
    assert score(found.params) == found.score


@searches
def test_processes_change_nothing(search):
    assert without_times(search(score, SPACE, n_evaluations=25, n_jobs=2)) == without_times(
        search(score, SPACE, n_evaluations=25)
    )


@pytest.mark.parametrize("search", [coupled_annealing, random_search])
def test_the_seed_decides(search):
    first, again, other = (
        [h["params"] for h in search(score, SPACE, n_evaluations=25, random_state=s).history] for s in (3, 3, 4)
    )
    assert first == again
    assert first != other
    open_ended = [search(score, SPACE, n_evaluations=8, random_state=None).history[0]["params"] for _ in range(2)]
    assert open_ended[0] != open_ended[1]


@searches
def test_a_budget_of_seconds_ends_the_search(search):
    def slow(p):
        time.sleep(0.03)
        return score(p)

    begin = time.monotonic()
    found = search(slow, SPACE, n_evaluations=10_000, max_seconds=0.3)
    assert found.stopped == "seconds"
    assert time.monotonic() - begin < 1.0
    assert 3 <= found.n_evaluations <= 20


@pytest.mark.parametrize("search", [coupled_annealing, random_search])
def test_a_finite_space_is_exhausted_and_its_best_found(search):
    space = {"n": Whole(1, 4), "kind": Choice(["a", "b", "c"])}
    found = search(lambda p: p["n"] * (p["kind"] == "b"), space, n_evaluations=500)
    assert found.stopped == "exhausted"
    assert found.n_evaluations == 12
    assert found.params == {"n": 4, "kind": "b"}
    assert search(lambda p: 0.0, {"x": [7]}, n_evaluations=5).params == {"x": 7}
    larger = search(lambda p: -p["n"], {"n": Whole(1, 60, log=True), "kind": ["a", "b"]}, n_evaluations=120)
    assert larger.n_evaluations == 120  # to the last one
    assert search(lambda p: 0.0, {"n": Whole(1, 60)}, n_evaluations=59).n_evaluations <= 59


@searches
def test_a_failure_is_noted_and_counts_as_the_worst(search):
    def sometimes(p):
        if p["b"] > 0.5:
            raise RuntimeError("too far")
        return math.nan if p["b"] < -0.8 else score(p)

    found = search(sometimes, SPACE, n_evaluations=60)
    failed = [h for h in found.history if h["params"]["b"] > 0.5]
    assert found.n_evaluations == 60 or found.stopped == "converged"
    assert {h["error"] for h in failed} <= {"RuntimeError: too far"}
    assert math.isfinite(found.score)
    assert all(math.isnan(h["score"]) for h in failed)
    numbered = search(sometimes, SPACE, n_evaluations=30, error_score=-9.0)
    assert all(h["score"] == -9 for h in numbered.history if h["error"] is not None)
    if failed:
        with pytest.raises(RuntimeError, match="too far"):
            search(sometimes, SPACE, n_evaluations=60, error_score="raise")


def test_a_failure_in_the_first_state_does_not_stop_the_others():
    found = coupled_annealing(
        lambda p: math.inf if p["b"] == 0 else score(p), SPACE, n_evaluations=40, start={"a": 0.1, "b": 0}
    )
    assert found.history[0]["score"] == math.inf  # not finite, so not the best
    assert found.params["b"] != 0
    assert math.isfinite(found.score)


def test_the_objective_cannot_spoil_the_history():
    def greedy(p):
        value = score(p)
        p.clear()
        return value

    assert all(set(h["params"]) == {"a", "b"} for h in coupled_annealing(greedy, SPACE, n_evaluations=9).history)


def test_history_tells_stage_and_seconds():
    found = nelder_mead(lambda p: time.sleep(0.01) or score(p), SPACE, n_evaluations=3)
    assert list(found.history[0]) == ["evaluation", "stage", "params", "score", "n_used", "seconds", "error"]
    assert all(0.005 < h["seconds"] < 1 for h in found.history)
    assert found.history[0]["n_used"] is None


@searches
@pytest.mark.parametrize(
    "change, says",
    [
        ({"n_evaluations": 0}, "n_evaluations must be an integer of at least 1, got 0."),
        ({"max_seconds": -1}, "max_seconds must be a number above 0 or None, got -1."),
        ({"n_jobs": 0}, "n_jobs must be None or an integer other than 0, got 0."),
        ({"error_score": "ignore"}, "error_score must be a number or \"raise\", got 'ignore'."),
        ({"space": {}}, "space must be a dict of parameter names to ranges, not empty, got {}."),
        ({"objective": 3}, "objective must be a function of a dict of parameters, got 3."),
        ({"start": {"a": 2, "b": 0}}, "start must have 'a' in Log(0.0001, 1.0), got {'a': 2, 'b': 0}."),
        ({"start": {"a": 0.5}}, "start must have 'b' in Uniform(-1, 2), got {'a': 0.5}."),
    ],
)
def test_refusals_name_the_function_the_rule_and_the_value(search, change, says):
    with pytest.raises(ValueError) as error:
        search(**({"objective": score, "space": SPACE} | change))
    assert str(error.value) == f"{search.__name__}: {says}"


@pytest.mark.parametrize(
    "call, says",
    [
        (lambda: coupled_annealing(score, SPACE, n_starts=1), "n_starts must be an integer of at least 2, got 1."),
        (lambda: coupled_annealing(score, SPACE, simplex=2), "simplex must be True or False, got 2."),
        (lambda: random_search(score, SPACE, random_state="x"), "random_state must be None, an integer"),
        (lambda: nelder_mead(score, SPACE, size=0), "size must be a number above 0 and up to 1, got 0."),
        (lambda: directed_search(score, SPACE, step=np.nan), "step must be a number above 0 and up to 1, got nan."),
    ],
)
def test_refusals_of_their_own(call, says):
    with pytest.raises(ValueError, match=says):
        call()
