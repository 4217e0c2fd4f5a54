"""Shards on a Dask cluster."""

from __future__ import annotations

import pickle
import time
import uuid
import warnings
from collections.abc import Iterator, Sequence
from typing import Any

from .. import __version__
from ._engines import Done, Engine, ShardError, ShardTask, packed
from ._shards import ArrayShard, Shard

_PATIENCE = 10  # seconds for a scheduler to answer
_DEAF = "import signal\nsignal.signal(signal.SIGINT, signal.SIG_IGN)"  # Ctrl-C on a terminal is for the driver alone


def dask_engine(engine: Any) -> Engine:
    """The engine of a client, a cluster, an address, or ``"dask"``: the client in use, or else this machine's cores."""
    try:
        import distributed
    except ImportError:
        raise ImportError('engine="dask" needs dask.distributed: pip install "thresher[dask]".') from None
    if isinstance(engine, distributed.Client):
        return DaskEngine(engine)
    if isinstance(engine, str) and engine == "dask":
        try:
            return DaskEngine(distributed.get_client())
        except ValueError:
            cluster = distributed.LocalCluster(threads_per_worker=1, dashboard_address=None, preload=[_DEAF])
            return DaskEngine(client := distributed.Client(cluster), client, cluster)
    address = engine.replace("dask://", "tcp://", 1) if isinstance(engine, str) else engine
    try:
        client = distributed.Client(address, timeout=_PATIENCE, set_as_default=False)
    except (OSError, TimeoutError, ValueError) as problem:
        raise OSError(f"{engine}: no Dask scheduler answers there ({type(problem).__name__}).") from None
    return DaskEngine(client, client)


class DaskEngine(Engine):
    """Tasks as a graph, so that data that a dead worker held are made again; `opened` is closed at the end."""

    def __init__(self, client: Any, *opened: Any) -> None:
        self.client = client
        self._opened = opened
        self._checked = False
        self._held: dict[int, tuple[ArrayShard, Any]] = {}  # shards in memory travel once

    def run(self, task: ShardTask, shards: Sequence[Shard], on_done: Done) -> Iterator[Any]:
        import cloudpickle
        from dask import delayed

        from distributed import as_completed

        self._check_workers()
        run = uuid.uuid4().hex
        # The task is a node of the graph: sent once, handed from worker to worker, and never lost with one of them.
        held = delayed(packed(task, cloudpickle.dumps), name=f"thresher-task-{run}", traverse=False)
        nodes = [
            delayed(_work, pure=False)(held, self._node(shard), dask_key_name=f"thresher-shard-{i}-{run}")
            for i, shard in enumerate(shards)
        ]
        with large_graphs():
            futures = self.client.compute(nodes, optimize_graph=False)
        del nodes, held
        places = {future.key: i for i, future in enumerate(futures)}
        results: dict[int, Any] = {}
        n_given, n_done = 0, 0
        try:
            for future in self._as_they_come(as_completed(futures, loop=self.client.loop)):
                i = places[future.key]
                results[i] = self._result(future, shards[i].name)
                futures[i] = None  # the cluster need not keep results that have arrived
                n_done += 1
                on_done(n_done)
                while n_given in results:
                    yield results.pop(n_given)
                    n_given += 1
        finally:
            left = [future for future in futures if future is not None]
            if left:
                self.client.cancel(left, force=True)

    def _as_they_come(self, coming: Any) -> Iterator[Any]:
        """Futures that are done. A cluster without workers is waited for, as some grow only when asked, but not in
        silence."""
        waits, last = False, time.monotonic()
        while not coming.is_empty():
            if coming.has_ready():
                yield next(coming)
                last = time.monotonic()
                continue
            with coming.thread_condition:
                coming.thread_condition.wait(timeout=0.1)
            if not waits and time.monotonic() - last > _PATIENCE:
                last = time.monotonic()
                waits = not self.client.scheduler_info()["workers"]
                if waits:
                    warnings.warn("fit: the Dask cluster has no workers; waiting for some.", stacklevel=2)

    def _node(self, shard: Shard) -> Any:
        """A shard as part of a graph; Dask finds its own collections inside of it."""
        import cloudpickle
        from dask import delayed

        if not isinstance(shard, ArrayShard):
            ours = type(shard).__module__.startswith("thresher.")
            return shard if ours else packed(shard, cloudpickle.dumps)  # if it cannot be unpacked, the task fails
        if id(shard) not in self._held:
            node = delayed(shard, name=f"thresher-rows-{uuid.uuid4().hex}", traverse=False)
            with large_graphs():
                self._held[id(shard)] = (shard, self.client.persist(node, optimize_graph=False))
        return self._held[id(shard)][1]

    def _check_workers(self) -> None:
        """Refuse workers without this library, or with another version of it: their work would not be ours."""
        if self._checked:
            return
        if self.client.status != "running":
            raise OSError(f"fit: the Dask client is {self.client.status}; its scheduler may have gone.")
        versions = self.client.run(lambda: __import__("thresher").__version__, on_error="return")
        for worker, version in versions.items():
            if isinstance(version, ImportError) or (isinstance(version, str) and version != __version__):
                has = f"thresher {version}" if isinstance(version, str) else "no thresher"
                raise ValueError(f"fit: the Dask worker at {worker} has {has}, but thresher {__version__} is needed.")
        self._checked = any(isinstance(version, str) for version in versions.values())  # some may just have died

    @staticmethod
    def _result(future: Any, name: str) -> Any:
        from distributed import KilledWorker

        try:
            return future.result()
        except KilledWorker as killed:
            return ShardError(name, f"every worker that read it died ({killed.allowed_failures + 1} of them).")
        except Exception as error:
            if "Cancelled" in type(error).__name__:
                raise ShardError(name, "the cluster has gone.") from None
            return ShardError(name, f"{type(error).__name__}: {error}")  # tasks raise nothing: rows could not be made

    def close(self) -> None:
        self._held.clear()
        for each in self._opened:
            each.close()


def large_graphs() -> Any:
    """Let graphs hold data without a warning."""
    from dask import config

    return config.set({"distributed.admin.large-graph-warning-threshold": "1TiB"})


def _work(task: bytes, shard: Any) -> Any:
    return pickle.loads(task)(pickle.loads(shard) if isinstance(shard, bytes) else shard)
