"""Every estimator by a short name, derived from what each family exports: ``"arow"`` is ``AROWClassifier``."""

from __future__ import annotations

import importlib
import inspect
import re
from typing import Any, NamedTuple

from sklearn.base import is_clusterer, is_regressor

from ._estimators import Advice, GoodFor, LearningProblem, advice_of

FAMILIES = (
    *("online", "stochastic", "dual_averaging", "confidence", "cluster"),
    *("kernels", "mkl", "novelty", "semi_supervised"),
)
HELPERS = ("preprocessing",)  # rooms of transformers, which are saved with models

__all__ = ["FAMILIES", "Method", "components", "estimators", "methods", "ranked", "short_name"]


class Method(NamedTuple):
    """What the command line, the black box and the wizard know of an estimator, all of it declared by its class."""

    name: str
    cls: type[Any]
    family: str
    task: str  # "classification", "regression" or "clustering"
    streams: bool  # has partial_fit
    needs: tuple[str, ...]  # what it needs beside rows and targets, such as "groups"
    losses: tuple[str, ...]
    space: dict[str, Any]  # what is worth tuning, and where
    summary: str
    advice: Advice  # what it is good for


def estimators() -> dict[str, type[Any]]:
    """Short name -> class. A classifier has the bare name, a regressor the suffix ``-regressor``.

    Examples
    --------
    >>> from thresher import registry
    >>> sorted(name for name in registry.estimators() if name.endswith("l1rda"))
    ['adaptivel1rda', 'l1rda', 'reweightedl1rda']
    """
    return {short_name(cls.__name__): cls for family in FAMILIES for cls in _estimators(family)}


def components() -> dict[str, type[Any]]:
    """Class name -> class, of all that a model file may hold: estimators, transformers and the pipeline."""
    return {cls.__name__: cls for room in (*FAMILIES, *HELPERS) for cls in _classes(room) if hasattr(cls, "get_params")}


def methods() -> list[Method]:
    """All estimators with what they declare about themselves.

    Examples
    --------
    >>> from thresher import registry
    >>> [(m.name, m.task) for m in registry.methods() if m.name in ("arow", "pa")]
    [('arow', 'classification'), ('pa', 'classification')]
    """
    return [_describe(family, cls) for family in FAMILIES for cls in _estimators(family)]


def ranked(problem: LearningProblem) -> list[tuple[Method, GoodFor]]:
    """Methods that declare themselves good for a problem, the most promising first, each with its reason."""
    found = [
        (method, good)
        for method in methods()
        if method.task == problem.task and (problem.aim or set(method.needs) == problem.needs)
        if (good := method.advice.best(problem)) is not None
    ]
    return sorted(found, key=lambda pair: pair[1].rank)


def short_name(name: str) -> str:
    """The short name of a class name."""
    name = re.sub("(?<=[a-z]{4})SVC$", "", name)  # TriClassSVC is "triclass"; LSSVC and LapSVC keep all letters
    return name.removesuffix("Classifier").replace("Regressor", "-regressor").lower()


def _classes(room: str) -> list[type[Any]]:
    module = importlib.import_module(f"thresher.{room}")
    return [thing for name in module.__all__ if isinstance(thing := getattr(module, name), type)]


def _estimators(family: str) -> list[type[Any]]:
    """The classes of a room that predict: no transformers, no kernels."""
    return sorted((cls for cls in _classes(family) if hasattr(cls, "predict")), key=lambda cls: cls.__name__)


def _describe(family: str, cls: type[Any]) -> Method:
    blank = cls()
    task = "clustering" if is_clusterer(blank) else "regression" if is_regressor(blank) else "classification"
    return Method(
        name=short_name(cls.__name__),
        cls=cls,
        family=family,
        task=task,
        streams=hasattr(cls, "partial_fit"),
        needs=tuple(getattr(cls, "_needs", ())),
        losses=_rule(cls, "loss"),
        space=dict(getattr(cls, "_search_space", {})),
        summary=inspect.getdoc(cls).partition("\n")[0] if inspect.getdoc(cls) else "",  # type: ignore[union-attr]
        advice=advice_of(cls),
    )


def _rule(cls: type[Any], parameter: str) -> tuple[str, ...]:
    rule = getattr(cls, "_param_rules", {}).get(parameter)
    return () if rule is None else rule.options
