"""Sources of answers: a person, lines of text or a file."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, TextIO

from ._dialogue import Ask, WizardQuestion


def from_person(out: TextIO) -> Ask:
    """Asks on the terminal; where there is none, lines of standard input are answers."""

    def ask(question: WizardQuestion, prompt: str) -> str:
        if sys.stdin.isatty() and out is sys.stdout:
            return input(prompt)
        print(prompt, end="", file=out, flush=True)
        if question.by_name_only and not sys.stdin.isatty():
            print(file=out)
            return ""
        line = sys.stdin.readline()
        if not line:
            raise EOFError
        if not sys.stdin.isatty():
            print(line.rstrip("\n"), file=out)
        return line

    return ask


def from_file(path: str, known: Sequence[str]) -> Ask:
    """Answers from a file: a JSON object of question to answer, or text with one answer per line."""
    text = Path(path).read_text(encoding="utf-8")
    if text.lstrip().startswith("{"):
        try:
            answers = json.loads(text)
        except json.JSONDecodeError as problem:
            raise ValueError(f"{Path(path).name}: not JSON, {problem}.") from None
        return from_dict(answers, known, Path(path).name)
    return from_lines([line for line in text.splitlines() if not line.lstrip().startswith("#")])


def from_dict(answers: Mapping[str, Any], known: Sequence[str], where: str = "answers") -> Ask:
    """Answers by the name of the question; the default where there is none."""
    for name in answers:
        if name not in known:
            raise ValueError(f"{where}: there is no question {name!r}; the questions are {', '.join(known)}.")
    return lambda question, prompt: _typed(answers.get(question.id))


def from_lines(lines: Sequence[str]) -> Ask:
    """Answers one after the other, then defaults."""
    left = iter(lines)
    return lambda question, prompt: "" if question.by_name_only else next(left, "")


def _typed(answer: Any) -> str:
    """An answer as it would be typed."""
    return {None: "", True: "yes", False: "no"}[answer] if answer is None or isinstance(answer, bool) else str(answer)
