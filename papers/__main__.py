"""``python -m papers [--all] [--only NAME ...] [--data FOLDER] [--update] [--list]``: one script after another."""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
import time
from pathlib import Path

from ._report import DATA

HERE = Path(__file__).parent
QUICK = 2  # minutes; a script says how many it takes as MINUTES


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m papers", description="Published tables, computed again.")
    parser.add_argument("--all", action="store_true", help=f"those of more than {QUICK} minutes, too")
    parser.add_argument("--only", nargs="+", metavar="NAME", help="a paper, or one of its scripts: tan2016.figure_1")
    parser.add_argument("--data", metavar="FOLDER", help=f"real data; without it, the folder that {DATA} names")
    parser.add_argument("--update", action="store_true", help="write what is printed into the README of each paper")
    parser.add_argument("--list", action="store_true", help="say what there is, and how long it takes")
    given = parser.parse_args()
    if given.data is not None:
        os.environ[DATA] = given.data
    chosen = _chosen(parser, given)
    if given.list:
        for name, minutes in chosen.items():
            print(f"{name:32} {minutes} min")
        return
    for name in chosen:
        output = _run(name, given.update)
        if given.update:
            _write(name, output)


def scripts() -> dict[str, int]:
    """``paper.script``: the minutes it takes."""
    found = {}
    for path in sorted(HERE.glob("*/[!_]*.py")):
        minutes = re.search(r"^MINUTES = (\d+)", path.read_text(encoding="utf-8"), re.MULTILINE)
        if minutes:
            found[f"{path.parent.name}.{path.stem}"] = int(minutes[1])
    return found


def _chosen(parser: argparse.ArgumentParser, given: argparse.Namespace) -> dict[str, int]:
    known = scripts()
    if given.only:
        chosen = {name: known[name] for name in known if {name, name.split(".")[0]} & set(given.only)}
        unknown = [name for name in given.only if not any(name in (known_, known_.split(".")[0]) for known_ in known)]
        if unknown:
            parser.error(f"there is no {unknown[0]}; there are {', '.join(known)}.")
        return chosen
    return {name: minutes for name, minutes in known.items() if given.all or given.list or minutes <= QUICK}


def _run(name: str, update: bool) -> str:
    """What the script prints, shown as it comes."""
    print(f"\n=== {name}", flush=True)
    begin = time.perf_counter()
    paper, script = name.split(".")
    command = [sys.executable, "-m", f"papers.{name}"]
    if update:
        command += ["--picture", str(HERE / paper / f"{script}.svg")]
    lines = []
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        for line in process.stdout or ():
            print(line, end="", flush=True)
            lines.append(line)
    if process.returncode:
        sys.exit(f"{name} failed.")
    print(f"{time.perf_counter() - begin:.0f} s", file=sys.stderr)
    return "".join(lines)


def _write(name: str, output: str) -> None:
    """Between the markers of the script in the README of its paper."""
    paper, script = name.split(".")
    page = HERE / paper / "README.md"
    marked = re.compile(rf"(<!-- {script}: begin -->\n).*?(<!-- {script}: end -->)", re.DOTALL)
    text, found = marked.subn(
        lambda m: f"{m[1]}```text\n{output.strip()}\n```\n{m[2]}", page.read_text(encoding="utf-8")
    )
    if found != 1:
        sys.exit(f"{page} must have one pair of markers {script!r}, found {found}.")
    page.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
