"""Who wins where, out of the figures."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from ._report import Table

# Of a task: its sizes, accuracy and AUROC by learner of shape (orders, sizes, 2), the names of the one-pass learners.
Qualities = dict[str, tuple[tuple[int, ...], dict[str, Any], set[str]]]
VW = "Vowpal Wabbit --ftrl"
SGD = "SGDClassifier, one pass"
AROW_K = ("AROW-K", "AROW-K, r auto")
_WITHIN = 0.3


class Cell(NamedTuple):
    task: str
    place: int  # of the size among the task's
    size: int
    accuracy: dict[str, float]  # of the one-pass learners


def _cells(qualities: Qualities) -> Iterator[Cell]:
    for title, (sizes, by_learner, streams) in qualities.items():
        for k, size in enumerate(sizes):
            means = {name: float(q[:, k, 0].mean()) for name, q in by_learner.items() if name in streams}
            yield Cell(title, k, size, means)


def winners(qualities: Qualities) -> list[Table]:
    cells = list(_cells(qualities))
    where = Table(
        "Who wins where: the best one-pass learner by accuracy",
        ["data", "weights", "first", "second", "third", "best reference", "l1-RDA is behind by"],
        notes=["Accuracy in %. The references visit the rows as often as they like."],
    )
    for cell in cells:
        _, by_learner, streams = qualities[cell.task]
        ranked = sorted(cell.accuracy.items(), key=lambda item: -item[1])[:3]
        batch = {n: float(q[:, cell.place, 0].mean()) for n, q in by_learner.items() if n not in streams}
        best = max(batch.items(), key=lambda item: item[1], default=("", np.nan))
        where.rows.append(
            [
                cell.task,
                f"{cell.size:,}",
                *(f"{name} {value:.2f}" for name, value in ranked),
                f"{best[0]} {best[1]:.2f}",
                f"{ranked[0][1] - cell.accuracy['l1-RDA']:.2f}",
            ]
        )
    return [where, _gaps(cells)]


def _gaps(cells: list[Cell]) -> Table:
    """How far each is behind the best, at each step of the sizes."""
    n_sizes = max(cell.place for cell in cells) + 1
    table = Table(
        "Points of accuracy behind the best one-pass learner, mean over the tasks",
        ["learner", *("smallest" if k == 0 else f"size {k + 1}" for k in range(n_sizes)), "all", "worst", "first"],
    )
    wins = Counter(max(cell.accuracy, key=lambda name: cell.accuracy[name]) for cell in cells)
    gaps: dict[str, list[tuple[int, float]]] = {}
    for cell in cells:
        for name, value in cell.accuracy.items():
            gaps.setdefault(name, []).append((cell.place, max(cell.accuracy.values()) - value))
    mean = {name: float(np.mean([gap for _, gap in each])) for name, each in gaps.items()}
    for name in sorted(gaps, key=lambda name: mean[name]):
        by_size = [np.mean([gap for place, gap in gaps[name] if place == k]) for k in range(n_sizes)]
        worst = max(gap for _, gap in gaps[name])
        counted = f"{wins[name]} of {len(gaps[name])}"
        table.rows.append([name, *(f"{g:.2f}" for g in by_size), f"{mean[name]:.2f}", f"{worst:.2f}", counted])
    table.notes = _sentences(cells, mean, wins)
    return table


def _sentences(cells: list[Cell], mean: dict[str, float], wins: Counter[str]) -> list[str]:
    full = [name for name in mean if all(name in cell.accuracy for cell in cells)]
    steadiest = min(full, key=lambda name: mean[name])
    often, times = wins.most_common(1)[0]
    said = [
        f"Most often first is {often}, {times} of {len(cells)} times; nearest to the best on average is {steadiest}, "
        f"{mean[steadiest]:.2f} points behind."
    ]
    for place, words in ((0, "With the fewest weights"), (max(c.place for c in cells), "With the most")):
        first, n = Counter(max(c.accuracy, key=lambda m: c.accuracy[m]) for c in cells if c.place == place).most_common(
            1
        )[0]
        said.append(f"{words}, {first} is first in {n} of {sum(c.place == place for c in cells)} tasks.")
    return said


def arow_cells(qualities: Qualities) -> list[Table]:
    """AROW-K cell by cell against those that many would take in its place."""
    names = [*AROW_K, SGD, VW]
    table = Table("AROW-K: accuracy, cell by cell", ["data", "weights", *names])
    cells = [cell for cell in _cells(qualities) if AROW_K[0] in cell.accuracy]
    for cell in cells:
        means = [cell.accuracy.get(name, np.nan) for name in names]
        table.rows.append([cell.task, f"{cell.size:,}", *(f"{m:.2f}" for m in means)])
    overall = [np.mean([cell.accuracy.get(name, np.nan) for cell in cells]) for name in names]
    table.rows.append(["mean of the cells", "", *(f"{m:.2f}" for m in overall)])
    return [table] if cells else []


def goals(qualities: Qualities, timings: list[Any]) -> Table:
    cells = list(_cells(qualities))
    table = Table(
        "Goals", ["goal", "mean", "worst", "reached in", "target"], notes=["Differences are in points of accuracy."]
    )
    for title, ours, theirs, target in (
        ("FTRL less Vowpal Wabbit", "FTRL", VW, -_WITHIN),
        ("FTRL, debias less Vowpal Wabbit", "FTRL, debias", VW, -_WITHIN),
        ("FTRL less the same with l1 searched", "FTRL", "FTRL, l1 searched", -_WITHIN),
        ("adaptive l1-RDA less l1-RDA", "adaptive l1-RDA", "l1-RDA", 0.0),
        *((f"{ours} less {theirs}", ours, theirs, 0.0) for ours in AROW_K for theirs in (SGD, VW)),
    ):
        gaps = [c.accuracy[ours] - c.accuracy[theirs] for c in cells if ours in c.accuracy and theirs in c.accuracy]
        if gaps:
            reached = f"{sum(g >= target for g in gaps)} of {len(gaps)}"
            table.rows.append([title, f"{np.mean(gaps):+.2f}", f"{min(gaps):+.2f}", reached, f"at least {target:g}"])
    ratios = [each.ratio for each in timings if each.ratio is not None]
    if ratios:
        reached = f"{sum(r <= 0.5 for r in ratios)} of {len(ratios)}"
        cells_ = [f"{np.mean(ratios):.2f}", f"{max(ratios):.2f}", reached, "at most 0.5"]
        table.rows.append(["FTRL's CPU time, of VW's", *cells_])
    return table
