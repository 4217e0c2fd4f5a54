"""``thresher export``: a model for use without Python."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import click

from . import printable
from ._options import FILE, option, output_options
from ._screen import Screen

TARGETS = ("onnx", "sql", "json", "c")


@click.command()
@click.argument("model_path", metavar="MODEL", type=click.Path(path_type=Path))
@option("--to", click.Choice(TARGETS), "What to write (default: by the name of --output).")
@option("--output -o", FILE, "Where to write it (default: stdout).")
@option("--table", str, 'SQL: the table that the query reads (default: "data").')
@option("--key", str, "SQL: a column of that table to return with the predictions; may be repeated.", multiple=True)
@option("--name", str, 'C: prefix of the function names (default: "model").')
@output_options
def export(model_path: Path, to: str | None, output: Path | None, as_json: bool, quiet: bool, **given: Any) -> None:
    """Export MODEL for use without Python: as an ONNX graph, an SQL query, C source or JSON.

    Only linear and additive models can be exported. An export takes numbers, text, and dates as days since 1970-01-01;
    it does not include how a file is read (decimal commas, formats of dates, words for yes and no).
    """
    from .._output import check_no_input
    from ..exporting import export as write
    from ..persistence import load_model

    to = to or (output.suffix.removeprefix(".") if output is not None else None)
    if to not in TARGETS:
        raise click.UsageError(f"--to must be one of {', '.join(TARGETS)}.")
    if output is None and (to == "onnx" or as_json):
        raise click.UsageError("--output must name a file for an ONNX graph, and with --json.")
    if output is not None:
        check_no_input(output, [model_path])
    made = write(load_model(model_path), output, to=to, **{k: v for k, v in given.items() if v})
    if output is None:
        click.echo(printable(str(made)) if sys.stdout.isatty() else made, nl=False)
    else:
        facts = {"model": str(model_path), "to": to, "output": str(output), "bytes": output.stat().st_size}
        Screen(as_json, quiet).result(f"{model_path}, written as {to} to {output}", facts)
