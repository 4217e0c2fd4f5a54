"""Sizes of clusters with their silhouettes."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._figures import Estimate, label, number, percent, plural, size_range
from ..metrics import sampled_silhouette, variation_of_information
from ._measures import Array, mean
from ._subject import Section, Subject

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
            says += f" With the given labels they agree to {number(section['agreement'], 2)} (1 is fully, 0 by chance)."
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
        return f" The mean silhouette is {value:.2f}, which speaks of compact clusters; these may have any shape."
    clear = "clearly apart" if value > 0.5 else "apart, with blurred borders" if value > 0.25 else "hardly apart"
    return f" They are {clear}: the mean silhouette is {value:.2f} (1 is far apart, 0 is on the border)."
