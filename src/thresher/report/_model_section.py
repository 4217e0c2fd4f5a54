"""The model of a report."""

from __future__ import annotations

import inspect
from typing import Any

import numpy as np

from .._figures import count, label, listed, number, percent, plural, unmarked
from ._subject import Section, Subject


def model(subject: Subject) -> Section:
    learner = subject.learner
    kind, about = type(learner).__name__, _about(learner)
    steps = [
        {"name": label(name), "kind": type(step).__name__, "about": _about(step)}
        for name, step in getattr(subject.model, "steps", [])[:-1]
    ]
    says = f"{kind}: {about}" if about else f"{kind}."
    figures: dict[str, Any] = {}
    for part in (_features(subject), _penalty(subject), _support(subject)):
        says += part.pop("says", "")
        figures |= part
    if steps:
        says += f" Rows first pass through {listed([step['kind'] for step in steps])}."
    passes = "steps of the solver" if subject.is_kernel_machine else "passes"
    for name, attribute in (("rows learned from", "n_samples_seen_"), (passes, "n_iter_"), ("steps", "n_updates_")):
        value = getattr(learner, attribute, None)
        if isinstance(value, (int, np.integer)):
            figures[name] = int(value)
    return {
        "title": "The model",
        "says": says,
        "kind": kind,
        "about": about,
        "task": subject.task,
        "steps": steps,
        "params": _params(learner),
        "figures": figures,
    }


def _features(subject: Subject) -> dict[str, Any]:
    used, n_features = subject.n_used, int(subject.learner.n_features_in_)
    if used is None:
        return {}
    share = f", {percent(used / n_features)} of them" if n_features > used else ""
    says = f" It uses {plural(used, 'feature')} of {count(n_features)}{share}."
    return {"features in use": used, "features": n_features, "says": says}


def _penalty(subject: Subject) -> dict[str, Any]:
    """Describe the strength of the penalty that a learner has chosen itself."""
    learner = subject.learner
    if not hasattr(learner, "penalty_"):
        return {}
    name = getattr(learner, "_penalty", "alpha")
    if getattr(learner, name, None) == "auto":
        why = "the one of least progressive loss among those that learned side by side"
        return {"penalty": learner.penalty_, "says": f" Its penalty is {name} = {number(learner.penalty_, 3)}, {why}."}
    most: int | None = getattr(learner, "n_features_to_select", None)
    if most is None:
        return {}
    return {"says": f" At most {plural(most, 'feature')} may be in use, those of the strongest evidence."}


def _support(subject: Subject) -> dict[str, Any]:
    """Describe the rows that a kernel machine keeps, and its kernel."""
    if not subject.is_kernel_machine:
        return {}
    n_kept, n_rows = len(subject.learner.support_), subject.data.get("n_rows")
    share = f" of {count(n_rows)}" if isinstance(n_rows, int) and n_rows >= n_kept else ""
    figures: dict[str, Any] = {"support vectors": n_kept}
    says = f" It keeps {plural(n_kept, 'row')}{share}, its support vectors"
    kernel = getattr(subject.learner, "kernel_", None)
    if kernel is not None:
        figures["kernel"] = label(str(kernel).partition("(")[0])
        width = getattr(kernel, "gamma", None)
        figures |= {"kernel width": float(width)} if isinstance(width, float) else {}
        says += f", and compares new rows with them by the kernel {label(str(kernel))}"
    return figures | {"says": f"{says}."}


def _about(thing: Any) -> str:
    """Return the first sentence of the documentation of an object's class."""
    text = unmarked((inspect.getdoc(type(thing)) or "").split("\n\n")[0])
    sentence = text.split(". ")[0].split("; see ")[0].rstrip(".")
    return sentence + "." if sentence else ""


def _params(estimator: Any) -> list[dict[str, Any]]:
    """List parameters, those that are not at their default first."""
    signature = inspect.signature(type(estimator)).parameters
    found = []
    for name, value in estimator.get_params(deep=False).items():
        default = signature[name].default if name in signature else inspect.Parameter.empty
        text = value if isinstance(value, str) else " ".join(repr(value).split())
        shown = number(value) if isinstance(value, float) else label(text)
        found.append({"name": name, "value": shown, "changed": repr(value) != repr(default)})
    return sorted(found, key=lambda p: not p["changed"])
