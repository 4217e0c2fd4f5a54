"""``python -m benchmarks.guard [--update]``: has a learner become slower? Costs in products ``X @ w``.

Absolute times mean little from one machine and one hour to the next; how many products ``X @ w`` a pass costs changes
little. ``baseline.json`` holds that number for a pass (``partial_fit`` of all rows) and for ``predict`` of every
compiled learner, on dense rows and on CSR. A ratio above its baseline by more than ``TOLERANCE`` is measured again, up
to ``ATTEMPTS`` times, and the least counts: a busy machine makes figures larger, never smaller.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import median

from ._guard_cases import names
from ._measure import SINGLE_THREAD

BASELINE = Path(__file__).with_name("baseline.json")
TOLERANCE = 1.5
ATTEMPTS = 3
UPDATES = 3  # runs whose median ratios make a baseline


def slower(ratios: Mapping[str, float], baseline: Mapping[str, float], tolerance: float = TOLERANCE) -> list[str]:
    """The names whose ratio exceeds the baseline."""
    return [name for name, ratio in ratios.items() if name in baseline and ratio > tolerance * baseline[name]]


def least(*runs: Mapping[str, float]) -> dict[str, float]:
    """The least ratio of each name that some run has."""
    return {name: min(run[name] for run in runs if name in run) for name in dict.fromkeys(n for r in runs for n in r)}


def typical(*runs: Mapping[str, float]) -> dict[str, float]:
    """The median of each ratio: what a run finds as a rule, where the verdict asks for the least of several."""
    return {name: round(median(run[name] for run in runs), 2) for name in runs[0]}


def complaints(ratios: Mapping[str, float], baseline: Mapping[str, float], tolerance: float = TOLERANCE) -> list[str]:
    """One sentence for each learner that is slower, or that the baseline does not know, or that nobody measured."""
    said = [
        f"{name}: {ratios[name]:.2f} products X @ w, the baseline is {baseline[name]:.2f} "
        f"({ratios[name] / baseline[name]:.2f} times; {tolerance:g} are allowed)."
        for name in slower(ratios, baseline, tolerance)
    ]
    said += [
        f"{name}: not in {BASELINE.name}; run python -m benchmarks.guard --update."
        for name in ratios.keys() - baseline.keys()
    ]
    said += [
        f"{name}: in {BASELINE.name}, but not measured; run python -m benchmarks.guard --update."
        for name in baseline.keys() - ratios.keys()
    ]
    return said


def measure(chosen: Sequence[str]) -> dict[str, float]:
    """Ratios, by pytest-benchmark in a process of its own."""
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder, "guard.json")
        tests = [f"{Path(__file__).with_name('_guard_passes.py')}::test_cost_in_products[{name}]" for name in chosen]
        command = [sys.executable, "-m", "pytest", "-q", "-o", "addopts=", "-p", "no:cacheprovider", "-p", "no:xdist"]
        command += ["--benchmark-timer=time.process_time", "--benchmark-disable-gc", "--benchmark-quiet"]
        command += [f"--benchmark-json={out}", *tests]
        done = subprocess.run(
            command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=os.environ | SINGLE_THREAD
        )
        if done.returncode:
            sys.exit(f"guard: the measurements failed.\n{done.stdout}")
        found = json.loads(out.read_text())["benchmarks"]
    return {each["extra_info"]["name"]: each["extra_info"]["ratio"] for each in found}


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.guard", description="Has a learner become slower?")
    parser.add_argument("--update", action="store_true", help=f"write {BASELINE.name}: medians of {UPDATES} runs")
    if parser.parse_args().update:
        ratios = typical(*(measure(names()) for _ in range(UPDATES)))
        BASELINE.write_text(json.dumps(ratios, indent=1) + "\n")
        print(f"{BASELINE.name}: {len(ratios)} ratios.")
        return
    baseline = json.loads(BASELINE.read_text())
    ratios = measure(names())
    for _ in range(ATTEMPTS - 1):
        again = slower(ratios, baseline)
        if not again:
            break
        print(f"guard: measured again: {'; '.join(again)}.")
        ratios = least(ratios, measure(again))
    said = complaints(ratios, baseline)
    if said:
        sys.exit("\n".join(said))
    most = max(ratios, key=lambda name: ratios[name] / baseline[name])
    print(
        f"guard: {len(ratios)} costs within {TOLERANCE:g} times their baseline; "
        f"the largest is {ratios[most] / baseline[most]:.2f} ({most})."
    )


if __name__ == "__main__":
    main()
