"""Answers as one call of ``thresher.auto``, which can also be written as a command or as Python."""

from __future__ import annotations

import json
import shlex
from dataclasses import dataclass
from typing import Any

from .. import _auto
from ._dialogue import DialogueAnswers
from ._replies import file_of, task_of

_KERNELS = {"rbf": "nystroem", "polynomial": "polynomial", "cosine": "cosine", "linear": "nystroem-linear"}


@dataclass(frozen=True)
class AutoCall:
    """A file, the arguments that differ from the defaults of :func:`thresher.auto`, and places to write the results."""

    path: str
    arguments: dict[str, Any]
    model: str | None = None
    report: str | None = None

    def command(self) -> str:
        """The same on the command line."""
        words = ["thresher", "auto", self.path]
        options = {name: value for name, value in self.arguments.items() if name != "params"}
        options |= self.arguments.get("params", {})
        options |= {name: place for name in ("model", "report") if (place := getattr(self, name)) is not None}
        for name, value in options.items():
            words += [f"--{name.replace('_', '-')}", _typed(value)]
        return shlex.join(words)

    def python(self) -> str:
        """The same in Python."""
        arguments = "".join(f"    {name}={value!r},\n" for name, value in self.arguments.items())
        text = f"import thresher\n\nmodel = thresher.auto(\n    {self.path!r},\n{arguments})\n"
        return text if self.model is None else f"{text}thresher.persistence.save_model(model, {self.model!r})\n"


def _typed(value: Any) -> str:
    """A value as the command line takes it."""
    if isinstance(value, list):
        return json.dumps(value, ensure_ascii=False)
    return "none" if value is None else str(value)


def call_of(answers: DialogueAnswers) -> AutoCall:
    """The call that the answers describe."""
    chosen = answers | {"task": task_of(answers)}  # most questions are called like the options of auto
    if answers.get("curved") is not None:
        chosen["kernel"] = _KERNELS[answers["kernel"]] if answers["curved"] else "linear"
    if not answers["has_target"]:
        fixed = {name: answers[name] for name in ("metric", "max_iter") if name in answers}
        chosen |= {"method": answers["shape"], "params": fixed or None}
    target = {"target": answers.get("target")} if file_of(answers).is_table else {}
    return AutoCall(answers["file"], target | _auto.changed_options(chosen))
