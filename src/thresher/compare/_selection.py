"""Runs on parts of the data, and which features each of them chooses."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import is_classifier
from sklearn.utils import _safe_indexing, check_consistent_length, indexable
from sklearn.utils.parallel import Parallel, delayed
from sklearn.utils.validation import _num_samples

from .._engine import generator, one_blas_thread
from .._gate import Rule, at_least, boolean, check_arguments, count_of_jobs, fraction, seed
from ..inspection import known_names, last_step
from ._comparison_bar import bar, ticking
from ._frequency import SelectionFrequency
from ._runs import chosen, with_seed
from ._tally import Run, Tally

_WHO = "selection_frequency"
_FRACTION = Rule("a number above 0 and at most 1", lambda v: fraction.holds(v) and v > 0)


def selection_frequency(
    estimator: Any,
    X: Any,
    y: Any = None,
    *,
    n_runs: int = 50,
    fraction: float = 0.5,
    stratify: bool = True,
    random_state: Any = None,
    n_jobs: int | None = None,
    progress: bool = False,
) -> SelectionFrequency:
    """How often each feature is chosen when the estimator is fitted again and again to parts of the data.

    A sparse model names the features that matter; run again on other rows of the same kind, it may name others. What is
    chosen in most runs can be relied on, what comes and goes is chance, or stands for something that correlates with it
    [1]_. This is how [2]_ compares sparse learners (Figures 4.5 and 4.6, with all rows in another order each time:
    ``fraction=1.0``).

    Each run draws rows without replacement, leaves them in their order and fits a copy of the estimator in which every
    ``random_state`` is a number of its own, so that visiting orders differ, too. Choose the strength of the penalty
    first: a model that uses every feature has nothing to say here. It costs ``n_runs`` fits on ``fraction`` of the
    rows.

    Parameters
    ----------
    estimator : estimator, pipeline or search
        With weights after fitting (``coef_``, or ``cluster_centers_``): a feature is chosen if any of its weights is
        not 0. Without, a feature selector (``get_support``) or another estimator with ``support_``. Of a pipeline the
        last step is looked at, and the features are those that it is given. Where a pipeline makes other features in
        each run, such as words of texts, they are matched by name, and one that a run does not have is not chosen. The
        estimator itself is not changed.
    X : array-like, sparse matrix, data frame or list of length n_samples
    y : array-like of shape (n_samples,), optional
    n_runs : int, default=50
    fraction : float, default=0.5
        The part of the rows that a run is given, above 0 and at most 1.
    stratify : bool, default=True
        Whether, for a classifier, the part is taken of each class, at least one row.
    random_state : int, RandomState, Generator or None, default=None
        Seed of the parts and of the runs. With the same integer, more runs begin with the same ones.
    n_jobs : int, optional
        Runs at a time, in threads. The result does not depend on it.
    progress : bool, default=False
        Show a bar, where standard error is a terminal.

    Returns
    -------
    SelectionFrequency

    References
    ----------
    .. [1] N. Meinshausen, P. Buehlmann, "Stability selection", JRSS B 72 (2010).
    .. [2] V. Jumutc, "Flexible software design for stochastic and kernel-based learning in advanced data-driven
       modelling", KU Leuven, 2016, Section 4.1.4.

    Examples
    --------
    >>> from thresher.compare import selection_frequency
    >>> from thresher.datasets import make_recovery
    >>> from thresher.dual_averaging import L1RDAClassifier
    >>> X, y = make_recovery(1000, 30, n_relevant=3, random_state=0)
    >>> found = selection_frequency(L1RDAClassifier(alpha=0.05), X, y, n_runs=20, random_state=0)
    >>> found.stable().tolist()
    [0, 1, 2]
    """
    check_arguments(
        _WHO,
        estimator=(estimator, Rule("an estimator", lambda v: hasattr(v, "fit") and hasattr(v, "get_params"))),
        n_runs=(n_runs, at_least(1)),
        fraction=(fraction, _FRACTION),
        stratify=(stratify, boolean),
        random_state=(random_state, seed),
        n_jobs=(n_jobs, count_of_jobs),
        progress=(progress, boolean),
    )
    check_consistent_length(X, y)
    X, y = indexable(X, y)  # a sparse matrix of any format is made one of rows
    groups = _classes(y) if stratify and y is not None and is_classifier(estimator) else None
    seeds = generator(random_state).integers(2**31, size=(n_runs, 2))
    parts = (_part(_num_samples(X), groups, fraction, np.random.default_rng(s)) for s, _ in seeds)
    tasks = (delayed(_run)(estimator, X, y, rows, int(s)) for rows, (_, s) in zip(parts, seeds, strict=True))
    with one_blas_thread():  # around all threads: each would set the number back when the others still need it
        runs = Parallel(n_jobs=n_jobs, prefer="threads", return_as="generator")(tasks)
        with bar(progress, n_runs) as tick:
            return _gathered(ticking(runs, tick), n_runs, _num_samples(X))


def _classes(y: Any) -> NDArray[np.intp] | None:
    labels = np.asarray(y)
    return np.unique(labels, return_inverse=True)[1] if labels.ndim == 1 else None


def _part(n: int, groups: NDArray[np.intp] | None, fraction: float, rng: np.random.Generator) -> NDArray[np.intp]:
    """Some rows, in their order."""
    if groups is None:
        return np.sort(rng.choice(n, max(1, round(fraction * n)), replace=False))
    members = [np.flatnonzero(groups == g) for g in range(groups.max() + 1)]
    drawn = [rng.choice(rows, max(1, round(fraction * len(rows))), replace=False) for rows in members]
    return np.sort(np.concatenate(drawn))


def _run(estimator: Any, X: Any, y: Any, rows: NDArray[np.intp], number: int) -> Run:
    part = (_safe_indexing(X, rows),) if y is None else (_safe_indexing(X, rows), _safe_indexing(y, rows))
    with one_blas_thread():  # in a process of its own, if joblib was told to make some
        model = with_seed(estimator, number).fit(*part)
    found = chosen(model)
    if found is None:
        raise ValueError(
            f"{_WHO}: estimator must have weights (coef_) or choose features (support_), got "
            f"{type(last_step(model)).__name__}, which does neither."
        )
    columns, signs, width = found
    model = getattr(model, "best_estimator_", model)
    names = known_names(model, last_step(model))
    return Run(columns, signs, width, names if names is None or len(names) == width else None, len(rows))


def _gathered(runs: Iterator[Run], n_runs: int, n_rows: int) -> SelectionFrequency:
    first = next(runs)
    tally = Tally(_WHO, first)
    for run in chain([first], runs):
        tally.add(run)
    return SelectionFrequency(
        frequency=tally.times / n_runs,
        sign=None if first.signs is None else tally.balance / np.maximum(tally.times, 1),
        mean_size=float(tally.times.sum() / n_runs),
        n_runs=n_runs,
        n_rows=n_rows,
        n_drawn=first.n_drawn,
        names=tally.names,
    )
