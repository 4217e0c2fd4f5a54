"""The summary of benchmarks/README.md: a line for each choice between a peer and ours. README.md has six of them.

A section that has something to say there defines ``front(tables) -> list[FrontLine]`` beside its ``run``. It is given
the tables that ``run`` returned and reads its figures from them, so that the summary says nothing that the sections do
not show. A section whose peers are missing returns no line for them.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

COLUMNS = ("section", "what", "instead of", "ours", "their time / ours", "quality", "theirs", "ours")
HEADLINES = ("fit", "peers_linear", "one_row", "out_of_core", "selection")  # README.md has the first line of each


@dataclass(frozen=True)
class FrontLine:
    """One row. Costs are in one unit, whatever it is; where ``their_cost < our_cost``, the line says that we lose."""

    what: str  # "l1 logistic optimum, text, 100,000 rows"
    peer: str  # what a user would otherwise take: "skglm SparseLogisticRegression"
    ours: str  # "SparseSDCAClassifier"
    their_cost: float
    our_cost: float
    quality: str  # what the next two are: "held-out accuracy", "objective", "adjusted Rand index"
    their_quality: str
    our_quality: str

    @property
    def ratio(self) -> str:
        """How many times the peer's time is ours; two digits that count."""
        return shown_ratio(self.their_cost / self.our_cost)

    def markdown(self, section: str) -> str:
        link = f"[{section}](#{section})"
        cells = (link, self.what, self.peer, self.ours, self.ratio, self.quality, self.their_quality, self.our_quality)
        return "| " + " | ".join(cells) + " |"


def shown_ratio(ratio: float) -> str:
    """Two digits that count, and a word where we are slower."""
    text = f"{ratio:.0f}" if ratio >= 9.95 else f"{ratio:.1f}" if ratio >= 1 else f"{ratio:.2g}"
    return text if ratio >= 1 else f"{text} (slower)"


def cell(table: Any, row: str, column: str) -> str:
    """The text of a cell, by the name in the first column and that of the column."""
    place = table.columns.index(column)
    for cells in table.rows:
        if cells[0] == row:
            return str(cells[place])
    raise KeyError(f"no row {row!r} in {table.title!r}")


def number(table: Any, row: str, column: str) -> float:
    return float(cell(table, row, column).replace(",", ""))


def has(table: Any, *rows: str) -> bool:
    """Whether the table has all these rows: that of a peer that is missing is not there."""
    return set(rows) <= {cells[0] for cells in table.rows}


def front_table(old: str, new: Mapping[str, Sequence[FrontLine]], order: Sequence[str]) -> str:
    """The table with the lines of these sections replaced; those of others stay as the old text has them."""
    lines: dict[str, list[str]] = {}
    for line in old.splitlines():
        if found := re.match(r"\| \[(\w+)\]\(#\1\)", line):
            lines.setdefault(found[1], []).append(line)
    lines |= {section: [line.markdown(section) for line in each] for section, each in new.items()}
    head = ["| " + " | ".join(COLUMNS) + " |", "| --- | --- | --- | --- | ---: | --- | ---: | ---: |"]
    return "\n".join([*head, *(line for section in order for line in lines.get(section, ()))])


def headlines(table: str) -> str:
    """The lines of README.md: the first of each section that is named above, and last the slowest of all."""
    head, rule, *lines = table.splitlines()
    cells = [line.split(" | ") for line in lines]
    slowest = min(cells, key=lambda row: float(row[4].split()[0]))
    firsts = [next((row for row in cells if row[0] == f"| [{name}](#{name})"), slowest) for name in HEADLINES]
    chosen = [*(row for row in firsts if row is not slowest), slowest]
    return "\n".join([head, rule, *(" | ".join(row) for row in chosen)]).replace("](#", "](benchmarks/README.md#")
