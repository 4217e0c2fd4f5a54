"""Options that several commands share, and the checks of them."""

from __future__ import annotations

import inspect
import json
import os
import re
import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from ._columns_file import read_columns_file

NO_COLUMN = "\0none"  # the word none, unlike an option that is not given

Command = Callable[..., Any]


class Column(click.ParamType):  # type: ignore[type-arg]
    """A column by number or by name."""

    name = "column"

    def convert(self, value: Any, param: Any, ctx: Any) -> int | str:
        if isinstance(value, int):
            return value
        return NO_COLUMN if value == "none" else int(value) if re.fullmatch(r"-?\d+", value) else str(value)


class Integer(click.IntRange):
    """An integer between limits, named so that help and errors read well."""

    name = "integer"


class Number(click.FloatRange):
    """A number between limits, likewise."""

    name = "number"


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


COUNT = Integer(1)
FORMATS = ["svmlight", "vw", "csv", "json", "excel", "parquet", "arrow", "documents"]
FILE = click.Path(path_type=Path, dir_okay=False)

reading_options = grouped(
    option("--sql", None, "Instead of DATA: a DuckDB query, such as \"select * from 'day-*.parquet'\"."),
    option("--database", click.Path(exists=True, dir_okay=False), "With --sql: a database that the query reads from."),
    option("--sheet", Column(), "Spreadsheets: the sheet, by name or number from 0 (default: the first)."),
    option("--max-features", COUNT, "svmlight: largest index allowed (default: 33,554,432)."),
    click.option("--skip-malformed", is_flag=True, help="Skip lines that cannot be read, and count them."),
    option(
        "--batch-size",
        COUNT,
        "Rows read at a time (default: 4096). For methods with mini-batches, the size of one.",
    ),
    option("--encoding", None, "CSV: encoding of the text, such as cp1252 (default: detected)."),
)
data_options = grouped(  # the parameters of ``open_stream``
    click.argument("data", nargs=-1),
    option(
        "--target", Column(), "Tables: the column to predict, by name or number from 0, or none (default: the last)."
    ),
    option(
        "--format",
        click.Choice(FORMATS),
        "Format of the files (default: by their name or first lines).",
    ),
    option("--header/--no-header", None, "CSV: whether the first line holds names (default: detected).", default=None),
    option("--delimiter", None, "CSV: the character between fields, such as ';' or tab (default: detected)."),
    option(
        "--text text_columns",
        Column(),
        "Tables: a column to read as text though it looks like numbers; may be repeated.",
        multiple=True,
    ),
    option("--drop", Column(), "Tables: a column to leave out; may be repeated.", multiple=True),
    click.option(
        "--keep-identifiers", is_flag=True, help="Tables: use columns that only identify rows, such as row numbers."
    ),
    option("--decimal", click.Choice([".", ","]), "CSV: the decimal mark (default: detected)."),
    option("--date", None, "CSV: the order of ambiguous dates, D/M/Y or M/D/Y (default: detected)."),
    option("--missing", None, "Tables: one more word for a missing value; may be repeated.", multiple=True),
    option(
        "--columns columns_path",
        click.Path(path_type=Path, dir_okay=False, exists=True),
        "Tables: a YAML file that says how columns are read, as written by thresher look --write.",
    ),
    option("--zero-based/--one-based", None, "svmlight: first index (default: detected).", default=None),
    option(
        "--n-features",
        COUNT,
        "svmlight: number of features, if known. vw: columns that features are hashed into (default: 262144).",
    ),
    reading_options,
)
output_options = grouped(
    click.option("--json", "as_json", is_flag=True, help="Print results as JSON."),
    click.option("--quiet", is_flag=True, help="Print no progress and no remarks."),
)
preparation_options = grouped(
    option("--random-state", Integer(0), "Random seed.", default=0),
    option("--scale/--no-scale", None, "Standardise the columns (default: tables yes, sparse rows no).", default=None),
    option("--categories", click.Choice(["onehot", "hash"]), "Encoding of text columns.", default="onehot"),
)
result_options = grouped(
    option("--test tests", None, "A file to measure the model on; may be repeated.", multiple=True),
    option("--model model_path", FILE, "Where to write the model."),
    option("--report report_path", FILE, "Where to write a report: .html, .txt, .md or .json."),
)
sample_options = grouped(
    option("--max-rows", Integer(10), "Use an even sample of about this many rows.", default=100_000),
    option("--n-jobs", int, "Processes to use (-1: all cores)."),
)
round_options = grouped(  # the parameters of ``thresher.distributed.fit``
    option(
        "--engine",
        None,
        "Train on each file separately and merge the models: serial (one process), dask (this machine's cores), "
        "dask://host:port, spark://host:port or local[2,4].",
    ),
    option("--n-rounds", COUNT, "With --engine: rounds over all shards."),
    option(
        "--mode",
        click.Choice(["auto", "passes", "sums"]),
        "With --engine: merge models of the shards (passes), or add up sums over all rows (default: by the method).",
    ),
    option("--n-shards", COUNT, "With --engine: join files into this many shards."),
)


def check_rounds(given: dict[str, Any]) -> bool:
    """Whether to learn in rounds; options that would do nothing are refused."""
    if given["engine"] is None:
        for name in ("n_rounds", "mode", "n_shards"):
            if given[name] is not None:
                option = "--" + name.replace("_", "-")
                raise click.UsageError(
                    f"{option} is for rounds over shards and needs --engine, such as --engine serial."
                )
        return False
    if given["sql"] is not None:
        raise click.UsageError("--sql is for one machine; with --engine, give files as DATA.")
    if given["max_iter"] is not None:
        raise click.UsageError("--max-iter is for one machine; with --engine, --n-rounds says how often rows are read.")
    return True


def check_places(data: tuple[str, ...], given: dict[str, Any]) -> None:
    """Check before training that results can be written, and that no input would be overwritten."""
    check_data(data, given)
    if given.get("resume") and given["model_path"] is None:
        raise click.UsageError("--resume continues from the checkpoint beside a model; name it with --model FILE.")
    taken = {path.resolve() for name in (*data, *given["tests"]) for path in _named(name)}
    for path in (given["model_path"], given["report_path"]):
        if path is None:
            continue
        check_folder(path)
        if not os.access(path.absolute().parent, os.W_OK):
            raise PermissionError(f"{path}: the folder is not writable.")
        if path.resolve() in taken:
            raise ValueError(f"{path}: this file is an input, or is written for another result; choose another name.")
        taken.add(path.resolve())
    report = given["report_path"]
    if report is not None and report.suffix.lower() not in (".html", ".txt", ".md", ".json"):
        raise ValueError(f"--report must end in .html, .txt, .md or .json, got {str(report)!r}.")


def _named(name: str) -> list[Path]:
    """The local files that are meant; missing ones raise an error when they are read."""
    from ..streams import is_url, names_of

    try:
        return [] if is_url(name) else [Path(each) for each in names_of(name)]
    except FileNotFoundError:
        return []


def check_folder(path: Path) -> None:
    if not path.absolute().parent.is_dir():
        raise FileNotFoundError(f"{path}: the folder does not exist.")


_STREAM_OPTIONS = (
    *("target", "format", "header", "delimiter", "text_columns", "drop", "keep_identifiers"),
    *("encoding", "decimal", "date", "missing", "zero_based", "n_features", "skip_malformed", "batch_size"),
    *("max_features", "sheet", "sql", "database"),
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
    told = {} if given["columns_path"] is None else read_columns_file(given["columns_path"])
    given = {**given, **{name: value for name, value in told.items() if given.get(name) in (None, (), False)}}
    options = {name: usual[name] if given[name] is None else given[name] for name in _STREAM_OPTIONS}
    if given["target"] == NO_COLUMN or (given["target"] is None and task == "clustering" and _are_tables(data, given)):
        options["target"] = None
    if options["delimiter"] in ("tab", "\\t"):
        options["delimiter"] = "\t"
    if method is not None and "batch_size" in method.defaults:
        size = options["batch_size"]
        options["batch_size"] = -(-usual["batch_size"] // size) * size
    options["columns"] = told.get("columns")
    changed = {name: value for name, value in options.items() if value != usual[name]}
    return {name: list(value) if isinstance(value, tuple) else value for name, value in changed.items()}


def _are_tables(data: tuple[str, ...], given: dict[str, Any]) -> bool:
    from ..streams import files_of, format_of

    if given["sql"] is not None:
        return True
    return (given["format"] or format_of(files_of(files(data))[0])) not in ("svmlight", "vw", "documents")


def check_data(data: tuple[str, ...], given: dict[str, Any]) -> None:
    """Check that there is either DATA or a query."""
    if not data and given["sql"] is None:
        raise click.UsageError("DATA is missing; name a file, - for standard input, or give a query with --sql.")
    if data and given["sql"] is not None:
        raise click.UsageError("give either DATA or --sql, not both.")
    if given["database"] is not None and given["sql"] is None:
        raise click.UsageError("--database needs a query; give one with --sql.")
    if "-" in data and len(data) > 1:
        raise click.UsageError("- stands for standard input, and must be the only DATA.")
    if given.get("resume") and (given["sql"] is not None or "-" in data):
        raise click.UsageError("--resume needs files; a query or standard input may return different rows next time.")


def files(data: tuple[str, ...]) -> Any:
    """One path or pattern as it is, several as a list, in which local patterns have become the files they match; the
    copy of standard input for -, and None if there are none."""
    from ..streams import is_url, names_of

    if not data:
        return None
    if data == ("-",):
        return _standard_input()
    if len(data) == 1:
        return data[0]
    return [name for each in data for name in ([each] if is_url(each) else map(str, names_of(each)))]


class _Copy(str):
    """The path of a copy of standard input, which is another one in each run and none that a user knows."""

    def __repr__(self) -> str:
        return repr("stdin")


def _standard_input() -> str:
    """A file with all that comes from standard input, because files are looked at before they are read."""
    context = click.get_current_context()
    if "stdin" not in context.meta:
        if sys.stdin is None or sys.stdin.isatty():
            raise click.UsageError("- stands for standard input, but nothing is piped in.")
        import tempfile

        folder = tempfile.TemporaryDirectory(prefix="thresher-")
        context.call_on_close(folder.cleanup)
        path = Path(folder.name, "stdin")
        with path.open("wb") as copy:
            shutil.copyfileobj(sys.stdin.buffer, copy)
        context.meta["stdin"] = _Copy(path)
    copy_of: str = context.meta["stdin"]
    return copy_of


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
