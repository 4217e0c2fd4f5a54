"""Splitters of partly labelled rows and of rows with outliers, and common random numbers for all candidates."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone, is_classifier
from sklearn.model_selection import BaseCrossValidator, StratifiedKFold, check_cv
from sklearn.utils.metadata_routing import get_routing_for_object

from .. import _gate
from .._gate import as_column, at_least, boolean, check_params, label, none, seed

Indices = NDArray[np.intp]


class StratifiedFolds(BaseCrossValidator):  # type: ignore[misc]
    """Base class of splitters that divide some of the rows as scikit-learn's ``StratifiedKFold`` does."""

    def __init__(self, n_splits: int, shuffle: bool, random_state: Any) -> None:
        self.n_splits = n_splits
        self.shuffle = shuffle
        self.random_state = random_state
        check_params(self, {"n_splits": at_least(2), "shuffle": boolean, "random_state": seed})

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
        state = self.random_state if self.shuffle else None
        folds = StratifiedKFold(self.n_splits, shuffle=self.shuffle, random_state=state)
        return ((rows[train], rows[test]) for train, test in folds.split(rows, labels))


class LabelledKFold(StratifiedFolds):
    """Folds of partly labelled rows: unlabelled rows are in every training set, and never in a test set.

    Labelled rows are divided as by scikit-learn's ``StratifiedKFold``.

    Parameters
    ----------
    n_splits : int, default=5
        Number of folds, at least 2 and at most the number of rows of the most frequent class. At least two classes must
        have two labels each.
    unlabelled_label : label, default=-1
        The value of ``y`` for rows without a label; None if all have one.
    shuffle : bool, default=False
        Whether to shuffle the rows of each class first.
    random_state : int, RandomState or None, default=None
        Seed of the shuffling.

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
        super().__init__(n_splits, shuffle, random_state)
        self.unlabelled_label = unlabelled_label
        check_params(self, {"unlabelled_label": label | none})

    def split(self, X: Any, y: Any = None, groups: Any = None) -> Iterator[tuple[Indices, Indices]]:
        """Yield the training and test rows of each fold.

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
                "LabelledKFold: at least two classes must have 2 labels each, got one; otherwise a fold "
                "leaves only one class to learn."
            )
        for train, test in folds:
            yield np.sort(np.concatenate([train, open_])), test


class NoveltyKFold(StratifiedFolds):
    """Stratified folds of the classes, in which outliers are scored but never learned from.

    Future outliers will differ from known ones. Rows of ``outlier_label`` are therefore left out of all training sets
    and scored in every fold: a candidate is judged by the rows of the classes that it gets right, and by outliers that
    it has never seen. Use it to tune ``gamma`` and ``nu`` of :class:`~thresher.novelty.SNDClassifier`, whose ``score``
    counts both.

    Parameters
    ----------
    n_splits : int, default=5
        Number of folds, at least 2.
    outlier_label : int or str, default=-1
        The label of outliers.
    train_outliers : bool, default=False
        Learn from outliers, too; those of a fold are then left out and scored like any other class. Use this if future
        outliers will be like the known ones.
    shuffle : bool, default=True
        Whether to shuffle the rows of each class first.
    random_state : int, RandomState or None, default=None
        Seed of the shuffling.

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
        super().__init__(n_splits, shuffle, random_state)
        self.outlier_label = outlier_label
        self.train_outliers = train_outliers
        check_params(self, {"train_outliers": boolean})

    def split(self, X: Any, y: Any = None, groups: Any = None) -> Iterator[tuple[Indices, Indices]]:
        """Yield the training and test rows of each fold."""
        if y is None:
            raise ValueError("NoveltyKFold: y must hold labels, got None.")
        labels = np.asarray(y)
        outside = _gate.carrying(labels, self.outlier_label)
        known, outliers = np.flatnonzero(~outside), np.flatnonzero(outside)
        if not len(known):
            raise ValueError(
                f"NoveltyKFold: y must hold classes besides outlier_label, got only {self.outlier_label!r}."
            )
        rows = np.arange(len(labels)) if self.train_outliers else known
        for train, test in self._divided(rows, labels[rows]):
            yield train, test if self.train_outliers else np.sort(np.concatenate([test, outliers]))


def folds_for(estimator: Any, cv: Any, y: Any) -> Any:
    """A splitter for ``cv`` as scikit-learn understands it.

    A number of folds means :class:`LabelledKFold` for an estimator that has a label for unlabelled rows.
    """
    learner = estimator[-1] if hasattr(estimator, "steps") else estimator
    if hasattr(learner, "unlabelled_label") and (cv is None or isinstance(cv, Integral)):
        return LabelledKFold(5 if cv is None else int(cv), unlabelled_label=learner.unlabelled_label)
    return check_cv(cv, y, classifier=is_classifier(estimator))


class FixedFolds:
    """A splitter that splits once and yields the same folds from then on."""

    def __init__(self, cv: Any, seed: int) -> None:
        self._cv = cv
        if hasattr(cv, "random_state") and cv.random_state is None:
            self._cv = copy.copy(cv)
            self._cv.random_state = seed
        self.folds: list[tuple[Any, Any]] | None = None

    def get_n_splits(self, X: Any = None, y: Any = None, **params: Any) -> int:
        return len(self._split(X, y, **params))

    def split(self, X: Any, y: Any = None, **params: Any) -> Iterator[tuple[Any, Any]]:
        return iter(self._split(X, y, **params))

    def _split(self, X: Any, y: Any, **params: Any) -> list[tuple[Any, Any]]:
        if self.folds is None:
            self.folds = [(np.asarray(train), np.asarray(test)) for train, test in self._cv.split(X, y, **params)]
        return self.folds

    def get_metadata_routing(self) -> Any:
        return get_routing_for_object(self._cv)


def with_seed(estimator: Any, seed: int) -> Any:
    """A copy in which every ``random_state`` that is None, at any depth, is a number."""
    seeded = clone(estimator)
    open_ = [
        name
        for name, value in seeded.get_params(deep=True).items()
        if value is None and (name == "random_state" or name.endswith("__random_state"))
    ]
    return seeded.set_params(**dict.fromkeys(open_, seed))
