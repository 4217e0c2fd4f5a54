"""What the answers mean: one call of ``thresher.auto``, which can also be written as a command or as Python."""

from __future__ import annotations

import json
import shlex
from dataclasses import dataclass
from typing import Any

from .. import _auto
from ._dialogue import Answers
from ._file import File
from ._replies import task_of

_FLAGS = {
    "n_evaluations": "evaluations",
    "max_seconds": "seconds",
    "n_clusters": "clusters",
    "random_state": "seed",
    "task_column": "task-column",
    "outlier_label": "outlier-label",
    "unlabelled_label": "unlabelled-label",
}
_KERNELS = {"rbf": "nystroem", "polynomial": "polynomial", "cosine": "cosine", "linear": "nystroem-linear"}


@dataclass(frozen=True)
class Call:
    """A file and the arguments that differ from the defaults of :func:`thresher.auto`."""

    path: str
    arguments: dict[str, Any]

    def command(self, model: str | None = None, report: str | None = None) -> str:
        """The same on the command line."""
        words = ["thresher", "auto", self.path]
        for name, value in self.arguments.items():
            if name == "params":
                for parameter, fixed in value.items():
                    words += [f"--{parameter.replace('_', '-')}", str(fixed)]
            else:
                words += [f"--{_FLAGS.get(name, name)}", _typed(value)]
        for name, place in (("model", model), ("report", report)):
            words += [f"--{name}", place] if place is not None else []
        return shlex.join(words)

    def python(self, model: str | None = None) -> str:
        """The same in Python."""
        arguments = "".join(f"    {name}={value!r},\n" for name, value in self.arguments.items())
        text = f"import thresher\n\nmodel = thresher.auto(\n    {self.path!r},\n{arguments})\n"
        return text if model is None else f"{text}thresher.persistence.save_model(model, {model!r})\n"


def _typed(value: Any) -> str:
    """A value as the command line takes it."""
    if isinstance(value, list):
        return json.dumps(value, ensure_ascii=False)
    return "none" if value is None else str(value)


def call_of(answers: Answers, file: File) -> Call:
    """The call that the answers describe."""
    arguments: dict[str, Any] = {}
    if file.is_table:
        arguments["target"] = answers.get("target")
    arguments["task"] = task_of(answers)
    arguments |= {
        "method": answers.get("algorithm"),
        "groups": answers.get("groups"),
        "task_column": answers.get("tasks"),
        "outlier_label": answers.get("outliers"),
        "unlabelled_label": answers.get("unlabelled"),
        "loss": answers.get("loss"),
        "kernel": _kernel(answers),
        "criterion": answers.get("criterion"),
        "search": answers["search"],
        "n_evaluations": answers["budget"],
    }
    if arguments["task"] == "clustering":
        arguments |= _clustering(answers)
    usual = _auto.auto.__kwdefaults__ or {}
    return Call(answers["file"], {k: v for k, v in arguments.items() if k not in usual or v != usual[k]})


def _kernel(answers: Answers) -> str | None:
    if answers.get("nystroem") is None:
        return None
    return _KERNELS[answers["kernel"]] if answers["nystroem"] else "linear"


def _clustering(answers: Answers) -> dict[str, Any]:
    asked = {"metric": answers.get("metric"), "max_iter": answers.get("iterations")}
    fixed = {name: value for name, value in asked.items() if value is not None}
    return {"method": answers["shape"], "n_clusters": answers["clusters"], "params": fixed or None}
