"""A dialogue: questions that are data, answers that are checked, and a way back."""

from __future__ import annotations

import shutil
import textwrap
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

Say = Callable[[str], None]
Answers = dict[str, Any]

BACK, MORE = "back", "?"
_GO_BACK = object()
_WIDEST = 100


class Option(NamedTuple):
    """A possible answer: chosen by its number or by its name."""

    name: str
    value: Any
    about: str = ""


class Wrong(ValueError):
    """An answer that is not allowed; the message says in one sentence what is."""


@dataclass(frozen=True)
class Question:
    """One question. What depends on the data or on earlier answers is a function of both.

    Attributes
    ----------
    id : str
        Its name in files of answers.
    text : (data, answers) -> str
        The question.
    help : (data, answers) -> str
        One line in plain words.
    more : str
        What ``?`` shows.
    default : (data, answers) -> value
        What ENTER means.
    options : (data, answers) -> list of Option
        The answers to choose from; empty if any answer that `parse` understands is allowed.
    parse : (text, data, answers) -> value
        Reads an answer that is not one of the options; raises :class:`Wrong`.
    when : (data, answers) -> bool
        Whether the question makes sense.
    nothing : str
        How the answer None is written.
    spell : value -> str
        How an answer that is not one of the options is written.
    by_name_only : bool
        Whether a person is asked and files answer by its name, while mere lines of answers, which count questions, pass
        it over.
    """

    id: str
    text: Callable[[Any, Answers], str]
    help: Callable[[Any, Answers], str]
    more: str
    default: Callable[[Any, Answers], Any]
    options: Callable[[Any, Answers], Sequence[Option]] = field(default=lambda data, answers: ())
    parse: Callable[[str, Any, Answers], Any] | None = None
    when: Callable[[Any, Answers], bool] = field(default=lambda data, answers: True)
    nothing: str = ""
    spell: Callable[[Any], str] = str
    by_name_only: bool = False

    def read(self, text: str, data: Any, answers: Answers) -> Any:
        """The value that a typed answer means."""
        text = text.strip()
        options = self.options(data, answers)
        if not text:
            usual = self.default(data, answers)
            if usual is not None or self.nothing or any(option.value is None for option in options):
                return usual
        named = [option for option in options if option.name.lower() == text.lower()]
        numbered = [option for number, option in enumerate(options, start=1) if str(number) == text]
        if named or numbered:
            return (named or numbered)[0].value
        begun = [option for option in options if text and option.name.lower().startswith(text.lower())]
        if len(begun) == 1:
            return begun[0].value
        if self.parse is not None:
            return self.parse(text, data, answers)
        names = ", ".join(option.name for option in options)
        raise Wrong(f"Please answer with a number from 1 to {len(options)} or with one of {names}.")

    def write(self, value: Any, data: Any, answers: Answers) -> str:
        """A value as it could be typed."""
        names = [option.name for option in self.options(data, answers) if _equal(option.value, value)]
        if names:
            return names[0]
        return self.nothing if value is None else self.spell(value)


Ask = Callable[[Question, str], str]


def run_dialogue(
    questions: Sequence[Question],
    ask: Ask,
    say: Say,
    data: Any,
    given: dict[str, Any] | None = None,
    *,
    first: int = 1,
    strict: bool = False,
) -> Answers:
    """Ask the questions that make sense, in order; returns question id -> value.

    Parameters
    ----------
    questions : sequence of Question
    ask : callable
        Given a question and a prompt, returns what was typed. EOFError and KeyboardInterrupt go through.
    say : callable
        Shows a line of text.
    data : object
        Handed to every function of the questions.
    given : dict, optional
        Values for questions that are not to be asked.
    first : int
        Number of the first question.
    strict : bool
        Refuse an answer that is not allowed, instead of asking again; for answers that no person gives.

    Returns
    -------
    dict
    """
    answers: Answers = {}
    asked: list[int] = []  # places of the questions that were shown, for the way back
    place = 0
    while place < len(questions):
        question = questions[place]
        if not question.when(data, answers):
            place += 1
            continue
        if given is not None and question.id in given:
            answers[question.id] = given[question.id]
            place += 1
            continue
        value = _put(question, ask, say, data, answers, first + len(asked), strict)
        if value is not _GO_BACK:
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


def _put(question: Question, ask: Ask, say: Say, data: Any, answers: Answers, number: int, strict: bool) -> Any:
    """One question, until its answer is allowed."""
    default = question.write(question.default(data, answers), data, answers)
    say(f"\n{number}. {question.text(data, answers)}")
    say(paragraph(question.help(data, answers)))
    options = question.options(data, answers)
    short = [option.name for option in options] == ["yes", "no"]
    width = max((len(option.name) for option in options), default=0)
    for place, option in enumerate(() if short else options, start=1):
        say(f"   {place}) {option.name:<{width}}  {option.about}".rstrip())
    prompt = f"   {'yes/no ' * short}{f'[{default}] ' * bool(default)}> "
    while True:
        text = ask(question, prompt).strip()
        if text.lower() == BACK:
            return _GO_BACK
        is_label = MORE in [option.name for option in options]  # of the file
        if text == MORE and not is_label and not strict:
            say(paragraph(f"{question.more} ENTER takes what stands in brackets, `{BACK}` goes one question back."))
            continue
        try:
            return question.read(text, data, answers)
        except Wrong as refusal:
            if strict:
                raise ValueError(f"question {question.id!r}, answer {text!r}: {refusal}") from None
            say(paragraph(str(refusal)))


def paragraph(text: str) -> str:
    """Text in lines that fit the screen, set in from its edge."""
    width = max(40, min(_WIDEST, shutil.get_terminal_size((_WIDEST, 24)).columns))
    return textwrap.fill(text, width, initial_indent="   ", subsequent_indent="   ")


def _equal(a: Any, b: Any) -> bool:
    return type(a) is type(b) and bool(a == b)
