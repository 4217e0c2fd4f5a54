"""Outcomes of a binary classifier at other thresholds: positive predictions, found rows, precision and cost."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._figures import count, number, percent, plural, quoted
from .._gate import check_value, positive
from ..plotting import Steps
from ._measures import Array
from ._quantiles import Z
from ._subject import Section, Subject

_GRID = 200


def decisions(subject: Subject) -> Section | None:
    """Count rows called and found over all thresholds, from the scores of the rows that are measured."""
    rows = subject.answers
    if rows is None or rows.scores is None or rows.scores.ndim != 1:
        return None
    if max(rows.true.max(), rows.predicted.max()) > 1 or len(np.unique(rows.true)) < 2:
        return None
    k = rows.sought
    scores, called = rows.scores_of(k), rows.predicted == k
    in_use = _threshold(scores, called)
    if in_use is None:
        return None
    steps = Steps.of(scores, (rows.true == k).astype(np.float64))
    now = int(np.flatnonzero(steps.called == np.count_nonzero(called))[0])
    low, high = np.quantile(scores, [0.002, 0.998])
    grid = np.union1d(np.linspace(min(low, in_use), max(high, in_use), _GRID), [in_use])
    shown = steps.at(grid)
    shown[grid == in_use] = now  # rows exactly there may be called, too
    outcomes = [steps.outcome(step, threshold) for step, threshold in zip(shown, grid.tolist(), strict=True)]
    section: Section = {
        "title": "Other thresholds",
        "class": rows.classes[k],
        "rows": len(scores),
        "of the class": int(steps.found[-1]),
        "in use": steps.outcome(now, in_use),
        **{name: [each[name] for each in outcomes] for name in ("threshold", "called", "found", "recall", "precision")},
        "costs": [_cost(steps, name, ratio, now, in_use, shown) for name, ratio in _ratios(subject, k, steps).items()],
    }
    return section | {"says": _sentence(section)}


def _threshold(scores: Array, called: Any) -> float | None:
    """Return what the scores of the rows called are above: 0, or another number; None if there is no such number."""
    low = float(scores[~called].max(initial=-np.inf))
    high = float(scores[called].min(initial=np.inf))
    if low <= 0 <= high:
        return 0.0
    return (low + high) / 2 if low < high and np.isfinite(low + high) else None


def _ratios(subject: Subject, k: int, steps: Steps) -> dict[str, float]:
    """Return what a missed row costs, in false alarms: as is known, or else as much, and so that both classes count the
    same."""
    asked, learner = subject.asked.get("cost"), subject.learner
    if asked is not None:
        check_value("Report", "cost", asked, positive)
        return {"as requested": float(asked)}
    declared: Any = getattr(learner, "_params", {}).get("cost")
    cost: Any = getattr(learner, "cost", None)
    if declared is not None and declared.file != "cost" and positive.holds(cost):  # others are shares
        return {"by cost": float(cost) if k == 1 else 1 / float(cost)}
    for name, weights in (("cost", cost), ("class_weight", getattr(learner, "class_weight", None))):
        if isinstance(weights, dict):
            of_class, of_other = (float(weights.get(learner.classes_[i], 1.0)) for i in (k, 1 - k))
            if of_class > 0 and of_other > 0:
                return {f"by {name}": of_class / of_other}
    balanced = float(steps.called[-1] / steps.found[-1] - 1)
    return {"all mistakes count the same": 1.0} | ({} if balanced == 1 else {"both classes count the same": balanced})


def _cost(steps: Steps, name: str, ratio: float, now: int, in_use: float, shown: Any) -> dict[str, Any]:
    costs = steps.cost(ratio)
    best = now if costs[now] == costs.min() else int(costs.argmin())
    found = abs(steps.found[best] - steps.found[now])  # by one of the two thresholds only
    alarms = abs(steps.called[best] - steps.called[now]) - found
    return {
        "name": name,
        "ratio": ratio,
        "cost": costs[shown],
        "in use": float(costs[now]),
        "best": steps.outcome(best, in_use if best == now else steps.between(best)) | {"cost": float(costs[best])},
        "is clear": bool(abs(ratio * found - alarms) > Z * np.sqrt(ratio**2 * found + alarms)),
        "constant": float(min(costs[0], costs[-1])),
    }


def _sentence(section: Section) -> str:
    name, now = quoted(section["class"]), section["in use"]
    called = plural(now["called"], "row is", "rows are")
    says = (
        f"At the current threshold, {number(now['threshold'], 3)}, {called} classified as {name}: "
        f"{count(now['found'])} of {count(section['of the class'])} are found"
    )
    says += f", and {percent(now['precision'])} of the rows classified so are right." if now["called"] else "."
    for cost in section["costs"]:
        says += f" If a missed row costs {_false_alarms(cost['ratio'])} ({cost['name']}), {_best(section, cost)}."
    if any(cost["is clear"] for cost in section["costs"]):
        says += " A threshold chosen on these rows does somewhat worse on others."
    return says


def _false_alarms(ratio: float) -> str:
    return "as much as a false alarm" if ratio == 1 else f"{number(ratio, 3)} times as much as a false alarm"


def _best(section: Section, cost: dict[str, Any]) -> str:
    best = cost["best"]
    if not cost["is clear"]:
        return "no other threshold costs clearly less"
    less = f"costs {percent(1 - best['cost'] / cost['in use'])} less"
    if best["called"] in (0, section["rows"]):
        return f"classifying {'every' if best['called'] else 'no'} row as {quoted(section['class'])} {less}"
    found = f"{count(best['found'])} are found among {plural(best['called'], 'row')} classified so"
    return f"a threshold of {number(best['threshold'], 3)} {less}: {found}"


def table(section: Section) -> list[tuple[str, ...]]:
    """Write the outcome of the threshold in use, and of those that cost least, under a line of titles."""
    prices = [f"cost at {number(cost['ratio'], 3)}" for cost in section["costs"]]
    lines = [("threshold", "", "called", "found", "precision", *prices)]
    best = [(f"best at {number(cost['ratio'], 3)}", cost["best"]) for cost in section["costs"]]
    for what, outcome in [("in use", section["in use"]), *best]:
        called, found = outcome["called"], outcome["found"]
        alarms, missed = called - found, section["of the class"] - found
        costs = [number((alarms + cost["ratio"] * missed) / section["rows"], 3) for cost in section["costs"]]
        precision = percent(outcome["precision"]) if called else "–"
        lines.append((number(outcome["threshold"], 3), what, count(called), count(found), precision, *costs))
    return lines
