"""Learning while a service answers: accepted rows go to the journal, are acknowledged, and are learned in turn."""

from __future__ import annotations

import asyncio
import logging
import math
import os
import time
from collections import deque
from typing import Any

from ._guard import HttpRefusal
from ._journal import Journal, record_of
from ._live_model import LiveModel
from ._row_form import Row

_PAUSES = 19  # times the CPU time of a step of learning, that requests get before the next
_LONGEST_PAUSE = 100  # times the same, that pass before the next at most
_QUIET, _CROWDED_QUIET = 0.01, 0.1  # seconds without a prediction, after which none is expected
_GATHER = 0.005  # seconds that labels wait for others, as long as predictions are asked for
_MOST_ROWS = 20_000  # that are accepted and not yet learned
_log = logging.getLogger("thresher.web")


class LearningLoop:
    """Takes entries, writes them to the journal in groups, and applies them one after the other.

    All of it runs in the loop that answers requests, so that every prediction is made by a whole state of the model;
    only waiting for the disk is done in a thread. While predictions are asked for, learning gets a twentieth of
    the time, and rows that arrive within some milliseconds are written together, because each write costs as much as
    two predictions.

    Parameters
    ----------
    live : LiveModel
    journal : Journal
        Its entries that the model does not know are applied first.
    checkpoint_seconds : float
        The least time between two checkpoints.
    """

    def __init__(self, live: LiveModel, journal: Journal, checkpoint_seconds: float = 30.0) -> None:
        self._live, self._seconds = live, checkpoint_seconds
        self._journal, self.n_replayed = journal, live.replay(journal)
        self._waiting: list[tuple[Any, asyncio.Future[int]]] = []  # an entry, or None for all that is before
        self._queue: deque[Any] = deque()
        self._ahead: dict[str, list[Any]] = {}  # by id, the rows of entries that are not applied yet
        self.n_rows_ahead = 0
        self.problem: str | None = None
        self.asked_at = -math.inf
        """When a prediction was last requested, by ``time.monotonic``."""
        self._wake_writer, self._wake_learner = asyncio.Event(), asyncio.Event()
        self._ends = self._all_written = self._starts_segment = False
        self._saved_at, self._pause = time.monotonic(), 0.0

    # --- accepting ----------------------------------------------------------------------------------------------------

    def is_learned(self, name: str) -> bool:
        """Whether a row of this id was accepted to be learned."""
        ahead = self._ahead.get(name)
        return name in self._live.learned if ahead is None else _is_labelled(ahead)

    def prediction(self, name: str) -> tuple[Row, Any] | None:
        """The row and the answer of an earlier prediction of this id."""
        ahead = self._ahead.get(name)
        if ahead is not None:
            return None if _is_labelled(ahead) else (ahead[1], ahead[2])
        found = self._live.waiting.get(name)
        return None if found is None else (found[0], found[1])

    async def remember(self, rows: list[list[Any]]) -> int:
        """Keep predictions (id, row and answer), so that labels find them later."""
        return await self._accept("predict", rows)

    async def learn(self, rows: list[list[Any]]) -> int:
        """Accept rows to be learned (id, row, label and earlier answer); returns the number of their entry."""
        return await self._accept("learn", rows)

    async def all_written(self) -> int:
        """Wait until all that was accepted is on the disk."""
        return await self._written(None)

    async def _accept(self, kind: str, rows: list[list[Any]]) -> int:
        for row in rows:
            if row[0] is not None:
                self._ahead[row[0]] = row
        self.n_rows_ahead += len(rows)
        return await self._written([kind, rows], can_wait=kind == "learn" and self.asked_at > time.monotonic() - _QUIET)

    async def _written(self, entry: Any, can_wait: bool = False) -> int:
        loop = asyncio.get_running_loop()
        written: asyncio.Future[int] = loop.create_future()
        self._waiting.append((entry, written))
        if can_wait:
            loop.call_later(_GATHER, self._wake_writer.set)
        else:
            self._wake_writer.set()
        return await asyncio.shield(written)

    def check_room(self, n_rows: int) -> None:
        """Refuse rows that cannot be accepted now."""
        if self.problem is not None:
            raise HttpRefusal(503, self.problem)
        if self.n_rows_ahead + n_rows > max(_MOST_ROWS, n_rows):
            raise HttpRefusal(503, "Rows arrive faster than they are learned; send these again in a second.")

    # --- writing and learning -----------------------------------------------------------------------------------------

    async def write(self) -> None:
        """Write what was accepted, group after group; returns after :meth:`end`."""
        while not self._ends or self._waiting:
            await self._wake_writer.wait()
            self._wake_writer.clear()
            group, self._waiting = self._waiting, []
            try:
                await self._write([entry for entry, _ in group if entry is not None])
            except (OSError, ValueError) as error:
                # The content of the disk is unknown now. Predictions continue, and a restart reads the journal again.
                self.problem = f"The journal cannot be written, so nothing more is learned: {_reason(error)}."
                for _, written in group:
                    if not written.done():
                        written.set_exception(HttpRefusal(503, self.problem))
                continue
            number = self._journal.n_entries - sum(entry is not None for entry, _ in group)
            for entry, written in group:
                if entry is not None:
                    number += 1
                    self._queue.append(entry)
                if not written.done():
                    written.set_result(number)
            self._wake_learner.set()

    async def _write(self, entries: list[Any]) -> None:
        if self.problem is not None:
            raise OSError(self.problem)
        if self._starts_segment:
            self._starts_segment = False
            await asyncio.to_thread(self._journal.start_segment)
        if entries:
            await asyncio.to_thread(self._journal.write, record_of(entries), len(entries))

    async def apply(self) -> None:
        """Apply what was written, entry after entry; returns after :meth:`end`."""
        try:
            while not self._all_written or self._queue:
                if not self._queue:
                    self._wake_learner.clear()
                    await self._wake_learner.wait()
                    continue
                await self._apply(self._queue.popleft())
                if time.monotonic() - self._saved_at >= max(self._seconds, 20 * self._pause):
                    await self._save()
        except Exception as error:
            _log.error("learning has stopped", exc_info=error)
            self.problem = "Learning has stopped because of an error (see the log of the service); start it again."

    async def _apply(self, entry: Any) -> None:
        begin, used = time.monotonic(), time.process_time()
        for _ in self._live.apply(entry):
            await self._give_way(time.process_time() - used, begin)
            begin, used = time.monotonic(), time.process_time()
        rows: list[list[Any]] = entry[1]
        self.n_rows_ahead -= len(rows)
        for row in rows:
            if row[0] is not None and self._ahead.get(row[0]) is row:
                del self._ahead[row[0]]

    async def _give_way(self, used: float, begin: float) -> None:
        """Leave the CPU to requests, as long as there are any, for some times what a step of learning has used.

        If more processes want to run than there are CPUs, clients are held up, and their silence does not mean that
        they have gone.
        """
        end, last = time.process_time() + _PAUSES * used, time.monotonic() + _LONGEST_PAUSE * used
        pause = max(used, _CROWDED_QUIET if _is_crowded() else _QUIET)
        await asyncio.sleep(0)
        while self.asked_at > begin - pause and time.process_time() < end and time.monotonic() < last:
            begin = time.monotonic() + pause
            await asyncio.sleep(pause)

    async def _save(self) -> None:
        """Write a checkpoint; the journal then begins behind it."""
        begin = time.perf_counter()
        content, n_applied = self._live.checkpoint(), self._live.n_applied
        self._pause = time.perf_counter() - begin
        await asyncio.to_thread(self._live.save, content)
        await asyncio.to_thread(self._journal.forget, n_applied)
        self._saved_at, self._starts_segment = time.monotonic(), True

    async def end(self, writer: asyncio.Task[None], learner: asyncio.Task[None]) -> None:
        """Learn what was accepted, write a checkpoint, and close the journal."""
        self._ends = True
        self._wake_writer.set()
        await writer
        self._all_written = True
        self._wake_learner.set()
        await learner
        if self.problem is None:
            self._live.save(self._live.checkpoint())
            self._journal.start_segment()
            self._journal.forget(self._live.n_applied)
        self._journal.close()


def _is_crowded() -> bool:
    return os.getloadavg()[0] > (os.cpu_count() or 1)


def _is_labelled(row: list[Any]) -> bool:
    return len(row) == 4


def _reason(error: Exception) -> str:
    return (error.strerror or str(error)) if isinstance(error, OSError) else str(error).rstrip(".")
