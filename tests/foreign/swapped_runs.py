"""Runs of scikit-learn's test modules with classes of ours, and their comparison with the table of failures."""

from __future__ import annotations

import importlib
import json
import os
import subprocess
import sys
import tempfile
import tomllib
from collections import Counter
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any, NamedTuple

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
TABLE = HERE / "failures.toml"
MODULES = {
    "test_sgd": "sklearn.linear_model.tests.test_sgd",
    "test_passive_aggressive": "sklearn.linear_model.tests.test_passive_aggressive",
    "test_k_means": "sklearn.cluster.tests.test_k_means",
    "test_multiclass": "sklearn.tests.test_multiclass",
    "test_voting": "sklearn.ensemble.tests.test_voting",
    "test_calibration": "sklearn.tests.test_calibration",
}


class Outcome(NamedTuple):
    """What became of a test."""

    is_passed: bool
    is_ours: bool
    """Whether a class of ours learned in it."""
    error: str


def run_module(name: str) -> dict[str, Outcome]:
    """The tests of a module in a process of their own, whose scikit-learn has our classes."""
    with tempfile.TemporaryDirectory() as folder:
        result = Path(folder) / "outcomes.json"
        command = [sys.executable, "-m", "tests.foreign.swapped_runs", MODULES[name], str(result)]
        one_process = {**os.environ, "JOBLIB_MULTIPROCESSING": "0"}  # others would need a while to start
        subprocess.run(command, cwd=ROOT, env=one_process, check=False, stdout=subprocess.DEVNULL)
        outcomes = json.loads(result.read_text())
    return {test: Outcome(*values) for test, values in outcomes.items()}


def listed(name: str) -> dict[str, str]:
    """The failures of a module that have a reason: patterns of their names, and the reasons."""
    table = tomllib.loads(TABLE.read_text())
    return {pattern: reason for reason, patterns in table.get(name, {}).items() for pattern in patterns}


def compare(name: str, outcomes: dict[str, Outcome], *, show: bool = False) -> list[str]:
    """Print a summary, and return what the table of failures does not say."""
    patterns, counts, problems = listed(name), Counter[str](), []
    unused = set(patterns)
    for test, outcome in outcomes.items():
        known = [pattern for pattern in patterns if fnmatchcase(test, pattern.replace("[", "[[]"))]
        unused -= set(known)
        counts["with a class of ours" if outcome.is_ours else "without"] += 1
        counts["failures, each with a reason"] += bool(known)
        if outcome.is_passed and known:
            problems.append(f"{test} passes, but failures.toml lists it")
        if not outcome.is_passed and not known:
            problems.append(f"{test} fails without a reason in failures.toml")
            if show:
                problems.append(outcome.error)
    problems += [f"{pattern} in failures.toml is no test" for pattern in sorted(unused)]
    told = ", ".join(f"{n} {what}" for what, n in sorted(counts.items(), reverse=True))
    print(f"{name}: {len(outcomes)} tests, {told}")
    for problem in problems:
        print("   ", problem)
    return problems


class Recorder:
    """A pytest plugin that keeps what became of each test."""

    def __init__(self, stand_in: Any) -> None:
        self.outcomes: dict[str, tuple[bool, bool, str]] = {}
        self._stand_in = stand_in

    def pytest_runtest_setup(self, item: Any) -> None:
        self._stand_in.used = 0

    def pytest_runtest_logreport(self, report: Any) -> None:
        if report.skipped or (report.when != "call" and report.passed):
            return
        name = report.nodeid.rpartition("::")[2]
        error = "" if report.passed else str(report.longrepr)[-1500:]
        self.outcomes[name] = (report.passed, self._stand_in.used > 0, error)


def main(module: str, result: str) -> None:
    """Swap the classes, then run the tests of a module."""
    import pytest
    from tests.foreign.stand_ins import SWAPS, StandIn

    importlib.import_module("sklearn.calibration")  # scikit-learn itself goes on with its own classes
    for place, stand_in in SWAPS[module].items():
        package, _, name = place.rpartition(".")
        setattr(importlib.import_module(f"sklearn.{package}"), name, stand_in)
    path = importlib.import_module(module).__file__
    recorder = Recorder(StandIn)
    options = ["-q", "-p", "no:cacheprovider", "-c", "/dev/null", "-W", "ignore", "--rootdir=/", str(path)]
    pytest.main(options, plugins=[recorder])
    Path(result).write_text(json.dumps(recorder.outcomes))


if __name__ == "__main__":
    main(*sys.argv[1:])
