"""The features that matter, and how many of them are needed."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from .._figures import Estimate, count, label, listed, number, percent, plural, quoted
from ..inspection import Weights, features_that_matter, largest
from ._about import n_used
from ._measures import Array, mean, proportion
from ._subject import Sample, Section, Subject

MOST_FEATURES = 20
_MOST_OUTPUTS = 30


def features(subject: Subject) -> Section | None:
    """The features that matter, with weights and, where the learner has it, confidence."""
    weights = subject.weights
    if weights is None:
        return None
    scale = _scale(subject)
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
    by = (
        "weight over its deviation"
        if weights.variance is not None
        else ("distance of the centres" if weights.is_centres else "weight")
    )
    if scale is not None and weights.variance is None:
        by += " times the spread of the feature"
    used = n_used(subject)
    return {
        "title": "The features that matter",
        "says": _features_said(subject, table, used),
        "by": by,
        "n_used": used,
        "outputs": [label(key) for key in weights.outputs][:_MOST_OUTPUTS],
        "n_outputs": len(weights.outputs),
        "is_centres": weights.is_centres,
        "each": "cluster" if weights.is_centres else "task" if hasattr(weights.learner, "tasks_") else "class",
        "features": table,
    }


def _scale(subject: Subject) -> Array | None:
    """The spread of features on the sample, which puts weights of different units on a par."""
    if subject.sample is None or subject.weights is None or subject.weights.variance is not None:
        return None
    scale = subject.sample.scale()
    if scale.shape != subject.weights.rows.shape[1:]:  # a sample narrower than a model that has grown
        scale = np.append(scale, np.zeros(max(0, subject.weights.rows.shape[1] - len(scale))))
        scale = scale[: subject.weights.rows.shape[1]]
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
        said = f"{('lowers', 'raises')[first]} the value"
    else:
        said = f"pushes towards {quoted(subject.classes[first])}"
    if many == len(values):
        return said
    otherwise = f", the opposite in {count(other)}" if other else ""
    return f"{said} in {count(many)} of {plural(len(values), 'task')}{otherwise}"


def _features_said(subject: Subject, table: list[dict[str, Any]], used: int | None) -> str:
    total = f"Of {plural(used, 'feature')} in use, " if used and used > len(table) else "Among the features, "
    names = listed([quoted(f["name"]) for f in table[:3]], 3)
    verb = "matters" if len(table) == 1 else "matter"
    said = f"{total}{names} {verb} most"
    it = "the first" if len(table) > 1 else "it"
    more = it if table[0]["effect"].startswith("sets") else f"more of {it}"
    return f"{said}; {more} {table[0]['effect']}."


def sparsity(subject: Subject) -> Section | None:
    """The error on the sample when only the k most important features are kept."""
    sample, weights = subject.sample, subject.weights
    if sample is None or sample.y is None or weights is None or weights.is_centres or sample.n_rows < 10:
        return None
    scores_of = _Kept(sample, weights, _scale(subject))
    if not scores_of.adds_up(subject):
        return None
    sizes = [2**i for i in range(scores_of.n_used.bit_length())]
    sizes = [k for k in sizes if k < scores_of.n_used] + [scores_of.n_used]
    points = [(k, _error_of(subject, sample, scores_of.keep(k))) for k in sizes]
    what = "error" if subject.task == "classification" else "RMSE"
    return {
        "title": "Sparsity against error",
        "says": _sparsity_said(points, what),
        "measure": what,
        "kept": [k for k, _ in points],
        "error": [e for _, e in points],
        "n_rows": sample.n_rows,
    }


def _sparsity_said(points: list[tuple[int, Estimate]], what: str) -> str:
    """How few features do about as well as all."""
    say = percent if what == "error" else (lambda v: number(v, 3))
    n_used, whole = points[-1]
    if n_used == 1:
        return f"The one feature in use reaches an {what} of {say(whole.value)} on the sample."
    slack = max(0.02 * whole.value, (whole.high - whole.low) / 4)
    enough, at = next((k, e) for k, e in points if e.value <= whole.value + slack)
    everything = "both" if n_used == 2 else f"all {count(n_used)}"
    if enough == n_used:
        fewer, at = points[-2]
        said = f"{everything.capitalize()} features in use reach an {what} of {say(whole.value)} on the sample; "
        alone = "the most important alone" if fewer == 1 else f"the {count(fewer)} most important alone"
        return f"{said}{alone}, {say(at.value)}."
    alone = f"The {count(enough)} most important features alone reach"
    alone = "The most important feature alone reaches" if enough == 1 else alone
    return f"{alone} an {what} of {say(at.value)} on the sample; {everything} in use reach {say(whole.value)}."


class _Kept:
    """Scores of a sample by the most important features alone."""

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

    def keep(self, k: int) -> Array:
        """Scores of shape (n_rows, n_outputs) by the first ``k``."""
        if self._rank is None:
            scores = self._Z[:, :k].astype(np.float64) @ self._weights[:, :k].T
        else:
            data = np.where(self._rank < k, self._Z.data.astype(np.float64), 0.0)
            kept = sparse.csr_array((data, self._Z.indices, self._Z.indptr), shape=self._Z.shape)
            scores = kept @ self._weights[:, : self._Z.shape[1]].T
        return np.asarray(scores) + self._constant

    def adds_up(self, subject: Subject) -> bool:
        """Whether the scores of the model are these sums, as they are for plain linear models only."""
        sample = subject.sample
        assert sample is not None
        said = sample.predicted if subject.task == "regression" else sample.scores
        if not self.n_used or said is None or said.dtype.kind != "f":
            return False
        all_kept = self.keep(self.n_used)
        said = said[:, None] if said.ndim == 1 else said
        return all_kept.shape == said.shape and np.allclose(all_kept, said, rtol=1e-5, atol=1e-6 * np.abs(said).max())


def _error_of(subject: Subject, sample: Sample, scores: Array) -> Estimate:
    assert sample.y is not None
    if subject.task == "regression":
        squares = mean((scores[:, 0] - sample.y) ** 2)
        return Estimate(*(float(np.sqrt(max(v, 0.0))) for v in squares))
    answers = (scores[:, 0] > 0).astype(np.intp) if scores.shape[1] == 1 else scores.argmax(axis=1)
    return proportion(float(np.count_nonzero(answers != subject.codes(sample.y))), sample.n_rows)
