"""Agreement of the features in use with those that matter."""

from __future__ import annotations

from collections.abc import Set
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .._gate import sparse
from ._finite import finite_numbers


def support_precision(true_coef: Any, coef: Any) -> float:
    """Compute the share of the features in use that matter.

    A feature is in use if any of its weights is not 0. If none is in use, the precision is 0, or 1 if none matters.

    Parameters
    ----------
    true_coef, coef : array-like of shape (n_features,) or (n_outputs, n_features), or indices
        The true weights and those found, dense or sparse, or masks of booleans. Instead of weights, you can pass the
        indices of the features as a set or a vector of integers, such as ``support_`` of a model; weights must
        therefore be floats.

    Examples
    --------
    >>> from thresher.metrics import support_precision
    >>> support_precision([1.0, 1.0, 0.0, 0.0], [0.5, 0.0, 0.1, 0.0])
    0.5
    """
    return _Overlap.of("support_precision", true_coef, coef).precision


def support_recall(true_coef: Any, coef: Any) -> float:
    """Compute the share of the features that matter which are in use.

    If none matters, the recall is 1.

    Parameters
    ----------
    true_coef, coef : array-like of shape (n_features,) or (n_outputs, n_features), or indices
        As in :func:`support_precision`.

    Examples
    --------
    >>> from thresher.metrics import support_recall
    >>> support_recall({0, 1, 2}, [0.5, 0.0, 0.1, 0.7])
    0.6666666666666666
    """
    return _Overlap.of("support_recall", true_coef, coef).recall


def support_f1(true_coef: Any, coef: Any) -> float:
    r"""Compute the harmonic mean of :func:`support_precision` and :func:`support_recall`.

    1 if the features in use are the ones that matter, whatever their weights: the F1 score of Figure 4.7 in [1]_.
    Table 3.1 of Yang's thesis has another one, :func:`sign_f1`.

    Parameters
    ----------
    true_coef, coef : array-like of shape (n_features,) or (n_outputs, n_features), or indices
        As in :func:`support_precision`.

    References
    ----------
    .. [1] V. Jumutc, "Flexible software design for stochastic and kernel-based learning in advanced data-driven
       modelling", KU Leuven, 2016, Section 4.1.4.

    Examples
    --------
    >>> from thresher.datasets import make_recovery
    >>> from thresher.dual_averaging import L1RDAClassifier
    >>> from thresher.metrics import support_f1
    >>> X, y, coef = make_recovery(2000, 20, return_coef=True, random_state=0)
    >>> model = L1RDAClassifier(alpha=0.05, random_state=0).fit(X, y)
    >>> support_f1(coef, model.coef_), support_f1(coef, model.support_)
    (1.0, 1.0)
    """
    return _Overlap.of("support_f1", true_coef, coef).f1


def sign_f1(true_coef: Any, coef: Any) -> float:
    """Measure the recovery of the signs of weights: the mean of three F1 scores.

    Weights are sorted into those above 0, below 0 and equal to 0. For each of the three, an F1 score measures how well
    it is separated from the other two, and their mean is the F1 score of Table 3.1 in [1]_. A sign that occurs neither
    in the true weights nor in those found is left out of the mean. Figure 4.7 of Jumutc's thesis uses another one,
    :func:`support_f1`.

    Parameters
    ----------
    true_coef, coef : array-like of shape (n_features,) or (n_outputs, n_features)
        The true weights and those found, dense or sparse. Only their signs count.

    References
    ----------
    .. [1] H. Yang, "Sparse learning under regularization framework", CUHK, 2011, Section 3.6.1.

    Examples
    --------
    >>> from thresher.metrics import sign_f1
    >>> sign_f1([1, -1, 0, 0], [0.3, -0.1, 0, 0])
    1.0
    >>> round(sign_f1([1, -1, 0, 0], [0.3, 0.1, 0, 0]), 3)
    0.556
    """
    arguments = (("true_coef", true_coef), ("coef", coef))
    true, found = (np.sign(np.atleast_2d(finite_numbers("sign_f1", name, w, 1, 2))) for name, w in arguments)
    if true.shape != found.shape:
        raise ValueError(f"sign_f1: coef must have the shape of true_coef, {true.shape}, got {found.shape}.")
    each = [_Overlap.in_masks(true == sign, found == sign) for sign in (1, -1, 0)]
    return float(np.mean([score.f1 for score in each if score.n_true or score.n_found]))


class _Overlap(NamedTuple):
    """Numbers of true features, of features found, and of those that are both."""

    n_true: int
    n_found: int
    n_both: int

    @classmethod
    def of(cls, who: str, true_coef: Any, coef: Any) -> _Overlap:
        true, found = _used(who, "true_coef", true_coef), _used(who, "coef", coef)
        if true.width is not None and found.width is not None and true.width != found.width:
            raise ValueError(f"{who}: coef must have {true.width} features as true_coef has, got {found.width}.")
        width = true.width if true.width is not None else found.width
        for name, used in (("true_coef", true), ("coef", found)):
            if width is not None and len(used.columns) and used.columns[-1] >= width:
                raise ValueError(f"{who}: {name} must hold indices below {width}, got {used.columns[-1]}.")
        both = np.intersect1d(true.columns, found.columns, assume_unique=True)
        return cls(len(true.columns), len(found.columns), len(both))

    @classmethod
    def in_masks(cls, true: NDArray[np.bool_], found: NDArray[np.bool_]) -> _Overlap:
        return cls(int(np.count_nonzero(true)), int(np.count_nonzero(found)), int(np.count_nonzero(true & found)))

    @property
    def precision(self) -> float:
        return self.n_both / self.n_found if self.n_found else float(not self.n_true)

    @property
    def recall(self) -> float:
        return self.n_both / self.n_true if self.n_true else 1.0

    @property
    def f1(self) -> float:
        return 2 * self.n_both / (self.n_true + self.n_found) if self.n_true or self.n_found else 1.0


class _Used(NamedTuple):
    columns: NDArray[np.intp]  # in rising order
    width: int | None  # number of features, where it is known


def _used(who: str, name: str, values: Any) -> _Used:
    """Return the features in use, of weights, a mask or indices."""
    if isinstance(values, Set):
        values = np.array(sorted(values), dtype=np.intp if not values else None)
    if not sparse.issparse(values):
        values = np.asarray(values)
        if values.ndim == 1 and np.issubdtype(values.dtype, np.integer):
            columns = np.unique(values)
            if len(columns) < len(values) or (len(columns) and columns[0] < 0):
                raise ValueError(
                    f"{who}: {name} must be weights as floats, or distinct indices of at least 0, got integers that "
                    "repeat or are below 0."
                )
            return _Used(columns.astype(np.intp), None)
    weights = np.atleast_2d(finite_numbers(who, name, values, 1, 2))
    return _Used(np.flatnonzero((weights != 0).any(axis=0)), weights.shape[1])
