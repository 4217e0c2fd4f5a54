"""Possible answers about a file: the options of questions, and the functions that read typed answers."""

from __future__ import annotations

import functools
import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from .. import registry
from .._auto import CRITERIA, STRUCTURE, has_kernel
from .._engine import LOSSES
from .._figures import unmarked
from ..streams import open_stream
from ..training import Look, look
from ._dialogue import DialogueAnswers, InvalidAnswer, Option

_MOST_LISTED = 20  # columns
AUTOMATIC: str = "automatic"
YES_NO: tuple[Option, ...] = (Option("yes", True), Option("no", False))


def named(about: Mapping[str, str]) -> list[Option]:
    """Options that are called like their values."""
    return [Option(name, name, text) for name, text in about.items()]


KERNELS: list[Option] = named(
    {
        "rbf": "bell-shaped: smooth boundaries of any form; the usual choice",
        "polynomial": "products of columns: curved boundaries",
        "cosine": "by direction, whatever the size of the values: counts of words",
        "linear": "straight boundaries after all, on fewer features",
    }
)
SEARCHES: list[Option] = named(
    {
        "annealing": "coupled simulated annealing: several walkers share what they find",
        "directed": "directed search: step by step from the middle, downhill",
        "random": "random points",
    }
)
METRICS: list[Option] = named({"euclidean": "a small distance (least squares)", "cosine": "the same direction"})


# --- the answers so far -----------------------------------------------------------------------------------------------


def file_of(answers: DialogueAnswers) -> DataFile:
    return answers.data(answers["file"])


def look_at(answers: DialogueAnswers) -> Look:
    """The first rows of the file, with the target that was named."""
    return file_of(answers).look(answers.get("target"))


def task_of(answers: Mapping[str, Any]) -> str:
    """The task that the answers so far describe."""
    if not answers["has_target"]:
        return "clustering"
    return "classification" if answers["classification"] else "regression"


def has_words(answers: DialogueAnswers) -> bool:
    """Whether a table has words to learn from, besides the target."""
    return bool(answers["has_target"] and file_of(answers).words(answers.get("target")))


def may_have_tasks(answers: DialogueAnswers) -> bool:
    """Whether tasks can be learned together: there are two classes, or amounts."""
    return not answers["classification"] or len(look_at(answers).labels or ()) == 2


def has_plain_classes(answers: DialogueAnswers) -> bool:
    """Whether the target holds classes, and there are neither tasks nor groups."""
    structure = (answers.get(name) for name in ("task_column", "groups"))
    return bool(answers["has_target"]) and answers["classification"] and all(value is None for value in structure)


def has_only_classes(answers: DialogueAnswers) -> bool:
    """Whether every row has a class that is known."""
    return answers.get("outlier_label") is None and answers.get("unlabelled_label") is None


# --- reading answers --------------------------------------------------------------------------------------------------


def read_file(text: str, answers: DialogueAnswers) -> str:
    path = os.path.expanduser(text)
    if not path:
        raise InvalidAnswer("Please name a file.")
    try:
        answers.data(path)
    except (OSError, ValueError) as problem:
        raise InvalidAnswer(f"This file cannot be read: {problem}") from None
    return path


def read_column(text: str, answers: DialogueAnswers) -> str:
    names = file_of(answers).columns
    if text in names:
        return text
    if text.isdigit() and 1 <= int(text) <= len(names):
        return names[int(text) - 1]
    raise InvalidAnswer(f"Please answer with the name of a column or with its number from 1 to {len(names)}.")


def read_task_column(text: str, answers: DialogueAnswers) -> str:
    column = read_column(text, answers)
    if column == answers.get("target"):
        raise InvalidAnswer(f"{column} is the column to predict; please name another one, or answer no.")
    return column


def read_count(least: int, noun: str, *, automatic: bool = False) -> Callable[[str, DialogueAnswers], int | None]:
    """Reads a whole number, or also that there is none to name."""

    def read(text: str, answers: DialogueAnswers) -> int | None:
        if automatic and text.lower() == AUTOMATIC:
            return None
        if not text.isdigit() or int(text) < least:
            other = f", or {AUTOMATIC}" if automatic else ""
            raise InvalidAnswer(f"Please answer with {noun}: a whole number of at least {least}{other}.")
        return int(text)

    return read


def read_place(suffix: str, allowed: tuple[str, ...] = ()) -> Callable[[str, DialogueAnswers], str | None]:
    """Reads the name of a file to write, or no."""

    def read(text: str, answers: DialogueAnswers) -> str | None:
        if text.lower() in ("no", "none", "n"):
            return None
        path = answers.data + suffix if text.lower() in ("yes", "y") else os.path.expanduser(text)
        if not Path(path).absolute().parent.is_dir():
            raise InvalidAnswer(f"The folder of {path} does not exist; name a file in one that does, or answer no.")
        if Path(path).is_dir():
            raise InvalidAnswer(f"{path} is a folder; name a file, or answer no.")
        if allowed and Path(path).suffix.lower() not in allowed:
            raise InvalidAnswer(f"The name must end in {', '.join(allowed)}; or answer no.")
        return path

    return read


def read_groups(text: str, answers: DialogueAnswers) -> Any:
    """Groups as they are typed: columns between commas, groups between semicolons."""
    if text.startswith("prefix:") and text != "prefix:":
        return text
    groups = [[name.strip() for name in part.split(",") if name.strip()] for part in text.split(";") if part.strip()]
    known = {name for name in file_of(answers).columns if name != answers.get("target")}
    unknown = [name for group in groups for name in group if name not in known]
    form = "names of columns between commas, groups between semicolons, such as: age, income; town"
    if unknown:
        raise InvalidAnswer(f"There is no column {unknown[0]!r} to learn from; please answer with {form}.")
    if not groups:
        raise InvalidAnswer(f"Please answer with {form}.")
    return groups


def write_groups(groups: Any) -> str:
    return groups if isinstance(groups, str) else "; ".join(", ".join(group) for group in groups)


def read_shape(text: str, answers: DialogueAnswers) -> str:
    if text in [method.name for method in registry.methods("clustering", needs=())]:
        return text
    names = ", ".join(option.name for option in shapes())
    raise InvalidAnswer(f"Please answer with one of {names}, or with the name of a method.")


def read_label(is_known: bool) -> Callable[[str, DialogueAnswers], Any]:
    """Reads a label of the target, or also one that no row has yet."""

    def read(text: str, answers: DialogueAnswers) -> Any:
        look = look_at(answers)
        labels = {str(label): label for label in look.labels or []}
        if text in labels:
            return labels[text]
        if is_known:
            names = ", ".join(labels)
            raise InvalidAnswer(f"No row has the label {text!r}; please answer with one of {names}, or no.")
        if look.is_text:
            return text
        try:
            return int(text)
        except ValueError:
            raise InvalidAnswer("The labels are numbers; please answer with a whole number, or no.") from None

    return read


# --- options ----------------------------------------------------------------------------------------------------------


def columns(answers: DialogueAnswers) -> list[Option]:
    names = file_of(answers).columns
    return [Option(name, name) for name in names] if len(names) <= _MOST_LISTED else []


def task_columns(answers: DialogueAnswers) -> list[Option]:
    words = file_of(answers).words(answers.get("target"))
    return [Option("no", None, "one model for all rows"), *(Option(name, name) for name in words[:_MOST_LISTED])]


def label_options(nothing: str) -> Callable[[DialogueAnswers], list[Option]]:
    """The labels, after an answer that there are no such rows."""

    def options(answers: DialogueAnswers) -> list[Option]:
        labels = look_at(answers).labels or []
        listed = [Option(str(label), label) for label in labels] if len(labels) <= _MOST_LISTED else []
        return [Option("no such rows" if "no" in labels else "no", None, nothing), *listed]

    return options


def methods_for(answers: Mapping[str, Any]) -> list[registry.Method]:
    """Methods that fit the answers so far and need nothing else."""
    loss = answers.get("loss")
    needs = [need for need, name in STRUCTURE.items() if answers.get(name) is not None]
    fitting = [m for m in registry.methods(task_of(answers), needs) if loss is None or loss in m.losses]
    if answers.get("curved") is None:
        return fitting
    return [method for method in fitting if not has_kernel(method)]  # they bend boundaries by themselves


def losses(answers: DialogueAnswers) -> list[Option]:
    names = dict.fromkeys(loss for method in methods_for({**answers, "loss": None}) for loss in method.losses)
    known = named({name: LOSSES[name].about for name in names})
    return [Option(AUTOMATIC, None, "the usual one of each method"), *known]


def criteria(answers: DialogueAnswers) -> list[Option]:
    task = task_of(answers)
    about = "errors; those of rare classes count more where they are rare" if task == "classification" else "the first"
    return [Option(AUTOMATIC, None, about), *named(CRITERIA[task])]


def _about(method: registry.Method) -> str:
    return unmarked(method.summary).partition(";")[0].rstrip(".")


def methods(answers: DialogueAnswers) -> list[Option]:
    known = named({method.name: _about(method) for method in methods_for(answers)})
    return [Option(AUTOMATIC, None, "the ones that suit the data are compared"), *known]


def shapes(answers: Mapping[str, Any] | None = None) -> list[Option]:
    """Methods of clustering by the shape of the clusters that they find, in the order of their ranks."""
    ranked = []
    for method in registry.methods("clustering", needs=()):
        good = next((good for good in method.advice.good_for if good.aim), None)
        name, about = (good.aim, good.why) if good is not None else (method.name, _about(method))
        ranked.append((good is None, 0 if good is None else good.rank, name, method.name, about))
    return [Option(name, method, f"{about} ({method})") for _, _, name, method, about in sorted(ranked)]


def usual_shape(answers: Mapping[str, Any] | None = None) -> str:
    return shapes()[0].value


def clusters_take(answers: DialogueAnswers, parameter: str) -> bool:
    """Whether there are clusters to find, by a method with this parameter."""
    method = None if answers["has_target"] else registry.find(answers.get("shape") or usual_shape())
    return method is not None and parameter in method.defaults


_BYTES = 1 << 23  # to look at; the dialogue must not keep anyone waiting


class DataFile:
    """A file: its columns if it is a table, and what its targets look like.

    Attributes
    ----------
    path : str
    columns : list of str
        Names of the columns of a table; empty for other files, whose targets have their own place.
    """

    def __init__(self, path: str) -> None:
        self.path = path
        try:
            layout = open_stream(path).layout()
        except ValueError:  # a table of one column has no target
            layout = open_stream(path, target=None).layout()
        self.is_table: bool = "columns" in layout
        self.columns: list[str] = open_stream(path, target=None).layout()["columns"] if self.is_table else []
        self.look = functools.lru_cache(maxsize=8)(self._look)
        self.words = functools.lru_cache(maxsize=8)(self._words)

    def _look(self, target: str | None) -> Look:
        """The first rows; of a table, with a column as their target, or none."""
        options: dict[str, Any] = {"target": target} if self.is_table else {}
        return look(open_stream(self.path, **options), _BYTES)

    def _words(self, target: str | None) -> list[str]:
        """The columns of words beside the target; none of files that are no tables."""
        if not self.is_table:
            return []
        layout = open_stream(self.path, target=target).layout()
        return [name for name, kind in zip(layout["columns"], layout["kinds"], strict=True) if kind == "t"]
