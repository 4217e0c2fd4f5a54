"""The model of a report: its parameters, and its groups, tasks or kernels."""

from __future__ import annotations

import inspect
from typing import Any

import numpy as np

from .._figures import count, label, listed, number, percent, plural, quoted, unmarked
from ..inspection import groups_in_use, kernels_in_use
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
        why = "the best of those that learned side by side"
        return {"penalty": learner.penalty_, "says": f" Its penalty is {name} = {number(learner.penalty_, 3)}, {why}."}
    most: int | None = getattr(learner, "n_features_to_select", None)
    if most is None:
        return {}
    return {"says": f" At most {plural(most, 'feature')} may be in use, those with the strongest evidence."}


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


_MOST = 40
_MOST_KERNELS = 30
_MOST_NAMES = 8


def groups(subject: Subject) -> Section | None:
    """List the groups that a model has selected."""
    learner = subject.learner
    if not hasattr(learner, "selected_groups_"):
        return None
    n_alone = len(learner.groups_.alone)
    n_groups = len(learner.groups_) - n_alone
    if not n_groups:
        return None
    found = groups_in_use(subject.model)
    n_alone_used = len(learner._selected_places()) - len(found)
    says = f"{count(len(found))} of {plural(n_groups, 'group')} {'is' if 1 in (len(found), n_groups) else 'are'} in use"
    says += f": {listed([quoted(label(group.name)) for group in found], 6)}." if found else "."
    if n_alone:
        says += f" Of {plural(n_alone, 'column')} in no group, {count(n_alone_used)} {_are(n_alone_used)} in use."
    return {
        "title": "Groups in use",
        "says": says,
        "n_groups": n_groups,
        "n_used": len(found),
        "n_alone": n_alone,
        "n_alone_used": n_alone_used,
        "groups": [
            {
                "name": label(group.name),
                "strength": group.strength,
                "n_features": len(group.features),
                "n_used": group.n_used,
                "features": [label(name) for name in group.features[:_MOST_NAMES]],
            }
            for group in found[:_MOST]
        ],
    }


def _are(n: int) -> str:
    return "is" if n == 1 else "are"


def tasks(subject: Subject) -> Section | None:
    """Count the features that tasks learned together share."""
    known = getattr(subject.learner, "tasks_", None)
    if known is None or len(known) < 2 or subject.weights is None:
        return None
    used = subject.weights.rows != 0
    n_used, n_shared = int(used.any(axis=0).sum()), int(used.all(axis=0).sum())
    column = f", by the column {quoted(label(subject.model.task_column))}" if subject.has_tasks else ""
    says = f"{count(len(known))} tasks were learned together{column}. "
    says += f"Of {plural(n_used, 'feature')} in use, {count(n_shared)} {_are(n_shared)} shared by all of them."
    return {
        "title": "Tasks learned together",
        "says": says,
        "n_tasks": len(known),
        "n_used": n_used,
        "n_shared": n_shared,
        "tasks": [
            {"name": label(name), "n_used": int(each.sum()), "strength": float(np.linalg.norm(weights))}
            for name, each, weights in zip(known[:_MOST].tolist(), used, subject.weights.rows, strict=False)
        ],
    }


def kernels(subject: Subject) -> Section | None:
    """List the kernels with a weight, the strongest first."""
    learner = subject.learner
    if not hasattr(learner, "kernel_names_"):
        return None
    found = kernels_in_use(subject.model)
    n_kernels = len(learner.kernel_names_)
    says = f"{count(len(found))} of {plural(n_kernels, 'kernel')} {'is' if len(found) == 1 else 'are'} in use"
    says += f"; the most weight lies on {listed([quoted(label(k.name)) for k in found[:3]], 3)}." if found else "."
    bounds = [(float(lower), float(upper)) for lower, upper in learner.bounds_]
    says += f" The objective is within {number(100 * learner.gap_, 2)} % of the optimum."
    outputs = list(found[0].weights) if found else []
    return {
        "title": "Kernels in use",
        "says": says,
        "n_kernels": n_kernels,
        "n_used": len(found),
        "n_machines": learner.n_svm_,
        "bounds": bounds,
        "outputs": [label(key) for key in outputs],
        "kernels": [
            {"name": label(kernel.name), "weight": kernel.strength, "weights": list(kernel.weights.values())}
            for kernel in found[:_MOST_KERNELS]
        ],
    }
