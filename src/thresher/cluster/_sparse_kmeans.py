"""K-means whose centres use few features."""

from __future__ import annotations

import warnings
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, ClusterMixin, TransformerMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.preprocessing import normalize
from sklearn.utils.validation import check_is_fitted

from .. import _order, _validation
from .._kernels._products import Array
from .._params import Rule, at_least, check_params, non_negative, one_of, seed
from .._spaces import Log, Range
from .._threads import one_blas_thread
from ._lloyd import Labels, Objective, all_used, spread_rows, steps


class _Run(NamedTuple):
    centres: Array
    labels: Labels
    history: list[float]


class SparseKMeans(ClassNamePrefixFeaturesOutMixin, TransformerMixin, ClusterMixin, BaseEstimator):  # type: ignore[misc]
    r"""K-means with an l1 penalty: clusters whose centres are told apart by few features.

    Minimises, over centres :math:`w_1 \dots w_k` and clusters :math:`c(i)`,

    .. math:: \sum_i \tfrac12 \|x_i - w_{c(i)}\|^2 + \alpha\, \|w_{c(i)}\|_1.

    The best centre of a cluster is its mean, each value shrunk towards 0 by ``alpha`` and never across; the best
    cluster of a row counts the penalty as well. Both steps are exact and lower the same sum, so that it never rises.
    With ``alpha=0`` this is plain K-means. Choose it for wide or sparse rows, when each cluster should be described by
    a few words; scale the features first.

    Parameters
    ----------
    n_clusters : int, default=8
        Number of clusters (:math:`k`).
    alpha : float, default=0.0
        Strength of the penalty (:math:`\lambda` in [1]_), in the unit of the features. On standardised data 1 puts all
        rows in one cluster, and 0.01 to 0.5 is the range to look at.
    metric : {"euclidean", "cosine"}, default="euclidean"
        ``"cosine"`` compares directions: rows are scaled to length 1, centres have length 1 (or 0, when the penalty
        leaves nothing of them), and :math:`1 - x^\top w` takes the place of half the squared distance. A row of zeros
        has no direction and is at distance 0 from all.
    max_iter : int, default=100
        Most steps of a run.
    tol : float, default=1e-4
        A run stops when a step lowers the objective by less than this part of it.
    n_init : int, default=1
        Runs from different starts, of which the best counts.
    random_state : int, RandomState or Generator, optional
        Source of the starts.

    Attributes
    ----------
    cluster_centers_ : ndarray of shape (n_clusters, n_features)
        Centres.
    labels_ : ndarray of shape (n_samples,)
        The cluster of each row. Not kept in model files.
    inertia_ : float
        The objective, times two as is the custom for squared distances: the sum of
        :math:`\|x - w\|^2 + 2\alpha\|w\|_1`, or of :math:`1 - x^\top w + \alpha\|w\|_1` for the cosine metric.
    objective_history_ : ndarray of shape (n_iter_,)
        The same after every step. It never rises.
    n_iter_ : int
        Steps made.
    support_ : ndarray
        Indices of the features that any centre uses.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of str
        Names of the features, when ``X`` had any.

    Notes
    -----
    A step costs :math:`O(k)` times the stored values; sparse rows stay sparse. Starts are drawn by greedy k-means++. A
    cluster that loses its rows is given the one that gains most by a centre of its own; where none does, it stays empty
    and :meth:`fit` warns.

    References
    ----------
    .. [1] V. Jumutc, "Flexible software design for stochastic and kernel-based learning in advanced data-driven
       modelling", KU Leuven, 2016.

    Examples
    --------
    >>> import numpy as np
    >>> from thresher.cluster import SparseKMeans
    >>> rng = np.random.default_rng(0)
    >>> X = 0.5 * rng.normal(size=(300, 50))
    >>> X[:150, 7] += 3                                                # one feature of fifty tells the halves apart
    >>> model = SparseKMeans(n_clusters=2, alpha=0.2, random_state=0).fit(X)
    >>> model.support_
    array([7])
    >>> np.bincount(model.labels_)
    array([150, 150])
    """

    _param_rules: ClassVar[dict[str, Rule]] = {
        "n_clusters": at_least(1),
        "alpha": non_negative,
        "metric": one_of("euclidean", "cosine"),
        "max_iter": at_least(1),
        "tol": non_negative,
        "n_init": at_least(1),
        "random_state": seed,
    }
    _search_space: ClassVar[dict[str, Range]] = {"alpha": Log(1e-3, 1.0)}
    _fitted: ClassVar[tuple[str, ...]] = (
        "n_features_in_",
        "feature_names_in_",
        "cluster_centers_",
        "inertia_",
        "objective_history_",
        "n_iter_",
    )

    cluster_centers_: Array
    labels_: Labels

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        alpha: float = 0.0,
        metric: str = "euclidean",
        max_iter: int = 100,
        tol: float = 1e-4,
        n_init: int = 1,
        random_state: Any = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.alpha = alpha
        self.metric = metric
        self.max_iter = max_iter
        self.tol = tol
        self.n_init = n_init
        self.random_state = random_state

    def fit(self, X: Any, y: Any = None) -> Self:
        """Find clusters.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
        y : ignored

        Returns
        -------
        self
        """
        check_params(self, self._param_rules)
        rows = self._rows(X, reset=True)
        if rows.shape[0] < self.n_clusters:
            raise ValueError(
                f"SparseKMeans: n_clusters must be at most the number of rows (n_samples={rows.shape[0]}), "
                f"got {self.n_clusters}."
            )
        rng = _order.generator(self.random_state)
        with one_blas_thread():  # products are slim: threads would wait for one another, and change bits
            best = min((self._run(rows, rng) for _ in range(self.n_init)), key=lambda run: run.history[-1])
        _validation.commit_features(self, X, rows.shape[1])
        self.cluster_centers_, self.labels_ = best.centres, best.labels
        self.objective_history_ = np.array(best.history)
        self.inertia_, self.n_iter_ = best.history[-1], len(best.history)
        self._look_back()
        return self

    def predict(self, X: Any) -> Labels:
        """The cluster of each row: where its distance and the penalty of the centre together are least."""
        check_is_fitted(self)
        return self._objective().assign(self._rows(X, reset=False), self.cluster_centers_)[0]

    def transform(self, X: Any) -> Array:
        """The distance of each row from each centre, without the penalty."""
        check_is_fitted(self)
        rows = self._rows(X, reset=False)
        distances = np.empty((rows.shape[0], len(self.cluster_centers_)))
        for part, costs in Objective(0.0, self.metric == "cosine").costs(rows, self.cluster_centers_):
            distances[part] = costs if self.metric == "cosine" else np.sqrt(costs)
        return distances

    def score(self, X: Any, y: Any = None) -> float:
        """Minus the objective on these rows: the larger, the better."""
        check_is_fitted(self)
        return -float(self._objective().assign(self._rows(X, reset=False), self.cluster_centers_)[1].sum())

    @property
    def support_(self) -> NDArray[np.intp]:
        """Indices of the features that any centre uses."""
        check_is_fitted(self)
        return np.flatnonzero(self.cluster_centers_.any(axis=0))

    def _objective(self) -> Objective:
        return Objective(float(self.alpha), self.metric == "cosine")

    def _rows(self, X: Any, *, reset: bool) -> Any:
        rows = _validation.check_matrix(self, X, reset=reset)
        return normalize(rows) if self.metric == "cosine" else rows

    def _run(self, rows: Any, rng: np.random.Generator) -> _Run:
        """One start and the steps from there, until they no longer pay."""
        objective = self._objective()
        start = spread_rows(objective, rows, self.n_clusters, rng)
        best = _Run(start, np.zeros(0, dtype=np.int32), [])
        for _, step in zip(range(self.max_iter), steps(objective, rows, start), strict=False):
            value, before = float(step.costs.sum()), best.history[-1] if best.history else np.inf
            if value >= before:  # nothing is left to gain but rounding errors
                break
            settled = np.array_equal(step.labels, best.labels)
            best = _Run(step.centres, step.labels, [*best.history, value])
            gained_little = before - value <= self.tol * value
            if settled or (gained_little and all_used(step.labels, self.n_clusters)):  # a next step fills empty ones
                break
        return best

    def _look_back(self) -> None:
        n_used = len(np.unique(self.labels_))
        if n_used < self.n_clusters:
            cause = "a smaller alpha keeps more of them" if self.alpha > 0 else "too few rows differ"
            warnings.warn(
                f"SparseKMeans: only {n_used} of {self.n_clusters} clusters have rows; {cause}.",
                ConvergenceWarning,
                stacklevel=3,
            )

    @property
    def _n_features_out(self) -> int:
        return len(self.cluster_centers_)

    def _check_loaded(self) -> None:
        """Refuse attributes of a file that do not belong together."""
        _validation.check_loaded_features(self)
        centres, history = self.cluster_centers_, self.objective_history_
        shape = (self.n_clusters, self.n_features_in_)
        largest = (
            _validation.HUGE
        )  # no mean of rows that passed the gate is beyond it, and no alpha that left it any size
        if not _is_finite(centres) or centres.shape != shape or np.abs(centres).max() > largest:
            raise ValueError(f"SparseKMeans: cluster_centers_ must be numbers up to {largest:g} of shape {shape}.")
        if self.alpha > largest and centres.any():
            raise ValueError(f"SparseKMeans: alpha must be at most {largest:g}, got {self.alpha!r}.")
        lengths = np.linalg.norm(centres, axis=1)
        if self.metric == "cosine" and not np.logical_or(lengths == 0, np.abs(lengths - 1) < 1e-6).all():
            raise ValueError("SparseKMeans: centres of the cosine metric must have length 1 or 0.")
        if type(self.n_iter_) is not int or not _is_finite(history) or history.shape != (self.n_iter_,):
            raise ValueError("SparseKMeans: objective_history_ must be finite numbers, one per step.")
        if not len(history) or history.min() < 0 or (np.diff(history) > 0).any() or self.inertia_ != history[-1]:
            raise ValueError("SparseKMeans: objective_history_ must fall to inertia_, which is at least 0.")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


def _is_finite(value: Any) -> bool:
    return isinstance(value, np.ndarray) and value.dtype == np.float64 and bool(np.isfinite(value).all())
