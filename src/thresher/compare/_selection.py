"""Selection frequencies of features over runs on parts of the data."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import is_classifier
from sklearn.utils import _safe_indexing, check_consistent_length, indexable
from sklearn.utils.parallel import delayed
from sklearn.utils.validation import _num_samples

from .._engine import generator, one_blas_thread
from .._gate import Rule, at_least, boolean, checked, count_of_jobs, fraction, seed
from ..inspection import known_names, last_step
from ._fits import run_all, with_seed
from ._frequency import SelectionFrequency
from ._selected import Selection, Tally, selected

Indices = NDArray[np.intp]

_WHO = "selection_frequency"
_ESTIMATOR = Rule("an estimator", lambda v: hasattr(v, "fit") and hasattr(v, "get_params"))
_FRACTION = Rule("a number above 0 and at most 1", lambda v: fraction.holds(v) and v > 0)


@checked(estimator=_ESTIMATOR, n_runs=at_least(1), fraction=_FRACTION, stratify=boolean)
@checked(random_state=seed, n_jobs=count_of_jobs, progress=boolean)
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
    """Fit an estimator repeatedly to random parts of the data, and count how often it selects each feature.

    A sparse model fitted to other rows of the same kind may select other features. A feature selected in most runs is
    reliable; one selected only sometimes is due to chance, or replaces a correlated feature [1]_. This is how [2]_
    compares sparse learners (Figures 4.5 and 4.6, with all rows in another order each time: ``fraction=1.0``).

    Each run draws rows without replacement, keeps their order, and fits a copy of the estimator with a new seed for
    every ``random_state``, so that visiting orders differ as well. Choose the strength of the penalty first: for a
    model that uses all features, the frequencies carry no information. The cost is ``n_runs`` fits on ``fraction`` of
    the rows.

    Parameters
    ----------
    estimator : estimator, pipeline or search
        With weights after fitting (``coef_``, or ``cluster_centers_``): a feature is selected if any of its weights is
        nonzero. Otherwise, a feature selector (``get_support``) or another estimator with ``support_``. For a pipeline,
        these are the features of its last step. If a pipeline makes different features in each run, such as words, they
        are matched by name, and a missing one counts as not selected. The estimator itself is not modified.
    X : array-like, sparse matrix, data frame or list of length n_samples
    y : array-like of shape (n_samples,), optional
    n_runs : int, default=50
    fraction : float, default=0.5
        Fraction of the rows in each run, above 0 and at most 1.
    stratify : bool, default=True
        For a classifier, draw this fraction of each class, at least one row.
    random_state : int, RandomState, Generator or None, default=None
        Seed of the parts and of the runs. With the same integer, the first runs are the same for any number of runs.
    n_jobs : int, optional
        Number of threads. The result does not depend on it.
    progress : bool, default=False
        Show a progress bar if standard error is a terminal.

    References
    ----------
    .. [1] N. Meinshausen, P. Buehlmann, "Stability selection", JRSS B 72 (2010).
    .. [2] V. Jumutc, "Flexible software design for stochastic and kernel-based learning in advanced data-driven
       modelling", KU Leuven, 2016, Section 4.1.4.

    Examples
    --------
    Three of thirty features matter, and nearly all runs select them.

    >>> from thresher.compare import selection_frequency
    >>> from thresher.datasets import make_recovery
    >>> from thresher.dual_averaging import L1RDAClassifier
    >>> X, y = make_recovery(1000, 30, n_relevant=3, random_state=0)
    >>> found = selection_frequency(L1RDAClassifier(alpha=0.05), X, y, n_runs=20, random_state=0)
    >>> found.stable().tolist()
    [0, 1, 2]
    """
    check_consistent_length(X, y)
    X, y = indexable(X, y)  # a sparse matrix of any format is made one of rows
    members = _members(y if stratify and is_classifier(estimator) else None, _num_samples(X))
    sizes = [max(1, round(fraction * len(rows))) for rows in members]
    seeds = generator(random_state).integers(2**31, size=(n_runs, 2)).tolist()
    tasks = (delayed(_run)(estimator, X, y, _drawn(members, sizes, part), seed) for part, seed in seeds)
    tally = run_all(tasks, n_runs, n_jobs, progress, _counted)
    return SelectionFrequency(
        frequency=tally.times / n_runs,
        sign=tally.mean_sign,
        mean_size=float(tally.times.sum() / n_runs),
        n_runs=n_runs,
        n_rows=_num_samples(X),
        n_drawn=sum(sizes),
        names=tally.names,
    )


def _members(y: Any, n_rows: int) -> list[Indices]:
    """Return the rows of each class, or all rows if there are no classes."""
    if y is None or np.ndim(y) != 1:
        return [np.arange(n_rows)]
    classes, codes = np.unique(np.asarray(y), return_inverse=True)
    return [np.flatnonzero(codes == code) for code in range(len(classes))]


def _drawn(members: list[Indices], sizes: list[int], seed: int) -> Indices:
    """Draw some rows of each class, and leave them in their order."""
    rng = np.random.default_rng(seed)
    drawn = [rng.choice(rows, n, replace=False) for rows, n in zip(members, sizes, strict=True)]
    return np.sort(np.concatenate(drawn))


def _run(estimator: Any, X: Any, y: Any, rows: Indices, seed: int) -> Selection:
    part = (_safe_indexing(X, rows),) if y is None else (_safe_indexing(X, rows), _safe_indexing(y, rows))
    with one_blas_thread():  # in a process of its own, if joblib was told to make some
        model = with_seed(estimator, seed).fit(*part)
    selection = selected(model)
    if selection is None:
        raise ValueError(
            f"{_WHO}: estimator must have weights (coef_) or choose features (support_), got "
            f"{type(last_step(model)).__name__}, which does neither."
        )
    names = known_names(getattr(model, "best_estimator_", model), last_step(model))
    return selection._replace(names=names if names is not None and len(names) == selection.width else None)


def _counted(runs: Iterator[Selection]) -> Tally:
    first = next(runs)
    tally = Tally(_WHO, first)
    for run in chain([first], runs):
        tally.add(run)
    return tally
