"""Sentences of the library in the words of the command line: parameters of Python become options."""

from __future__ import annotations

import ast
import re
import shlex
from collections.abc import Mapping
from typing import Any

_LITERAL = r"\[[^\]]*\]|'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\"|-?\d[\w.]*|True|False|None"
_CALL = r"(\w+\([^()]*\))"  # a model with its parameters stays what it is
_BEFORE = r"(?<![\w.\-/'\"`=])"  # not within another word, a quote or an option


def in_options(sentence: str, options: Mapping[str, str]) -> str:
    """Write parameters in a sentence as options, quoted for a shell.

    Parameters
    ----------
    sentence : str
        ``"leave it out (drop=['No client'])"`` becomes ``"leave it out (--drop 'No client')"``. A name without a value
        is replaced if it can be no other word: before ``=``, behind the name of a function, or if it has an underscore.
    options : mapping of str to str
        Flags by the names of parameters.
    """
    if not options:
        return sentence

    def behind_colon(found: re.Match[str]) -> str:
        before, name = (found[1], found[2]) if found[1] else (found[3], found[4])
        return before + options[name]

    names = "|".join(sorted(map(re.escape, options), key=len, reverse=True))
    rules = (
        (rf"{_BEFORE}({names})=({_LITERAL})", lambda found: _with_value(options[found[1]], found[2])),
        (rf"{_BEFORE}({names})=(?!\w)", lambda found: options[found[1]]),
        (rf"^(\w+: )({names})(?= )|(: )({names})(?= must )", behind_colon),
        (rf"\b(in|or|and|with) ({names})(?=[.,;]| or | and )", lambda found: f"{found[1]} {options[found[2]]}"),
        (rf"{_BEFORE}({names})\b(?![=\w'\"])", lambda found: options[found[1]] if "_" in found[1] else found[0]),
    )
    parts = re.split(_CALL, sentence)  # text, a call, text, ...
    for pattern, write in rules:
        parts[::2] = [re.sub(pattern, write, part) for part in parts[::2]]
    return "".join(parts)


def _with_value(flag: str, text: str) -> str:
    """An option with its value, or once for each of several values."""
    value = ast.literal_eval(text)
    if isinstance(value, bool):
        return flag if value else f"--no-{flag.removeprefix('--')}"
    values: list[Any] = value if isinstance(value, list) else [value]
    return " ".join(f"{flag} {shlex.quote(str(each))}" for each in values)
