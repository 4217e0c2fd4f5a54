"""Structure of a model: groups, tasks or kernels."""

from __future__ import annotations

import numpy as np

from .._figures import count, label, listed, number, plural, quoted
from ..inspection import groups_in_use, kernels_in_use
from ._subject import Section, Subject

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
    says += f" The objective is within {number(100 * learner.gap_, 2)} % of the best there is."
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
