"""The simplex and the directed search: where they end, and that they end."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.optimize import minimize

from thresher.tuning import Choice, Log, Uniform, Whole, directed_search, nelder_mead
from thresher.tuning._searches import first_simplex, poll, simplex


def rosenbrock(x):
    return (1 - x[0]) ** 2 + 10 * (x[1] - x[0] ** 2) ** 2


def quadratic(x):
    A = np.array([[2.0, 0.9, 0.2], [0.9, 1.0, -0.3], [0.2, -0.3, 3.0]])
    d = np.asarray(x) - [0.2, 0.6, 0.55]
    return d @ A @ d


def run(steps, energy, most=2000):
    """All points that a search evaluates, with their energies."""
    seen = []
    points = next(steps)
    try:
        while len(seen) < most:
            energies = np.array([energy(p) for p in points])
            seen += list(zip(points.copy(), energies, strict=True))
            points = steps.send(energies)
    except StopIteration:
        return seen
    raise AssertionError("it does not end")


@pytest.mark.parametrize("energy, start", [(rosenbrock, [0.3, 0.4]), (quadratic, [0.4, 0.4, 0.4])])
def test_the_simplex_walks_as_scipys_does_inside_the_box(energy, start):
    first = first_simplex(np.array(start), 0.1)
    ours = np.array([p for p, _ in run(simplex(np.array(start), 0.1, tol=1e-6), energy)])
    theirs = []
    options = {"initial_simplex": first, "xatol": 0, "fatol": 0, "maxfev": len(ours), "adaptive": False}
    minimize(
        lambda x: theirs.append(np.array(x)) or energy(x),
        start,
        method="Nelder-Mead",
        bounds=[(0, 1)] * len(start),
        options=options,
    )
    assert_allclose(ours[: len(theirs)], theirs[: len(ours)], atol=1e-9)
    assert len(ours) > 80


def test_the_simplex_ends_at_the_top_of_a_smooth_hill():
    space = {"a": Uniform(0, 1), "b": Log(0.1, 10), "c": Uniform(-1, 1)}
    truth = [0.2, 0.6, 0.55]

    def score(p):
        return -quadratic([space[name].place(v) for name, v in p.items()])

    found = nelder_mead(score, space, tol=1e-5, n_evaluations=500)
    assert found.stopped == "converged"
    assert_allclose([space[n].place(v) for n, v in found.params.items()], truth, atol=1e-4)
    theirs = minimize(quadratic, [0.5] * 3, method="Nelder-Mead", options={"xatol": 1e-6, "fatol": 1e-12})
    assert_allclose([space[n].place(v) for n, v in found.params.items()], theirs.x, atol=1e-4)


@pytest.mark.parametrize("search", [nelder_mead, directed_search])
def test_a_top_in_the_corner_is_reached_exactly(search):
    found = search(lambda p: p["a"] - p["b"], {"a": Uniform(0, 1), "b": Uniform(2, 3)}, n_evaluations=300)
    assert found.stopped == "converged"
    assert found.params == {"a": 1.0, "b": 2.0}


@pytest.mark.parametrize("search", [nelder_mead, directed_search])
def test_flat_ground_and_failures_end_the_search(search):
    flat = search(lambda p: 1.0, {"a": Uniform(0, 1), "b": Uniform(0, 1)}, n_evaluations=500)
    assert flat.stopped == "converged"
    assert flat.n_evaluations < 60
    failed = search(lambda p: 1 / 0, {"a": Uniform(0, 1)}, n_evaluations=500)
    assert failed.stopped == "converged"
    assert np.isnan(failed.score)
    assert failed.history[0]["error"] == "ZeroDivisionError: division by zero"


@pytest.mark.parametrize("size", [0.15, -0.15, 1.0])
@pytest.mark.parametrize("corner", [0.0, 0.5, 0.95, 1.0])
def test_the_first_simplex_is_in_the_box_and_has_a_volume(size, corner):
    points = first_simplex(np.array([corner, 0.3]), size)
    assert points.min() >= 0
    assert points.max() <= 1
    assert abs(np.linalg.det(points[1:] - points[0])) > 1e-3


def test_directed_search_does_not_stop_after_one_look():
    """SALSA.jl's always did."""
    seen = run(poll(np.array([0.9, 0.1, 0.5]), step=0.25, tol=1e-3), quadratic)
    assert len(seen) > 1 + 5 * 6
    assert_allclose(min(seen, key=lambda s: s[1])[0], [0.2, 0.6, 0.55], atol=4e-3)


def test_directed_search_looks_both_ways_then_closer():
    seen = run(poll(np.array([0.5, 0.5]), step=0.25, tol=0.1), lambda x: 0.0 if (x == 0.5).all() else 1.0)
    points = [tuple(p) for p, _ in seen]
    assert points == [
        (0.5, 0.5),
        *[(0.75, 0.5), (0.5, 0.75), (0.25, 0.5), (0.5, 0.25)],
        *[(0.625, 0.5), (0.5, 0.625), (0.375, 0.5), (0.5, 0.375)],
    ]


@pytest.mark.parametrize("search", [nelder_mead, directed_search])
def test_whole_numbers_and_choices_work(search):
    space = {"n": Whole(1, 40), "kind": Choice(["far", "near", "there"])}

    def score(p):
        return -abs(p["n"] - 12) / 40 - {"far": 2, "near": 1, "there": 0}[p["kind"]]

    found = search(score, space, n_evaluations=200)
    assert found.params == {"n": 12, "kind": "there"}


def test_they_begin_where_they_are_told():
    for search in (nelder_mead, directed_search):
        found = search(lambda p: -p["a"], {"a": Log(1e-3, 1)}, start={"a": 0.5}, n_evaluations=3)
        assert found.history[0]["params"] == {"a": 0.5}
        found = search(lambda p: -p["a"], {"a": Log(1e-3, 10)}, n_evaluations=3)
        assert found.history[0]["params"] == {"a": 0.1}
