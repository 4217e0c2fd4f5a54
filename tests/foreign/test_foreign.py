"""scikit-learn's own tests, with our classes: the quick modules. ``python -m tests.foreign`` runs all."""

from __future__ import annotations

import pytest
from tests.foreign.swapped_runs import Outcome, compare, listed, run_module


@pytest.mark.slow
@pytest.mark.parametrize("name", ["test_passive_aggressive", "test_voting"])
def test_only_listed_tests_of_scikit_learn_fail(name):
    outcomes = run_module(name)
    assert compare(name, outcomes) == []
    assert sum(outcome.is_ours for outcome in outcomes.values()) > 20


def test_what_the_table_does_not_say_is_a_problem(capsys):
    pattern = next(iter(listed("test_voting")), None)
    assert pattern is None
    failed, passed = Outcome(False, True, "why"), Outcome(True, True, "")
    assert compare("test_voting", {"test_a": passed}) == []
    assert compare("test_voting", {"test_a": failed}, show=True) == [
        "test_a fails without a reason in failures.toml",
        "why",
    ]
    name = next(iter(listed("test_passive_aggressive")))
    problems = compare("test_passive_aggressive", {name.replace("*", "x"): passed})
    assert f"{name.replace('*', 'x')} passes, but failures.toml lists it" in problems
    assert any(problem.endswith("is no test") for problem in problems)
