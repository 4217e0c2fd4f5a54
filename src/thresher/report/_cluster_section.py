"""Clusters: how large and how far apart they are, what sets each apart, typical rows and rows on the border."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.metrics import adjusted_rand_score, rand_score
from sklearn.metrics.pairwise import euclidean_distances

from .._figures import Estimate, label, listed, number, percent, plural, quoted, size_range
from ..inspection import known_names, largest
from ..metrics import sampled_silhouette, variation_of_information
from ._measures import Array, mean
from ._subject import Sample, Section, Subject

_MOST_CLUSTERS = 30  # that are described one by one
_MOST_FEATURES = 6  # of a cluster, and of a row
_MOST_IN_MATRIX = 20
_MOST_BARS = 100  # of a cluster in the picture of silhouettes
_LEAST = 0.05  # of the spread of a feature: means that differ by less tell nothing
_N_ROWS = 3  # typical ones, and as many on the border


def clusters(subject: Subject) -> Section | None:
    """Sizes, and how well rows sit in their clusters."""
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
    largest = percent(sizes.max() / sizes.sum())
    said = f"{plural(len(names), 'cluster')} of {size_range(sizes)}; the largest holds {largest}."
    if sample is not None and (values := silhouettes(subject)) is not None:
        section["silhouette"] = mean(values)
        for name in np.unique(sample.predicted):
            own = np.sort(values[sample.predicted == name])[::-1]
            section["silhouettes"][label(name)] = float(own.mean())
            section["bars"][label(name)] = _thinned(own)
        said += _silhouette_said(section["silhouette"], hasattr(subject.learner, "cluster_centers_"))
        if sample.y is not None:
            section["with the labels"] = _agreement(sample.y.astype(str), sample.predicted)
            section["agreement"] = section["with the labels"]["adjusted Rand index"]
            said += f" With the given labels they agree to {number(section['agreement'], 2)} (1 is fully, 0 by chance)."
    return section | {"says": said}


def _sizes(learner: Any, labels: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
    """Clusters and how many rows they have; of a stream, of which a model has the last labels only, as it counted."""
    if not hasattr(learner, "cluster_weights_") or learner.n_samples_seen_ <= len(labels):
        return np.unique(labels, return_counts=True)
    weights = np.round(learner.cluster_weights_).astype(np.int64)
    return np.flatnonzero(weights), weights[weights > 0]


def silhouettes(subject: Subject) -> Array | None:
    """Of the rows of the sample, where they have any."""
    sample = subject.sample
    if sample is None or not 1 < len(np.unique(sample.predicted)) < sample.n_rows:
        return None
    metric = "cosine" if _by_direction(subject) else "euclidean"
    return sampled_silhouette(sample.Z, sample.predicted, n_samples=sample.n_rows, metric=metric).values


def _by_direction(subject: Subject) -> bool:
    return getattr(subject.learner, "metric", None) == "cosine"


def _thinned(values: Array) -> Array:
    return values[np.unique(np.linspace(0, len(values) - 1, _MOST_BARS).astype(np.intp))]


def _agreement(given: NDArray[Any], found: NDArray[Any]) -> dict[str, float]:
    return {
        "adjusted Rand index": float(adjusted_rand_score(given, found)),
        "Rand index": float(rand_score(given, found)),
        "variation of information": variation_of_information(given, found),
    }


def _silhouette_said(silhouette: Estimate, are_round: bool) -> str:
    value = round(silhouette.value, 2) + 0.0
    if not are_round:
        return f" The mean silhouette is {value:.2f}, which speaks of compact clusters; these may have any shape."
    clear = "clearly apart" if value > 0.5 else "apart, with blurred borders" if value > 0.25 else "hardly apart"
    return f" They are {clear}: the mean silhouette is {value:.2f} (1 is far apart, 0 is on the border)."


# --- one by one ------------------------------------------------------------------------------------------------------


@dataclass
class _Middles:
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
    are_centres : bool
    """

    rows: Array
    columns: NDArray[np.intp]
    clusters: list[Any]
    shares: Array
    are_centres: bool

    def elsewhere(self, k: int) -> Array:
        """The mean of all other clusters, weighed by their rows."""
        weights = np.where(np.arange(len(self.shares)) == k, 0.0, self.shares)
        mean: Array = weights @ self.rows / max(weights.sum(), 1e-300)
        return mean

    def apart(self) -> Array:
        """How much of the spread of each feature is between the clusters."""
        difference = self.rows - self.shares @ self.rows
        squares: Array = self.shares @ difference**2
        return squares


def profiles(subject: Subject) -> Section | None:
    """What sets each cluster apart from the others, and rows to look at."""
    sample = subject.sample
    if subject.task != "clustering" or sample is None:
        return None
    middles = _middles(subject, sample)
    if middles is None or len(middles.clusters) < 2:
        return None
    names = _names(subject, sample)
    unit = _units(sample, middles)
    inside = silhouettes(subject) if middles.are_centres else _depths(sample)
    described = [
        _profile(k, cluster, middles, unit, names, sample, inside, _by_direction(subject))
        for k, cluster in enumerate(middles.clusters[:_MOST_CLUSTERS])
    ]
    kind = "centre" if middles.are_centres else "mean of the rows"
    return {
        "title": "Cluster by cluster",
        "says": _said(described, kind),
        "kind": kind,
        "typical": "nearest to the centre" if middles.are_centres else "far from rows of other clusters",
        "border": "with the lowest silhouette" if middles.are_centres else "with other clusters next to them",
        "clusters": described,
        "n_clusters": len(middles.clusters),
        "matrix": None
        if middles.are_centres or not any(d["features"] for d in described)
        else _matrix(middles, unit, names),
    }


def _said(described: list[dict[str, Any]], kind: str) -> str:
    first = next((one for one in described if one["features"]), None)
    said = f"What sets clusters apart, by the {kind} of each, and rows of the sample to look at."
    if first is None:
        return f"{said} No feature by itself tells them apart."
    feature = first["features"][0]
    way = "high" if feature["value"] > feature["elsewhere"] else "low"
    return f"{said} Cluster {first['cluster']}, for example, is {way} in {quoted(feature['name'])}."


def _middles(subject: Subject, sample: Sample) -> _Middles | None:
    weights = subject.weights
    found, own, sizes = np.unique(sample.predicted, return_inverse=True, return_counts=True)
    if weights is not None and weights.is_centres and weights.rows.shape[1] == sample.Z.shape[1]:
        known = dict(zip(found.tolist(), sizes, strict=True))
        shares = np.array([known.get(k, 0) for k in range(len(weights.rows))]) / len(own)
        used = np.flatnonzero(weights.rows.any(axis=0))
        return _Middles(weights.rows[:, used], used, list(range(len(shares))), shares, True)
    members = sparse.csr_array((np.ones(len(own)), (own, np.arange(len(own)))), shape=(len(found), len(own)))
    if not sparse.issparse(sample.Z):
        columns, Z = np.arange(sample.Z.shape[1]), np.asarray(sample.Z, dtype=np.float64)
    else:
        columns = np.unique(sample.Z.indices)
        Z = sample.Z.tocsc()[:, columns].astype(np.float64)
    sums = members @ Z
    rows = (sums.toarray() if sparse.issparse(sums) else np.asarray(sums)) / sizes[:, None]
    return _Middles(rows, columns, found.tolist(), sizes / len(own), False) if len(columns) else None


def _units(sample: Sample, middles: _Middles) -> Array:
    """What makes differences comparable: the spread of dense features; sparse ones are of one kind, such as words."""
    if sparse.issparse(sample.Z):
        return np.ones(len(middles.columns))
    spread = sample.scale()[middles.columns]
    return np.where(spread > 0, spread, 1.0)


def _names(subject: Subject, sample: Sample) -> list[str] | None:
    known = known_names(subject.model, subject.learner)
    return None if known is None or len(known) != sample.Z.shape[1] else [label(name) for name in known]


def _name(names: list[str] | None, column: int) -> str:
    return f"x{column + 1}" if names is None else names[column]


def _profile(
    k: int,
    cluster: Any,
    middles: _Middles,
    unit: Array,
    names: list[str] | None,
    sample: Sample,
    inside: Array | None,
    by_direction: bool,
) -> dict[str, Any]:
    here, elsewhere = middles.rows[k], middles.elsewhere(k)
    strength = np.abs(here - elsewhere) / unit
    tells = here != 0 if middles.are_centres else strength >= _LEAST  # a centre says which features it uses
    strength = np.where(tells, strength, 0.0)
    chosen = largest(strength, _MOST_FEATURES)
    own = np.flatnonzero(sample.predicted == cluster)
    inward = np.array([], dtype=np.intp) if inside is None else own[np.argsort(inside[own], kind="stable")]
    typical = _nearest(sample, own, middles, k, by_direction) if middles.are_centres else inward[::-1]
    shown = middles.columns[chosen]
    return {
        "cluster": label(cluster),
        "rows": len(own),
        "n_features": int(np.count_nonzero(here)) if middles.are_centres else None,
        "features": [
            {"name": _name(names, int(middles.columns[j])), "value": float(here[j]), "elsewhere": float(elsewhere[j])}
            for j in chosen
        ],
        "typical": [_row(sample, i, shown, names) for i in typical[:_N_ROWS]],
        "border": [_row(sample, i, shown, names) for i in inward[:_N_ROWS]],
    }


def _depths(sample: Sample) -> Array | None:
    """For clusters of any shape: how much nearer the next row of its own cluster is to a row than that of another."""
    if not 1 < len(np.unique(sample.predicted)) < sample.n_rows:
        return None
    away = euclidean_distances(sample.Z.astype(np.float64))
    np.fill_diagonal(away, np.inf)
    alike = sample.predicted[:, None] == sample.predicted
    own, other = (np.where(mine, away, np.inf).min(axis=1) for mine in (alike, ~alike))
    own[np.isinf(own)] = other[np.isinf(own)]  # alone in its cluster
    farther = np.maximum(own, other)
    depths: Array = (other - own) / np.where(farther > 0, farther, 1.0)
    return depths


def _nearest(sample: Sample, own: NDArray[np.intp], middles: _Middles, k: int, by_direction: bool) -> NDArray[np.intp]:
    """The rows of a cluster that are nearest to its middle."""
    Z = sample.Z[own]
    products = np.asarray(Z @ _full(middles, k, Z.shape[1])).ravel()
    squares = Z.multiply(Z).sum(axis=1) if sparse.issparse(Z) else np.einsum("ij,ij->i", Z, Z, dtype=np.float64)
    squares = np.asarray(squares, dtype=np.float64).ravel()
    away = -products / np.sqrt(np.maximum(squares, 1e-300)) if by_direction else squares - 2.0 * products
    return own[np.argsort(away, kind="stable")]


def _full(middles: _Middles, k: int, width: int) -> Array:
    whole = np.zeros(width)
    whole[middles.columns] = middles.rows[k]
    return whole


def _row(sample: Sample, row: int, columns: NDArray[np.intp], names: list[str] | None) -> dict[str, Any]:
    """A row of the sample: its number, from 1 on, and some of its values as they were given."""
    return {"row": int(row) + 1, "values": _values(sample, int(row), columns, names)}


def _values(sample: Sample, row: int, columns: NDArray[np.intp], names: list[str] | None) -> dict[str, str]:
    X = sample.X
    if hasattr(X, "columns"):
        wanted = [name for j in columns for name in X.columns if _is_of(_name(names, int(j)), str(name))]
        chosen = list(dict.fromkeys([*wanted, *X.columns]))[:_MOST_FEATURES]
        return {label(name): _said_value(X[name].iloc[row] if hasattr(X, "iloc") else X[name][row]) for name in chosen}
    if sparse.issparse(X):
        stored = slice(*X.indptr[row : row + 2])
        order = np.argsort(-np.abs(X.data[stored]), kind="stable")[:_MOST_FEATURES]
        return {_name(names, int(X.indices[stored][i])): number(X.data[stored][i], 3) for i in order}
    if X.shape[1] == sample.Z.shape[1]:
        return {_name(names, int(j)): number(X[row, j], 3) for j in columns}
    return {f"x{j + 1}": number(X[row, j], 3) for j in range(min(X.shape[1], _MOST_FEATURES))}


def _is_of(feature: str, column: str) -> bool:
    """Whether a feature was made of a column: it is its name, or begins with it where words are features."""
    return feature == label(column) or feature.startswith(f"{label(column)}=")


def _said_value(value: Any) -> str:
    return number(value, 3) if isinstance(value, (int, float, np.number)) else label(value)


def _matrix(middles: _Middles, unit: Array, names: list[str] | None) -> dict[str, Any]:
    """Means of the features that tell the clusters apart, and how far they are from the mean of all, in spreads."""
    chosen = largest(middles.apart() / unit**2, _MOST_IN_MATRIX)
    overall = middles.shares @ middles.rows
    shown = slice(_MOST_CLUSTERS)
    return {
        "clusters": [label(cluster) for cluster in middles.clusters[shown]],
        "features": [_name(names, int(middles.columns[j])) for j in chosen],
        "means": middles.rows[shown, chosen].T,
        "apart": ((middles.rows[shown] - overall) / unit)[:, chosen].T,
    }


def in_words(features: list[dict[str, Any]]) -> str:
    """The features of a cluster, in one line."""
    said = [f"{f['name']} {number(f['value'], 3)} (elsewhere {number(f['elsewhere'], 3)})" for f in features]
    return listed(said, _MOST_FEATURES) if said else "no feature by itself"
