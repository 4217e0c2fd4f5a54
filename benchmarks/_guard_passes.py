"""The measurements of ``python -m benchmarks.guard``, by pytest-benchmark: a test for each learner and layout.

Between two rounds of a learner stands one product ``X @ w``, so that both meet the same machine. CPU time, and the
least of all rounds for both: ``extra_info["ratio"]`` is what the baseline holds.
"""

from __future__ import annotations

import time
from typing import Any

import pytest

from ._guard_cases import names, watch

MOST_ROUNDS, LEAST_ROUNDS = 20, 4
BUDGET = 0.15  # CPU seconds for the rounds of one case, as far as the least number allows
PRODUCTS = 15  # between two rounds: after the first ones the rows are in the caches again


@pytest.mark.parametrize("name", names())
def test_cost_in_products(benchmark: Any, name: str) -> None:
    case = watch(name)
    products: list[float] = []

    def setup() -> tuple[tuple[Any], dict[str, Any]]:
        model = case.prepare()
        for _ in range(PRODUCTS):
            begin = time.process_time()
            case.product()
            products.append(time.process_time() - begin)
        return (model,), {}

    begin = time.process_time()
    case.work(case.prepare())
    rounds = int(BUDGET / (time.process_time() - begin))
    benchmark.pedantic(case.work, setup=setup, rounds=min(max(rounds, LEAST_ROUNDS), MOST_ROUNDS))
    benchmark.extra_info["name"] = name
    benchmark.extra_info["ratio"] = benchmark.stats.stats.min / min(products)
