"""What is asked of some data: the task and the criterion, with the words that explain them."""

from __future__ import annotations

from .. import registry
from ..registry import Method
from ._data import Material
from ._wishes import TASKS, Wishes

CRITERIA: dict[str, dict[str, str]] = {
    "classification": {
        "error": "the share of rows that are put into a wrong class",
        "balanced_error": "the same, with all classes counting alike; for rare classes",
        "f1": "precision and recall in one number",
        "roc_auc": "how well scores put the classes in order (area under the ROC curve)",
        "average_precision": "the same with a focus on the top of the list; for rare classes",
    },
    "regression": {"mse": "the mean squared error"},
    "clustering": {
        "silhouette": "how well clusters are apart",
        "line_fit": "how well a kernel tells clusters of any shape apart",
    },
}
_AMOUNT = "; an amount must be a plain number, such as 1234.5, without signs of currency or thousands."


# --- the task ---------------------------------------------------------------------------------------------------------


def choose_task(material: Material, task: str | None, wishes: Wishes) -> tuple[str, str]:
    """The task, and why."""
    wanted = None if wishes.method is None else named(wishes.method)
    if material.no_class is not None:
        return _task_of_classes(material, task, wanted, wishes)
    if task is not None:
        _check_task(material, task)
        if wanted is not None and wanted.task != task:
            raise ValueError(f"auto: method {wanted.name!r} is for {wanted.task}, but task is {task!r}.")
        return task, f"Task: {task}, as asked."
    if wanted is not None:
        _check_task(material, wanted.task)
        return wanted.task, f"Task: {wanted.task}, because {wanted.name!r} was asked for."
    look = material.look
    _check_task(material, look.task)
    if look.task == "clustering":
        return "clustering", "Task: clustering, because there is no target."
    if look.task == "regression":
        return "regression", "Task: regression, because the targets are amounts."
    labels = look.labels or []
    shown = ", ".join(map(str, labels[:5])) + (", ..." if len(labels) > 5 else "")
    kind = "are words" if look.is_text else "take only a few different values"
    return "classification", f"Task: classification, because the targets {kind}: {shown}."


def _task_of_classes(material: Material, task: str | None, wanted: Method | None, wishes: Wishes) -> tuple[str, str]:
    """The task where rows may be of no class, or of one that is not known."""
    name = "outlier_label" if wishes.outlier_label is not None else "unlabelled_label"
    other = task if task is not None or wanted is None else wanted.task
    if other not in (None, "classification"):
        raise ValueError(f"auto: {name} is for classification, but the task is {other}.")
    _check_task(material, "classification")
    shown = ", ".join([*material.classes][:5]) + (", ..." if material.n_classes > 5 else "")
    return "classification", f"Task: classification; the classes are {shown}."


def _check_task(material: Material, task: str) -> None:
    if task not in TASKS:
        raise ValueError(f"auto: task must be one of {', '.join(map(repr, TASKS))}, got {task!r}.")
    if task != "clustering" and material.y is None:
        raise ValueError(f"auto: {task} needs targets, and there are none.")
    if task == "regression" and material.look.is_text:
        raise ValueError("auto: regression needs targets that are numbers, got words.")
    if task == "classification" and material.look.labels is None:
        raise ValueError(
            f"auto: classification needs targets that repeat, got more than a thousand different ones{_AMOUNT}"
        )
    if task == "classification" and material.look.is_text and _hardly_repeat(material):
        n_words, n_rows = len(material.look.labels or ()), material.look.n_rows
        raise ValueError(
            f"auto: targets that are words must repeat, got {n_words} different ones in {n_rows} rows{_AMOUNT}"
        )
    if task != "clustering" and material.look.labels is not None and len(material.look.labels) == 1:
        raise ValueError(
            f"auto: all rows have the same target, {material.look.labels[0]!r}; there is nothing to learn."
        )


def _hardly_repeat(material: Material) -> bool:
    """Whether most targets of more than a few rows stand alone, as names do, and amounts that were taken for words."""
    labels, n_rows = material.look.labels or [], material.look.n_rows
    return material.no_class is None and n_rows > 20 and 2 * len(labels) > n_rows


def named(name: str) -> Method:
    known = {method.name: method for method in registry.methods()}
    if name not in known:
        raise ValueError(f"auto: method must be one of {', '.join(map(repr, sorted(known)))}, got {name!r}.")
    return known[name]


# --- the criterion ----------------------------------------------------------------------------------------------------


def choose_criterion(material: Material, task: str, name: str | None, wishes: Wishes) -> tuple[str, list[str]]:
    """What is compared, and why."""
    said = []
    if task == "classification" and material.is_imbalanced:
        rarest = min(material.classes, key=lambda label: material.classes[label])
        said.append(
            f"The classes are out of balance: {rarest!r} has {100 * material.smallest_share:.2g} % of the rows. "
            "Rows of rare classes weigh more, so that they are not overlooked."
        )
    if name is not None:
        if name not in CRITERIA[task]:
            names = ", ".join(map(repr, CRITERIA[task]))
            raise ValueError(f"auto: criterion must be one of {names} for {task}, got {name!r}.")
        if name == "line_fit" and not _has_line_fit(wishes):
            raise ValueError(
                "auto: criterion 'line_fit' is for methods with scores that line up, such as "
                "'kernelspectralclustering'; name one with method."
            )
        return name, [*said, f"Criterion: {name}, as asked."]
    if wishes.outlier_label is not None:
        alike = "in which every class counts the same, and rows of no class, where there are any, as one more"
        return "balanced_error", [*said, f"Criterion: balanced_error, {alike}."]
    if said:
        name = "balanced_error"
        others = "; f1 and average_precision look at the second class alone" if material.n_classes == 2 else ""
        return name, [*said, f"Criterion: {name}, in which every class counts the same{others}."]
    name = "line_fit" if task == "clustering" and _has_line_fit(wishes) else next(iter(CRITERIA[task]))
    return name, [f"Criterion: {name}, {CRITERIA[task][name]}."]


def _has_line_fit(wishes: Wishes) -> bool:
    return wishes.method is not None and hasattr(named(wishes.method).cls, "line_fit")
