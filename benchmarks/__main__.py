"""``python -m benchmarks [NAME ...] [--quick] [--json FILE] [--update]``, each section in its own process."""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path

from rich.console import Console

from ._front import FrontLine, front_table
from ._machine import core_fingerprint, machine
from ._measure import SINGLE_THREAD
from ._report import Report, Table, read_sections

SECTIONS = (
    "passes",
    "fit",
    "peers_linear",
    "l1_optimum",
    "growth",
    "one_row",
    "reading",
    "out_of_core",
    "command_line",
    "service",
    "sparsity",
    "selection",
    "tuning",
    "groups",
    "tasks",
    "batches",
    "imbalance",
    "few_features",
    "costs",
    "wide_stream",
    "kernel_duals",
    "mkl",
    "clusters",
    "unlabelled",
    "threads",
    "shards",
    "newcomer",
    "probabilities",
    "auto",
    "few_labels",
    "additive",
)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description="Speed against peers, in one run.")
    parser.add_argument("--quick", action="store_true", help="small sizes: does it run; the figures mean little")
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"some of: {', '.join(SECTIONS)}")
    parser.add_argument("--only", nargs="+", choices=SECTIONS, metavar="NAME", help="the same")
    parser.add_argument("--all", action="store_true", help="tables of every set, too, where a section has them")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the tables there, too")
    parser.add_argument(
        "--update",
        action="store_true",
        help="write the tables into benchmarks/README.md, with --only those of some sections",
    )
    parser.add_argument(
        "--front",
        action="store_true",
        help="measure nothing: the lines of the front page from the tables of benchmarks/README.md, with --only some",
    )
    parser.add_argument("--unpinned", action="store_true", help="leave the number of threads to each library")
    options = parser.parse_args()
    if unknown := set(options.names) - set(SECTIONS):
        parser.error(f"NAME must be one of {', '.join(SECTIONS)}, got {', '.join(sorted(unknown))}.")
    options.only = [*options.names, *(options.only or ())]
    if options.update and (options.quick or options.unpinned or options.all):
        parser.error("--update needs full sizes, on one thread, without --all.")

    if options.front:
        return _write_front_page(options.only or SECTIONS)
    core = core_fingerprint()
    report = Report("python -m benchmarks" + " --quick" * options.quick, machine(), {}, order=SECTIONS)
    console = Console(width=None if sys.stdout.isatty() else 160)
    for line in report.machine:
        console.print(line, highlight=False)
    failed: list[str] = []
    for name in options.only or SECTIONS:
        begin = time.perf_counter()
        try:
            report.sections[name], report.front[name] = _run(name, options)
        except subprocess.CalledProcessError:
            failed.append(name)
            continue
        if core_fingerprint() != core:
            sys.exit(f"{name}: the extension was built again while it was measured; the figures are void.")
        console.rule(name)
        for table in report.sections[name]:
            table.show(console)
        if options.update:
            report.write_section(name, time.perf_counter() - begin)
    console.print(front_table("", report.front, SECTIONS), highlight=False, markup=False, soft_wrap=True)
    if options.json:
        options.json.write_text(json.dumps(report.as_dict(), indent=1))
    if failed:
        sys.exit(f"Failed, and left as they were: {', '.join(failed)}.")


def _write_front_page(names: Sequence[str]) -> None:
    tables = read_sections()
    modules = {name: import_module(f"benchmarks.{name}") for name in names if name in tables}
    lines = {}
    for name, module in modules.items():
        try:
            lines[name] = module.front(tables[name]) if hasattr(module, "front") else []
        except (IndexError, KeyError, StopIteration, ValueError):
            print(
                f"{name}: its tables are of another form; python -m benchmarks --only {name} --update.", file=sys.stderr
            )
    Report("", [], {}, lines, SECTIONS).write_front_page()


def _run(name: str, options: argparse.Namespace) -> tuple[list[Table], list[FrontLine]]:
    """The tables of one section, and its lines of the front page; one line of progress on stderr."""
    print(f"{name} ...", end="", file=sys.stderr, flush=True)
    begin = time.perf_counter()
    chosen = {
        "--quick": options.quick,
        "--unpinned": options.unpinned,
        "--pictures": options.update,
        "--all": options.all,
    }
    flags = [flag for flag, on in chosen.items() if on]
    command = [sys.executable, "-m", "benchmarks._section", name, *flags]
    threads = {} if options.unpinned else SINGLE_THREAD
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True, env=os.environ | threads)
    print(f" {time.perf_counter() - begin:.0f} s", file=sys.stderr)
    said = json.loads(done.stdout.splitlines()[-1])
    return [Table(**table) for table in said["tables"]], [FrontLine(**line) for line in said["front"]]


if __name__ == "__main__":
    main()
