"""Repeated runs of several learners on the same splits, or on the same orders of rows."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any, Literal

import numpy as np
from sklearn.base import is_classifier
from sklearn.model_selection import check_cv
from sklearn.utils import _safe_indexing, check_consistent_length, indexable

from .. import registry
from .._engine import generator
from .._gate import (
    Rule,
    at_least,
    boolean,
    checked,
    count_of_jobs,
    fraction,
    one_of,
    read_target,
    seed,
    split_target,
)
from ._comparison import Comparison
from ._fits import LOWER, Rows, ScoredFit, in_orders, in_splits, random_splits, score_all, scorers_of
from ._score_table import COSTS

_WHO = "compare"
_SHARE = Rule("a number above 0 and below 1", lambda v: fraction.holds(v) and 0 < float(v) < 1)


@checked(repeats=at_least(1), vary=one_of("splits", "orders"), test_size=_SHARE)
@checked(random_state=seed, n_jobs=count_of_jobs, progress=boolean)
def compare(
    estimators: Any,
    X: Any,
    y: Any = None,
    *,
    target: Any = None,
    scoring: Any = None,
    repeats: int = 10,
    vary: Literal["splits", "orders"] = "splits",
    test_size: float = 0.25,
    X_test: Any = None,
    y_test: Any = None,
    cv: Any = None,
    groups: Any = None,
    random_state: Any = None,
    n_jobs: int | None = None,
    progress: bool = False,
) -> Comparison:
    """Compare learners over repeated runs on the same rows, with tests of significance.

    Each run passes the same rows, in the same order, to a copy of each estimator, with the same seed for every
    ``random_state`` of the run. Scores are therefore paired, and a paired t-test can detect differences that are
    smaller than the variation between runs. CPU seconds to fit and features in use are measured as well.

    Tune parameters first, or pass a search instead of an estimator: learners are compared with the parameters that they
    have. Do not compare the best of fifty tries of one method with a single try of another. The cost is ``repeats``
    fits of each estimator.

    Parameters
    ----------
    estimators : dict of name to estimator, or list of short names
        Estimators, pipelines or searches; a short name of :mod:`thresher.registry`, such as ``"arow"``, stands for the
        learner with its defaults. They are not modified.
    X : array-like, sparse matrix, data frame or list of length n_samples
    y : array-like of shape (n_samples,) or str, optional
        The targets, or the name of their column in a data frame.
    target : str or int, optional
        The column of a data frame with the targets, instead of `y`. Rows without a target are left out.
    scoring : str, callable, list or dict, optional
        As in scikit-learn, or a name of :func:`thresher.tuning.criterion`; errors are shown as errors, for which lower
        is better. Pass a list of names or a dict from name to scorer for several measures. By default,
        ``estimator.score``.
    repeats : int, default=10
        Number of runs. Ignored with ``cv``.
    vary : {"splits", "orders"}, default="splits"
        What differs between runs: the split into training and test rows, or only the order of the same training rows,
        which matters to one-pass learners (``shuffle=False``).
    test_size : float, default=0.25
        Fraction of the rows to test on, between 0 and 1; stratified by class for classifiers.
    X_test, y_test : optional
        Test rows, for ``vary="orders"``. By default, the rows are split once.
    cv : int, splitter or iterable, optional
        Your own splits instead of random ones, as in scikit-learn.
    groups : array-like of shape (n_samples,), optional
        For splitters that keep groups of rows together.
    random_state : int, RandomState, Generator or None, default=None
        Seed of splits, orders and estimators. With the same integer, the first runs are the same for any number of
        runs.
    n_jobs : int, optional
        Number of threads for fits. Scores do not depend on it; seconds are then those of the thread of each fit.
    progress : bool, default=False
        Show a progress bar if standard error is a terminal.

    Returns
    -------
    Comparison
        Print it, or use its methods for tests and pictures. Measures are named as in ``scoring`` (``"score"`` by
        default), then ``"seconds"`` and, if estimators select features or have weights, ``"features"``.

    Notes
    -----
    Splits of the same rows overlap, which makes the plain t-test overconfident. The corrected test of Nadeau and Bengio
    is therefore used for splits, and the plain one for orders. The latter shows whether a difference exceeds the
    variation between orders on these test rows; it says nothing about other test rows.

    Examples
    --------
    A sparse learner against a dense one, where 3 of 30 features matter.

    >>> from thresher.compare import compare
    >>> from thresher.datasets import make_recovery
    >>> from thresher.dual_averaging import L1RDAClassifier
    >>> from thresher.stochastic import PegasosClassifier
    >>> X, y = make_recovery(400, 30, n_relevant=3, random_state=0)
    >>> learners = {"sparse": L1RDAClassifier(alpha=0.05), "dense": PegasosClassifier(alpha=1e-4)}
    >>> runs = compare(learners, X, y, scoring="error", repeats=8, random_state=0)
    >>> runs.best(), runs.p_value("sparse", "dense") < 0.01
    ('sparse', True)
    >>> runs.mean("features")["dense"]
    30.0
    """
    learners = _learners(estimators)
    scorers = scorers_of(scoring)
    if isinstance(y, str) or target is not None:
        X, y = _split_target(X, y, target)
    check_consistent_length(X, y, groups)
    X, y, groups = indexable(X, y, groups)  # a sparse matrix of any format is made one of rows
    rng = generator(random_state)
    has_classes = y is not None and np.ndim(y) == 1 and all(map(is_classifier, learners.values()))
    split = partial(random_splits, test_size=test_size, has_classes=has_classes, rng=rng)
    if vary == "orders":
        if cv is not None:
            raise ValueError(f'{_WHO}: cv is for vary="splits"; orders are tested on X_test, or on one split.')
        rows = in_orders((X, y), (X_test, y_test), split, repeats, rng)
    else:
        if X_test is not None or y_test is not None:
            raise ValueError(f'{_WHO}: X_test and y_test are for vary="orders"; splits are tested on their own rows.')
        splitter = split(repeats) if cv is None else check_cv(cv, y, classifier=has_classes)
        rows = in_splits((X, y), groups, splitter)
    seeds = rng.integers(2**31, size=len(rows.parts))
    fits = score_all(learners, rows, seeds, scorers, n_jobs, progress)
    return _comparison(learners, scorers, fits, rows)


def _split_target(X: Any, y: Any, target: Any) -> tuple[Any, Any]:
    """The rows that have a target, and their targets, of a data frame that holds both."""
    if y is not None and target is not None:
        raise ValueError(f"{_WHO}: y and target= cannot both be given, because each of them names the targets.")
    rows, column = split_target(X, y if target is None else target, _WHO)
    labels, there = read_target(column, _WHO)
    return rows if there.all() else _safe_indexing(rows, np.flatnonzero(there)), labels


def _learners(estimators: Any) -> dict[str, Any]:
    if isinstance(estimators, (list, tuple)) and all(isinstance(e, str) for e in estimators):
        estimators = {name: name for name in estimators}
    if not isinstance(estimators, Mapping) or not estimators:
        raise ValueError(f"{_WHO}: estimators must be a dict of name to estimator, or a list of short names.")
    known = registry.estimators() if any(isinstance(e, str) for e in estimators.values()) else {}
    learners = {}
    for name, estimator in estimators.items():
        if isinstance(estimator, str):
            if estimator not in known:
                names = ", ".join(sorted(known))
                raise ValueError(f"{_WHO}: there is no method {estimator!r}; the methods are {names}.")
            estimator = known[estimator]()
        if not (hasattr(estimator, "fit") and hasattr(estimator, "get_params")) or isinstance(estimator, type):
            raise ValueError(f"{_WHO}: {name} must be an estimator, got {' '.join(repr(estimator).split())[:80]}.")
        learners[str(name)] = estimator
    return learners


def _comparison(
    learners: dict[str, Any], scorers: dict[str, Any], fits: list[dict[str, ScoredFit]], rows: Rows
) -> Comparison:
    """Gather scores by measure and name. Features are there for learners whose models tell them."""
    scores = {m: {name: np.array([run[name].scores[m] for run in fits]) for name in learners} for m in scorers}
    scores["seconds"] = {name: np.array([run[name].seconds for run in fits]) for name in learners}
    used = {name: [run[name].n_used for run in fits] for name in learners}
    features = {name: np.array(n, dtype=float) for name, n in used.items() if None not in n}
    if features:
        scores["features"] = features
    lower = {m for m in scores if m in COSTS or (m in scorers and scorers[m].name in LOWER)}
    return Comparison(scores, frozenset(lower), rows.test_ratio, rows.about)
