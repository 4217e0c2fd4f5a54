"""Folds for data with outliers."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from .. import _gate
from .._gate import at_least, boolean, check_arguments, seed
from ._labelled_folds import Indices, StratifiedFolds


class NoveltyKFold(StratifiedFolds):
    """Stratified folds of the classes, in which outliers are scored but never learned from.

    The outliers of tomorrow are not those of yesterday. So rows of ``outlier_label`` are left out of all training parts
    and are scored in every fold: a candidate is judged by the rows of the classes that it gets right and by outliers
    none of which it has met. Use it to tune ``gamma`` and ``nu`` of :class:`~thresher.novelty.SNDClassifier`, whose
    ``score`` counts both.

    Parameters
    ----------
    n_splits : int, default=5
        Folds, at least 2.
    outlier_label : int or str, default=-1
        The label of outliers.
    train_outliers : bool, default=False
        Learn from outliers, too: those of a fold are then left out and scored like any other class. For a stream of
        outliers that stays the same.
    shuffle : bool, default=True
        Mix the rows of each class first.
    random_state : int, RandomState or None, default=None
        Source of the order.

    Examples
    --------
    >>> from sklearn.model_selection import cross_val_score
    >>> from thresher.datasets import make_novelty
    >>> from thresher.novelty import SNDClassifier
    >>> from thresher.tuning import NoveltyKFold
    >>> X, y = make_novelty(200, kind="moons", random_state=0)
    >>> folds = NoveltyKFold(5, random_state=0)
    >>> for gamma in (1.0, 15.0):
    ...     print(gamma, cross_val_score(SNDClassifier(gamma=gamma), X, y, cv=folds).mean().round(2))
    1.0 0.49
    15.0 0.9
    """

    def __init__(
        self,
        n_splits: int = 5,
        *,
        outlier_label: Any = -1,
        train_outliers: bool = False,
        shuffle: bool = True,
        random_state: Any = None,
    ) -> None:
        check_arguments(
            "NoveltyKFold",
            n_splits=(n_splits, at_least(2)),
            train_outliers=(train_outliers, boolean),
            shuffle=(shuffle, boolean),
            random_state=(random_state, seed),
        )
        self.n_splits = n_splits
        self.outlier_label = outlier_label
        self.train_outliers = train_outliers
        self.shuffle = shuffle
        self.random_state = random_state

    def split(self, X: Any, y: Any = None, groups: Any = None) -> Iterator[tuple[Indices, Indices]]:
        """Indices of the rows to learn from and of those to score, for each fold."""
        if y is None:
            raise ValueError("NoveltyKFold: y must hold labels, got None.")
        labels = np.asarray(y)
        outside = _gate.carrying(labels, self.outlier_label)
        known, outliers = np.flatnonzero(~outside), np.flatnonzero(outside)
        if not len(known):
            raise ValueError(
                f"NoveltyKFold: y must hold classes beside outlier_label, got only {self.outlier_label!r}."
            )
        rows = np.arange(len(labels)) if self.train_outliers else known
        for train, test in self._divided(rows, labels[rows]):
            yield train, test if self.train_outliers else np.sort(np.concatenate([test, outliers]))
