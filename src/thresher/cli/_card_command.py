"""``thresher card``: what is known of a model, as Markdown."""

from __future__ import annotations

import math
import sys
from pathlib import Path
from typing import Any

import click

from . import printable
from ._options import FILE, option, output_options
from ._screen import Screen

_SIZES = ("n_rows", "n_features", "n_values", "n_unlabelled")


@click.command()
@click.argument("model_path", metavar="MODEL", type=click.Path(path_type=Path))
@option("--output -o", FILE, "Where to write it (default: stdout).")
@output_options
def card(model_path: Path, output: Path | None, as_json: bool, quiet: bool) -> None:
    """Write a model card for MODEL in Markdown: method, training data, the features that matter, and how to reproduce
    it.

    A model file holds no rows. For a card with measures, use --report card.md of `thresher train` or `thresher auto`.
    """
    from .._output import check_no_input, write_whole
    from ..persistence import load_model
    from ..report import Report

    model = load_model(model_path)
    record = getattr(model, "record_", None)
    report = Report(model, **_of_record(record if isinstance(record, dict) else {}))
    if output is None and not as_json:
        made = report.to_markdown()
        click.echo(printable(made) if sys.stdout.isatty() else made, nl=False)
        return
    if output is not None:
        check_no_input(output, [model_path])
        write_whole(output, report.to_markdown().encode("utf-8", "replace"))
    written = {} if output is None else {"written": {"card": str(output)}}
    Screen(as_json, quiet).result(f"card of {model_path} written to {output}", report.to_dict() | written)


def _of_record(record: dict[str, Any]) -> dict[str, Any]:
    """Parameters of a report from the record of a model file. Files are untrusted, so only entries of the right form
    are used."""
    from ..training import History

    facts, layout, course = (_dict(record.get(name)) for name in ("data", "layout", "history"))
    data = {name: facts[name] for name in _SIZES if _are_counts([facts.get(name)])}
    classes = _dict(facts.get("classes"))
    if classes and _are_counts(list(classes.values())):
        data["classes"] = classes
    if isinstance(layout.get("target"), str):
        data["target"] = layout["target"]
    points: dict[str, Any] = {name: course.get(name) for name in ("rows", "mistakes", "loss", "n_used")}
    is_course = all(_are_counts(values, whole=name != "loss") for name, values in points.items())
    is_course = (
        is_course and len({len(values or ()) for values in points.values()}) == 1 and min(points["rows"] or [0]) > 0
    )
    asked = {name: record[name] for name in ("command", "python") if isinstance(record.get(name), str)}
    return {"asked": asked, "data": data, "history": History(**points) if is_course else None}


def _dict(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _are_counts(values: Any, whole: bool = True) -> bool:
    """Whether these are numbers of at least 0."""
    kinds = (int,) if whole else (int, float)
    return isinstance(values, list) and all(type(v) in kinds and 0 <= v < math.inf for v in values)
