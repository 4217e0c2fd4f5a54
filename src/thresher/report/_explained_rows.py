"""Typical rows, most confident mistakes and border cases of the sample, each with the largest parts of its score."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._figures import label, number, percent, plural, quoted
from ..inspection import Reasons, reasons
from ._subject import Sample, Section, Subject, take_rows

_MOST_PARTS = 5
_MOST_CLASSES = 3
_MOST_MISTAKES = 3
_MOST_BORDER = 2


def explained_rows(subject: Subject) -> Section | None:
    """Explain a few rows of the sample."""
    sample = subject.sample
    if sample is None or subject.task == "clustering" or subject.has_tasks or subject.rejects:
        return None
    chosen = _of_values(sample) if subject.task == "regression" else _of_classes(subject, sample)
    if not chosen:
        return None
    places = np.array([place for _, place in chosen], dtype=np.intp)
    try:
        found = reasons(subject.model, take_rows(sample.X, places))
    except ValueError:  # a score that is not a sum of parts
        return None
    rows = [_row(kind, place, sample, each) for (kind, place), each in zip(chosen, found, strict=True) if each.parts]
    if not rows:
        return None
    return {
        "title": "Answers explained",
        "says": _sentence(rows),
        "rows": rows,
        "is_value": subject.task == "regression",
        "meaning": found[0].meaning,
    }


def _of_classes(subject: Subject, sample: Sample) -> list[tuple[str, int]]:
    """Rows by how far their answers lead: as usual, wrongly most, and least."""
    if sample.scores is None:
        return []
    lead = _lead(sample.scores)
    right = np.ones(sample.n_rows, dtype=bool)
    if sample.y is not None:
        right = subject.codes(sample.predicted) == subject.codes(sample.y)
    answers, sizes = np.unique(sample.predicted[right], return_counts=True)
    chosen = []
    for answer in answers[np.argsort(-sizes, kind="stable")][:_MOST_CLASSES]:
        own = np.flatnonzero(right & (sample.predicted == answer))
        chosen.append(("typical", int(own[np.argsort(lead[own], kind="stable")[len(own) // 2]])))
    wrong = np.flatnonzero(~right)
    chosen += [
        ("most confident mistake", int(i)) for i in wrong[np.argsort(-lead[wrong], kind="stable")][:_MOST_MISTAKES]
    ]
    taken = {place for _, place in chosen}
    border = [int(i) for i in np.argsort(lead, kind="stable") if int(i) not in taken]
    return chosen + [("border case", i) for i in border[:_MOST_BORDER]]


def _lead(scores: NDArray[np.float64]) -> NDArray[np.float64]:
    if scores.ndim == 1:
        return np.abs(scores)
    two = np.partition(scores, -2, axis=1)[:, -2:]
    return np.asarray(two[:, 1] - two[:, 0])


def _of_values(sample: Sample) -> list[tuple[str, int]]:
    """The row whose value is in the middle, and those that are farthest off."""
    middle = int(np.argsort(sample.predicted, kind="stable")[sample.n_rows // 2])
    if sample.y is None:
        return [("typical", middle)]
    off = np.abs(sample.predicted - sample.y)
    worst = [int(i) for i in np.argsort(-off, kind="stable") if int(i) != middle]
    return [("typical", middle)] + [("largest error", i) for i in worst[:_MOST_MISTAKES]]


def _row(kind: str, place: int, sample: Sample, found: Reasons) -> dict[str, Any]:
    return {
        "kind": kind,
        "row": place + 1,
        "answer": _shown(found.answer),
        "truth": None if sample.y is None else _shown(sample.y[place]),
        "against": None if found.against is None else label(found.against),
        "probability": found.probability,
        "score": found.score,
        "baseline": found.baseline,
        "n_parts": len(found.parts),
        "parts": [
            {"name": label(part.name), "value": "" if part.value is None else _shown(part.value), "part": part.part}
            for part in found.parts[:_MOST_PARTS]
        ],
    }


def _shown(value: Any) -> str:
    if isinstance(value, (float, np.floating)):
        return "missing" if np.isnan(value) else number(value)
    return label(value) if label(value) else "missing"


def _sentence(rows: list[dict[str, Any]]) -> str:
    says = f"{plural(len(rows), 'row')} of the sample, with the largest parts of their scores."
    wrong = next((row for row in rows if row["kind"] == "most confident mistake"), None)
    if wrong is None:
        return says
    chance = "" if wrong["probability"] is None else f" (probability {percent(wrong['probability'])})"
    reason = quoted(wrong["parts"][0]["name"])
    return (
        f"{says} The most confident mistake is predicted as {quoted(wrong['answer'])}{chance} but is "
        f"{quoted(wrong['truth'])}; the largest part comes from {reason}."
    )


def title_of(row: dict[str, Any]) -> str:
    """Say of a row what it stands for, its answer and the truth."""
    chance = "" if row["probability"] is None else f" (probability {percent(row['probability'])})"
    truth = "" if row["truth"] is None else f", in truth {quoted(row['truth'])}"
    kind = row["kind"][0].upper() + row["kind"][1:]
    return f"{kind}, row {row['row']}: {quoted(row['answer'])}{chance}{truth}"
