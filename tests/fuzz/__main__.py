"""Attacks that never end by themselves: ``python tests/fuzz --minutes 5``, or one of them for hours.

Each attack is a function of a seed, so a finding is repeated by ``python tests/fuzz fits --seed 123 --count 1``. Cases
run in processes of their own: one that dies, or takes more than ten seconds of a processor, is a finding as well. So a
busy machine runs fewer cases, and finds nothing else.
"""

from __future__ import annotations

import argparse
import collections
import multiprocessing
import os
import resource
import signal
import sys
import time
from collections.abc import Callable
from multiprocessing.connection import Connection

from arrays import array
from commands import command
from damage import model_file
from fits import fit
from lines import lines
from one_row import one_row
from readers import reading
from solving import solving
from words import Finding, scratch

ATTACKS: dict[str, Callable[[int], str]] = {
    **{"models": model_file, "fits": fit, "arrays": array, "lines": lines},
    **{"solvers": solving, "readers": reading, "rows": one_row, "commands": command},
}
MOST_SECONDS = 10.0  # of a processor
STUCK = 1800.0  # seconds without any, on a machine that others use as well


def work(attack: str, seeds: range, to: Connection) -> None:
    """Run some cases; says which one begins, and how it ended."""
    resource.setrlimit(resource.RLIMIT_AS, (8 << 30, 8 << 30))
    sys.stderr = open(os.devnull, "w")  # noqa: SIM115
    for seed in seeds:
        to.send((seed, None, ""))
        begin = time.process_time()
        resource.setrlimit(resource.RLIMIT_CPU, (int(begin + 3 * MOST_SECONDS), resource.RLIM_INFINITY))
        try:
            outcome = ATTACKS[attack](seed)
            seconds = time.process_time() - begin
            to.send((seed, "found", f"takes {seconds:.0f} seconds") if seconds > MOST_SECONDS else (seed, outcome, ""))
        except Finding as finding:
            to.send((seed, "found", str(finding)))
        except MemoryError:
            to.send((seed, "found", "more than 8 GB"))


def run(attack: str, seeds: range, until: float) -> tuple[collections.Counter[str], list[str]]:
    """Run cases until the time is over, in a new process wherever one was lost."""
    outcomes: collections.Counter[str] = collections.Counter()
    findings = []
    scratch()  # of this process, which deletes it at the end
    while seeds and time.monotonic() < until:
        here, there = multiprocessing.Pipe(duplex=False)
        child = multiprocessing.get_context("fork").Process(target=work, args=(attack, seeds, there))
        child.start()
        there.close()
        seed = seeds.start
        while (left := until - time.monotonic()) > 0:
            try:
                if not here.poll(min(left, STUCK)):
                    if left > STUCK:
                        findings.append(f"{attack} --seed {seed}: waits for something")
                    break
                seed, outcome, what = here.recv()
            except EOFError:
                child.join()
                if child.exitcode:
                    how = "hangs" if child.exitcode == -signal.SIGXCPU else f"the process died ({child.exitcode})"
                    findings.append(f"{attack} --seed {seed}: {how}")
                break
            if outcome is not None:
                outcomes[outcome] += 1
            if outcome == "found":
                findings.append(f"{attack} --seed {seed}: {what}")
                print(findings[-1], flush=True)
        child.kill()
        child.join()
        seeds = range(seed + 1, seeds.stop)
    return outcomes, findings


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("attacks", nargs="*", help=f"which ones (default: {', '.join(ATTACKS)})")
    parser.add_argument("--minutes", type=float, default=4.0, help="for all of them together")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--count", type=int, default=10**9, help="cases of each")
    given = parser.parse_args()
    attacks = given.attacks or list(ATTACKS)
    found = []
    for attack in attacks:
        until = time.monotonic() + 60 * given.minutes / len(attacks)
        outcomes, findings = run(attack, range(given.seed, given.seed + given.count), until)
        found += findings
        print(f"{attack}: {sum(outcomes.values()):,} cases, {dict(outcomes)}, {len(findings)} findings", flush=True)
    print("\n".join(found))
    return bool(found)


if __name__ == "__main__":
    sys.exit(main())
