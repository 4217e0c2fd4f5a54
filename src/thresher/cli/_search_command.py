"""``thresher tune`` and ``thresher auto``: parameters found by searching."""

from __future__ import annotations

import inspect
import math
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from ._classes import check_task
from ._distributed_options import searching_on
from ._options import (
    NO_COLUMN,
    MethodCommand,
    check_places,
    data_options,
    files,
    literal,
    method,
    method_params,
    output_options,
    preparation_options,
    stream_options,
)
from ._phrases import command_line, essential, python_for_auto, python_for_tune, typed
from ._report_output import finish
from ._screen import Screen
from ._structure_options import Columns, check_structure, structure_options
from ._train_command import fitted, groups_for

_CRITERIA = ("error", "balanced_error", "f1", "roc_auc", "average_precision", "mse", "silhouette", "line_fit")


def search_options(command: Callable[..., Any]) -> Callable[..., Any]:
    options = [
        click.option("--criterion", type=click.Choice(_CRITERIA), help="What to do well on (default: by the task)."),
        click.option(
            "--search",
            type=click.Choice(["annealing", "directed", "random"]),
            default="annealing",
            show_default=True,
            help="How to look for parameters.",
        ),
        click.option(
            "--evaluations",
            type=click.IntRange(1),
            default=50,
            show_default=True,
            help="Budget: parameter values tried.",
        ),
        click.option("--seconds", type=click.FloatRange(0, min_open=True), help="Budget: time."),
        click.option(
            "--sparsity",
            type=click.FloatRange(0, 1),
            help="How much a small model counts against a good one: 0 not at all, 1 alone.",
        ),
        click.option("--folds", type=click.IntRange(2), help="Folds of the cross-validation (default 5)."),
        click.option(
            "--rows",
            "max_rows",
            type=click.IntRange(10),
            default=100_000,
            show_default=True,
            help="Search on an even sample of about so many rows.",
        ),
        click.option("--jobs", type=int, help="Processes to use (-1: all cores)."),
        click.option(
            "--engine",
            help="Search on a cluster: dask://host:port, spark://host:port, or dask for this machine's cores.",
        ),
        click.option("--test", "tests", multiple=True, help="Files to measure the model on; may be repeated."),
        click.option(
            "--model", "model_path", type=click.Path(path_type=Path, dir_okay=False), help="Where to write the model."
        ),
        click.option(
            "--report",
            "report_path",
            type=click.Path(path_type=Path, dir_okay=False),
            help="Where to write a report: .html, .txt or .json.",
        ),
    ]
    command = preparation_options(command)
    for option in reversed(options):
        command = option(command)
    return command


@click.command(cls=MethodCommand)
@data_options
@click.option(
    "--method", "method_name", metavar="NAME", required=True, help="Which learner; `thresher methods` lists them."
)
@structure_options
@click.option(
    "--space",
    "spaces",
    multiple=True,
    metavar="NAME=LOW:HIGH",
    help="Range of a parameter on a log scale, or NAME=a,b,c for choices; may be repeated (default: the method's own).",
)
@click.option(
    "--history",
    type=click.Path(dir_okay=False),
    help="Keep every evaluation in this file; a stopped search goes on from it.",
)
@search_options
@output_options
def tune(data: tuple[str, ...], method_name: str, as_json: bool, quiet: bool, **given: Any) -> None:
    """Find good parameters of one method for DATA by cross-validation, then train on all rows.

    Parameters given as options stay as they are; the others of the method's search space are tuned.
    """
    from sklearn.base import clone

    from .. import training
    from .._auto import CRITERIA
    from ..preprocessing import prepared
    from ..streams import open_stream
    from ..tuning import CoupledAnnealingSearchCV, criterion, sparsity_scorer

    screen = Screen(as_json, quiet)
    found = method(method_name)
    check_structure(found, given)
    check_places(data, given)
    options = stream_options({**given, "data": data}, found.task)
    stream = open_stream(files(data), **options)
    seen = training.look(stream)
    classes = check_task(found, seen, None, None, stream.path.name)
    params = method_params(given, found.cls, seen)
    columns = Columns(data, options)
    task_column = columns.task(given["task_column"])
    params |= groups_for(found, columns, seen, given, screen)
    options |= columns.width(params.get("groups"), seen)
    stream = open_stream(files(data), **options)
    if "random_state" in found.cls._param_rules:
        params["random_state"] = given["seed"]
    made = {"scale": given["scale"], "categories": given["categories"], "task_column": task_column}
    model = prepared(found.cls(**params), seen.first, **made)
    space = _space(given["spaces"], found, params)
    prefix = f"{model.steps[-1][0]}__" if hasattr(model, "steps") else ""
    X, y = training.read_all(stream, given["max_rows"])
    cv, usual = _folds(found, model, y, given, screen)
    name = given["criterion"] or usual
    if name not in CRITERIA[found.task]:
        fitting = ", ".join(CRITERIA[found.task])
        raise click.UsageError(f"--criterion {name} does not suit {found.task}; these do: {fitting}.")
    scoring: Any = criterion(name)
    if given["sparsity"]:
        scoring = sparsity_scorer(scoring, given["sparsity"])
    search: Any = CoupledAnnealingSearchCV(
        model,
        {prefix + key: value for key, value in space.items()},
        search=given["search"],
        n_evaluations=given["evaluations"],
        max_seconds=given["seconds"],
        scoring=scoring,
        cv=cv,
        n_jobs=given["jobs"],
        random_state=given["seed"],
        progress=screen.watched,
        history=given["history"],
    )
    try:
        with searching_on(given["engine"], X, y):
            search.fit(X, y)
    except KeyboardInterrupt:
        kept = f"Evaluations are kept in {given['history']}; the same command goes on from there."
        raise KeyboardInterrupt(kept if given["history"] else "Nothing is kept; --history FILE would.") from None
    except ValueError as problem:  # scikit-learn tells of failed fits in many lines, the reason in the last
        raise ValueError(f"{found.name}: no parameters worked: {str(problem).strip().splitlines()[-1]}") from None
    if not math.isfinite(search.best_score_):
        why = next((trial["error"] for trial in search.history_ if trial["error"]), "no score is a number")
        raise ValueError(f"{found.name}: no parameters worked: {str(why).strip().splitlines()[-1]}")
    best = {key.removeprefix(prefix): value for key, value in search.best_params_.items()}
    said = ", ".join(
        f"{key}={value:.4g}" if isinstance(value, float) else f"{key}={value}" for key, value in best.items()
    )
    screen.remark(f"Best of {len(search.history_)}: {said} (cross-validated {name} {abs(search.best_score_):.4g}).")
    record = {
        "layout": stream.layout(),
        "stream": {key: value for key, value in options.items() if key in ("delimiter", "header", "format")},
        "command": command_line(essential(typed())),
        "python": python_for_tune(files(data), options, model, space, prefix, name, given | {"cv": cv}),
        "tuning": {"best": best, "score": float(search.best_score_), "criterion": name},
    }
    if X.shape[0] < _rows(stream) and found.streams:
        screen.remark("Training on all rows with these parameters.")
        run = training.train(clone(search.best_estimator_), stream, classes=classes, record=record)
    else:
        tuned = search.best_estimator_
        run = fitted(tuned, X, y, stream, record)
        if not given["tests"] and found.task != "clustering":
            run.held_out = training.predict_in_folds(tuned, X, y, random_state=given["seed"])
    save(run, given["model_path"])
    finish(screen, run, stream, given, record, search.history_)


@click.command(cls=MethodCommand)
@data_options
@click.option(
    "--task", type=click.Choice(["classification", "regression", "clustering"]), help="By default the target tells."
)
@click.option("--method", "method_name", metavar="NAME", help="Which learner (default: chosen, and explained).")
@click.option("--loss", help="What a mistake costs (default: the method's own).")
@click.option(
    "--kernel",
    type=click.Choice(["linear", "rbf", "polynomial", "cosine", "nystroem", "nystroem-linear"]),
    help="Straight or curved borders (default: chosen).",
)
@structure_options
@click.option(
    "--outlier-label", metavar="LABEL", help="What the target says, and predictions say, of rows of no class."
)
@click.option("--unlabelled-label", metavar="LABEL", help="What the target says of rows without a label, such as '?'.")
@click.option("--clusters", type=click.IntRange(1), help="Number of clusters, where there is no target.")
@search_options
@output_options
def auto(data: tuple[str, ...], method_name: str | None, as_json: bool, quiet: bool, **given: Any) -> None:
    """Data in, tuned model out: the task is detected, a method chosen, explained and tuned.

    Without --test, measures come from rows that were left out while learning (cross-validation), or along the stream
    for files larger than memory; the model that is kept learned from all rows.
    """
    from .._auto import explain, run_auto
    from ..streams import open_stream

    screen = Screen(as_json, quiet)
    check_places(data, given)
    options = stream_options({**given, "data": data}, given["task"])
    if method_name is not None:
        check_structure(method(method_name), given)
    columns = Columns(data, options)
    given["task_column"] = columns.task(None if given["task_column"] == NO_COLUMN else given["task_column"])
    given["groups"] = columns.groups(given["groups"])
    options |= columns.width(given["groups"])
    arguments = auto_arguments(method_name, given)
    stream = open_stream(files(data), **options)
    record = {
        "layout": stream.layout(),
        "stream": {key: value for key, value in options.items() if key in ("delimiter", "header", "format")},
        "command": command_line(essential(typed())),
        "python": python_for_auto(files(data), options, arguments),
    }
    begin = time.perf_counter()
    with searching_on(given["engine"]):
        run = run_auto(
            files(data), predict=not given["tests"], progress=screen.watched, record=record, **arguments, **options
        )
    seconds = time.perf_counter() - begin
    save(run, given["model_path"])
    found = run.model.record_["auto"]
    screen.remark(explain(run.model))
    asked = {"reasons": found["reasons"]}
    finish(screen, run, stream, given, {**record, "asked": asked}, found["search"], seconds)


def auto_arguments(method_name: str | None, given: dict[str, Any]) -> dict[str, Any]:
    """Arguments of ``thresher.auto``, only those that differ from its defaults."""
    from .. import auto as black_box

    arguments = {
        "task": given["task"],
        "method": method_name,
        "loss": given["loss"],
        "kernel": given["kernel"],
        "criterion": given["criterion"],
        "search": given["search"],
        "n_evaluations": given["evaluations"],
        "max_seconds": given["seconds"],
        "cv": given["folds"],
        "sparsity": given["sparsity"],
        "scale": given["scale"],
        "n_clusters": given["clusters"],
        "categories": given["categories"],
        "groups": given["groups"],
        "task_column": given["task_column"],
        "outlier_label": given["outlier_label"],
        "unlabelled_label": given["unlabelled_label"],
        "random_state": given["seed"],
        "n_jobs": given["jobs"],
        "max_rows_in_memory": given["max_rows"],
        "params": (method_params(given, method(method_name).cls) or None) if method_name is not None else None,
    }
    defaults = inspect.signature(black_box).parameters
    return {key: value for key, value in arguments.items() if value != defaults[key].default}


def save(run: Any, path: Path | None) -> None:
    from ..persistence import save_model

    if path is not None:
        save_model(run.model, path)


def _space(texts: tuple[str, ...], found: Any, params: dict[str, Any]) -> dict[str, Any]:
    """The method's own space without what the user has set, or what the user says."""
    from ..tuning import Choice, Log

    space = {name: where for name, where in found.space.items() if name not in params}
    for text in texts:
        name, sign, where = text.partition("=")
        name = name.strip().replace("-", "_")
        if not sign or name not in inspect.signature(found.cls).parameters:
            raise click.UsageError(f"--space must be a parameter of {found.name} and its range, got {text!r}.")
        low, colon, high = where.partition(":")
        if colon:
            try:
                space[name] = Log(float(low), float(high))
            except ValueError:
                raise click.UsageError(f"--space {name}: two numbers above 0 are needed, got {where!r}.") from None
        else:
            space[name] = Choice([literal(part) for part in where.split(",")])
    if not space:
        raise click.UsageError(f"there is nothing to tune: all of {', '.join(found.space) or 'nothing'} is given.")
    return space


def _folds(found: Any, model: Any, y: Any, given: dict[str, Any], screen: Screen) -> tuple[Any, str]:
    """The folds, and the usual criterion: rows of no class are new to every model, those without a label no test."""
    from ..training import is_no_class, learner_of
    from ..tuning import LabelledKFold, NoveltyKFold

    n_folds, learner, seed = given["folds"] or 5, learner_of(model), given["seed"]
    if "outliers" in found.needs and learner.outlier_label is not None:
        some = bool(is_no_class(model, y, "outlier_label").any())
        if not some:
            screen.remark(
                f"No row is {learner.outlier_label!r}, so that nothing tells how close to draw the boundaries; "
                "`thresher auto --outlier-label` makes up rows for it."
            )
        folds = NoveltyKFold(n_folds, outlier_label=learner.outlier_label, random_state=seed)
        return folds, "balanced_error" if some else "error"
    if "unlabelled" in found.needs and is_no_class(model, y, "unlabelled_label").any():
        mark = learner.unlabelled_label
        return LabelledKFold(n_folds, unlabelled_label=mark, shuffle=True, random_state=seed), "error"
    if hasattr(found.cls, "line_fit"):
        return n_folds, "line_fit"
    return n_folds, {"classification": "error", "regression": "mse", "clustering": "silhouette"}[found.task]


def _rows(stream: Any) -> int:
    return sum(len(batch) for batch in stream.batches())
