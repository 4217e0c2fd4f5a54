"""``thresher.auto``: from data to a tuned and explained model."""

from __future__ import annotations

import time
from dataclasses import fields, replace
from typing import Any

from .._figures import progress_lines
from ..preprocessing import split_tasks
from ..training import Run
from ._auto_options import KERNELS, STRUCTURE, AutoOptions
from ._auto_options import changed_options as changed_options
from ._choice import choose_methods, prefer_sparse_centres
from ._compared_rows import make_folds
from ._contest import compare, for_comparison
from ._data import gather
from ._evaluation import Clock
from ._final_fit import explain, final_fit
from ._plan import Candidate, Plan, has_kernel
from ._task import (
    CRITERIA,
    check_cost,
    choose_criterion,
    choose_task,
    describe_special_rows,
    settle_labels,
    settle_missing,
    warn_if_worse,
)
from ._watching import AutoWatcher
from ._yardsticks import measure_yardsticks

__all__ = [
    "CRITERIA",
    "KERNELS",
    "STRUCTURE",
    "AutoOptions",
    "AutoWatcher",
    "auto",
    "changed_options",
    "explain",
    "has_kernel",
    "run_auto",
]

_LAYOUT_OPTIONS = ("delimiter", "header", "format")  # options of files that a model's other files will need, too


def auto(
    X: Any,
    y: Any = None,
    task: str | None = None,
    *,
    method: str | None = None,
    loss: str | None = None,
    kernel: str | None = None,
    criterion: str | None = None,
    cost: Any = None,
    search: str = "annealing",
    n_evaluations: int = 50,
    max_seconds: float | None = None,
    cv: Any = None,
    sparsity: float | None = None,
    scale: bool | None = None,
    one_model: bool = False,
    n_clusters: int | None = None,
    categories: str = "onehot",
    groups: Any = None,
    task_column: str | int | None = None,
    outlier_label: Any = None,
    unlabelled_label: Any = None,
    params: dict[str, Any] | None = None,
    random_state: int = 0,
    n_jobs: int | None = None,
    progress: bool = False,
    max_rows: int = 100_000,
    **stream_options: Any,
) -> Any:
    """Train a tuned and explained model from data, with all choices made automatically.

    ``auto`` infers the task from the targets, compares and tunes suitable methods by cross-validation, and trains the
    best one on all rows. You can make any of these choices yourself, and :func:`explain` gives the reason for each.

    Parameters
    ----------
    X : array, sparse matrix, data frame, Table, path, list of paths or Stream
        The rows. A file (or a pattern such as ``"day-*.csv"``) may be larger than memory: tuning uses an even sample of
        its rows, and the tuned model learns from all of them.
    y : array-like of shape (n_samples,) or str, optional
        The targets, or the name of their column in a data frame or file; you can also pass the name as ``target=``.
        Rows without a target (blank, None, NaN) are left out, unless they are used as unlabelled rows.
    task : {"classification", "regression", "clustering"}, optional
        By default, classification if targets are text or few distinct integers, regression if they are other numbers,
        and clustering if there are no targets.
    method : str, optional
        A name of :func:`thresher.registry.methods`, such as ``"arow"``.
    loss : str, optional
        A loss that the method takes, such as ``"logistic"``.
    kernel : {"linear", "rbf", "polynomial", "cosine", "nystroem", "nystroem-linear"}, optional
        A linear model, or a nonlinear one with kernel features of :class:`~thresher.kernels.FixedSizeNystroem`
        (``"nystroem"`` is the same as ``"rbf"``). By default, both are tried on dense rows, together with curves of
        each column and exact kernels, and a nonlinear model is kept if it is clearly better. Methods with their own
        kernel, such as ``"lssvc"``, take the first four. They compare all pairs of rows; above 2,000 rows they use
        landmarks if they can, unless ``params`` has ``n_components``.
    criterion : str, optional
        The measure that compares models, a name of :func:`thresher.tuning.criterion`. By default, the error for
        classification, or the balanced error if one of two classes has less than 10 % of the rows; the squared error
        for regression; and the silhouette for clustering, or the line fit if the method has one.
    cost : float or dict, optional
        Cost of a mistake on a row of the second of two classes, relative to 1 for the first; or a dict from class to
        cost, 1 for classes not in it. Models then weight their rows by the cost, and are compared by the mean cost per
        row.
    search : {"annealing", "directed", "random"}
        The search method for parameters.
    n_evaluations : int
        Largest number of cross-validations, over all methods. Kinds of models are first compared on up to 2,000 rows,
        the better ones on up to 10,000, and the remaining evaluations tune the best of them.
    max_seconds : float, optional
        Time limit in seconds: ``auto`` starts nothing that would take longer, judging by the time on fewer rows.
        Results then depend on the speed of the machine.
    cv : int, splitter or list of splits, optional
        By default, 5 folds, or 3 for more than 5,000 rows.
    sparsity : float, optional
        Weight of the share of features in use in the criterion, between 0 and 1; 0.05 to 0.2 gives models with few
        features (see :func:`thresher.tuning.sparsity_scorer`). By default, 0.05 for clusters with sparse centres and 0
        otherwise.
    scale : bool, optional
        Standardise the columns. By default, dense columns are standardised, sparse ones only if their scales differ
        widely, and with unlabelled rows only columns that do not seem to share a unit.
    one_model : bool
        Return a single model. By default, the result may be a weighted sum of up to four of the compared models, if it
        is better than the best of them by more than a standard error.
    n_clusters : int, optional
        Number of clusters; by default from 2 to 10, chosen by the criterion.
    categories : {"onehot", "hash"}
        The encoding of categorical columns.
    groups : optional
        Columns that are selected together, in any form that :class:`~thresher.dual_averaging.GroupRDAClassifier` takes:
        lists of columns, a dict of such lists, ``"prefix:="``, or ``"encoder"`` for the categories of each column. A
        categorical column stands for all of its features.
    task_column : str or int, optional
        The column of a table or data frame that names the task of a row, for several related tasks: a school, a
        customer. Tasks then select their features together. Targets must be two classes, or numbers.
    outlier_label : int or str, optional
        The label of rows that belong to no class, in the targets and in predictions. The targets need not contain it.
        The methods are those of :mod:`thresher.novelty`, tuned so that models are scored on outliers that they have not
        learned from, as with :class:`~thresher.tuning.NoveltyKFold`.
    unlabelled_label : int or str, optional
        The label of rows whose class is unknown; ``""`` means rows without a target. These are used automatically if
        fewer than a tenth of the rows, and fewer than 2,000, have a class. Models learn from unlabelled rows and are
        never scored on them; methods of :mod:`thresher.semi_supervised` are compared with one that ignores them.
    params : dict, optional
        Fixed parameters of the method, such as ``{"max_iter": 10}``.
    random_state : int
        Random seed. The same seed gives the same model, bit for bit.
    n_jobs : int, optional
        Number of processes for the evaluations.
    progress : bool
        Print a progress line every ten seconds, and show a bar in a terminal during a search.
    max_rows : int
        Largest number of rows for tuning, and to hold in memory from a file (besides 200 MB).
    **stream_options
        For files: parameters of :func:`thresher.streams.open_stream`, such as ``target="income"``. For data frames,
        ``target`` is the name of the column to predict.

    Returns
    -------
    estimator or StreamingPipeline
        The fitted model. ``model.record_`` holds the choices and their reasons, and is saved with it.

    Examples
    --------
    >>> import numpy as np
    >>> import thresher
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(200, 3)) * [1, 100, 0.01]
    >>> y = np.where(X[:, 0] - X[:, 1] / 100 > 0, "yes", "no")
    >>> model = thresher.auto(X, y, n_evaluations=10)
    >>> model.score(X, y) > 0.95
    True
    >>> print(thresher.explain(model).splitlines()[0])
    Task: classification, because the targets are words: no, yes.
    """
    given = {name: value for name, value in locals().items() if name != "stream_options"}
    return run_auto(**given, **stream_options).model


def run_auto(
    X: Any,
    y: Any = None,
    task: str | None = None,
    *,
    predict: bool = False,
    record: dict[str, Any] | None = None,
    watcher: AutoWatcher | None = None,
    **options: Any,
) -> Run:
    """Make a model as :func:`auto` does, and return it with the data of a report.

    Parameters
    ----------
    X, y, task
        As of :func:`auto`.
    predict : bool
        Keep predictions for rows that the model had not learned from: out-of-fold, or along the stream.
    record : dict, optional
        Plain values to keep in ``model.record_``.
    watcher : AutoWatcher, optional
        Receives every evaluation, and may end the comparison.
    **options
        Of :func:`auto`.

    Returns
    -------
    Run
        The search is in ``run.model.record_["auto"]["search"]``.
    """
    begin = time.monotonic()
    names = {field.name for field in fields(AutoOptions)}
    stream_options = {name: value for name, value in options.items() if name not in names}
    settings = AutoOptions(task=task, **{name: value for name, value in options.items() if name in names})
    watcher = watcher or AutoWatcher()
    with progress_lines(settings.progress, "auto") as show:

        def tell(doing: str) -> None:
            show(doing)
            watcher.tell(doing)

        tell("reading")
        clock = Clock(settings.max_seconds, begin, tell, watcher.is_over, predict)
        plan, candidates, reasons = make_plan(X, y, settings, stream_options)
        plan = replace(plan, watcher=watcher)
        best, compared, history = compare(candidates, plan, clock)
        if not predict:  # else predictions are compared with a guess
            warn_if_worse(plan, best.score)
        yardsticks = measure_yardsticks(best, for_comparison(plan, best), clock)
        if plan.data.files:
            record = {"stream": {key: options[key] for key in _LAYOUT_OPTIONS if key in options}, **(record or {})}
        tell(f"learning from all rows by {best.name}")
        return final_fit(best, plan, [*reasons, *compared], history, yardsticks, predict, record or {}, clock)


def make_plan(
    X: Any, y: Any, options: AutoOptions, stream_options: dict[str, Any]
) -> tuple[Plan, list[Candidate], list[str]]:
    """Decide everything before the first model is fitted: the plan, the candidates, and the reasons."""
    data = gather(X, y, options, stream_options)
    if options.task_column is not None:
        split_tasks(data.X, options.task_column, "auto")  # raises an error if it is not a task column
    options, why_missing = settle_missing(options, data)
    options = settle_labels(options, data)
    task, why_task = choose_task(data, options)
    if task == "classification":
        data.as_labels()
    else:
        data.facts.classes = {}
    plan = Plan(data, options, task)
    check_cost(plan)
    candidates, why = choose_methods(plan)
    plan, why_sparse = prefer_sparse_centres(plan, candidates)
    criterion, why_criterion = choose_criterion(plan)
    reasons = [why_task, *why_missing, *describe_special_rows(plan), *why_criterion, *why_sparse, why]
    return replace(plan, criterion=criterion, folds=make_folds(plan)), candidates, reasons
