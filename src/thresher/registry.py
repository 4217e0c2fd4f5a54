"""Every estimator by a short name, derived from what each family exports: ``"arow"`` is ``AROWClassifier``."""

from __future__ import annotations

import ast
import functools
import importlib
import inspect
import re
from collections.abc import Collection
from pathlib import Path
from typing import Any, NamedTuple

from ._estimators import Advice, GoodFor, LearningProblem, advice_of, task_of

FAMILIES = (
    *("online", "stochastic", "dual_averaging", "confidence", "cluster"),
    *("kernels", "mkl", "novelty", "semi_supervised"),
)
HELPERS = ("preprocessing", "_ensembles")  # rooms of transformers and sums, which are saved with models

__all__ = ["FAMILIES", "Method", "estimators", "find", "methods", "ranked", "short_name"]


class Method(NamedTuple):
    """The declarations of an estimator's class that the command line, ``auto`` and the wizard read."""

    name: str
    cls: type[Any]
    family: str
    task: str  # "classification", "regression" or "clustering"
    streams: bool  # has partial_fit
    needs: tuple[str, ...]  # what it needs beside rows and targets, such as "groups"
    losses: tuple[str, ...]
    space: dict[str, Any]  # the parameters worth tuning, and their ranges
    summary: str
    advice: Advice  # what it is good for

    @property
    def defaults(self) -> dict[str, Any]:
        """The parameters with their defaults."""
        return {name: declared.default for name, declared in self.cls._params.items()}


def estimators() -> dict[str, type[Any]]:
    """Short name -> class. A classifier has the bare name, a regressor the suffix ``-regressor``.

    Examples
    --------
    >>> from thresher import registry
    >>> sorted(name for name in registry.estimators() if name.endswith("l1rda"))
    ['adaptivel1rda', 'l1rda', 'reweightedl1rda']
    """
    return {short_name(cls.__name__): cls for family in FAMILIES for cls in _estimators(family)}


def methods(task: str | None = None, needs: Collection[str] | None = None) -> list[Method]:
    """Methods with what they declare about themselves: all, those for a task, those that need exactly some structure.

    Examples
    --------
    >>> from thresher import registry
    >>> [(m.name, m.task) for m in registry.methods() if m.name in ("arow", "pa")]
    [('arow', 'classification'), ('pa', 'classification')]
    >>> [m.name for m in registry.methods("regression", needs=["groups"])]
    ['groupfobos-regressor', 'grouprda-regressor']
    """
    fitting = [method for method in _all_methods() if task in (None, method.task)]
    return fitting if needs is None else [method for method in fitting if set(method.needs) == set(needs)]


def ranked(problem: LearningProblem) -> list[tuple[Method, GoodFor]]:
    """Methods that declare themselves good for a problem, the most promising first, each with its reason."""
    fitting = methods(problem.task, None if problem.aim else problem.needs)
    good = [(method, good) for method in fitting if (good := method.advice.best(problem)) is not None]
    return sorted(good, key=lambda pair: pair[1].rank)


def find(name: str) -> Method | None:
    """The method of a short name, or None; only its family is imported.

    Examples
    --------
    >>> from thresher import registry
    >>> registry.find("arow").cls.__name__
    'AROWClassifier'
    """
    for family in FAMILIES:
        for exported in _exports(family):
            if short_name(exported) == name and hasattr(cls := _load(family, exported), "predict"):
                return _describe(family, cls)
    return None


def similar(name: str) -> list[str]:
    """Up to three short names that are spelled like this one.

    Examples
    --------
    >>> from thresher import registry
    >>> registry.similar("arrow")
    ['arow', 'narow']
    """
    from difflib import get_close_matches

    return get_close_matches(name, sorted(estimators()), n=3)


def component(name: str) -> type[Any] | None:
    """The class of a name that a model file may hold: an estimator, a transformer or the pipeline; else None."""
    for room in (*FAMILIES, *HELPERS):
        if name in _exports(room) and hasattr(cls := _load(room, name), "get_params"):
            return cls
    return None


def short_name(name: str) -> str:
    """The short name of a class name."""
    name = re.sub("(?<=[a-z]{4})SVC$", "", name)  # TriClassSVC is "triclass"; LSSVC and LapSVC keep all letters
    return name.removesuffix("Classifier").replace("Regressor", "-regressor").lower()


@functools.cache
def _exports(room: str) -> tuple[str, ...]:
    """The names in a room's ``__all__``, read from its source: importing all rooms to find one class takes time."""
    source = Path(__file__).with_name(room) / "__init__.py"
    for node in ast.parse(source.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__all__":
            return tuple(ast.literal_eval(node.value))
    raise LookupError(f"thresher.{room} has no __all__")


def _load(room: str, name: str) -> Any:
    return getattr(importlib.import_module(f"thresher.{room}"), name)


def _all_methods() -> list[Method]:
    return [_describe(family, cls) for family in FAMILIES for cls in _estimators(family)]


def _estimators(family: str) -> list[type[Any]]:
    """The classes of a room that predict: no transformers, no kernels."""
    exported = (_load(family, name) for name in sorted(_exports(family)))
    return [thing for thing in exported if isinstance(thing, type) and hasattr(thing, "predict")]


def _describe(family: str, cls: type[Any]) -> Method:
    loss = getattr(cls, "_param_rules", {}).get("loss")
    return Method(
        name=short_name(cls.__name__),
        cls=cls,
        family=family,
        task=task_of(cls),
        streams=hasattr(cls, "partial_fit"),
        needs=tuple(getattr(cls, "_needs", ())),
        losses=() if loss is None else loss.options,
        space=dict(getattr(cls, "_search_space", {})),
        advice=advice_of(cls),
        summary=(inspect.getdoc(cls) or "").partition("\n")[0],
    )
