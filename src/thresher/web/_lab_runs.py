"""The runs of a lab: each a folder with a process of its own, which goes on when the server ends."""

from __future__ import annotations

import fcntl
import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from .._output import write_whole
from ._guard import HttpRefusal
from ._lab_folder import LabFolder

MODEL, REPORT, PREDICTIONS, COLUMNS = "model.thresher", "report.html", "predictions.csv", "columns.yaml"
DOWNLOADS = (MODEL, REPORT, PREDICTIONS, COLUMNS)
_JOB, _LOCK, _STOP, _EVENTS, _RESULT, _FAILURE = (
    *("job.json", "lock", "stop", "events.jsonl"),
    *("result.json", "failure.json"),
)
_MOST_AT_ONCE = 2
_MOST_RUNS = 10_000


class LabRun:
    """One run: what was asked, what it has told so far, and what came of it.

    Whether it is running is told by a lock that its process holds until it ends, in whatever way.
    """

    def __init__(self, lab: LabFolder, number: str) -> None:
        self.lab, self.number, self.path = lab, number, lab.runs / number

    # --- what the process writes --------------------------------------------------------------------------------------

    @property
    def job(self) -> dict[str, Any]:
        """The file, the answers and when it was begun."""
        return _read(self.path / _JOB) or {}

    @property
    def evaluations(self) -> Path:
        """The folder in which evaluations are kept, from which a run goes on."""
        return self.path / "evaluations"

    def tell(self, event: str, **what: Any) -> None:
        """Append an event, which the page shows."""
        with open(self.path / _EVENTS, "a", encoding="utf-8") as file:
            file.write(json.dumps({"event": event, "at": round(time.time(), 3), **what}, allow_nan=False) + "\n")

    def finish(self, result: dict[str, Any]) -> None:
        """Note what came of it; from now on it is done."""
        write_whole(self.path / _RESULT, json.dumps(result, ensure_ascii=False, allow_nan=False).encode())

    def fail(self, sentence: str) -> None:
        """Note why nothing came of it."""
        write_whole(self.path / _FAILURE, json.dumps({"says": sentence}, ensure_ascii=False).encode())

    def is_over(self) -> bool:
        """Whether someone has asked to stop and keep the best."""
        return (self.path / _STOP).exists()

    # --- what the page asks for ---------------------------------------------------------------------------------------

    @property
    def state(self) -> str:
        """``done``, ``running``, ``failed``, or ``interrupted`` if its process was killed."""
        if (self.path / _RESULT).exists():
            return "done"
        if _is_locked(self.path / _LOCK):
            return "running"
        return "failed" if (self.path / _FAILURE).exists() else "interrupted"

    @property
    def result(self) -> dict[str, Any] | None:
        return _read(self.path / _RESULT)

    def describe(self) -> dict[str, Any]:
        """Return the facts that a list of runs shows."""
        job, state, result = self.job, self.state, self.result or {}
        about = {name: job.get(name) for name in ("file", "target", "begun")}
        kept = {name: result.get(name) for name in ("summary", "method", "task", "seconds", "n_evaluations")}
        failure = (_read(self.path / _FAILURE) or {}).get("says") if state == "failed" else None
        return {
            "number": self.number,
            "state": state,
            "is_stopping": self.is_over(),
            **about,
            **kept,
            "failure": failure,
        }

    def events(self, after: int = 0) -> list[tuple[int, str]]:
        """Events as lines of JSON with their numbers from 1, those behind `after`."""
        try:
            content = (self.path / _EVENTS).read_bytes()
        except FileNotFoundError:
            return []
        lines = content[: content.rfind(b"\n") + 1].decode("utf-8", "replace").splitlines()
        return list(enumerate(lines, start=1))[after:]

    def stop(self) -> None:
        """Ask it to stop, and to keep the best model so far."""
        if self.state == "running":
            (self.path / _STOP).touch()

    def begin(self) -> None:
        """Start its process, which holds the lock until it ends; one that was killed continues from its evaluations."""
        lock = os.open(self.path / _LOCK, os.O_RDWR | os.O_CREAT, 0o600)
        try:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                return  # it runs already
            (self.path / _FAILURE).unlink(missing_ok=True)
            with open(self.path / "log.txt", "ab") as log:
                subprocess.Popen(
                    [sys.executable, "-m", "thresher.web._lab_worker", self.number],
                    cwd=self.lab.path,
                    stdin=subprocess.DEVNULL,
                    stdout=log,
                    stderr=log,
                    pass_fds=(lock,),
                    start_new_session=True,
                )
        finally:
            os.close(lock)

    def delete(self) -> None:
        if self.state == "running":
            raise HttpRefusal(409, "This run is in progress; stop it first.")
        shutil.rmtree(self.path)


class LabRuns:
    """All runs of a lab."""

    def __init__(self, lab: LabFolder) -> None:
        self.lab = lab

    def __iter__(self) -> Iterator[LabRun]:
        """The runs, the latest first."""
        numbers = (path.name for path in self.lab.runs.iterdir() if path.name.isdigit() and (path / _JOB).exists())
        return iter([LabRun(self.lab, number) for number in sorted(numbers, reverse=True)])

    def find(self, number: str) -> LabRun:
        for run in self:
            if run.number == number:
                return run
        raise HttpRefusal(404, "There is no such run; it may have been deleted.")

    def new(self, job: dict[str, Any], columns: dict[str, str]) -> LabRun:
        """Begin a run of a job."""
        if sum(run.state == "running" for run in self) >= _MOST_AT_ONCE:
            raise HttpRefusal(409, f"{_MOST_AT_ONCE} runs are in progress; stop one of them, or wait.")
        run = self._place()
        run.evaluations.mkdir()
        if columns:  # JSON is YAML, too
            write_whole(run.path / COLUMNS, json.dumps({"columns": columns}, ensure_ascii=False, indent=1).encode())
        version = version_of_file(self.lab.find(job["file"]))
        job = {**job, "begun": time.time(), "version": version}
        write_whole(run.path / _JOB, json.dumps(job, ensure_ascii=False).encode())
        run.begin()
        return run

    def _place(self) -> LabRun:
        taken = [int(path.name) for path in self.lab.runs.iterdir() if path.name.isdigit()]
        for number in range(max(taken, default=0) + 1, _MOST_RUNS):
            run = LabRun(self.lab, f"{number:04d}")
            try:
                run.path.mkdir()
            except FileExistsError:
                continue
            return run
        raise HttpRefusal(409, "There are too many runs in the folder; start with another folder.")

    def go_on(self) -> list[str]:
        """Start the runs again whose process was killed; returns their numbers."""
        killed = [run for run in self if run.state == "interrupted"]
        for run in killed:
            run.begin()
        return [run.number for run in killed]


def version_of_file(path: Path) -> list[int]:
    stat = path.stat()
    return [stat.st_size, stat.st_mtime_ns]


def _read(path: Path) -> dict[str, Any] | None:
    try:
        found = json.loads(path.read_bytes())
    except (OSError, ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None


def _is_locked(path: Path) -> bool:
    try:
        file = os.open(path, os.O_RDWR)
    except FileNotFoundError:
        return False
    try:
        fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    finally:
        os.close(file)
    return False
