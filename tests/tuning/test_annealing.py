"""Coupled annealing against its twin, step by step, and what it promises."""

from __future__ import annotations

import itertools
from math import log10

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import stats

from reference import annealing as reference
from thresher.tuning import Choice, Log, Uniform, Whole, coupled_annealing, random_search
from thresher.tuning._annealing import acceptance, anneal, cauchy_moves, spread_points, temperature_at_target, variance


def bumpy(x):
    """Many hills, the highest near 0.7."""
    x = np.asarray(x)
    return float(np.sum((x - 0.7) ** 2 + 0.05 * np.cos(40 * x)))


def follow(steps, energy, n):
    """The first n batches of points that a search asks for."""
    points = next(steps)
    for _ in range(n):
        points = points.copy()
        yield points
        points = steps.send(np.array([energy(p) for p in points]))


@pytest.mark.parametrize("n_dims, m, move, steps", [(1, 5, 0.2, 4), (3, 5, 0.05, 1), (2, 2, 0.5, 7)])
def test_annealing_agrees_with_its_twin_step_by_step(n_dims, m, move, steps):
    starts = np.random.default_rng(0).random((m, n_dims))
    temperature = temperature_at_target(np.array([bumpy(s) for s in starts]))
    probes = follow(anneal(starts, np.random.default_rng(1), move=move, steps=steps), bumpy, 61)
    assert_allclose(next(probes), starts)
    twin = reference.coupled_annealing(
        bumpy, starts, np.random.default_rng(1), move=move, steps_per_level=steps, temperature=temperature
    )
    seen = list(probes)
    expected = [p for p, _, _ in itertools.islice(twin, 60)]
    assert_allclose(seen, expected, rtol=1e-9, atol=1e-12)
    assert len({p.tobytes() for p in expected}) == 60


def test_moves_are_cauchy_steps_drawn_again_while_they_leave_the_box():
    rng = np.random.default_rng(3)
    for x, scale in ((0.5, 0.05), (0.02, 0.1), (0.9, 2.0)):
        drawn = x + scale * rng.standard_cauchy(400_000)
        drawn = drawn[(drawn >= 0) & (drawn <= 1)]
        moved = cauchy_moves(np.full((20_000, 1), x), scale, rng)[:, 0]
        assert moved.min() >= 0
        assert moved.max() <= 1
        assert stats.ks_2samp(moved, drawn).pvalue > 1e-3


def test_the_temperature_starts_where_the_variance_of_acceptance_meets_its_target():
    for energies in (np.array([0.1, 0.2, 0.15, 0.4, 0.3]), np.array([5e4, 7e4, 1e4])):
        m = len(energies)
        T = temperature_at_target(energies)
        assert variance(acceptance(energies, T)) == pytest.approx(0.99 * (m - 1) / m**2, rel=1e-6)
    assert temperature_at_target(np.array([0.3, 0.3, 0.3])) == 0
    assert temperature_at_target(np.array([np.inf, 0.3])) == 0
    assert temperature_at_target(np.array([0.1, 0.3, 0.3])) == pytest.approx(0.2)  # two are worst: the spread


def test_the_largest_variance_of_acceptance_is_that_of_one_certain_state():
    m = 5
    certain = np.eye(m)[2]
    assert variance(certain) == pytest.approx((m - 1) / m**2)
    assert variance(certain) == pytest.approx(np.var(certain))  # the biased one (SALSA.jl compared the unbiased one)
    assert variance(np.full(m, 1 / m)) == pytest.approx(0, abs=1e-15)


def test_states_that_failed_leave_first():
    assert acceptance(np.array([0.1, np.inf, 0.2, np.inf]), 0.1).tolist() == [0, 0.5, 0, 0.5]


@pytest.mark.parametrize("scale, shift", [(1e4, 0.0), (1e-5, 3.0)])
def test_the_search_is_the_same_for_any_scale_of_the_score(scale, shift):
    space = {"a": Log(1e-3, 1e3), "b": Uniform(0, 1)}

    def score(p):
        return -bumpy([(log10(p["a"]) + 3) / 6, p["b"]])

    one = coupled_annealing(score, space, n_evaluations=40)
    other = coupled_annealing(lambda p: scale * score(p) + shift, space, n_evaluations=40)
    assert [h["params"] for h in one.history] == [h["params"] for h in other.history]


def test_starts_are_spread_over_every_coordinate():
    points = spread_points(7, 4, np.random.default_rng(0))
    assert (np.sort((points * 7).astype(int), axis=0) == np.arange(7)[:, None]).all()
    assert spread_points(0, 4, np.random.default_rng(0)).shape == (0, 4)


@pytest.mark.parametrize("seed", range(5))
def test_a_hill_in_the_logarithm_is_found(seed):
    def score(p):
        return -((log10(p["alpha"]) + 4.2) ** 2) - (log10(p["eta0"]) - 1.1) ** 2

    space = {"alpha": Log(1e-7, 1e-1), "eta0": Log(1e-3, 1e3)}
    found = coupled_annealing(score, space, n_evaluations=100, random_state=seed)
    assert found.score > -1e-3
    assert abs(log10(found.params["alpha"]) + 4.2) < 0.03
    assert abs(log10(found.params["eta0"]) - 1.1) < 0.03


def test_it_beats_random_search_over_many_seeds():
    """Mean distance from the top after 60 evaluations of a bumpy function of two variables."""
    space = {"a": Uniform(0, 1), "b": Uniform(0, 1)}
    score = {
        search: np.mean([search(lambda p: -bumpy(list(p.values())), space, n_evaluations=60, random_state=s).score
                         for s in range(30)])
        for search in (coupled_annealing, random_search)
    }  # fmt: skip
    top = -2 * min(bumpy([u]) for u in np.linspace(0, 1, 10_000))
    assert top - score[coupled_annealing] < 0.6 * (top - score[random_search])


def test_whole_numbers_and_choices_are_searched_too():
    space = {"n": Whole(1, 200, log=True), "kind": Choice(["a", "b", "c"]), "x": Log(0.01, 10)}

    def score(p):
        assert isinstance(p["n"], int)
        return -abs(log10(p["n"] / 37)) - {"a": 1.0, "b": 0.0, "c": 0.5}[p["kind"]] - abs(log10(p["x"]))

    found = coupled_annealing(score, space, n_evaluations=150)
    assert found.params["kind"] == "b"
    assert 30 <= found.params["n"] <= 45
    assert 0.7 < found.params["x"] < 1.4


def test_annealing_alone_has_the_whole_budget():
    found = coupled_annealing(lambda p: -bumpy([p["a"]]), {"a": Uniform(0, 1)}, n_evaluations=33, simplex=False)
    assert {h["stage"] for h in found.history} == {"annealing"}
    assert len(found.history) == 33


def test_annealing_and_simplex_take_turns_and_a_start_comes_first():
    found = coupled_annealing(lambda p: -bumpy([p["a"]]), {"a": Uniform(0, 1)}, n_evaluations=90, start={"a": 0.25})
    turns = [(stage, len(list(group))) for stage, group in itertools.groupby(h["stage"] for h in found.history)]
    assert found.history[0]["params"] == {"a": 0.25}
    assert turns[0] == ("annealing", 10)
    assert [stage for stage, _ in turns[:4]] == ["annealing", "simplex", "annealing", "simplex"]
    assert all(n == 10 for stage, n in turns[:-1] if stage == "annealing")
    before = found.history[:10]
    assert found.history[10]["params"]["a"] == pytest.approx(
        max(before, key=lambda h: h["score"])["params"]["a"], abs=0.26
    )


def test_the_simplex_moves_to_what_annealing_found_and_stays_otherwise():
    """A new simplex has one coordinate in common with the point it starts from; one that goes on has none."""
    new, old = 0, 0
    for seed in range(20):
        found = coupled_annealing(
            lambda p: -bumpy(list(p.values())),
            {"a": Uniform(0, 1), "b": Uniform(0, 1)},
            n_evaluations=70,
            random_state=seed,
        )
        for i in range(11, 70):
            if (found.history[i - 1]["stage"], found.history[i]["stage"]) == ("annealing", "simplex"):
                best = max(found.history[:i], key=lambda h: h["score"])
                shared = sum(found.history[i]["params"][name] == best["params"][name] for name in "ab")
                if best["evaluation"] >= i - 10:  # found by the turn that just ended
                    new += 1
                    assert shared == 1
                else:
                    old += shared == 0
    assert new >= 5
    assert old >= 5


def test_a_larger_budget_only_adds():
    small, large = (
        coupled_annealing(lambda p: -bumpy([p["a"]]), {"a": Uniform(0, 1)}, n_evaluations=n) for n in (30, 80)
    )
    assert [h["params"] for h in large.history[:30]] == [h["params"] for h in small.history]
