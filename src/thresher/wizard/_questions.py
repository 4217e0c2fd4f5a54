"""The questions, in order: what is in the file, what is wanted, how to learn it and how long to search."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any

from .. import registry
from .._auto import CRITERIA
from ._dialogue import Answers, Option, Question, Wrong
from ._file import File, Known

_MOST_LISTED = 20  # columns
AUTOMATIC = "automatic"
_YES_NO = (Option("yes", True), Option("no", False))

_ABOUT_LOSSES = {
    "hinge": "the support vector machine: right by a margin is enough",
    "squared_hinge": "like hinge, but large mistakes count much more",
    "pinball": "like hinge, and less disturbed by noise around the boundary",
    "logistic": "logistic regression: how likely is each class?",
    "modified_huber": "a softer squared hinge: single wild rows count less",
    "squared": "least squares: distances from the target, squared",
    "epsilon_insensitive": "small errors are free, others count by their size",
    "quantile": "estimates the median instead of the mean",
}
_ABOUT_KERNELS = {
    "rbf": "bell-shaped: smooth boundaries of any form; the usual choice",
    "polynomial": "products of columns: curved boundaries",
    "cosine": "by direction, whatever the size of the values: counts of words",
    "linear": "straight boundaries after all, on fewer features",
}
_ABOUT_SEARCHES = {
    "annealing": "coupled simulated annealing: several walkers share what they find",
    "directed": "directed search: step by step from the middle, downhill",
    "random": "random points",
}


def _file(data: Known, answers: Answers) -> File:
    return data.file(answers["file"])


def task_of(answers: Answers) -> str:
    """The task that the answers so far describe."""
    if not answers["has_target"]:
        return "clustering"
    return "classification" if answers["classification"] else "regression"


def _always(text: str) -> Any:
    return lambda data, answers: text


# --- reading answers --------------------------------------------------------------------------------------------------


def _read_file(text: str, data: Known, answers: Answers) -> str:
    path = os.path.expanduser(text)
    if not path:
        raise Wrong("Please name a file.")
    try:
        data.file(path)
    except (OSError, ValueError) as problem:
        raise Wrong(f"This file cannot be read: {problem}") from None
    return path


def _read_column(text: str, data: Known, answers: Answers) -> str:
    columns = _file(data, answers).columns
    if text in columns:
        return text
    if text.isdigit() and 1 <= int(text) <= len(columns):
        return columns[int(text) - 1]
    raise Wrong(f"Please answer with the name of a column or with its number from 1 to {len(columns)}.")


def _read_count(least: int, what: str) -> Any:
    def read(text: str, data: Known, answers: Answers) -> int:
        if not text.isdigit() or int(text) < least:
            raise Wrong(f"Please answer with {what}: a whole number of at least {least}.")
        return int(text)

    return read


def _read_clusters(text: str, data: Known, answers: Answers) -> int | None:
    if text.lower() == AUTOMATIC:
        return None
    if not text.isdigit() or int(text) < 2:
        raise Wrong(f"Please answer with a whole number of at least 2, or with {AUTOMATIC}.")
    return int(text)


def _read_place(suffix: str, allowed: tuple[str, ...] = ()) -> Any:
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


def _columns(data: Known, answers: Answers) -> list[Option]:
    columns = _file(data, answers).columns
    return [Option(name, name) for name in columns] if len(columns) <= _MOST_LISTED else []


def methods_for(answers: Answers) -> list[registry.Method]:
    """Methods that fit what was answered so far and need nothing else."""
    loss = answers.get("loss")
    given = {"groups": answers.get("groups"), "tasks": answers.get("tasks")}
    needs = {name for name, value in given.items() if value is not None}
    return [
        method
        for method in registry.methods()
        if method.task == task_of(answers) and set(method.needs) == needs and (loss is None or loss in method.losses)
    ]


def _losses(data: Known, answers: Answers) -> list[Option]:
    names = dict.fromkeys(loss for method in methods_for({**answers, "loss": None}) for loss in method.losses)
    known = [Option(name, name, _ABOUT_LOSSES.get(name, "")) for name in names]
    return [Option(AUTOMATIC, None, "what each method likes best"), *known]


def _criteria(data: Known, answers: Answers) -> list[Option]:
    task = task_of(answers)
    about = "errors; those of rare classes count more where they are rare" if task == "classification" else "the first"
    return [Option(AUTOMATIC, None, about), *(Option(name, name, said) for name, said in CRITERIA[task].items())]


def _algorithms(data: Known, answers: Answers) -> list[Option]:
    known = [Option(method.name, method.name, _plain(method.summary)) for method in methods_for(answers)]
    return [Option(AUTOMATIC, None, "the ones that suit the data are compared"), *known]


def _plain(summary: str) -> str:
    """The first sentence of a docstring without its markup."""
    return re.sub(r":\w+:`~?(?:[\w.]*\.)?(\w+)`|``([^`]*)``", r"\1\2", summary).partition(";")[0].rstrip(".")


def _may_have_tasks(data: Known, answers: Answers) -> bool:
    """Tasks have two classes, or amounts."""
    if not answers["classification"]:
        return True
    return len(_file(data, answers).look(answers.get("target")).labels or ()) == 2


def _read_task_column(text: str, data: Known, answers: Answers) -> str:
    column = _read_column(text, data, answers)
    if column == answers.get("target"):
        raise Wrong(f"{column} is what is to be predicted; please name another column, or answer no.")
    return column


def _task_columns(data: Known, answers: Answers) -> list[Option]:
    words = _file(data, answers).words(answers.get("target"))
    return [Option("no", None, "one model for all rows"), *(Option(name, name) for name in words[:_MOST_LISTED])]


def _read_groups(text: str, data: Known, answers: Answers) -> Any:
    """Groups as they are typed: columns between commas, groups between semicolons."""
    if text.startswith("prefix:") and text != "prefix:":
        return text
    groups = [[name.strip() for name in part.split(",") if name.strip()] for part in text.split(";") if part.strip()]
    known = [name for name in _file(data, answers).columns if name != answers.get("target")]
    wrong = next((name for group in groups for name in group if name not in known), None)
    how = "names of columns between commas, groups between semicolons, such as: age, income; town"
    if not groups:
        raise Wrong(f"Please answer with {how}.")
    if wrong is not None:
        raise Wrong(f"There is no column {wrong!r} to learn from; please answer with {how}.")
    return groups


def _write_groups(groups: Any) -> str:
    return groups if isinstance(groups, str) else "; ".join(", ".join(group) for group in groups)


def _has_words(data: Known, answers: Answers) -> bool:
    """Whether a table has words to learn from, besides the target."""
    return bool(answers["has_target"] and _file(data, answers).words(answers.get("target")))


# --- the questions ----------------------------------------------------------------------------------------------------


def _about_target(data: Known, answers: Answers) -> str:
    seen = _file(data, answers).look(answers.get("target"))
    labels = seen.labels or []
    if seen.labels is not None and len(labels) <= 10:
        return f"In the first {seen.n_rows:,} rows it is one of: {', '.join(map(str, labels))}."
    many = f"{len(labels):,}" if seen.labels is not None else "more than a thousand"
    return f"In the first {seen.n_rows:,} rows it takes {many} different values."


QUESTIONS: tuple[Question, ...] = (
    Question(
        "file",
        _always("Which file holds the data?"),
        _always("A table (CSV, Parquet, Arrow) with one row per case, or sparse rows (svmlight); may be compressed."),
        "Each row is one thing that was observed: a customer, a text, a measurement. Columns hold numbers or words.",
        default=lambda data, answers: None,
        parse=_read_file,
    ),
    Question(
        "has_target",
        _always("Does the file say what you would like to predict?"),
        _always("If there is nothing to predict, rows that are alike are grouped instead."),
        "A model learns from rows where the answer is known, and then predicts it for rows where it is not. Without "
        "answers, rows can still be put into groups (clusters).",
        default=lambda data, answers: True,
        options=lambda data, answers: _YES_NO,
    ),
    Question(
        "target",
        _always("Which column is to be predicted?"),
        lambda data, answers: f"The file has {len(_file(data, answers).columns)} columns.",
        "All other columns are what the prediction is made from. Columns are called by name, or counted from 1.",
        default=lambda data, answers: _file(data, answers).columns[-1],
        options=_columns,
        parse=_read_column,
        when=lambda data, answers: answers["has_target"] and _file(data, answers).is_table,
    ),
    Question(
        "classification",
        _always("Is it a class, such as spam or ham, rather than an amount?"),
        _about_target,
        "Classes have no order (yes or no; red, green or blue). Amounts do: a price, a temperature.",
        default=lambda data, answers: _file(data, answers).look(answers.get("target")).task == "classification",
        options=lambda data, answers: _YES_NO,
        when=lambda data, answers: answers["has_target"],
    ),
    Question(
        "tasks",
        _always("Do rows belong to several related tasks? Which column says to which?"),
        _always("Schools, customers, machines: each gets weights of its own, and all choose the same columns."),
        "What one task has seen too little of is learned from the others. Answer with the name of the column, or no.",
        default=lambda data, answers: None,
        options=_task_columns,
        parse=_read_task_column,
        when=lambda data, answers: _has_words(data, answers) and _may_have_tasks(data, answers),
        by_name_only=True,
    ),
    Question(
        "groups",
        _always("Do some columns belong together, to be used or left out together?"),
        _always("words: those of each column; or names between commas, groups between semicolons: age, income; town."),
        "A group is used as a whole or not at all. prefix:_ puts columns together whose names agree up to the sign.",
        default=lambda data, answers: None,
        options=lambda data, answers: (
            Option("no", None, "every column counts on its own"),
            Option("words", "encoder", "the words of each column are a group"),
        ),
        parse=_read_groups,
        spell=_write_groups,
        when=lambda data, answers: _has_words(data, answers) and answers.get("tasks") is None,
        by_name_only=True,
    ),
    Question(
        "loss",
        _always("Which loss: how is a mistake charged while learning?"),
        _always("If in doubt, leave it to the method."),
        "The loss is what learning makes small. It decides how much a row counts that is far on the wrong side.",
        default=lambda data, answers: None,
        options=_losses,
        when=lambda data, answers: answers["has_target"],
    ),
    Question(
        "criterion",
        _always("By which measure are models compared?"),
        _always("Each model is measured on rows that it has not learned from (cross-validation)."),
        "The search keeps the model that is best by this measure.",
        default=lambda data, answers: None,
        options=_criteria,
        when=lambda data, answers: answers["has_target"],
    ),
    Question(
        "clusters",
        _always("How many clusters?"),
        _always(f"A whole number, or {AUTOMATIC}: as many as keep the groups well apart."),
        "Rows of one cluster are more alike than rows of different ones.",
        default=lambda data, answers: None,
        nothing=AUTOMATIC,
        parse=_read_clusters,
        when=lambda data, answers: not answers["has_target"],
    ),
    Question(
        "metric",
        _always("What makes two rows alike?"),
        _always("Distance suits measurements, direction suits counts such as words in texts."),
        "Two texts about the same thing point in the same direction, though one may be much longer.",
        default=lambda data, answers: "euclidean",
        options=lambda data, answers: (
            Option("euclidean", "euclidean", "a small distance (least squares)"),
            Option("cosine", "cosine", "the same direction"),
        ),
        when=lambda data, answers: not answers["has_target"],
    ),
    Question(
        "iterations",
        _always("How many rounds of moving the clusters at most?"),
        _always("It stops earlier when nothing moves any more."),
        "In each round every row joins the nearest cluster, and every cluster moves to the middle of its rows.",
        default=lambda data, answers: 20,
        parse=_read_count(1, "the number of rounds"),
        when=lambda data, answers: not answers["has_target"],
    ),
    Question(
        "nystroem",
        _always("Should boundaries be allowed to bend (Nystroem features)?"),
        _always("Bent ones fit more, cost more time, and hide which columns matter."),
        "Rows are compared with a few typical rows of the data, and these similarities become the features of a linear "
        "model. Straight boundaries are enough for wide data, and their weights can be read.",
        default=lambda data, answers: None if answers["has_target"] else False,
        options=lambda data, answers: (
            *([Option(AUTOMATIC, None, "only if that is clearly better")] if answers["has_target"] else []),
            *_YES_NO,
        ),
        when=lambda data, answers: answers.get("tasks") is None and answers.get("groups") is None,
    ),
    Question(
        "kernel",
        _always("Which kernel: how are two rows compared?"),
        _always("If in doubt, rbf."),
        "The kernel says how alike two rows are; its width is tuned together with the rest.",
        default=lambda data, answers: "rbf",
        options=lambda data, answers: [Option(name, name, about) for name, about in _ABOUT_KERNELS.items()],
        when=lambda data, answers: answers.get("nystroem") is True,
    ),
    Question(
        "algorithm",
        _always("Which algorithm?"),
        _always("Those that fit your answers so far."),
        "`thresher methods` on the command line tells more about each of them.",
        default=lambda data, answers: None,
        options=_algorithms,
        when=lambda data, answers: len(methods_for(answers)) > 1,
    ),
    Question(
        "search",
        _always("How to search for good parameters?"),
        _always("Annealing looks around widely and then refines."),
        "Every method has one or two numbers, such as the strength of a penalty, that nobody knows beforehand.",
        default=lambda data, answers: "annealing",
        options=lambda data, answers: [Option(name, name, about) for name, about in _ABOUT_SEARCHES.items()],
    ),
    Question(
        "budget",
        _always("How many models may be tried?"),
        _always("More take longer and find better parameters; 50 is a fair start."),
        "Each try is one cross-validation: the data are learned several times, each time without another part.",
        default=lambda data, answers: 50,
        parse=_read_count(1, "the number of tries"),
    ),
)

LAST_QUESTIONS: tuple[Question, ...] = (
    Question(
        "model",
        _always("Where should the model be saved?"),
        lambda data, answers: f"A file name such as {data}.thresher; ENTER saves nothing.",
        "`thresher predict` and thresher.persistence.load_model read it again; yes takes the suggested name.",
        default=lambda data, answers: None,
        nothing="no",
        parse=_read_place(".thresher"),
    ),
    Question(
        "report",
        _always("Where should a report be saved?"),
        lambda data, answers: f"A file name such as {data}.html (or .txt, .json); ENTER saves nothing.",
        "It shows the measures, the features that matter and how to do it again; yes takes the suggested name.",
        default=lambda data, answers: None,
        nothing="no",
        parse=_read_place(".html", (".html", ".txt", ".json")),
    ),
)
