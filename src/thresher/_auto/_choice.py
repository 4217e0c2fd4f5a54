"""Which methods are worth trying on some data, and why: rules of thumb, with the words that explain them."""

from __future__ import annotations

import inspect
import math
from dataclasses import replace
from typing import Any

import numpy as np

from .. import registry
from .._gate import Table
from ..registry import Method
from ._data import Material
from ._no_class import has_stand_ins
from ._task import named
from ._wishes import OWN_KERNELS, Candidate, Wishes, has_kernel

_GIVEN_AS = {
    "groups": "groups",
    "tasks": "task_column",
    "outliers": "outlier_label",
    "unlabelled": "unlabelled_label",
}
_SND_ROWS, _LSSND_ROWS = 5_000, 2_000  # up to which a search over them takes minutes
_WHOLE_IN_SEARCH = 2_000  # rows up to which a search may compare all of them; beyond, landmarks stand for them
_LANDMARKS = 2.0  # times the root of the number of rows
_INSTEAD = "kernel='nystroem' puts a map of any number of rows before a linear method such as 'pegasos'"
_MOST_COMPARED = 20_000  # rows that a kernel machine may compare with one another: 3 GB of numbers
_OF_CENTRES = 0.05  # the part of the criterion that is sparsity, where centres may be sparse
_WIDE = 1000  # features from which on dense rows are treated like text
_FULL = 100  # features up to which a learner may keep the covariance of all pairs
_VISITS = 20_000  # rows that a learner should see in all; small data are passed over several times
_MOST_PASSES = 50
_AVERAGED = ("l1rda-regressor", "grouprda-regressor", "multitaskrda-regressor")  # weights grow with their gradients
_STEPS = dict.fromkeys((*_AVERAGED, "adaptivel1rda-regressor"), "eta0") | {"ftrl-regressor": "alpha"}  # step sizes
_PENALTY = dict.fromkeys((*_AVERAGED, "adaptivel1rda-regressor"), "alpha") | {"ftrl-regressor": "l1"}


def choose_methods(material: Material, task: str, wishes: Wishes) -> tuple[list[Candidate], str]:
    """The methods to compare, the most promising first, and why these."""
    if wishes.needs_met & {"groups", "tasks"}:
        _check_structure(material, task, wishes)
    if wishes.method is not None:
        method = named(wishes.method)
        if wishes.loss is not None and not _takes_loss(method, wishes.loss):
            raise ValueError(_loss_refused(method, wishes.loss))
        if not wishes.needs_met <= set(method.needs):
            raise ValueError(_method_refused(method, wishes))
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
    candidates = [_candidate(method, material, wishes) for method in found]
    if wishes.unlabelled_label is not None and not {"C_unlabelled", "spread"} & set(wishes.params):
        candidates.insert(1, _without_unlabelled(candidates[0]))
    return candidates, f"{what}: {said}, because {why}."


def with_sparse_centres(wishes: Wishes, candidates: list[Candidate]) -> tuple[Wishes, list[str]]:
    """The wish for centres of few features, where nobody said anything of it and a penalty is tuned."""
    first = candidates[0]
    has_penalty = first.method.task == "clustering" and "alpha" in first.method.space
    if not has_penalty or wishes.sparsity is not None or {"alpha", "sparsity"} & {*wishes.params}:
        return wishes, []
    said = f"{100 * _OF_CENTRES:g} % of what is compared is the share of the centres that is not 0"
    return replace(wishes, sparsity=_OF_CENTRES), [
        f"Centres of few features are preferred: {said}; sparsity=0 does not."
    ]


def _without_unlabelled(candidate: Candidate) -> Candidate:
    """The same method on labelled rows only: what unlabelled ones must be better than."""
    if candidate.method.name == "semiksc":
        note = " without unlabelled rows (least squares)"
        return replace(candidate, params=candidate.params | {"spread": 0.0}, fixed=("spread",), note=note)
    params = candidate.params | {"C_unlabelled": 0.0}
    fixed = ("C_unlabelled", "epsilon")
    return replace(candidate, params=params, fixed=fixed, note=" without unlabelled rows (a plain SVM)")


def _check_structure(material: Material, task: str, wishes: Wishes) -> None:
    """Refuse groups and tasks that no method, or not this one, can use."""
    given = [name for need, name in _GIVEN_AS.items() if need in wishes.needs_met]
    if len(given) > 1:
        raise ValueError(f"auto: {' and '.join(given)} cannot both be given, because no method takes both.")
    name = "groups" if wishes.groups is not None else "task_column"
    if task == "clustering":
        raise ValueError(f"auto: {name} is for classification and regression, but the task is clustering.")
    if wishes.kernel not in (None, "linear"):
        raise ValueError(f"auto: kernel must be None or 'linear' with {name}, got {wishes.kernel!r}.")
    if name == "task_column" and task == "classification" and material.n_classes > 2:
        raise ValueError(f"auto: task_column needs two classes or amounts, got {material.n_classes} classes.")


def _method_refused(method: Method, wishes: Wishes) -> str:
    able = [m.name for m in registry.methods() if m.task == method.task and wishes.needs_met <= set(m.needs)]
    given = next(_GIVEN_AS[need] for need in sorted(wishes.needs_met))
    return f"auto: method must be one of {', '.join(map(repr, able))} with {given}, got {method.name!r}."


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
    if wishes.outlier_label is not None:
        return _for_outliers(material, wishes)
    if wishes.unlabelled_label is not None:
        return _for_unlabelled(material, wishes)
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


def _for_outliers(material: Material, wishes: Wishes) -> tuple[tuple[str, ...], str]:
    """Names of methods that know rows of no class, and why."""
    n_rows = material.facts.n_rows
    if wishes.kernel in ("linear", "nystroem", "nystroem-linear"):
        return ("pegasossnd",), "rows may be of no class, and it is the one without a kernel of its own"
    if n_rows > _SND_ROWS:
        return ("pegasossnd",), f"rows may be of no class, and {n_rows:,} are too many to compare with one another"
    if n_rows > _LSSND_ROWS:
        return ("snd",), "rows may be of no class, and it draws a boundary around every class"
    return ("snd", "lssnd"), "rows may be of no class, and both draw a boundary around every class"


def _for_unlabelled(material: Material, wishes: Wishes) -> tuple[tuple[str, ...], str]:
    """Names of methods that learn from rows without a label, and why."""
    by_clusters = wishes.kernel in (None, "rbf") and set(wishes.params) <= set(
        inspect.signature(named("semiksc").cls).parameters
    )
    if by_clusters and material.facts.n_rows > _MOST_COMPARED:
        return ("semiksc",), "few rows have labels, and it learns from any number of others by landmarks"
    if by_clusters:
        return ("universum", "triclass", "semiksc"), "few rows have labels, and all learn from the others, too"
    return ("universum", "triclass"), "few rows have labels, and both learn from the others, too"


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
    if "covariance" in takes and material.is_narrow(_FULL):
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
    if method.task == "clustering" and wishes.sparsity and "alpha" not in takes and not has_kernel(method):
        raise ValueError(f"auto: sparsity needs centres of few features, which {method.name!r} does not have.")
    if has_kernel(method):
        params |= _own_kernel(method, material, wishes)
    labels = {"outlier_label": wishes.outlier_label, "unlabelled_label": wishes.unlabelled_label}
    params |= {name: label for name, label in labels.items() if label is not None and name in takes}
    if "groups" in takes:
        has_words = isinstance(material.X, Table) and bool(material.X.text) and wishes.categories == "onehot"
        params["groups"] = "encoder" if wishes.groups is None and has_words else wishes.groups
    start = {name: p.default for name, p in takes.items()} | _first_tries(method, material)
    params |= _first_tries(method, material)
    params |= {name: start[name] * unit for name, unit in units(method, material, wishes).items()}
    unknown = set(wishes.params) - set(takes)
    if unknown:
        raise ValueError(f"auto: params must name parameters of {method.name!r}, got {min(unknown)!r}.")
    untold = wishes.outlier_label is not None and not material.n_no_class and not has_stand_ins(material, wishes)
    return Candidate(method, params | wishes.params, fixed=("nu", "gamma") if untold else ())


def _own_kernel(method: Method, material: Material, wishes: Wishes) -> dict[str, Any]:
    """The kernel of a method that has one, if it was asked for; what such a method cannot do is refused."""
    takes = inspect.signature(method.cls).parameters
    whole = isinstance(material.rest, tuple)
    n_rows = material.facts.n_rows if whole else material.X.shape[0]
    by_landmarks = "n_components" in takes and "n_components" not in wishes.params
    landmarks = {"n_components": _LANDMARKS} if by_landmarks and n_rows > _WHOLE_IN_SEARCH else {}
    if n_rows > _MOST_COMPARED and "n_components" not in {*landmarks, *wishes.params}:
        instead = "a part of the unlabelled rows will do" if wishes.unlabelled_label is not None else _INSTEAD
        raise ValueError(
            f"auto: method {method.name!r} compares every row with every other and takes at most {_MOST_COMPARED:,}, "
            f"got {n_rows:,}; {instead}."
        )
    if wishes.sparsity:
        raise ValueError(f"auto: sparsity needs a method that weighs features, but {method.name!r} compares rows.")
    if wishes.kernel is None:
        return landmarks
    if "kernel" not in takes:
        raise ValueError(f"auto: kernel must be None for {method.name!r}, which weighs many, got {wishes.kernel!r}.")
    if wishes.kernel not in OWN_KERNELS:
        known = ", ".join(map(repr, OWN_KERNELS))
        raise ValueError(
            f"auto: kernel must be one of {known} for {method.name!r}, which needs no map, got {wishes.kernel!r}."
        )
    return {"kernel": wishes.kernel, **landmarks}


def _first_tries(method: Method, material: Material) -> dict[str, Any]:
    """Better places than the defaults to begin a search from, where experience knows some."""
    if method.name == "pegasos-regressor":
        return {"alpha": 1e-2}  # small data are not done with long first steps
    if method.name == "l1rda" and material.is_sparse:
        return {"eta0": 100.0}  # rows of texts have length 1, spread over many columns
    if method.task == "clustering" and "n_init" in inspect.signature(method.cls).parameters:
        return {"n_init": 3}  # one start may be bad luck, and ten take long in a search
    if method.name == "poolcw":
        return {"max_iter": 1, "cost": 0.5}  # classes that count alike; a grid of costs takes nine times as long
    return {}


def units(method: Method, material: Material, wishes: Wishes) -> dict[str, float]:
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
