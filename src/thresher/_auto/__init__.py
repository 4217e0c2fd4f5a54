"""``thresher.auto``: data in, a tuned and explained model out."""

from __future__ import annotations

from dataclasses import fields, replace
from typing import Any

from ..preprocessing import split_tasks
from ..training import Run
from ._auto_options import KERNELS, STRUCTURE, AutoOptions
from ._auto_options import changed_options as changed_options
from ._choice import choose_methods, prefer_sparse_centres
from ._contest import compare, make_folds
from ._data import gather
from ._final_fit import explain, final_fit
from ._plan import Candidate, Plan, has_kernel
from ._task import CRITERIA, choose_criterion, choose_task, describe_special_rows, settle_labels

__all__ = [
    "CRITERIA",
    "KERNELS",
    "STRUCTURE",
    "AutoOptions",
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
    search: str = "annealing",
    n_evaluations: int = 50,
    max_seconds: float | None = None,
    cv: Any = None,
    sparsity: float | None = None,
    scale: bool | None = None,
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
        The targets, or the name of their column in a data frame. Not for files, whose column `target` names.
    task : {"classification", "regression", "clustering"}, optional
        By default classification if targets are words or few different whole numbers, regression if they are other
        numbers, clustering if there are none.
    method : str, optional
        A name of :func:`thresher.registry.methods`, such as ``"arow"``.
    loss : str, optional
        A loss that the method takes, such as ``"logistic"``.
    kernel : {"linear", "rbf", "polynomial", "cosine", "nystroem", "nystroem-linear"}, optional
        Straight boundaries, or curved ones by kernel features of :class:`~thresher.kernels.FixedSizeNystroem`
        (``"nystroem"`` is ``"rbf"``). By default curved ones are tried on few dense columns, and kept if they are
        better by more than one standard error. Methods with a kernel of their own, such as ``"lssvc"``, take the first
        four. They compare all pairs of rows; above 2,000 rows they use landmarks where they can, unless ``params`` has
        ``n_components``.
    criterion : str, optional
        The measure by which models are compared, a name of :func:`thresher.tuning.criterion`. By default the error, or
        the balanced error when a class has less than a fifth of its even share; the squared error of amounts; the
        silhouette of clusters, or the line fit where a method has one.
    search : {"annealing", "directed", "random"}
        The way in which parameters are searched.
    n_evaluations : int
        Cross-validations in all, over all methods. Half of them compare methods, the rest tune the best.
    max_seconds : float, optional
        Begin no further evaluation after so much time. Results then depend on the speed of the machine.
    cv : int, splitter or list of splits, optional
        By default 5 folds, or 3 for more than 20,000 rows.
    sparsity : float, optional
        The part of the criterion, between 0 and 1, that is the share of features in use; 0.05 to 0.2 gives models of
        few features (see :func:`thresher.tuning.sparsity_scorer`). By default 0.05 for clusters with sparse centres,
        and 0 elsewhere.
    scale : bool, optional
        Whether columns are standardised. By default dense ones are, sparse ones only if their sizes differ widely.
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
        The label of rows whose class is not known. Models learn from them and are never scored on them; methods of
        :mod:`thresher.semi_supervised` are compared with one that ignores them.
    params : dict, optional
        Parameters of the method to hold fixed, such as ``{"max_iter": 10}``.
    random_state : int
        Seed of everything. The same seed gives the same model, bit for bit.
    n_jobs : int, optional
        Processes for the evaluations.
    progress : bool
        Show a bar on a terminal.
    max_rows : int
        Rows to tune on at most, and to hold in memory of a file (beside 200 MB).
    **stream_options
        For files: parameters of :func:`thresher.streams.open_stream`, such as ``target="income"``.

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
    **options
        Of :func:`auto`.

    Returns
    -------
    Run
        The search is in ``run.model.record_["auto"]["search"]``.
    """
    names = {field.name for field in fields(AutoOptions)}
    stream_options = {name: value for name, value in options.items() if name not in names}
    settings = AutoOptions(task=task, **{name: value for name, value in options.items() if name in names})
    plan, candidates, reasons = make_plan(X, y, settings, stream_options)
    best, compared, history = compare(candidates, plan)
    if plan.data.files:
        record = {"stream": {key: options[key] for key in _LAYOUT_OPTIONS if key in options}, **(record or {})}
    return final_fit(best, plan, [*reasons, *compared], history, predict, record or {})


def make_plan(
    X: Any, y: Any, options: AutoOptions, stream_options: dict[str, Any]
) -> tuple[Plan, list[Candidate], list[str]]:
    """Everything that is decided before the first model is fitted: the plan, the candidates, and the reasons."""
    data = gather(X, y, options, stream_options)
    if options.task_column is not None:
        split_tasks(data.X, options.task_column, "auto")  # refuses what is no column of tasks
    options = settle_labels(options, data)
    task, why_task = choose_task(data, options)
    if task == "classification":
        data.as_labels()
    else:
        data.facts.classes = {}
    plan = Plan(data, options, task)
    candidates, why = choose_methods(plan)
    plan, why_sparse = prefer_sparse_centres(plan, candidates)
    criterion, why_criterion = choose_criterion(plan)
    reasons = [why_task, *describe_special_rows(plan), *why_criterion, *why_sparse, why]
    return replace(plan, criterion=criterion, folds=make_folds(plan)), candidates, reasons
