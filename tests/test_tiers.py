"""``make test`` stays as short as it is: see tiers.py."""

from __future__ import annotations

import itertools
from types import SimpleNamespace

import pytest

import tiers


def cases(*sizes, name="tests/a.py::test_it"):
    """A grid of cases, named by their places."""
    return [
        SimpleNamespace(
            nodeid=f"{name}[{'-'.join(map(str, places))}]",
            callspec=SimpleNamespace(params={}, indices={f"p{k}": place for k, place in enumerate(places)}),
            get_closest_marker=lambda name: None,
        )
        for places in itertools.product(*map(range, sizes))
    ]


def names(items):
    return [item.nodeid for item in items]


def table(path, others, **seconds):
    """A table as `make tiers` writes it, of functions and the seconds of their cases."""
    measured = {}
    for name, values in {**seconds, "others": others}.items():
        for k, value in enumerate(values):
            measured[f"tests/a.py::{name}[{k}]"] = tiers.Measured(f"tests/a.py::{name}", len(values), value)
    tiers.Table(path).write(measured, path)
    return tiers.Table(path)


def test_every_value_of_every_parameter_comes_before_any_other_case():
    ordered = tiers.in_order(cases(5, 2, 3))
    assert len(set(names(ordered))) == 30
    first = [item.callspec.indices for item in ordered[:8]]
    assert [len({places[p] for places in first}) for p in ("p0", "p1", "p2")] == [5, 2, 3]


def test_a_new_value_of_a_parameter_does_not_change_the_order_of_the_others():
    before = names(tiers.in_order(cases(40)))
    assert [name for name in names(tiers.in_order(cases(41))) if name in before] == before


def test_the_level_is_the_largest_that_the_budget_allows():
    costs = [tiers.Cost(1, 0.1), tiers.Cost(10, 1.0), tiers.Cost(1000, 100.0), tiers.Cost(1, 50.0)]
    found = tiers.level(costs, 6.1)
    assert found == pytest.approx(5.1, abs=0.11)  # 0.1 and 1 second whole, 50 cases of a tenth, none of 50 seconds
    assert tiers.level(costs, 1e6) >= 100


def test_a_function_above_the_level_runs_as_many_cases_as_fit(tmp_path, monkeypatch):
    monkeypatch.setattr(tiers, "BUDGET", 12.0)
    held = table(tmp_path / "t.json", [0.01] * 10, test_it=[0.1] * 400, test_small=[0.2] * 10)
    functions = {"tests/a.py::test_it": cases(400), "tests/a.py::test_small": cases(10, name="tests/a.py::test_small")}
    chosen = [name.split("[")[0] for name in tiers.within(held.level, functions, held)]
    assert chosen.count("tests/a.py::test_small") == 10
    assert chosen.count("tests/a.py::test_it") in (99, 100)


def test_the_second_tier_goes_on_where_the_first_stops(tmp_path, monkeypatch):
    monkeypatch.setattr(tiers, "BUDGET", 12.0)
    monkeypatch.setattr(tiers, "CI_BUDGET", 32.0)
    held = table(tmp_path / "t.json", [0.01] * 10, test_it=[0.1] * 400, test_small=[0.2] * 10)
    functions = {"tests/a.py::test_it": cases(400)}
    first, both = (tiers.within(seconds, functions, held) for seconds in (held.level, held.ci_level))
    assert first < both
    assert len(both) in (298, 299, 300)


def test_a_case_that_stands_out_has_a_line_of_its_own(tmp_path):
    held = table(tmp_path / "t.json", [0.01] * 10, test_it=[0.1] * 9 + [30.0])
    assert held.tests["tests/a.py::test_it"].cases == 9
    assert held.tests["tests/a.py::test_it[9]"] == (1, 30.0)
    assert held.others == (10, 0.1)


def test_the_mean_of_a_sample_stands_for_all_cases(tmp_path):
    path = tmp_path / "t.json"
    measured = {f"a.py::test[{s}]": tiers.Measured("a.py::test", 50, s) for s in (0.1, 0.3)}
    tiers.Table(path).write(measured, path)
    assert tiers.Table(path).tests["a.py::test"] == (50, 10.0)


def test_measuring_one_file_leaves_the_others_alone(tmp_path):
    path = tmp_path / "t.json"
    held = table(path, [0.01] * 10, test_it=[1.0] * 9)
    held.write({"tests/b.py::test_new": tiers.Measured("tests/b.py::test_new", 1, 2.0)}, path)
    held = tiers.Table(path)
    assert set(held.tests) == {"tests/a.py::test_it", "tests/b.py::test_new"}
    held.write({"tests/b.py::test_new": tiers.Measured("tests/b.py::test_new", 1, 0.01)}, path)
    assert set(tiers.Table(path).tests) == {"tests/a.py::test_it"}
    assert tiers.Table(path).others == (10, 0.1)


@pytest.mark.parametrize("pace", [0.5, 1.0, 4.0])
def test_seconds_count_alike_on_a_machine_of_any_speed(tmp_path, pace):
    held = table(tmp_path / "t.json", [0.01] * 10, test_it=[0.5] * 16)
    run = {f"tests/a.py::test_it[{k}]": tiers.Measured("tests/a.py::test_it", 16, 0.5 * pace) for k in range(16)}
    run["tests/b.py::test_new"] = tiers.Measured("tests/b.py::test_new", 1, 2.5 * pace)
    assert tiers.spent(run, held) == (pytest.approx(10.5), ["tests/b.py::test_new"])
    run["tests/b.py::test_long"] = tiers.Measured("tests/b.py::test_long", 1, 3.0 * pace)
    assert tiers.spent(run, held) == (pytest.approx(13.5), ["tests/b.py::test_long", "tests/b.py::test_new"])
