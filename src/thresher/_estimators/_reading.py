"""Reading scores as classes or as values, which never depends on how the scores were made."""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import _gate
from .._engine import Target
from .._gate import Array, labels_beside, on_host
from ._contract import ClassifierContract, RegressorContract
from ._shares import shares_of_classes
from ._thresholds import Decides


class ReadsTargets:
    """Mixin of estimators that read targets, and weigh rows by them."""

    class_weight: Any = None  # of estimators that do not weigh classes

    def _read_all(self, y: Any, n_rows: int) -> Target:
        """Targets of data that is complete."""
        raise NotImplementedError

    def _read_batch(self, y: Any, n_rows: int, classes: Any, first: bool) -> Target:
        """Targets of one batch."""
        raise NotImplementedError

    def _commit_target(self, target: Target) -> None:
        """Remember what was read, once the rows were accepted."""

    def _weigh(self, weight: Array | None, target: Target) -> Array | None:
        """The weights of the rows, with what the estimator adds to them."""
        return weight

    def _shape_scores(self, scores: Array) -> Array:
        return scores[:, 0] if scores.shape[1] == 1 else scores

    def _read_scores(self, scores: Array) -> np.ndarray[Any, Any]:
        """The predictions for scores of that shape."""
        return scores


class ReadsClasses(ClassifierContract, ReadsTargets, Decides):
    """Scores are read as classes: the larger wins; with two classes, a score above 0 is the second one. A ``threshold``
    may decide otherwise."""

    def _read_all(self, y: Any, n_rows: int) -> Target:
        """Targets of data that is complete: the classes are those that occur."""
        who = type(self).__name__
        classes, codes = _gate.find_classes(y, who)
        _gate.check_length(codes, n_rows, "y", who)
        return Target(codes, _gate.at_least_two(classes, who))

    def _read_batch(self, y: Any, n_rows: int, classes: Any, first: bool) -> Target:
        """Targets of one of several batches: the classes are given with the first one."""
        who, known = type(self).__name__, self._known_classes(classes, first)
        codes = _gate.encode(y, known, who)
        if len(codes) != n_rows:
            _gate.check_length(codes, n_rows, "y", who)
        return Target(codes, known)

    def _known_classes(self, classes: Any, first: bool) -> np.ndarray[Any, Any]:
        """The classes given in the first call, which later calls must not change."""
        if first:
            return self._announced(classes)
        if classes is not None and not np.array_equal(self.classes_, self._announced(classes)):
            raise ValueError(
                f"{type(self).__name__}: classes must be those of the first call, {self.classes_.tolist()!r}, got "
                f"{list(classes)!r}."
            )
        return self.classes_

    def _announced(self, classes: Any) -> np.ndarray[Any, Any]:
        return _gate.check_classes(classes, type(self).__name__)

    def _commit_target(self, target: Target) -> None:
        assert target.classes is not None
        self.classes_ = target.classes

    def _weigh(self, weight: Array | None, target: Target) -> Array | None:
        """Row weights times class weights."""
        if self.class_weight is None or target.classes is None:
            return weight
        factors = _gate.class_factors(self.class_weight, target.classes, target.y, type(self).__name__)
        if factors is None:
            return weight
        rows = factors[target.y.astype(np.int64)]
        return rows if weight is None else rows * weight

    def _read_scores(self, scores: Array) -> np.ndarray[Any, Any]:
        values = scores if type(scores) is np.ndarray else on_host(scores)
        if self.threshold is not None and self._decides_otherwise:
            winner = self._decide(values)
        else:
            winner = (values > 0).astype(np.intp) if values.ndim == 1 else values.argmax(axis=1)
        labels = self.classes_[winner]
        return labels if values is scores else labels_beside(labels, scores)


class LinearClasses(ReadsClasses):
    """Scores that are linear in the features, read as classes; a subclass makes them in ``_scores``.

    Attributes
    ----------
    coef_ : ndarray of shape (1, n_features) or (n_classes, n_features)
        Weights. One row when there are two classes.
    intercept_ : ndarray of shape (1,) or (n_classes,)
        Constant terms.
    classes_ : ndarray of shape (n_classes,)
        Labels, sorted.
    """

    def decision_function(self, X: Any) -> Array:
        """Return the scores of the rows: one per row with two classes (above 0 means the second), else one per
        class."""
        return self._shape_scores(self._scores(X))  # type: ignore[attr-defined]

    def predict(self, X: Any) -> np.ndarray[Any, Any]:
        """Predict the class of each row."""
        return self._read_scores(self.decision_function(X))


class ReadsValues(RegressorContract, ReadsTargets):
    """Scores are read as they are."""

    def _read_all(self, y: Any, n_rows: int) -> Target:
        return Target(_gate.check_targets(y, n_rows, type(self).__name__), None)

    def _read_batch(self, y: Any, n_rows: int, classes: Any, first: bool) -> Target:
        return self._read_all(y, n_rows)


class KnowsDoubt:
    """Mixin of linear classifiers that know the variance of a score: ``_variances_of`` rows, one column per output."""

    def predict_confidence(self, X: Any) -> Array:
        r"""Return the confidence of the model in each class, from the variances of its weights.

        With two classes, this is the probability :math:`\Phi(\mu^\top x / \sqrt{x^\top \Sigma x})` that the score is
        above 0, if weights are normal with the learned mean and covariance. With more classes, it is the same for each
        class, with the variance averaged over the classes, normalized to sum to 1. It measures confidence in the sign
        of a score, not a frequency: it tends to 0 or 1 as the model sees more rows, however noisy the labels are. For
        the frequency of a class, use :meth:`predict_proba`.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
            In the order of ``classes_``. The class with the largest value is the one that :meth:`predict` returns.
        """
        me: Any = self
        rows = me._rows_to_score(X)
        return shares_of_classes(me._leads(me._scores_of(rows)), me._variances_of(rows))

    def _leads(self, scores: Array) -> Array:
        """Return the values that must be above 0 for each output to win."""
        return scores
