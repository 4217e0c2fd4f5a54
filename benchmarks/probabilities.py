"""How good are probabilities that are calibrated while a learner learns, in one pass, and what do they cost?"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Sequence

import numpy as np

from ._newcomer_sets import is_there
from ._probability_runs import (
    CHANCE,
    CONSTANT,
    FOLDED,
    LEARNERS,
    N_BINS,
    N_FOLDS,
    TUNED,
    UNTUNED,
    Cost,
    Result,
    cost_rows,
    costs,
    folded,
    several_classes,
    two_classes,
)
from ._report import Table
from ._selection_data import DATA

FIRST, OTHERS = LEARNERS[0], LEARNERS[1:]
ENOUGH = 5_000  # training rows from which on probabilities have to be calibrated
SHOWN_FAILURES = 4

Figures = dict[str, float]  # by learner, or by learner and set


def run(quick: bool) -> list[Table]:
    return _tables(quick, every=False)


def every(quick: bool) -> list[Table]:
    """The same, and log losses on all sets: ``python -m benchmarks probabilities --all``."""
    return _tables(quick, every=True)


def _tables(quick: bool, *, every: bool) -> list[Table]:
    warnings.simplefilter("ignore")
    two, several, spent = list(two_classes(quick)), list(several_classes(quick)), list(costs(quick))
    print(file=sys.stderr)
    enough = 0 if quick else ENOUGH
    large, large_several = ([each for each in of if each.n_rows >= enough] for of in (two, several))
    tables = [
        _promises(two, several, large, large_several, spent),
        _two_table(two),
        _folds_table(two),
        _calibration_table([*large, *large_several], enough),
        _several_table(several),
        _cost_table(spent, cost_rows(quick)),
    ]
    if not every:
        return tables
    return [*tables, _long("All log losses, two classes", two), _long("All log losses, several classes", several)]


def _kind() -> str:
    """Stand-ins have the names of real sets, so that titles tell."""
    return "" if is_there("") else f", generated rows (no {DATA})"


# --- what is promised -------------------------------------------------------------------------------------------------


def _promises(
    two: list[Result], several: list[Result], large: list[Result], large_several: list[Result], spent: list[Cost]
) -> Table:
    table = Table(f"What is promised of probabilities{_kind()}", ["promise", "at most", "figure", "verdict"])
    others = ", ".join(OTHERS)
    above = f"log loss above {TUNED}, %"
    in_folds = "log loss above CalibratedClassifierCV around itself, %"
    around = {name: {each.name: each.excess(name, folded(name)) for each in two} for name in LEARNERS}
    _judge(table, f"{FIRST}: {above}, mean of sets", _means(_excesses(two, (FIRST,))), 3)
    _judge(table, f"{FIRST}: {above}, every set", _each(_excesses(two, (FIRST,))), 8)
    _judge(table, f"{others}: {above}, mean of sets", _means(_excesses(two, OTHERS)), 8)
    _judge(table, f"{others}: {above}, every set", _each(_excesses(two, OTHERS)), 20)
    _judge(table, f"all five: {in_folds}, mean of sets", _means(around), 5)
    _judge(table, f"all five: {in_folds}, every set", _each(around), 5)
    alone = {name: {each.name: each.excess(name, folded(name, "one model")) for each in two} for name in LEARNERS}
    _judge(table, f"all five: {in_folds}, with ensemble=False, every set", _each(alone), 5)
    for what, results in (("two classes", large), ("several classes", large_several)):
        errors = {name: {each.name: each.of[name].error for each in results} for name in LEARNERS}
        _judge(table, f"all five: expected calibration error, {what}, every set", _each(errors), 0.03, 3)
    _judge(table, f"all five, several classes: {above}, mean of sets", _means(_excesses(several, LEARNERS)), 10)
    _judge(table, f"all five, several classes: {above}, every set", _each(_excesses(several, LEARNERS)), 50)
    ratios = {f"{each.learner} on {each.rows} ({each.settings})": each.ratio for each in spent}
    _judge(table, 'cost: CPU time of probability="calibrated" / "none"', ratios, 1.25, 2)
    return table


def _excesses(results: list[Result], learners: Sequence[str]) -> dict[str, Figures]:
    return {name: {each.name: each.excess(name) for each in results} for name in learners}


def _means(figures: dict[str, Figures]) -> Figures:
    return {learner: float(np.mean(list(by_set.values()))) for learner, by_set in figures.items() if by_set}


def _each(figures: dict[str, Figures]) -> Figures:
    return {f"{learner} on {where}": value for learner, by_set in figures.items() for where, value in by_set.items()}


def _judge(table: Table, promise: str, figures: Figures, most: float, digits: int = 1) -> None:
    """The worst figure, or those above the most that is allowed, the worst first."""
    worst_first = sorted(figures, key=figures.__getitem__, reverse=True)
    failing = [name for name in worst_first if not figures[name] <= most]
    shown = "; ".join(f"{name} {figures[name]:.{digits}f}" for name in (failing or worst_first[:1])[:SHOWN_FAILURES])
    count = f"{len(failing)} of {len(figures)} fail: " if failing and len(figures) > 1 else ""
    table.rows.append([promise, f"{most:g}", count + shown, "FAIL" if failing else "PASS" if figures else "-"])


# --- tables -----------------------------------------------------------------------------------------------------------


def _two_table(results: list[Result]) -> Table:
    table = _excess_table(f"Two classes: log losses, and % above {TUNED}{_kind()}", results)
    table.notes = [
        "Each learner at its defaults, one pass over unscaled rows. Means over 2 splits of a set, 1 of the largest.",
        f"{TUNED}: scikit-learn's LogisticRegression, C from .0001 to 10,000 by log loss on the last fifth of the "
        f"training rows, dense rows standardised. {CONSTANT}: the frequencies of the training rows.",
    ]
    return table


def _several_table(results: list[Result]) -> Table:
    return _excess_table(f"Several classes: log losses, and % above {TUNED}{_kind()}", results)


def _excess_table(title: str, results: list[Result]) -> Table:
    """Log losses of a constant and of logistic regression, and how far above it all others are."""
    names = (UNTUNED, *LEARNERS)
    table = Table(title, ["set", "rows", CONSTANT, TUNED, *names])
    for each in results:
        losses = [f"{each.of[name].loss:.4f}" for name in (CONSTANT, TUNED)]
        table.rows.append([each.name, f"{each.n_rows:,}", *losses, *(f"{each.excess(name):+.1f}" for name in names)])
    by_set = np.array([[each.excess(name) for name in names] for each in results])
    for what, figures in (("mean", by_set.mean(axis=0)), ("worst", by_set.max(axis=0))):
        table.rows.append([what, "", "", "", *(f"{figure:+.1f}" for figure in figures)])
    return table


def _folds_table(results: list[Result]) -> Table:
    """Each learner beside scikit-learn's way to probabilities, which learns five times."""
    table = Table(
        f"Log loss, % above that of CalibratedClassifierCV around the same learner{_kind()}",
        ["learner", *(cell for way in FOLDED for cell in (way, f"worst, {way}"))],
        notes=[
            f"CalibratedClassifierCV(cv={N_FOLDS}) around the learner with max_iter=1. It predicts by the mean of "
            f'{N_FOLDS} models, which is better than one of them by itself; "one model" is ensemble=False, which '
            f"calibrates on the same folds and predicts by one model, as ours do.",
        ],
    )
    for name in LEARNERS:
        cells = []
        for way in FOLDED:
            above = {each.name: each.excess(name, folded(name, way)) for each in results}
            worst = max(above, key=above.__getitem__)
            cells += [f"{np.mean(list(above.values())):+.1f}", f"{above[worst]:+.1f} ({worst})"]
        table.rows.append([name, *cells])
    return table


def _calibration_table(results: list[Result], enough: int) -> Table:
    table = Table(
        f"Expected calibration error from {enough:,} training rows on{_kind()}",
        ["set", "rows", CHANCE, TUNED, *LEARNERS],
        notes=[
            f"{N_BINS} bins of equal numbers of test rows: the mean distance between the probability of a class and "
            "its frequency; of several classes, that which is predicted. By chance: what the probabilities of "
            f"{TUNED} would show on as many rows if they were the truth.",
        ],
    )
    for each in results:
        errors = [f"{each.of[name].error:.3f}" for name in (CHANCE, TUNED, *LEARNERS)]
        table.rows.append([each.name, f"{each.n_rows:,}", *errors])
    return table


def _cost_table(spent: list[Cost], n_rows: int) -> Table:
    table = Table(
        'CPU milliseconds of one pass with probability="none" and "calibrated"',
        ["learner", "rows", "defaults", "calibrated", "ratio", "a number", "calibrated ", "ratio "],
        notes=[
            f"{n_rows:,} rows: text of 75 values each, dense ones of 28 columns. A number: in place of "
            '"auto" for the step size or the penalty.'
        ],
    )
    for of_defaults, of_number in zip(spent[::2], spent[1::2], strict=True):
        cells = [
            cell
            for each in (of_defaults, of_number)
            for cell in (f"{1e3 * each.none:.1f}", f"{1e3 * each.calibrated:.1f}", f"{each.ratio:.2f}")
        ]
        table.rows.append([of_defaults.learner, of_defaults.rows, *cells])
    return table


def _long(title: str, results: list[Result]) -> Table:
    names = [name for name in results[0].of if name != CHANCE]
    table = Table(f"{title}{_kind()}", ["learner", *(each.name for each in results)])
    table.rows = [[name, *(f"{each.of[name].loss:.4f}" for each in results)] for name in names]
    return table
