"""Choice of the methods to compare: those that declare themselves good for the problem, with the reasons they give."""

from __future__ import annotations

from dataclasses import replace

from .. import registry
from .._engine import loss_name
from ..registry import Method
from ._auto_options import STRUCTURE, AutoOptions
from ._plan import Candidate, Plan, find_method, parameters
from ._start import make_candidate, max_rows

_CENTRE_SPARSITY = 0.05  # the part of the criterion that is sparsity, where centres may be sparse


def choose_methods(plan: Plan) -> tuple[list[Candidate], str]:
    """The methods to compare, the most promising first, and why these."""
    options = plan.options
    if options.needs & {"groups", "tasks"}:
        _check_structure(plan)
    if options.method is not None:
        method = find_method(options.method)
        _check_method(method, options)
        return [make_candidate(method, plan)], f"Method: {method.name}, as asked."
    methods, why = _best_methods(plan)
    title = "Method" if len(methods) == 1 else "Methods to try"
    candidates = [make_candidate(method, plan) for method in methods]
    baseline = methods[0].advice.baseline
    if options.unlabelled_label is not None and baseline is not None and not baseline.params.keys() & options.fixed:
        plain = replace(
            candidates[0],
            params={**candidates[0].params, **baseline.params},
            fixed=(*baseline.params, *baseline.unused),
            note=f" without unlabelled rows ({baseline.name})",
        )
        candidates.insert(1, plain)
    return candidates, f"{title}: {' and '.join(method.name for method in methods)}, because {why}."


def _best_methods(plan: Plan) -> tuple[list[Method], str]:
    """Methods by rank, and the reason of the first."""
    options, problem = plan.options, plan.problem
    ranked = registry.ranked(problem)
    if options.loss is not None:
        ranked = [(method, good) for method, good in ranked if loss_name(options.loss) in method.losses]
    if not ranked:
        return _any_method(plan)
    able = [(method, good) for method, good in ranked if options.fixed.keys() <= parameters(method).keys()] or ranked
    able = [(method, good) for method, good in able if problem.n_rows <= max_rows(method)] or able
    return [method for method, _ in able], able[0][1].describe(problem, len(able))


def _any_method(plan: Plan) -> tuple[list[Method], str]:
    """A method that takes the loss, though none of those declares itself good for the problem."""
    loss, task = plan.options.loss, plan.task
    fitting = registry.methods(task, plan.problem.needs)
    able = [method for method in fitting if loss is not None and loss_name(loss) in method.losses]
    if able:
        return able[:1], f"it takes the loss {loss!r}"
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
    share = f"their share of values other than 0 is {100 * _CENTRE_SPARSITY:g} % of the criterion"
    return replace(plan, options=replace(plan.options, sparsity=_CENTRE_SPARSITY)), [
        f"Sparse centres are preferred: {share}; sparsity=0 turns this off."
    ]


# --- refusals ---------------------------------------------------------------------------------------------------------


def _check_structure(plan: Plan) -> None:
    """Refuse groups and tasks that no method, or not this one, can use."""
    options = plan.options
    given = [name for need, name in STRUCTURE.items() if need in options.needs]
    if len(given) > 1:
        raise ValueError(f"auto: {' and '.join(given)} cannot both be given, because no method takes both.")
    (name,) = given
    if plan.task == "clustering":
        raise ValueError(f"auto: {name} is for classification and regression, but the task is clustering.")
    if options.kernel not in (None, "linear"):
        raise ValueError(f"auto: kernel must be None or 'linear' with {name}, got {options.kernel!r}.")
    n_classes = plan.data.n_classes
    if name == "task_column" and plan.task == "classification" and n_classes > 2:
        raise ValueError(f"auto: task_column needs two classes or amounts, got {n_classes} classes.")


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
