"""The terminal that shows progress."""

from __future__ import annotations

from typing import Any


def terminal(shown: bool) -> Any:
    """Return standard error as a console of rich if it is a terminal that should show something, else None."""
    if not shown:
        return None
    from rich.console import Console

    console = Console(stderr=True)
    return console if console.is_terminal else None
