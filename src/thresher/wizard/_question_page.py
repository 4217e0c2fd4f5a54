"""The four questions about a file as a page asks them: all at once, the columns in a table of their own."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager

from ..training import Profile
from ._call import AutoCall, call_of
from ._data_file import DataFile, useless_columns
from ._dialogue import DialogueAnswers, InvalidAnswer, fill_page
from ._questions import QUESTIONS
from ._replies import check_left_out, reading_of

CHOSEN_KINDS = ("number", "category", "text")  # that a column can be made by a click


class QuestionPage:
    """The questions about a file that follow from what was answered so far.

    Parameters
    ----------
    file : DataFile
    typed : dict of str to str
        Answers as a person types them, by the id of the question; the default holds where there is none.
    left_out : list of str, optional
        Columns that are not used; by default those that tell nothing.
    kinds : dict of str to str
        What columns are, where that was corrected.

    Attributes
    ----------
    entries : list of dict
        The questions, as ``fill_page`` describes them, with ``refusal`` where an answer is not allowed.
    left_out : list of str
    """

    def __init__(
        self,
        file: DataFile,
        typed: Mapping[str, str],
        left_out: Sequence[str] | None = None,
        kinds: Mapping[str, str] | None = None,
    ) -> None:
        self.file, self.left_out = file, _usual(file) if left_out is None else list(left_out)
        kinds = {name: kind for name, kind in (kinds or {}).items() if name not in self.left_out}
        for name in (*self.left_out, *kinds):
            if name not in file.columns:
                raise ValueError(f"{name!r} is not a column of the file.")
        if wrong := [kind for kind in kinds.values() if kind not in CHOSEN_KINDS]:
            raise ValueError(f"A column can be made {', '.join(CHOSEN_KINDS)}, not {wrong[0]!r}.")
        self.answers = DialogueAnswers(lambda path: file, {"columns": kinds} if kinds else {})
        given = {"file": file.path, "drop": self.left_out}
        self.answers |= given
        if file.is_table:
            try:
                check_left_out(self.left_out, self.answers)
            except InvalidAnswer as refusal:
                raise ValueError(str(refusal)) from None
        with self._reading():
            self.entries = fill_page(QUESTIONS, typed, self.answers, given)

    @property
    def is_complete(self) -> bool:
        """Whether every question has an answer that is allowed."""
        return not any(entry["refusal"] for entry in self.entries)

    def profile(self) -> Profile:
        """Return the profile that ``thresher look`` shows, with the answers so far; it includes columns that are left
        out."""
        reading = {name: value for name, value in reading_of(self.answers).items() if name != "drop"}
        target = self.answers.get("target", self.file.usual_target)
        with self._reading():
            return self.file.profile(target if self.file.is_table else None, reading)

    @contextmanager
    def _reading(self) -> Iterator[None]:
        """Blame corrected kinds for a file that cannot be read, which could be without them."""
        try:
            yield
        except ValueError:
            if not self.answers.get("columns"):
                raise
            kinds = ", ".join(f"{name} as {kind}" for name, kind in self.answers["columns"].items())
            raise ValueError(f"No row can be read with {kinds}; choose other kinds.") from None

    def call(self) -> AutoCall:
        """The call of ``thresher.auto`` that the answers stand for."""
        return call_of(self.answers)


def _usual(file: DataFile) -> list[str]:
    return [name for name in useless_columns(file) if name != file.usual_target] if file.is_table else []
