"""The commands and their options as markdown, asked from the commands themselves."""

from __future__ import annotations

import inspect
import re
from typing import Any

import click

MARK = re.compile(r"^```\{commands\}\n```$", re.M)  # where a page wants them


def commands_text() -> str:
    """A section for every command: what it does, how it is called, its options."""
    from thresher.cli import thresher

    context = click.Context(thresher, info_name="thresher")
    return "\n".join(_section(context, name) for name in thresher.list_commands(context))


def _section(group: click.Context, name: str) -> str:
    command = group.command.get_command(group, name)  # type: ignore[attr-defined]
    context = click.Context(command, info_name=name, parent=group)
    usage = f"thresher {name} {' '.join(command.collect_usage_pieces(context))}"
    lines = [f"## thresher {name}", "", _words(command.help or ""), "", "```sh", usage, "```", ""]
    records = [p.get_help_record(context) for p in command.get_params(context) if isinstance(p, click.Option)]
    rows = [f"| `{_cell(option)}` | {_prose(said)} |" for option, said in filter(None, records)]
    return "\n".join([*lines, "| option | |", "| --- | --- |", *rows, ""])


def _words(text: str) -> str:
    """Paragraphs as they are, those that click must not wrap as code."""
    parts = []
    for paragraph in inspect.cleandoc(text).split("\n\n"):
        kept = paragraph.removeprefix("\b\n")
        parts.append(_prose(paragraph) if kept == paragraph else f"```sh\n{inspect.cleandoc(kept)}\n```")
    return "\n\n".join(parts)


def _prose(text: str) -> str:
    """Options, names of columns and patterns as code; no markdown by accident."""
    escaped = re.sub(r"([*_<\[\]|])", r"\\\1", text)
    return re.sub(r"(?<![\w`-])(--[a-z][a-z-]*)", r"`\1`", escaped)


def _cell(text: Any) -> str:
    return str(text).replace("|", "\\|")
