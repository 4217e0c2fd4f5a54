"""The meaning of the answers so far, and possible answers to the four questions."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from .. import registry
from .._figures import listed, percent, quoted, unmarked
from ..training import Look
from ._data_file import DataFile, leaking_columns
from ._dialogue import DialogueAnswers, InvalidAnswer, Option

_MOST_LISTED = 20  # labels, or columns of words
AUTOMATIC: str = "automatic"


def named(about: Mapping[str, str]) -> list[Option]:
    """Options that are called like their values."""
    return [Option(name, name, text) for name, text in about.items()]


def automatic(about: str) -> Option:
    return Option(AUTOMATIC, None, about)


# --- the answers so far -----------------------------------------------------------------------------------------------


def file_of(answers: DialogueAnswers) -> DataFile:
    return answers.data(answers["file"])


def left_out(answers: DialogueAnswers) -> list[str]:
    """Columns that are not to be used."""
    return [*(answers.get("drop") or ()), *(leaks(answers)[1] if answers.get("leaks") else ())]


def reading_of(answers: DialogueAnswers) -> dict[str, Any]:
    """The options of ``open_stream`` that the answers stand for, without the target."""
    return _reading(answers, left_out(answers))


def _reading(answers: DialogueAnswers, drop: list[str]) -> dict[str, Any]:
    options = {name: answers.get(name) for name in ("decimal", "date", "text_columns", "skip_malformed", "columns")}
    return {name: value for name, value in (options | {"drop": drop}).items() if value}


def look_at(answers: DialogueAnswers) -> Look:
    """The first rows of the file, with the target that was named."""
    return file_of(answers).look(answers.get("target"), reading_of(answers))


def has_target(answers: Mapping[str, Any]) -> bool:
    return answers.get("target") is not None


def task_of(answers: DialogueAnswers) -> str:
    """The task that the answers so far describe."""
    if not has_target(answers):
        return "clustering"
    task: str = answers.get("task") or look_at(answers).task
    return task


def has_words(answers: DialogueAnswers) -> bool:
    """Whether a table has words to learn from, besides the target."""
    return has_target(answers) and bool(file_of(answers).words(answers["target"], reading_of(answers)))


# --- the four questions -----------------------------------------------------------------------------------------------


def read_file(text: str, answers: DialogueAnswers) -> str:
    path = os.path.expanduser(text)
    if not path:
        raise InvalidAnswer("Please name a file.")
    try:
        answers.data(path)
    except (OSError, ValueError) as problem:
        raise InvalidAnswer(f"This file cannot be read: {problem}") from None
    return path


def columns(answers: DialogueAnswers) -> list[Option]:
    return [Option(name, [name]) for name in file_of(answers).columns]


def _column(text: str, names: Sequence[str], begun: bool = True) -> str | None:
    """The column of a name, of a number from 1 on, or the only one that is called, or begins, like this."""
    if text in names:
        return text
    if text.isdigit() and 1 <= int(text) <= len(names):
        return names[int(text) - 1]
    alike = [name for name in names if name.lower() == text.lower()]
    alike = alike or [name for name in names if begun and text and name.lower().startswith(text.lower())]
    return alike[0] if len(alike) == 1 else None


def read_column(text: str, answers: DialogueAnswers) -> str:
    names = file_of(answers).columns
    column = _column(text, names)
    if column is None:
        raise InvalidAnswer(f"Please answer with the name of a column or with its number from 1 to {len(names)}.")
    return column


def read_columns(text: str, answers: DialogueAnswers) -> list[str]:
    """Columns between commas, which names may hold, too."""
    names, parts, found = file_of(answers).columns, text.split(","), []
    if text.lower() in ("no", "none") and text not in names:
        return []
    while parts:
        n_joined = next((n for n in range(len(parts), 1, -1) if ",".join(parts[:n]).strip() in names), 1)
        word, parts = ",".join(parts[:n_joined]).strip(), parts[n_joined:]
        column = _column(word, names, begun=False)
        if column is None:
            raise InvalidAnswer(f"There is no column {word!r}; please answer with names between commas, or none.")
        found.append(column)
    return list(dict.fromkeys(found))


def write_columns(names: Sequence[str]) -> str:
    return ", ".join(names) or "none"


def check_left_out(names: list[str], answers: DialogueAnswers) -> None:
    if len(file_of(answers).columns) - len(names) < 1:
        raise InvalidAnswer("No column would be left; please leave out fewer of them.")


def targets(answers: DialogueAnswers) -> list[Option]:
    """The columns that may be predicted, and none."""
    nothing = "nothing: similar rows are put into groups"
    if not file_of(answers).is_table:
        return [Option("labels", "labels", "the labels that come with the rows"), Option("none", None, nothing)]
    names = [name for name in file_of(answers).columns if name not in left_out(answers)]
    return [*(Option(name, name) for name in names), Option("nothing" if "none" in names else "none", None, nothing)]


def usual_target(answers: DialogueAnswers) -> str | None:
    file = file_of(answers)
    names = [option.value for option in targets(answers) if option.value is not None]
    if file.is_table and len(names) < 2:  # nothing would be left to learn from
        return None
    return file.usual_target if file.is_table and file.usual_target in names else names[-1]


def check_target(target: str | None, answers: DialogueAnswers) -> None:
    """Refuse a target from which nothing can be learned."""
    if target is None:
        return
    if target in left_out(answers):
        raise InvalidAnswer(f"{target} is left out; name another column, or go back.")
    try:
        seen = file_of(answers).look(target, reading_of(answers))
    except ValueError as problem:
        raise InvalidAnswer(f"This column cannot be predicted: {problem}") from None
    n_labels = None if seen.labels is None else len(seen.labels)
    other = "name another column, or none"
    if seen.is_text and (n_labels is None or seen.hardly_repeats):
        raise InvalidAnswer(f"{target} is different in nearly every row, so it cannot be predicted; {other}.")
    if n_labels == 1:
        raise InvalidAnswer(f"{target} is the same in every row, so there is nothing to learn; {other}.")


def leaks(answers: DialogueAnswers) -> tuple[str, list[str]]:
    """Describe columns that predict the target on their own, and return them; none if no others would be left."""
    file, target = file_of(answers), answers.get("target")
    if target is None or not file.is_table:
        return "", []
    drop = list(answers.get("drop") or ())
    says, names = leaking_columns(file, target, _reading(answers, drop))
    n_others = len(file.columns) - 1 - len(drop) - len(names)
    return (says, names) if n_others > 0 else ("", [])


def about_leaks(answers: DialogueAnswers) -> str:
    return leaks(answers)[0].partition(";")[0] + "."


def has_doubts(parameter: str) -> Callable[[DialogueAnswers], bool]:
    return lambda answers: bool(_doubts(answers, parameter))


def _doubts(answers: DialogueAnswers, parameter: str) -> dict[str, Any]:
    return file_of(answers).doubts(parameter, list(answers.get("drop") or ()))


def about_doubt(parameter: str) -> Callable[[DialogueAnswers], str]:
    def text(answers: DialogueAnswers) -> str:
        name, found = next(iter(_doubts(answers, parameter).items()))
        return f"What is {found.in_doubt} in the column {quoted(name)}?"

    return text


def other_columns_in_doubt(parameter: str) -> Callable[[DialogueAnswers], str]:
    """A sentence on the columns for which an answer holds."""

    def text(answers: DialogueAnswers) -> str:
        others = [quoted(name) for name in _doubts(answers, parameter)][1:]
        also = f" The answer holds for {listed(others)}, too." if others else ""
        return f"It can be read in two ways, and no other value tells which.{also}"

    return text


def ways_to_read(parameter: str) -> Callable[[DialogueAnswers], list[Option]]:
    def options(answers: DialogueAnswers) -> list[Option]:
        name, found = next(iter(_doubts(answers, parameter).items()))
        ways = file_of(answers).readings(parameter, name, found)
        return [Option(what, way or None) for what, way in ways]

    return options


def about_words(answers: DialogueAnswers) -> str:
    return " ".join(f"{found.doubt}." for found in _doubts(answers, "text_columns").values())


def doubtful_words(answers: DialogueAnswers) -> list[Option]:
    return [Option(name, [name]) for name in _doubts(answers, "text_columns")]


def n_malformed(answers: DialogueAnswers) -> str:
    """Sentences on lines that cannot be read, and on the first of them; empty if there are none."""
    found = file_of(answers).profile(file_of(answers).usual_target)
    says = next((each.says for each in found.warnings if each.kind == "skipped"), "")
    count, _, first = says.partition(" (the first: ")
    reason = first.partition("; if ")[0].removesuffix(")")
    return says and f"{count.partition(';')[0]}." + (f" The first: {reason}." if reason else "")


def has_classes(answers: DialogueAnswers) -> bool:
    return task_of(answers) == "classification" and len(look_at(answers).labels or ()) > 1


def _rarest(answers: DialogueAnswers) -> tuple[Any, float]:
    """The rarest class, and its share of the rows looked at."""
    seen = look_at(answers)
    counts = [(int((seen.y == label).sum()), place) for place, label in enumerate(seen.labels or ())]
    count, place = min(counts)
    return (seen.labels or [])[place], count / max(1, seen.n_labelled)


def about_cost(answers: DialogueAnswers) -> str:
    label, share = _rarest(answers)
    rows = f"{percent(share)} of the rows are {quoted(label)}."
    if len(look_at(answers).labels or ()) == 2:
        return f"{rows} If it is as bad to miss one of them as to raise ten false alarms, answer 10. Otherwise:"
    return f"{rows} If some classes matter more, answer with costs such as {label}=5. Otherwise:"


COSTS: list[Option] = [
    automatic("every mistake the same, or every class if one of two is rare"),
    Option("same", "error", "every mistake costs the same, also where a class is rare"),
    Option("classes", "balanced_error", "every class counts the same, however rare it is"),
]


def read_cost(text: str, answers: DialogueAnswers) -> dict[Any, float]:
    """A number for the rarer of two classes, or costs by class."""
    labels = {str(label): label for label in look_at(answers).labels or ()}
    example = f"such as {_rarest(answers)[0]}=5"
    if "=" not in text:
        if len(labels) > 2:
            raise InvalidAnswer(f"Please answer with costs by class, {example}, or with one of the words.")
        return {_rarest(answers)[0]: _price(text, f"a number, or costs by class, {example}")}
    found = {}
    for part in text.split(","):
        label, _, price = part.rpartition("=")
        if label.strip() not in labels:
            known = ", ".join([*labels][:_MOST_LISTED])
            raise InvalidAnswer(f"There is no class {label.strip()!r}; the classes are {known}.")
        found[labels[label.strip()]] = _price(price, f"a number behind each class, {example}")
    return found


def _price(text: str, expected: str) -> float:
    try:
        price = float(text)
    except ValueError:
        price = 0.0
    if not 0 < price < float("inf"):
        raise InvalidAnswer(f"Please answer with {expected}; a cost is above 0.")
    return int(price) if price.is_integer() else price


def write_cost(cost: Mapping[Any, float]) -> str:
    return ", ".join(f"{label}={value:g}" for label, value in cost.items())


_UNITS = {"": 1, "s": 1, "sec": 1, "second": 1, "m": 60, "min": 60, "minute": 60, "h": 3600, "hour": 3600}


def read_seconds(text: str, answers: DialogueAnswers) -> float:
    """A time such as 90, 90 s, 5 min or 1 h, in seconds."""
    match = re.fullmatch(r"(\d+(?:[.,]\d+)?)\s*([a-z]*?)s?", text.lower())
    unit = _UNITS.get(match[2]) if match is not None else None
    seconds = 0.0 if match is None or unit is None else float(match[1].replace(",", ".")) * unit
    if not seconds > 0:
        raise InvalidAnswer("Please answer with a time such as 30 s, 5 min or 1 h.")
    return int(seconds) if seconds.is_integer() else seconds


def write_seconds(seconds: float) -> str:
    return f"{seconds:g} s"


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


def usual_shape(answers: Mapping[str, Any] | None = None) -> str:
    """The method of clustering that is used if none is asked for."""
    return ranked_shapes()[0][1]


def ranked_shapes() -> list[tuple[str, str, str]]:
    """Methods of clustering by the shape of the clusters that they find, in the order of their ranks: the shape, the
    method, and a few words."""
    ranked = []
    for method in registry.methods("clustering", needs=()):
        good = next((good for good in method.advice.good_for if good.aim), None)
        name, about = (good.aim, good.why) if good is not None else (method.name, first_words(method))
        ranked.append((good is None, 0 if good is None else good.rank, name, method.name, about))
    return [(name, method, about) for _, _, name, method, about in sorted(ranked)]


def first_words(method: registry.Method) -> str:
    return unmarked(method.summary).partition(";")[0].rstrip(".")
