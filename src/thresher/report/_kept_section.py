"""What a kernel machine keeps, rows that it gives to no class, and rows that had no label."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._figures import count, label, percent, plural, quoted
from ..metrics import detection_rate, rejection_rate
from ._held_out import rows_to_measure
from ._subject import Section, Subject

_MEANINGS = {"outlier_label": "of no class", "irrelevant_label": "of no class", "unlabelled_label": "unlabelled"}


def is_kernel_machine(learner: Any) -> bool:
    """Whether a model is made of rows that it keeps, not of weights of features."""
    return hasattr(learner, "dual_coef_") and not hasattr(learner, "coef_")


def rejects(learner: Any) -> bool:
    """Whether rows may be given to no class, whatever their scores say of the classes."""
    return hasattr(learner, "class_scores") and bool(learner.reject)


def kept(subject: Subject) -> dict[str, Any]:
    """How many rows a kernel machine keeps and how it compares with them, and a sentence about it."""
    learner = subject.learner
    if not is_kernel_machine(learner):
        return {}
    n_kept, n_rows = len(learner.support_), subject.data.get("n_rows")
    share = f" of {count(n_rows)}" if isinstance(n_rows, int) and n_rows >= n_kept else ""
    found: dict[str, Any] = {"support vectors": n_kept}
    says = f" It keeps {plural(n_kept, 'row')}{share}, its support vectors"
    kernel = getattr(learner, "kernel_", None)
    if kernel is not None:
        found["kernel"] = label(str(kernel).partition("(")[0])
        width = getattr(kernel, "gamma", None)
        found |= {"kernel width": float(width)} if isinstance(width, float) else {}
        says += f", and compares new rows with them by the kernel {label(str(kernel))}"
    return found | {"says": f"{says}."}


def without_class(subject: Subject, classes: dict[str, int]) -> dict[str, int]:
    """Takes labels that are no classes out of the counts; returns how many rows have them, by what they mean."""
    found: dict[str, int] = {}
    for name, meaning in _MEANINGS.items():
        mark = getattr(subject.learner, name, None)
        if mark is not None and (n := classes.pop(label(mark), 0)):
            found[f"rows {meaning}"] = found.get(f"rows {meaning}", 0) + n
    n_rows = subject.data.get("n_rows")
    if "rows unlabelled" not in found and getattr(subject.learner, "unlabelled_label", None) is not None:
        counted = sum(classes.values()) + sum(found.values())
        if classes and isinstance(n_rows, int) and n_rows > counted:  # they were not counted as a class
            found["rows unlabelled"] = n_rows - counted
    return found


def no_class(subject: Subject) -> Section | None:
    """How many rows are given to no class, and whether these are the right ones."""
    learner = subject.learner
    held_out, known = rows_to_measure(subject)
    if held_out is None or not rejects(learner):
        return None
    mark = learner.outlier_label
    told = {"outlier_label": label(mark)}
    true, predicted = (np.array([label(v) for v in y.tolist()]) for y in (held_out.y, held_out.predicted))
    outside = true == label(mark)
    rejected, lost = float(np.mean(predicted == label(mark))), rejection_rate(true, predicted, **told)
    says = f"{percent(rejected)} of {known} are taken for {quoted(label(mark))}"
    section: Section = {"title": "Rows of no class", "rejected": rejected, "classes rejected": lost}
    if not outside.any():
        return section | {"says": f"{says}; none of them is known to be of no class."}
    section |= {"detection rate": detection_rate(true, predicted, **told), "outliers": int(outside.sum())}
    detected = f"of {plural(int(outside.sum()), 'row')} of no class, {percent(section['detection rate'])} are found"
    return section | {"says": f"{says}: {detected}, and {percent(lost)} of the rows of classes are lost."}
