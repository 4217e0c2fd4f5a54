"""Ranges: values, coordinates, words."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from sklearn.ensemble import BaggingClassifier
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import StandardScaler

from thresher import registry
from thresher._gate._ranges import as_space
from thresher.dual_averaging import L1RDAClassifier
from thresher.stochastic import PegasosClassifier
from thresher.tuning import Choice, Log, Range, Uniform, Whole, search_space

RANGES = [
    Log(1e-7, 1e-1),
    Log(0.3, 0.5),
    Uniform(0.0, 1.0),
    Uniform(-3, 7.5),
    Uniform(1000, 1000.001),
    Whole(1, 6),
    Whole(-3, 3),
    Whole(1, 500, log=True),
    Choice(["a", "b", None, 3.5]),
]


@pytest.mark.parametrize("r", RANGES, ids=repr)
@given(place=st.floats(-1, 2))
def test_every_coordinate_has_a_value_of_the_range_and_every_value_a_coordinate(r, place):
    value = r.at(place)
    assert value in r
    assert 0 <= r.place(value) <= 1
    assert r.at(r.place(value)) == value


@pytest.mark.parametrize("r", RANGES, ids=repr)
def test_coordinates_keep_the_order_and_reach_both_ends(r):
    values = [r.at(u) for u in np.linspace(0, 1, 400)]
    order = [r.place(value) for value in values]
    assert order == sorted(order)
    if not isinstance(r, Choice):
        assert (values[0], values[-1]) == (r.low, r.high)
        assert (r.at(-5), r.at(5)) == (r.low, r.high)


def test_log_is_even_in_the_logarithm_and_linear_in_the_value():
    assert Log(1e-6, 1e2).at(0.25) == pytest.approx(1e-4)
    assert Log(1e-6, 1e2).place(1.0) == pytest.approx(6 / 8)
    assert Uniform(-1, 3).at(0.25) == 0
    assert Uniform(-1, 3).place(2) == 0.75


def test_whole_numbers_have_equal_shares():
    counts = np.bincount([Whole(2, 5).at(u) for u in (np.arange(4000) + 0.5) / 4000])
    assert counts.tolist() == [0, 0, 1000, 1000, 1000, 1000]
    assert {type(Whole(2, 5).at(u)) for u in (0, 0.4, 1)} == {int}


def test_whole_numbers_on_a_log_scale_have_the_share_of_their_doubling():
    values = [Whole(1, 64, log=True).at(u) for u in (np.arange(10_000) + 0.5) / 10_000]
    share = np.mean(np.array(values) <= 8)
    assert share == pytest.approx(math.log(8.5 / 0.5) / math.log(64.5 / 0.5), abs=1e-3)
    assert set(values) == set(range(1, 65))


def test_counted_values_all_have_a_place():
    for r, values in (
        (Whole(-1, 3), [-1, 0, 1, 2, 3]),
        (Whole(1, 9, log=True), list(range(1, 10))),
        (Choice(["a", None]), ["a", None]),
    ):
        assert [r.at(place) for place in r.places()] == values
        assert r.n_values == len(values)
    assert Log(1, 2).n_values is None


def test_choices_have_equal_shares_and_keep_their_type():
    r = Choice([1, True, "1", 1.0])
    assert [r.at(u) for u in (0.1, 0.3, 0.6, 0.9)] == [1, True, "1", 1.0]
    assert [type(r.at(u)) for u in (0.1, 0.3, 0.6, 0.9)] == [int, bool, str, float]
    assert r.place(True) == 3 / 8
    assert 2 not in r


def test_values_are_short_but_close_ends_are_told_apart():
    assert Log(1e-7, 1e-1).at(0.123456789) == float(f"{Log(1e-7, 1e-1).at(0.123456789):.6g}")
    values = {Uniform(1000, 1000.001).at(u) for u in np.linspace(0, 1, 1001)}
    assert len(values) == 1001
    assert Log(1e-7, 1e-1).at(Log(1e-7, 1e-1).place(1e-4)) == 1e-4  # the value a user started from, to the digit


@pytest.mark.parametrize(
    "make, says",
    [
        (lambda: Log(0, 1), "Log: low must be a number above 0, got 0."),
        (lambda: Log(1, float("nan")), "Log: high must be a number above 0, got nan."),
        (lambda: Log(1, 1), "Log: high must be above low=1, got 1."),
        (lambda: Log(True, 2), "Log: low must be a number above 0, got True."),
        (lambda: Uniform(-math.inf, 2), "Uniform: low must be a finite number, got -inf."),
        (lambda: Uniform("0", 2), "Uniform: low must be a finite number, got '0'."),
        (lambda: Whole(1.5, 3), "Whole: low must be an integer, got 1.5."),
        (lambda: Whole(0, 3, log=True), "Whole: low must be an integer of at least 1 with log=True, got 0."),
        (lambda: Whole(0, 3, log=1), "Whole: log must be True or False, got 1."),
        (lambda: Choice([]), "Choice: options must hold at least one value, got none."),
        (lambda: Choice("abc"), "Choice: options must be a list of values, got 'abc'."),
        (lambda: Choice([1, 2, 1]), "Choice: options must all be different, got 1 twice."),
        (lambda: as_space({}, "f"), "f: space must be a dict of parameter names to ranges, not empty, got {}."),
        (lambda: as_space({1: [1]}, "f"), "f: space must have names of parameters as keys, got 1."),
    ],
)
def test_refusals_name_the_rule_and_the_value(make, says):
    with pytest.raises(ValueError) as error:
        make()
    assert str(error.value) == says


def test_lists_and_scipy_distributions_are_understood():
    space = as_space(
        {
            "a": [1, 2],
            "b": np.array([0.5, 0.25]),
            "c": stats.loguniform(1e-3, 10),
            "d": stats.uniform(2, 5),
            "e": stats.randint(1, 9),
            "f": ("x",),
        },
        "f",
    )
    assert list(map(repr, space.values())) == [
        "Choice([1, 2])",
        "Choice([0.5, 0.25])",
        "Log(0.001, 10.0)",
        "Uniform(2.0, 7.0)",
        "Whole(1, 8)",
        "Choice(['x'])",
    ]
    with pytest.raises(ValueError, match=r"f: space\['g'\] must be Log, Uniform, .*, got <scipy"):
        as_space({"g": stats.norm()}, "f")


def test_ranges_are_equal_by_value():
    assert Log(1, 2) == Log(1, 2) != Uniform(1, 2)
    assert Whole(1, 8) != Whole(1, 8, log=True)
    assert len({Log(1, 2), Log(1, 2), Choice([[1], [2]])}) == 2


def test_every_estimator_declares_ranges_of_its_own_parameters_that_pass_its_rules():
    declared = 0
    for cls in registry.estimators().values():
        for name, r in getattr(cls, "_search_space", {}).items():
            declared += 1
            assert isinstance(r, Range)
            for place in (0.0, 0.5, 1.0):
                assert cls._param_rules[name].holds(r.at(place)), (cls, name)
    assert declared >= 8


def test_a_range_that_has_no_effect_is_left_out():
    assert set(search_space(PegasosClassifier())) == {"alpha"}
    assert set(search_space(PegasosClassifier(loss="pinball"))) == {"alpha", "tau"}
    assert search_space(PegasosClassifier(loss="pinball"))["tau"].high <= 1  # SALSA.jl let it grow beyond 1


def test_spaces_are_found_inside_compositions():
    inner = L1RDAClassifier(loss="pinball")
    assert set(search_space(Pipeline([("s", StandardScaler()), ("m", inner)]))) == {"m__alpha", "m__eta0", "m__tau"}
    assert set(search_space(BaggingClassifier(inner))) == {"estimator__alpha", "estimator__eta0", "estimator__tau"}
    assert search_space(StandardScaler()) == {}
