"""One method on some files: opened and looked at once, checked, and the model that is to learn from them."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import click

from ._method_options import method_params
from ._options import files, stream_options
from ._phrases import command_line, essential, typed
from ._screen import Screen
from ._structure_options import TableColumns
from ._understood import remarks_on_reading


class TrainingJob:
    """The files of a command, a method, and the first look at the files: `seen`.

    `given` holds the options of the command, `options` the keyword arguments of ``open_stream``, and `params` those of
    the estimator once it is made. Once :meth:`rows` were read, `n_rows` is the number of rows in the files, of which
    `n_unlabelled` have no target and were left out.
    """

    model: Any
    n_rows: int
    n_unlabelled: int

    def __init__(
        self,
        data: tuple[str, ...],
        method: Any,
        given: dict[str, Any],
        screen: Screen,
        *,
        own_rows: bool = False,
        **look_options: Any,
    ) -> None:
        from ..streams import open_stream
        from ..training import look

        self.method, self.given, self.screen = method, given, screen
        self.paths = files(data)
        self.options = stream_options(data, given, method.task, method)
        self.stream = open_stream(self.paths, **self.options)
        if own_rows:
            self.stream.without_scipy()
        for sentence in remarks_on_reading(self.stream.understood):
            screen.remark(sentence)
        self.seen = look(self.stream, **look_options)
        self.n_skipped = self.stream.n_skipped

    def make_model(self, class_weight: Callable[[Any], Any] | None = None) -> Any:
        """Make the estimator, behind the steps that the rows need; `class_weight` makes weights by label of the option.
        Sparse rows are read as wide as groups of columns ask for."""
        from ..preprocessing import prepared
        from ..streams import MISSING_WORDS

        method, given, seen = self.method, self.given, self.seen
        params = method_params(given, method, seen)
        if params.get("unlabelled_label") in MISSING_WORDS and not seen.is_text:
            params["unlabelled_label"] = unused_label(seen.labels)
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
        self.model = prepared(method.cls(**params), seen.first, **steps, splines=self._has_splines())
        return self.model

    def _has_splines(self) -> bool:
        """Whether columns of numbers become curves."""
        from .._gate import sparse

        wanted = bool(self.given.get("splines"))
        if wanted and sparse.issparse(self.seen.first):
            raise click.UsageError("--splines needs a table, but these rows are sparse.")
        return wanted

    def _groups(self, columns: TableColumns) -> dict[str, Any]:
        """The groups of columns, given or usual, as a parameter of the method."""
        from .._gate import Table

        if "groups" not in self.method.defaults:
            return {}
        groups, first = columns.groups(self.given["groups"]), self.seen.first
        if groups is not None:
            return {"groups": groups}
        if self._has_splines():
            self.screen.remark("The splines of each column form a group (--groups chooses others).")
            return {"groups": "encoder"}
        if not isinstance(first, Table) or not first.text or self.given["categories"] != "onehot":
            self.screen.remark("Without --groups, every column is a group of its own.")
            return {}
        words = ", ".join(list(first.text)[:5]) + (", ..." if len(first.text) > 5 else "")
        self.screen.remark(f"The words of each text column form a group: {words} (--groups chooses others).")
        return {"groups": "encoder"}

    def rows(self, max_rows: int | None = None) -> tuple[Any, Any, dict[str, Any]]:
        """All rows that the model learns from, in memory, or an even sample of at least `max_rows`: those of the look,
        if it kept them. Their weights are an argument of ``fit``, if they are not all 1."""
        from ..training import read_and_count, weighted_rows_to_learn

        kept, weight = self.seen.rows, self.seen.weight
        if kept is not None and kept[0].shape[1] >= self.options.get("n_features", 0):
            X, y, weight = weighted_rows_to_learn(self.model, *kept, weight)
            self.n_rows, self.n_unlabelled = self.seen.n_rows, self.seen.n_rows - X.shape[0]
        else:
            (X, y, weight), self.n_rows, self.n_unlabelled = read_and_count(self.stream, max_rows, self.model)
            self.n_skipped = self.stream.n_skipped
        if weight is not None and "sample_weight" not in inspect.signature(self.method.cls.fit).parameters:
            name = self.stream.path.name
            raise ValueError(f"{name}: rows have importance weights, which {self.method.name} does not support.")
        return X, y, {} if weight is None else {"sample_weight": weight}

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


def check_task(method: Any, seen: Any, wanted: list[Any] | None, count: int | None, stream: Any) -> list[Any] | None:
    """The classes, for a classifier; data that do not suit the method are refused."""
    from ..training import without_targets

    name, target = stream.path.name, stream.layout().get("target")
    if method.task == "clustering":
        return None
    if seen.y is None:
        raise ValueError(f"{name}: no target column; name one with --target.")
    if not len(seen.y):
        raise without_targets(name, target)
    if method.task == "regression" and seen.is_text:
        raise ValueError(f"{name}: the target holds text, but {method.name} predicts numbers; choose a classifier.")
    if method.task == "regression":
        return None
    if wanted is not None:
        return sorted(wanted) if seen.is_text else sorted(number_of(label, name) for label in wanted)
    labels: list[Any] = seen.check_classes(name, target)
    if len(labels) > 50 and seen.task == "regression":
        raise ValueError(
            f"{name}: the target looks like a number to predict, not a class; "
            "choose a method that ends in -regressor, or list --classes."
        )
    if count is not None and len(labels) != count:
        raise ValueError(f"{name}: --classes names {count} classes, but the rows inspected have {len(labels)} labels.")
    return labels


def unused_label(labels: list[Any] | None) -> int:
    """A number for unlabelled rows that is not a class: -1, or one below all classes."""
    import math

    return -1 if labels is None or -1 not in labels else math.floor(min(labels)) - 1


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
    return {label: seen.n_labelled / (len(counts) * max(count, 1)) for label, count in counts.items()}
