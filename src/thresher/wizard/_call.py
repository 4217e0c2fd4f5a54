"""Answers as one call of ``thresher.auto``, which can also be written as a command or as Python."""

from __future__ import annotations

import json
import pprint
import re
import shlex
import textwrap
from typing import Any

from .. import _auto
from .._dataclasses import dataclass
from ._dialogue import DialogueAnswers
from ._replies import file_of, has_target, reading_of, usual_shape

_COLUMNS = ("target", "drop", "text_columns", "task_column")
_FLAGS = {"text_columns": "--text"}
_WIDTH = 76


@dataclass(frozen=True)
class AutoCall:
    """A file, the arguments that differ from the defaults of :func:`thresher.auto`, and places to write the results."""

    path: str
    arguments: dict[str, Any]
    columns: tuple[str, ...] = ()  # of the file
    model: str | None = None
    report: str | None = None
    columns_file: str | None = None  # that holds the readings of columns, for the command line

    def command(self) -> str:
        """The same on the command line, in one line."""
        return shlex.join([word for words in self._words() for word in words])

    def command_lines(self) -> str:
        """The same on the command line, in lines that a shell joins again."""
        lines = [""]
        for words in map(shlex.join, self._words()):
            if lines[-1] and len(f"{lines[-1]} {words} \\") > _WIDTH:
                lines.append("   ")
            lines[-1] += f" {words}" if lines[-1] else words
        return " \\\n".join(lines)

    def _words(self) -> list[list[str]]:
        """The words of the command; an option stands with its value."""
        options = {name: value for name, value in self.arguments.items() if name not in ("params", "columns")}
        options |= self.arguments.get("params", {})
        places = {"columns": self.columns_file, "model": self.model, "report": self.report}
        options |= {name: place for name, place in places.items() if place is not None}
        words = [["thresher", "auto"], [self.path]]
        for name, value in options.items():
            flag = _FLAGS.get(name, f"--{name.replace('_', '-')}")
            values = value if name in ("drop", "text_columns") else [value]
            words += [[flag] if each is True else [flag, self._typed(name, each)] for each in values]
        return words

    def _typed(self, name: str, value: Any) -> str:
        """A value as the command line takes it, which counts columns from 0 and has words of its own."""
        if name in _COLUMNS and value in self.columns and (value == "none" or re.fullmatch(r"-?\d+", value)):
            return str(self.columns.index(value))
        if isinstance(value, (list, dict)):
            return json.dumps(value, ensure_ascii=False)
        return "none" if value is None else str(value)

    def python(self) -> str:
        """The same in Python."""
        given = [textwrap.indent(_written(name, value), "    ") for name, value in self.arguments.items()]
        text = "\n".join(["import thresher", "", "model = thresher.auto(", f"    {self.path!r},", *given, ")", ""])
        return text if self.model is None else f"{text}thresher.persistence.save_model(model, {self.model!r})\n"


def _written(name: str, value: Any) -> str:
    """An argument, in several lines if it is long."""
    begin = f"{name}="
    lines = pprint.pformat(value, width=_WIDTH - len(begin), compact=True).splitlines()
    return ("\n" + " " * len(begin)).join([begin + lines[0], *lines[1:]]) + ","


def call_of(answers: DialogueAnswers) -> AutoCall:
    """The call that the answers describe."""
    chosen = dict(answers)  # most questions are called like the options of auto
    if not has_target(answers):
        fixed = {name: answers[name] for name in ("metric", "max_iter") if name in answers}
        method = answers.get("shape") or (usual_shape() if fixed else None)
        chosen |= {"task": "clustering", "method": method, "params": fixed or None}
    if isinstance(answers.get("cost"), str):
        chosen |= {"cost": None, "criterion": answers["cost"]}
    if answers.get("task") == "regression":  # for which the cost of mistakes on classes means nothing
        chosen |= {"cost": None, "criterion": answers.get("criterion")}
    file = file_of(answers)
    target = {"target": answers.get("target")} if file.is_table else {}
    arguments = target | reading_of(answers) | _auto.changed_options(chosen)
    return AutoCall(answers["file"], arguments, tuple(file.columns))
