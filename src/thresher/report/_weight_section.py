"""The features that matter, and errors of models that keep fewer of them."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._figures import Estimate, count, formatter, label, listed, plural, quoted
from .._gate import sparse
from ..inspection import Weights, features_that_matter, largest
from ._column_section import columns, has_curves
from ._measures import Array, mean, proportion
from ._subject import Sample, Section, Subject

MOST_FEATURES = 20
_MOST_OUTPUTS = 30


def features(subject: Subject) -> Section | None:
    """List the features that matter, with weights and, where the learner has it, confidence."""
    weights = subject.weights
    if weights is None or subject.compares_rows:
        return None
    if has_curves(subject) and (by_column := columns(subject)) is not None:
        return by_column
    scale = spread_of_features(subject)
    found = features_that_matter(subject.model, MOST_FEATURES, scale=scale)
    if not found:
        return None
    strongest = found[0].importance
    table = [
        {
            "name": label(f.name),
            "index": f.index,
            "weights": [f.weights[key] for key in weights.outputs][:_MOST_OUTPUTS],
            "importance": f.importance / strongest,
            "deviation": f.deviation,
            "confidence": None if f.deviation is None else f.importance,
            "effect": _effect(subject, weights, list(f.weights.values())),
        }
        for f in found
    ]
    by = "distance of the centres" if weights.is_centres else "weight"
    if weights.variance is not None:
        by = "weight over its deviation"
    elif scale is not None:
        by += " times the spread of the feature"
    return {
        "title": "The features that matter",
        "says": _sentence(table, subject.n_used),
        "by": by,
        "n_used": subject.n_used,
        "outputs": [label(key) for key in weights.outputs][:_MOST_OUTPUTS],
        "n_outputs": len(weights.outputs),
        "is_centres": weights.is_centres,
        "each": "cluster" if weights.is_centres else "task" if hasattr(weights.learner, "tasks_") else "class",
        "features": table,
    }


def spread_of_features(subject: Subject) -> Array | None:
    """Return the spread of features on the sample, which puts weights of different units on a par."""
    if subject.sample is None or subject.weights is None or subject.weights.variance is not None:
        return None
    scale, width = subject.sample.scale(), subject.weights.rows.shape[1]
    scale = np.append(scale, np.zeros(max(0, width - len(scale))))[:width]  # the model may have grown since
    return scale if (subject.weights.importance(scale) > 0).any() else None


def _effect(subject: Subject, weights: Weights, values: list[float]) -> str:
    if weights.is_centres:
        k = int(np.argmax(np.abs(np.array(values) - np.mean(values))))
        return f"sets cluster {label(weights.outputs[k])} apart"
    if hasattr(weights.learner, "tasks_"):
        return _effect_on_tasks(subject, values)
    if subject.task == "regression":
        return "raises the value" if values[0] > 0 else "lowers the value"
    if len(values) == 1:
        return f"pushes towards {quoted(subject.classes[1 if values[0] > 0 else 0])}"
    k = int(np.argmax(np.abs(values)))
    return f"pushes {'towards' if values[k] > 0 else 'away from'} {quoted(weights.outputs[k])}"


def _effect_on_tasks(subject: Subject, values: list[float]) -> str:
    up, down = sum(v > 0 for v in values), sum(v < 0 for v in values)
    many, other, first = (up, down, 1) if up >= down else (down, up, 0)
    if subject.task == "regression":
        effect = f"{('lowers', 'raises')[first]} the value"
    else:
        effect = f"pushes towards {quoted(subject.classes[first])}"
    if many == len(values):
        return effect
    otherwise = f", the opposite in {count(other)}" if other else ""
    return f"{effect} in {count(many)} of {plural(len(values), 'task')}{otherwise}"


def _sentence(table: list[dict[str, Any]], used: int | None) -> str:
    total = f"Of {plural(used, 'feature')} in use" if used and used > len(table) else "Among the features"
    names, effect = listed([quoted(f["name"]) for f in table[:3]], 3), table[0]["effect"]
    matter, it = ("matters", "it") if len(table) == 1 else ("matter", "the first")
    return f"{total}, {names} {matter} most; {'' if effect.startswith('sets') else 'more of '}{it} {effect}."


def sparsity(subject: Subject) -> Section | None:
    """Measure the error on the sample when only the k most important features are kept."""
    sample, weights = subject.sample, subject.weights
    if sample is None or sample.y is None or weights is None or weights.is_centres or sample.n_rows < 10:
        return None
    if subject.compares_rows:
        return None
    sparser = _SparserModels(sample, weights, spread_of_features(subject))
    if not sparser.add_up_to(sample.predicted if subject.task == "regression" else sample.scores):
        return None
    sizes = [2**i for i in range((sparser.n_used - 1).bit_length())] + [sparser.n_used]
    points = [(k, _error(subject, sample, sparser.scores(k))) for k in sizes]
    what = "error" if subject.task == "classification" else "RMSE"
    return {
        "title": "Sparsity against error",
        "says": _sparsity_sentence(points, what),
        "measure": what,
        "kept": [k for k, _ in points],
        "error": [e for _, e in points],
        "n_rows": sample.n_rows,
    }


def _sparsity_sentence(points: list[tuple[int, Estimate]], what: str) -> str:
    """Say how few features do about as well as all."""
    form = formatter(what)
    n_used, whole = points[-1]
    if n_used == 1:
        return f"The only feature in use reaches an {what} of {form(whole.value)} on the sample."
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
