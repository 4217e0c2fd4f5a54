"""What a newcomer gets: every estimator at its defaults, beside itself tuned and beside peers at theirs."""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from functools import partial

import numpy as np
from scipy.stats import t

from . import _newcomer_kernels as kernels
from ._newcomer_checks import FORMS, Found, cost_check, multi_class_check, scale_check
from ._newcomer_peers import (
    RIVER_ROWS,
    SGD,
    SGD_FIT,
    SGD_REGRESSOR,
    SGD_REGRESSOR_FEW,
    SGD_SCALED,
    VW,
    class_peers,
    regression_peers,
)
from ._newcomer_runs import (
    KERNEL_ROWS,
    KERNELS,
    N_SETTINGS,
    SLOW,
    Scores,
    other_classifiers,
    regressors,
    run_all,
    run_fit,
    streaming_classifiers,
)
from ._newcomer_sets import DATA, classification, is_there, regression
from ._report import Table

FIRST = ("arow", "ftrl", "scw")  # those that have to be as good as the peers


def run(quick: bool) -> list[Table]:
    return _tables(quick, every=False)


def every(quick: bool) -> list[Table]:
    """The same, and tables of all sets: ``python -m benchmarks newcomer --all``."""
    return _tables(quick, every=True)


def _tables(quick: bool, *, every: bool) -> list[Table]:
    warnings.simplefilter("ignore")
    peers, notes = class_peers(quick)
    sets = classification(quick)
    sparse_sets = [each.name for each in sets if not each.dense]
    by_fit = {_fit_of(name): partial(run_fit, name) for name in FIRST}
    streams = run_all(sets, streaming_classifiers(), peers | by_fit, quick, tune=True)
    small = [each for each in sets if each.small]
    others = run_all(small, other_classifiers(), {}, quick, tune=not quick)
    amounts = run_all(regression(quick), regressors(), regression_peers(), quick, tune=not quick)
    scales, forms, costs = scale_check(quick), multi_class_check(quick), cost_check(quick)
    machines = kernels.run(quick)
    verdicts = _verdicts(streams, amounts, scales, forms, costs)
    for claim, behind in kernels.claims(machines):
        _judge(verdicts, claim, behind, 0.0, 3)
    tables = [
        verdicts,
        _stream_table(streams, sparse_sets, notes, quick),
        _interval_table(streams, sparse_sets),
        _other_table(others, streams),
        _regressor_table(amounts),
        *_check_tables(scales, forms, costs),
        kernels.table(machines),
    ]
    return tables + ([_long("classifiers, %", streams | others), _long("regressors, R2", amounts)] if every else [])


def _fit_of(learner: str) -> str:
    return f"{learner}, fit"


def _kind() -> str:
    """Stand-ins have the names of real sets, so that every title tells."""
    return "real" if is_there("") else f"generated (no {DATA})"


# --- distances --------------------------------------------------------------------------------------------------------


def _distances(scores: Scores, learner: str, to: str) -> dict[str, float]:
    """How far a learner is below another (above 0: it is worse), or below itself tuned, by set."""
    mine = scores[learner]
    if to == "tuned":
        return {name: each.tuned - each.value for name, each in mine.items() if each.tuned is not None}
    return {name: scores[to][name].value - each.value for name, each in mine.items() if name in scores.get(to, {})}


def _mean_and_worst(distances: dict[str, float], digits: int = 1) -> list[str]:
    if not distances:
        return ["", ""]
    where = max(distances, key=distances.__getitem__)
    mean = float(np.mean(list(distances.values())))
    return [f"{mean:+.{digits}f}", f"{distances[where]:+.{digits}f} ({where})"]


def _mean(scores: Scores, learner: str, sets: Iterable[str] | None = None) -> float:
    return float(np.mean([each.value for name, each in scores[learner].items() if sets is None or name in sets]))


def _shown(value: float, digits: int = 1) -> str:
    return "" if np.isnan(value) else f"{value:,.{digits}f}" if abs(value) < 1e4 else f"{value:.1e}"


# --- tables -----------------------------------------------------------------------------------------------------------


def _stream_table(scores: Scores, sparse_sets: list[str], notes: list[str], quick: bool) -> Table:
    sets = list(scores[SGD])
    columns = ["learner", "sets", "sparse", "dense", "all", "below itself tuned", "worst", "below VW", "worst "]
    columns += ["below SGD", "worst  ", "CPU time / SGD"]
    table = Table(
        f"Streaming classifiers at their defaults: accuracy in %, one pass, unscaled rows, {len(sets)} {_kind()} sets",
        columns,
        notes=[
            f"Sets: {', '.join(sets)}. Means over 10 to 48 splits of a set of at most 1,000 training rows, 2 of a "
            "larger, 1 of the largest.",
            f"Itself tuned: the best of {N_SETTINGS} settings of the declared range, chosen on the last fifth of the "
            "training rows. Below SGD: one pass of SGDClassifier over the same rows, dense ones standardised. River "
            f"gets dense rows only, at most {RIVER_ROWS:,}. Multi-task learners get sets of two classes as one task, "
            f"BCW and DropoutPegasos no wide rows; {', '.join(SLOW)}: one split of sets of 1,000 rows and more, tuned "
            "on two classes and 5,000 rows at most.",
            *notes,
        ],
    )
    dense = [name for name in sets if name not in sparse_sets]
    for learner in scores:
        means = [_shown(_mean(scores, learner, which)) for which in (sparse_sets, dense, sets)]
        mine = scores[learner]
        distances = [
            *(["", ""] if learner in (SGD, SGD_SCALED) else _mean_and_worst(_distances(scores, learner, "tuned"))),
            *(["", ""] if learner == VW else _mean_and_worst(_distances(scores, learner, VW))),
            *(["", ""] if learner == SGD_SCALED else _mean_and_worst(_distances(scores, learner, SGD_SCALED))),
        ]
        ratio = sum(each.seconds for each in mine.values()) / sum(scores[SGD][name].seconds for name in mine)
        table.rows.append([learner, str(len(mine)), *means, *distances, f"{ratio:.2g}"])
    return table


def _interval_table(scores: Scores, sparse_sets: list[str]) -> Table:
    first = FIRST[0]
    dense_sets = [name for name in scores[SGD] if name not in sparse_sets]
    table = Table(
        f"Streaming classifiers beside {first}, with intervals: accuracy in %, {_kind()} sets",
        [
            "learner",
            "sets",
            "sparse",
            "dense",
            f"sparse, less {first}'s",
            f"dense, less {first}'s",
            "below itself tuned",
        ],
        notes=[
            "Differences are paired: both learners have the same splits of the same sets, those "
            "that the learner suits. ± is half of a 95 % interval of the mean over sets, by Student's t."
        ],
    )
    for learner, mine in scores.items():
        kinds = [[name for name in which if name in mine] for which in (sparse_sets, dense_sets)]
        means = [_shown(_mean(scores, learner, which)) if which else "" for which in kinds]
        ahead = [[mine[name].value - scores[first][name].value for name in which] for which in kinds]
        beside = ["", ""] if learner == first else [_with_interval(each) for each in ahead]
        tuned = _with_interval(list(_distances(scores, learner, "tuned").values()))
        table.rows.append([learner, str(len(mine)), *means, *beside, tuned])
    return table


def _with_interval(values: list[float]) -> str:
    """The mean and half of its 95 % interval, where there are several values."""
    if len(values) < 2:
        return f"{values[0]:+.1f}" if values else ""
    half = t.ppf(0.975, len(values) - 1) * np.std(values, ddof=1) / np.sqrt(len(values))
    return f"{np.mean(values):+.1f} ± {half:.1f}"


def _other_table(scores: Scores, streams: Scores) -> Table:
    table = Table(
        "Other classifiers at their defaults: accuracy in %, by fit to rows as they come, small dense sets",
        ["learner", "sets", "mean", "below itself tuned", "worst", "below SGD, fit", "worst ", "CPU s"],
        notes=[
            f"{', '.join(name for name in KERNELS if name in scores)} learn from the first {KERNEL_ROWS} rows of each "
            "set. SGDClassifier's own fit gets standardised rows, all of them."
        ],
    )
    both = scores | {SGD_FIT: streams[SGD_FIT]}
    for learner, mine in scores.items():
        cells = [str(len(mine)), _shown(_mean(scores, learner))]
        cells += _mean_and_worst(_distances(scores, learner, "tuned"))
        cells += _mean_and_worst(_distances(both, learner, SGD_FIT))
        table.rows.append([learner, *cells, f"{sum(each.seconds for each in mine.values()):.1f}"])
    return table


def _regressor_table(scores: Scores) -> Table:
    sets = list(scores[SGD_REGRESSOR])
    table = Table(
        f"Regressors at their defaults: R2 by three folds, fit to rows as they come, {len(sets)} {_kind()} sets",
        ["learner", "sets", "mean", "median", "below itself tuned", "worst", "below SGD", "worst ", "CPU time / SGD"],
        notes=[
            f"Sets: {', '.join(sets)}. Below SGD: SGDRegressor's fit to standardised rows. Vowpal Wabbit: one pass. "
            f"gmkl-regressor learns from the first {KERNEL_ROWS} rows, as does the SGDRegressor beside it."
        ],
    )
    for learner, mine in scores.items():
        cells = [str(len(mine)), _shown(_mean(scores, learner), 3)]
        cells.append(_shown(float(np.median([each.value for each in mine.values()])), 3))
        cells += _mean_and_worst(_distances(scores, learner, "tuned"), 3)
        peer = _regression_peer(learner)
        cells += ["", ""] if learner == peer else _mean_and_worst(_distances(scores, learner, peer), 3)
        theirs = sum(scores[SGD_REGRESSOR][name].seconds for name in mine)
        table.rows.append([learner, *cells, f"{sum(each.seconds for each in mine.values()) / theirs:.2g}"])
    return table


def _regression_peer(learner: str) -> str:
    """The SGDRegressor that learns from the same rows."""
    return SGD_REGRESSOR_FEW if learner in KERNELS else SGD_REGRESSOR


def _check_tables(scales: list[Found], forms: list[Found], costs: list[Found]) -> list[Table]:
    scale = Table(
        "Accuracy in % on dense rows, and with columns times .001 to 1,000",
        ["learner", "set", "as they come", "scaled", "difference"],
        [[f.learner, f.where, *map(_shown, f.figures), f"{f.figures[1] - f.figures[0]:+.1f}"] for f in scales],
    )
    form = Table(
        "Accuracy in % by form of several classes",
        ["learner", "set", *FORMS],
        [[f[0], f[1], *map(_shown, f[2])] for f in forms],
    )
    cost = Table(
        "CPU seconds of one pass over 100,000 text-like rows of 75 values",
        ["learner", '"auto"', "a number", "ratio"],
        [[f.learner, *(f"{s:.3f}" for s in f.figures), f"{f.figures[0] / f.figures[1]:.2f}"] for f in costs],
    )
    return [table for table in (scale, form, cost) if table.rows]


def _long(what: str, scores: Scores) -> Table:
    """Default and tuned on every set."""
    sets = list(dict.fromkeys(name for mine in scores.values() for name in mine))
    digits = 3 if "R2" in what else 1
    table = Table(f"All sets: {what} (itself tuned)", ["learner", *sets])
    for learner, mine in scores.items():
        cells = []
        for name in sets:
            each = mine.get(name)
            tuned = "" if each is None or each.tuned is None else f" ({_shown(each.tuned, digits)})"
            cells.append("" if each is None else _shown(each.value, digits) + tuned)
        table.rows.append([learner, *cells])
    return table


# --- what it must show ------------------------------------------------------------------------------------------------


def _verdicts(streams: Scores, amounts: Scores, scales: list[Found], forms: list[Found], costs: list[Found]) -> Table:
    table = Table(f"What defaults must show, on {_kind()} sets", ["claim", "figure", "verdict"])
    ours = [learner for learner in streams if any(each.tuned is not None for each in streams[learner].values())]
    tuned = {learner: _distances(streams, learner, "tuned") for learner in ours}
    _judge(table, "every streaming classifier within 1 point of itself tuned on average", _means(tuned), 1.0)
    _judge(table, "within 3 points on every set", _worsts(tuned), 3.0)
    for learner in FIRST:
        by_fit = _fit_of(learner)
        for name, peer in ((learner, VW), (learner, SGD), (learner, SGD_SCALED), (learner, SGD_FIT), (by_fit, SGD_FIT)):
            below = {name: _distances(streams, name, peer)}
            if below[name]:
                _judge(table, f"{name}: mean at or above {peer}", _means(below), 0.0)
                _judge(table, f"{name}: no set more than 1 point below {peer}", _worsts(below), 1.0)
    names = [name for name in amounts if name not in regression_peers()]
    sane = amounts | {
        peer: {where: each._replace(value=max(each.value, 0.0)) for where, each in amounts[peer].items()}
        for peer in (SGD_REGRESSOR, SGD_REGRESSOR_FEW)
    }
    below = {name: _distances(sane, name, _regression_peer(name)) for name in names}
    _judge(
        table,
        "every regressor: mean R2 at least SGDRegressor's (0 where it diverges) minus .02",
        _means(below),
        0.02,
        3,
    )
    _judge(table, "every regressor: R2 at least SGDRegressor's minus .05 on every set", _worsts(below), 0.05, 3)
    changed = {f"{f.learner} on {f.where}": abs(f.figures[1] - f.figures[0]) for f in scales}
    _judge(table, "other units of columns: accuracy within .5 points", changed, 0.5)
    if forms:
        behind = {f"{f.learner} on {f.where}": max(f.figures[1:]) - f.figures[0] for f in forms}
        _judge(table, 'multi_class="auto" within .5 points of the better form', behind, 0.5)
        gains = [f for f in forms if f.learner == "arow" and f.where in ("pendigits", "covtype, 7 classes")]
        short = {f"{f.learner} on {f.where}": 3 - (f.figures[0] - f.figures[2]) for f in gains}
        best = dict([min(short.items(), key=lambda item: item[1])]) if short else {}
        _judge(table, "arow: 3 points above one against the rest on pendigits or covtype (short by)", best, 0.0)
    else:
        table.rows.append(['multi_class="auto" within .5 points of the better form', "no such parameter", "FAIL"])
    passes = {f.learner: f.figures[0] / f.figures[1] for f in costs}
    _judge(table, 'cost of "auto" at most 2.5 passes of the plain learner', passes, 2.5)
    return table


def _means(distances: dict[str, dict[str, float]]) -> dict[str, float]:
    return {learner: float(np.mean(list(each.values()))) for learner, each in distances.items() if each}


def _worsts(distances: dict[str, dict[str, float]]) -> dict[str, float]:
    return {f"{learner} on {where}": far for learner, each in distances.items() for where, far in each.items()}


def _judge(table: Table, claim: str, figures: dict[str, float], most: float, digits: int = 1) -> None:
    """PASS where no figure is above the most that is allowed, else those that are, the worst first."""
    if not figures:
        table.rows.append([claim, "nothing to judge", "-"])
        return
    worst = sorted(figures, key=figures.__getitem__, reverse=True)
    failing = [name for name in worst if not figures[name] <= most]
    shown = "; ".join(f"{name} {_shown(figures[name], digits)}" for name in (failing or worst)[:4])
    count = f"{len(failing)} of {len(figures)} fail: " if failing else "worst: " if len(figures) > 1 else ""
    table.rows.append([claim, count + shown, "FAIL" if failing else "PASS"])
