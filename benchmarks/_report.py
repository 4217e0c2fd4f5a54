"""Tables, for the terminal and for README.md, and the machine they were made on."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table as RichTable

from ._front import FrontLine, front_table, headlines

_README = Path(__file__).with_name("README.md")
_FRONT_PAGE = Path(__file__).parents[1] / "README.md"
_NOTE = "CPU time, one thread for all, imports and compiling not counted."
_FRONT_NOTE = f"{_NOTE} The last line is the slowest of [all comparisons](benchmarks/README.md)."


@dataclass
class Table:
    """Figures as they are shown: every cell is text, the first column names the row; a picture, if there is one."""

    title: str
    columns: list[str]
    rows: list[list[str]] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    picture: str = ""  # pictures/NAME.svg, drawn by _growth.curves

    def markdown(self) -> str:
        lines = [f"**{self.title}**", ""]
        lines += ["| " + " | ".join(self.columns) + " |", "| --- |" + " ---: |" * (len(self.columns) - 1)]
        lines += ["| " + " | ".join(row) + " |" for row in self.rows]
        lines += ["", *(f"{note}\n" for note in self.notes)]
        if self.picture:
            lines += [f"![{self.title}](pictures/{self.picture}.svg)", ""]
        return "\n".join(lines)

    def show(self, console: Console) -> None:
        shown = RichTable(title=self.title, title_justify="left", title_style="bold")
        for k, column in enumerate(self.columns):
            shown.add_column(column, justify="right" if k else "left")
        for row in self.rows:
            shown.add_row(*row)
        console.print(shown)
        for note in self.notes:
            console.print(note, style="dim", highlight=False)
        console.print()


@dataclass
class Report:
    command: str
    machine: list[str]
    sections: dict[str, list[Table]]
    front: dict[str, list[FrontLine]] = field(default_factory=dict)
    order: tuple[str, ...] = ()

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)

    def write_section(self, name: str, seconds: float) -> None:
        """Replace the figures of a section, its lines of the summaries, and the machine above them all."""
        *machine, core, date = self.machine
        spent = f"{seconds:.0f} s, load {os.getloadavg()[0]:.1f} at the end"
        run = f"`{self.command} --only {name}`: {spent}, {core}, {date}."
        tables = "\n".join(table.markdown() for table in self.sections[name])
        sections = _sections() | {name: f"\n{run}\n\n{tables.strip()}\n"}
        page = [
            f"{'; '.join(machine)}.\n",
            *(f"### {each}\n{sections[each]}" for each in self.order if each in sections),
        ]
        _replace_marked(_README, "figures", "\n".join(page))
        self.write_front_page()

    def write_front_page(self) -> None:
        """Replace the lines of these sections in the summary; those of others stay. README.md gets six of all."""
        table = front_table(_marked(_README, "speed"), self.front, self.order)
        _replace_marked(_README, "speed", f"{table}\n\n{_NOTE}\n")
        _replace_marked(_FRONT_PAGE, "speed", f"{headlines(table)}\n\n{_FRONT_NOTE}\n")


def read_sections() -> dict[str, list[Table]]:
    """The tables that stand in benchmarks/README.md, by section."""
    return {section: [_read_table(*each) for each in _TABLE.findall(text)] for section, text in _sections().items()}


def _sections() -> dict[str, str]:
    found = re.findall(r"(?ms)^### (\w+)\n(.*?)(?=^### |\Z)", _marked(_README, "figures"))
    return {section: f"\n{text.strip()}\n" for section, text in found}


_TABLE = re.compile(r"(?m)^\*\*(.+)\*\*\n\n(\|.*)\n\| ---.*\n((?:\|.*\n)*)")


def _read_table(title: str, head: str, body: str) -> Table:
    columns, *rows = ([each.strip() for each in line.split("|")[1:-1]] for line in [head, *body.splitlines()])
    return Table(title, columns, rows)


def _marked(path: Path, name: str) -> str:
    """What stands between the markers."""
    return path.read_text().partition(f"<!-- {name}: begin -->\n")[2].partition(f"<!-- {name}: end -->\n")[0]


def _replace_marked(path: Path, name: str, text: str) -> None:
    marked = re.compile(rf"(<!-- {name}: begin -->\n).*(<!-- {name}: end -->\n)", re.DOTALL)
    page, found = marked.subn(lambda m: m[1] + "\n" + text + m[2], path.read_text())
    if found != 1:
        raise RuntimeError(f"{path} must have one pair of markers {name!r}, found {found}.")
    path.write_text(page)


def skipped(peers: Iterable[str]) -> list[str]:
    """A note for each peer that is missing."""
    return [f"Skipped: {peer} is not installed." for peer in peers]
