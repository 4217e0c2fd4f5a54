"""The features that matter."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._figures import count, label, listed, plural, quoted
from ..inspection import Weights, features_that_matter
from ._measures import Array
from ._subject import Section, Subject

MOST_FEATURES = 20
_MOST_OUTPUTS = 30


def features(subject: Subject) -> Section | None:
    """List the features that matter, with weights and, where the learner has it, confidence."""
    weights = subject.weights
    if weights is None:
        return None
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
