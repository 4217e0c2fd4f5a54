"""Which methods are worth trying on some data, and why: all rules of thumb, with the words that explain them."""

from __future__ import annotations

import inspect
import math
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from scipy import sparse

from .. import registry
from .._spaces import Log, Range, search_space
from .._table import Table
from ..kernels import FixedSizeNystroem
from ..preprocessing import StreamingPipeline, prepared
from ..registry import Method
from ._data import Material

TASKS = ("classification", "regression", "clustering")
KERNELS = {name: name for name in ("rbf", "polynomial", "cosine")} | {"nystroem": "rbf", "nystroem-linear": "linear"}

CRITERIA: dict[str, dict[str, str]] = {
    "classification": {
        "error": "the share of rows that are put into a wrong class",
        "balanced_error": "the same, with all classes counting alike; for rare classes",
        "f1": "precision and recall in one number",
        "roc_auc": "how well scores put the classes in order (area under the ROC curve)",
        "average_precision": "the same with a focus on the top of the list; for rare classes",
    },
    "regression": {"mse": "the mean squared error"},
    "clustering": {"silhouette": "how well clusters are apart"},
}

_WIDE = 1000  # features from which on dense rows are treated like text
_KERNEL_FEATURES, _KERNEL_ROWS = 50, 20_000  # up to which curved boundaries are worth their time
_FULL = 100  # features up to which a learner may keep the covariance of all pairs
_VISITS = 20_000  # rows that a learner should see in all; small data are passed over several times
_MOST_PASSES = 50
_MOST_CLUSTERS = 10
_AVERAGED = ("l1rda-regressor", "grouprda-regressor", "multitaskrda-regressor")  # weights grow with their gradients
_STEPS = dict.fromkeys((*_AVERAGED, "adaptivel1rda-regressor"), "eta0") | {"ftrl-regressor": "alpha"}  # step sizes
_PENALTY = dict.fromkeys((*_AVERAGED, "adaptivel1rda-regressor"), "alpha") | {"ftrl-regressor": "l1"}
_UNEVEN = 100.0  # sparse columns are scaled when their usual sizes differ by more than this factor


@dataclass(frozen=True)
class Wishes:
    """What the user has settled; None leaves it to the rules."""

    method: str | None = None
    loss: str | None = None
    kernel: str | None = None
    sparsity: float | None = None
    scale: bool | None = None
    categories: str = "onehot"
    n_clusters: int | None = None
    groups: Any = None
    task_column: str | int | None = None
    params: dict[str, Any] = field(default_factory=dict)
    seed: int = 0

    @property
    def needs_met(self) -> set[str]:
        """What was given beside rows and targets, by the names that methods have for it."""
        given = {"groups": self.groups, "tasks": self.task_column}
        return {name for name, value in given.items() if value is not None}


@dataclass(frozen=True)
class Candidate:
    """A method, what stands before it and the parameters that are not tuned."""

    method: Method
    params: dict[str, Any]
    kernel: str | None = None

    @property
    def name(self) -> str:
        return self.method.name if self.kernel is None else f"{self.method.name} behind a {self.kernel} map"


# --- the task ---------------------------------------------------------------------------------------------------------


def choose_task(material: Material, task: str | None, wishes: Wishes) -> tuple[str, str]:
    """The task, and why."""
    named = None if wishes.method is None else _named(wishes.method)
    if task is not None:
        _check_task(material, task)
        if named is not None and named.task != task:
            raise ValueError(f"auto: method {named.name!r} is for {named.task}, but task is {task!r}.")
        return task, f"Task: {task}, as asked."
    if named is not None:
        _check_task(material, named.task)
        return named.task, f"Task: {named.task}, because {named.name!r} was asked for."
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


def _check_task(material: Material, task: str) -> None:
    if task not in TASKS:
        raise ValueError(f"auto: task must be one of {', '.join(map(repr, TASKS))}, got {task!r}.")
    if task != "clustering" and material.y is None:
        raise ValueError(f"auto: {task} needs targets, and there are none.")
    if task == "regression" and material.look.is_text:
        raise ValueError("auto: regression needs targets that are numbers, got words.")
    if task == "classification" and material.look.labels is None:
        raise ValueError("auto: classification needs targets that repeat, got more than a thousand different ones.")
    if task != "clustering" and material.look.labels is not None and len(material.look.labels) == 1:
        raise ValueError(
            f"auto: all rows have the same target, {material.look.labels[0]!r}; there is nothing to learn."
        )


def _named(name: str) -> Method:
    known = {method.name: method for method in registry.methods()}
    if name not in known:
        raise ValueError(f"auto: method must be one of {', '.join(map(repr, sorted(known)))}, got {name!r}.")
    return known[name]


# --- the criterion ----------------------------------------------------------------------------------------------------


def choose_criterion(material: Material, task: str, name: str | None) -> tuple[str, list[str]]:
    """What is compared, and why."""
    said = []
    if task == "classification" and material.is_imbalanced:
        rarest = min(material.facts.classes, key=lambda label: material.facts.classes[label])
        said.append(
            f"The classes are out of balance: {rarest!r} has {100 * material.smallest_share:.2g} % of the rows. "
            "Rows of rare classes weigh more, so that they are not overlooked."
        )
    if name is not None:
        if name not in CRITERIA[task]:
            names = ", ".join(map(repr, CRITERIA[task]))
            raise ValueError(f"auto: criterion must be one of {names} for {task}, got {name!r}.")
        return name, [*said, f"Criterion: {name}, as asked."]
    if said:
        name = "balanced_error"
        others = "; f1 and average_precision look at the second class alone" if material.n_classes == 2 else ""
        return name, [*said, f"Criterion: {name}, in which every class counts the same{others}."]
    name = next(iter(CRITERIA[task]))
    return name, [f"Criterion: {name}, {CRITERIA[task][name]}."]


# --- methods ----------------------------------------------------------------------------------------------------------


def choose_methods(material: Material, task: str, wishes: Wishes) -> tuple[list[Candidate], str]:
    """The methods to compare, the most promising first, and why these."""
    if wishes.needs_met:
        _check_structure(material, task, wishes)
    if wishes.method is not None:
        method = _named(wishes.method)
        if wishes.loss is not None and not _takes_loss(method, wishes.loss):
            raise ValueError(_loss_refused(method, wishes.loss))
        return [_candidate(method, material, wishes)], f"Method: {method.name}, as asked."
    fitting = [method for method in registry.methods() if method.task == task and set(method.needs) == wishes.needs_met]
    if wishes.loss is not None:
        with_loss = [method for method in fitting if _takes_loss(method, wishes.loss)]
        if not with_loss:
            known = sorted({loss for method in fitting for loss in method.losses})
            raise ValueError(
                f"auto: loss must be one of {', '.join(map(repr, known))} for {task}, got {wishes.loss!r}."
            )
        fitting = with_loss
    names, why = _preferred(material, task, wishes)
    found = [method for name in names for method in fitting if method.name == name] or fitting[:1]
    if not found:
        raise ValueError(f"auto: there is no method for {task}.")
    said = " and ".join(method.name for method in found)
    what = "Method" if len(found) == 1 else "Methods to try"
    return [_candidate(method, material, wishes) for method in found], f"{what}: {said}, because {why}."


def _check_structure(material: Material, task: str, wishes: Wishes) -> None:
    """Refuse groups and tasks that no method, or not this one, can use."""
    if wishes.needs_met == {"groups", "tasks"}:
        raise ValueError("auto: groups and task_column cannot both be given, because no method takes both.")
    name = "groups" if wishes.groups is not None else "task_column"
    if task == "clustering":
        raise ValueError(f"auto: {name} is for classification and regression, but the task is clustering.")
    if wishes.kernel not in (None, "linear"):
        raise ValueError(f"auto: kernel must be None or 'linear' with {name}, got {wishes.kernel!r}.")
    if name == "task_column" and task == "classification" and material.n_classes > 2:
        raise ValueError(f"auto: task_column needs two classes or amounts, got {material.n_classes} classes.")
    if wishes.method is not None and not wishes.needs_met <= set(_named(wishes.method).needs):
        able = [m.name for m in registry.methods() if m.task == task and wishes.needs_met <= set(m.needs)]
        raise ValueError(
            f"auto: method must be one of {', '.join(map(repr, able))} with {name}, got {wishes.method!r}."
        )


def _preferred(material: Material, task: str, wishes: Wishes) -> tuple[tuple[str, ...], str]:
    """Names of methods for data of this kind, and why."""
    n_features = material.facts.n_features
    if task == "clustering":
        return ("sparsekmeans",), "it finds clusters that few features tell apart"
    suffix = "" if task == "classification" else "-regressor"
    if wishes.task_column is not None:
        return (f"multitaskrda{suffix}",), "rows belong to several tasks, which choose their features together"
    if wishes.groups is not None:
        return (f"grouprda{suffix}",), "some columns belong together, and it selects them together"
    if wishes.sparsity:
        if not material.is_sparse and n_features < _WIDE:
            return (f"l1rda{suffix}",), "few features are wanted and its zeros are exact"
        exact = (f"adaptivel1rda{suffix}", f"l1rda{suffix}")
        if task == "classification" and material.is_imbalanced:  # the first of them weighs costs while it learns
            return ("poolcw", *exact), "few features are wanted of many, zeros are exact, and a class is rare"
        return exact, "few features are wanted, zeros are exact, and the first takes long steps for rare features"
    if task == "regression":
        return ("pegasos-regressor", "l1rda-regressor"), "both learn amounts from rows in any order"
    if isinstance(material.X, Table) and len(material.X.text) == len(material.X.columns):
        return ("arow", "pegasos"), "words make many features, most of them rare, and the first learns fast from those"
    if material.is_sparse or n_features >= _WIDE:
        kind = f"{'sparse' if material.is_sparse else 'wide'} ({n_features:,} features)"
        return ("arow", "pegasos"), f"the rows are {kind} and the first learns fast from features that are rare"
    return ("pegasos", "arow"), f"the rows are dense with {n_features:,} columns, where support vector machines do well"


def _takes_loss(method: Method, loss: str) -> bool:
    rule = getattr(method.cls, "_param_rules", {}).get("loss")
    return rule is not None and bool(rule.holds(loss))


def _loss_refused(method: Method, loss: str) -> str:
    if not method.losses:
        return f"auto: method {method.name!r} has no choice of losses, got loss={loss!r}."
    return f"auto: loss must be one of {', '.join(map(repr, method.losses))} for {method.name!r}, got {loss!r}."


def _candidate(method: Method, material: Material, wishes: Wishes) -> Candidate:
    """A method with the parameters that are settled before any search."""
    takes = inspect.signature(method.cls).parameters
    params: dict[str, Any] = {}
    if "random_state" in takes:
        params["random_state"] = wishes.seed
    if "average" in takes and method.task == "classification":
        params["average"] = True  # steadier, above all when rows are few
    if "intercept_scaling" in takes and not material.is_sparse:
        params["intercept_scaling"] = 1.0  # the constant is one column among others of size 1
    if "covariance" in takes and is_narrow(material, _FULL):
        params["covariance"] = "full"
    if "max_iter" in takes and method.task != "clustering" and method.streams:
        passes = math.ceil(_VISITS / material.facts.n_rows)
        params["max_iter"] = int(np.clip(passes, takes["max_iter"].default, _MOST_PASSES))
    if "class_weight" in takes and material.is_imbalanced:
        params["class_weight"] = "balanced"
    if "n_clusters" in takes and wishes.n_clusters is not None:
        params["n_clusters"] = wishes.n_clusters
    if wishes.loss is not None:
        params["loss"] = wishes.loss
    if "groups" in takes:
        has_words = isinstance(material.X, Table) and bool(material.X.text) and wishes.categories == "onehot"
        params["groups"] = "encoder" if wishes.groups is None and has_words else wishes.groups
    start = {name: p.default for name, p in takes.items()} | _first_tries(method, material)
    params |= _first_tries(method, material)
    params |= {name: start[name] * unit for name, unit in _units(method, material, wishes).items()}
    unknown = set(wishes.params) - set(takes)
    if unknown:
        raise ValueError(f"auto: params must name parameters of {method.name!r}, got {min(unknown)!r}.")
    return Candidate(method, params | wishes.params)


def _first_tries(method: Method, material: Material) -> dict[str, Any]:
    """Better places than the defaults to begin a search from, where experience knows some."""
    if method.name == "pegasos-regressor":
        return {"alpha": 1e-2}  # small data are not done with long first steps
    if method.name == "l1rda" and material.is_sparse:
        return {"eta0": 100.0}  # rows of texts have length 1, spread over many columns
    if method.name == "poolcw":
        return {"max_iter": 1, "cost": 0.5}  # classes that count alike; a grid of costs takes nine times as long
    return {}


def _units(method: Method, material: Material, wishes: Wishes) -> dict[str, float]:
    """Parameters of a regressor that depend on the unit of the targets, each with the factor from targets of size 1."""
    if method.task != "regression" or material.y is None or not method.losses:
        return {}
    size = float(f"{np.std(material.y):.3g}") or 1.0
    steps, penalty = _STEPS.get(method.name), _PENALTY.get(method.name)
    if (wishes.loss or method.losses[0]) in ("squared", "squared_error"):
        # Gradients grow with the targets, and with them l1 penalties and steps that are divided by gradients.
        grow = (penalty, steps if method.name not in _AVERAGED else None)
        return {name: size for name in grow if name is not None}
    return {"epsilon": size, **({steps: size} if steps else {"alpha": 1 / size})}  # gradients are of one size for all


# --- straight or curved -----------------------------------------------------------------------------------------------


def with_kernel(candidate: Candidate, wishes: Wishes, kernel: str = "nystroem") -> Candidate:
    """The same method behind a fixed-size map, which bends its boundaries."""
    params = {k: v for k, v in candidate.params.items() if k != "covariance" or k in wishes.params}  # not so narrow now
    return replace(candidate, params=params, kernel=KERNELS[kernel])


def is_worth_a_kernel(material: Material, task: str) -> bool:
    """Whether curved boundaries may pay: few columns of numbers, and not too many rows."""
    return task != "clustering" and is_narrow(material, _KERNEL_FEATURES) and material.facts.n_rows <= _KERNEL_ROWS


def is_narrow(material: Material, n_features: int) -> bool:
    """Whether rows are dense, of few numbers and no words."""
    words = isinstance(material.X, Table) and bool(material.X.text)
    return material.facts.n_features <= n_features and not material.is_sparse and not words


# --- the model --------------------------------------------------------------------------------------------------------


def build(candidate: Candidate, material: Material, wishes: Wishes) -> Any:
    """The model with everything that the rows need before the learner, not yet fitted."""
    learner = candidate.method.cls(**candidate.params)
    how: dict[str, Any] = {"categories": wishes.categories, "task_column": wishes.task_column}
    model = prepared(learner, material.X, scale=_scales(material, wishes), **how)
    if candidate.kernel is None:
        return model
    before = model.steps[:-1] if hasattr(model, "steps") else []
    landmarks = FixedSizeNystroem(candidate.kernel, n_components=2.0, random_state=wishes.seed)
    return StreamingPipeline([*before, ("map", landmarks), ("learn", learner)])


def _scales(material: Material, wishes: Wishes) -> bool | None:
    if wishes.scale is not None or not material.is_sparse:
        return wishes.scale
    return column_sizes(material.X) > _UNEVEN


def column_sizes(X: Any) -> float:
    """How many times larger the usual values of the largest columns are than those of the smallest; sparse rows."""
    columns = sparse.csc_array(X)
    counts = np.diff(columns.indptr)
    used = counts > 0
    if not used.any():
        return 1.0
    totals = np.bincount(np.repeat(np.arange(columns.shape[1]), counts), np.abs(columns.data), columns.shape[1])
    sizes = totals[used] / counts[used]
    low, high = np.quantile(sizes[sizes > 0], [0.05, 0.95]) if (sizes > 0).any() else (1.0, 1.0)
    return float(high / low)


def say_preparation(model: Any, material: Material, wishes: Wishes) -> list[str]:
    """What happens to the rows before they are learned from, in words."""
    steps = [name for name, _ in getattr(model, "steps", [])]
    said = []
    if "scale" in steps and material.is_sparse:
        asked = wishes.scale is not None
        said.append("Columns are scaled, " + ("as asked." if asked else "because their sizes differ widely."))
    elif "scale" in steps:
        said.append("Columns are standardised, so that none counts more because of its unit.")
    elif material.is_sparse:
        said.append("Sparse rows are used as they are, without scaling.")
    tasks = getattr(model, "task_column", None)
    texts = list(material.X.text) if isinstance(material.X, Table) else []
    if tasks is not None:
        texts = [name for name in texts if name != (material.X.columns[tasks] if isinstance(tasks, int) else tasks)]
        said.append(f"The column {tasks!r} tells the task of a row; it is no feature.")
    if texts:
        words = ", ".join(texts[:5]) + (", ..." if len(texts) > 5 else "")
        how = "one for each word of a text, or each value of a short column"
        said.append(f"Words become features ({how}): {words}.")
    if hasattr(model, "steps") and getattr(model[-1], "groups", None) == "encoder":
        said.append("The features of one column of words are a group, selected or left out together.")
    return said


def space_of(model: Any, candidate: Candidate, material: Material, wishes: Wishes) -> dict[str, Range]:
    """What is tuned, and where: what the steps declare, without what is settled."""
    settled = of_learner(model, dict.fromkeys(wishes.params))
    space = {name: given for name, given in search_space(model).items() if name not in settled}
    for name, unit in of_learner(model, _units(candidate.method, material, wishes)).items():
        if isinstance(given := space.get(name), Log):
            space[name] = Log(given.low * unit, given.high * unit)
    if candidate.kernel in ("rbf", "polynomial") and "map__gamma" in space:
        width = 1.0 / material.facts.n_features
        space["map__gamma"] = Log(0.05 * width, 20.0 * width)  # around what suits standardised columns
    return space


def of_learner(model: Any, named: dict[str, Any]) -> dict[str, Any]:
    """What belongs to parameters of the learner, by the names that they have in the whole model."""
    prefix = "learn__" if hasattr(model, "steps") else ""
    return {prefix + name: value for name, value in named.items()}


def cluster_counts(material: Material) -> list[int]:
    """Numbers of clusters worth trying."""
    return list(range(2, max(3, min(_MOST_CLUSTERS, material.X.shape[0] // 4)) + 1))
