"""The columns of a profile as a table of text, for a terminal."""

from __future__ import annotations

import io

from .._figures import count, label, percent
from ..training import Profile

_WIDE = 100  # from here on there is room for the range of values
_MOST_COLUMNS = 60


def columns_as_text(profile: Profile, width: int) -> str:
    """A line or a few for each column: its name, kind, an example, missing values, and what becomes of it."""
    from rich import box
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False)
    table.add_column("column", overflow="fold", max_width=max(12, width // 4))
    table.add_column("kind", overflow="fold")
    table.add_column("example", no_wrap=True, overflow="ellipsis", max_width=max(10, width // 6))
    table.add_column("missing", justify="right", no_wrap=True)
    if width >= _WIDE:
        table.add_column("values", overflow="fold")
    table.add_column("becomes", overflow="fold")
    for each in profile.columns[:_MOST_COLUMNS]:
        values = [each.span] if width >= _WIDE else []
        missing = percent(each.missing) if each.missing else ""
        cells = (each.name, each.kind, each.example, missing, *values, each.use)
        table.add_row(*(Text(label(cell)) for cell in cells))
    written = io.StringIO()
    Console(file=written, width=width, color_system=None, legacy_windows=False, force_jupyter=False).print(table)
    lines = [line.rstrip() for line in written.getvalue().splitlines()]
    if profile.n_columns > _MOST_COLUMNS:
        lines.append(f"and {count(profile.n_columns - _MOST_COLUMNS)} more columns, which `thresher look --json` shows")
    return "\n".join(lines)
