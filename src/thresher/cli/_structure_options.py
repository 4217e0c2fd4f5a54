"""``--groups`` and ``--task-column``: columns that belong together, and the task of each row."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import click

from ._options import NO_COLUMN, Column, grouped, option

_FORMS = '"prefix:" and a separator, "encoder", JSON lists, or a file of groups'


structure_options = grouped(
    option(
        "--groups",
        None,
        "Columns that belong together: prefix:= (by the part of their names before =), encoder (the "
        "features of each text column), JSON lists of columns, or a file: .json, or one group per line.",
        metavar="VALUE",
    ),
    option(
        "--task-column",
        Column(),
        "Tables: the column with the task of each row, if there are several tasks; by name or number.",
    ),
)


# --- which methods ----------------------------------------------------------------------------------------------------


def check_structure(method: Any, given: dict[str, Any]) -> None:
    """Refuse groups and tasks for methods that do not support them, and methods of tasks without a task column."""
    from .. import registry

    if given["groups"] is not None and "groups" not in method.defaults:
        names = ", ".join(m.name for m in registry.methods() if "groups" in m.defaults)
        raise click.UsageError(f"{method.name} takes no --groups; these methods do: {names}.")
    if given["task_column"] == NO_COLUMN:
        given["task_column"] = None
    if given["task_column"] is not None and "tasks" not in method.needs:
        names = ", ".join(m.name for m in registry.methods() if "tasks" in m.needs)
        raise click.UsageError(f"{method.name} takes no --task-column; these methods do: {names}.")
    if given["task_column"] is None and "tasks" in method.needs:
        raise click.UsageError(f"{method.name} needs the task of each row; name its column with --task-column.")


# --- which columns ----------------------------------------------------------------------------------------------------


class TableColumns:
    """The columns of a stream as users name them."""

    def __init__(self, stream: Any) -> None:
        layout = stream.layout()
        self.where = stream.path.name
        self.is_table = "columns" in layout
        self.target: str | None = layout.get("target")
        self.features: list[str] = list(layout.get("columns") or ())
        self.all: list[str] = list(stream.columns or ())

    def task(self, given: int | str | None) -> str | None:
        """The name of the column of tasks."""
        if given is None:
            return None
        if not self.is_table:
            raise ValueError(f"{self.where}: --task-column needs a table, such as CSV or Parquet.")
        name = self._name(given, "--task-column")
        if name not in self.features:
            what = "is the target" if name == self.target else "is dropped"
            raise ValueError(f"{self.where}: --task-column {given!r} {what}; name another column.")
        return name

    def _name(self, given: int | str, option: str) -> str:
        if isinstance(given, int):
            if not -len(self.all) <= given < len(self.all):
                raise ValueError(f"{self.where}: {option} must be below the {len(self.all)} columns, got {given}.")
            return self.all[given]
        if given not in self.all:
            shown = ", ".join(self.all[:20]) + (", ..." if len(self.all) > 20 else "")
            raise ValueError(f"{self.where}: {option}: there is no column {given!r}; the columns are {shown}.")
        return given

    def groups(self, text: str | None) -> Any:
        """Groups as the methods take them: columns of a table by their names, those of sparse rows by number."""
        groups = None if text is None else typed_groups(text)
        if isinstance(groups, str) and not self.is_table:
            raise ValueError(f"{self.where}: --groups {text} needs a table; sparse rows take lists of numbers.")
        if groups is None or isinstance(groups, str):
            return groups
        if isinstance(groups, list) and not any(isinstance(each, list) for each in groups):
            return self._from_labels(groups)
        if isinstance(groups, dict):
            return {str(name): self._members(group) for name, group in groups.items()}
        return [self._members(group) for group in groups]

    def named_width(self, groups: Any) -> int:
        """The number of columns of sparse rows that groups speak of; 0 for tables, which have all columns anyway."""
        lists = list(groups.values()) if isinstance(groups, dict) else groups
        if self.is_table or not isinstance(lists, list) or not lists:
            return 0
        return len(lists) if not isinstance(lists[0], list) else 1 + max(j for group in lists for j in group)

    def _members(self, group: Any) -> list[Any]:
        if not isinstance(group, list) or not group:
            raise ValueError(f"--groups must hold lists of columns, got {group!r:.60}.")
        return [self._member(each) for each in group]

    def _member(self, column: Any) -> Any:
        if isinstance(column, bool) or not isinstance(column, (int, str)):
            raise ValueError(f"--groups must hold columns by number or name, got {column!r:.60}.")
        if self.is_table:
            name = self._name(column, "--groups") if isinstance(column, int) else column
            if name == self.target:
                raise ValueError(f"--groups must hold columns to learn from, but {name!r} is the target.")
            return name
        if isinstance(column, str):
            counted = re.fullmatch(r"x([1-9]\d*)", column)  # as reports call them
            if counted is None:
                raise ValueError(
                    f"--groups: columns of {self.where} are numbers from 0, or x1, x2, ...; got {column!r}."
                )
            return int(counted[1]) - 1
        return column

    def _from_labels(self, labels: list[Any]) -> Any:
        """One label per column; columns with the same one belong together."""
        if not self.is_table:
            return labels
        if len(labels) != len(self.features):
            raise ValueError(
                f"--groups must have one label for each of the {len(self.features)} columns beside the target, "
                f"got {len(labels)}."
            )
        groups: dict[str, list[str]] = {}
        for label, name in zip(labels, self.features, strict=True):
            if label not in ("", -1, None):
                groups.setdefault(str(label), []).append(name)
        return groups


def typed_groups(text: str) -> Any:
    """The groups that ``--groups`` names, columns as they were written."""
    if text == "encoder" or (text.startswith("prefix:") and text != "prefix:"):
        return text
    if text[:1] in ("[", "{"):
        return _from_json(text, "--groups")
    path = Path(text)
    if not path.is_file():
        raise click.UsageError(f"--groups must be {_FORMS}, got {text!r}, which is not a file.")
    content = path.read_text(encoding="utf-8", errors="replace")
    if path.suffix.lower() == ".json":
        return _from_json(content, path.name)
    lines = [line.strip() for line in content.splitlines()]
    return [_columns_in(line) for line in lines if line and not line.startswith("#")]


def _from_json(text: str, where: str) -> Any:
    try:
        groups = json.loads(text)
    except (json.JSONDecodeError, RecursionError) as problem:
        raise click.UsageError(f"{where}: not JSON, {problem}.") from None
    if not isinstance(groups, (list, dict)):
        raise click.UsageError(f"{where}: groups must be lists of columns, an object of such lists, or labels.")
    return groups


def _columns_in(line: str) -> list[int | str]:
    """Columns between commas, or between blanks where there are no commas."""
    words = [word.strip() for word in line.split(",")] if "," in line else line.split()
    return [int(word) if word.isdigit() else word for word in words if word]


# --- what follows -----------------------------------------------------------------------------------------------------


def late_words(model: Any) -> str:
    """A remark on words that came too late for their groups: these are settled with the first batch."""
    steps = dict(getattr(model, "steps", ()))
    learner, encoder = steps.get("learn"), steps.get("encode")
    if learner is None or encoder is None or getattr(learner, "groups", None) != "encoder":
        return ""
    origins = encoder.groups_
    late = sum(origins[j] != "" for j in learner.groups_.alone.tolist())
    if not late:
        return ""
    what = "word was" if late == 1 else "words were"
    return f"{late:,} {what} not in the first batch and belong to no group; a larger --batch-size groups more of them."


def penalty_of(model: Any) -> str:
    """The penalty that a learner has chosen itself."""
    learner = model.steps[-1][1] if hasattr(model, "steps") else model
    chosen = hasattr(learner, "penalty_") and getattr(learner, "alpha", None) == "auto"
    return f"alpha = {learner.penalty_:.4g}" if chosen else ""
