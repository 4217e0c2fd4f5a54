"""joblib's backend for Dask, with data that outlive a worker and errors that are raised."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any
from weakref import WeakSet

import joblib
from joblib._dask import DaskDistributedBackend

from ._dask import large_graphs

_SMALL = 1 << 20  # bytes that travel with each task rather than to all workers


@contextmanager
def sharing(client: Any, share: list[Any]) -> Iterator[None]:
    """Let joblib use the workers of a client. Shared data travel once, and are released at the end."""
    durable = _DurableClient(client)
    try:
        with joblib.parallel_config(backend=Backend(client=durable, scatter=share)):
            yield
    finally:
        durable.release()


class Backend(DaskDistributedBackend):  # type: ignore[misc]
    """Raises the error of a task; joblib waits forever for one that kills every worker, or that none can read."""

    def submit(self, func: Any, callback: Callable[[Any], Any] | None = None) -> Any:
        job = super().submit(func, callback)

        def tell(job: Any) -> None:
            if callback is not None and job.exception() is not None:
                callback(job.exception())

        job.add_done_callback(tell)
        return job

    def retrieve_result_callback(self, out: Any) -> Any:
        if isinstance(out, BaseException):
            raise RuntimeError(f"backend: the cluster lost a task, {type(out).__name__}: {out}") from out
        return super().retrieve_result_callback(out)


class _DurableClient:
    """A client whose data outlive the workers that hold them.

    joblib scatters shared data, and by itself large arguments such as the rows of a fold. Scattered data are lost with
    their holder, and copies do not help: the scheduler's memory manager drops them. The result of a task is made again,
    so data are sent as one. Small arguments travel with each task.
    """

    def __init__(self, client: Any) -> None:
        self._client = client
        self._futures: WeakSet[Any] = WeakSet()  # those of one search may go at its end

    def release(self) -> None:
        """Let workers forget all of it now; a reference cycle in joblib would hold it until it is collected."""
        for future in list(self._futures):
            future.release()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._client, name)

    def scatter(self, data: Any, *, asynchronous: bool = False, **how: Any) -> Any:
        if asynchronous:  # one argument of a task
            return self._sent_soon(data)
        return [self._sent(each) for each in data]

    async def _sent_soon(self, data: Any) -> Any:
        from dask.sizeof import sizeof

        return data if sizeof(data) <= _SMALL else self._sent(data)

    def _sent(self, data: Any) -> Any:
        with large_graphs():
            future = self._client.submit(_unchanged, data, key=f"thresher-shared-{uuid.uuid4().hex}")
        self._futures.add(future)
        return future


def _unchanged(data: Any) -> Any:
    return data
