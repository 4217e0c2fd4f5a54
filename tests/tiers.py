"""Which tests ``make test`` runs, which it leaves to ``make test-rest``, and which that leaves to ``make test-all``.

A test function may use a fixed number of CPU seconds in ``make test``: the level. If its cases take longer, a sample of
them runs: first cases that show a value of a parameter for the first time, then others, in an order drawn from their
names. The level is the largest with which ``make test`` keeps to BUDGET, by the times in tests/tiers.json. So more
tests mean a lower level, not a longer run. ``make test-rest`` goes on with the next cases, up to the higher level at
which both together keep to CI_BUDGET. Cases above it are ``long``; they and the tests that are marked ``slow`` run in
``make test-all``.

``make tiers`` measures a dozen cases of each function and writes that file; ``make tiers TESTS=tests/cli`` measures one
folder. Functions that take less than LISTED are not in the file: a case of theirs counts as the mean of all such cases.
``make test`` fails if functions that are not in the file, new ones for instance, break the budget.
"""

from __future__ import annotations

import json
import os
import zlib
from collections import defaultdict
from collections.abc import Generator, Iterable
from pathlib import Path
from typing import Any, NamedTuple

import pytest

BUDGET = 150.0  # CPU seconds of make test without collection, as measured by make tiers
CI_BUDGET = 750.0  # those of make test and make test-rest together
LIMIT = 1.9  # budgets: make test fails above
PER_CASE = 0.002  # CPU seconds that pytest-xdist spends on a case, outside of the test
SAMPLE = 12  # cases of a function that make tiers measures
LISTED = 0.25  # CPU seconds of all cases of a function
TABLE = Path(__file__).with_name("tiers.json")
BEGAN = pytest.StashKey[float]()


class Cost(NamedTuple):
    cases: int
    seconds: float

    @property
    def mean(self) -> float:
        return self.seconds / max(self.cases, 1)


class Measured(NamedTuple):
    """One case: its function, how many cases that has, and the CPU seconds that this one took."""

    function: str
    cases: int
    seconds: float


class Table:
    """What tests cost: functions, single cases that stand out, and all others together."""

    def __init__(self, path: Path = TABLE):
        held = json.loads(path.read_text()) if path.exists() else {"others": [1, 0.01], "tests": {}}
        self.others = Cost(*held["others"])
        self.tests = {name: Cost(*cost) for name, cost in held["tests"].items()}
        self.level, self.ci_level = (
            level(self.tests.values(), budget - self.others.seconds) for budget in (BUDGET, CI_BUDGET)
        )

    def of(self, nodeid: str, function: str) -> Cost | None:
        """The cost of a case by itself or of its function; None if neither is listed."""
        return self.tests.get(nodeid) or self.tests.get(function)

    def write(self, measured: dict[str, Measured], path: Path = TABLE) -> None:
        """Replace what is known of the files that were measured."""
        files = {name.split("::")[0] for name in measured}
        tests = {name: cost for name, cost in self.tests.items() if name.split("::")[0] not in files}
        functions = defaultdict[str, dict[str, Measured]](dict)
        for name, case in measured.items():
            functions[case.function][name] = case
        others = [] if tests else [Cost(0, 0.0)]  # counted anew when all files were measured
        for function, cases in functions.items():
            usual = sorted(case.seconds for case in cases.values())[len(cases) // 2]
            apart = {name: case.seconds for name, case in cases.items() if case.seconds > max(1.0, 4 * usual)}
            alike = [case.seconds for name, case in cases.items() if name not in apart]
            n_alike = next(iter(cases.values())).cases - len(apart)
            cost = Cost(n_alike, round(sum(alike) / len(alike) * n_alike, 3))
            if apart or cost.seconds > LISTED:
                tests |= {name: Cost(1, round(seconds, 2)) for name, seconds in apart.items()} | {function: cost}
            elif others:
                others.append(cost)
        if others:
            self.others = Cost(sum(o.cases for o in others), round(sum(o.seconds for o in others), 1))
        lines = [f"  {json.dumps(name)}: {json.dumps(tests[name])}" for name in sorted(tests)]
        path.write_text(f'{{"others": {json.dumps(self.others)}, "tests": {{\n' + ",\n".join(lines) + "\n}}\n")


def level(costs: Iterable[Cost], budget: float) -> float:
    """How many seconds each may take at most, in whole cases, so that all stay within the budget."""
    costs, low, high = list(costs), 0.0, max(1.0, budget)
    for _ in range(50):
        middle = (low + high) / 2
        spent = sum(min(cost.cases, int(middle / max(cost.mean, 1e-9))) * cost.mean for cost in costs)
        low, high = (middle, high) if spent <= budget else (low, middle)
    return low


def function_of(item: Any) -> str:
    """The name of a test without its case; each of scikit-learn's checks is a function of its own."""
    name = item.nodeid.split("[")[0]
    check = item.callspec.params.get("check") if hasattr(item, "callspec") else None
    return name if check is None else f"{name}[{getattr(check, 'func', check).__name__}]"


def by_function(items: Iterable[Any]) -> dict[str, list[Any]]:
    """The cases of each function, without slow ones: those with a value not met before come first."""
    functions = defaultdict[str, list[Any]](list)
    for item in items:
        if not item.get_closest_marker("slow"):
            functions[function_of(item)].append(item)
    return {name: in_order(cases) if len(cases) > 1 else cases for name, cases in functions.items()}


def in_order(items: list[Any]) -> list[Any]:
    drawn = sorted(items, key=lambda item: zlib.crc32(item.nodeid.encode()))
    met, first, later = set[tuple[str, int]](), [], []
    for item in drawn:
        values = set(item.callspec.indices.items()) if hasattr(item, "callspec") else set()
        (later if values and values <= met else first).append(item)
        met |= values
    return first + later


def within(seconds: float, functions: dict[str, list[Any]], table: Table) -> set[str]:
    """The names of the first cases of each function that together take so long."""
    chosen = set[str]()
    for function, cases in functions.items():
        left = seconds + 1e-9
        for item in cases:
            cost = table.of(item.nodeid, function)
            if cost is None or cost.mean <= left:
                chosen.add(item.nodeid)
                left -= cost.mean if cost else 0.0
    return chosen


def spent(measured: dict[str, Measured], table: Table) -> tuple[float, list[str]]:
    """The seconds that a run of ``make test`` took, and the functions that took longest of those not in the table.

    Seconds are the table's: how much slower this machine is, or how busy, shows in the functions that are listed.
    """
    listed, here, unlisted = 0.0, 0.0, defaultdict[str, float](float)
    for name, case in measured.items():
        if cost := table.of(name, case.function):
            listed, here = listed + cost.mean, here + case.seconds
        else:
            unlisted[case.function] += case.seconds
    pace = here / listed if listed else 1.0
    longest = sorted(unlisted, key=lambda function: -unlisted[function])
    return listed + sum(unlisted.values()) / pace, longest[:10]


def cpu() -> float:
    """CPU seconds of this process and of its children that have ended."""
    return sum(os.times()[:4])


class Tiers:
    """The plugin of pytest: marks the rest, or takes the sample to measure; adds up CPU time.

    Reports carry the time of a test from the workers of pytest-xdist to the process that was started.
    """

    def __init__(self, config: pytest.Config) -> None:
        self.is_measuring, self.is_first_tier = config.getoption("--measure"), config.option.markexpr == "not rest"
        self.is_worker = hasattr(config, "workerinput")
        self.measured: dict[str, Measured] = {}
        self.seconds, self.unlisted = 0.0, list[str]()

    @pytest.hookimpl(tryfirst=True)
    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        functions = by_function(items)
        self.cases = {name: len(cases) for name, cases in functions.items()}
        if self.is_measuring:
            sample = {item for cases in functions.values() for item in cases[:SAMPLE]}
            items[:] = [item for item in items if item in sample]
        else:
            table = Table()
            first, in_ci = (within(seconds, functions, table) for seconds in (table.level, table.ci_level))
            for item in items:
                if item.nodeid not in first:
                    item.add_marker("rest")
                if item.nodeid not in in_ci and not item.get_closest_marker("slow"):
                    item.add_marker("long")

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_setup(self, item: pytest.Item) -> None:
        item.stash[BEGAN] = cpu()

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(self, item: pytest.Item) -> Generator[None, Any, Any]:
        report = yield
        function = function_of(item)
        report.measured = [function, self.cases.get(function, 1), cpu() - item.stash[BEGAN] + PER_CASE]
        return report

    def pytest_runtest_logreport(self, report: Any) -> None:
        if report.when == "teardown":
            self.measured[report.nodeid.partition("@")[0]] = Measured(*report.measured)

    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        if self.is_measuring and not self.is_worker:
            Table().write(self.measured)
        elif self.is_first_tier and not self.is_worker:
            self.seconds, self.unlisted = spent(self.measured, Table())
            if self.seconds > LIMIT * BUDGET:
                session.exitstatus = pytest.ExitCode.TESTS_FAILED

    def pytest_terminal_summary(self, terminalreporter: Any) -> None:
        if self.seconds:
            terminalreporter.write_line(f"{self.seconds:.0f} of {LIMIT * BUDGET:.0f} CPU seconds used")
        if self.seconds > LIMIT * BUDGET:
            terminalreporter.write_line("make test is over its budget with these tests, which are not in")
            terminalreporter.write_line(
                "tests/tiers.json; `make tiers` measures all, `make tiers TESTS=FOLDER` some:", red=True
            )
            terminalreporter.write_line("\n".join(self.unlisted))
