"""Options that several commands share, and the checks of them."""

from __future__ import annotations

import inspect
import json
import os
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

NO_COLUMN = "\0none"  # the word none, unlike an option that is not given

Command = Callable[..., Any]


class Column(click.ParamType):  # type: ignore[type-arg]
    """A column by number or by name."""

    name = "column"

    def convert(self, value: Any, param: Any, ctx: Any) -> int | str:
        if isinstance(value, int):
            return value
        return NO_COLUMN if value == "none" else int(value) if re.fullmatch(r"-?\d+", value) else str(value)


def grouped(*options: Callable[[Command], Command]) -> Callable[[Command], Command]:
    """Several options as one decorator, in this order."""

    def decorate(command: Command) -> Command:
        for option in reversed(options):
            command = option(command)
        return command

    return decorate


def option(names: str, kind: Any, help: str, **more: Any) -> Callable[[Command], Command]:
    """An option with a value; `names` are its flag and, where it differs from that, the name of the argument."""
    return click.option(*names.split(), type=kind, help=help, **more)


COUNT = click.IntRange(1)
FILE = click.Path(path_type=Path, dir_okay=False)

reading_options = grouped(
    click.option("--skip-malformed", is_flag=True, help="Skip lines that cannot be read, and count them."),
    option(
        "--batch-size",
        COUNT,
        "Rows read at a time (default: 4096). Of a method that takes mini-batches, the rows of one.",
    ),
)
data_options = grouped(  # the parameters of ``open_stream``
    click.argument("data", nargs=-1, required=True),
    option(
        "--target", Column(), "Tables: the column to predict, by name or number from 0, or none (default: the last)."
    ),
    option(
        "--format",
        click.Choice(["svmlight", "csv", "parquet", "arrow", "documents"]),
        "Format of the files (default: by their name or first line).",
    ),
    option("--header/--no-header", None, "CSV: whether the first line holds names (default: detected).", default=None),
    option("--delimiter", None, "CSV: the character between fields, such as ';' or tab (default: detected)."),
    option(
        "--text-columns",
        Column(),
        "Tables: a column to read as text though it looks like numbers; may be repeated.",
        multiple=True,
    ),
    option("--drop", Column(), "Tables: a column to leave out; may be repeated.", multiple=True),
    option("--zero-based/--one-based", None, "svmlight: first index (default: detected).", default=None),
    option("--n-features", COUNT, "svmlight: number of features, if known."),
    reading_options,
)
output_options = grouped(
    click.option("--json", "as_json", is_flag=True, help="Print results as JSON."),
    click.option("--quiet", is_flag=True, help="Print no progress and no remarks."),
)
preparation_options = grouped(
    option("--random-state", click.IntRange(0), "Seed of all that is random.", default=0),
    option("--scale/--no-scale", None, "Standardise the columns (default: tables yes, sparse rows no).", default=None),
    option("--categories", click.Choice(["onehot", "hash"]), "Encoding of text columns.", default="onehot"),
)
result_options = grouped(
    option("--test tests", None, "A file to measure the model on; may be repeated.", multiple=True),
    option("--model model_path", FILE, "Where to write the model."),
    option("--report report_path", FILE, "Where to write a report: .html, .txt or .json."),
)
sample_options = grouped(
    option("--max-rows", click.IntRange(10), "Use an even sample of about so many rows.", default=100_000),
    option("--n-jobs", int, "Processes to use (-1: all cores)."),
)
round_options = grouped(  # the parameters of ``thresher.distributed.fit``
    option(
        "--engine",
        None,
        "Learn from each file on an engine, and merge the models: serial (here), dask (this machine's cores), "
        "dask://host:port, spark://host:port or local[2,4].",
    ),
    option("--n-rounds", COUNT, "With --engine: rounds over all shards."),
    option(
        "--mode",
        click.Choice(["auto", "passes", "sums"]),
        "With --engine: passes over shards that are merged, or sums over all rows (default: by the method).",
    ),
    option("--n-shards", COUNT, "With --engine: join files to so many shards."),
)


def check_rounds(given: dict[str, Any]) -> bool:
    """Whether to learn in rounds; options that would do nothing are refused."""
    if given["engine"] is None:
        for name in ("n_rounds", "mode", "n_shards"):
            if given[name] is not None:
                option = "--" + name.replace("_", "-")
                raise click.UsageError(f"{option} is about rounds over shards; say where, such as --engine serial.")
        return False
    if given["max_iter"] is not None:
        raise click.UsageError("--max-iter is for one machine; with --engine, --n-rounds says how often rows are read.")
    return True


def check_places(data: tuple[str, ...], given: dict[str, Any]) -> None:
    """Check, before hours of work, that results can be written and that nothing is overwritten that is still needed."""
    if given.get("resume") and given["model_path"] is None:
        raise click.UsageError("--resume goes on from the checkpoint beside a model; say which one with --model FILE.")
    taken = {Path(name).resolve() for name in (*data, *given["tests"])}
    for path in (given["model_path"], given["report_path"]):
        if path is None:
            continue
        check_folder(path)
        if not os.access(path.absolute().parent, os.W_OK):
            raise PermissionError(f"{path}: the folder is not writable.")
        if path.resolve() in taken:
            raise ValueError(f"{path}: this file is in use as data or for another result; name another one.")
        taken.add(path.resolve())
    report = given["report_path"]
    if report is not None and report.suffix.lower() not in (".html", ".txt", ".json"):
        raise ValueError(f"--report must end in .html, .txt or .json, got {str(report)!r}.")


def check_folder(path: Path) -> None:
    if not path.absolute().parent.is_dir():
        raise FileNotFoundError(f"{path}: the folder does not exist.")


_STREAM_OPTIONS = (
    *("target", "format", "header", "delimiter", "text_columns", "drop"),
    *("zero_based", "n_features", "skip_malformed", "batch_size"),
)


def stream_options(
    data: tuple[str, ...], given: dict[str, Any], task: str | None, method: Any = None
) -> dict[str, Any]:
    """Keyword arguments for ``open_stream``, only those that differ from its defaults.

    Clusters need no target: the last column of a table is none unless it is named. If the method takes
    mini-batches, ``--batch-size`` is their size, and rows are read in whole mini-batches.
    """
    from ..streams import open_stream

    usual = {name: p.default for name, p in inspect.signature(open_stream).parameters.items()}
    options = {name: usual[name] if given[name] is None else given[name] for name in _STREAM_OPTIONS}
    if given["target"] == NO_COLUMN or (given["target"] is None and task == "clustering" and _are_tables(data, given)):
        options["target"] = None
    if options["delimiter"] in ("tab", "\\t"):
        options["delimiter"] = "\t"
    if method is not None and "batch_size" in method.defaults:
        size = options["batch_size"]
        options["batch_size"] = -(-usual["batch_size"] // size) * size
    changed = {name: value for name, value in options.items() if value != usual[name]}
    return {name: list(value) if isinstance(value, tuple) else value for name, value in changed.items()}


def _are_tables(data: tuple[str, ...], given: dict[str, Any]) -> bool:
    from ..streams import files_of, format_of

    return (given["format"] or format_of(files_of(files(data))[0])) in ("csv", "parquet", "arrow")


def files(data: tuple[str, ...]) -> Any:
    """One path or pattern as it is, several as a list, in which local patterns have become the files they match."""
    from ..streams import is_url, names_of

    if len(data) == 1:
        return data[0]
    return [name for each in data for name in ([each] if is_url(each) else map(str, names_of(each)))]


def literal(text: str) -> Any:
    """A value as people type it: a number, none, true, false, a JSON object or list, else text."""
    low = text.strip().lower()
    if low in ("none", "true", "false"):
        return {"none": None, "true": True, "false": False}[low]
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    if text[:1] in "{[":
        try:
            return json.loads(text)
        except (json.JSONDecodeError, RecursionError):
            return text
    return text
