"""``thresher demo``."""

from __future__ import annotations

from pathlib import Path

import click


@click.command()
@click.option(
    "--report",
    type=click.Path(path_type=Path, dir_okay=False),
    default=Path("thresher-demo.html"),
    help="Where to write the report.",
)
def demo(report: Path) -> int:
    """Generate a stream, learn from it in one pass, find the features that matter, write a report."""
    from ..demo import main

    return main(report)
