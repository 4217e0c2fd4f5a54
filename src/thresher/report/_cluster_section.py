"""Clusters: their sizes and silhouettes, and a profile of each."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._dataclasses import dataclass
from .._figures import Estimate, label, listed, number, percent, plural, quoted, size_range
from .._gate import sparse
from ..inspection import known_names, largest
from ..metrics import sampled_silhouette, variation_of_information
from ._measures import Array, mean
from ._subject import Sample, Section, Subject

_MOST_BARS = 100  # of a cluster in the picture of silhouettes


def clusters(subject: Subject) -> Section | None:
    """Show the clusters of a model, and measure how well rows sit in them."""
    if subject.task != "clustering":
        return None
    sample = subject.sample
    labels = getattr(subject.learner, "labels_", None)
    labels = sample.predicted if labels is None and sample is not None else labels
    if labels is None:
        return None
    names, sizes = _sizes(subject.learner, labels)
    section: Section = {
        "title": "The clusters",
        "sizes": {label(name): int(size) for name, size in zip(names, sizes, strict=True)},
        "silhouette": None,
        "silhouettes": {},
        "bars": {},
        "agreement": None,
        "with the labels": {},
    }
    share = percent(sizes.max() / sizes.sum())
    says = f"{plural(len(names), 'cluster')} of {size_range(sizes)}; the largest holds {share}."
    if sample is not None and (values := silhouettes(subject)) is not None:
        section["silhouette"] = mean(values)
        for name in np.unique(sample.predicted):
            own = np.sort(values[sample.predicted == name])[::-1]
            section["silhouettes"][label(name)] = float(own.mean())
            section["bars"][label(name)] = own[np.unique(np.linspace(0, len(own) - 1, _MOST_BARS).astype(np.intp))]
        says += _silhouette_sentence(section["silhouette"], hasattr(subject.learner, "cluster_centers_"))
        if sample.y is not None:
            section["with the labels"] = _agreement(sample.y.astype(str), sample.predicted)
            section["agreement"] = section["with the labels"]["adjusted Rand index"]
            agreement = number(section["agreement"], 2)
            says += f" Their agreement with the given labels is {agreement} (1 is perfect, 0 is chance)."
    return section | {"says": says}


def _sizes(learner: Any, labels: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
    """Count the rows of each cluster; of a stream, of which a model has the last labels only, take its own counts."""
    if not hasattr(learner, "cluster_weights_") or learner.n_samples_seen_ <= len(labels):
        return np.unique(labels, return_counts=True)
    weights = np.round(learner.cluster_weights_).astype(np.int64)
    return np.flatnonzero(weights), weights[weights > 0]


def silhouettes(subject: Subject) -> Array | None:
    """Measure the silhouettes of the sample, if it has at least two clusters and fewer than rows."""
    sample = subject.sample
    if sample is None or not 1 < len(np.unique(sample.predicted)) < sample.n_rows:
        return None
    metric = "cosine" if getattr(subject.learner, "metric", None) == "cosine" else "euclidean"
    return sampled_silhouette(sample.Z, sample.predicted, n_samples=sample.n_rows, metric=metric).values


def _agreement(given: NDArray[Any], found: NDArray[Any]) -> dict[str, float]:
    from sklearn.metrics import adjusted_rand_score, rand_score

    return {
        "adjusted Rand index": float(adjusted_rand_score(given, found)),
        "Rand index": float(rand_score(given, found)),
        "variation of information": variation_of_information(given, found),
    }


def _silhouette_sentence(silhouette: Estimate, are_round: bool) -> str:
    value = round(silhouette.value, 2) + 0.0
    if not are_round:
        return f" The mean silhouette is {value:.2f}, but it measures compact clusters, and these may have any shape."
    clear = "clearly apart" if value > 0.5 else "apart, with blurred borders" if value > 0.25 else "hardly apart"
    return f" They are {clear}: the mean silhouette is {value:.2f} (1 is far apart, 0 is on the border)."


_MOST_CLUSTERS = 30  # that are described one by one
_MOST_FEATURES = 6  # of a cluster, and of a row
_MOST_IN_MATRIX = 20
_LEAST = 0.05  # of the spread of a feature: smaller differences of means do not count
_N_ROWS = 3  # typical ones, and as many on the border


@dataclass
class _Centres:
    """The centre of each cluster, or the mean of its rows where the model has no centres.

    Attributes
    ----------
    rows : ndarray of shape (n_clusters, n_columns)
    columns : ndarray
        Which of the learner's features these are; wide sparse rows have few that hold anything.
    clusters : list
        The clusters, as the model calls them.
    shares : ndarray
        Of the rows that each cluster has.
    are_learned : bool
        Whether these are centres of the model, not means of rows.
    """

    rows: Array
    columns: NDArray[np.intp]
    clusters: list[Any]
    shares: Array
    are_learned: bool

    def elsewhere(self, k: int) -> Array:
        """Return the mean of all other clusters, weighted by their rows."""
        weights = np.where(np.arange(len(self.shares)) == k, 0.0, self.shares)
        return weights @ self.rows / max(weights.sum(), 1e-300)


def profiles(subject: Subject) -> Section | None:
    """Describe what sets each cluster apart from the others, and show rows of it."""
    sample = subject.sample
    if subject.task != "clustering" or sample is None:
        return None
    centres = _centres(subject, sample)
    if centres is None or len(centres.clusters) < 2:
        return None
    profiler = _Profiler(subject, sample, centres)
    described = [profiler.profile(k) for k in range(min(len(centres.clusters), _MOST_CLUSTERS))]
    learned = centres.are_learned
    kind = "centre" if learned else "mean of the rows"
    has_matrix = not learned and any(cluster["features"] for cluster in described)
    return {
        "title": "Cluster by cluster",
        "says": _sentence(described, kind),
        "kind": kind,
        "typical": "nearest to the centre" if learned else "far from rows of other clusters",
        "border": "with the lowest silhouette" if learned else "with other clusters next to them",
        "clusters": described,
        "n_clusters": len(centres.clusters),
        "matrix": profiler.matrix() if has_matrix else None,
    }


def _sentence(described: list[dict[str, Any]], kind: str) -> str:
    first = next((cluster for cluster in described if cluster["features"]), None)
    says = f"What sets clusters apart, by the {kind} of each, and rows of the sample to look at."
    if first is None:
        return f"{says} No single feature separates them."
    feature = first["features"][0]
    way = "high" if feature["value"] > feature["elsewhere"] else "low"
    return f"{says} Cluster {first['cluster']}, for example, is {way} in {quoted(feature['name'])}."


def _centres(subject: Subject, sample: Sample) -> _Centres | None:
    weights = subject.weights
    found, own, sizes = np.unique(sample.predicted, return_inverse=True, return_counts=True)
    if weights is not None and weights.is_centres and weights.rows.shape[1] == sample.Z.shape[1]:
        known = dict(zip(found.tolist(), sizes, strict=True))
        shares = np.array([known.get(k, 0) for k in range(len(weights.rows))]) / len(own)
        used = np.flatnonzero(weights.rows.any(axis=0))
        return _Centres(weights.rows[:, used], used, list(range(len(shares))), shares, True)
    members = sparse.csr_array((np.ones(len(own)), (own, np.arange(len(own)))), shape=(len(found), len(own)))
    if not sparse.issparse(sample.Z):
        columns, Z = np.arange(sample.Z.shape[1]), np.asarray(sample.Z, dtype=np.float64)
    else:
        columns = np.unique(sample.Z.indices)
        Z = sample.Z.tocsc()[:, columns].astype(np.float64)
    sums = members @ Z
    rows = (sums.toarray() if sparse.issparse(sums) else np.asarray(sums)) / sizes[:, None]
    return _Centres(rows, columns, found.tolist(), sizes / len(own), False) if len(columns) else None


class _Profiler:
    """Describes clusters by their centres and by rows of the sample."""

    def __init__(self, subject: Subject, sample: Sample, centres: _Centres) -> None:
        self._sample, self._centres = sample, centres
        names = known_names(subject.model, subject.learner)
        is_named = names is not None and len(names) == sample.Z.shape[1]
        self._names = [label(name) for name in names] if is_named else None
        self._by_direction = getattr(subject.learner, "metric", None) == "cosine"
        self._inside = silhouettes(subject) if centres.are_learned else _depths(sample)
        # the spread makes dense features comparable; sparse ones are of one kind, such as words
        self._unit = np.ones(len(centres.columns))
        if not sparse.issparse(sample.Z):
            spread = sample.scale()[centres.columns]
            self._unit = np.where(spread > 0, spread, 1.0)

    def profile(self, k: int) -> dict[str, Any]:
        """Describe one cluster."""
        centres, sample = self._centres, self._sample
        here, elsewhere = centres.rows[k], centres.elsewhere(k)
        strength = np.abs(here - elsewhere) / self._unit
        tells = here != 0 if centres.are_learned else strength >= _LEAST  # a centre says which features it uses
        chosen = largest(np.where(tells, strength, 0.0), _MOST_FEATURES)
        columns = centres.columns[chosen].tolist()
        own = np.flatnonzero(sample.predicted == centres.clusters[k])
        inward = own[:0] if self._inside is None else own[np.argsort(self._inside[own], kind="stable")]
        typical = self._nearest(own, k) if centres.are_learned else inward[::-1]
        return {
            "cluster": label(centres.clusters[k]),
            "rows": len(own),
            "n_features": int(np.count_nonzero(here)) if centres.are_learned else None,
            "features": [
                {"name": self._name(column), "value": float(here[j]), "elsewhere": float(elsewhere[j])}
                for j, column in zip(chosen, columns, strict=True)
            ],
            "typical": [self._row(i, columns) for i in typical[:_N_ROWS].tolist()],
            "border": [self._row(i, columns) for i in inward[:_N_ROWS].tolist()],
        }

    def matrix(self) -> dict[str, Any]:
        """Compare the means of the features that tell the clusters apart with the mean of all, in spreads."""
        centres, shown = self._centres, slice(_MOST_CLUSTERS)
        apart = centres.rows - centres.shares @ centres.rows
        chosen = largest(centres.shares @ apart**2 / self._unit**2, _MOST_IN_MATRIX)
        return {
            "clusters": [label(cluster) for cluster in centres.clusters[shown]],
            "features": [self._name(column) for column in centres.columns[chosen].tolist()],
            "means": centres.rows[shown, chosen].T,
            "apart": (apart[shown] / self._unit)[:, chosen].T,
        }

    def _name(self, column: int) -> str:
        return f"x{column + 1}" if self._names is None else self._names[column]

    def _nearest(self, own: NDArray[np.intp], k: int) -> NDArray[np.intp]:
        """Sort the rows of a cluster by their distance from its centre."""
        Z = self._sample.Z[own]
        centre = np.zeros(Z.shape[1])
        centre[self._centres.columns] = self._centres.rows[k]
        products = np.asarray(Z @ centre).ravel()
        squares = Z.multiply(Z).sum(axis=1) if sparse.issparse(Z) else np.einsum("ij,ij->i", Z, Z, dtype=np.float64)
        squares = np.asarray(squares, dtype=np.float64).ravel()
        away = -products / np.sqrt(np.maximum(squares, 1e-300)) if self._by_direction else squares - 2.0 * products
        return own[np.argsort(away, kind="stable")]

    def _row(self, row: int, columns: list[int]) -> dict[str, Any]:
        """Show a row of the sample: its number, from 1 on, and some of its values as they were given."""
        X = self._sample.X
        if hasattr(X, "columns"):
            features = [self._name(column) for column in columns]
            sources = [name for feature in features for name in X.columns if _is_made_of(feature, label(str(name)))]
            chosen = list(dict.fromkeys([*sources, *X.columns]))[:_MOST_FEATURES]
            cells = {label(name): X[name].iloc[row] if hasattr(X, "iloc") else X[name][row] for name in chosen}
        elif sparse.issparse(X):
            stored = slice(*X.indptr[row : row + 2])
            order = np.argsort(-np.abs(X.data[stored]), kind="stable")[:_MOST_FEATURES]
            cells = {self._name(int(X.indices[stored][i])): X.data[stored][i] for i in order}
        elif X.shape[1] == self._sample.Z.shape[1]:
            cells = {self._name(column): X[row, column] for column in columns}
        else:
            cells = {f"x{j + 1}": X[row, j] for j in range(min(X.shape[1], _MOST_FEATURES))}
        return {"row": row + 1, "values": {name: number(value, 3) for name, value in cells.items()}}


def _is_made_of(feature: str, column: str) -> bool:
    """Whether a feature was made of a column: it has its name, or begins with it where words are features."""
    return feature == column or feature.startswith(f"{column}=")


def _depths(sample: Sample) -> Array | None:
    """Compare the distances of each row from the next row of its own cluster and from that of another.

    This measure suits clusters of any shape.
    """
    if not 1 < len(np.unique(sample.predicted)) < sample.n_rows:
        return None
    from sklearn.metrics.pairwise import euclidean_distances

    away = euclidean_distances(sample.Z.astype(np.float64))
    np.fill_diagonal(away, np.inf)
    same = sample.predicted[:, None] == sample.predicted
    own, other = (np.where(mask, away, np.inf).min(axis=1) for mask in (same, ~same))
    own[np.isinf(own)] = other[np.isinf(own)]  # alone in its cluster
    farther = np.maximum(own, other)
    return (other - own) / np.where(farther > 0, farther, 1.0)


def in_words(features: list[dict[str, Any]]) -> str:
    """List the features of a cluster in one line."""
    words = [f"{f['name']} {number(f['value'], 3)} (elsewhere {number(f['elsewhere'], 3)})" for f in features]
    return listed(words, _MOST_FEATURES) if words else "no single feature"
