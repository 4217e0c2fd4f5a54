"""Errors of sparser models."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from .._figures import Estimate, count, formatter
from ..inspection import Weights, largest
from ._measures import Array, mean, proportion
from ._subject import Sample, Section, Subject
from ._weight_section import spread_of_features


def sparsity(subject: Subject) -> Section | None:
    """Measure the error on the sample when only the k most important features are kept."""
    sample, weights = subject.sample, subject.weights
    if sample is None or sample.y is None or weights is None or weights.is_centres or sample.n_rows < 10:
        return None
    sparser = _SparserModels(sample, weights, spread_of_features(subject))
    if not sparser.add_up_to(sample.predicted if subject.task == "regression" else sample.scores):
        return None
    sizes = [2**i for i in range((sparser.n_used - 1).bit_length())] + [sparser.n_used]
    points = [(k, _error(subject, sample, sparser.scores(k))) for k in sizes]
    what = "error" if subject.task == "classification" else "RMSE"
    return {
        "title": "Sparsity against error",
        "says": _sentence(points, what),
        "measure": what,
        "kept": [k for k, _ in points],
        "error": [e for _, e in points],
        "n_rows": sample.n_rows,
    }


def _sentence(points: list[tuple[int, Estimate]], what: str) -> str:
    """Say how few features do about as well as all."""
    form = formatter(what)
    n_used, whole = points[-1]
    if n_used == 1:
        return f"The one feature in use reaches an {what} of {form(whole.value)} on the sample."
    slack = max(0.02 * whole.value, (whole.high - whole.low) / 4)
    enough, at = next((k, e) for k, e in points if e.value <= whole.value + slack)
    everything = "both" if n_used == 2 else f"all {count(n_used)}"
    if enough == n_used:
        fewer, at = points[-2]
        alone = "the most important alone" if fewer == 1 else f"the {count(fewer)} most important alone"
        says = f"{everything.capitalize()} features in use reach an {what} of {form(whole.value)} on the sample"
        return f"{says}; {alone}, {form(at.value)}."
    several = f"The {count(enough)} most important features alone reach"
    alone = "The most important feature alone reaches" if enough == 1 else several
    return f"{alone} an {what} of {form(at.value)} on the sample; {everything} in use reach {form(whole.value)}."


class _SparserModels:
    """Models that keep the most important features alone, and their scores on a sample."""

    def __init__(self, sample: Sample, weights: Weights, scale: Array | None) -> None:
        strength = weights.importance(scale)
        order = largest(strength, len(strength))
        idle = weights.rows.any(axis=0) & (strength == 0)  # in use, but the same in all rows of the sample
        order = np.concatenate([order, np.flatnonzero(idle)])
        self.n_used = len(order)
        self._constant = np.ravel(np.asarray(getattr(weights.learner, "intercept_", 0.0), dtype=np.float64))
        Z = sample.Z[:, : len(strength)]  # rows may be wider than a model that takes any width
        if sparse.issparse(Z):
            rank = np.full(len(strength), self.n_used, dtype=np.intp)
            rank[order] = np.arange(self.n_used)
            self._rank = rank[Z.indices]
            self._Z, self._weights = Z, weights.rows
        else:
            self._rank = None
            order = order[order < Z.shape[1]]
            self._Z, self._weights = Z[:, order], weights.rows[:, order]

    def scores(self, k: int) -> Array:
        """Return scores of shape (n_rows, n_outputs) by the first ``k`` features."""
        if self._rank is None:
            scores = self._Z[:, :k].astype(np.float64) @ self._weights[:, :k].T
        else:
            data = np.where(self._rank < k, self._Z.data.astype(np.float64), 0.0)
            kept = sparse.csr_array((data, self._Z.indices, self._Z.indptr), shape=self._Z.shape)
            scores = kept @ self._weights[:, : self._Z.shape[1]].T
        return np.asarray(scores) + self._constant

    def add_up_to(self, scores: NDArray[Any] | None) -> bool:
        """Whether all features give the scores of the model, as they do for plain linear models only."""
        if not self.n_used or scores is None or scores.dtype.kind != "f":
            return False
        sums = self.scores(self.n_used)
        scores = scores[:, None] if scores.ndim == 1 else scores
        return sums.shape == scores.shape and np.allclose(sums, scores, rtol=1e-5, atol=1e-6 * np.abs(scores).max())


def _error(subject: Subject, sample: Sample, scores: Array) -> Estimate:
    assert sample.y is not None
    if subject.task == "regression":
        squares = mean((scores[:, 0] - sample.y) ** 2)
        return Estimate(*(float(np.sqrt(max(v, 0.0))) for v in squares))
    answers = (scores[:, 0] > 0).astype(np.intp) if scores.shape[1] == 1 else scores.argmax(axis=1)
    return proportion(float(np.count_nonzero(answers != subject.codes(sample.y))), sample.n_rows)
