"""Choice of the task and of the criterion, with explanations; labels that are not classes."""

from __future__ import annotations

import math
import warnings
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from .. import registry
from .._gate import Table
from .._gate import label as label_rule
from ..registry import Method
from ..streams import MISSING_WORDS
from ..training import written_label
from ._auto_options import STRUCTURE, AutoOptions
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
        "line_fit": "the separation of clusters of any shape, measured with the kernel",
    },
}
_AMOUNT = (
    "; name another column with target=, or write amounts as plain numbers, such as 1234.5, without currency signs or "
    "thousands separators."
)


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
        return task, f"Task: {task}, as requested."
    if method is not None:
        _check_task(data, method.task)
        return method.task, f"Task: {method.task}, because {method.name!r} was requested."
    task = data.look.task
    _check_task(data, task)
    if task == "clustering":
        return task, "Task: clustering, because there is no target."
    if task == "regression":
        return task, "Task: regression, because the targets are numbers with many different values."
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
        raise ValueError("auto: regression needs targets that are numbers, got text.")
    if task == "classification" and look.labels is None:
        raise ValueError(
            f"auto: classification needs targets that repeat, got more than a thousand different values{_AMOUNT}"
        )
    if task == "classification" and look.is_text and data.no_class is None and look.hardly_repeats:
        n_words = len(look.labels or ())
        raise ValueError(
            f"auto: targets that are text must repeat, got {n_words} different values in {look.n_labelled} rows"
            f"{_AMOUNT}"
        )
    if look.labels is not None and len(look.labels) == 1:
        raise ValueError(f"auto: all rows have the same target, {look.labels[0]!r}; there is nothing to learn.")


# --- the criterion ----------------------------------------------------------------------------------------------------


def choose_criterion(plan: Plan) -> tuple[str, list[str]]:
    """The measure by which models are compared, and why."""
    data, task, name = plan.data, plan.task, plan.options.criterion
    if plan.options.cost is not None:
        said = ", ".join(f"{value:g} on {label!r}" for label, value in plan.costs.items())
        return "cost", [f"Criterion: cost, the mean cost of a row; a mistake costs {said}."]
    balance = []
    if task == "classification" and data.is_imbalanced:
        rarest = min(data.classes, key=lambda label: data.classes[label])
        balance = [
            f"The classes are imbalanced: {rarest!r} has {100 * data.smallest_share:.2g} % of the rows. "
            f"Rows of the rare class get {'a larger' if plan.weighs_classes else 'no larger'} weight."
        ]
    if name is not None:
        _check_criterion(name, plan)
        return name, [*balance, f"Criterion: {name}, as requested."]
    if plan.options.outlier_label is not None:
        weights = "which weighs all classes equally, with rows of no class as one more class"
        return "balanced_error", [*balance, f"Criterion: balanced_error, {weights}."]
    if balance:
        others = "; f1 and average_precision measure only the second class" if data.n_classes == 2 else ""
        weights = f"which weighs all classes equally{others}"
        return "balanced_error", [*balance, f"Criterion: balanced_error, {weights}."]
    name = "line_fit" if task == "clustering" and _has_line_fit(plan.options) else next(iter(CRITERIA[task]))
    return name, [f"Criterion: {name}, {CRITERIA[task][name]}."]


def warn_if_worse(plan: Plan, score: float) -> None:
    """Warn if the best model does worse in cross-validation than a guess that looks at no feature."""
    data, y = plan.data, plan.data.y
    if plan.options.sparsity or y is None or plan.task == "clustering":
        return
    if plan.criterion == "mse":
        guess, what = -float(np.var(y)), "the mean of the targets"
    elif plan.criterion == "error" and data.no_class is None:
        guess, what = max(data.classes.values()) / sum(data.classes.values()) - 1, "always the most frequent class"
    elif plan.criterion == "balanced_error" and data.no_class is None:
        guess, what = 1 / data.n_classes - 1, "any class for all rows"
    else:
        return
    if score < guess:
        found, least = plan.score_text(score), plan.score_text(guess)
        warnings.warn(
            f"auto: the best model does worse in cross-validation ({found}) than {what} ({least}); these methods "
            "find no relation between the features and the target.",
            UserWarning,
            stacklevel=4,
        )


def check_cost(plan: Plan) -> None:
    """Check costs of mistakes: they must suit the task and name its classes."""
    cost, data = plan.options.cost, plan.data
    if cost is None:
        return
    if plan.task != "classification":
        raise ValueError(f"auto: cost is for classification, but the task is {plan.task}.")
    if plan.options.criterion is not None or plan.options.outlier_label is not None:
        other = "criterion" if plan.options.criterion is not None else "outlier_label"
        raise ValueError(f"auto: cost and {other} cannot both be given.")
    if not isinstance(cost, Mapping) and data.n_classes != 2:
        raise ValueError(f"auto: cost must be a dict of class to cost with {data.n_classes} classes, got {cost!r}.")
    unknown = [label for label in cost if str(label) not in data.classes] if isinstance(cost, Mapping) else []
    if unknown:
        raise ValueError(f"auto: cost must name classes among {_first_few([*data.classes])}, got {unknown[0]!r}.")


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


_LABELS = ("outlier_label", "unlabelled_label")
_MOST_COLUMNS = 50  # up to which rows that are made up come near the others
_MOST_STAND_INS = 1000
_ROOM = 0.1  # of the range of a column, beyond either end


_FEW_LABELS, _SMALL_SHARE = 2_000, 0.1  # labelled rows below which unlabelled ones are worth learning from


def settle_missing(options: AutoOptions, data: TrainingData) -> tuple[AutoOptions, list[str]]:
    """Use the rows without a target as unlabelled ones, or leave them out; the options that follow, and why."""
    if not data.facts.n_unlabelled:
        if options.unlabelled_label == "":
            raise ValueError("auto: unlabelled_label='' stands for rows without a target, but every row has one.")
        return options, []
    n_missing, n_rows = data.facts.n_unlabelled, data.facts.n_rows
    method = None if options.method is None else find_method(options.method)
    if "clustering" in (options.task, None if method is None else method.task):
        data.join_unlabelled(None)
        return options, []
    label, asked = options.unlabelled_label, options.unlabelled_label is not None
    if asked and label not in MISSING_WORDS and str(written_label(label)) not in data.facts.classes:
        raise _unknown_label(label)
    if label is None and method is not None:
        label = _default_label(method, options).get("unlabelled_label")
    if label is None and _has_few_labels(options, data):
        label = ""
    if label is None:
        said = data.facts.describe_unlabelled()
        data.drop_unlabelled()
        return options, [said]
    label = _label_of_missing(label, data)
    data.join_unlabelled(label)
    why = "" if asked or method is not None else f", because only {n_rows - n_missing:,} rows have one"
    return replace(options, unlabelled_label=label), [
        f"{n_missing:,} of {n_rows:,} rows have no target and are used as unlabelled rows{why}."
    ]


def _has_few_labels(options: AutoOptions, data: TrainingData) -> bool:
    """Whether classes of so few rows are known that methods for unlabelled rows may do better."""
    n_labelled = data.facts.n_labelled
    few = n_labelled < min(_FEW_LABELS, _SMALL_SHARE * data.facts.n_rows)
    free = options.method is None and options.task != "regression" and not options.needs
    return few and free and data.look.task == "classification" and data.n_classes >= 2


def _label_of_missing(label: Any, data: TrainingData) -> Any:
    """The label for rows without a target: as requested, or one that is not a class."""
    if data.look.is_text:
        return str(written_label(label))
    labels = data.look.labels
    if label in MISSING_WORDS:
        return -1 if labels is None or -1 not in labels else math.floor(min(labels)) - 1
    return _as_written(label, "unlabelled_label", data, must_fit=True)


def settle_labels(options: AutoOptions, data: TrainingData) -> AutoOptions:
    """Options with labels as the targets write them; a method that knows such rows brings a label of its own."""
    asked = {name: label for name in _LABELS if (label := getattr(options, name)) is not None}
    if len(asked) == 2:
        raise ValueError(f"auto: outlier_label and unlabelled_label cannot both be given{_takes_both()}.")
    usual = {} if asked or options.method is None else _default_label(find_method(options.method), options)
    if not asked and not usual:
        return options
    ((name, label),) = (asked or usual).items()
    if asked and name in options.fixed:
        raise ValueError(f"auto: {name} is given twice, also in params; leave one of them out.")
    data.no_class = _as_written(label, name, data, must_fit=bool(asked))
    if asked and name == "unlabelled_label" and not data.n_no_class:
        raise _unknown_label(label)
    _check_classes(data, name)
    return replace(options, **{name: data.no_class})


def _unknown_label(label: Any) -> ValueError:
    return ValueError(f"auto: unlabelled_label must be a label of some rows, got {label!r}, which no row has.")


def _takes_both() -> str:
    """A method that takes both kinds of rows, if there is one."""
    both = [m.name for m in registry.methods() if {"unlabelled_label", "irrelevant_label"} <= m.defaults.keys()]
    return f"; method={both[0]!r} takes both, with params={{'irrelevant_label': ...}}" if both else ""


def _check_classes(data: TrainingData, name: str) -> None:
    if data.look.labels is None or len(data.classes) >= 2:
        return
    held = f"only {next(iter(data.classes))!r}" if data.classes else "none"
    raise ValueError(
        f"auto: there must be at least two classes besides {name} {data.no_class!r}, got {held}; "
        f"if that is a class, give another {name}."
    )


def _default_label(method: Method, options: AutoOptions) -> dict[str, Any]:
    """The default label of a method for such rows, if the user has named none."""
    names = [name for name in _LABELS if name in (STRUCTURE.get(need) for need in method.needs)]
    labels = {name: options.fixed.get(name, method.defaults[name]) for name in names}
    return {name: label for name, label in labels.items() if label is not None}


def _as_written(label: Any, name: str, data: TrainingData, must_fit: bool) -> Any:
    """A label in the type of the targets: text among text, a number among numbers."""
    if not label_rule.holds(label):
        raise ValueError(f"auto: {name} must be {label_rule.says}, got {label!r}.")
    if data.y is None or data.look.is_text:
        return str(written_label(label))
    try:
        number = written_label(float(label))
    except ValueError:
        number = None
    if isinstance(number, int):
        return number
    if must_fit:
        raise ValueError(f"auto: {name} must be a whole number if labels are numbers, got {label!r}.")
    return label


def describe_special_rows(plan: Plan) -> list[str]:
    """Sentences on the use of these rows."""
    data, options = plan.data, plan.options
    n, label = data.n_no_class, repr(data.no_class)
    if options.unlabelled_label is not None and 0 < n == data.n_joined:
        return ["Models learn from unlabelled rows if that helps, and are scored on labelled rows only."]
    shown = f"{n:,} of {data.facts.n_rows:,} rows are {label}"
    if options.unlabelled_label is not None:
        if not n:
            return [f"No row is {label}, which would mean unlabelled."]
        return [f"{shown}, unlabelled: models learn from them if that helps, and are scored on labelled rows only."]
    if options.outlier_label is None:
        return []
    if n:
        return [
            f"{shown}, of no class. Cross-validation scores models on outliers that they have not learned from, "
            "because future outliers will be new, too; the final model learns from them."
        ]
    if has_stand_ins(data, options):
        rows = "To score models, rows spread evenly over the range of the columns stand in for outliers."
        return [f"No row is {label}: outliers occur in predictions only. {rows}"]
    return [
        f"No row is {label}: the data do not show how tight the boundaries should be, so nu and gamma are not tuned."
    ]


def has_stand_ins(data: TrainingData, options: AutoOptions) -> bool:
    """Whether rows that are made up stand in for outliers: none are given, and columns are few, dense and numbers."""
    return options.outlier_label is not None and not data.n_no_class and data.is_narrow(_MOST_COLUMNS)


def stand_ins(data: TrainingData, seed: int) -> Any:
    """Rows in the form of the others, spread evenly over the range of each column and a little beyond."""
    X = data.X
    values = X.numbers if isinstance(X, Table) else X
    low, high = (np.nan_to_num(end.reduce(values, axis=0)) for end in (np.fmin, np.fmax))  # missing ones are NaN
    room = _ROOM * (high - low)
    n_rows = min(_MOST_STAND_INS, values.shape[0])
    made = np.random.default_rng(seed).uniform(low - room, high + room, size=(n_rows, values.shape[1]))
    return Table(X.columns, made) if isinstance(X, Table) else made
