"""``thresher serve``: a model over HTTP."""

from __future__ import annotations

from pathlib import Path

import click

from ._options import FILE, Integer, Number, grouped, option
from ._predict_command import checked_record
from ._report_output import same_stream_options

address_options = grouped(  # of all commands that listen
    option(
        "--host", str, "The address to listen on; access from other machines needs --token-file.", default="127.0.0.1"
    ),
    option("--port", Integer(0, 65535), "The port (0: any free port).", default=0),
    option(
        "--token-file",
        click.Path(path_type=Path, dir_okay=False, exists=True),
        "A file with the token that requests must send (default: a new one, in the address that is printed).",
    ),
)


@click.command()
@click.argument("model_path", metavar="MODEL", type=FILE)
@address_options
@option(
    "--learn",
    click.Path(path_type=Path, file_okay=False),
    "Also learn from labelled rows. Journal and model are kept in this folder, from which a new start continues.",
)
@option("--checkpoint-seconds", Number(0), "With --learn: shortest time between two checkpoints.", default=30.0)
@option("--max-bytes", Integer(1), "The largest request body.", default=16 << 20)
@option("--max-rate", Number(1), "Requests allowed per client and second.", default=10_000.0)
def serve(
    model_path: Path,
    host: str,
    port: int,
    token_file: Path | None,
    learn: Path | None,
    checkpoint_seconds: float,
    max_bytes: int,
    max_rate: float,
) -> None:
    """Serve MODEL over HTTP: predictions, explanations and, with --learn, training on labelled rows.

    Prints the address, with the token that clients send as "Authorization: Bearer TOKEN". Rows are objects of column
    names and values, read as the training file was; /openapi.json describes all requests. Ctrl-C stops the service.

    \b
      thresher serve m.thresher --port 8000
      curl -H "Authorization: Bearer TOKEN" http://127.0.0.1:8000/predict -d '{"row": {"age": 31, "job": "cook"}}'

    With --learn, each row is written to disk before it is acknowledged, and a service that was killed continues with
    the same model.
    """
    from ..persistence import load_model
    from ..web import ServerAddress, ServiceOptions
    from ..web import serve as serve_model

    reading = same_stream_options({"skip_malformed": False}, checked_record(load_model(model_path)))
    options = ServiceOptions(learn, checkpoint_seconds, max_bytes, max_rate)
    serve_model(model_path, ServerAddress(host, port, token_file), options, reading)
