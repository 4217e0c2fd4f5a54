"""One method on some files: opened and looked at once, checked, and the model that is to learn from them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import click

from ._method_options import method_params
from ._options import files, stream_options
from ._phrases import command_line, essential, typed
from ._screen import Screen
from ._structure_options import TableColumns


class TrainingJob:
    """The files of a command, a method, and the first look at the files: `seen`.

    `given` holds the options of the command, `options` the keyword arguments of ``open_stream``, and `params` those of
    the estimator once it is made.
    """

    def __init__(
        self, data: tuple[str, ...], method: Any, given: dict[str, Any], screen: Screen, **look_options: Any
    ) -> None:
        from ..streams import open_stream
        from ..training import look

        self.method, self.given, self.screen = method, given, screen
        self.paths = files(data)
        self.options = stream_options(data, given, method.task, method)
        self.stream = open_stream(self.paths, **self.options)
        self.seen = look(self.stream, **look_options)
        self.n_skipped = self.stream.n_skipped

    def make_model(self, class_weight: Callable[[Any], Any] | None = None) -> Any:
        """Make the estimator, behind the steps that the rows need; `class_weight` makes weights by label of the option.
        Sparse rows are read as wide as groups of columns ask for."""
        from ..preprocessing import prepared

        method, given, seen = self.method, self.given, self.seen
        params = method_params(given, method, seen)
        columns = TableColumns(self.stream)
        task_column = columns.task(given["task_column"])
        params |= self._groups(columns)
        if "n_features" not in self.options and (named := columns.named_width(params.get("groups"))):
            self.options["n_features"] = max(named, seen.n_features)
            self.stream = self.stream.replace(n_features=self.options["n_features"])
        if "random_state" in method.cls._param_rules:
            params["random_state"] = given["random_state"]
        if class_weight is not None and "class_weight" in params:
            params["class_weight"] = class_weight(params["class_weight"])
        self.params = params
        steps = {"scale": given["scale"], "categories": given["categories"], "task_column": task_column}
        return prepared(method.cls(**params), seen.first, **steps)

    def _groups(self, columns: TableColumns) -> dict[str, Any]:
        """The groups of columns, given or usual, as a parameter of the method."""
        from .._gate import Table

        if "groups" not in self.method.defaults:
            return {}
        groups, first = columns.groups(self.given["groups"]), self.seen.first
        if groups is not None:
            return {"groups": groups}
        if not isinstance(first, Table) or not first.text or self.given["categories"] != "onehot":
            self.screen.remark("Without --groups every column is a group of its own.")
            return {}
        words = ", ".join(list(first.text)[:5]) + (", ..." if len(first.text) > 5 else "")
        self.screen.remark(f"The words of a column are one group: {words} (--groups tells others).")
        return {"groups": "encoder"}

    def rows(self, max_rows: int | None = None) -> tuple[Any, Any]:
        """All rows in memory, or an even sample of at least `max_rows`: those of the look, if it kept them."""
        from ..training import read_all

        kept = self.seen.rows
        if kept is not None and kept[0].shape[1] >= self.options.get("n_features", 0):
            return kept
        rows = read_all(self.stream, max_rows)
        self.n_skipped = self.stream.n_skipped
        return rows

    def record(self, python: str, **more: Any) -> dict[str, Any]:
        """The facts about a run that are kept with its model."""
        return record_of(self.stream, self.options, python) | more


def record_of(stream: Any, options: dict[str, Any], python: str) -> dict[str, Any]:
    """The facts that a model needs to read other files like its own, and the command and Python that made it."""
    return {
        "layout": stream.layout(),
        "stream": {name: value for name, value in options.items() if name in ("delimiter", "header", "format")},
        "command": command_line(essential(typed())),
        "python": python,
    }


def typed_classes(text: str | None) -> tuple[list[Any] | None, int | None]:
    """Labels, or how many there are."""
    if text is None:
        return None, None
    parts = [part.strip() for part in text.split(",")]
    if len(parts) == 1:
        if not parts[0].isdigit() or int(parts[0]) < 2:
            raise click.UsageError(f"--classes must be a number of at least 2, or labels such as no,yes, got {text!r}.")
        return None, int(parts[0])
    return parts, None


def check_task(method: Any, seen: Any, wanted: list[Any] | None, count: int | None, name: str) -> list[Any] | None:
    """The classes, for a classifier; data that do not suit the method are refused."""
    if method.task == "clustering":
        return None
    if seen.y is None:
        raise ValueError(f"{name}: no target column; name one with --target.")
    if method.task == "regression" and seen.is_text:
        raise ValueError(f"{name}: the target holds words, but {method.name} predicts numbers; choose a classifier.")
    if method.task == "regression":
        return None
    if wanted is not None:
        return sorted(wanted) if seen.is_text else sorted(number_of(label, name) for label in wanted)
    return _found_classes(seen, count, name)


def _found_classes(seen: Any, count: int | None, name: str) -> list[Any]:
    labels: list[Any] | None = seen.labels
    if labels is None and seen.is_text:
        raise ValueError(f"{name}: the target has more than 1,000 different values; is it the right column?")
    if labels is None or (seen.task == "regression" and (len(labels) > 50 or not seen.has_whole_numbers)):
        raise ValueError(
            f"{name}: the target looks like a number to predict, not a class; "
            "choose a method that ends in -regressor, or list --classes."
        )
    if count is not None and len(labels) != count:
        raise ValueError(f"{name}: --classes says {count}, but the rows looked at have {len(labels)} labels.")
    if len(labels) < 2:
        raise ValueError(f"{name}: all rows have the same class, {labels[0]!r}; two are needed.")
    return labels


def number_of(label: str, name: str) -> float:
    from ..training import written_label

    try:
        return written_label(float(label))
    except ValueError:
        raise ValueError(f"{name}: the labels are numbers, but --classes holds {label!r}.") from None


def class_weights(given: Any, seen: Any, classes: list[Any] | None, streams: bool) -> Any:
    """Weights by label: as given (JSON has only words as keys), or, for a stream, equal totals of all classes."""
    import numpy as np

    assert classes is not None
    if isinstance(given, dict):
        known = {str(label): label for label in classes}
        return {known.get(str(key), key): value for key, value in given.items()}
    if not isinstance(given, str) or not streams:
        return given
    counts = {label: int(np.sum(seen.y == label)) for label in classes}
    return {label: seen.n_rows / (len(counts) * max(count, 1)) for label, count in counts.items()}
