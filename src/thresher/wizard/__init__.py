"""The wizard: a few questions in plain words, each with a default; then a tuned model and how to get it again."""

from __future__ import annotations

import functools
import json
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from .. import _auto
from ..inspection import features_that_matter
from ..persistence import save_model, write_whole
from ..report import Report
from ..training import Run, learner_of
from ._answers import from_dict, from_file, from_lines, from_person
from ._call import AutoCall, call_of
from ._dialogue import Ask, Say, paragraph, run_dialogue
from ._file import DataFile
from ._questions import LAST_QUESTIONS, QUESTIONS

__all__ = ["main", "wizard"]

_NAMES = [question.id for question in (*QUESTIONS, *LAST_QUESTIONS)]
_MOST_FEATURES = 10
_MOST_OUTPUTS = 3


class WizardResult(NamedTuple):
    """The result of a dialogue."""

    run: Run
    call: AutoCall
    answers: dict[str, str]  # as they could be typed
    model: str | None  # where it was written
    report: str | None


def wizard(
    path: str | os.PathLike[str] | None = None,
    *,
    answers: str | os.PathLike[str] | Mapping[str, Any] | Sequence[str] | None = None,
    ask: Ask | None = None,
    say: Say = print,
    run: Callable[..., Run] = _auto.run_auto,
) -> Any:
    """Ask what is needed to make a model of a file, and make it.

    Parameters
    ----------
    path : path-like, optional
        The file; by default it is asked for.
    answers : path-like, dict or list of str, optional
        Answers instead of a person's: a file, answers by the name of the question, or one after the other. What is
        missing is answered by the default; what is not allowed is an error.
    ask : callable, optional
        Given a question and a prompt, returns what was typed; by default the terminal is asked.
    say : callable
        Shows a line of text.
    run : callable
        Makes the model, as ``thresher._auto.run_auto``.

    Returns
    -------
    estimator or StreamingPipeline

    Examples
    --------
    >>> import tempfile, pathlib
    >>> from thresher.wizard import wizard
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = pathlib.Path(folder, "data.csv")
    ...     _ = file.write_text("height,kind\\n" + "1.0,low\\n9.0,high\\n" * 30)
    ...     model = wizard(file, answers={"method": "arow", "n_evaluations": 3}, say=lambda line: None)
    >>> model.predict([[8.0]])
    array(['high'], dtype=object)
    """
    scripted = answers is not None
    if answers is not None:
        ask = _reader(answers)
    given = {} if path is None else {"file": os.fspath(path)}
    return _converse(ask or from_person(sys.stdout), say, given, run, strict=scripted).run.model


def main(
    path: str | None,
    *,
    answers: str | None = None,
    save_answers: str | None = None,
    model: str | None = None,
    report: str | None = None,
    as_json: bool = False,
) -> int:
    """``thresher wizard``; returns the exit code: 0 done, 2 a mistake, 130 interrupted."""
    out = sys.stderr if as_json else sys.stdout
    given = {name: value for name, value in (("file", path), ("model", model), ("report", report)) if value is not None}

    def say(line: str) -> None:
        print(line, file=out)

    try:
        _check_places(model, report, save_answers)
        ask = from_person(out) if answers is None else from_file(answers, _NAMES)
        result = _converse(ask, say, given, _auto.run_auto, strict=answers is not None)
    except KeyboardInterrupt:
        print("\nStopped. Nothing was written.", file=sys.stderr)
        return 130
    except EOFError:
        print("\nthresher: the answers ended before the questions did; nothing was written.", file=sys.stderr)
        return 2
    except (OSError, ValueError, MemoryError, ArithmeticError) as problem:
        print("thresher: " + " ".join(str(problem).split()), file=sys.stderr)
        return 2
    if save_answers is not None:
        write_whole(Path(save_answers), json.dumps(result.answers, indent=2, ensure_ascii=False).encode() + b"\n")
        say(f"Answers written to {save_answers}")
    if as_json:
        print(json.dumps(_as_dict(result), indent=2, ensure_ascii=False))
    return 0


def _converse(
    ask: Ask,
    say: Say,
    given: dict[str, Any],
    run: Callable[..., Run],
    strict: bool,
) -> WizardResult:
    """Ask the questions, make the model, show the result and save it."""
    files = functools.cache(DataFile)  # each is looked at once
    if "file" in given:
        files(given["file"])  # a file that cannot be read is refused before any question
    say("A few questions. ENTER takes the answer in brackets, ? explains, back goes one question back.")
    answers = run_dialogue(QUESTIONS, ask, say, files, given, strict=strict)
    call = call_of(answers)
    say(f"\nLearning from {call.path} ...")
    done = run(call.path, **call.arguments, predict=True, progress=sys.stderr.isatty())
    report = _report(done, call, None, None)
    _show(done, report, say)
    n_asked = len(answers.keys() - given.keys())
    last = run_dialogue(LAST_QUESTIONS, ask, say, _stem(call.path), given, first=n_asked + 1, strict=strict)
    model_path, report_path = last["model"], last["report"]
    done.model.record_ |= {"command": call.command(model_path, report_path), "python": call.python(model_path)}
    if model_path is not None:
        save_model(done.model, model_path)
    if report_path is not None:
        _report(done, call, model_path, report_path).save(report_path)
    _show_how(call, model_path, report_path, say)
    typed = {q.id: q.write(answers[q.id], answers) for q in QUESTIONS if q.id in answers}
    typed |= {q.id: q.write(last[q.id], last) for q in LAST_QUESTIONS}
    return WizardResult(done, call, typed, model_path, report_path)


def _report(done: Run, call: AutoCall, model: str | None, report: str | None) -> Report:
    record = done.model.record_
    return Report(
        done.model,
        asked={
            "reasons": record["auto"]["reasons"],
            "command": call.command(model, report),
            "python": call.python(model),
            "seed": 0,
        },
        data={
            "files": [{"name": Path(call.path).name}],
            "n_rows": done.facts.n_rows,
            "n_features": done.facts.n_features - ("task_column" in call.arguments),
            "n_values": done.facts.n_values,
            "classes": done.facts.classes if record["auto"]["task"] == "classification" else {},
            "target": call.arguments.get("target"),
            "skipped": done.n_skipped,
        },
        history=done.history if done.history.rows else None,
        held_out=done.held_out,
        search=record["auto"]["search"],
        sample=done.sample,
    )


# --- words ------------------------------------------------------------------------------------------------------------


def _show(done: Run, report: Report, say: Say) -> None:
    """Show reasons, measures and features."""
    say("\nWhat was chosen, and why")
    for reason in done.model.record_["auto"]["reasons"]:
        say(paragraph(reason))
    summary = report.to_dict()["summary"]
    say("\nHow good it is")
    say(paragraph(summary["says"]))
    for tile in summary["tiles"]:
        say(f"   {tile['label']}: {tile['value']} ({tile['note']})")
    say("\nFeatures that matter")
    if hasattr(done.model, "steps") and "map" in dict(done.model.steps):
        say(paragraph("With curved boundaries, single columns have no weights of their own."))
        return
    if not any(hasattr(learner_of(done.model), name) for name in ("coef_", "cluster_centers_")):
        say(paragraph("The model compares whole rows; single columns have no weights of their own."))
        return
    features = features_that_matter(done.model, _MOST_FEATURES)
    for feature in features:
        largest = sorted(feature.weights.items(), key=lambda item: -abs(item[1]))[:_MOST_OUTPUTS]
        say(f"   {feature.name:<24} {', '.join(f'{output}: {weight:+.3g}' for output, weight in largest)}")
    if not features:
        say("   None: the model uses no feature.")


def _show_how(call: AutoCall, model: str | None, report: str | None, say: Say) -> None:
    """Name the files that were written, and the command and the Python that do the same."""
    for what, place in (("Model", model), ("Report", report)):
        if place is not None:
            say(f"\n{what} written to {place}")
    say(f"\nThe same on the command line\n   {call.command(model, report)}")
    code = call.python(model).rstrip("\n").replace("\n", "\n   ")
    say(f"\nThe same in Python\n   {code}\n")


def _as_dict(result: WizardResult) -> dict[str, Any]:
    return {
        "answers": result.answers,
        "command": result.call.command(result.model, result.report),
        "python": result.call.python(result.model),
        "model": result.model,
        "report": result.report,
        **_report(result.run, result.call, result.model, result.report).to_dict(),
    }


def _reader(answers: Any) -> Ask:
    if isinstance(answers, Mapping):
        return from_dict(answers, _NAMES)
    if isinstance(answers, (str, os.PathLike)):
        return from_file(os.fspath(answers), _NAMES)
    return from_lines(list(answers))


def _stem(path: str) -> str:
    """The name of a file without its suffixes, in the present folder."""
    return Path(path).name.partition(".")[0] or "model"


def _check_places(*paths: str | None) -> None:
    """Refuse files that cannot be written, before any question."""
    for path in paths:
        if path is not None and not Path(path).absolute().parent.is_dir():
            raise FileNotFoundError(f"{path}: the folder does not exist.")
