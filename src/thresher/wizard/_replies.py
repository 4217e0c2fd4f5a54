"""What may be answered: the options of questions, and how typed answers are read."""

from __future__ import annotations

import inspect
import os
import re
from pathlib import Path
from typing import Any

from .. import registry
from .._auto import CRITERIA, has_kernel
from .._engine import LOSSES
from ._dialogue import Answers, Option, Wrong
from ._file import File, Known

_MOST_LISTED = 20  # columns
_NEEDS = ("groups", "tasks", "outliers", "unlabelled")  # questions by what methods need beside rows and targets
AUTOMATIC = "automatic"
CLUSTERING = "sparsekmeans"  # the method where nothing is known of the clusters
YES_NO = (Option("yes", True), Option("no", False))

ABOUT_KERNELS = {
    "rbf": "bell-shaped: smooth boundaries of any form; the usual choice",
    "polynomial": "products of columns: curved boundaries",
    "cosine": "by direction, whatever the size of the values: counts of words",
    "linear": "straight boundaries after all, on fewer features",
}
_SHAPES = {
    CLUSTERING: ("round", "heaps around a middle, told apart by few columns"),
    "kernelspectralclustering": ("curved", "of any shape: rings, moons, chains"),
    "proximalplaneclustering": ("flat", "rows along lines or planes"),
}
ABOUT_SEARCHES = {
    "annealing": "coupled simulated annealing: several walkers share what they find",
    "directed": "directed search: step by step from the middle, downhill",
    "random": "random points",
}


def file_of(data: Known, answers: Answers) -> File:
    return data.file(answers["file"])


def task_of(answers: Answers) -> str:
    """The task that the answers so far describe."""
    if not answers["has_target"]:
        return "clustering"
    return "classification" if answers["classification"] else "regression"


# --- reading answers --------------------------------------------------------------------------------------------------


def read_file(text: str, data: Known, answers: Answers) -> str:
    path = os.path.expanduser(text)
    if not path:
        raise Wrong("Please name a file.")
    try:
        data.file(path)
    except (OSError, ValueError) as problem:
        raise Wrong(f"This file cannot be read: {problem}") from None
    return path


def read_column(text: str, data: Known, answers: Answers) -> str:
    names = file_of(data, answers).columns
    if text in names:
        return text
    if text.isdigit() and 1 <= int(text) <= len(names):
        return names[int(text) - 1]
    raise Wrong(f"Please answer with the name of a column or with its number from 1 to {len(names)}.")


def read_count(least: int, what: str) -> Any:
    def read(text: str, data: Known, answers: Answers) -> int:
        if not text.isdigit() or int(text) < least:
            raise Wrong(f"Please answer with {what}: a whole number of at least {least}.")
        return int(text)

    return read


def read_clusters(text: str, data: Known, answers: Answers) -> int | None:
    if text.lower() == AUTOMATIC:
        return None
    if not text.isdigit() or int(text) < 2:
        raise Wrong(f"Please answer with a whole number of at least 2, or with {AUTOMATIC}.")
    return int(text)


def read_place(suffix: str, allowed: tuple[str, ...] = ()) -> Any:
    """Reads the name of a file to write, or no."""

    def read(text: str, data: str, answers: Answers) -> str | None:
        if text.lower() in ("no", "none", "n"):
            return None
        path = data + suffix if text.lower() in ("yes", "y") else os.path.expanduser(text)
        if not Path(path).absolute().parent.is_dir():
            raise Wrong(f"The folder of {path} does not exist; name a file in one that does, or answer no.")
        if Path(path).is_dir():
            raise Wrong(f"{path} is a folder; name a file, or answer no.")
        if allowed and Path(path).suffix.lower() not in allowed:
            raise Wrong(f"The name must end in {', '.join(allowed)}; or answer no.")
        return path

    return read


# --- options ----------------------------------------------------------------------------------------------------------


def columns(data: Known, answers: Answers) -> list[Option]:
    names = file_of(data, answers).columns
    return [Option(name, name) for name in names] if len(names) <= _MOST_LISTED else []


def methods_for(answers: Answers) -> list[registry.Method]:
    """Methods that fit what was answered so far and need nothing else."""
    loss = answers.get("loss")
    needs = {name for name in _NEEDS if answers.get(name) is not None}
    fitting = [
        method
        for method in registry.methods()
        if method.task == task_of(answers) and set(method.needs) == needs and (loss is None or loss in method.losses)
    ]
    if answers.get("nystroem") is None:
        return fitting
    return [method for method in fitting if not has_kernel(method)]  # they bend boundaries by themselves


def losses(data: Known, answers: Answers) -> list[Option]:
    names = dict.fromkeys(loss for method in methods_for({**answers, "loss": None}) for loss in method.losses)
    known = [Option(name, name, LOSSES[name].about) for name in names]
    return [Option(AUTOMATIC, None, "what each method likes best"), *known]


def criteria(data: Known, answers: Answers) -> list[Option]:
    task = task_of(answers)
    about = "errors; those of rare classes count more where they are rare" if task == "classification" else "the first"
    return [Option(AUTOMATIC, None, about), *(Option(name, name, said) for name, said in CRITERIA[task].items())]


def shapes(data: Known, answers: Answers) -> list[Option]:
    """Methods of clustering by what they find; the usual one first."""
    known = sorted(_of_clusters(), key=lambda method: method.name != CLUSTERING)
    named = [(method, *_SHAPES.get(method.name, (method.name, _plain(method.summary)))) for method in known]
    return [Option(name, method.name, f"{about} ({method.name})") for method, name, about in named]


def read_shape(text: str, data: Known, answers: Answers) -> str:
    if text in [method.name for method in _of_clusters()]:
        return text
    names = ", ".join(option.name for option in shapes(data, answers))
    raise Wrong(f"Please answer with one of {names}, or with the name of a method.")


def _of_clusters() -> list[registry.Method]:
    return [method for method in registry.methods() if method.task == "clustering" and not method.needs]


def clusters_take(answers: Answers, parameter: str) -> bool:
    """Whether there are clusters to find, by a method with this parameter."""
    if answers["has_target"]:
        return False
    method = next(m for m in registry.methods() if m.name == answers.get("shape", CLUSTERING))
    return parameter in inspect.signature(method.cls).parameters


def algorithms(data: Known, answers: Answers) -> list[Option]:
    known = [Option(method.name, method.name, _plain(method.summary)) for method in methods_for(answers)]
    return [Option(AUTOMATIC, None, "the ones that suit the data are compared"), *known]


def _plain(summary: str) -> str:
    """The first sentence of a docstring without its markup."""
    return re.sub(r":\w+:`~?(?:[\w.]*\.)?(\w+)`|``([^`]*)``", r"\1\2", summary).partition(";")[0].rstrip(".")


def may_have_tasks(data: Known, answers: Answers) -> bool:
    """Tasks have two classes, or amounts."""
    if not answers["classification"]:
        return True
    return len(file_of(data, answers).look(answers.get("target")).labels or ()) == 2


def read_task_column(text: str, data: Known, answers: Answers) -> str:
    column = read_column(text, data, answers)
    if column == answers.get("target"):
        raise Wrong(f"{column} is what is to be predicted; please name another column, or answer no.")
    return column


def task_columns(data: Known, answers: Answers) -> list[Option]:
    words = file_of(data, answers).words(answers.get("target"))
    return [Option("no", None, "one model for all rows"), *(Option(name, name) for name in words[:_MOST_LISTED])]


def read_groups(text: str, data: Known, answers: Answers) -> Any:
    """Groups as they are typed: columns between commas, groups between semicolons."""
    if text.startswith("prefix:") and text != "prefix:":
        return text
    groups = [[name.strip() for name in part.split(",") if name.strip()] for part in text.split(";") if part.strip()]
    known = [name for name in file_of(data, answers).columns if name != answers.get("target")]
    wrong = next((name for group in groups for name in group if name not in known), None)
    how = "names of columns between commas, groups between semicolons, such as: age, income; town"
    if not groups:
        raise Wrong(f"Please answer with {how}.")
    if wrong is not None:
        raise Wrong(f"There is no column {wrong!r} to learn from; please answer with {how}.")
    return groups


def write_groups(groups: Any) -> str:
    return groups if isinstance(groups, str) else "; ".join(", ".join(group) for group in groups)


def has_words(data: Known, answers: Answers) -> bool:
    """Whether a table has words to learn from, besides the target."""
    return bool(answers["has_target"] and file_of(data, answers).words(answers.get("target")))


# --- labels that are no classes ---------------------------------------------------------------------------------------


def labels_of(data: Known, answers: Answers) -> list[Any]:
    """What the target says in the first rows."""
    return file_of(data, answers).look(answers.get("target")).labels or []


def label_options(nothing: str) -> Any:
    """The labels, after an answer that there are no such rows."""

    def options(data: Known, answers: Answers) -> list[Option]:
        labels = labels_of(data, answers)
        listed = [Option(str(label), label) for label in labels] if len(labels) <= _MOST_LISTED else []
        return [Option("no such rows" if "no" in labels else "no", None, nothing), *listed]

    return options


def read_label(is_known: bool) -> Any:
    """Reads a label of the target, or also one that no row has yet."""

    def read(text: str, data: Known, answers: Answers) -> Any:
        labels = {str(label): label for label in labels_of(data, answers)}
        if text in labels:
            return labels[text]
        if is_known:
            raise Wrong(f"No row has the label {text!r}; please answer with one of {', '.join(labels)}, or no.")
        if file_of(data, answers).look(answers.get("target")).is_text:
            return text
        try:
            return int(text)
        except ValueError:
            raise Wrong("The labels are numbers; please answer with a whole number, or no.") from None

    return read


def speaks_of_classes(data: Known, answers: Answers) -> bool:
    """Whether labels may be no classes: the target holds classes, and nothing is said of tasks or groups."""
    plain = all(answers.get(name) is None for name in ("tasks", "groups"))
    return bool(answers["has_target"]) and answers["classification"] and plain


def has_only_classes(answers: Answers) -> bool:
    """Whether every row has a class that is known."""
    return answers.get("outliers") is None and answers.get("unlabelled") is None
