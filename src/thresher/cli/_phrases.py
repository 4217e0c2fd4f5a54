"""The command and the Python code of a run as text, for users to repeat it."""

from __future__ import annotations

import inspect
import shlex
from typing import Any

import click


def typed() -> list[str]:
    """The arguments that the user typed behind ``thresher``."""
    return list(click.get_current_context().obj or ())


def command_line(args: list[str]) -> str:
    """A line to paste into a shell."""
    return shlex.join(["thresher", *args])


def essential(args: list[str]) -> list[str]:
    """The arguments without those that leave the model as it is: a run that was stopped and resumed, or that wrote to
    another place, made the same model."""
    kept: list[str] = []
    skip = False
    for arg in args:
        name = arg.partition("=")[0]
        if skip:
            skip = False
        elif name in _WITH_VALUE:
            skip = "=" not in arg
        elif name not in _FLAGS:
            kept.append(arg)
    return kept


_WITH_VALUE = ("--model", "--report", "--checkpoint-seconds", "--test", "--history", "--n-jobs")
_FLAGS = ("--resume", "--quiet", "--json")
_OPEN = "from thresher.streams import open_stream"


def python_for_train(job: Any, model: Any, classes: Any, order: dict[str, Any], in_memory: bool) -> str:
    """The Python that does the same as ``thresher train``."""
    usual = {"max_iter": 1, "shuffle": 0, "random_state": 0 if order["shuffle"] else order["random_state"]}
    stream = job.options | {name: value for name, value in order.items() if value != usual[name]}
    imports, made = _constructor(model)
    lines = [f"stream = open_stream({_arguments(job.paths, stream)})", f"model = {made}"]
    if in_memory:
        gaps = ", model=model" if job.seen.n_unlabelled else ""
        tool, lines = "read_all", [*lines, f"X, y = read_all(stream{gaps})", "model.fit(X, y)"]
    else:
        tool, named = "train", "" if classes is None else f", classes={classes!r}"
        lines += [f"run = train(model, stream{named})", "run.model.predict  # the trained model"]
    return _script([*imports, _OPEN, f"from thresher.training import {tool}"], lines)


def _script(imports: list[str], lines: list[str]) -> str:
    return "\n".join([*sorted(set(imports)), "", *lines])


def _arguments(first: Any, named: dict[str, Any]) -> str:
    return ", ".join(
        [*([] if first is None else [repr(first)]), *(f"{name}={value!r}" for name, value in named.items())]
    )


def python_for_rounds(paths: Any, model: Any, engine: str, options: dict[str, Any]) -> str:
    """The Python that does the same as ``thresher train --engine``."""
    from ..distributed import fit

    imports, made = _constructor(model)
    usual = inspect.signature(fit).parameters
    given = {name: value for name, value in options.items() if value and value != usual[name].default}
    lines = [
        f"model = {made}",
        'if __name__ == "__main__":  # a cluster on this machine starts processes of its own',
        f"    model = distributed.fit(model, {_arguments(paths, {'engine': engine, **given})})",
    ]
    return _script([*imports, "from thresher import distributed"], lines)


def _constructor(model: Any) -> tuple[list[str], str]:
    """Import lines, and the call that makes the model."""
    if hasattr(model, "steps"):
        imports, parts = ["from thresher.preprocessing import StreamingPipeline"], []
        for name, step in model.steps:
            more, made = _constructor(step)
            imports += more
            parts.append(f'("{name}", {made})')
        tasks = "" if model.task_column is None else f", task_column={model.task_column!r}"
        return imports, f"StreamingPipeline([{', '.join(parts)}]{tasks})"
    room = type(model).__module__.split(".")[1]
    usual = inspect.signature(type(model)).parameters
    given = {k: v for k, v in model.get_params(deep=False).items() if repr(v) != repr(usual[k].default)}
    arguments = ", ".join(f"{k}={v!r}" for k, v in given.items())
    return [f"from thresher.{room} import {type(model).__name__}"], f"{type(model).__name__}({arguments})"


def python_for_tune(job: Any, search: Any, criterion: str) -> str:
    """The Python that does the same as ``thresher tune``."""
    imports, made = _constructor(search.estimator)
    tools = {"CoupledAnnealingSearchCV", "criterion", *(type(where).__name__ for where in search.space.values())}
    scoring = f'criterion("{criterion}")'
    if sparsity := job.given["sparsity"]:
        scoring = f"sparsity_scorer({scoring}, {sparsity})"
        tools.add("sparsity_scorer")
    if not isinstance(search.cv, int):
        tools.add(type(search.cv).__name__)
    options = {name: getattr(search, name) for name in ("search", "n_evaluations", "max_seconds", "cv", "random_state")}
    spaces = ", ".join(f'"{name}": {where!r}' for name, where in search.space.items())
    gaps = ", model=model" if job.seen.n_unlabelled else ""
    lines = [
        *([f"model = {made}"] if gaps else []),
        f"X, y = read_all(open_stream({_arguments(job.paths, job.options)}){gaps})",
        "search = CoupledAnnealingSearchCV(",
        f"    {'model' if gaps else made},",
        f"    {{{spaces}}},",
        f"    scoring={scoring},",
        *(f"    {name}={' '.join(repr(value).split())}," for name, value in options.items()),
        ").fit(X, y)",
        "search.best_params_, search.best_score_",
    ]
    tuning = f"from thresher.tuning import {', '.join(sorted(tools))}"
    return _script([*imports, _OPEN, "from thresher.training import read_all", tuning], lines)


def python_for_auto(paths: Any, options: dict[str, Any], arguments: dict[str, Any]) -> str:
    """The Python that does the same as ``thresher auto``."""
    return f"import thresher\n\nmodel = thresher.auto({_arguments(paths, {**arguments, **options})})"
