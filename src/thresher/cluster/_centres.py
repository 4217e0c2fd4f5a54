"""Clusters told by their centres: what is asked of them once they are known."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, ClusterMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from .. import _gate
from .._estimators import matrix_of
from .._gate import Rule, non_negative
from .._kernels import Array, unit_rows
from ._lloyd import total
from ._sweep import Data, Labels, Objective

starts = Rule(
    "'k-means++', 'random' or an array of centres",
    lambda v: isinstance(v, (np.ndarray, list)) or (isinstance(v, str) and v in ("k-means++", "random")),
)
penalty = Rule(
    f"a number of at least 0 and at most {_gate.HUGE:g}",
    lambda v: non_negative.holds(v) and v <= _gate.HUGE,
)


class SparseCentres(ClassNamePrefixFeaturesOutMixin, TransformerMixin, ClusterMixin, BaseEstimator):  # type: ignore[misc]
    """Base class: a subclass finds ``cluster_centers_``, with a penalty ``alpha`` and a ``metric``."""

    n_clusters: int
    alpha: float
    metric: str
    cluster_centers_: Array

    def predict(self, X: Any) -> Labels:
        """The cluster of each row: where its distance and the penalty of the centre together are least."""
        check_is_fitted(self)
        return self._assign(self._rows(X, reset=False))[0]

    def transform(self, X: Any) -> Array:
        """The distance of each row from each centre, without the penalty."""
        check_is_fitted(self)
        cosine, centres = self.metric == "cosine", self.cluster_centers_
        data = Data.of(self._rows(X, reset=False), centres, cosine=cosine)
        distances = np.empty((data.n_rows, len(centres)))
        for part, costs in Objective(0.0, cosine).costs(data, centres):
            distances[part] = costs if cosine else np.sqrt(costs)
        return distances

    def score(self, X: Any, y: Any = None, sample_weight: Any = None) -> float:
        """Minus the objective on these rows: the larger, the better."""
        check_is_fitted(self)
        _, rows, weight = self._present(X, sample_weight, reset=False)
        return -total(self._assign(rows)[1], weight)

    def features_of_clusters(self, n_features: int | None = None) -> list[list[tuple[Any, float]]]:
        """For each cluster the features that its centre uses, by name if they have any, with their values; largest
        first, and at most ``n_features`` of them.

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
        for centre in self.cluster_centers_:
            used = np.flatnonzero(centre)
            used = used[np.argsort(-np.abs(centre[used]), kind="stable")][:n_features]
            described.append([(int(j) if names is None else str(names[j]), float(centre[j])) for j in used])
        return described

    @property
    def support_(self) -> NDArray[np.intp]:
        """Indices of the features that any centre uses."""
        check_is_fitted(self)
        return np.flatnonzero(self.cluster_centers_.any(axis=0))

    def _objective(self) -> Objective:
        return Objective(float(self.alpha), self.metric == "cosine")

    def _assign(self, rows: Any) -> tuple[Labels, Array]:
        data = Data.of(rows, self.cluster_centers_, cosine=self.metric == "cosine")
        return self._objective().assign(data, self.cluster_centers_)

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
            there, weight = rows[weight > 0], weight[weight > 0]
        if reset and there.shape[0] < self.n_clusters:
            rows_of = "rows" if weight is None else "rows of weight above 0"
            raise ValueError(
                f"SparseKMeans: n_clusters must be at most the number of {rows_of} (n_samples={there.shape[0]}), "
                f"got {self.n_clusters}."
            )
        return rows, there, weight

    @property
    def _n_features_out(self) -> int:
        return len(self.cluster_centers_)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags
