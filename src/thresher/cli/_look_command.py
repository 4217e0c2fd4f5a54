"""``thresher look``: what a file holds, how it is read, and warnings about its columns and rows."""

from __future__ import annotations

import re
import shlex
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click

from . import _options as common
from ._columns_file import columns_file
from ._method_options import own_options
from ._option_words import in_options
from ._options import COUNT, FILE, check_data, files, option, stream_options
from ._screen import Screen
from ._understood import flag_of

_PIPED_WIDTH = 100
_MOST_OPTIONS = 3


@click.command()
@common.data_options
@option("--rows", COUNT, "Rows to read (default: all, or the first 64 MB of a large file).")
@option("--report report_path", FILE, "Where to write the profile as a page with histograms: .html.")
@option("--write write_path", FILE, "Where to write how columns are read, as a file to edit and pass to --columns.")
@common.output_options
def look(
    data: tuple[str, ...],
    rows: int | None,
    report_path: Path | None,
    write_path: Path | None,
    as_json: bool,
    quiet: bool,
    **given: Any,
) -> None:
    """Show what DATA holds: kinds of columns, missing values, classes, and warnings.

    No model is trained. Each warning names the option that changes how the file is read.
    """
    from .._output import write_whole
    from ..training import profile

    check_data(data, given)
    _check_places(data, report_path, write_path)
    stream = _opened(data, given)
    columns = None if write_path is None else columns_file(stream, given, shlex.quote(str(write_path)))
    found = profile(stream, rows=rows)
    remarks = _Remarks(stream)
    written = {}
    if report_path is not None:
        from ..report import profile_page

        sizes = [{"name": path.name, "bytes": path.stat().st_size if path.is_file() else None} for path in stream.paths]
        page = profile_page(found, _title(stream), sizes, remarks.sentence)
        write_whole(report_path, page.encode("utf-8", "replace"))
        written["report"] = str(report_path)
    if write_path is not None and columns is not None:
        write_whole(write_path, columns.encode())
        written["columns"] = str(write_path)
    screen = Screen(as_json, quiet)
    if as_json:
        screen.result("", found.to_dict() | {"files": list(map(str, stream.paths)), "written": written})
    else:
        lines = [
            *_lines(found, stream, given, remarks),
            *(f"{what} written to {path}" for what, path in written.items()),
        ]
        screen.result("\n".join(lines), {})


def _check_places(data: tuple[str, ...], report_path: Path | None, write_path: Path | None) -> None:
    for path in (report_path, write_path):
        if path is not None:
            common.check_folder(path)
            if path.resolve() in {Path(name).resolve() for name in data}:
                raise ValueError(f"{path}: this file is an input; choose another name.")
    if report_path is not None and report_path.suffix.lower() != ".html":
        raise ValueError(f"--report must end in .html, got {str(report_path)!r}.")
    if write_path is not None and write_path.exists():
        raise FileExistsError(f"{write_path}: the file exists, and you may have changed it; name another one.")


def _opened(data: tuple[str, ...], given: dict[str, Any]) -> Any:
    """The stream, its malformed lines passed over; without a target if none is named and the last column is none."""
    from ..streams import open_stream

    options = stream_options(data, given, None) | {"skip_malformed": True}
    try:
        return open_stream(files(data), **options)
    except ValueError:
        if given["target"] is not None:
            raise
        try:
            return open_stream(files(data), **options | {"target": None})
        except ValueError:
            pass
        raise


def _title(stream: Any) -> str:
    more = f" and {len(stream.paths) - 1} more" if len(stream.paths) > 1 else ""
    return f"{stream.path.name}{more}"


class _Remarks:
    """Doubts and warnings as sentences, with the options of the command line that answer them."""

    def __init__(self, stream: Any) -> None:
        self._names = list(stream.columns or ())

    def sentence(self, remark: Any) -> str:
        options, says = self.options(remark), self.says(remark)
        return f"{says}: {options}" if options else f"{says}."

    @staticmethod
    def says(remark: Any) -> str:
        return in_options(remark.says, own_options())

    def options(self, remark: Any) -> str:
        """Return options to add to a command, quoted for the shell."""
        if remark.option is None:
            return ""
        if isinstance(remark.option, tuple):  # of a doubt
            name, value = remark.option
            return f"{flag_of(name)} {self._quoted(value)}"
        columns = getattr(remark, "columns", ())
        if not columns:
            return flag_of(remark.option)
        more = " ..." if len(columns) > _MOST_OPTIONS else ""
        return " ".join(f"{flag_of(remark.option)} {self._quoted(name)}" for name in columns[:_MOST_OPTIONS]) + more

    def _quoted(self, name: str) -> str:
        if (re.fullmatch(r"-?\d+", name) or name == "none") and name in self._names:
            return str(self._names.index(name))  # numbers are places, and "none" is not a column
        return shlex.quote(name)


def _lines(found: Any, stream: Any, given: dict[str, Any], remarks: _Remarks) -> Iterator[str]:
    from .._figures import plural, quoted, wrapped
    from ..report import columns_as_text, file_in_words, target_in_words, text_in_words

    width = shutil.get_terminal_size((_PIPED_WIDTH, 24)).columns if sys.stdout.isatty() else _PIPED_WIDTH
    size = file_in_words([path.name for path in stream.paths], stream.n_bytes)
    about = f"{size}: {found.rows_in_words}, {plural(found.n_columns, 'column')}. {text_in_words(found)}"
    yield from wrapped(about, width)
    yield ""
    yield columns_as_text(found, width)
    yield ""
    if found.target is not None:
        named = " (the last column; --target chooses another)" if given["target"] is None and stream.columns else ""
        yield from wrapped(f"Target {quoted(found.target)}{named}: {target_in_words(found)}.", width)
    elif given["target"] is None:
        yield "No column is used as the target; --target chooses one."
    for title, some in (("Not certain", found.doubts), ("Warnings", found.warnings)):
        if some:
            yield from ("", title)
        for remark in some:
            options = remarks.options(remark)
            says = remarks.says(remark) + ("" if options else ".")
            yield from wrapped(says, width, "  - ")
            if options:
                yield f"      {options}"
