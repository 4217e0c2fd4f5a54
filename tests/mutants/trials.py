"""A plugin of pytest that collects once and then forks: to record what tests reach, and to try every mutant."""

from __future__ import annotations

import builtins
import ctypes
import gc
import json
import mmap
import os
import pickle
import re
import resource
import signal
import sys
import time
import traceback
from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from _pytest.runner import runtestprotocol
from hypothesis import HealthCheck, settings

import tiers

PAGE = 1 << 16  # a byte for each mutant: was it reached?


@dataclass
class Record:
    """A test without any mutant: whether it passes, its CPU seconds, the mutants that it reaches."""

    passed: bool
    seconds: float
    reached: frozenset[int]


def pytest_configure(config: pytest.Config) -> None:
    settings.register_profile("mutants", derandomize=True, deadline=None, suppress_health_check=list(HealthCheck))
    settings.load_profile("mutants")


@pytest.hookimpl(tryfirst=True)
def pytest_runtestloop(session: pytest.Session) -> bool:
    if session.testsfailed:
        say(f"{session.testsfailed} files of tests could not be collected and take no part")
    gc.collect()
    gc.freeze()  # processes forked from here share their memory
    Trials(session.items, **json.loads(os.environ["MUTANTS"])).run()
    return True


class Trials:
    """All mutants against the tests of ``make test``, then those that survive against the rest, without slow tests."""

    def __init__(self, items: list[pytest.Item], out: str, jobs: int, limit: float):
        self.out, self.jobs, self.limit = Path(out), jobs, limit
        cases = [item for cases in tiers.by_function(items).values() for item in cases]
        self.first = [item for item in cases if not item.get_closest_marker("rest")]
        self.rest = [item for item in cases if item.get_closest_marker("rest")]
        self.mutants: list[dict[str, Any]] = json.loads((self.out / "mutants.json").read_text())
        self.records: dict[str, Record] = {}
        self.unreliable = set[str]()

    def run(self) -> None:
        """Do all of it. A mutant that a test caught in an earlier run stays caught if the test is in the same tier."""
        kept, results = self.out / "records.pickle", self.out / "results.json"
        if kept.exists():
            self.records = pickle.loads(kept.read_bytes())
        self.record()
        kept.write_bytes(pickle.dumps(self.records))
        before = {m["number"]: m for m in json.loads(results.read_text())} if results.exists() else {}
        names = {"test": {item.nodeid for item in self.first}, "rest": {item.nodeid for item in self.rest}}
        for mutant in self.mutants:
            mutant |= {"caught": None, "how": "no test of make test reaches it", "test": None}
            known = before.get(mutant["number"], mutant)
            mutant["caught"] = next((tier for tier in names if known["test"] in names[tier]), None)
            if mutant["caught"]:
                mutant |= {"how": known["how"], "test": known["test"]}
        for tier, order in (("test", self.reaching), ("rest", self.like_those)):
            left = [mutant for mutant in self.mutants if mutant["caught"] is None]
            for k in range(0, len(left), 10):
                self.try_all(left[k : k + 10], tier, order)
                results.write_text(json.dumps(self.mutants, indent=1))
            say(f"{tier}: {sum(mutant['caught'] == tier for mutant in self.mutants)} mutants caught")

    # --- what tests reach -------------------------------------------------------------------------------------------

    def record(self) -> None:
        """Run every test of ``make test`` once without a mutant; a process for each file of tests."""
        files = defaultdict[str, list[pytest.Item]](list)
        for item in self.first:
            if item.nodeid not in self.records:
                files[item.nodeid.split("::")[0]].append(item)
        recorded = self.out / "recorded"
        recorded.mkdir(exist_ok=True)
        tasks = [(f, lambda f=f: self._record(files[f], recorded / f.replace("/", "-"))) for f in files]
        for _ in in_processes(tasks, self.jobs):
            pass
        for path in recorded.iterdir():
            self.records |= dict(_blocks(path))
            path.unlink()
        known = [self.records[item.nodeid] for item in self.first if item.nodeid in self.records]
        say(f"{len(known)} of {len(self.first)} tests recorded, {sum(r.seconds for r in known):.0f} s of CPU time")
        say(f"{sum(not r.passed for r in known)} of them do not pass here and take no part")

    def _record(self, items: list[pytest.Item], result: Path) -> int:
        path = self.out / f"reached-{os.getpid()}"
        path.write_bytes(bytes(PAGE))
        os.environ["THRESHER_REACHED"] = str(path)
        page = sys.modules["sitecustomize"].Reached(path)
        builtins.__mutants__ = page  # type: ignore[attr-defined]
        _switch_core(-1, page.bytes)
        with result.open("wb", buffering=0) as file:
            for item, following in zip(items, [*items[1:], None], strict=True):
                page.bytes[:] = bytes(PAGE)
                signal.alarm(300)
                began = tiers.cpu()
                passed = _passes(item, following)
                reached = frozenset(m["number"] for m in self.mutants if page.bytes[m["number"]])
                file.write(pickle.dumps((item.nodeid, Record(passed, tiers.cpu() - began, reached))))
        path.unlink()
        return 0

    # --- mutants ----------------------------------------------------------------------------------------------------

    def try_all(self, waiting: list[dict[str, Any]], tier: str, order: Callable[[dict[str, Any]], Any]) -> None:
        """Each mutant in a process of its own. A test that fails without it, too, says nothing."""
        by_name = {item.nodeid: item for item in (*self.first, *self.rest)}
        while orders := {m["number"]: items for m in waiting if (items := order(m))}:
            tasks = [(k, lambda k=k, items=items: self._try(k, items)) for k, items in orders.items()]
            ends = dict(in_processes(tasks, self.jobs))
            stopped = {k: (self.out / f"trying-{k}").read_text() for k, status in ends.items() if status not in (0, 2)}
            alone = [(test, lambda test=test: self._try(-1, [by_name[test]])) for test in set(stopped.values())]
            self.unreliable |= {test for test, status in in_processes(alone, self.jobs) if status}
            for mutant in (m for m in waiting if m["number"] in orders):
                status, test = ends[mutant["number"]], stopped.get(mutant["number"])
                if test is None:
                    mutant["how"] = f"{'no time for all of ' * (status == 2)}{len(orders[mutant['number']])} tests"
                elif test not in self.unreliable:
                    how = "fails" if status == 1 else f"ends with status {status}"
                    mutant.update(caught=tier, how=f"{test} {how}", test=test)
            waiting = [mutant for mutant in waiting if stopped.get(mutant["number"]) in self.unreliable]

    def reaching(self, mutant: dict[str, Any]) -> list[pytest.Item]:
        """Tests of ``make test`` that reach a mutant: the fastest of each function, then the second, ..."""
        functions = defaultdict[str, list[tuple[float, pytest.Item]]](list)
        for item in self.first:
            record = self.records.get(item.nodeid)
            if record and record.passed and mutant["number"] in record.reached and item.nodeid not in self.unreliable:
                functions[item.nodeid.split("[")[0]].append((record.seconds, item))
        turns = []
        for cases in functions.values():
            cases.sort(key=lambda case: case[0])
            turns += [(turn, seconds, item) for turn, (seconds, item) in enumerate(cases)]
        turns.sort(key=lambda turn: turn[:2])
        return [item for _, _, item in turns]

    def like_those(self, mutant: dict[str, Any]) -> list[pytest.Item]:
        """Tests of the rest, those first whose names are most like names of tests that reach the mutant."""
        known = _words(mutant["file"]).union(*(_words(item.nodeid) for item in self.reaching(mutant)))
        share = {item: len((words := _words(item.nodeid)) & known) / len(words) for item in self.rest}
        likely = [item for item in self.rest if item.nodeid not in self.unreliable]
        return sorted(likely, key=lambda item: -share[item])

    def _try(self, number: int, items: list[pytest.Item]) -> int:
        """In a process of its own: 1 if a test fails, 2 if there is no time for all of them."""
        os.environ["THRESHER_MUTANT"] = str(number)
        builtins.__mutants__ = sys.modules["sitecustomize"].one(number)  # type: ignore[attr-defined]
        _switch_core(number, None)
        began = tiers.cpu()
        for item, following in zip(items, [*items[1:], None], strict=True):
            if tiers.cpu() - began > self.limit:
                return 2
            (self.out / f"trying-{number}").write_text(item.nodeid)
            usual = self.records[item.nodeid].seconds if item.nodeid in self.records else 3.0
            end = int(time.process_time() + 5 + 5 * usual) + 1
            resource.setrlimit(resource.RLIMIT_CPU, (end, resource.RLIM_INFINITY))
            signal.alarm(60 + int(60 * usual))  # for tests that wait and do not compute
            if not _passes(item, following):
                return 1
        return 0


def _blocks(path: Path) -> Iterator[Any]:
    """What was pickled into a file, one after the other."""
    with path.open("rb") as file:
        while file.peek():
            yield pickle.load(file)


def _words(name: str) -> set[str]:
    return set(re.findall(r"[a-z]+|\d+", name.lower()))


def in_processes(tasks: list[tuple[Any, Callable[[], int]]], jobs: int) -> Iterator[tuple[Any, int]]:
    """Do each task in a process forked from this one; its name and exit status, as they end."""
    waiting, running = list(reversed(tasks)), dict[int, Any]()
    while waiting or running:
        while waiting and len(running) < jobs:
            name, work = waiting.pop()
            pid = os.fork()
            if not pid:
                _then_exit(work)
            running[pid] = name
        pid, status = os.wait()
        if pid in running:
            say(f"{running[pid]}: {os.waitstatus_to_exitcode(status)} ({len(waiting)} to go)")
            yield running.pop(pid), os.waitstatus_to_exitcode(status)


def _then_exit(work: Callable[[], int]) -> None:
    """Do it in this process, which was forked, and end without the parent's clean-up."""
    status = 3
    try:
        status = work()
    except BaseException:
        traceback.print_exc(file=sys.__stderr__)
    finally:
        os._exit(status)


def _passes(item: pytest.Item, following: pytest.Item | None) -> bool:
    return not any(report.failed for report in runtestprotocol(item, log=False, nextitem=following))


def _switch_core(number: int, reached: mmap.mmap | None) -> None:
    """Tell the extension; one without mutants has nothing to tell."""
    from thresher import _core

    library = ctypes.CDLL(_core.__file__)
    if hasattr(library, "thresher_mutant"):
        address = ctypes.addressof(ctypes.c_char.from_buffer(reached)) if reached is not None else None
        library.thresher_mutant.argtypes = [ctypes.c_int, ctypes.c_void_p]
        library.thresher_mutant(number, address)


def say(text: str) -> None:
    print(text, file=sys.__stderr__, flush=True)
