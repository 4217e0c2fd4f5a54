"""``thresher lab``: files, runs and reports of a folder as pages in a browser."""

from __future__ import annotations

from pathlib import Path

import click

from ._serve_command import address_options


@click.command()
@click.argument("folder", type=click.Path(path_type=Path), default=Path())
@address_options
@click.option("--open/--no-open", "opens", default=True, help="Whether to open the page in a browser.")
def lab(folder: Path, host: str, port: int, token_file: Path | None, opens: bool) -> None:
    """Work with the files of FOLDER (default: this one) in a browser.

    Drop a file, check how it is read, answer a few questions, watch models learn, read the report, and ask for reasons.
    Open the address that is printed. Runs are saved in FOLDER and continue when the lab is closed.
    """
    try:
        from ..web import ServerAddress, run_lab
    except ImportError:
        raise click.ClickException('the lab needs Starlette and uvicorn: pip install "thresher[web,lab]".') from None
    run_lab(folder, ServerAddress(host, port, token_file), opens=opens)
