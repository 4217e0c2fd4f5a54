"""Base classes of clusterings, and of clusters that are told by their centres."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from .. import _gate
from .._engine import matrix_of
from .._estimators import (
    ClustererContract,
    Declared,
    Estimator,
    NumbersFeatures,
    check_is_fitted,
    param,
)
from .._gate import (
    Log,
    Rule,
    at_least,
    beside,
    empty,
    is_foreign_array,
    namespace,
    non_negative,
    on_host,
    one_of,
    seed,
    take,
)
from .._kernels import Array, unit_rows
from ._sums import ClusterSums, refuse_few
from ._sweep import Data, Labels, Objective, total

_penalty = Rule(
    f"a number of at least 0 and at most {_gate.HUGE:g}",
    lambda v: non_negative.holds(v) and float(v) <= _gate.HUGE,
    type="float",
)


class Clusters(NumbersFeatures, ClustererContract, Declared):
    """Mixin of estimators that find clusters, and compare rows with each."""

    n_clusters: int = param(default=2, rule=at_least(1), doc="Number of clusters (:math:`k`).", kw_only=False)

    _estimator_type: ClassVar[str | None] = "clusterer"


class FromStarts(Clusters):
    """Mixin of clusterings whose steps begin at several starts, of which the best counts.

    Attributes
    ----------
    labels_ : ndarray of shape (n_samples,)
        The cluster of each row. Not saved in model files.
    objective_history_ : ndarray of shape (n_iter,)
        The objective after each step of the best run. It never increases.
    n_iter_ : int
        Steps made.
    """

    max_iter: int = param(default=100, rule=at_least(1), doc="Largest number of steps of a run.")
    tol: float = param(
        default=1e-4,
        rule=non_negative,
        doc="A run stops when a step lowers the objective by less than this fraction.",
    )
    n_init: int = param(default=1, rule=at_least(1), doc="Number of runs from different starts; the best one is kept.")
    random_state: Any = param(default=None, rule=seed, doc="Seed of the starts.")

    _fitted: ClassVar[tuple[str, ...]] = (
        *("n_features_in_", "feature_names_in_", "inertia_", "objective_history_", "n_iter_"),
    )


class SparseCentres(FromStarts, Estimator):
    """Base class: a subclass finds centres, and commits them."""

    alpha: float = param(
        default=0.0,
        rule=_penalty,
        doc=r"""Strength of the penalty (:math:`\lambda` in [1]_), in the units of the features. On standardised data, 1
        puts all rows into one cluster; try values from 0.01 to 0.5.""",
        search=Log(1e-3, 1.0),
    )
    metric: str = param(
        default="euclidean",
        rule=one_of("euclidean", "cosine"),
        doc=r"""``"cosine"`` compares directions: rows are scaled to length 1, centres have length 1 (or 0 if the
        penalty removes all their values), and :math:`1 - x^\top w` replaces half the squared distance. A row of zeros
        has no direction and has distance 0 to all centres.""",
    )

    def predict(self, X: Any) -> Labels:
        """Predict the cluster of each row, which minimizes its distance plus the penalty of the centre."""
        check_is_fitted(self)
        rows = self._rows(X, reset=False)
        return beside(self._objective().nearest(self._data(rows), self._centres), rows)

    def transform(self, X: Any) -> Array:
        """Return the distance of each row to each centre, without the penalty."""
        check_is_fitted(self)
        cosine, centres = self.metric == "cosine", self._centres
        data = Data.of(self._rows(X, reset=False), centres, cosine=cosine)
        distances = empty((data.n_rows, len(centres)), data.matrix)
        for part, costs in Objective(0.0, cosine).costs(data, centres):
            distances[part, :] = costs if cosine else namespace(costs).sqrt(costs)
        return distances

    @property
    def _centres(self) -> Array:
        """The centres as NumPy has them."""
        return on_host(self.cluster_centers_)

    def score(self, X: Any, y: Any = None, sample_weight: Any = None) -> float:
        """Return the negative objective on these rows; larger is better."""
        check_is_fitted(self)
        _, rows, weight = self._present(X, sample_weight, reset=False)
        return -total(self._assign(rows)[1], weight)

    def features_of_clusters(self, n_features: int | None = None) -> list[list[tuple[Any, float]]]:
        """Return the features that the centre of each cluster uses, by name if they have names, with their values; the
        largest first, and at most ``n_features`` of them.

        Examples
        --------
        >>> import pandas as pd
        >>> from thresher.cluster import SparseKMeans
        >>> rows = pd.DataFrame({"wings": [2, 2, 0, 0], "legs": [2, 2, 4, 4], "age": [0.1, -0.1, 0.1, -0.1]})
        >>> SparseKMeans(2, alpha=0.5, random_state=0).fit(rows).features_of_clusters()
        [[('legs', 3.5)], [('wings', 1.5), ('legs', 1.5)]]
        """
        check_is_fitted(self)
        names = getattr(self, "feature_names_in_", None)
        described = []
        for centre in self._centres:
            used = np.flatnonzero(centre)
            used = used[np.argsort(-np.abs(centre[used]), kind="stable")][:n_features]
            described.append([(int(j) if names is None else str(names[j]), float(centre[j])) for j in used])
        return described

    @property
    def support_(self) -> NDArray[np.intp]:
        """Indices of the features that any centre uses."""
        check_is_fitted(self)
        return np.flatnonzero(self._centres.any(axis=0))

    def _objective(self) -> Objective:
        return Objective(float(self.alpha), self.metric == "cosine")

    def _assign(self, rows: Any) -> tuple[Labels, Array]:
        return self._objective().assign(self._data(rows), self._centres)

    def _data(self, rows: Any) -> Data:
        return Data.of(rows, self._centres, cosine=self.metric == "cosine")

    def _rows(self, X: Any, *, reset: bool, grow: bool = False) -> Any:
        if grow and not reset:
            rows = matrix_of(_gate.check_features(self, X, reset=False, grow=True))
        else:
            any_width = not reset and self.__dict__.get("_grown", False)
            rows = _gate.check_matrix(self, X, reset=reset, any_width=any_width)
        return unit_rows(rows) if self.metric == "cosine" else rows

    def _present(self, X: Any, sample_weight: Any, *, reset: bool, grow: bool = False) -> tuple[Any, Any, Array | None]:
        """All rows, those of weight above 0, and their weights."""
        rows = self._rows(X, reset=reset, grow=grow)
        weight = _gate.check_weights(sample_weight, rows.shape[0], "SparseKMeans")
        if weight is None or (weight > 0).all():
            there = rows
        elif reset and not weight.any():
            raise ValueError("SparseKMeans: sample_weight must hold a weight above 0, got only zeros.")
        else:
            there, weight = (
                take(rows, np.flatnonzero(weight)) if is_foreign_array(rows) else rows[weight > 0],
                weight[weight > 0],
            )
        if reset:
            counted = "rows" if weight is None else "rows of weight above 0"
            refuse_few("SparseKMeans", self.n_clusters, there.shape[0], counted)
        return rows, there, weight

    @property
    def _n_features_out(self) -> int:
        return int(self.cluster_centers_.shape[0])

    def _summed(self, new: Any = ((0, 0), (0, 0))) -> ClusterSums:
        """The sums that the centres come from, with room for new features."""
        return ClusterSums(np.pad(self._sums, new), self.cluster_weights_, self.inertia_, self.n_samples_seen_)

    def _commit(self, centres: Array, sums: ClusterSums, n_iter: int) -> None:
        self.cluster_centers_, self._sums, self.cluster_weights_ = centres, sums.sums, sums.weights
        self.inertia_, self.n_samples_seen_, self.n_iter_ = sums.cost, sums.n_rows, n_iter
        self._metric = self.metric
        self.objective_history_ = np.empty(0)
