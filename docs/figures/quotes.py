"""Tables that pages quote, copied from what commands have printed: ``python docs/figures/quotes.py [--run] [--check]``.

A page quotes between ``<!-- quote: SOURCE | NAME -->`` and ``<!-- end of quote -->``. Sources are
``benchmarks/README.md`` (NAME begins the title of a table), the README of a paper (NAME is a script), both written by
their own commands, and scripts beside this one, whose output has parts that begin with a line ``### NAME``. Scripts are
run with ``--run`` alone, since they take minutes.
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


def quoted(source: str, name: str) -> str:
    """What is to stand between the marks."""
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
        return begin + (quoted(source, name) if wanted(source) else old) + end

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
