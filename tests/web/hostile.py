"""Requests that nobody should send, by the thousand: ``python -m tests.web.hostile --count 100000``.

Half of them are broken as HTTP (bytes changed, cut, repeated, headers mixed up), half are good requests with contents
that are not: values of other kinds, deep nesting, huge numbers, names that look like code. The service must answer each
with a status below 500 or close the connection, every error must be one sentence in JSON, and it must still be well at
the end, with nothing in its log.
"""

from __future__ import annotations

import argparse
import json
import random
import socket
import tempfile
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from tests.web.service_process import Service, rows, train_model

NASTY: list[Any] = [
    *(None, True, False, 0, -1, 1e308, -1e308, 10**30, 0.1, "", " ", "NaN", "inf", "1e999", "99.99.2024", [], {}),
    *("\x00", "\ud800", "\u202e", "a" * 5000, "<script>alert(1)</script>", "../../etc/passwd", "{{7*7}}", "%s%n"),
    *("__import__('os').system('touch hacked')", "'; drop table x; --", "=1+1", "\r\nSet-Cookie: a=b", [[[[]]]]),
    *({"__class__": "x"}, [1, "a", None], {"row": {}}, "Köln" * 100, -0.0, 5e-324, 2**63, "1_000", "٣"),
]
PATHS = ("/predict", "/learn", "/explain", "/measures", "/health", "/metrics", "/openapi.json", "/", "/nothing")
KINDS = ("application/json", "text/csv", "application/vnd.apache.arrow.stream", "text/html", "", "a" * 300, "\xff")


def content(choose: random.Random, table: list[dict[str, Any]]) -> Any:
    """A good request with something wrong in it."""
    row = {k: v for k, v in choose.choice(table).items() if k != "label"}
    kept: Any = {"row": row, "label": "yes", "id": f"i{choose.randrange(50)}"}
    if choose.random() < 0.4:
        kept = {"rows": [row, dict(row)], "labels": ["yes", "no"], "ids": ["a", f"i{choose.randrange(50)}"]}
    for _ in range(choose.randint(0, 3)):
        kept = changed(choose, kept)
    return kept


def changed(choose: random.Random, value: Any) -> Any:
    """The value with one place in it changed, taken out or doubled."""
    if isinstance(value, dict) and value and choose.random() < 0.85:
        key = choose.choice(list(value))
        made = dict(value)
        how = choose.random()
        if how < 0.6:
            made[key] = changed(choose, value[key])
        elif how < 0.8:
            del made[key]
        else:
            made[str(choose.choice(NASTY))[:300]] = choose.choice(NASTY)
        return made
    if isinstance(value, list) and value and choose.random() < 0.8:
        place = choose.randrange(len(value))
        return [*value[:place], changed(choose, value[place]), *value[place + choose.randint(0, 1) :]]
    return choose.choice(NASTY)


def body(choose: random.Random, table: list[dict[str, Any]]) -> bytes:
    how = choose.random()
    if how < 0.75:
        return json.dumps(content(choose, table)).encode()
    if how < 0.85:
        some = [";".join(map(str, row.values())) for row in choose.sample(table, 3)]
        return broken(choose, "\n".join([";".join(table[0]), *some]).encode(), 3)
    if how < 0.9:
        return b"[" * choose.randint(1, 100_000)
    return choose.randbytes(choose.randint(0, 300))


def request(choose: random.Random, service: Service, table: list[dict[str, Any]]) -> tuple[bytes, bool]:
    """The bytes of a request, and whether they are good HTTP."""
    sent = body(choose, table)
    method = choose.choice(("POST", "POST", "POST", "GET", "PUT", "DELETE", "HEAD", "OPTIONS", "X" * 40))
    method = method if choose.random() < 0.2 else "POST"
    path = choose.choice(PATHS) if choose.random() < 0.3 else choose.choice(PATHS[:3])
    lines = [
        f"{method} {path} HTTP/1.1",
        f"Host: 127.0.0.1:{service.port}",
        f"Authorization: Bearer {service.token}",
        f"Content-Length: {len(sent)}",
        f"Content-Type: {choose.choice(KINDS) if choose.random() < 0.3 else KINDS[0]}",
    ]
    whole = "\r\n".join(lines).encode("latin-1") + b"\r\n\r\n" + sent
    if choose.random() < 0.5:
        return whole, True
    return broken(choose, whole, choose.randint(1, 6)), False


def broken(choose: random.Random, text: bytes, times: int) -> bytes:
    made = bytearray(text)
    for _ in range(times):
        if not made:
            break
        place = choose.randrange(min(len(made), 400))
        how = choose.randrange(5)
        if how == 0:
            made[place] = choose.randrange(256)
        elif how == 1:
            del made[place : place + choose.randint(1, 30)]
        elif how == 2:
            made[place:place] = made[place : place + choose.randint(1, 60)]
        elif how == 3:
            made[place:place] = choose.choice(
                (b"\r\n", b"\x00", b" ", b"\r\nOrigin: http://evil.example", b"%00", b":")
            )
        else:
            del made[choose.randrange(len(made)) :]
    return bytes(made)


def answer(connection: socket.socket, has_body: bool) -> tuple[int, bytes, bytes] | None:
    """The status, the headers and the body of an answer; None if there is none."""
    data = b""
    while b"\r\n\r\n" not in data:
        part = connection.recv(65536)
        if not part:
            return None
        data += part
    head, _, rest = data.partition(b"\r\n\r\n")
    found = head.lower().partition(b"content-length:")[2].split(b"\r\n")[0].strip()
    length = int(found) if found and has_body else 0
    while len(rest) < length:
        part = connection.recv(65536)
        if not part:
            break
        rest += part
    return int(head.split()[1]), head, rest[:length]


def attack(service: Service, count: int, seed: int) -> Counter[int]:
    """Send so many requests to a service; returns how often each status came, 0 for a connection that was closed."""
    choose, table = random.Random(seed), rows(50)
    return send_all(service.port, (request(choose, service, table) for _ in range(count)))


def send_all(port: int, requests: Iterable[tuple[bytes, bool]]) -> Counter[int]:
    """Send requests, one after the other; returns how often each status came, 0 for a connection that was closed."""
    connection, statuses = None, Counter[int]()
    for sent, is_good in requests:
        if connection is None or not is_good:
            if connection is not None:
                connection.close()
            connection = socket.create_connection(("127.0.0.1", port), timeout=60)
        try:
            connection.sendall(sent)
            if not is_good:
                connection.shutdown(socket.SHUT_WR)
            found = answer(connection, not sent.startswith(b"HEAD"))
        except ConnectionError:
            found = None
        if found is None or not is_good or not _stays_open(found[1].lower()):
            connection.close()
            connection = None
        statuses[0 if found is None else found[0]] += 1
        if found is None:
            assert not is_good, sent
            continue
        status, head, content = found
        assert status < 500, (sent, found)
        if status >= 400 and b"application/json" in head and content:
            said = json.loads(content)["error"]
            assert said.endswith(".") or said.endswith(")"), said
            assert "Traceback" not in said
            assert "\n" not in said
    return statuses


def _stays_open(head: bytes) -> bool:
    return b"connection: close" not in head and b"content-length:" in head  # a stream of events has no length


def in_words(statuses: Counter[int]) -> str:
    """What was answered how often."""
    counts = ", ".join(f"{n} x {status or 'closed'}" for status, n in sorted(statuses.items()))
    return f"{statuses.total()} requests: {counts}"


def check_well(service: Service) -> None:
    """The service answers, and has met nothing that it did not expect."""
    status, _ = service.request("GET", "/health", headers={})
    assert status == 200
    assert "Traceback" not in service.stderr(), service.stderr()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=100_000)
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as place:
        model = train_model(Path(place))
        with Service(model, "--learn", Path(place, "live"), "--max-rate", "1e9") as under_attack:
            found_all = attack(under_attack, given.count, given.seed)
            check_well(under_attack)
    print(in_words(found_all))
