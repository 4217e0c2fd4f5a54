"""Results on rows that the model has not learned from."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._figures import count, formatter, interval, label, listed, number, percent, plural, quoted, score
from ..metrics import detection_rate, rejection_rate
from ..training import HeldOut, worse_than_guess
from . import _measures
from ._headline import headline, rare_class
from ._measures import Answers, Array, Estimate, Output
from ._probabilities import chances_of, estimates
from ._subject import Section, Subject

MOST_CURVES = 12
MOST_CELLS = 20
_MOST_POINTS = 300
_MOST_BINS = 50


def measures(subject: Subject) -> Section | None:
    """Measure with intervals, beside what a guess would reach."""
    held_out, known = subject.measured
    if held_out is None:
        return None
    rows = subject.answers
    section = _value_measures(held_out) if rows is None else _class_measures(subject, rows)
    section["title"] = f"Results on {known}"
    if subject.held_out is not None and worse_than_guess(held_out, subject.task):
        guess = "the mean of the targets" if rows is None else "always predicting the most frequent class"
        section["says"] = f"The model does worse than {guess}. {section['says']}"
    n_rows = max(held_out.n_rows, len(held_out.y))
    kept = f", of which an even sample of {count(len(held_out.y))} is measured" if n_rows > len(held_out.y) else ""
    section["rows"] = {"name": label(held_out.name), "seen": n_rows, "measured": len(held_out.y)}
    section["note"] = f"Measured on {plural(n_rows, 'row')}: {label(held_out.name)}{kept}."
    if subject.held_out is None:
        section["note"] += " The model may have learned from these rows. If so, it does worse on new ones."
    return section


def _class_measures(subject: Subject, rows: Answers) -> Section:
    error = _measures.error(rows.table)
    baseline = _measures.baseline_error(rows.table)
    most = rows.classes[int(rows.table.sum(axis=1).argmax())]
    found: dict[str, Estimate] = {
        "error": error,
        "accuracy": Estimate(1 - error.value, 1 - error.high, 1 - error.low),
        "balanced accuracy": _measures.balanced_accuracy(rows.table),
        "macro F1": _measures.macro_f1(rows.table),
    }
    guesses = {
        "error": baseline,
        "accuracy": 1 - baseline,
        "balanced accuracy": 1 / np.count_nonzero(rows.table.sum(1)),
    }
    each = list(rows.outputs.values())
    if each:
        found["AUROC"] = _measures.auroc_estimate(each)
        found["average precision"] = _measures.average_precision_estimate(each)
        guesses["AUROC"] = 0.5
        guesses["average precision"] = float(np.mean([positive.mean() for positive, _ in each]))
    of_chances, of_rates = estimates(chances_of(subject))
    found, guesses = found | of_chances, guesses | of_rates
    rare = rare_class(rows)
    return {
        "says": headline(rows, found, guesses, rare),
        "rare class": rare,
        "measures": found,
        "guesses": guesses,
        "guess": f"always predicting {quoted(most)}",
        "unit": "share",
        "classes": [
            {"class": name, "rows": m.n_rows, "precision": m.precision, "recall": m.recall, "F1": m.f1}
            for name, m in zip(rows.classes, _measures.by_class(rows.table), strict=True)
        ],
    }


def confusion(subject: Subject) -> Section | None:
    """Count which classes are taken for which."""
    rows = subject.answers
    if rows is None:
        return None
    table = rows.table
    totals = table.sum(axis=1)
    wrong = table - np.diag(np.diag(table))
    i, j = np.unravel_index(int(wrong.argmax()), wrong.shape)
    says = "All rows are classified correctly."
    if wrong[i, j]:
        share = percent(wrong[i, j] / totals[i])
        says = (
            f"The most frequent mistake: {plural(int(wrong[i, j]), 'row')} of class {quoted(rows.classes[i])} "
            f"({share} of them) {'is' if wrong[i, j] == 1 else 'are'} taken for {quoted(rows.classes[j])}."
        )
    kept = np.arange(len(table))
    if len(table) > MOST_CELLS:  # those with most mistakes
        trouble = wrong.sum(axis=0) + wrong.sum(axis=1)
        kept = np.sort(np.argsort(-trouble, kind="stable")[:MOST_CELLS])
        says += f" The {MOST_CELLS} of {len(table)} classes with most mistakes are shown."
    return {
        "title": "Confusion matrix",
        "says": says,
        "classes": [rows.classes[k] for k in kept],
        "counts": table[np.ix_(kept, kept)],
        "totals": totals[kept],
        "n_classes": len(table),
    }


def no_class(subject: Subject) -> Section | None:
    """Count the rows that are given to no class, and compare them with the outliers that are known."""
    rows, known = subject.measured
    if rows is None or not subject.rejects:
        return None
    mark = label(subject.learner.outlier_label)
    true, predicted = (np.array([label(v) for v in y.tolist()]) for y in (rows.y, rows.predicted))
    rejected, lost = float(np.mean(predicted == mark)), rejection_rate(true, predicted, outlier_label=mark)
    says = f"{percent(rejected)} of {known} are predicted as {quoted(mark)}"
    section: Section = {"title": "Rows of no class", "rejected": rejected, "classes rejected": lost}
    n_outliers = int(np.count_nonzero(true == mark))
    if not n_outliers:
        return section | {"says": f"{says}; none of them is labelled as belonging to no class."}
    rate = detection_rate(true, predicted, outlier_label=mark)
    detected = f"of {plural(n_outliers, 'row')} of no class, {percent(rate)} are found"
    says += f": {detected}, and {percent(lost)} of the rows of known classes are rejected."
    return section | {"detection rate": rate, "outliers": n_outliers, "says": says}


def ranking(subject: Subject) -> Section | None:
    """Trace ROC and precision-recall curves."""
    rows = subject.answers
    if rows is None or not rows.outputs:
        return None
    outputs = rows.outputs
    if len(outputs) > MOST_CURVES:  # the classes with most rows
        order = sorted(outputs, key=lambda k: -np.count_nonzero(outputs[k][0]))
        outputs = {k: outputs[k] for k in sorted(order[:MOST_CURVES])}
    curves = []
    for k, (positive, ranked) in outputs.items():
        false, true = ranked.roc()
        precision, recall = ranked.precision_recall()
        precision, recall = np.append(precision[0], precision), np.append(0.0, recall)  # as pure as its first rows
        curves.append(
            {
                "class": rows.classes[k],
                "share": float(positive.mean()),
                "auroc": _measures.auroc_estimate([(positive, ranked)]),
                "average precision": _measures.average_precision_estimate([(positive, ranked)]),
                "roc": dict(zip(("false positive rate", "true positive rate"), _thin(false, true), strict=True)),
                "pr": dict(zip(("recall", "precision"), _thin(recall, precision), strict=True)),
            }
        )
    says = _ranking_sentence(curves, outputs)
    if len(curves) < len(rows.outputs):
        says += f" The {len(curves)} largest of {len(rows.outputs)} classes are shown."
    return {"title": "Ranking of rows", "says": says, "curves": curves}


def _ranking_sentence(curves: list[dict[str, Any]], outputs: dict[int, Output]) -> str:
    if len(curves) > 1:
        best, worst = (f(curves, key=lambda c: c["auroc"].value) for f in (max, min))
        return (
            f"Separated best is {quoted(best['class'])} (AUROC {score(best['auroc'].value)}), worst "
            f"{quoted(worst['class'])} ({score(worst['auroc'].value)}); 0.5 is chance, 1 is perfect."
        )
    curve = curves[0]
    ((_, ranked),) = outputs.values()
    precision, recall = ranked.precision_recall()
    taken = np.cumsum(ranked.positives + ranked.negatives)
    place = int(np.searchsorted(recall, 0.8 - 1e-12))
    share = taken[place] / taken[-1]
    return (
        f"To find 80 % of the rows of class {quoted(curve['class'])}, look at the {percent(float(share))} with the "
        f"highest score: {percent(float(precision[place]))} of those are right, against {percent(curve['share'])} of "
        "rows picked at random."
    )


def _thin(x: Array, y: Array, most: int = _MOST_POINTS) -> tuple[Array, Array]:
    """Keep fewer points of a curve, evenly along its length; the ends stay."""
    if len(x) <= most:
        return x, y
    length = np.append(0.0, np.cumsum(np.hypot(np.diff(x), np.diff(y))))
    places = np.searchsorted(length, np.linspace(0, length[-1], most))
    places = np.unique(np.clip(np.concatenate([[0], places, [len(x) - 1]]), 0, len(x) - 1))
    return x[places], y[places]


def decision_values(subject: Subject) -> Section | None:
    """Show the distances of rows from the border."""
    rows = subject.answers
    if rows is None or rows.scores is None:
        return None
    if rows.scores.ndim == 1:  # where rows are called outliers, too, 0 is not the only border
        return None if rows.predicted.max(initial=0) > 1 else _scores_of_two(rows, rows.scores)
    two = np.partition(rows.scores, -2, axis=1)[:, -2:]
    lead = two[:, 1] - two[:, 0]
    right = rows.true == rows.predicted
    groups = {"right answers": lead[right], "wrong answers": lead[~right]}
    groups = {name: values for name, values in groups.items() if len(values)}
    medians = [number(float(np.median(values)), 3) for values in groups.values()]
    if len(groups) == 2:
        says = f"Correct predictions lead the second best class by {medians[0]} (median), wrong ones by {medians[1]}: "
        says += "check predictions with a small lead."
    else:
        says = f"All are {next(iter(groups))}; the median lead over the second best class is {medians[0]}."
    return _histogram(groups, "lead of the best class over the second", None, says, "Confidence of the predictions")


def _scores_of_two(rows: Answers, scores: Array) -> Section:
    groups = {rows.classes[k]: scores[rows.true == k] for k in (0, 1)}
    groups = {name: values for name, values in groups.items() if len(values)}
    sides = [
        f"{percent(float(np.mean((values > 0) == (name == rows.classes[1]))))} of {quoted(name)}"
        for name, values in groups.items()
    ]
    says = (
        f"Rows with a decision value above 0 are called {quoted(rows.classes[1])}, the others "
        f"{quoted(rows.classes[0])}; on their side of 0 are {listed(sides)}."
    )
    return _histogram(groups, "decision value", 0.0, says, "Confidence of the predictions")


def _usual(values: Array) -> tuple[float, float]:
    """Return limits between which almost all values lie."""
    low, first, third, high = np.quantile(values, [0.002, 0.25, 0.75, 0.998])
    return max(low, first - 5 * (third - first)), min(high, third + 5 * (third - first))


def _histogram(groups: dict[str, Array], axis: str, border: float | None, says: str, title: str) -> Section:
    """Sort each group into bins, its rare extremes into the outer ones."""
    ends = np.array([_usual(values) for values in groups.values()])
    low, high = float(ends[:, 0].min()), float(ends[:, 1].max())
    if border is not None:
        low, high = min(low, border), max(high, border)
    if low == high:
        low, high = low - 0.5, high + 0.5
    rows = sum(map(len, groups.values()))
    edges = np.linspace(low, high, int(np.clip(2.5 * np.cbrt(rows), 8, _MOST_BINS)) + 1)
    shares = {name: np.histogram(np.clip(values, low, high), edges)[0] / len(values) for name, values in groups.items()}
    return {
        "title": title,
        "says": says,
        "axis": axis,
        "border": border,
        "edges": edges,
        "shares": shares,
        "beyond": max(float(np.mean((values < low) | (values > high))) for values in groups.values()),
        "rows": {name: len(values) for name, values in groups.items()},
    }


def _value_measures(held_out: HeldOut) -> Section:
    y, predicted = (np.asarray(v, dtype=np.float64) for v in (held_out.y, held_out.predicted))
    rmse, r2 = _measures.rmse(y, predicted), _measures.r2(y, predicted)
    found = {"RMSE": rmse, "MAE": _measures.mae(y, predicted), "R²": r2}
    guesses = {"RMSE": float(np.std(y)), "MAE": float(np.abs(y - y.mean()).mean()), "R²": 0.0}
    says = (
        f"Predictions are off by {number(rmse.value, 3)} (root mean square; {interval(rmse, formatter('RMSE'))}); "
        f"always predicting the mean, {number(float(y.mean()), 3)}, would be off by {number(guesses['RMSE'], 3)}."
    )
    if np.isfinite(r2.value) and r2.value > 0:
        says += f" The model explains {percent(r2.value)} of the variance."
    elif np.isfinite(r2.value):
        says += " That is worse than the mean: the model explains none of the variance."
    return {"says": says, "measures": found, "guesses": guesses, "guess": "always predicting the mean", "unit": "value"}


def residuals(subject: Subject) -> Section | None:
    """Compare predicted with true values."""
    held_out, _ = subject.measured
    if held_out is None or subject.task != "regression":
        return None
    y, predicted = (np.asarray(v, dtype=np.float64) for v in (held_out.y, held_out.predicted))
    difference = predicted - y
    some = np.linspace(0, len(y) - 1, min(len(y), 1000)).astype(np.intp)
    middle, bias = float(np.median(np.abs(difference))), float(difference.mean())
    lean = "predictions are neither too high nor too low on average"
    if abs(bias) > 1.96 * difference.std() / np.sqrt(len(y)):
        lean = f"on average predictions are {number(abs(bias), 2)} {'too high' if bias > 0 else 'too low'}"
    says = f"Half of the predictions are within {number(middle, 3)} of the truth; {lean}."
    section = _histogram({"rows": difference}, "predicted minus true", 0.0, says, "Predicted against true")
    return section | {"points": {"true": y[some], "predicted": predicted[some]}}
