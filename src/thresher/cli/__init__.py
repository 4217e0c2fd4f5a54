"""The command line, over the public interface.

Results go to stdout, progress and remarks to stderr. Exit codes: 0 for success, 2 for an error in the input or the
options, 130 for an interrupt. Nothing heavy is imported before a command runs.
"""

from __future__ import annotations

import atexit
import gc
import importlib
import os
import shutil
import sys
import warnings
from collections.abc import Callable, Sequence
from typing import Any

import click

from ._option_words import in_options

__all__ = ["main"]

_COMMANDS = {
    "look": ("_look_command", "Show what a file holds, and how it is read."),
    "auto": ("_search_command", "Find, tune and explain a model for a file."),
    "train": ("_train_command", "Learn from files of any size, with checkpoints."),
    "predict": ("_predict_command", "Apply a model to files of any size."),
    "explain": ("_explain_command", "Explain the predictions of a model, row by row."),
    "serve": ("_serve_command", "Serve predictions over HTTP, and learn from new rows."),
    "tune": ("_search_command", "Tune the parameters of one method."),
    "compare": ("_compare_command", "Compare methods over repeated runs, with tests."),
    "lab": ("_lab_command", "Train models in a browser; no experience needed."),
    "wizard": ("_wizard_demo_commands", "Train a model by answering a few questions."),
    "inspect": ("_inspect_command", "Show a model file and the features that matter."),
    "card": ("_card_command", "Write a model card in Markdown."),
    "export": ("_export_command", "Write a model as ONNX, SQL, C or JSON."),
    "merge": ("_inspect_command", "Merge models trained on several machines."),
    "methods": ("_inspect_command", "List all methods, or the parameters of one."),
    "demo": ("_wizard_demo_commands", "Run an example on a generated stream."),
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
            raise click.UsageError(f"there is no command {args[0][:80]!r}; the commands are {', '.join(_COMMANDS)}.")
        return super().resolve_command(ctx, args)


@click.group(
    cls=_Lazy, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100, "show_default": True}
)
@click.version_option(package_name="thresher", prog_name="thresher")
def thresher() -> None:
    """Sparse models, and the features that matter, from files of any size.

    \b
      thresher look data.csv
      thresher auto data.csv --target income --report report.html
      thresher train x.svm.gz --method arow --test y.svm.gz --model m.thresher
      thresher predict m.thresher new.csv > predictions.csv
      thresher wizard data.csv
    """


def main(args: Sequence[str] | None = None) -> int:
    """Run the command line; returns the exit code."""
    typed = list(sys.argv[1:] if args is None else args)
    if args is None:  # the process is ours
        _start_and_end_quickly(runs_for_days=typed[:1] in (["serve"], ["lab"]))
    try:
        with warnings.catch_warnings():
            printer = _WarningPrinter("--quiet" in typed, lambda: option_names(typed))
            warnings.showwarning = printer  # type: ignore[assignment]
            result: Any = thresher.main(typed, prog_name="thresher", standalone_mode=False, obj=tuple(typed))
            sys.stdout.flush()
            return result if isinstance(result, int) else 0
    except click.exceptions.Exit as end:
        return end.exit_code
    except click.NoSuchOption as problem:
        files = [arg for arg in typed if arg.startswith("-") and os.path.exists(arg)]
        hint = f" To name the file {files[0]}, write {os.path.join(os.curdir, files[0])}." if files else ""
        return _refuse(problem.format_message() + hint)
    except click.ClickException as problem:
        return _refuse(problem.format_message())
    except (KeyboardInterrupt, click.exceptions.Abort) as stop:
        cause = stop.__context__ if isinstance(stop, click.exceptions.Abort) else stop  # click wraps one in the other
        print(f"Interrupted. {cause or ''}".rstrip(), file=sys.stderr)
        return 130
    except (BrokenPipeError, SystemExit):  # the reader of the output has closed it, as `head` does; click exits then
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except Exception as problem:
        if os.environ.get("THRESHER_TRACEBACK"):
            raise
        return _refuse(in_options(_reason(problem), option_names(typed)))


def _start_and_end_quickly(*, runs_for_days: bool) -> None:
    """Save CPU time at the start and the end of a process: of a small file, that is most of it.

    Idle threads of OpenBLAS spin for a tenth of a second, each on a core, before they sleep; here they do for 2^20
    cycles, which is less than a millisecond. Modules that are imported are no garbage, nor is what is alive at the end,
    and batches of rows leave none behind, so that it is searched for seldom.
    """
    os.environ.setdefault("OPENBLAS_THREAD_TIMEOUT", "20")
    if not runs_for_days:
        gc.set_threshold(100_000)
    atexit.register(gc.freeze)


def option_names(typed: Sequence[str]) -> dict[str, str]:
    """The options of the command that was typed, by the names that the library has for them."""
    command = thresher.get_command(click.Context(thresher), typed[0]) if typed else None
    options = [param for param in command.params if isinstance(param, click.Option)] if command else []
    flags = {param.opts[0]: str(param.name) for param in options if param.opts[0].startswith("--")}
    by_flag = {flag.removeprefix("--").replace("-", "_"): flag for flag in flags}
    return {name: flag for flag, name in flags.items() if "_" in name} | by_flag


def _reason(problem: Exception) -> str:
    """An error as one sentence for the user."""
    if isinstance(problem, OSError) and problem.strerror:
        return f"{problem.filename}: {problem.strerror}." if problem.filename else f"{problem.strerror}."
    reason = str(problem) or type(problem).__name__
    if isinstance(problem, (ValueError, OSError, MemoryError, ArithmeticError)):
        return reason
    return f"unexpected {type(problem).__name__}: {reason} (THRESHER_TRACEBACK=1 shows where)"


class _WarningPrinter:
    """Warnings as remarks of one line, each once; none when quiet."""

    def __init__(self, quiet: bool, options: Callable[[], dict[str, str]] = dict) -> None:
        self._quiet, self._options = quiet, options
        self._printed: set[str] = set()

    def __call__(self, message: Any, category: Any, *place: Any) -> None:
        sentence = " ".join(str(message).split())
        if not self._quiet and sentence[:60] not in self._printed:
            self._printed.add(sentence[:60])
            print(fitted_to_screen(in_options(sentence[:400], self._options())), file=sys.stderr)


def printable(text: str) -> str:
    """Text without characters that could control a terminal, because names in files are untrusted."""
    return "".join(c if c.isprintable() or c == "\n" else "?" for c in text)


def fitted_to_screen(text: str) -> str:
    """Text without such characters; on a terminal, in lines that break between words."""
    text = printable(text)
    if not sys.stderr.isatty():
        return text
    from .._figures import wrapped

    width = max(40, shutil.get_terminal_size().columns)
    return "\n".join(part for line in text.splitlines() for part in wrapped(line, width, later="  ") or [""])


def _refuse(sentence: str) -> int:
    print(fitted_to_screen("thresher: " + " ".join(sentence.split())), file=sys.stderr)
    return 2
