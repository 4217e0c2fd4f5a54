"""Sentences that describe how a table is read."""

from __future__ import annotations

import shlex
from typing import Any

_FLAGS = {"text_columns": "--text"}
_MOST_SHOWN = 5


def remarks_on_reading(understood: Any) -> list[str]:
    """Return remarks for the user before training: an unusual encoding, columns left out, and ambiguities."""
    if understood is None:
        return []
    remarks = []
    if understood.encoding not in (None, "utf-8"):
        remarks.append(f"The text is read as {understood.encoding}; --encoding chooses another encoding.")
    left_out = {name: found.note for name, found in understood.columns.items() if found.reading.kind == "identifier"}
    if left_out:
        shown = ", ".join(f"{name} ({why})" for name, why in [*left_out.items()][:_MOST_SHOWN])
        more = f" and {len(left_out) - _MOST_SHOWN} more" if len(left_out) > _MOST_SHOWN else ""
        remarks.append(f"Left out: {shown}{more}; --keep-identifiers keeps such columns.")
    return [*remarks, *doubts_of(understood)]


def doubts_of(understood: Any) -> list[str]:
    """A sentence for each column that may be read in another way, with the option that does."""
    sentences = []
    for found in understood.columns.values():
        if found.doubt:
            name, value = found.option
            sentences.append(f"{found.doubt}; {flag_of(name)} {shlex.quote(value)} reads it the other way.")
    return sentences


def flag_of(parameter: str) -> str:
    """The option of the command line for a parameter of ``open_stream``."""
    return _FLAGS.get(parameter, f"--{parameter.replace('_', '-')}")
