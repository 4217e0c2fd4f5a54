"""``thresher tune`` and ``thresher auto``: parameters found by searching."""

from __future__ import annotations

import math
import time
from typing import Any

import click

from . import _options as common
from ._distributed_options import searching_on
from ._method_options import MethodCommand, find_method, method_params, own_options
from ._option_words import in_options
from ._options import COUNT, FILE, Integer, Number, files, option, stream_options
from ._phrases import python_for_auto, python_for_tune
from ._report_output import finish, save
from ._screen import Screen
from ._structure_options import TableColumns, check_structure, structure_options
from ._train_command import fitted
from ._training_job import TrainingJob, check_task, record_of
from ._understood import remarks_on_reading

_CRITERIA = ("error", "balanced_error", "f1", "roc_auc", "average_precision", "mse", "silhouette", "line_fit")
_SEARCHES = ("annealing", "directed", "random")

search_options = common.grouped(
    option("--criterion", click.Choice(_CRITERIA), "The measure to optimise (default: by the task)."),
    option("--search", click.Choice(_SEARCHES), "The search for parameters.", default="annealing"),
    option("--n-evaluations", COUNT, "Budget: candidates tried.", default=50),
    option("--max-seconds --seconds max_seconds", Number(0, min_open=True), "Budget: time."),
    option(
        "--sparsity",
        Number(0, 1),
        "Weight of sparsity in the criterion, from 0 (none) to 1 (sparsity alone).",
    ),
    option("--cv", Integer(2), "Folds of the cross-validation (default 5)."),
    common.sample_options,
    option(
        "--engine", None, "Search on a cluster: dask://host:port, spark://host:port, or dask for this machine's cores."
    ),
    common.result_options,
    common.preparation_options,
)


@click.command(cls=MethodCommand)
@common.data_options
@option("--method method_name", None, "The learner; `thresher methods` lists them.", metavar="NAME", required=True)
@structure_options
@option(
    "--space spaces",
    None,
    "Range of a parameter on a log scale, or NAME=a,b,c for choices; may be repeated (default: the method's own).",
    multiple=True,
    metavar="NAME=LOW:HIGH",
)
@option("--history", FILE, "Keep every evaluation in this file; a stopped search continues from it.")
@search_options
@common.output_options
def tune(data: tuple[str, ...], method_name: str, as_json: bool, quiet: bool, **given: Any) -> None:
    """Tune the parameters of one method on DATA by cross-validation, then train on all rows.

    Parameters given as options stay fixed; the other parameters of the method's search space are tuned.
    """
    from .. import training
    from .._estimators import clone

    screen = Screen(as_json, quiet)
    method = find_method(method_name)
    check_structure(method, given)
    common.check_places(data, given)
    job = TrainingJob(data, method, given, screen, keep_rows=given["max_rows"])
    classes = check_task(method, job.seen, None, None, job.stream)
    model = job.make_model()
    X, y, weight = job.rows(given["max_rows"])
    search, criterion = _search(job, model, y)
    _fit_search(job, search, X, y, weight)
    best = {name.rpartition("__")[2]: value for name, value in search.best_params_.items()}
    shown = ", ".join(f"{k}={v:.4g}" if isinstance(v, float) else f"{k}={v}" for k, v in best.items())
    score = f"cross-validated {criterion} {abs(search.best_score_):.4g}"
    screen.remark(f"Best of {len(search.history_)}: {shown} ({score}).")
    tuning = {"best": best, "score": float(search.best_score_), "criterion": criterion}
    record = job.record(python_for_tune(job, search, criterion), tuning=tuning)
    if method.streams and X.shape[0] < job.n_rows - job.n_unlabelled:
        screen.remark("Training on all rows with these parameters.")
        run = training.train(clone(search.best_estimator_), job.stream, classes=classes, record=record)
    else:
        run = fitted(search.best_estimator_, X, y, job, record)
        training.name_hashed_columns(run.model, job.stream)
        if not given["tests"] and method.task != "clustering":
            run.held_out = training.predict_in_folds(run.model, X, y, random_state=given["random_state"], **weight)
    save(run.model, given["model_path"])
    measure = "score" if given["sparsity"] else criterion
    finish(screen, run, job.stream, given, record, [{**entry, "criterion": measure} for entry in search.history_])


def _search(job: TrainingJob, model: Any, y: Any) -> tuple[Any, str]:
    """The search as the options ask for it, and its criterion."""
    from .._auto import CRITERIA
    from ..tuning import CoupledAnnealingSearchCV, criterion, sparsity_scorer

    given, task = job.given, job.method.task
    prefix = f"{model.steps[-1][0]}__" if hasattr(model, "steps") else ""
    space = _space(given["spaces"], job.method, job.params)
    cv, usual = _folds(job, model, y)
    name = given["criterion"] or usual
    if name not in CRITERIA[task]:
        fitting = ", ".join(CRITERIA[task])
        raise click.UsageError(f"--criterion {name} does not suit {task}; these do: {fitting}.")
    scoring: Any = criterion(name)
    search = CoupledAnnealingSearchCV(
        model,
        {prefix + key: value for key, value in space.items()},
        scoring=sparsity_scorer(scoring, given["sparsity"]) if given["sparsity"] else scoring,
        cv=cv,
        progress=job.screen.watched,
        **{k: given[k] for k in ("search", "n_evaluations", "max_seconds", "n_jobs", "random_state", "history")},
    )
    return search, name


def _fit_search(job: TrainingJob, search: Any, X: Any, y: Any, weight: dict[str, Any]) -> None:
    history, name = job.given["history"], job.method.name
    try:
        with searching_on(job.given["engine"], X, y):
            search.fit(X, y, **weight)
    except KeyboardInterrupt:
        kept = f"Evaluations are saved in {history}; the same command continues from there."
        raise KeyboardInterrupt(
            kept if history else "Nothing was saved; --history FILE saves every evaluation."
        ) from None
    except ValueError as problem:  # scikit-learn reports failed fits in many lines, with the reason in the last
        raise ValueError(f"{name}: no parameters worked: {str(problem).strip().splitlines()[-1]}") from None
    if not math.isfinite(search.best_score_):
        why = next((trial["error"] for trial in search.history_ if trial["error"]), "no score is a number")
        raise ValueError(f"{name}: no parameters worked: {str(why).strip().splitlines()[-1]}")


@click.command(cls=MethodCommand)
@common.data_options
@option("--task", click.Choice(["classification", "regression", "clustering"]), "The task (default: by the target).")
@option("--method method_name", None, "The learner (default: chosen, and explained).", metavar="NAME")
@option("--loss", None, "The loss to minimise (default: the method's own).")
@option(
    "--kernel",
    click.Choice(["linear", "rbf", "polynomial", "cosine", "nystroem", "nystroem-linear"]),
    "The kernel, for curved borders between classes (default: chosen).",
)
@option(
    "--cost", None, "What a mistake costs, by class: '{\"yes\": 10}'; a number is for the second class in sorted order."
)
@structure_options
@option(
    "--outlier-label",
    None,
    "The label of rows that belong to no class, in the target and in predictions.",
    metavar="LABEL",
)
@option("--unlabelled-label", None, "The value of the target in unlabelled rows, such as '?'.", metavar="LABEL")
@option("--n-clusters", COUNT, "Number of clusters, if there is no target.")
@option("--one-model", None, "Return a single model, never a sum of several.", is_flag=True)
@search_options
@common.output_options
def auto(data: tuple[str, ...], method_name: str | None, as_json: bool, quiet: bool, **given: Any) -> None:
    """Detect the task, choose and tune a method for DATA, and explain the choice.

    Without --test, measures come from cross-validation, or along the stream for files larger than memory. The final
    model is trained on all rows.
    """
    from .._auto import changed_options, explain, run_auto
    from ..streams import open_stream
    from ..training import look

    screen = Screen(as_json, quiet)
    common.check_places(data, given)
    method = None if method_name is None else find_method(method_name)
    if method is not None:
        check_structure(method, given)
        given |= {"method": method.name, "params": method_params(given, method) or None}
    if given["cost"] is not None:
        typed, given["cost"] = given["cost"], common.literal(given["cost"])
        if isinstance(given["cost"], str):
            raise click.UsageError(
                f"--cost must be a number, or costs by class such as '{{\"yes\": 10}}', got {typed}."
            )
    paths = files(data)
    options = stream_options(data, given, given["task"], method)
    stream = open_stream(paths, **options)
    for sentence in remarks_on_reading(stream.understood):
        screen.remark(sentence)
    columns = TableColumns(stream)
    given["task_column"] = columns.task(None if given["task_column"] == common.NO_COLUMN else given["task_column"])
    given["groups"] = columns.groups(given["groups"])
    if "n_features" not in options and (named := columns.named_width(given["groups"])):
        options["n_features"] = max(named, look(stream).n_features)
        stream = stream.replace(n_features=options["n_features"])
    arguments = changed_options(given)
    record = record_of(stream, options, python_for_auto(paths, options, arguments))
    begin = time.perf_counter()
    with searching_on(given["engine"]):
        run = run_auto(paths, predict=not given["tests"], progress=not quiet, record=record, **arguments, **options)
    seconds = time.perf_counter() - begin
    save(run.model, given["model_path"])
    reasons = [in_options(reason, own_options()) for reason in explain(run.model).splitlines()]
    screen.remark("\n".join(reasons))
    searched = run.model.record_["auto"]["search"]
    finish(screen, run, stream, given, {**record, "asked": {"reasons": reasons}}, searched, seconds)


def _space(texts: tuple[str, ...], method: Any, params: dict[str, Any]) -> dict[str, Any]:
    """The method's own search space without the parameters that the user has set, or the space that the user gives."""
    from ..tuning import Choice, Log

    space = {name: where for name, where in method.space.items() if name not in params}
    for text in texts:
        name, sign, where = text.partition("=")
        name = name.strip().replace("-", "_")
        if not sign or name not in method.defaults:
            raise click.UsageError(f"--space must be a parameter of {method.name} and its range, got {text!r}.")
        low, colon, high = where.partition(":")
        if colon:
            try:
                space[name] = Log(float(low), float(high))
            except ValueError:
                raise click.UsageError(f"--space {name}: two numbers above 0 are needed, got {where!r}.") from None
        else:
            space[name] = Choice([common.literal(part) for part in where.split(",")])
    if not space:
        raise click.UsageError(
            f"there is nothing to tune, because no parameter of {method.name} is left; give a range with --space."
        )
    return space


def _folds(job: TrainingJob, model: Any, y: Any) -> tuple[Any, str]:
    """The folds, and the usual criterion: rows of no class are new to every model, those without a label no test."""
    from .._auto import CRITERIA
    from ..training import is_no_class, learner_of
    from ..tuning import LabelledKFold, NoveltyKFold

    method, learner = job.method, learner_of(model)
    n_splits, seed = job.given["cv"] or 5, job.given["random_state"]
    if "outliers" in method.needs and learner.outlier_label is not None:
        some = bool(is_no_class(model, y, "outlier_label").any())
        if not some:
            job.screen.remark(
                f"No row is {learner.outlier_label!r}, so the data do not show how tight the boundaries should be; "
                "`thresher auto --outlier-label` generates such rows."
            )
        folds = NoveltyKFold(n_splits, outlier_label=learner.outlier_label, random_state=seed)
        return folds, "balanced_error" if some else "error"
    if "unlabelled" in method.needs and is_no_class(model, y, "unlabelled_label").any():
        mark = learner.unlabelled_label
        return LabelledKFold(n_splits, unlabelled_label=mark, shuffle=True, random_state=seed), "error"
    if hasattr(method.cls, "line_fit"):
        return n_splits, "line_fit"
    return n_splits, next(iter(CRITERIA[method.task]))
