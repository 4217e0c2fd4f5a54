"""Possible answers to the questions that are asked on request."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

from .. import registry
from .._auto import CRITERIA, STRUCTURE, has_kernel
from .._engine import LOSSES
from ._dialogue import DialogueAnswers, InvalidAnswer, Option
from ._replies import (
    automatic,
    file_of,
    first_words,
    has_target,
    has_words,
    look_at,
    named,
    ranked_shapes,
    read_column,
    reading_of,
    task_of,
    usual_shape,
)

_MOST_LISTED = 20  # labels, or columns of words
BLANK = "blank"  # a target that is missing
KERNELS: list[Option] = [
    automatic("curved only if that is clearly better"),
    *named(
        {
            "linear": "straight boundaries, whose weights can be read",
            "rbf": "bell-shaped: smooth boundaries of any form",
            "polynomial": "products of columns: curved boundaries",
            "cosine": "by direction, whatever the size of the values: for word counts",
        }
    ),
]
SEARCHES: list[Option] = named(
    {
        "annealing": "coupled simulated annealing: several walkers share what they find",
        "directed": "directed search: step by step from the middle, downhill",
        "random": "random points",
    }
)
METRICS: list[Option] = named({"euclidean": "a small distance (least squares)", "cosine": "the same direction"})
TASKS: list[Option] = [
    automatic("by the values of the column"),
    *named({"classification": "classes, such as spam or ham", "regression": "amounts, such as a price"}),
]


# --- whether questions make sense -------------------------------------------------------------------------------------


def may_have_tasks(answers: DialogueAnswers) -> bool:
    """Whether tasks can be learned together: there are two classes, or amounts."""
    return has_words(answers) and (task_of(answers) == "regression" or len(look_at(answers).labels or ()) == 2)


def has_plain_classes(answers: DialogueAnswers) -> bool:
    """Whether the target holds classes, and there are neither tasks nor groups."""
    structure = (answers.get(name) for name in ("task_column", "groups"))
    return task_of(answers) == "classification" and all(value is None for value in structure)


def may_lack_classes(answers: DialogueAnswers) -> bool:
    """Whether a label, or a missing one, may say that the class of a row is not known."""
    seen = look_at(answers) if has_plain_classes(answers) else None
    return seen is not None and (bool(seen.n_unlabelled) or len(seen.labels or ()) > 2)


def may_have_outliers(answers: DialogueAnswers) -> bool:
    """Whether a row may belong to no class; what a mistake on it costs cannot be said."""
    known = answers.get("unlabelled_label") is None and not isinstance(answers.get("cost"), dict)
    return known and has_plain_classes(answers)


def has_only_classes(answers: DialogueAnswers) -> bool:
    """Whether every row has a class that is known."""
    return answers.get("outlier_label") is None and answers.get("unlabelled_label") is None


def may_be_curved(answers: DialogueAnswers) -> bool:
    plain = all(answers.get(name) is None for name in STRUCTURE.values())
    return plain and answers.get("shape") in (None, usual_shape())  # others are curved themselves, or must not be


def clusters_take(parameter: str) -> Callable[[DialogueAnswers], bool]:
    """Whether there are clusters to find, by a method with this parameter."""

    def takes(answers: DialogueAnswers) -> bool:
        method = None if has_target(answers) else registry.find(answers.get("shape") or usual_shape())
        return method is not None and parameter in method.defaults

    return takes


# --- options ----------------------------------------------------------------------------------------------------------


def task_columns(answers: DialogueAnswers) -> list[Option]:
    words = file_of(answers).words(answers.get("target"), reading_of(answers))
    return [Option("no", None, "one model for all rows"), *(Option(name, name) for name in words[:_MOST_LISTED])]


def label_options(nothing: str, with_blank: bool = False) -> Callable[[DialogueAnswers], list[Option]]:
    """The labels, after an answer that there are no such rows; with `with_blank`, missing targets before them."""

    def options(answers: DialogueAnswers) -> list[Option]:
        seen = look_at(answers)
        labels = seen.labels or []
        listed = [Option(str(label), label) for label in labels] if len(labels) <= _MOST_LISTED else []
        if with_blank and seen.n_unlabelled:
            listed = [Option(BLANK, "", "rows whose target is missing"), *listed]
        return [Option("no such rows" if "no" in labels else "no", None, nothing), *listed]

    return options


def methods_for(answers: DialogueAnswers) -> list[registry.Method]:
    """Methods that fit the answers so far and need nothing else."""
    loss = answers.get("loss")
    needs = [need for need, name in STRUCTURE.items() if answers.get(name) is not None]
    fitting = [m for m in registry.methods(task_of(answers), needs) if loss is None or loss in m.losses]
    if answers.get("kernel") is None:
        return fitting
    return [method for method in fitting if not has_kernel(method)]  # they bend boundaries by themselves


def losses(answers: DialogueAnswers) -> list[Option]:
    free = DialogueAnswers(answers.data, {**answers, "loss": None})
    names = dict.fromkeys(loss for method in methods_for(free) for loss in method.losses)
    known = named({name: LOSSES[name].about for name in names})
    return [automatic("the usual one of each method"), *known]


def criteria(answers: DialogueAnswers) -> list[Option]:
    task = task_of(answers)
    about = "errors; mistakes on rare classes count more" if task == "classification" else "the first"
    return [automatic(about), *named(CRITERIA[task])]


def methods(answers: DialogueAnswers) -> list[Option]:
    known = named({method.name: first_words(method) for method in methods_for(answers)})
    return [automatic("the ones that suit the data are compared"), *known]


def shapes(answers: Any = None) -> list[Option]:
    return [Option(name, method, f"{about} ({method})") for name, method, about in ranked_shapes()]


# --- reading answers --------------------------------------------------------------------------------------------------


def read_task_column(text: str, answers: DialogueAnswers) -> str:
    column = read_column(text, answers)
    if column == answers.get("target"):
        raise InvalidAnswer(f"{column} is the column to predict; please name another one, or answer no.")
    return column


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
        seen = look_at(answers)
        labels = {str(label): label for label in seen.labels or []}
        if text in labels:
            return labels[text]
        if is_known:
            if seen.n_unlabelled and text in ("?", BLANK):
                return ""
            names = ", ".join([*([BLANK] if seen.n_unlabelled else []), *labels])
            raise InvalidAnswer(f"No row has the label {text!r}; please answer with one of {names}, or no.")
        if seen.is_text:
            return text
        try:
            return int(text)
        except ValueError:
            raise InvalidAnswer("The labels are numbers; please answer with a whole number, or no.") from None

    return read


def read_place(allowed: tuple[str, ...] = ()) -> Callable[[str, DialogueAnswers], str | None]:
    """Reads the name of a file to write, or no."""

    def read(text: str, answers: DialogueAnswers) -> str | None:
        if text.lower() in ("no", "none", "n"):
            return None
        path = os.path.expanduser(text)
        if not Path(path).absolute().parent.is_dir():
            raise InvalidAnswer(f"The folder of {path} does not exist; name a file in one that does, or answer no.")
        if Path(path).is_dir():
            raise InvalidAnswer(f"{path} is a folder; name a file, or answer no.")
        if allowed and Path(path).suffix.lower() not in allowed:
            raise InvalidAnswer(f"The name must end in {', '.join(allowed)}; or answer no.")
        return path

    return read
