"""Choice of the task and of the criterion, with the sentences that explain them."""

from __future__ import annotations

from .. import registry
from ..registry import Method
from ._auto_options import AutoOptions
from ._data import TrainingData
from ._plan import Plan, find_method

CRITERIA: dict[str, dict[str, str]] = {
    "classification": {
        "error": "the share of misclassified rows",
        "balanced_error": "the mean of the errors of all classes; for rare classes",
        "f1": "precision and recall in one number",
        "roc_auc": "the area under the ROC curve: how well scores rank the rows",
        "average_precision": "the same with a focus on the top of the ranking; for rare classes",
    },
    "regression": {"mse": "the mean squared error"},
    "clustering": {
        "silhouette": "the separation of the clusters",
        "line_fit": "the separation of clusters of any shape, as the kernel sees it",
    },
}
_AMOUNT = "; an amount must be a plain number, such as 1234.5, without currency signs or thousands separators."


# --- the task ---------------------------------------------------------------------------------------------------------


def choose_task(data: TrainingData, options: AutoOptions) -> tuple[str, str]:
    """The task, and why."""
    task, method = options.task, None if options.method is None else find_method(options.method)
    if data.no_class is not None:
        return _check_classification(data, options, method)
    if task is not None:
        _check_task(data, task)
        if method is not None and method.task != task:
            raise ValueError(f"auto: method {method.name!r} is for {method.task}, but task is {task!r}.")
        return task, f"Task: {task}, as asked."
    if method is not None:
        _check_task(data, method.task)
        return method.task, f"Task: {method.task}, because {method.name!r} was asked for."
    task = data.look.task
    _check_task(data, task)
    if task == "clustering":
        return task, "Task: clustering, because there is no target."
    if task == "regression":
        return task, "Task: regression, because the targets are amounts."
    kind = "are words" if data.look.is_text else "take only a few different values"
    return task, f"Task: classification, because the targets {kind}: {_first_few(data.look.labels or [])}."


def _check_classification(data: TrainingData, options: AutoOptions, method: Method | None) -> tuple[str, str]:
    """The task where some rows have no class, or none that is known."""
    name = "outlier_label" if options.outlier_label is not None else "unlabelled_label"
    other = options.task if options.task is not None or method is None else method.task
    if other not in (None, "classification"):
        raise ValueError(f"auto: {name} is for classification, but the task is {other}.")
    _check_task(data, "classification")
    return "classification", f"Task: classification; the classes are {_first_few([*data.classes])}."


def _first_few(labels: list[object]) -> str:
    return ", ".join(map(str, labels[:5])) + (", ..." if len(labels) > 5 else "")


def _check_task(data: TrainingData, task: str) -> None:
    if task == "clustering":
        return
    look = data.look
    if data.y is None:
        raise ValueError(f"auto: {task} needs targets, and there are none.")
    if task == "regression" and look.is_text:
        raise ValueError("auto: regression needs targets that are numbers, got words.")
    if task == "classification" and look.labels is None:
        raise ValueError(
            f"auto: classification needs targets that repeat, got more than a thousand different ones{_AMOUNT}"
        )
    if task == "classification" and look.is_text and _hardly_repeat(data):
        n_words = len(look.labels or ())
        raise ValueError(
            f"auto: targets that are words must repeat, got {n_words} different ones in {look.n_rows} rows{_AMOUNT}"
        )
    if look.labels is not None and len(look.labels) == 1:
        raise ValueError(f"auto: all rows have the same target, {look.labels[0]!r}; there is nothing to learn.")


def _hardly_repeat(data: TrainingData) -> bool:
    """Whether most targets of more than a few rows stand alone, as names do, and amounts that were taken for words."""
    labels, n_rows = data.look.labels or [], data.look.n_rows
    return data.no_class is None and n_rows > 20 and 2 * len(labels) > n_rows


# --- the criterion ----------------------------------------------------------------------------------------------------


def choose_criterion(plan: Plan) -> tuple[str, list[str]]:
    """The measure by which models are compared, and why."""
    data, task, name = plan.data, plan.task, plan.options.criterion
    balance = []
    if task == "classification" and data.is_imbalanced:
        rarest = min(data.classes, key=lambda label: data.classes[label])
        balance = [
            f"The classes are imbalanced: {rarest!r} has {100 * data.smallest_share:.2g} % of the rows. "
            "Rows of rare classes get a larger weight."
        ]
    if name is not None:
        _check_criterion(name, plan)
        return name, [*balance, f"Criterion: {name}, as asked."]
    if plan.options.outlier_label is not None:
        weights = "in which every class counts the same, and rows of no class, where there are any, as one more"
        return "balanced_error", [*balance, f"Criterion: balanced_error, {weights}."]
    if balance:
        others = "; f1 and average_precision look at the second class alone" if data.n_classes == 2 else ""
        weights = f"in which every class counts the same{others}"
        return "balanced_error", [*balance, f"Criterion: balanced_error, {weights}."]
    name = "line_fit" if task == "clustering" and _has_line_fit(plan.options) else next(iter(CRITERIA[task]))
    return name, [f"Criterion: {name}, {CRITERIA[task][name]}."]


def _check_criterion(name: str, plan: Plan) -> None:
    known = CRITERIA[plan.task]
    if name not in known:
        raise ValueError(f"auto: criterion must be one of {', '.join(map(repr, known))} for {plan.task}, got {name!r}.")
    if name == "line_fit" and not _has_line_fit(plan.options):
        able = next(method.name for method in registry.methods() if hasattr(method.cls, "line_fit"))
        scores = f"clustering by kernels, such as {able!r}"
        raise ValueError(f"auto: criterion 'line_fit' is for {scores}; choose one with method.")


def _has_line_fit(options: AutoOptions) -> bool:
    return options.method is not None and hasattr(find_method(options.method).cls, "line_fit")
