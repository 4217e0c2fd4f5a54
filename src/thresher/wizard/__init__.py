"""The wizard: a few questions in plain words, each with a default; then a tuned model and how to get it again."""

from __future__ import annotations

import functools
import json
import os
import sys
import textwrap
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from .. import _auto
from ..inspection import features_that_matter
from ..persistence import save_model, write_whole
from ..report import Report, report_of
from ..training import Run, learner_of
from ._call import AutoCall, call_of
from ._dialogue import Ask, Say, from_dict, from_file, from_lines, from_person, paragraph, run_dialogue
from ._questions import LAST_QUESTIONS, QUESTIONS
from ._replies import DataFile

__all__ = ["main", "wizard"]

_NAMES = [question.id for question in (*QUESTIONS, *LAST_QUESTIONS)]
_MOST_FEATURES = 10
_MOST_OUTPUTS = 3


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
    Answers from a dict, and nothing shown:

    >>> import tempfile, pathlib
    >>> from thresher.wizard import wizard
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = pathlib.Path(folder, "data.csv")
    ...     _ = file.write_text("height,kind\\n" + "1.0,low\\n9.0,high\\n" * 30)
    ...     model = wizard(file, answers={"method": "arow", "n_evaluations": 3}, say=lambda line: None)
    >>> model.predict([[8.0]])
    array(['high'], dtype=object)
    """
    given = {} if path is None else {"file": os.fspath(path)}
    strict = answers is not None
    if isinstance(answers, Mapping):
        ask = from_dict(answers, _NAMES)
    elif isinstance(answers, (str, os.PathLike)):
        ask = from_file(os.fspath(answers), _NAMES)
    elif answers is not None:
        ask = from_lines(answers)
    return _converse(ask or from_person(sys.stdout), say, given, run, strict)[0].model


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
        run, call, typed = _converse(ask, say, given, _auto.run_auto, strict=answers is not None)
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
        write_whole(Path(save_answers), json.dumps(typed, indent=2, ensure_ascii=False).encode() + b"\n")
        say(f"Answers written to {save_answers}")
    if as_json:
        result: dict[str, Any] = {"answers": typed, "command": call.command(), "python": call.python()}
        result |= {"model": call.model, "report": call.report, **_report(run, call).to_dict()}
        print(json.dumps(result, indent=2, ensure_ascii=False))
    return 0


def _converse(
    ask: Ask, say: Say, given: dict[str, Any], make: Callable[..., Run], strict: bool
) -> tuple[Run, AutoCall, dict[str, str]]:
    """Ask the questions, make the model, show the result and save it; returns answers as they could be typed, too."""
    files = functools.cache(DataFile)  # each is looked at once
    if "file" in given:
        files(given["file"])  # a file that cannot be read is refused before any question
    say("A few questions. ENTER takes the answer in brackets, ? explains, back goes one question back.")
    answers = run_dialogue(QUESTIONS, ask, say, files, given, strict=strict)
    call = call_of(answers)
    say(f"\nLearning from {call.path} ...")
    run = make(call.path, **call.arguments, predict=True, progress=sys.stderr.isatty())
    _show_model(run, _report(run, call), say)
    n_asked = len(answers.keys() - given.keys())
    stem = Path(call.path).name.partition(".")[0] or "model"
    last = run_dialogue(LAST_QUESTIONS, ask, say, stem, given, first=n_asked + 1, strict=strict)
    call = replace(call, **last)
    run.model.record_ |= {"command": call.command(), "python": call.python()}
    if call.model is not None:
        save_model(run.model, call.model)
        say(f"\nModel written to {call.model}")
    if call.report is not None:
        _report(run, call).save(call.report)
        say(f"\nReport written to {call.report}")
    say(f"\nThe same on the command line\n   {call.command()}")
    say(f"\nThe same in Python\n{textwrap.indent(call.python(), '   ')}")
    typed = {q.id: q.write(answers[q.id], answers) for q in QUESTIONS if q.id in answers}
    return run, call, typed | {q.id: q.write(last[q.id], last) for q in LAST_QUESTIONS}


def _report(run: Run, call: AutoCall) -> Report:
    made = run.model.record_["auto"]
    asked = {"reasons": made["reasons"], "command": call.command(), "python": call.python(), "seed": 0}
    files, target = [{"name": Path(call.path).name}], call.arguments.get("target")
    return report_of(run, files, target=target, asked=asked, search=made["search"])


# --- words ------------------------------------------------------------------------------------------------------------


def _show_model(run: Run, report: Report, say: Say) -> None:
    """Show reasons, measures and features."""
    say("\nWhat was chosen, and why")
    for reason in run.model.record_["auto"]["reasons"]:
        say(paragraph(reason))
    summary = report.to_dict()["summary"]
    say("\nHow good it is")
    say(paragraph(summary["says"]))
    for tile in summary["tiles"]:
        say(f"   {tile['label']}: {tile['value']} ({tile['note']})")
    say("\nFeatures that matter")
    if hasattr(run.model, "steps") and "map" in dict(run.model.steps):
        say(paragraph("With curved boundaries, single columns have no weights of their own."))
        return
    if not any(hasattr(learner_of(run.model), name) for name in ("coef_", "cluster_centers_")):
        say(paragraph("The model compares whole rows; single columns have no weights of their own."))
        return
    features = features_that_matter(run.model, _MOST_FEATURES)
    for feature in features:
        largest = sorted(feature.weights.items(), key=lambda item: -abs(item[1]))[:_MOST_OUTPUTS]
        say(f"   {feature.name:<24} {', '.join(f'{output}: {weight:+.3g}' for output, weight in largest)}")
    if not features:
        say("   None: the model uses no feature.")


def _check_places(*paths: str | None) -> None:
    """Refuse files that cannot be written, before any question."""
    for path in paths:
        if path is not None and not Path(path).absolute().parent.is_dir():
            raise FileNotFoundError(f"{path}: the folder does not exist.")
