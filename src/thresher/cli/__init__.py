"""The command line, over the public interface.

Results go to stdout, progress and remarks to stderr. Exit codes: 0 done, 2 a mistake of the user in one line, 130
interrupted. Nothing heavy is imported before a command runs.
"""

from __future__ import annotations

import importlib
import os
import sys
import warnings
from collections.abc import Sequence
from typing import Any

import click

from .. import __version__

__all__ = ["main"]

_COMMANDS = {
    "auto": ("_search_command", "Find, tune and explain a model for a file."),
    "train": ("_train_command", "Learn from files of any size, with checkpoints."),
    "predict": ("_predict_command", "Apply a model to files of any size."),
    "tune": ("_search_command", "Find good parameters of one method."),
    "compare": ("_compare_command", "Compare methods by repeated runs and tests."),
    "wizard": ("_wizard_demo_commands", "Answer a few questions; no knowledge needed."),
    "inspect": ("_inspect_command", "Show a model file and the features that matter."),
    "merge": ("_inspect_command", "Merge models of several machines."),
    "methods": ("_inspect_command", "List all methods, or the parameters of one."),
    "demo": ("_wizard_demo_commands", "A full run on a generated stream, with a report."),
}


class _Lazy(click.Group):
    """Commands are imported when they are used; their one-line help stands here."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(_COMMANDS)

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:
        if name not in _COMMANDS:
            return None
        return getattr(importlib.import_module(f"thresher.cli.{_COMMANDS[name][0]}"), name)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(name, help_) for name, (_, help_) in _COMMANDS.items()])

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args and args[0] not in _COMMANDS and not args[0].startswith("-"):
            raise click.UsageError(f"there is no command {args[0]!r}; the commands are {', '.join(_COMMANDS)}.")
        return super().resolve_command(ctx, args)


@click.group(
    cls=_Lazy, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100, "show_default": True}
)
@click.version_option(__version__, prog_name="thresher")
def thresher() -> None:
    """Sparse models, and the features that matter, from files of any size.

    \b
      thresher auto data.csv --target income --report report.html
      thresher train x.svm.gz --method arow --test y.svm.gz --model m.thresher
      thresher predict m.thresher new.csv > predictions.csv
      thresher wizard data.csv
    """


def main(args: Sequence[str] | None = None) -> int:
    """Run the command line; returns the exit code."""
    typed = list(sys.argv[1:] if args is None else args)
    try:
        with warnings.catch_warnings():
            warnings.showwarning = _WarningPrinter("--quiet" in typed)  # type: ignore[assignment]
            result: Any = thresher.main(typed, prog_name="thresher", standalone_mode=False, obj=tuple(typed))
            sys.stdout.flush()
            return result if isinstance(result, int) else 0
    except click.exceptions.Exit as end:
        return end.exit_code
    except click.ClickException as problem:
        return _refuse(problem.format_message())
    except (KeyboardInterrupt, click.exceptions.Abort) as stop:
        cause = stop.__context__ if isinstance(stop, click.exceptions.Abort) else stop  # click wraps one in the other
        print(f"Interrupted. {cause or ''}".rstrip(), file=sys.stderr)
        return 130
    except (BrokenPipeError, SystemExit):  # the reader of our output has gone, as `head` does; click exits then
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except Exception as problem:
        if os.environ.get("THRESHER_TRACEBACK"):
            raise
        return _refuse(_reason(problem))


def _reason(problem: Exception) -> str:
    """An error as one sentence for the user."""
    if isinstance(problem, OSError) and problem.strerror and problem.filename:
        return f"{problem.filename}: {problem.strerror}."
    reason = str(problem) or type(problem).__name__
    if isinstance(problem, (ValueError, OSError, MemoryError, ArithmeticError)):
        return reason
    return f"unexpected {type(problem).__name__}: {reason} (THRESHER_TRACEBACK=1 shows where)"


class _WarningPrinter:
    """Warnings as remarks of one line, each once; none when quiet."""

    def __init__(self, quiet: bool) -> None:
        self._quiet = quiet
        self._printed: set[str] = set()

    def __call__(self, message: Any, category: Any, *place: Any) -> None:
        sentence = " ".join(str(message).split())
        if not self._quiet and sentence[:60] not in self._printed:
            self._printed.add(sentence[:60])
            print(printable(sentence[:400]), file=sys.stderr)


def printable(text: str) -> str:
    """Text without characters that could control a terminal: names in files come from anywhere."""
    return "".join(c if c.isprintable() or c == "\n" else "?" for c in text)


def _refuse(sentence: str) -> int:
    print("thresher: " + printable(" ".join(sentence.split())), file=sys.stderr)
    return 2
