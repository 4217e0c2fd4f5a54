"""``thresher.auto``: data in, a tuned and explained model out."""

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
    """Make a tuned and explained model from data, without any other choice to make.

    The task is read from the targets, methods that suit the data are compared and tuned by cross-validation, and the
    best one learns from all rows. Every choice can be made by hand instead, and :func:`explain` tells why it was made.

    Parameters
    ----------
    X : array, sparse matrix, data frame, Table, path, list of paths or Stream
        The rows. A file (or a pattern such as ``"day-*.csv"``) may be larger than memory: an even part of its rows is
        tuned on, and the tuned model learns from all of them.
    y : array-like of shape (n_samples,) or str, optional
        The targets, or the name of their column in a data frame or file; ``target=`` names it, too. Rows without a
        target (blank, None, NaN) are left out, unless they are used as unlabelled rows.
    task : {"classification", "regression", "clustering"}, optional
        By default classification if targets are words or few different whole numbers, regression if they are other
        numbers, clustering if there are none.
    method : str, optional
        A name of :func:`thresher.registry.methods`, such as ``"arow"``.
    loss : str, optional
        A loss that the method takes, such as ``"logistic"``.
    kernel : {"linear", "rbf", "polynomial", "cosine", "nystroem", "nystroem-linear"}, optional
        Straight boundaries, or curved ones by kernel features of :class:`~thresher.kernels.FixedSizeNystroem`
        (``"nystroem"`` is ``"rbf"``). By default both are tried on dense rows, with curves of each column and exact
        kernels beside them, and curved ones are kept if they are clearly better. Methods with a kernel of their own,
        such as ``"lssvc"``, take the first four. They compare all pairs of rows; above 2,000 rows they use landmarks
        where they can, unless ``params`` has ``n_components``.
    criterion : str, optional
        The measure by which models are compared, a name of :func:`thresher.tuning.criterion`. By default the error, or
        the balanced error when one of two classes has less than 10 % of the rows; the squared error of amounts; the
        silhouette of clusters, or the line fit where a method has one.
    cost : float or dict, optional
        What a mistake on a row of the second of two classes costs, where one on the first costs 1; or a dict of class
        to cost, 1 for classes that it does not name. Models then weigh their rows by it, and are compared by the mean
        cost of a row.
    search : {"annealing", "directed", "random"}
        The way in which parameters are searched.
    n_evaluations : int
        Cross-validations at most, over all methods. Kinds of models are compared on up to 2,000 rows first, the better
        ones on up to 10,000, and the rest tunes the best of them.
    max_seconds : float, optional
        Come to an end within so many seconds: nothing is begun that would take longer, by the time that it took on
        fewer rows. Results then depend on the speed of the machine.
    cv : int, splitter or list of splits, optional
        By default 5 folds, or 3 for more than 5,000 rows.
    sparsity : float, optional
        The part of the criterion, between 0 and 1, that is the share of features in use; 0.05 to 0.2 gives models of
        few features (see :func:`thresher.tuning.sparsity_scorer`). By default 0.05 for clusters with sparse centres,
        and 0 elsewhere.
    scale : bool, optional
        Whether columns are standardised. By default dense ones are, sparse ones only if their sizes differ widely, and
        with unlabelled rows those only that do not seem to share a unit.
    one_model : bool
        Whether one model must be the answer. By default a sum of up to four that were compared may be, each with a
        weight, if it is better than the best of them by more than a standard error.
    n_clusters : int, optional
        Number of clusters; by default from 2 to 10, by the criterion.
    categories : {"onehot", "hash"}
        The encoding of categorical columns.
    groups : optional
        Columns that belong together and are selected together, in any form that
        :class:`~thresher.dual_averaging.GroupRDAClassifier` takes: lists of columns, a dict of such lists,
        ``"prefix:="``, or ``"encoder"`` for the words of each column. A column of words stands for all of its features.
    task_column : str or int, optional
        The column of a table or data frame that names the task of a row, where several related tasks are learned: a
        school, a customer. Tasks then select their features together; there must be two classes, or amounts.
    outlier_label : int or str, optional
        The label of rows that belong to no class, in the targets and in predictions. The targets need not hold any. The
        methods are those of :mod:`thresher.novelty`, tuned so that models are scored on outliers that they have not
        learned from, as with :class:`~thresher.tuning.NoveltyKFold`.
    unlabelled_label : int or str, optional
        The label of rows whose class is not known; ``""`` stands for rows without a target, which are used in this way
        by themselves where less than a tenth of the rows and less than 2,000 have a class. Models learn from them and
        are never scored on them; methods of :mod:`thresher.semi_supervised` are compared with one that ignores them.
    params : dict, optional
        Parameters of the method to hold fixed, such as ``{"max_iter": 10}``.
    random_state : int
        Seed of everything. The same seed gives the same model, bit for bit.
    n_jobs : int, optional
        Processes for the evaluations.
    progress : bool
        Print a line about what is being done every ten seconds, and show a bar on a terminal during a search.
    max_rows : int
        Rows to tune on at most, and to hold in memory of a file (beside 200 MB).
    **stream_options
        For files: parameters of :func:`thresher.streams.open_stream`, such as ``target="income"``. For data frames,
        ``target`` is the name of the column to predict.

    Returns
    -------
    estimator or StreamingPipeline
        Fitted. ``model.record_`` holds the choices and their reasons, and is saved with it.

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
        Keep predictions for rows that the model had not learned from: out of fold, or along the stream.
    record : dict, optional
        Plain values to keep in ``model.record_``.
    watcher : AutoWatcher, optional
        Someone who is told of every evaluation, and may end the comparison.
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
    """Everything that is decided before the first model is fitted: the plan, the candidates, and the reasons."""
    data = gather(X, y, options, stream_options)
    if options.task_column is not None:
        split_tasks(data.X, options.task_column, "auto")  # refuses what is no column of tasks
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
