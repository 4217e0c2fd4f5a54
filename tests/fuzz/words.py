"""Whose words an error has: ours, or those of a library that was handed what nobody looked at."""

from __future__ import annotations

import linecache
import re
import tempfile
import traceback
from functools import cache
from pathlib import Path

import thresher

HOME = str(Path(thresher.__file__).parent)
LONGEST = 600  # characters of a sentence


class Finding(Exception):
    """Something that must not happen, in words."""


@cache
def _folder() -> tempfile.TemporaryDirectory[str]:
    return tempfile.TemporaryDirectory()


def scratch() -> Path:
    """A folder for the files of all cases, one after the other: a new one for each would take longer than the case."""
    return Path(_folder().name)


def is_ours(error: BaseException) -> bool:
    """Whether the error begins with a name of ours, or the last line that ran is ours and raised it itself."""
    if re.match(r"[A-Za-z_]\w+(, task \d+)?: ", str(error)):
        return True
    last = traceback.extract_tb(error.__traceback__)[-1]
    if not last.filename.startswith(HOME) or last.lineno is None:
        return False
    lines = [linecache.getline(last.filename, n) for n in range(last.lineno, (last.end_lineno or last.lineno) + 1)]
    return lines[0].strip().startswith("raise") or "_core." in "".join(lines)


def check(error: Exception, case: str) -> str:
    """A refusal is one sentence of ours; anything else is a finding."""
    said = str(error)
    good = isinstance(error, (ValueError, TypeError, FloatingPointError, OSError, KeyError))
    if not good or not is_ours(error) or "\n" in said or len(said) > LONGEST:
        last = traceback.extract_tb(error.__traceback__)[-1]
        where = f"{Path(last.filename).name}:{last.lineno}"
        raise Finding(f"{case[:160]}: {type(error).__name__}: {said[:300]} ({where})") from error
    return "refused"
