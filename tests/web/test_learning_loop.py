"""Rows that are accepted while predictions are asked for are written together; others are written at once."""

from __future__ import annotations

import asyncio
import json
import time

import pytest

from thresher.web import _learning_loop
from thresher.web._journal import Journal
from thresher.web._learning_loop import LearningLoop


class Remembered:
    """A model that learns nothing, and what it was given."""

    def __init__(self):
        self.applied, self.n_applied, self.learned, self.waiting = [], 0, {}, {}

    def replay(self, journal):
        return len(list(journal.read(0)))

    def apply(self, entry):
        self.applied.append(entry)
        self.n_applied += 1
        yield

    def checkpoint(self):
        return b""

    def save(self, content):
        pass


class Counted(Journal):
    """A journal that knows what was written at once."""

    def __init__(self, folder):
        super().__init__(folder)
        self.groups = []

    def write(self, record, n_entries):
        super().write(record, n_entries)
        self.groups.append([json.loads(line)[0] for line in record[16:].splitlines()])


async def accept(journal, kinds, is_busy):
    """Accept one entry after the other, some turns of the loop apart; returns the loop after its end."""
    loop = LearningLoop(Remembered(), journal)
    tasks = [asyncio.create_task(loop.write()), asyncio.create_task(loop.apply())]
    accepted = []
    for number, kind in enumerate(kinds):
        if is_busy:
            loop.asked_at = time.monotonic()
        entry = [[str(number), [1.0], "a", None][: 4 if kind == "learn" else 3]]
        accepted.append(asyncio.create_task(loop.learn(entry) if kind == "learn" else loop.remember(entry)))
        for _ in range(3):
            await asyncio.sleep(0)
        if not is_busy:
            await accepted[-1]
    assert await asyncio.gather(*accepted) == list(range(1, len(kinds) + 1))
    await loop.end(*tasks)
    return loop


@pytest.fixture
def patient(monkeypatch):
    """Long enough for a busy machine."""
    monkeypatch.setattr(_learning_loop, "_GATHER", 2.0)
    monkeypatch.setattr(_learning_loop, "_QUIET", 60.0)
    monkeypatch.setattr(_learning_loop, "_PAUSES", 0)


def test_labels_wait_for_others_while_predictions_are_asked_for(tmp_path, patient):
    journal = Counted(tmp_path)
    asyncio.run(accept(journal, ["learn"] * 5, is_busy=True))
    assert journal.groups == [["learn"] * 5]


def test_a_prediction_does_not_wait_and_takes_the_labels_along(tmp_path, patient, monkeypatch):
    monkeypatch.setattr(_learning_loop, "_GATHER", 3600.0)
    journal = Counted(tmp_path)
    asyncio.run(asyncio.wait_for(accept(journal, ["learn", "learn", "predict"], is_busy=True), 60))
    assert journal.groups == [["learn", "learn", "predict"]]


def test_labels_are_written_at_once_if_nobody_asks(tmp_path, monkeypatch):
    monkeypatch.setattr(_learning_loop, "_GATHER", 3600.0)
    journal = Counted(tmp_path)
    asyncio.run(asyncio.wait_for(accept(journal, ["learn"] * 3, is_busy=False), 60))
    assert journal.groups == [["learn"]] * 3


class Clock:
    """Stands in for `time` and `asyncio`: predictions are asked for every 50 ms, and take next to no CPU time."""

    def __init__(self):
        self.now, self.loop = 1000.0, None

    def monotonic(self):
        return self.now

    def process_time(self):
        return 0.01 * self.now

    async def sleep(self, seconds):
        if seconds:
            self.now += seconds
            self.loop.asked_at = 1000.0 + 0.05 * ((self.now - 1000.0) // 0.05)


@pytest.mark.parametrize(
    ("is_crowded", "least", "most"),
    [
        (False, 0.0, 0.05),  # nobody waits: the next step can be made between two predictions
        (True, 0.2, 0.25),  # others have the CPU, and the clients may be waiting for it
    ],
)
def test_on_a_busy_machine_silence_does_not_mean_that_nobody_waits(tmp_path, monkeypatch, is_crowded, least, most):
    journal, clock = Journal(tmp_path), Clock()
    clock.loop = loop = LearningLoop(Remembered(), journal)
    monkeypatch.setattr(_learning_loop, "time", clock)
    monkeypatch.setattr(_learning_loop, "asyncio", clock)
    monkeypatch.setattr(_learning_loop, "_is_crowded", lambda: is_crowded)
    loop.asked_at, begin = clock.now, clock.now
    asyncio.run(loop._give_way(0.002, clock.now))
    journal.close()
    assert least <= clock.now - begin <= most
