"""A dialogue: questions that are data, answers that are checked, a way back, and the sources of answers."""

from __future__ import annotations

import json
import shutil
import sys
import textwrap
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple, TextIO

BACK, MORE = "back", "?"
_GO_BACK = object()
_WIDEST = 100


class Option(NamedTuple):
    """A possible answer: chosen by its number or by its name."""

    name: str
    value: Any
    about: str = ""


class InvalidAnswer(ValueError):
    """An answer that is not allowed; the message says in one sentence what is."""


class DialogueAnswers(dict[str, Any]):
    """Answers by the id of the question; `data` is the subject of the questions."""

    def __init__(self, data: Any = None, answers: Mapping[str, Any] = {}) -> None:
        super().__init__(answers)
        self.data = data


@dataclass(frozen=True)
class WizardQuestion:
    """One question; its text, help, default and options may be functions of the answers so far."""

    id: str  # its name in files of answers
    text: str | Callable[[DialogueAnswers], str]
    help: str | Callable[[DialogueAnswers], str]  # one line
    more: str  # for `?`
    default: Any = None  # the meaning of ENTER
    options: Sequence[Option] | Callable[[DialogueAnswers], Sequence[Option]] = ()
    parse: Callable[[str, DialogueAnswers], Any] | None = None  # reads other answers; raises InvalidAnswer
    when: Callable[[DialogueAnswers], bool] = lambda answers: True  # whether the question makes sense
    nothing: str = ""  # the text for the answer None
    spell: Callable[[Any], str] = str  # the text for an answer that is not one of the options
    by_name_only: bool = False  # files of mere lines, which count questions, pass it over

    def get(self, name: str, answers: DialogueAnswers) -> Any:
        """The text, help, default or options after these answers."""
        value = getattr(self, name)
        return value(answers) if callable(value) else value

    def read(self, text: str, answers: DialogueAnswers) -> Any:
        """The value that a typed answer means."""
        text = text.strip()
        options: Sequence[Option] = self.get("options", answers)
        if not text:
            default = self.get("default", answers)
            if default is not None or self.nothing or any(option.value is None for option in options):
                return default
        option = _chosen(text, options)
        if option is not None:
            return option.value
        if self.parse is not None:
            return self.parse(text, answers)
        names = ", ".join(option.name for option in options)
        raise InvalidAnswer(f"Please answer with a number from 1 to {len(options)} or with one of {names}.")

    def write(self, value: Any, answers: DialogueAnswers) -> str:
        """A value as it could be typed."""
        for option in self.get("options", answers):
            if type(option.value) is type(value) and option.value == value:
                return str(option.name)
        return self.nothing if value is None else self.spell(value)


def _chosen(text: str, options: Sequence[Option]) -> Option | None:
    """The option of a name, of a number, or the only one that begins like this."""
    names = {option.name.lower(): option for option in options}
    numbers = {str(number): option for number, option in enumerate(options, start=1)}
    begun = [option for name, option in names.items() if text and name.startswith(text.lower())]
    return names.get(text.lower()) or numbers.get(text) or (begun[0] if len(begun) == 1 else None)


Ask = Callable[[WizardQuestion, str], str]
Say = Callable[[str], None]


def run_dialogue(
    questions: Sequence[WizardQuestion],
    ask: Ask,
    say: Say,
    data: Any,
    given: Mapping[str, Any] = {},
    *,
    first: int = 1,
    strict: bool = False,
) -> DialogueAnswers:
    """Ask the questions that make sense, in order, except those whose values are `given`; returns id -> value.

    `data` is the subject of the questions; `first` the number of the first one. With `strict`, for answers that no
    person gives, an answer that is not allowed is an error. EOFError and KeyboardInterrupt of `ask` go through.
    """
    answers = DialogueAnswers(data)
    asked: list[int] = []  # places of the questions that were shown, for the way back
    place = 0
    while place < len(questions):
        question = questions[place]
        if not question.when(answers):
            place += 1
        elif question.id in given:
            answers[question.id] = given[question.id]
            place += 1
        elif (value := _put(question, ask, say, answers, first + len(asked), strict)) is not _GO_BACK:
            answers[question.id] = value
            asked.append(place)
            place += 1
        elif asked:
            place = asked.pop()
            for later in questions[place:]:
                answers.pop(later.id, None)
        else:
            say("This is the first question.")
    return answers


def _put(question: WizardQuestion, ask: Ask, say: Say, answers: DialogueAnswers, number: int, strict: bool) -> Any:
    """One question, until its answer is allowed."""
    options = question.get("options", answers)
    prompt = _show(question, options, say, answers, number)
    is_label = MORE in [option.name for option in options]  # of the file
    while True:
        text = ask(question, prompt).strip()
        if text.lower() == BACK:
            return _GO_BACK
        if text == MORE and not is_label and not strict:
            say(paragraph(f"{question.more} ENTER takes the answer in brackets, `{BACK}` goes one question back."))
            continue
        try:
            return question.read(text, answers)
        except InvalidAnswer as refusal:
            if strict:
                raise ValueError(f"question {question.id!r}, answer {text!r}: {refusal}") from None
            say(paragraph(str(refusal)))


def _show(question: WizardQuestion, options: Sequence[Option], say: Say, answers: DialogueAnswers, number: int) -> str:
    """Show a question with its options; returns the prompt."""
    say(f"\n{number}. {question.get('text', answers)}")
    say(paragraph(question.get("help", answers)))
    default = question.write(question.get("default", answers), answers)
    brackets = f"[{default}] " if default else ""
    if [option.name for option in options] == ["yes", "no"]:
        return f"   yes/no {brackets}> "
    width = max((len(option.name) for option in options), default=0)
    for place, option in enumerate(options, start=1):
        say(f"   {place}) {option.name:<{width}}  {option.about}".rstrip())
    return f"   {brackets}> "


def paragraph(text: str) -> str:
    """Text in lines that fit the screen, indented."""
    width = max(40, min(_WIDEST, shutil.get_terminal_size((_WIDEST, 24)).columns))
    return textwrap.fill(text, width, initial_indent="   ", subsequent_indent="   ")


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
