"""The process of one run of a lab: ``python -m thresher.web._lab_worker NUMBER``, in the folder of the lab."""

from __future__ import annotations

import functools
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from .. import registry
from .._auto import AutoOptions, AutoWatcher, run_auto
from .._figures import plain, unmarked
from ..wizard import DataFile, QuestionPage, learn_from
from ._lab_folder import RUNS, LabFolder
from ._lab_runs import COLUMNS, MODEL, PREDICTIONS, REPORT, LabRun, version_of_file

_TOLD = ("candidate", "criterion", "n_rows", "n_used", "seconds", "value", "error_of_value")


def main(number: str) -> int:
    """Learn as the job says, and note what came of it."""
    run = LabRun(LabFolder(Path.cwd()), number)
    try:
        _learn(run)
    except (OSError, ValueError, MemoryError, ArithmeticError) as problem:
        sentence = " ".join(str(problem).split()) or type(problem).__name__
        run.fail(sentence)
        run.tell("failed", says=sentence)
        return 2
    except Exception as problem:
        run.fail(f"Something unexpected happened ({type(problem).__name__}); see log.txt in the folder of the run.")
        run.tell("failed", says=f"unexpected {type(problem).__name__}")
        raise
    return 0


def _learn(run: LabRun) -> None:
    job, begin = run.job, time.monotonic()
    if version_of_file(Path(job["file"])) != job["version"]:
        raise ValueError(f"{job['file']} has changed since this run started; start a new one.")
    page = QuestionPage(DataFile(job["file"]), job["typed"], job["left_out"], job["kinds"])
    answers, inside = page.answers, f"{RUNS}/{run.number}"
    answers |= {"model": f"{inside}/{MODEL}", "report": f"{inside}/{REPORT}"}
    if job["kinds"]:
        answers["columns_file"] = f"{inside}/{COLUMNS}"
    run.tell("begin", max_seconds=answers.get("max_seconds"), n_evaluations=AutoOptions().n_evaluations)
    watcher = AutoWatcher(
        tell=lambda doing: run.tell("doing", words=doing),
        measured=lambda entry: _tell_of(run, entry),
        is_over=run.is_over,
        folder=run.evaluations,
    )
    made, call, report = learn_from(answers, print, functools.partial(run_auto, watcher=watcher))
    run.tell("doing", words="predicting all rows of the file")
    _predict(answers["model"], job["file"], f"{inside}/{PREDICTIONS}")
    found, auto = report.to_dict(), made.model.record_["auto"]
    result = {
        "summary": found["summary"],
        "task": found["task"],
        "method": auto["method"],
        "reasons": auto["reasons"],
        "n_evaluations": auto["n_evaluations"],
        "seconds": time.monotonic() - begin,
        "decisions": found["sections"].get("decisions"),
        "command": call.command_lines(),
        "python": call.python(),
    }
    run.finish(plain(result))
    run.tell("done")


def _tell_of(run: LabRun, entry: dict[str, Any]) -> None:
    method = registry.find(entry["candidate"].partition(" ")[0])
    about = "" if method is None else unmarked(method.summary)
    run.tell("measured", **plain({name: entry[name] for name in _TOLD}), about=about)


def _predict(model: str, file: str, place: str) -> None:
    command = [sys.executable, "-m", "thresher", "predict", model, file, "--output", place, "--skip-malformed"]
    subprocess.run([*command, "--quiet"], check=False)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
