"""``thresher serve`` beside an empty route of Starlette, on the same server: rates and waiting times of single rows.

Sixteen connections ask, one request after the other each, from a process of their own. The empty route reads the
body and answers two bytes; the service checks host, origin and token, reads the row as the training file was read (a
date, two columns of words, twelve numbers), and answers the class and its score. In the last row it learns at the same
time: another client sends labelled rows, one by one, each of which is on the disk before it is acknowledged. Rows are
learned behind predictions, so more of them may be acknowledged than are learned at once.
"""

from __future__ import annotations

import asyncio
import json
import multiprocessing
import os
import re
import signal
import tempfile
import time
from collections.abc import Callable
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import numpy as np

from thresher.cli import main as thresher

from ._report import Table

CONNECTIONS = 16
EMPTY, OURS, LEARNING = "empty route of Starlette", "thresher serve", "thresher serve, learning"


def run(quick: bool) -> list[Table]:
    seconds, repeats = (0.5, 1) if quick else (3.0, 5)
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        rows = _train(place)
        figures: dict[str, list[_Figures]] = {EMPTY: [], OURS: [], LEARNING: []}
        for _ in range(repeats):
            for name, measured in figures.items():
                measured.append(_measure(name, place, rows, seconds))
    n_accepted, n_learned = (
        np.median([getattr(each, key) / each.seconds for each in figures[LEARNING]])
        for key in ("n_accepted", "n_learned")
    )
    table = Table(
        f"Single-row predictions over HTTP, {CONNECTIONS} connections",
        ["server", "requests / CPU s", "of the empty route's", "target", "p50 ms", "p99 ms", "p99 / empty's", "target"],
        notes=[
            f"Medians of {repeats} runs of {seconds:g} s, in turn. Ratios are those of runs in the same turn, with the "
            "least and the most. CPU seconds are those of the server; times are those that a client waits, and depend "
            "on what else the machine does.",
            f"While it learned, {n_accepted:.0f} rows a second were acknowledged, and {n_learned:.0f} were learned.",
        ],
    )
    for name, measured in figures.items():
        rate, p50, p99 = (
            float(np.median([getattr(each, key) for each in measured])) for key in ("per_cpu", "p50", "p99")
        )
        share, late = (_ratio(measured, figures[EMPTY], key) if name != EMPTY else "1" for key in ("per_cpu", "p99"))
        targets = ("0.6", "2") if name != EMPTY else ("", "")
        table.rows.append([name, f"{rate:,.0f}", share, targets[0], f"{p50:.1f}", f"{p99:.1f}", late, targets[1]])
    return [table]


def _ratio(ours: list[_Figures], theirs: list[_Figures], key: str) -> str:
    """The median over turns, with the least and the most."""
    ratios = [getattr(a, key) / getattr(b, key) for a, b in zip(ours, theirs, strict=True)]
    return f"{np.median(ratios):.2f} ({min(ratios):.2f} to {max(ratios):.2f})"


class _Figures:
    """What one run of one server met."""

    def __init__(self, waits: list[float], cpu: float, seconds: float, n_accepted: int, n_learned: int) -> None:
        self.per_cpu = len(waits) / cpu if cpu else 0.0
        self.p50, self.p99 = (1000 * float(each) for each in np.quantile(waits, (0.5, 0.99)))
        self.seconds, self.n_accepted, self.n_learned = seconds, n_accepted, n_learned


def _train(place: Path) -> list[dict[str, Any]]:
    """A model in a file; returns rows for requests."""
    rng, names = np.random.default_rng(0), [f"n{j}" for j in range(12)]
    rows: list[dict[str, Any]] = []
    for _ in range(2000):
        x, words = rng.normal(size=12).round(4).tolist(), [f"w{rng.integers(20)}", f"v{rng.integers(5)}"]
        day = f"{rng.integers(1, 29):02d}.{rng.integers(1, 13):02d}.2024"
        label = "yes" if x[0] + x[1] - (words[0] == "w3") > 0.3 * rng.normal() else "no"
        rows.append({"day": day, "town": words[0], "job": words[1], **dict(zip(names, x, strict=True)), "label": label})
    lines = [",".join(map(str, row.values())) for row in rows]
    (place / "rows.csv").write_text("\n".join([",".join(rows[0]), *lines]) + "\n")
    code = _in_child(lambda: _train_quietly(place))
    assert code == 0
    return rows


def _train_quietly(place: Path) -> None:
    with open(os.devnull, "w") as silent:
        os.dup2(silent.fileno(), 1)
        os._exit(
            thresher(["train", str(place / "rows.csv"), "--method", "arow", "--quiet", "--model", str(place / "m")])
        )


def _in_child(work: Callable[[], None]) -> int:
    child = os.fork()
    if child == 0:
        work()
        os._exit(1)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def _measure(name: str, place: Path, rows: list[dict[str, Any]], seconds: float) -> _Figures:
    get, put = os.pipe()
    server = os.fork()
    if server == 0:
        os.dup2(put, 1)
        _serve_nothing() if name == EMPTY else _serve(place, learns=name == LEARNING)
    os.close(put)
    with os.fdopen(get) as said:
        address = said.readline().strip()
    port, token = int(re.findall(r":(\d+)/", address)[0]), address.partition("token=")[2]
    try:
        ours, theirs = multiprocessing.Pipe()
        client = os.fork()
        if client == 0:
            theirs.send(asyncio.run(_ask(port, token, rows, seconds, name == LEARNING, theirs)))
            os._exit(0)
        assert ours.recv() == "warm"
        before = _cpu(server)
        waits, n_accepted, n_learned = ours.recv()
        cpu = _cpu(server) - before
        os.waitpid(client, 0)
    finally:
        os.kill(server, signal.SIGKILL)
        os.waitpid(server, 0)
    return _Figures(waits, cpu, seconds, n_accepted, n_learned)


def _serve(place: Path, learns: bool) -> None:
    folder = ["--learn", tempfile.mkdtemp(dir=place)] if learns else []
    os._exit(thresher(["serve", str(place / "m"), "--max-rate", "1e9", *folder]))


def _serve_nothing() -> None:
    import socket

    import uvicorn
    from starlette.applications import Starlette
    from starlette.requests import Request
    from starlette.responses import Response
    from starlette.routing import Route

    async def nothing(request: Request) -> Response:
        await request.body()
        return Response(b"{}", media_type="application/json")

    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)  # which asyncio does not delay
    listener.bind(("127.0.0.1", 0))
    listener.listen(1024)
    print(f"http://127.0.0.1:{listener.getsockname()[1]}/", flush=True)
    app = Starlette(routes=[Route("/predict", nothing, methods=["POST"])])
    config = uvicorn.Config(app, log_level="warning", access_log=False, server_header=False, ws="none")
    uvicorn.Server(config).run(sockets=[listener])


def _cpu(process: int) -> float:
    fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


async def _ask(
    port: int, token: str, rows: list[dict[str, Any]], seconds: float, learns: bool, said: Connection
) -> tuple[list[float], int, int]:
    """How long each request waited, and how many rows were acknowledged and learned."""
    loop = asyncio.get_running_loop()
    plain = [{k: v for k, v in row.items() if k != "label"} for row in rows]
    bodies = [json.dumps({"row": row}).encode() for row in plain]
    clients = [await _connected(loop, port, _requests(port, token, "/predict", bodies)) for _ in range(CONNECTIONS)]
    labelled = [json.dumps({"row": p, "label": r["label"]}).encode() for p, r in zip(plain, rows, strict=True)]
    learner = await _connected(loop, port, _requests(port, token, "/learn", labelled)) if learns else None
    every = [*clients, *([learner] if learner else [])]
    for client in every:
        client.ask()
    await asyncio.sleep(min(1.0, seconds))
    for client in every:
        client.waits.clear()
    said.send("warm")
    before = await _learned(port, token) if learner else 0
    await asyncio.sleep(seconds)
    waits, n_accepted = [wait for client in clients for wait in client.waits], len(learner.waits) if learner else 0
    return waits, n_accepted, await _learned(port, token) - before if learner else 0


async def _learned(port: int, token: str) -> int:
    """The rows that a service has learned so far."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    head = f"GET /measures HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nAuthorization: Bearer {token}\r\n"
    writer.write(f"{head}Connection: close\r\n\r\n".encode())
    answer = await reader.read()
    writer.close()
    return int(json.loads(answer.partition(b"\r\n\r\n")[2])["learned"])


def _requests(port: int, token: str, path: str, bodies: list[bytes]) -> list[bytes]:
    head = f"POST {path} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nAuthorization: Bearer {token}\r\n"
    return [f"{head}Content-Length: {len(body)}\r\n\r\n".encode() + body for body in bodies]


async def _connected(loop: asyncio.AbstractEventLoop, port: int, requests: list[bytes]) -> _Client:
    _, client = await loop.create_connection(lambda: _Client(requests), "127.0.0.1", port)
    return client


class _Client(asyncio.Protocol):
    """One connection that asks again as soon as it is answered."""

    def __init__(self, requests: list[bytes]) -> None:
        self._requests, self._n, self._answer = requests, 0, b""
        self.waits: list[float] = []

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport: Any = transport

    def ask(self) -> None:
        self._n += 1
        self._begin = time.perf_counter()
        self._transport.write(self._requests[self._n % len(self._requests)])

    def data_received(self, data: bytes) -> None:
        self._answer += data
        head, gap, body = self._answer.partition(b"\r\n\r\n")
        if not gap or len(body) < int(re.search(rb"content-length: (\d+)", head)[1]):  # type: ignore[index]
            return
        if not head.startswith(b"HTTP/1.1 200"):
            raise RuntimeError(self._answer.decode())
        self.waits.append(time.perf_counter() - self._begin)
        self._answer = b""
        self.ask()
