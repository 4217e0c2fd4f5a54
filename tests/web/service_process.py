"""``thresher serve`` in a process of its own, and clients that talk to it over loopback."""

from __future__ import annotations

import asyncio
import contextlib
import http.client
import json
import os
import signal
import sys
from pathlib import Path
from typing import Any

import numpy as np

from thresher.cli import main as thresher
from thresher.dual_averaging import FTRLRegressor
from thresher.online import AROWClassifier
from thresher.persistence import save_model
from thresher.preprocessing import prepared
from thresher.streams import open_stream
from thresher.training import train

TOWNS = ("Köln", "Gent", "Oslo")


def rows(n: int, seed: int = 0) -> list[dict[str, Any]]:
    """Rows of a date, a word and two numbers, one of them with a decimal comma, and the label."""
    rng = np.random.default_rng(seed)
    made = []
    for _ in range(n):
        x, town = rng.normal(size=2), TOWNS[rng.integers(3)]
        day = f"{rng.integers(1, 29):02d}.{rng.integers(1, 13):02d}.2024"
        label = "yes" if x[0] - (town == "Oslo") + 0.3 * rng.normal() > 0 else "no"
        made.append({"day": day, "town": town, "a": f"{x[0]:.3f}".replace(".", ","), "b": float(x[1]), "label": label})
    return made


def write_csv(path: Path, table: list[dict[str, Any]]) -> Path:
    lines = [";".join(table[0])] + [";".join(str(v) for v in row.values()) for row in table]
    path.write_text("\n".join(lines) + "\n")
    return path


def train_model(folder: Path, *, regression: bool = False) -> Path:
    """A model of :func:`rows`, as ``thresher train`` makes it."""
    table = rows(200)
    if regression:
        table = [{**row, "label": float(row["a"].replace(",", "."))} for row in table]
    for row in table:
        row["b"] = str(row["b"]).replace(".", ",")
    stream = open_stream(write_csv(folder / "rows.csv", table), target="label", delimiter=";", prefetch=False)
    first = next(iter(stream))
    learner = FTRLRegressor() if regression else AROWClassifier(random_state=0)
    run = train(prepared(learner, first.X), stream, record={"layout": stream.layout()})
    save_model(run.model, folder / "model.thresher")
    return folder / "model.thresher"


class Service:
    """A forked process that runs the command; cold starts would take long."""

    def __init__(self, *options: Any) -> None:
        self._options = [str(option) for option in options]
        self.pid = 0
        self.start()

    def start(self) -> None:
        get, put = os.pipe()
        self.errors = os.memfd_create("errors")
        self.pid = os.fork()
        if self.pid == 0:
            os.dup2(put, 1)
            os.dup2(self.errors, 2)
            # Those that tests capture are other files.
            sys.stdout, sys.stderr = (os.fdopen(fd, "w", 1, closefd=False) for fd in (1, 2))
            signal.signal(signal.SIGINT, signal.default_int_handler)
            signal.signal(signal.SIGTERM, signal.SIG_DFL)
            code = 1
            with contextlib.suppress(BaseException):
                code = thresher(["serve", *self._options])
            os._exit(code)
        os.close(put)
        with os.fdopen(get) as said:
            self.address = said.readline().strip()
        if not self.address:
            code = self.wait()
            raise RuntimeError(f"exit code {code}: {self.stderr()}")
        self.base, _, self.token = self.address.partition("?token=")
        self.port = int(self.base.rstrip("/").rpartition(":")[2])

    def stderr(self) -> str:
        return os.pread(self.errors, 1 << 20, 0).decode()

    def request(
        self, method: str, path: str, body: Any = None, headers: dict[str, str] | None = None
    ) -> tuple[int, Any]:
        """The status and the content of an answer."""
        status, _, content = self.whole(method, path, body, headers)
        return status, content

    def whole(
        self, method: str, path: str, body: Any = None, headers: dict[str, str] | None = None
    ) -> tuple[int, Any, Any]:
        """The status, the headers and the content of an answer."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=20)
        sent = body if body is None or isinstance(body, bytes) else json.dumps(body).encode()
        sender = {"Authorization": f"Bearer {self.token}"} if headers is None else headers
        try:
            connection.request(method, path, sent, sender)
            answer = connection.getresponse()
            content = answer.read()
        finally:
            connection.close()
        is_json = answer.headers.get("content-type") == "application/json"
        return answer.status, answer.headers, json.loads(content) if is_json else content.decode()

    def post(self, path: str, body: Any, kind: str = "application/json") -> tuple[int, Any]:
        return self.request("POST", path, body, {"Authorization": f"Bearer {self.token}", "Content-Type": kind})

    def kill(self) -> None:
        os.kill(self.pid, signal.SIGKILL)
        self.wait()

    def stop(self, with_signal: int = signal.SIGINT) -> int:
        """Stop the service as Ctrl-C does; returns its exit code."""
        if not self.pid:
            return 0
        os.kill(self.pid, with_signal)
        return self.wait()

    def wait(self) -> int:
        code = os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])
        self.pid = 0
        return code

    def __enter__(self) -> Service:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()


class Connection:
    """A connection that stays open, for clients that wait for one another in one thread."""

    def __init__(self, service: Service) -> None:
        self._service = service

    async def __aenter__(self) -> Connection:
        self._reader, self._writer = await asyncio.open_connection("127.0.0.1", self._service.port)
        return self

    async def __aexit__(self, *_: object) -> None:
        self._writer.close()

    async def post(self, path: str, content: Any) -> tuple[int, Any]:
        body = json.dumps(content).encode()
        head = f"POST {path} HTTP/1.1\r\nHost: 127.0.0.1:{self._service.port}\r\nContent-Length: {len(body)}\r\n"
        self._writer.write(f"{head}Authorization: Bearer {self._service.token}\r\n\r\n".encode() + body)
        answer = (await self._reader.readuntil(b"\r\n\r\n")).lower()
        length = int(answer.partition(b"content-length:")[2].split(b"\r\n")[0])
        return int(answer.split()[1]), json.loads(await self._reader.readexactly(length))
