"""Folds of partly labelled rows."""

from __future__ import annotations

from collections.abc import Iterator
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import is_classifier
from sklearn.model_selection import BaseCrossValidator, StratifiedKFold, check_cv

from .. import _gate
from .._gate import as_column, at_least, boolean, check_arguments, label, none, seed

Indices = NDArray[np.intp]


class StratifiedFolds(BaseCrossValidator):  # type: ignore[misc]
    """Base class of splitters that divide some of the rows as scikit-learn's ``StratifiedKFold`` does."""

    n_splits: int
    shuffle: bool
    random_state: Any

    def get_n_splits(self, X: Any = None, y: Any = None, groups: Any = None) -> int:
        """The number of folds."""
        return int(self.n_splits)

    def _divided(self, rows: Indices, labels: NDArray[Any]) -> Iterator[tuple[Indices, Indices]]:
        """Rows to learn from and rows to score; more folds than the most frequent class has rows are refused."""
        most = int(np.unique(labels, return_counts=True)[1].max())
        if self.n_splits > most:
            raise ValueError(
                f"{type(self).__name__}: n_splits must be at most the rows of the most frequent class, {most}, got "
                f"{self.n_splits}."
            )
        folds = StratifiedKFold(
            self.n_splits, shuffle=self.shuffle, random_state=self.random_state if self.shuffle else None
        )
        return ((rows[train], rows[test]) for train, test in folds.split(rows, labels))


class LabelledKFold(StratifiedFolds):
    """Folds of rows some of which have no label: those are learned from in every fold, and never scored.

    Labelled rows are divided as by scikit-learn's ``StratifiedKFold``.

    Parameters
    ----------
    n_splits : int, default=5
        At least 2, and no more than the most frequent class has rows. Two classes must have at least two labels each.
    unlabelled_label : label, default=-1
        The value of ``y`` for rows without a label; None if all have one.
    shuffle : bool, default=False
        Whether to mix the rows of each class first.
    random_state : int, RandomState or None, default=None
        For ``shuffle``.

    Examples
    --------
    >>> import numpy as np
    >>> from thresher.tuning import LabelledKFold
    >>> y = np.array([0, 1, -1, 0, 1, -1])
    >>> for train, test in LabelledKFold(2).split(y, y):
    ...     print(train, test)
    [2 3 4 5] [0 1]
    [0 1 2 5] [3 4]
    """

    def __init__(
        self, n_splits: int = 5, *, unlabelled_label: Any = -1, shuffle: bool = False, random_state: Any = None
    ) -> None:
        check_arguments(
            "LabelledKFold",
            n_splits=(n_splits, at_least(2)),
            unlabelled_label=(unlabelled_label, label | none),
            shuffle=(shuffle, boolean),
            random_state=(random_state, seed),
        )
        self.n_splits = n_splits
        self.unlabelled_label = unlabelled_label
        self.shuffle = shuffle
        self.random_state = random_state

    def split(self, X: Any, y: Any = None, groups: Any = None) -> Iterator[tuple[Indices, Indices]]:
        """Rows to learn from and rows to score, for every fold.

        Parameters
        ----------
        X : ignored
        y : array-like of shape (n_samples,)
            Labels.
        groups : ignored

        Yields
        ------
        train, test : ndarray
            Indices of rows, in order.
        """
        labels = as_column(y, "LabelledKFold")
        unlabelled = _gate.carrying(labels, self.unlabelled_label)
        known, open_ = np.flatnonzero(~unlabelled), np.flatnonzero(unlabelled)
        if not len(known):
            raise ValueError(f"LabelledKFold: y must hold labels, got only {self.unlabelled_label!r}.")
        _, codes = _gate.find_classes(labels[known], "LabelledKFold")
        folds = self._divided(known, codes)
        counts = np.sort(np.unique(codes, return_counts=True)[1])
        if len(counts) > 1 and counts[-2] < 2:
            raise ValueError(
                "LabelledKFold: two classes must have at least 2 labels each, got 1 of all but one; without it "
                "one class is left to learn."
            )
        for train, test in folds:
            yield np.sort(np.concatenate([train, open_])), test


def folds_for(estimator: Any, cv: Any, y: Any) -> Any:
    """A splitter for ``cv`` as scikit-learn understands it.

    A number of folds means :class:`LabelledKFold` for an estimator that has a label for unlabelled rows.
    """
    learner = estimator[-1] if hasattr(estimator, "steps") else estimator
    if hasattr(learner, "unlabelled_label") and (cv is None or isinstance(cv, Integral)):
        return LabelledKFold(5 if cv is None else int(cv), unlabelled_label=learner.unlabelled_label)
    return check_cv(cv, y, classifier=is_classifier(estimator))
