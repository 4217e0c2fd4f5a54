"""Options that commands share, and those that the methods' own signatures declare."""

from __future__ import annotations

import inspect
import json
import os
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

_NOT_FOR_STREAMS = {"max_iter", "n_steps", "tol", "shuffle", "n_jobs"}  # passes and order are the stream's affair
_BY_SEED = "random_state"


NO_COLUMN = "\0none"  # as an option says it, unlike an option that is not given


class Column(click.ParamType):  # type: ignore[type-arg]
    """A column by number or by name."""

    name = "column"

    def convert(self, value: Any, param: Any, ctx: Any) -> int | str:
        if isinstance(value, int):
            return value
        return NO_COLUMN if value == "none" else int(value) if re.fullmatch(r"-?\d+", value) else str(value)


def data_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """How files are read: the parameters of ``open_stream``."""
    options = [
        click.argument("data", nargs=-1, required=True),
        click.option(
            "--target",
            type=Column(),
            default=None,
            help="Tables: column with the answer, by name or number from 0, or none (default: the last).",
        ),
        click.option(
            "--format",
            type=click.Choice(["svmlight", "csv", "parquet", "arrow", "documents"]),
            help="By default the name or the first line tells.",
        ),
        click.option(
            "--header/--no-header", default=None, help="CSV: whether the first line holds names (default: by looking)."
        ),
        click.option(
            "--delimiter", help="CSV: the character between fields (default: by looking; 'tab' is understood)."
        ),
        click.option(
            "--text",
            "text_columns",
            multiple=True,
            type=Column(),
            help="Tables: a column to take as words though it looks like numbers; may be repeated.",
        ),
        click.option("--drop", multiple=True, type=Column(), help="Tables: a column to leave out; may be repeated."),
        click.option(
            "--zero-based/--one-based", default=None, help="svmlight: where indices start (default: by looking)."
        ),
        click.option(
            "--features", "n_features", type=click.IntRange(1), help="svmlight: number of features, if known."
        ),
        click.option("--skip-malformed", is_flag=True, help="Skip lines that cannot be read, and count them."),
        click.option(
            "--chunk",
            "batch_size",
            type=click.IntRange(1),
            default=4096,
            show_default=True,
            help="Rows read at a time.",
        ),
    ]
    for option in reversed(options):
        command = option(command)
    return command


def output_options(command: Callable[..., Any]) -> Callable[..., Any]:
    command = click.option("--quiet", is_flag=True, help="No progress, no remarks.")(command)
    return click.option("--json", "as_json", is_flag=True, help="Results as JSON.")(command)


def preparation_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """What happens to columns before a learner sees them, and the seed of it all."""
    options = [
        click.option(
            "--seed", type=click.IntRange(0), default=0, show_default=True, help="Seed of all that is random."
        ),
        click.option(
            "--scale/--no-scale", default=None, help="Standardise the columns (default: tables yes, sparse rows no)."
        ),
        click.option(
            "--categories",
            type=click.Choice(["onehot", "hash"]),
            default="onehot",
            show_default=True,
            help="How words become features.",
        ),
    ]
    for option in reversed(options):
        command = option(command)
    return command


_ROUNDS = {"n_rounds": "--rounds", "mode": "--mode", "n_shards": "--shards"}


def round_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """How shards are learned from: the parameters of ``thresher.distributed.fit``."""
    options = [
        click.option(
            "--engine",
            help="Where files are learned from, each a shard: serial (here), dask (this machine's cores), "
            "dask://host:port, spark://host:port or local[2,4].",
        ),
        click.option("--rounds", "n_rounds", type=click.IntRange(1), help="With --engine: rounds over all shards."),
        click.option(
            "--mode",
            type=click.Choice(["auto", "passes", "sums"]),
            help="With --engine: passes over shards that are merged, or sums over all rows (default: by the method).",
        ),
        click.option(
            "--shards",
            "n_shards",
            type=click.IntRange(1),
            help="With --engine: neighbouring files make so many shards.",
        ),
    ]
    for option in reversed(options):
        command = option(command)
    return command


def check_rounds(given: dict[str, Any]) -> bool:
    """Whether to learn in rounds; options that would do nothing are refused."""
    if given["engine"] is None:
        for name, option in _ROUNDS.items():
            if given[name] is not None:
                raise click.UsageError(f"{option} is about rounds over shards; say where, such as --engine serial.")
        return False
    if given["passes"] is not None:
        raise click.UsageError("--passes is for one machine; with --engine, --rounds says how often rows are read.")
    return True


def check_places(data: tuple[str, ...], given: dict[str, Any]) -> None:
    """Before hours of work: can the results be written, and is nothing overwritten that is still needed?"""
    if given.get("resume") and given["model_path"] is None:
        raise click.UsageError("--resume goes on from the checkpoint beside a model; say which one with --model FILE.")
    taken = {Path(name).resolve() for name in (*data, *given["tests"])}
    for path in (given["model_path"], given["report_path"]):
        if path is None:
            continue
        if not path.absolute().parent.is_dir():
            raise FileNotFoundError(f"{path}: the folder does not exist.")
        if not os.access(path.absolute().parent, os.W_OK):
            raise PermissionError(f"{path}: the folder is not writable.")
        if path.resolve() in taken:
            raise ValueError(f"{path}: this file is in use as data or for another result; name another one.")
        taken.add(path.resolve())
    report = given["report_path"]
    if report is not None and report.suffix.lower() not in (".html", ".txt", ".json"):
        raise ValueError(f"--report must end in .html, .txt or .json, got {str(report)!r}.")


STREAM_KEYS = (
    "target",
    "format",
    "header",
    "delimiter",
    "text_columns",
    "drop",
    "zero_based",
    "n_features",
    "skip_malformed",
    "batch_size",
)


def stream_options(given: dict[str, Any], task: str | None = None) -> dict[str, Any]:
    """Keyword arguments for ``open_stream``, only those that differ from its defaults. Clusters need no target, so that
    a table's last column is none unless it is named."""
    from ..streams import open_stream

    options = {key: given[key] for key in STREAM_KEYS if key in given}
    if options["target"] is None:
        options["target"] = None if task == "clustering" and _are_tables(given) else -1
    elif options["target"] == NO_COLUMN:
        options["target"] = None
    if options.get("delimiter") in ("tab", "\\t"):
        options["delimiter"] = "\t"
    if options.get("header") is None:
        options["header"] = "auto"
    options["text_columns"], options["drop"] = list(options["text_columns"]), list(options["drop"])
    defaults = inspect.signature(open_stream).parameters
    return {k: v for k, v in options.items() if v != (list(d) if isinstance(d := defaults[k].default, tuple) else d)}


def _are_tables(given: dict[str, Any]) -> bool:
    from ..streams import files_of, format_of

    kind = given.get("format") or format_of(files_of(files(given["data"]))[0])
    return kind in ("csv", "parquet", "arrow")


def files(data: tuple[str, ...]) -> Any:
    """One path or pattern as it is, several as a list, in which local patterns have become the files they match."""
    from ..streams import is_url, names_of

    if len(data) == 1:
        return data[0]
    return [name for each in data for name in ([each] if is_url(each) else map(str, names_of(each)))]


# --- options from signatures ----------------------------------------------------------------------------------------


class MethodCommand(click.Command):
    """A command whose options include the parameters of the method that ``--method`` names."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        usual = next(p.default for p in self.params if "--method" in p.opts)
        name = _value_of("--method", args) or (usual if isinstance(usual, str) else None)
        if name is not None:
            found = method(name)
            self.params = [p for p in self.params if not isinstance(p, _MethodOption)]
            taken = {option for p in self.params for option in p.opts}
            by_stream = found.streams and found.task != "clustering"  # clusters in memory take steps of their own
            self.params += [option for option in method_options(found.cls, by_stream) if not taken & set(option.opts)]
        return super().parse_args(ctx, args)

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        own = [p for p in self.params if isinstance(p, _MethodOption)]
        rows = [record for p in self.get_params(ctx) if p not in own and (record := p.get_help_record(ctx))]
        with formatter.section("Options"):
            formatter.write_dl(rows)
        with formatter.section("Parameters of the method"):
            if own:
                formatter.write_dl([record for p in own if (record := p.get_help_record(ctx))])
            else:
                formatter.write_text("name it with --method to see them here; `thresher methods` lists all")


class _MethodOption(click.Option):
    """A parameter of an estimator."""


def method(name: str) -> Any:
    """The method of that name; a wrong name gets the right ones."""
    from .. import registry

    found = {m.name: m for m in registry.methods()}
    if name not in found:
        raise click.UsageError(f"there is no method {name!r}; the methods are {', '.join(sorted(found))}.")
    return found[name]


def method_options(cls: type[Any], streams: bool) -> list[click.Option]:
    """Click options for the constructor's parameters, with the docstring's words."""
    docs = parameter_docs(cls)
    options: list[click.Option] = []
    for name, parameter in inspect.signature(cls).parameters.items():
        if name == _BY_SEED or (streams and name in _NOT_FOR_STREAMS):
            continue
        flag = "--" + name.replace("_", "-")
        first, _, _ = docs.get(name, "").partition(". ")
        described = f"{first.rstrip('.')}. " if first else ""
        described += f"[default: {parameter.default}]"
        names = [f"param:{name}".replace(":", "_"), flag]
        if isinstance(parameter.default, bool):
            names[1] = f"{flag}/--no-{name.replace('_', '-')}"
            options.append(_MethodOption(names, default=None, help=described))
            continue
        rule = getattr(cls, "_param_rules", {}).get(name)
        choices = rule.options if rule is not None else ()
        metavar = "|".join(choices) if choices and isinstance(parameter.default, str) else "VALUE"
        options.append(_MethodOption(names, default=None, help=described, metavar=metavar))
    return options


def method_params(given: dict[str, Any], cls: type[Any], seen: Any = None) -> dict[str, Any]:
    """Constructor arguments from the options, each held against its rule. Labels are words where those of the file
    are, as it was `seen`: "none" is one, then."""
    params = {}
    for name in inspect.signature(cls).parameters:
        value = given.get(f"param_{name}")
        if value is None:
            continue
        is_word = name.endswith("_label") and seen is not None and seen.is_text
        value = literal(value) if isinstance(value, str) and not is_word else value
        rule = getattr(cls, "_param_rules", {}).get(name)
        if rule is not None and not rule.holds(value):
            raise click.UsageError(f"--{name.replace('_', '-')} must be {rule.says}, got {value!r}.")
        params[name] = value
    return params


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


def parameter_docs(cls: type[Any]) -> dict[str, str]:
    """Parameter -> its description, from the numpydoc section "Parameters"."""
    doc = inspect.getdoc(cls) or ""
    found = re.search(r"^Parameters\n-+\n(.*?)(?=^\S[^\n]*\n-{3,}$|\Z)", doc, re.S | re.M)
    described: dict[str, str] = {}
    names: list[str] = []
    for line in (found[1] if found else "").splitlines():
        head = re.match(r"^(\w[\w, ]*?) : ", line)
        if head:
            names = [name.strip() for name in head[1].split(",")]
            described |= dict.fromkeys(names, "")
        elif line.startswith("    "):
            for name in names:
                described[name] = f"{described[name]} {line.strip()}".strip()
    return {name: unmarked(text) for name, text in described.items()}


def unmarked(text: str) -> str:
    """A docstring's words without its markup."""
    text = re.sub(r"\s*\(:math:`[^`]*`( in [^)]*)?\)", "", text)
    text = re.sub(r"\s*\[\d+\]_", "", text)
    return re.sub(r"`{1,2}~?([^`]*)`{1,2}", r"\1", re.sub(r":\w+:`", "`", text))


def _value_of(option: str, args: list[str]) -> str | None:
    for i, arg in enumerate(args):
        if arg == option and i + 1 < len(args):
            return args[i + 1]
        if arg.startswith(option + "="):
            return arg[len(option) + 1 :]
    return None
