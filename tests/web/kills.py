"""Kill a service that learns, again and again: ``python -m tests.web.kills --count 200``.

Four clients send labelled rows, a fifth asks for predictions. The service is killed (SIGKILL) at random moments and
started again; clients repeat, with the same ids, what was not acknowledged. At the end every row must have been learned
once, and the checkpoint must be that of a service that got the same requests and was never killed, to the last byte.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import random
import signal
import tempfile
from pathlib import Path
from typing import Any

from safetensors import safe_open
from tests.web.service_process import Connection, Service, rows, train_model

_GONE = (OSError, asyncio.IncompleteReadError)


def requests(n: int) -> list[dict[str, Any]]:
    """Requests of one to five labelled rows, each row with an id."""
    choose, table, made = random.Random(1), rows(5 * n, seed=1), []
    for number in range(n):
        some = [table.pop() for _ in range(choose.randint(1, 5))]
        labels = [row.pop("label") for row in some]
        made.append({"rows": some, "labels": labels, "ids": [f"{number}-{k}" for k in range(len(some))]})
    return made


async def _send(service: Service, left: list[dict[str, Any]], acknowledged: list[int]) -> None:
    """Send requests until there are none, or the service has gone."""
    async with Connection(service) as connection:
        while left:
            request = left.pop(0)
            try:
                status, answer = await connection.post("/learn", request)
            except BaseException:
                left.insert(0, request)
                raise
            assert status == 200, answer
            assert answer["accepted"] + answer["known"] == len(request["ids"])
            acknowledged[0] += len(request["ids"])


async def _ask(service: Service) -> None:
    row = {k: v for k, v in rows(1)[0].items() if k != "label"}
    async with Connection(service) as connection:
        while True:
            status, answer = await connection.post("/predict", {"row": row})
            assert status == 200, answer


async def _load(service: Service, left: list[dict[str, Any]], acknowledged: list[int], kill_after: float) -> None:
    asking = asyncio.create_task(_ask(service))
    sending = [asyncio.create_task(_send(service, left, acknowledged)) for _ in range(4)]
    asyncio.get_running_loop().call_later(kill_after, os.kill, service.pid, signal.SIGKILL)
    ends = await asyncio.gather(*sending, return_exceptions=True)
    if not left:
        asking.cancel()
    ends += await asyncio.gather(asking, return_exceptions=True)
    for end in ends:
        if isinstance(end, BaseException) and not isinstance(end, (*_GONE, asyncio.CancelledError)):
            raise end


def record(checkpoint: Path) -> dict[str, Any]:
    """What a checkpoint knows beside the model."""
    with safe_open(checkpoint, framework="numpy") as file:
        return json.loads(file.metadata()["thresher"])["record"]["service"]


def attack(folder: Path, count: int, seed: int, longest: float = 0.25) -> tuple[int, int]:
    """Kill a service so often; returns how many rows were learned, and how many kills there were."""
    model, choose = train_model(folder), random.Random(seed)
    every = requests(max(40, 100 * count))
    by_id = {request["ids"][0]: request for request in every}
    n_rows, kills = sum(len(request["ids"]) for request in every), 0
    acknowledged = [0]
    options = (model, "--learn", folder / "live", "--checkpoint-seconds", "0.1")
    left = list(every)
    while kills < count:
        service = Service(*options)
        asyncio.run(_load(service, left, acknowledged, choose.uniform(0, longest)))
        service.kill()
        kills += 1
    with Service(*options) as service:

        async def rest() -> None:
            await asyncio.gather(*(_send(service, left, acknowledged) for _ in range(4)))

        asyncio.run(rest())
        assert service.request("GET", "/health")[0] == 200  # it runs, if nothing was left to send
        assert service.stop() == 0
    kept = record(folder / "live" / "checkpoint.thresher")
    assert sorted(kept["learned"]) == sorted(name for request in every for name in request["ids"])
    assert kept["n_learned"] == n_rows
    assert kept["n_refused"] == 0
    with Service(model, "--learn", folder / "peace") as service:
        for name in kept["learned"]:
            if name in by_id:
                status, _ = service.post("/learn", by_id[name])
                assert status == 200
        assert service.stop() == 0
    checkpoints = [(folder / place / "checkpoint.thresher").read_bytes() for place in ("live", "peace")]
    assert checkpoints[0] == checkpoints[1]
    return n_rows, kills


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=200)
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as place:
        n_learned, n_kills = attack(Path(place), given.count, given.seed)
    print(f"{n_kills} kills, {n_learned} rows: none lost, none learned twice, the same model to the last byte")
