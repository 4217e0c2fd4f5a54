"""One problem at three penalties: CPU time of every solver to the same objective."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple

from ._front import FrontLine
from ._reach import Solve, reach
from ._report import Table

PARTS = (10, 30, 100)  # the smallest alpha at which all weights are 0, over that of the problem
DISTANCE = 1e-6


class PenalisedCase(NamedTuple):
    """A problem: solvers by name, ours first, an objective for the weights of all, and a lower bound on it."""

    name: str
    solvers: Mapping[str, Solve]
    objective: Callable[[Any], float]
    lower: float


def penalties_table(title: str, cases: Iterable[PenalisedCase], notes: list[str]) -> Table:
    found = {case.name: reach(case.solvers, case.objective, case.lower, DISTANCE, repeats=2) for case in cases}
    names = list(dict.fromkeys(name for one in found.values() for name in one))
    table = Table(
        f"{title}, CPU ms to {DISTANCE:g}",
        ["problem", *names, "best peer / ours"],
        notes=[
            "alpha is the smallest at which all weights are 0, over 10, 30 and 100. The objective, computed by one "
            f"function for all, is within {DISTANCE:g}, relatively, of a lower bound that a duality gap of ours proves;"
            " each solver has the loosest of its tolerances 0.1, 0.01, ... that does it. Best of 2 in turn, compiled "
            "before.",
            *notes,
        ],
    )
    for problem, one in found.items():
        ours, *peers = [one[name].seconds if name in one and one[name].tolerance else None for name in names]
        known = [seconds for seconds in peers if seconds is not None]
        ratio = f"{min(known) / ours:.2f}" if known and ours else ""
        table.rows.append([problem, *("" if s is None else f"{1e3 * s:.1f}" for s in (ours, *peers)), ratio])
    return table


def worst_line(tables: list[Table], title: str, what: str, ours: str) -> list[FrontLine]:
    """Of the table with this title: the problem where the best peer comes nearest to us, or leads by most; no line
    without peers."""
    table = next(each for each in tables if each.title.startswith(title))
    rows = [row for row in table.rows if row[-1]]
    if not rows:
        return []
    times = [dict(zip(table.columns[1:-1], map(_ms, row[1:-1]), strict=True)) for row in rows]
    best = [min(list(each)[1:], key=each.__getitem__) for each in times]
    k = min(range(len(rows)), key=lambda i: times[i][best[i]] / times[i][table.columns[1]])
    return [
        FrontLine(
            what=f"{what}, the worst of {len(rows)} problems: {rows[k][0]}",
            peer=best[k],
            ours=ours,
            their_cost=times[k][best[k]],
            our_cost=times[k][table.columns[1]],
            quality="from the least objective",
            their_quality=f"{DISTANCE:g}",
            our_quality=f"{DISTANCE:g}",
        )
    ]


def _ms(cell: str) -> float:
    """Empty where a solver did not come so near."""
    return float(cell.replace(",", "")) if cell else float("inf")
