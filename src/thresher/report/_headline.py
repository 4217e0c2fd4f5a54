"""The sentence that sums up a classifier, at the top of a report and of what commands print."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._figures import count, interval, one_in, percent, plural, quoted
from . import _measures
from ._measures import Answers, Estimate


def rare_class(rows: Answers) -> dict[str, Any] | None:
    """Count what is found of the class with the fewest rows, and the false alarms, if that class is rare."""
    k = rows.rarest
    if k is None:
        return None
    found, there, called = (int(n) for n in (rows.table[k, k], rows.table[k].sum(), rows.table[:, k].sum()))
    n_rows = int(rows.table.sum())
    return {
        "class": rows.classes[k],
        "found": found,
        "rows": there,
        "false alarms": called - found,
        "other rows": n_rows - there,
        "recall": _measures.proportion(found, there),
        "precision": _measures.proportion(found, called),
        "share": there / n_rows,
    }


def headline(rows: Answers, found: dict[str, Estimate], guesses: dict[str, float], rare: dict[str, Any] | None) -> str:
    """Say how well the classes are told apart: how much of a rare class is found, else how many rows are wrong."""
    totals = rows.table.sum(axis=1)
    if np.count_nonzero(totals) == 1:
        error = found["error"]
        only = quoted(rows.classes[int(totals.argmax())])
        return (
            f"All rows are of class {only}; the model is wrong on {percent(error.value)} of them ({interval(error)})."
        )
    if rare is None:
        return _error_sentence(rows, found, guesses)
    if np.count_nonzero(totals) == 2:
        what = f"rows of class {quoted(rare['class'])}"
        return f"The model {_finds(rare, what)}.{_alarm_sentence(rare)}"
    each, guess = found["balanced accuracy"], percent(guesses["balanced accuracy"])
    gain = f"a guess would find {guess}"
    if each.low <= guesses["balanced accuracy"]:
        gain = f"no clear gain over a guess, which would find {guess}"
    return (
        f"On average over the classes, the model finds {percent(each.value)} of the rows of a class "
        f"({interval(each)}); {gain}. Of the rarest, {quoted(rare['class'])}, it {_finds(rare, 'rows')}."
    )


def _finds(rare: dict[str, Any], what: str) -> str:
    """Say how many rows of the rare class are found, at what price."""
    share = f"{percent(rare['recall'].value)}, {interval(rare['recall'])}"
    alarms = plural(rare["false alarms"], "false alarm") if rare["false alarms"] else "no false alarm"
    return (
        f"finds {count(rare['found'])} of {count(rare['rows'])} {what} ({share}), "
        f"with {alarms} among {plural(rare['other rows'], 'other row')}"
    )


def _alarm_sentence(rare: dict[str, Any]) -> str:
    """Compare the rows that are given the rare class with rows picked at random.

    More of them are right if a row of the class gives alarm more often than another does, which is known better: there
    are many others.
    """
    name, share, others = quoted(rare["class"]), percent(rare["share"]), rare["false alarms"] / rare["other rows"]
    if not rare["found"] + rare["false alarms"]:
        return f" It never predicts {name}."
    right = f" Of the rows that it classifies as {name}, {percent(rare['precision'].value)} are right"
    if rare["recall"].low > others:
        return f"{right}, against {share} of rows picked at random."
    if rare["recall"].high < others:
        return f"{right}, fewer than of rows picked at random ({share})."
    return f"{right}, no clear gain over rows picked at random ({share})."


def _error_sentence(rows: Answers, found: dict[str, Estimate], guesses: dict[str, float]) -> str:
    error, baseline = found["error"], guesses["error"]
    totals = rows.table.sum(axis=1)
    most, few = int(totals.argmax()), int(np.where(totals > 0, totals, totals.max()).argmin())
    says = f"The model is wrong on {percent(error.value)} of rows ({interval(error)})"
    guess = f"guessing the most frequent class, {quoted(rows.classes[most])}, would be wrong on {percent(baseline)}"
    if len(totals) == 2 and totals[few] < 0.25 * totals.sum():
        guess += f", because only {one_in(totals[few] / totals.sum())} is {quoted(rows.classes[few])}"
    if error.high < baseline:
        return f"{says}; {guess}."
    if error.low <= baseline:
        return f"{says}, which is no clear gain over a guess: {guess}."
    says = f"{says}, which is more than a guess: {guess}."
    each, even = found["balanced accuracy"], guesses["balanced accuracy"]
    if each.low <= even:
        return says
    return (  # it looks for a class that is not rare, but less frequent than others
        f"{says} But that guess finds no {quoted(rows.classes[few])}, and the model finds "
        f"{percent(rows.table[few, few] / totals[few])} of them: if every class counts the same, "
        f"it is wrong on {percent(1 - each.value)} and a guess on {percent(1 - even)}."
    )
