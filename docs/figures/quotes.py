"""Tables that pages quote, copied from what commands have printed: ``python docs/figures/quotes.py [--run] [--check]``.

A page quotes between ``<!-- quote: SOURCE | NAME -->`` and ``<!-- end of quote -->``. Sources are
``benchmarks/README.md`` (NAME begins the title of a table), the README of a paper (NAME is a script), both written by
their own commands, and scripts beside this one, whose output has parts that begin with a line ``### NAME``. Scripts are
run with ``--run`` alone, since they take minutes. ``NAME | COLUMN, COLUMN`` or ``NAME | COLUMN; COLUMN`` quotes some
columns of a table. A quote that says "Not measured yet" stays until its source has the table.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[2]
QUOTE = re.compile(r"(<!-- quote: (\S+) \| (.+?) -->\n)(.*?)(<!-- end of quote -->)", re.DOTALL)


NOT_YET = "Not measured yet"


def quoted(source: str, name: str) -> str:
    """What is to stand between the marks."""
    name, _, columns = name.partition(" | ")
    names = columns.split("; " if "; " in columns else ", ")  # names may have commas
    return _cut(_whole(source, name), names) if columns else _whole(source, name)


def _cut(table: str, columns: list[str]) -> str:
    """Some columns of a table; of several with one name, the first."""
    lines = [[cell.strip() for cell in line.strip().strip("|").split("|")] for line in table.strip().splitlines()]
    if missing := [name for name in columns if name not in lines[0]]:
        raise LookupError(f"The table must have a column {missing[0]!r}, found {', '.join(lines[0])}.")
    places = [lines[0].index(name) for name in columns]
    return "\n" + "".join(f"| {' | '.join(line[k] for k in places)} |\n" for line in lines) + "\n"


def _whole(source: str, name: str) -> str:
    if source.startswith("docs/figures/"):
        parts = re.split(r"^### (.+)\n", output(source), flags=re.MULTILINE)
        found = dict(zip(parts[1::2], parts[2::2], strict=True))
        return _one(source, name, [text for title, text in found.items() if title == name])
    page = (ROOT / source).read_text(encoding="utf-8")
    if source.startswith("papers/"):
        return _one(source, name, re.findall(rf"<!-- {re.escape(name)}: begin -->\n(.*?)<!-- ", page, re.DOTALL))
    return _one(source, name, re.findall(rf"^(?=\*\*{re.escape(name)}).*?\n\n((?:\|.*\n)+)", page, re.MULTILINE))


def _one(source: str, name: str, found: list[str]) -> str:
    if len(found) != 1:
        raise LookupError(f"{source} must have one {name!r}, found {len(found)}.")
    return f"\n{found[0].strip()}\n\n"


@cache
def output(script: str) -> str:
    done = subprocess.run([sys.executable, script], check=True, stdout=subprocess.PIPE, text=True, cwd=ROOT)
    return done.stdout


def written(page: str, wanted: Callable[[str], bool]) -> str:
    """The page with its quotes from wanted sources made anew."""

    def anew(match: re.Match[str]) -> str:
        begin, source, name, old, end = match.groups()
        try:
            return begin + (quoted(source, name) if wanted(source) else old) + end
        except LookupError:
            if NOT_YET not in old:
                raise
            return match[0]

    return QUOTE.sub(anew, page)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--run", nargs="*", metavar="NAME", help="run the scripts beside this one, or some of them")
    parser.add_argument("--check", action="store_true", help="write nothing; fail where a page is behind")
    given = parser.parse_args()

    def wanted(source: str) -> bool:
        if not source.startswith("docs/figures/"):
            return True
        return given.run is not None and (not given.run or Path(source).stem in given.run)

    for path in [*sorted((ROOT / "docs").glob("*.md")), ROOT / "README.md"]:
        page = path.read_text(encoding="utf-8")
        new = written(page, wanted)
        if new == page:
            continue
        if given.check:
            sys.exit(f"{path.relative_to(ROOT)} is behind what it quotes: run python docs/figures/quotes.py.")
        path.write_text(new, encoding="utf-8")
        print(f"{path.relative_to(ROOT)}: written")


if __name__ == "__main__":
    main()
