"""One problem at three penalties: CPU time of every solver to the same objective."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple

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
        ratio = f"{min(known) / ours:.1f}" if known and ours else ""
        table.rows.append([problem, *("" if s is None else f"{1e3 * s:.1f}" for s in (ours, *peers)), ratio])
    return table
