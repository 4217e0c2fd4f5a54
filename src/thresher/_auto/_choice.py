"""Choice of the methods to compare, with reasons, and of their first parameters."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np

from .. import registry
from .._engine import LOSSES, loss_name
from .._estimators import KINDS, Power
from .._figures import listed
from .._gate import Table
from ..registry import Method
from ._auto_options import OWN_KERNELS, STRUCTURE, AutoOptions
from ._plan import Candidate, Plan, find_method, has_kernel
from ._task import has_stand_ins

_LANDMARKS_OF_FEW, _LANDMARKS_OF_MANY, _FEW_ROWS = 10.0, 6.0, 5_000  # to begin with, times the root of the rows
_NOTES = {"columns": " with a curve for each column", "pairs": " with curves and pairs of columns"}
_CENTRE_SPARSITY = 0.05  # the part of the criterion that is sparsity, where centres may be sparse


def choose_methods(plan: Plan) -> tuple[list[Candidate], str]:
    """The methods to compare, the most promising first, and why these."""
    options = plan.options
    if options.needs & {"groups", "tasks"}:
        _check_structure(plan)
    if options.method is not None:
        method = find_method(options.method)
        _check_method(method, options)
        return [make_candidate(method, plan)], f"Method: {method.name}, as requested."
    methods, why = _best_methods(plan)
    title = "Method" if len(methods) == 1 else "Methods to try"
    candidates = [make_candidate(method, plan) for method in methods]
    return candidates, f"{title}: {listed([method.name for method in methods])}, because {why}."


def other_kinds(plan: Plan) -> list[Candidate]:
    """The best method for each kind of derived features, if a method declares that it suits them."""
    found = []
    for kind in KINDS[1:] if plan.options.kernel is None else ("landmarks",):
        able = [method for method, _ in registry.ranked(replace(plan.problem, kind=kind)) if _may_be_used(method, plan)]
        if able:
            n_landmarks = _LANDMARKS_OF_FEW if plan.problem.n_rows <= _FEW_ROWS else _LANDMARKS_OF_MANY
            found.append(_of_kind(make_candidate(able[0], plan), kind, n_landmarks))
    return found


def _of_kind(candidate: Candidate, kind: str, n_landmarks: float) -> Candidate:
    if kind == "kernel":
        return candidate
    curves = {"additive": "columns", "pairs": "pairs", "curved landmarks": "columns"}.get(kind, "")
    if kind.endswith("landmarks"):
        return replace(candidate, curves=curves, kernel="rbf", n_landmarks=n_landmarks)
    return replace(candidate, curves=curves, note=_NOTES[curves])


def _may_be_used(method: Method, plan: Plan) -> bool:
    """Whether a method supports the user's options, and streams if the rows do not fit into memory."""
    options = plan.options
    takes_loss = options.loss is None or loss_name(options.loss) in method.losses
    return takes_loss and options.fixed.keys() <= method.defaults.keys() and plan.problem.n_rows <= max_rows(method)


def _best_methods(plan: Plan) -> tuple[list[Method], str]:
    """Methods by rank, and the reason of the first."""
    options, problem = plan.options, plan.problem
    ranked = registry.ranked(problem)
    if options.loss is not None:
        ranked = [(method, good) for method, good in ranked if loss_name(options.loss) in method.losses]
    if not ranked:
        return _any_method(plan)
    able = [(method, good) for method, good in ranked if options.fixed.keys() <= method.defaults.keys()] or ranked
    able = [(method, good) for method, good in able if problem.n_rows <= max_rows(method)] or able
    return [method for method, _ in able], able[0][1].describe(problem, len(able))


def _any_method(plan: Plan) -> tuple[list[Method], str]:
    """A method that supports the loss, if no method declares itself suitable for the problem."""
    loss, task = plan.options.loss, plan.task
    fitting = registry.methods(task, plan.problem.needs)
    able = [method for method in fitting if loss is not None and loss_name(loss) in method.losses]
    if able:
        return able[:1], f"it supports loss={loss!r}"
    if loss is None:
        raise ValueError(f"auto: there is no method for {task}.")
    known = sorted({loss for method in fitting for loss in method.losses})
    raise ValueError(f"auto: loss must be one of {', '.join(map(repr, known))} for {task}, got {loss!r}.")


def prefer_sparse_centres(plan: Plan, candidates: list[Candidate]) -> tuple[Plan, list[str]]:
    """Prefer centres of few features, unless the user asked for something else or no penalty is tuned."""
    method = candidates[0].method
    has_penalty = method.task == "clustering" and "alpha" in method.space
    if not has_penalty or plan.options.sparsity is not None or {"alpha", "sparsity"} & plan.options.fixed.keys():
        return plan, []
    share = f"the share of zeros in them makes up {100 * _CENTRE_SPARSITY:g} % of the criterion"
    return replace(plan, options=replace(plan.options, sparsity=_CENTRE_SPARSITY)), [
        f"Sparse centres are preferred: {share}; sparsity=0 turns this off."
    ]


# --- refusals ---------------------------------------------------------------------------------------------------------


def _check_structure(plan: Plan) -> None:
    """Refuse groups and tasks that no method, or not this one, can use."""
    options = plan.options
    given = [name for need, name in STRUCTURE.items() if need in options.needs]
    if len(given) > 1:
        raise ValueError(f"auto: {' and '.join(given)} cannot both be given, because no method supports both.")
    (name,) = given
    if plan.task == "clustering":
        raise ValueError(f"auto: {name} is for classification and regression, but the task is clustering.")
    if options.kernel not in (None, "linear"):
        raise ValueError(f"auto: kernel must be None or 'linear' with {name}, got {options.kernel!r}.")
    n_classes = plan.data.n_classes
    if name == "task_column" and plan.task == "classification" and n_classes > 2:
        raise ValueError(f"auto: task_column needs two classes or a numeric target, got {n_classes} classes.")


def _check_method(method: Method, options: AutoOptions) -> None:
    """Refuse a loss or a structure that the method does not take."""
    loss = options.loss
    if loss is not None and not method.losses:
        raise ValueError(f"auto: method {method.name!r} has no choice of losses, got loss={loss!r}.")
    if loss is not None and loss_name(loss) not in method.losses:
        names = ", ".join(map(repr, method.losses))
        raise ValueError(f"auto: loss must be one of {names} for {method.name!r}, got {loss!r}.")
    if not options.needs <= set(method.needs):
        able = [m.name for m in registry.methods(method.task) if options.needs <= set(m.needs)]
        given = next(STRUCTURE[need] for need in sorted(options.needs))
        raise ValueError(f"auto: method must be one of {', '.join(map(repr, able))} with {given}, got {method.name!r}.")


_WHOLE_IN_SEARCH = 2_000  # rows up to which a search may compare all of them; beyond, landmarks stand for them
_LANDMARKS = {"clustering": 2.0, "classification": 15.0}  # times the root of the number of rows
_FULL = 100  # features up to which a learner may keep the covariance of all pairs
_VISITS = 20_000  # rows that a learner should see in all; small data are passed over several times
_MOST_PASSES = 50


def make_candidate(method: Method, plan: Plan) -> Candidate:
    """A method with the parameters that are fixed before any search."""
    options = plan.options
    takes = method.defaults
    params = {name: value for name, value in _from_data(method, plan).items() if name in takes and value is not None}
    if has_kernel(method):
        params |= _kernel_params(method, plan)
    elif method.task == "clustering" and options.sparsity and "alpha" not in takes:
        raise ValueError(f"auto: sparsity needs sparse centres, which {method.name!r} does not have.")
    start = method.advice.start(plan.problem)
    params |= start | {name: (takes | start)[name] * unit for name, unit in target_units(method, plan).items()}
    unknown = options.fixed.keys() - takes.keys()
    if unknown:
        raise ValueError(f"auto: params must name parameters of {method.name!r}, got {min(unknown)!r}.")
    untold = options.outlier_label is not None and not plan.data.n_no_class and not has_stand_ins(plan.data, options)
    settled = method.advice.settled if options.method is None else ()
    return Candidate(method, params | options.fixed, fixed=("nu", "gamma") if untold else settled)


def _from_data(method: Method, plan: Plan) -> dict[str, Any]:
    """Parameters of any method that follow from the data and the options; None leaves the default."""
    data, options = plan.data, plan.options
    full = "covariance" in method.defaults and data.is_narrow(_FULL)
    has_words = isinstance(data.X, Table) and bool(data.X.text) and options.categories == "onehot"
    return {
        "random_state": options.random_state,
        "average": True if method.task == "classification" and not full else None,  # steadier, if rows are few
        "intercept_scaling": None if data.is_sparse else 1.0,  # the constant is one column among others of size 1
        "covariance": "full" if full else None,
        "max_iter": _passes(method, data.facts.n_rows),
        "class_weight": plan.class_weight,
        "probability": plan.probability if plan.class_weight is not None else None,
        "n_clusters": options.n_clusters,
        "loss": options.loss,
        "outlier_label": options.outlier_label,
        "unlabelled_label": options.unlabelled_label,
        "groups": "encoder" if options.groups is None and has_words else options.groups,
    }


def _passes(method: Method, n_rows: int) -> int | None:
    if method.task == "clustering" or not method.streams:
        return None
    least = method.defaults.get("max_iter", 1)
    return int(np.clip(math.ceil(_VISITS / n_rows), method.cls._few_passes if least == "auto" else least, _MOST_PASSES))


def max_rows(method: Method) -> float:
    """Rows that a method can take at most; landmarks may stand for any number of them."""
    return math.inf if "n_components" in method.defaults else getattr(method.cls, "_max_rows", math.inf)


def _kernel_params(method: Method, plan: Plan) -> dict[str, Any]:
    """Parameters of a method with a kernel of its own; options that make no sense for it are refused."""
    data, options, takes = plan.data, plan.options, method.defaults
    n_rows = data.facts.n_rows if isinstance(data.rest, tuple) else data.X.shape[0]
    if n_rows > (most := max_rows(method)):
        takes_at_most = f"compares all pairs of rows and takes at most {most:,}, got {n_rows:,}"
        raise ValueError(f"auto: method {method.name!r} {takes_at_most}; {_instead(plan)}.")
    if options.sparsity:
        raise ValueError(f"auto: sparsity needs a method with feature weights, but {method.name!r} compares rows.")
    by_landmarks = "n_components" in takes and "n_components" not in options.fixed and n_rows > _WHOLE_IN_SEARCH
    params: dict[str, Any] = {"n_components": _LANDMARKS[method.task]} if by_landmarks else {}
    if options.kernel is None:
        return params
    if "kernel" not in takes:
        raise ValueError(f"auto: kernel must be None for {method.name!r}, which has several, got {options.kernel!r}.")
    if options.kernel not in OWN_KERNELS:
        known = f"one of {', '.join(map(repr, OWN_KERNELS))} for {method.name!r}, which needs no map"
        raise ValueError(f"auto: kernel must be {known}, got {options.kernel!r}.")
    return {"kernel": options.kernel, **params}


def _instead(plan: Plan) -> str:
    if plan.options.unlabelled_label is not None:
        return "use only some of the unlabelled rows"
    linear = [repr(method.name) for method, _ in registry.ranked(plan.problem) if not has_kernel(method)][:1]
    return " such as ".join(["kernel='nystroem' has no such limit, with a linear method", *linear])


def target_units(method: Method, plan: Plan) -> dict[str, float]:
    """Parameters of a regressor that depend on the unit of the target, each with the factor from targets of size 1."""
    y = plan.data.y
    if method.task != "regression" or y is None or not method.losses:
        return {}
    size = float(f"{np.std(y):.3g}") or 1.0
    loss = LOSSES[loss_name(plan.options.loss or method.losses[0])]
    powers = {"epsilon": Power(squared=int(loss.parameter == "epsilon"), other=1), **method.advice.powers}
    units = {name: power.squared if loss.degree == 2 else power.other for name, power in powers.items()}
    takes = method.defaults
    return {name: size if power > 0 else 1 / size for name, power in units.items() if power and name in takes}
