"""Commands and Python as text, so that a user can do it alone next time."""

from __future__ import annotations

import inspect
import shlex
from typing import Any

import click


def typed() -> list[str]:
    """What the user typed behind ``thresher``."""
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


_WITH_VALUE = ("--model", "--report", "--checkpoint-every", "--test", "--history", "--jobs")
_FLAGS = ("--resume", "--quiet", "--json")


def python_for_train(
    paths: Any,
    options: dict[str, Any],
    model: Any,
    classes: Any,
    passes: int,
    shuffle: int,
    seed: int,
    in_memory: bool,
) -> str:
    """The Python that does what ``thresher train`` does."""
    stream = {**options, "max_iter": passes, "shuffle": shuffle, "random_state": seed}
    if passes == 1:
        del stream["max_iter"]
    if not shuffle:
        del stream["shuffle"]
    if not seed or not shuffle:
        del stream["random_state"]
    imports, made = _constructor(model)
    tool = "read_all" if in_memory else "train"
    lines = [
        *sorted({*imports, "from thresher.streams import open_stream", f"from thresher.training import {tool}"}),
        "",
        f"stream = open_stream({', '.join([repr(paths), *(f'{k}={v!r}' for k, v in stream.items())])})",
        f"model = {made}",
    ]
    if in_memory:
        lines += ["X, y = read_all(stream)", "model.fit(X, y)"]
    else:
        lines += [
            f"run = train(model, stream{'' if classes is None else f', classes={classes!r}'})",
            "run.model.predict  # the trained model",
        ]
    return "\n".join(lines)


def python_for_rounds(paths: Any, model: Any, engine: str, told: dict[str, Any]) -> str:
    """The Python that does what ``thresher train --engine`` does."""
    from ..distributed import fit

    imports, made = _constructor(model)
    usual = inspect.signature(fit).parameters
    given = {name: value for name, value in told.items() if value and value != usual[name].default}
    arguments = ", ".join([repr(paths), f"engine={engine!r}", *(f"{k}={v!r}" for k, v in given.items())])
    return "\n".join(
        [
            *sorted({*imports, "from thresher import distributed"}),
            "",
            f"model = {made}",
            'if __name__ == "__main__":  # a cluster on this machine starts processes of its own',
            f"    model = distributed.fit(model, {arguments})",
        ]
    )


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
    defaults = type(model)().get_params(deep=False)
    given = {k: v for k, v in model.get_params(deep=False).items() if repr(v) != repr(defaults[k])}
    arguments = ", ".join(f"{k}={v!r}" for k, v in given.items())
    return [f"from thresher.{room} import {type(model).__name__}"], f"{type(model).__name__}({arguments})"


def python_for_tune(
    paths: Any,
    options: dict[str, Any],
    model: Any,
    space: dict[str, Any],
    prefix: str,
    criterion: str,
    given: dict[str, Any],
) -> str:
    """The Python that does what ``thresher tune`` does."""
    imports, made = _constructor(model)
    kinds = sorted({type(where).__name__ for where in space.values()})
    scoring = f'criterion("{criterion}")'
    if given["sparsity"]:
        scoring = f"sparsity_scorer({scoring}, {given['sparsity']})"
    folds = [] if isinstance(given["cv"], int) else [type(given["cv"]).__name__]
    tools = sorted(
        ["CoupledAnnealingSearchCV", "criterion", *kinds, *folds, *(["sparsity_scorer"] if given["sparsity"] else [])]
    )
    spaces = ", ".join(f'"{prefix}{name}": {where!r}' for name, where in space.items())
    search = {
        "search": given["search"],
        "n_evaluations": given["evaluations"],
        "max_seconds": given["seconds"],
        "cv": given["cv"],
        "random_state": given["seed"],
    }
    lines = [
        *sorted({*imports, "from thresher.streams import open_stream", "from thresher.training import read_all"}),
        f"from thresher.tuning import {', '.join(tools)}",
        "",
        f"X, y = read_all(open_stream({', '.join([repr(paths), *(f'{k}={v!r}' for k, v in options.items())])}))",
        "search = CoupledAnnealingSearchCV(",
        f"    {made},",
        f"    {{{spaces}}},",
        f"    scoring={scoring},",
        *(f"    {name}={' '.join(repr(value).split())}," for name, value in search.items()),
        ").fit(X, y)",
        "search.best_params_, search.best_score_",
    ]
    return "\n".join(lines)


def python_for_auto(paths: Any, options: dict[str, Any], arguments: dict[str, Any]) -> str:
    """The Python that does what ``thresher auto`` does."""
    given = [repr(paths), *(f"{k}={v!r}" for k, v in {**arguments, **options}.items())]
    return f"import thresher\n\nmodel = thresher.auto({', '.join(given)})"
