"""The questions as a form of ipywidgets."""

from __future__ import annotations

import functools
import html
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ._dialogue import DialogueAnswers, WizardQuestion, fill_page

if TYPE_CHECKING:
    from . import WizardForm

_WIDE = {"width": "90%"}


def show_form(form: WizardForm, questions: Sequence[WizardQuestion], more: Sequence[WizardQuestion]) -> FormWidgets:
    """Show the form in a notebook."""
    from IPython.display import display

    shown = FormWidgets(form, questions, more)
    display(shown.box)
    return shown


class FormWidgets:
    """The widgets of a form. Every answer may change the questions behind it, so that these are made anew."""

    def __init__(self, form: WizardForm, questions: Sequence[WizardQuestion], more: Sequence[WizardQuestion]) -> None:
        import ipywidgets

        self._made, self._form, self._questions, self._more = ipywidgets, form, questions, more
        self.typed: dict[str, str] = {}
        self.inputs: dict[str, Any] = {}
        self.wants_more = ipywidgets.Checkbox(description="More: everything that can be set", indent=False)
        self.button = ipywidgets.Button(description="Learn", button_style="primary")
        self.output = ipywidgets.Output()
        self.box = ipywidgets.VBox()
        self.wants_more.observe(lambda change: self._render(), "value")
        self.button.on_click(lambda button: self._learn())
        self._render()

    def _render(self) -> None:
        """Make the inputs for the answers so far."""
        self._answers = DialogueAnswers(self._form.files)
        asked = [*self._questions, *(self._more if self.wants_more.value else ())]
        page = fill_page(asked, self.typed, self._answers, {"file": self._form.path})
        self.inputs = {}
        parts: list[Any] = []
        for entry in page:
            self.inputs[entry["id"]] = self._input(entry)
            parts += [self._words(entry), self.inputs[entry["id"]], self._remark(entry["refusal"])]
        self.button.disabled = any(entry["refusal"] for entry in page)
        self.box.children = [*parts, self.wants_more, self.button, self.output]

    def _words(self, entry: dict[str, Any]) -> Any:
        table = f"<pre>{html.escape(entry['shows'])}</pre>" if entry["shows"] else ""
        explained = html.escape(entry["explanation"], quote=True)
        text, help_ = html.escape(entry["text"]), html.escape(entry["help"])
        return self._made.HTML(f'{table}<b title="{explained}">{text}</b><br>{help_}')

    def _remark(self, refusal: str) -> Any:
        return self._made.HTML(f"<i>{html.escape(refusal)}</i>" if refusal else "")

    def _input(self, entry: dict[str, Any]) -> Any:
        """An input for a question of any kind, which tells of its changes."""
        typed, names = entry["typed"] or entry["default"], [option["name"] for option in entry["options"]]
        if entry["kind"] == "columns":
            chosen = [name for name in names if name in _names_in(typed, names)]
            made = self._made.SelectMultiple(options=names, value=chosen, rows=min(10, len(names)), layout=_WIDE)
        elif entry["kind"] in ("choice", "column") and (typed in names or not typed):
            abouts = [" - ".join(filter(None, option.values())) for option in entry["options"]]
            pairs = list(zip(abouts, names, strict=True))
            pairs = pairs if typed else [("(please choose)", ""), *pairs]
            made = self._made.Dropdown(options=pairs, value=typed, layout=_WIDE)
        else:
            made = self._made.Combobox(
                options=names, value=typed, ensure_option=False, continuous_update=False, layout=_WIDE
            )
        made.observe(functools.partial(self._note, entry["id"]), "value")
        return made

    def _note(self, name: str, change: dict[str, Any]) -> None:
        value = change["new"]
        self.typed[name] = value if isinstance(value, str) else ", ".join(value) or "none"
        self._render()

    def _learn(self) -> None:
        self.output.clear_output()
        self.button.disabled = True
        with self.output:
            try:
                self._form.learn(self._answers, print)
            except (OSError, ValueError, MemoryError, ArithmeticError) as problem:
                print(" ".join(str(problem).split()))
        self.button.disabled = False


def _names_in(typed: str, names: Sequence[str]) -> set[str]:
    """The names of a list between commas, which the names may hold, too."""
    return {name for name in names if f", {name}, " in f", {typed}, "}
