"""Parameters that a method begins a search with: those that follow from the data, the options and its own advice."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from .. import registry
from .._engine import LOSSES, loss_name
from .._estimators import Power
from .._gate import Table
from ..registry import Method
from ._auto_options import OWN_KERNELS
from ._plan import Candidate, Plan, has_kernel, parameters
from ._special_labels import has_stand_ins

_WHOLE_IN_SEARCH = 2_000  # rows up to which a search may compare all of them; beyond, landmarks stand for them
_LANDMARKS = 2.0  # times the root of the number of rows
_FULL = 100  # features up to which a learner may keep the covariance of all pairs
_VISITS = 20_000  # rows that a learner should see in all; small data are passed over several times
_MOST_PASSES = 50


def make_candidate(method: Method, plan: Plan) -> Candidate:
    """A method with the parameters that are settled before any search."""
    options = plan.options
    takes = parameters(method)
    params = {name: value for name, value in _from_data(method, plan).items() if name in takes and value is not None}
    if has_kernel(method):
        params |= _kernel_params(method, plan)
    elif method.task == "clustering" and options.sparsity and "alpha" not in takes:
        raise ValueError(f"auto: sparsity needs centres of few features, which {method.name!r} does not have.")
    start = method.advice.start(plan.problem)
    params |= start | {name: (takes | start)[name] * unit for name, unit in target_units(method, plan).items()}
    unknown = options.fixed.keys() - takes.keys()
    if unknown:
        raise ValueError(f"auto: params must name parameters of {method.name!r}, got {min(unknown)!r}.")
    untold = options.outlier_label is not None and not plan.data.n_no_class and not has_stand_ins(plan.data, options)
    return Candidate(method, params | options.fixed, fixed=("nu", "gamma") if untold else ())


def _from_data(method: Method, plan: Plan) -> dict[str, Any]:
    """Parameters of any method that follow from the data and the options; None leaves the default."""
    data, options = plan.data, plan.options
    has_words = isinstance(data.X, Table) and bool(data.X.text) and options.categories == "onehot"
    return {
        "random_state": options.random_state,
        "average": True if method.task == "classification" else None,  # steadier, above all when rows are few
        "intercept_scaling": None if data.is_sparse else 1.0,  # the constant is one column among others of size 1
        "covariance": "full" if data.is_narrow(_FULL) else None,
        "max_iter": _passes(method, data.facts.n_rows),
        "class_weight": "balanced" if data.is_imbalanced else None,
        "n_clusters": options.n_clusters,
        "loss": options.loss,
        "outlier_label": options.outlier_label,
        "unlabelled_label": options.unlabelled_label,
        "groups": "encoder" if options.groups is None and has_words else options.groups,
    }


def _passes(method: Method, n_rows: int) -> int | None:
    if method.task == "clustering" or not method.streams:
        return None
    return int(np.clip(math.ceil(_VISITS / n_rows), parameters(method).get("max_iter", 1), _MOST_PASSES))


def max_rows(method: Method) -> float:
    """Rows that a method can take at most; landmarks may stand for any number of them."""
    return math.inf if "n_components" in parameters(method) else getattr(method.cls, "_max_rows", math.inf)


def _kernel_params(method: Method, plan: Plan) -> dict[str, Any]:
    """Parameters of a method with a kernel of its own; options that make no sense for it are refused."""
    data, options, takes = plan.data, plan.options, parameters(method)
    n_rows = data.facts.n_rows if isinstance(data.rest, tuple) else data.X.shape[0]
    if n_rows > (most := max_rows(method)):
        raise ValueError(
            f"auto: method {method.name!r} compares all pairs of rows and takes at most {most:,}, "
            f"got {n_rows:,}; {_instead(plan)}."
        )
    if options.sparsity:
        raise ValueError(f"auto: sparsity needs a method that weighs features, but {method.name!r} compares rows.")
    by_landmarks = "n_components" in takes and "n_components" not in options.fixed and n_rows > _WHOLE_IN_SEARCH
    params: dict[str, Any] = {"n_components": _LANDMARKS} if by_landmarks else {}
    if options.kernel is None:
        return params
    if "kernel" not in takes:
        raise ValueError(f"auto: kernel must be None for {method.name!r}, which has several, got {options.kernel!r}.")
    if options.kernel not in OWN_KERNELS:
        known = ", ".join(map(repr, OWN_KERNELS))
        raise ValueError(
            f"auto: kernel must be one of {known} for {method.name!r}, which needs no map, got {options.kernel!r}."
        )
    return {"kernel": options.kernel, **params}


def _instead(plan: Plan) -> str:
    if plan.options.unlabelled_label is not None:
        return "use a part of the unlabelled rows"
    linear = [repr(method.name) for method, _ in registry.ranked(plan.problem) if not has_kernel(method)][:1]
    return " such as ".join(["kernel='nystroem' takes any number of rows with a linear method", *linear])


def target_units(method: Method, plan: Plan) -> dict[str, float]:
    """Parameters of a regressor that depend on the unit of the target, each with the factor from targets of size 1."""
    y = plan.data.y
    if method.task != "regression" or y is None or not method.losses:
        return {}
    size = float(f"{np.std(y):.3g}") or 1.0
    loss = LOSSES[loss_name(plan.options.loss or method.losses[0])]
    powers = {"epsilon": Power(squared=int(loss.parameter == "epsilon"), other=1), **method.advice.powers}
    units = {name: power.squared if loss.degree == 2 else power.other for name, power in powers.items()}
    takes = parameters(method)
    return {name: size if power > 0 else 1 / size for name, power in units.items() if power and name in takes}
