"""A dialogue: questions that are data, answers that are checked, a way back, and the sources of answers."""

from __future__ import annotations

import builtins
import json
import shutil
import sys
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import field
from pathlib import Path
from typing import Any, NamedTuple, TextIO

from .._dataclasses import dataclass
from .._figures import short, wrapped

BACK, EXPLAIN, MORE = "back", "?", "more"
_GO_BACK = object()
_WIDEST = 80
_LONGEST = 60  # default in brackets


class Option(NamedTuple):
    """A possible answer: chosen by its name, or by its number if the question is a choice."""

    name: str
    value: Any
    about: str = ""


class InvalidAnswer(ValueError):
    """An answer that is not allowed; the message says in one sentence what is."""


class DialogueAnswers(dict[str, Any]):
    """Answers by the id of the question; `data` is the subject of the questions, and `places` finds names for files of
    results, by what they hold."""

    def __init__(
        self,
        data: Any = None,
        answers: Mapping[str, Any] = {},
        places: Callable[[DialogueAnswers], dict[str, str]] = lambda answers: {},
    ) -> None:
        super().__init__(answers)
        self.data, self.places = data, places


@dataclass(frozen=True)
class WizardQuestion:
    """One question; its text, help, default and options may be functions of the answers so far.

    Questions say nothing of where they are asked: a terminal, a notebook or a page shows what :meth:`describe` returns,
    and hands typed text to :meth:`read`.
    """

    id: str  # its name in files of answers
    step: str  # questions of one step have one number; those of the step "more" are asked on request
    kind: str  # "choice" of an option, "column", "columns", or "words": typed text, for which options are usual answers
    text: str | Callable[[DialogueAnswers], str]
    help: str | Callable[[DialogueAnswers], str]  # one sentence or two
    explanation: str  # for `?`
    default: Any = None  # the meaning of ENTER
    options: Sequence[Option] | Callable[[DialogueAnswers], Sequence[Option]] = ()
    parse: Callable[[str, DialogueAnswers], Any] | None = None  # reads other answers; raises InvalidAnswer
    check: Callable[[Any, DialogueAnswers], None] | None = None  # of any answer; raises InvalidAnswer
    when: Callable[[DialogueAnswers], bool] = lambda answers: True  # whether the question makes sense
    shows: Callable[[DialogueAnswers], str] | None = None  # text before the question
    nothing: str = ""  # the text for the answer None
    spell: Callable[[Any], str] = str  # the text for an answer that is not one of the options

    def get(self, name: str, answers: DialogueAnswers) -> Any:
        """The text, help, default, options or what is shown, after these answers."""
        value = getattr(self, name)
        return value(answers) if callable(value) else value

    def describe(self, answers: DialogueAnswers) -> dict[str, Any]:
        """All that is needed to show the question after these answers, as plain values."""
        options = [{"name": option.name, "about": option.about} for option in self.get("options", answers)]
        shown = {name: self.get(name, answers) for name in ("text", "help", "shows")}
        default = self.write(self.get("default", answers), answers)
        about = {"id": self.id, "step": self.step, "kind": self.kind, "explanation": self.explanation}
        return {**about, **shown, "options": options, "default": default}

    def read(self, text: str, answers: DialogueAnswers) -> Any:
        """The value that a typed answer means."""
        value = self._meant(text.strip(), answers)
        if self.check is not None:
            self.check(value, answers)
        return value

    def _meant(self, text: str, answers: DialogueAnswers) -> Any:
        options: Sequence[Option] = self.get("options", answers)
        if not text:
            default = self.get("default", answers)
            if default is not None or self.nothing or any(option.value is None for option in options):
                return default
        option = None if self.kind == "columns" else _chosen(text, options, by_number=self.kind == "choice")
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


def _chosen(text: str, options: Sequence[Option], by_number: bool) -> Option | None:
    """The option of a name, of a number, or the only one that begins like this."""
    exact = {option.name: option for option in options}
    names = {option.name.lower(): option for option in options}
    numbers = {str(number): option for number, option in enumerate(options, start=1)} if by_number else {}
    begun = [option for name, option in names.items() if text and name.startswith(text.lower())]
    return exact.get(text) or names.get(text.lower()) or numbers.get(text) or (begun[0] if len(begun) == 1 else None)


Ask = Callable[[WizardQuestion, str], str]
Say = Callable[[str], None]


class AnswerSource(NamedTuple):
    """Source of answers."""

    ask: Ask
    named: Collection[str] = ()  # questions that are answered by name, also those that are asked on request
    strict: bool = False  # whether an answer that is not allowed is an error, because there is no user to correct it


@dataclass
class Dialogue:
    """Questions that are asked one after the other, and the answers so far."""

    questions: Sequence[WizardQuestion]
    source: AnswerSource
    say: Say
    answers: DialogueAnswers
    given: Mapping[str, Any] = field(default_factory=dict)  # answers that are not asked for
    wants_more: bool = False

    def run(self) -> DialogueAnswers:
        """Ask the questions that make sense. EOFError and KeyboardInterrupt of the source go through."""
        asked: list[int] = []  # places of the questions that were shown, for the way back
        place = 0
        while place < len(self.questions):
            question = self.questions[place]
            if question.id in self.given:
                self.answers[question.id] = self.given[question.id]
            elif self._is_wanted(question):
                value = self._put(question, [self.questions[k] for k in asked])
                if value is _GO_BACK:
                    place = self._back_to(asked, place)
                    continue
                self.answers[question.id] = value
                asked.append(place)
            place += 1
        return self.answers

    def _is_wanted(self, question: WizardQuestion) -> bool:
        asked_for = question.step != MORE or self.wants_more or question.id in self.source.named
        return asked_for and question.when(self.answers)

    def _back_to(self, asked: list[int], place: int) -> int:
        if not asked:
            self.say("This is the first question.")
            return place
        place = asked.pop()
        for later in self.questions[place:]:
            self.answers.pop(later.id, None)
        return place

    def _put(self, question: WizardQuestion, before: Sequence[WizardQuestion]) -> Any:
        """One question, until its answer is allowed."""
        shown = question.describe(self.answers)
        prompt = _show(shown, _number([*before, question]), self.say)
        names = {option["name"] for option in shown["options"]}  # labels of the file are not commands
        while True:
            text = self.source.ask(question, prompt).strip()
            if text.lower() == BACK and BACK not in names:
                return _GO_BACK
            if text.lower() == MORE and MORE not in names:
                self.wants_more = True
                self.say(paragraph("Further settings come after these questions. Please answer this one first:"))
            elif text == EXPLAIN and EXPLAIN not in names and not self.source.strict:
                self.say(paragraph(f"{question.explanation} ENTER takes the answer in brackets, `{BACK}` goes back."))
            else:
                try:
                    return question.read(text, self.answers)
                except InvalidAnswer as refusal:
                    if self.source.strict:
                        raise ValueError(f"question {question.id!r}, answer {text!r}: {refusal}") from None
                    self.say(paragraph(str(refusal)))


def fill_page(
    questions: Sequence[WizardQuestion], typed: Mapping[str, str], answers: DialogueAnswers, given: Mapping[str, Any]
) -> list[dict[str, Any]]:
    """The questions as a page shows them that has all of them at once, with what was typed so far.

    Each is described by :meth:`WizardQuestion.describe`, with ``typed`` and, if that is not allowed, ``refusal``.
    Questions that follow a refused answer are left out, because they may depend on it. `answers` is filled.
    """
    page = []
    for question in questions:
        if question.id in given:
            answers[question.id] = given[question.id]
        elif question.when(answers):
            entry = {**question.describe(answers), "typed": typed.get(question.id, ""), "refusal": ""}
            page.append(entry)
            try:
                answers[question.id] = question.read(entry["typed"], answers)
            except InvalidAnswer as refusal:
                entry["refusal"] = str(refusal)
                break
    return page


def _number(asked: Sequence[WizardQuestion]) -> str:
    """The number of the last question: that of its step, with a letter from the second question of the step on."""
    steps = [question.id if question.step == MORE else question.step for question in asked]
    n_before = steps.count(steps[-1]) - 1
    return f"{len(set(steps))}{chr(ord('a') + n_before) if n_before else ''}"


def _show(question: Mapping[str, Any], number: str, say: Say) -> str:
    """Show a question with its options; returns the prompt."""
    say("")
    if question["shows"]:
        say(f"{question['shows']}\n")
    width, first = screen_width(), f"{number}. "
    say("\n".join(wrapped(question["text"], width, first)))
    say(paragraph(question["help"]))
    options = question["options"] if question["kind"] in ("choice", "words") else []
    longest = max((len(option["name"]) for option in options), default=0)
    for place, option in enumerate(options, start=1):
        mark = f"{place}) " if question["kind"] == "choice" else ""
        begin = f"   {mark}{option['name']:<{longest}}  "
        say("\n".join(wrapped(option["about"], width, begin)) or begin.rstrip())
    return f"   [{short(question['default'], _LONGEST)}] > " if question["default"] else "   > "


def screen_width() -> int:
    return max(40, min(_WIDEST, shutil.get_terminal_size((_WIDEST, 24)).columns))


def paragraph(text: str) -> str:
    """Text in lines that fit the screen, indented."""
    return "\n".join(wrapped(text, screen_width(), "   "))


def from_person(out: TextIO) -> AnswerSource:
    """Asks on the terminal or in a notebook; where there is neither, lines of standard input are answers."""

    def ask(question: WizardQuestion, prompt: str) -> str:
        if (sys.stdin.isatty() or hasattr(builtins, "__IPYTHON__")) and out is sys.stdout:
            return input(prompt)
        print(prompt, end="", file=out, flush=True)
        line = sys.stdin.readline()
        if not line:
            raise EOFError
        if not sys.stdin.isatty():
            print(line.rstrip("\n"), file=out)
        return line

    return AnswerSource(ask)


def from_file(path: str, known: Sequence[str]) -> AnswerSource:
    """Answers from a file: a JSON object of question to answer, or text with one answer per line."""
    text = Path(path).read_text(encoding="utf-8")
    if text.lstrip().startswith("{"):
        try:
            answers = json.loads(text)
        except json.JSONDecodeError as problem:
            raise ValueError(f"{Path(path).name}: not JSON, {problem}.") from None
        return from_dict(answers, known, Path(path).name)
    return from_lines([line for line in text.splitlines() if not line.lstrip().startswith("#")])


def from_dict(answers: Mapping[str, Any], known: Sequence[str], where: str = "answers") -> AnswerSource:
    """Answers by the name of the question; the default where there is none."""
    for name in answers:
        if name not in known:
            raise ValueError(f"{where}: there is no question {name!r}; the questions are {', '.join(known)}.")
    return AnswerSource(lambda question, prompt: _typed(answers.get(question.id)), frozenset(answers), strict=True)


def from_lines(lines: Sequence[str]) -> AnswerSource:
    """Answers one after the other, then defaults."""
    left = iter(lines)
    return AnswerSource(lambda question, prompt: next(left, ""), strict=True)


def _typed(answer: Any) -> str:
    """An answer as it would be typed."""
    if isinstance(answer, list | tuple):
        return ", ".join(map(str, answer))
    return {None: "", True: "yes", False: "no"}[answer] if answer is None or isinstance(answer, bool) else str(answer)
