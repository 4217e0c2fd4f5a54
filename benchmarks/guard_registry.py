"""The whole registry in products ``X @ w``: one pass of every streaming learner, with a number as its step and at its
defaults.

``python -m benchmarks.guard_registry [NAME ...]`` prints a table. One product is the unit, so it reads about the same
on any machine. A learner that exceeds the common limits fails, unless it is named with limits of its own, which only
guard it against becoming slower still.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from thresher import registry
from thresher.registry import Method

from ._data import text_rows
from ._measure import SINGLE_THREAD
from ._newcomer_checks import PLAIN, PLAIN_FTRL
from ._newcomer_runs import default_model
from ._report import Table

N_ROWS = 100_000
WITH_A_NUMBER, AT_DEFAULTS = 12.0, 30.0
REPEATS, LONG = 3, 1.0  # a pass that takes more seconds than LONG is not repeated
NOT_WIDE = {"bcw": "keeps the covariance of all pairs of columns"}  # what cannot be measured on wide rows, and why
SETTINGS: dict[str, dict[str, Any]] = {"pegasossnd": {"reject": False, "outlier_label": None}}


class Limit(NamedTuple):
    """What a learner may cost beyond the common limits."""

    with_a_number: float
    at_defaults: float
    reason: str


OWN_LIMITS = {
    "dropoutpegasos": Limit(
        26, 60, "draws a binomial number for every weight that owes a sixteenth of the steps, as those of rare words do"
    ),
    "reweightedl1rda": Limit(
        26, 60, "sums the penalties of a weight in use by polynomials: they follow an equation without a closed form"
    ),
    "ascw": Limit(930, 930, "does what sbcw does for nine costs, in each of 98 batches"),
    "poolcw": Limit(750, 750, "finds the best weights of a pool of 150 features for nine costs, in each of 98 batches"),
    "sbcw": Limit(
        50,
        50,
        "turns the rows into columns, which costs ten products, and passes over all rows once for each of 13 groups of "
        "features, one row after the other, which costs another twelve",
    ),
}


class Cost(NamedTuple):
    """Products ``X @ w`` of one pass."""

    with_a_number: float
    at_defaults: float


def watched() -> list[Method]:
    """Every method of the registry that streams and takes wide rows."""
    found = [*registry.methods("classification"), *registry.methods("regression")]
    return [method for method in found if method.streams and method.name not in NOT_WIDE]


def limit_of(name: str) -> Limit:
    """The limit of a learner; a regressor has that of the classifier, unless it has its own."""
    common = Limit(WITH_A_NUMBER, AT_DEFAULTS, "")
    return OWN_LIMITS.get(name) or OWN_LIMITS.get(name.removesuffix("-regressor")) or common


def exceeds(name: str, cost: Cost) -> bool:
    limit = limit_of(name)
    return cost.with_a_number > limit.with_a_number or cost.at_defaults > limit.at_defaults


def cost_table(costs: Mapping[str, Cost]) -> Table:
    """One row for each learner: what it costs, what it may cost, and the verdict."""
    table = Table(
        f"One pass over {N_ROWS:,} text-like CSR rows of 75 values, in products X @ w",
        ["learner", "with a number", "limit", "at defaults", "limit", "verdict"],
        notes=[f"{name}: {limit_of(name).reason}." for name in costs if name in OWN_LIMITS],
    )
    table.notes += [f"{name} is not measured: it {reason}." for name, reason in NOT_WIDE.items()]
    for name, cost in costs.items():
        limit = limit_of(name)
        usual = cost.with_a_number <= WITH_A_NUMBER and cost.at_defaults <= AT_DEFAULTS
        verdict = "FAIL" if exceeds(name, cost) else "PASS" if usual else "slow, see below"
        number = [f"{cost.with_a_number:.1f}", f"{limit.with_a_number:g}"]
        default = [f"{cost.at_defaults:.1f}", f"{limit.at_defaults:g}"]
        table.rows.append([name, *number, *default, verdict])
    return table


def fixed_step(method: Method) -> dict[str, float]:
    """Numbers in place of "auto"."""
    plain = PLAIN | (PLAIN_FTRL if method.name.startswith("ftrl") else {})
    return {name: value for name, value in plain.items() if method.defaults.get(name) == "auto"}


def measured(method: Method) -> Cost:
    """The least of several runs, each beside products of the same rows."""
    X, y = text_rows(N_ROWS, 75, seed=1)
    w = np.random.default_rng(0).standard_normal(X.shape[1])
    extra: dict[str, Any] = {"classes": np.unique(y)} if method.task == "classification" else {}
    if "tasks" in method.needs:
        extra["tasks"] = np.arange(len(y)) % 4
    seconds, unit = [], float("inf")
    for params in (fixed_step(method), {}):
        best = float("inf")
        for _ in range(REPEATS):
            unit = min(unit, *(_cpu(lambda: X @ w) for _ in range(5)))
            model = default_model(method, **SETTINGS.get(method.name, {}), **params)
            best = min(best, _cpu(lambda model=model: model.partial_fit(X, y, **extra)))
            if best > LONG:
                break
        seconds.append(best)
    return Cost(*(each / unit for each in seconds))


def _cpu(work: Any) -> float:
    begin = time.process_time()
    work()
    return time.process_time() - begin


def main() -> None:
    """Measure all learners, or those that are named; one that fails gets a second chance."""
    if "OMP_NUM_THREADS" not in os.environ:
        command = [sys.executable, "-m", "benchmarks.guard_registry", *sys.argv[1:]]
        sys.exit(subprocess.run(command, env=os.environ | SINGLE_THREAD).returncode)
    costs: dict[str, Cost] = {}
    for method in watched():
        name = method.name
        if sys.argv[1:] and name not in sys.argv[1:]:
            continue
        costs[name] = measured(method)
        if exceeds(name, costs[name]):
            costs[name] = Cost(*map(min, costs[name], measured(method)))
        print(f"{name}: {costs[name].with_a_number:.1f}, {costs[name].at_defaults:.1f}", file=sys.stderr, flush=True)
    print(cost_table(costs).markdown())
    failed = [name for name, cost in costs.items() if exceeds(name, cost)]
    if failed:
        sys.exit(f"guard: above the limit of products X @ w: {', '.join(failed)}.")


if __name__ == "__main__":
    main()
