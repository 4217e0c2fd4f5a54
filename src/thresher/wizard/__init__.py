"""The wizard: asks four questions, each with a default, and trains a tuned model."""

from __future__ import annotations

import functools
import importlib.util
import json
import os
import shlex
import sys
import textwrap
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from .. import _auto
from .._figures import wrapped
from .._output import write_whole
from ..inspection import features_that_matter
from ..persistence import save_model
from ..report import Report, report_of
from ..training import Run, learner_of
from ._call import AutoCall as AutoCall
from ._call import call_of
from ._data_file import DataFile as DataFile
from ._dialogue import (
    AnswerSource,
    Ask,
    Dialogue,
    DialogueAnswers,
    Say,
    from_dict,
    from_file,
    from_lines,
    from_person,
    paragraph,
    screen_width,
)
from ._more_questions import MORE_QUESTIONS
from ._question_page import QuestionPage as QuestionPage
from ._questions import QUESTIONS
from ._replies import file_of, reading_of

__all__ = ["WizardForm", "form", "main", "wizard"]

_ALL = (*QUESTIONS, *MORE_QUESTIONS)
_NAMES = [question.id for question in _ALL]
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
    """Ask a few questions about a file, and train a model on it.

    There are four questions: which columns to leave out, which one to predict, what a mistake costs, and how long
    training may take. Further questions come up only if the file is ambiguous, for example about the order of day and
    month. Answer ``more`` to be asked for all other options.

    Parameters
    ----------
    path : path-like, optional
        The file; by default, the wizard asks for it.
    answers : path-like, dict or list of str, optional
        Answers for scripts: a file, a dict from question to answer, or a list in order. Missing answers get the
        default; invalid ones raise an error.
    ask : callable, optional
        Called with a question and a prompt, returns the answer; by default, the wizard asks in the terminal or the
        notebook.
    say : callable
        Shows a line of text.
    run : callable
        Makes the model, as ``thresher._auto.run_auto``.

    Returns
    -------
    estimator or StreamingPipeline

    See Also
    --------
    form : The same questions as a form in a notebook.

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
    source = from_person(sys.stdout) if ask is None else AnswerSource(ask)
    if isinstance(answers, Mapping):
        source = from_dict(answers, _NAMES)
    elif isinstance(answers, (str, os.PathLike)):
        source = from_file(os.fspath(answers), _NAMES)
    elif answers is not None:
        source = from_lines(answers)
    return learn_from(_asked(source, say, given), say, run)[0].model


def form(path: str | os.PathLike[str]) -> WizardForm:
    """Ask the questions of :func:`wizard` in a notebook, as a form with a button.

    Parameters
    ----------
    path : path-like
        The file.

    Returns
    -------
    WizardForm
        When you press the button, its ``model``, ``command`` and ``python`` hold the results. Without ipywidgets, the
        questions are asked one by one, and the results are available at once.
    """
    made = WizardForm(os.fspath(path))
    if importlib.util.find_spec("ipywidgets") is not None:
        made.show()
    else:
        made.learn(_asked(from_person(sys.stdout), print, {"file": made.path}), print)
    return made


class WizardForm:
    """The questions about a file as a form, and the resulting model; see :func:`form`.

    Attributes
    ----------
    path : str
    files : callable
        Returns what is known about the file at a path.
    model : estimator, StreamingPipeline or None
        None until you press the button.
    command, python : str
        The command and the Python code that train the same model.
    """

    def __init__(self, path: str) -> None:
        self.path, self.model, self.command, self.python = path, None, "", ""
        self.files = functools.cache(DataFile)
        self.files(path)  # a file that cannot be read is refused at once

    def show(self) -> None:
        """Show the form in the notebook."""
        from ._widgets import show_form

        show_form(self, QUESTIONS, MORE_QUESTIONS)

    def learn(self, answers: DialogueAnswers, say: Say) -> None:
        """Train the model that the answers describe."""
        run, call, _ = learn_from(answers, say, _auto.run_auto)
        self.model, self.command, self.python = run.model, call.command(), call.python()


def main(
    path: str | None,
    *,
    answers: str | None = None,
    save_answers: str | None = None,
    model: str | None = None,
    report: str | None = None,
    as_json: bool = False,
) -> int:
    """Run ``thresher wizard``; returns the exit code: 0 for success, 2 for an error, 130 for an interrupt.

    A person gets the model and a report in files beside the work; answers from a file say where these go, or do not.
    """
    out = sys.stderr if as_json else sys.stdout
    given = {name: value for name, value in (("file", path), ("model", model), ("report", report)) if value is not None}

    def say(line: str) -> None:
        print(line, file=out)

    try:
        _check_places(model, report, save_answers)
        source = from_person(out) if answers is None else from_file(answers, _NAMES)
        answered = _asked(source, say, given, saves=answers is None)
        _, call, page = learn_from(answered, say, _auto.run_auto)
    except KeyboardInterrupt:
        print("\nStopped. Nothing was written.", file=sys.stderr)
        return 130
    except EOFError:
        print("\nthresher: the answers ended before the questions did; nothing was written.", file=sys.stderr)
        return 2
    except (OSError, ValueError, MemoryError, ArithmeticError) as problem:
        print("thresher: " + " ".join(str(problem).split()), file=sys.stderr)
        return 2
    typed = {
        question.id: question.write(answered[question.id], answered) for question in _ALL if question.id in answered
    }
    if save_answers is not None:
        write_whole(Path(save_answers), json.dumps(typed, indent=2, ensure_ascii=False).encode() + b"\n")
        say(f"Answers written to {save_answers}")
    if as_json:
        result: dict[str, Any] = {"answers": typed, "command": call.command(), "python": call.python()}
        result |= {"model": call.model, "report": call.report, **page.to_dict()}
        print(json.dumps(result, indent=2, ensure_ascii=False))
    return 0


def _asked(source: AnswerSource, say: Say, given: dict[str, Any], saves: bool = False) -> DialogueAnswers:
    """The answers to all questions; with `saves`, the model and a report are written unless the answer is no."""
    places = _free_places if saves else lambda answers: {}
    answers = DialogueAnswers(functools.cache(DataFile), places=places)  # each file is looked at once
    if "file" in given:
        answers.data(given["file"])  # one that cannot be read is refused before any question
    say(
        "\n".join(
            wrapped(
                "A few questions. ENTER takes the answer in brackets, ? explains the question, back goes one question "
                "back, and more asks for everything that can be set.",
                screen_width(),
            )
        )
    )
    Dialogue(_ALL, source, say, answers, given).run()
    for name, place in places(answers).items():
        answers.setdefault(name, place)
    return answers


def learn_from(answers: DialogueAnswers, say: Say, make: Callable[..., Run]) -> tuple[Run, AutoCall, Report]:
    """Make the model that the answers describe, show it, and write the files."""
    model, report, reading = (answers.get(name) for name in ("model", "report", "columns_file"))
    call = replace(call_of(answers), model=model, report=report, columns_file=reading)
    say(f"\nLearning from {call.path} ...")
    run = make(call.path, **call.arguments, predict=True, progress=True)
    run.model.record_ |= {"command": call.command(), "python": call.python()}
    page = _report(run, call, answers)
    _show_model(run, page, say)
    if call.model is not None:
        save_model(run.model, call.model)
        say(f"\nModel written to {call.model}")
    if call.report is not None:
        page.save(call.report)
        say(f"\nReport written to {call.report}")
    say(f"\nThe same on the command line\n{textwrap.indent(call.command_lines(), '   ')}")
    say(f"\nThe same in Python\n{textwrap.indent(call.python(), '   ')}")
    if call.model is not None:
        name = shlex.quote(call.model)
        say(
            "Predictions for new rows, and why\n"
            f"   thresher predict {name} NEW.csv\n"
            f"   thresher explain {name} NEW.csv --row 1"
        )
    return run, call, page


def _report(run: Run, call: AutoCall, answers: DialogueAnswers) -> Report:
    made, file, target = run.model.record_["auto"], file_of(answers), call.arguments.get("target")
    asked = {"reasons": made["reasons"], "command": call.command(), "python": call.python(), "seed": 0}
    found = file.profile(target, reading_of(answers)) if file.is_table else None
    files = [{"name": Path(call.path).name}]
    return report_of(run, files, target=target, profile=found, asked=asked, search=made["search"])


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
        say(paragraph(f"{tile['label']}: {tile['value']} ({tile['note']})"))
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
        weights = ", ".join(f"{output}: {weight:+.3g}" for output, weight in largest)
        say("\n".join(wrapped(weights, screen_width(), f"   {feature.name:<24} ")))
    if not features:
        say("   None: the model uses no feature.")


def _check_places(*paths: str | None) -> None:
    """Refuse files that cannot be written, before any question."""
    for path in paths:
        if path is not None and not Path(path).absolute().parent.is_dir():
            raise FileNotFoundError(f"{path}: the folder does not exist.")


def _free_places(answers: DialogueAnswers) -> dict[str, str]:
    """Names for the model and the report of a file in this folder, which no file has yet; none if it is read-only."""
    if not os.access(".", os.W_OK):
        return {}
    stem = Path(answers["file"]).name.partition(".")[0] or "model"
    pages = all(importlib.util.find_spec(name) is not None for name in ("jinja2", "matplotlib"))
    endings = {"model": ".thresher", "report": ".html" if pages else ".txt"}
    number = next(n for n in range(1, 10**6) if not any(Path(_numbered(stem, n, e)).exists() for e in endings.values()))
    return {what: _numbered(stem, number, ending) for what, ending in endings.items()}


def _numbered(stem: str, number: int, ending: str) -> str:
    return f"{stem}{f'-{number}' if number > 1 else ''}{ending}"
