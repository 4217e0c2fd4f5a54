"""Proximal maps against a general solver, and by the conditions that single out a minimiser."""

from __future__ import annotations

import cvxpy as cp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from reference.objectives import solve
from thresher.solvers import prox_linf, prox_lp, shrink, soft_threshold

POWERS = [1.01, 1.1, 1.5, 2.0, 2.5, 3.0, 7.0, 60.0]
MAPS = {"l1": (soft_threshold, 1.0), "l2": (shrink, 2.0), "linf": (prox_linf, np.inf)} | {
    f"l{p}": (lambda v, a, p=p: prox_lp(v, a, p), p) for p in POWERS
}
maps = pytest.mark.parametrize("prox, p", MAPS.values(), ids=MAPS)
VECTORS = {
    "mixed": [3.0, -2.0, 0.5, 0.0, -0.01],
    "ties": [1.0, -1.0, 1.0, 1.0],
    "one": [-2.5],
    "spike": [1e4, 1e-4, -1e-8],
    "tiny": [3e-9, -1e-9, 2e-9],
    "huge": [3e120, -1e120, 2e120],
}


def dual(p):
    return np.inf if p == 1 else 1.0 if p == np.inf else p / (p - 1)


def norm(v, p):
    size = np.abs(v).max(initial=0.0)
    return size * np.linalg.norm(v / size, p) if size else 0.0


def assert_minimises(w, v, a, p):
    """w = prox(v)  iff  g = v - w has |g|_q <= a and g.w = a |w|_p"""
    g = v - w
    size = norm(v, 2)
    assert norm(g, dual(p)) <= a * (1 + 1e-9) + 1e-13 * size
    if w.any():
        assert_allclose((g / size) @ (w / size), a / size * norm(w / size, p), rtol=1e-9, atol=1e-13)


@maps
@pytest.mark.parametrize("v", VECTORS.values(), ids=VECTORS)
@pytest.mark.parametrize("part", [1e-12, 0.01, 0.3, 0.9, 0.999999, 1.000001, 2.0, 1e6])
def test_what_is_cut_off_is_a_subgradient(prox, p, v, part):
    """At parts of the length ``a`` that makes everything 0."""
    v = np.array(v)
    a = part * norm(v, dual(p))
    w = prox(v, a)
    assert_minimises(w, v, a, p)
    assert w.any() == (part < 1)
    assert (w * v >= 0).all()


@pytest.mark.parametrize("name", ["l1", "l2", "linf", "l1.5", "l2.5", "l3.0", "l7.0"])
@pytest.mark.parametrize("a", [0.2, 1.3])
def test_maps_are_the_minimisers_that_a_general_solver_finds(name, a):
    prox, p = MAPS[name]
    v = np.random.default_rng(0).normal(size=6)
    w = cp.Variable(6)
    solve(cp.sum_squares(w - v) / 2 + a * cp.norm(w, "inf" if p == np.inf else p), tolerance=1e-9)
    assert_allclose(prox(v, a), w.value, atol=2e-5)


@settings(max_examples=200, deadline=None)
@given(
    st.lists(st.floats(-1e3, 1e3), min_size=1, max_size=8),
    st.floats(0, 2e3),
    st.one_of(st.just(2.0), st.floats(1.02, 30)),
)
def test_lp_holds_its_conditions_anywhere(v, a, p):
    v = np.array(v)
    assert_minimises(prox_lp(v, a, p), v, a, p)


def test_lp_at_two_is_the_shrinkage():
    v = np.random.default_rng(1).normal(size=(50, 7))
    assert_allclose(prox_lp(v, 1.5, 2.0), shrink(v, 1.5), rtol=1e-12, atol=1e-15)


@maps
def test_nothing_cut_and_nothing_there(prox, p):
    v = np.array([3.0, 0.0, -1.0])
    assert_array_equal(prox(v, 0.0), v)
    assert_array_equal(prox(np.zeros(3), 0.0), np.zeros(3))
    assert_array_equal(prox(np.zeros(3), 2.0), np.zeros(3))
    assert_array_equal(prox(v, 1e300), np.zeros(3))
    assert_array_equal(prox(np.full(2, 1e-310), 1.0), np.zeros(2))


@maps
def test_rows_are_mapped_one_by_one(prox, p):
    rng = np.random.default_rng(2)
    v, a = rng.normal(size=(4, 5, 3)), rng.exponential(size=(4, 5))
    v[0, 0], a[1, 1] = 0, 0
    together = prox(v, a[..., None] if p == 1 else a)
    for place in np.ndindex(4, 5):
        assert_allclose(together[place], prox(v[place], a[place]), rtol=1e-13, atol=1e-15)


def test_values_done_by_hand():
    assert_array_equal(soft_threshold([3.0, -0.5, -2.0], [1.0, 1.0, 0.0]), [2.0, 0.0, -2.0])
    assert_allclose(shrink([3.0, 4.0], 2.5), [1.5, 2.0])
    assert_array_equal(prox_linf([2.0, 2.0, -1.0], 1.0), [1.5, 1.5, -1.0])  # ties are cut together
    assert_allclose(prox_linf([3.0, -2.0, 1.0], 4.5), [0.5, -0.5, 0.5])
