"""Work ahead: the next items are made in a thread while the caller uses the last one."""

from __future__ import annotations

import atexit
import threading
from collections.abc import Callable, Iterator
from queue import Empty, Full, Queue
from typing import TypeVar

T = TypeVar("T")


class _Worker(threading.Thread):
    def __init__(self, work: Callable[[], None]) -> None:
        super().__init__(target=work, name="thresher-ahead", daemon=True)
        self.works_for = threading.current_thread()
        self.stopped = threading.Event()

    def can_be_waited_for(self) -> bool:
        """Not by itself, nor by a thread that works for it. The garbage collector may close an abandoned iterator in
        any thread."""
        thread: threading.Thread = threading.current_thread()
        while isinstance(thread, _Worker):
            if thread is self:
                return False
            thread = thread.works_for
        return True


_at_work: dict[_Worker, None] = {}  # in the order in which they began


def ahead(items: Iterator[T], depth: int) -> Iterator[T]:
    """The same items in the same order, up to `depth` of them made before they are asked for. An error is raised
    where the item would have been returned. Closing the iterator stops the thread and closes `items`."""
    queue: Queue[tuple[T | None, BaseException | None, bool]] = Queue(depth)

    def put(entry: tuple[T | None, BaseException | None, bool]) -> None:
        while not worker.stopped.is_set():
            try:
                return queue.put(entry, timeout=0.1)
            except Full:
                continue

    def work() -> None:
        _at_work[worker] = None
        try:
            for item in items:
                put((item, None, False))
                if worker.stopped.is_set():
                    break
        except BaseException as error:  # carried over to the caller, whatever it is
            put((None, error, True))
        else:
            put((None, None, True))
        finally:
            close = getattr(items, "close", None)
            if close is not None:
                close()
            _at_work.pop(worker, None)

    worker = _Worker(work)
    worker.start()
    try:
        while True:
            item, error, over = queue.get()
            if error is not None:
                raise error
            if over:
                return
            yield item  # type: ignore[misc]
    finally:
        worker.stopped.set()
        while worker.can_be_waited_for() and worker.is_alive():
            try:
                queue.get_nowait()
            except Empty:
                worker.join(0.01)


@atexit.register
def _stop_all() -> None:
    """Python cuts off threads that are still at work when it ends, and in native code that is a crash. The first ones
    close those that work for them."""
    for worker in list(_at_work):
        worker.stopped.set()
        worker.join()
