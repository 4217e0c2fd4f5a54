"""Where progress is shown."""

from __future__ import annotations

from typing import Any


def terminal(shown: bool) -> Any:
    """Standard error as a console of rich, if something is to be shown and it is a terminal; else None."""
    if not shown:
        return None
    from rich.console import Console

    console = Console(stderr=True)
    return console if console.is_terminal else None
