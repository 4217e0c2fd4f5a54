"""Requests that nobody should send to the lab, by the thousand: ``python -m tests.web.hostile_lab --count 100000``.

As in hostile.py, half of them are broken as HTTP and half have contents that are wrong: names of files that leave the
folder, questions about columns that do not exist, answers of other kinds, runs that nobody began, rows far outside of
the file, uploads of random bytes. The lab must answer each with a status below 500 or close the connection, every error
must be one sentence in JSON, and at the end it must be well, with nothing in its log and nothing outside its folder.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import secrets
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

from tests.browser.lab_browser import PATIENCE, LabProcess
from tests.web.hostile import NASTY, broken, changed, in_words, send_all
from tests.web.lab_files import ATTACK, SCRIPT, write_messy

NAMES = (
    *("messy.csv", "messy.csv", "messy.csv", "../messy.csv", "/etc/passwd", "..", "thresher-runs/0001/job.json"),
    *("messy.csv\x00.txt", "-rf.csv", ".csv", "a" * 3000 + ".csv", ATTACK, f"{SCRIPT}.csv", "nothing.csv", "con.csv"),
)
RUNS = ("0001", "0001", "0001", "0001", "0002", "9999", "1", "..", "%2e%2e", "0001%00", "٠٠٠١", "a" * 500)
GETS = ("", "/events", "/report", "/report?theme=<b>", "/files/model.thresher", "/files/job.json", "/files/..%2flock")
PLAIN = (
    *("/", "/app.js", "/report.css", "/nothing", "/static/app.js", "/..%2f..%2f"),
    *("/api", "/api/folder", "/api/files"),
)
COLUMNS = ("age", "income", "plan", "town", "joined", "left", "id", "nothing", ATTACK, "__proto__", "")
TYPED = {"target": "left", "max_seconds": "1 s", "cost": "yes: 5", "goal": "error", "class_weight": "balanced"}


class LabRequests:
    """Makes requests, and tidies up behind them: files that were added, and runs other than the first."""

    def __init__(self, lab: LabProcess, seed: int) -> None:
        self._lab, self._choose = lab, random.Random(seed)
        self._token = lab.token

    def some(self, count: int) -> Iterator[tuple[bytes, bool]]:
        for number in range(count):
            if number % 200 == 199:
                self._tidy()
            yield self._one()

    def _tidy(self) -> None:
        for path in self._lab.folder.glob("*.*"):
            if path.name != "messy.csv":
                path.unlink()

    def _one(self) -> tuple[bytes, bool]:
        """The bytes of a request, and whether they are good HTTP."""
        choose = self._choose
        method, path, kind, body = self._asked()
        if choose.random() < 0.1:
            method = choose.choice(("GET", "POST", "PUT", "HEAD", "OPTIONS", "PATCH", "X" * 40))
        if choose.random() < 0.1:
            kind = choose.choice(("", "text/plain", "application/json; charset=utf-16", "multipart/form-data", "\xff"))
        lines = [
            f"{method} {path} HTTP/1.1",
            f"Host: 127.0.0.1:{self._lab.port}",
            f"Authorization: Bearer {self._token}",
            f"Content-Length: {len(body)}",
            f"Content-Type: {kind}",
            *([f"Last-Event-ID: {choose.choice(('0', '-1', '9' * 30, 'x', '٣'))}"] if path.endswith("events") else ()),
        ]
        whole = "\r\n".join(lines).encode("utf-8", "replace") + b"\r\n\r\n" + body
        if choose.random() < 0.5:
            return whole, True
        return broken(choose, whole, choose.randint(1, 6)), False

    def _asked(self) -> tuple[str, str, str, bytes]:
        """The method, the path, the kind and the body of a request that may be wrong in some way."""
        choose, how = self._choose, self._choose.random()
        run = f"/api/runs/{choose.choice(RUNS)}"
        if how < 0.15:
            return "POST", "/api/look", "application/json", self._body(self._page())
        if how < 0.155:  # few, because each that is accepted learns for a while
            return "POST", "/api/runs", "application/json", self._body(self._page())
        if how < 0.4:
            return "POST", f"{run}/why", "application/json", self._body(self._question())
        if how < 0.55:
            name = quote(choose.choice(NAMES), safe="") if choose.random() < 0.8 else choose.choice(NAMES[:3])
            path = f"/api/files?name={name}" if choose.random() < 0.9 else "/api/files"
            return "POST", path, "application/octet-stream", choose.randbytes(choose.randint(0, 500))
        if how < 0.6:
            return "POST", f"{run}/{choose.choice(('stop', 'go-on'))}", "application/json", b""
        if how < 0.65:
            gone = run if run != "/api/runs/0001" else "/api/runs/0003"  # others ask about the first run
            return "DELETE", gone, "application/json", b""
        path = run + choose.choice(GETS) if how < 0.85 else choose.choice(PLAIN)
        return "GET", path, "application/json", b""

    def _page(self) -> dict[str, Any]:
        choose = self._choose
        asked: dict[str, Any] = {"file": choose.choice(NAMES), "typed": dict(TYPED), "left_out": ["town"]}
        for name in choose.sample(sorted(TYPED), choose.randint(0, 3)):
            if name != "max_seconds":  # runs end soon
                del asked["typed"][name]
        kinds = {choose.choice(COLUMNS): choose.choice(("number", "category", "date", "text", "x", ATTACK))}
        return asked | ({"kinds": kinds} if choose.random() < 0.5 else {})

    def _question(self) -> dict[str, Any]:
        choose = self._choose
        values = (1, 30, "yes", "pro", "2024-05-31", None, *NASTY)
        changes = {choose.choice(COLUMNS): choose.choice(values) for _ in range(choose.randint(0, 3))}
        return {"row": choose.choice((1, 2, 40, 41, 10**9, 10**30, 0, -1, 1.5, "1", True)), "changes": changes}

    def _body(self, asked: Any) -> bytes:
        for _ in range(self._choose.randint(0, 2)):
            asked = changed(self._choose, asked)
        if self._choose.random() < 0.05:
            return b"[" * self._choose.randint(1, 100_000)
        return json.dumps(asked).encode()


def attack(folder: Path, count: int, seed: int) -> Counter[int]:
    """Send so many requests to a new lab in a folder; returns how often each status came."""
    place, token = folder / "lab", folder / "token"
    place.mkdir()
    write_messy(place / "messy.csv", 40)
    token.write_text(secrets.token_urlsafe(32))
    token.chmod(0o600)
    errors = os.memfd_create("errors")
    lab = LabProcess(place, token, errors)
    try:
        _first_run(lab)
        statuses = send_all(lab.port, LabRequests(lab, seed).some(count))
        assert send_all(lab.port, [(_plain(lab, "GET", "/api/folder"), True)]) == {200: 1}
    finally:
        lab.end()
    log = os.pread(errors, 1 << 20, 0).decode()
    assert "Traceback" not in log, log
    assert sorted(path.name for path in folder.iterdir()) == ["lab", "token"]
    assert not list(folder.rglob("hacked"))
    return statuses


def _first_run(lab: LabProcess) -> None:
    """Make a run that is done, so that questions about it are answered."""
    body = json.dumps({"file": "messy.csv", "typed": {"target": "left", "max_seconds": "1 s"}}).encode()
    assert send_all(lab.port, [(_plain(lab, "POST", "/api/runs", body), True)]) == {200: 1}
    result, end = lab.folder / "thresher-runs" / "0001" / "result.json", time.monotonic() + PATIENCE
    while not result.exists():
        assert time.monotonic() < end, "the first run has no result"
        time.sleep(0.05)
    lab.wait_for_workers()


def _plain(lab: LabProcess, method: str, path: str, body: bytes = b"") -> bytes:
    head = f"{method} {path} HTTP/1.1\r\nHost: 127.0.0.1:{lab.port}\r\nAuthorization: Bearer {lab.token}\r\n"
    return f"{head}Content-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n".encode() + body


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=100_000)
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        print(in_words(attack(Path(folder), given.count, given.seed)))
