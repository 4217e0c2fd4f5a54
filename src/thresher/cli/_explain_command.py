"""``thresher explain``: the reasons for the predictions of a model for some rows of a file."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from ._options import Integer, files, grouped, option, output_options, reading_options
from ._predict_command import checked_record
from ._report_output import same_stream_options
from ._screen import Screen

_MOST_COMPARED = 10_000  # rows that tell the range of columns
_WIDTH = 80
_FOR_COLUMNS = " For parts of columns, use thresher auto --kernel linear, or thresher train --splines."

explain_options = grouped(
    option("--row rows", Integer(1), "A row to explain, counted from 1; may be repeated.", multiple=True),
    option("--n-parts", Integer(1), "Parts of a score to list.", default=8),
    option("--keep", str, "A column that must not change; may be repeated.", multiple=True),
)


@click.command()
@click.argument("model_path", metavar="MODEL", type=click.Path(path_type=Path))
@click.argument("data", nargs=-1, required=True)
@explain_options
@reading_options
@output_options
def explain(
    model_path: Path,
    data: tuple[str, ...],
    rows: tuple[int, ...],
    n_parts: int,
    keep: tuple[str, ...],
    as_json: bool,
    quiet: bool,
    **given: Any,
) -> None:
    """Explain the predictions of MODEL for some rows of DATA.

    For each row: the prediction, the columns that speak for and against it, and the smallest change of one to three
    columns that would change it. Without --row, the first row is explained.
    """
    from ..persistence import load_model
    from ..streams import open_stream

    model = load_model(model_path)
    stream = open_stream(files(data), **same_stream_options(given, checked_record(model)))
    found = [_Explained(model, n_parts, keep, row, *read) for row, read in _read(stream, rows or (1,)).items()]
    text = "\n\n".join(each.text() for each in found)
    Screen(as_json, quiet).result(text, {"rows": [each.data() for each in found]})


def _read(stream: Any, wanted: tuple[int, ...]) -> dict[int, tuple[Any, Any, Any]]:
    """Each wanted row, its target, and the first rows of the file."""
    rows: dict[int, tuple[Any, Any]] = {}
    first, n_before = None, 0
    for batch in stream.batches():
        first = batch.X[:_MOST_COMPARED] if first is None else first
        for row in wanted:
            place = row - 1 - n_before
            if 0 <= place < len(batch):
                rows[row] = batch.X[place : place + 1], None if batch.y is None else batch.y[place]
        n_before += len(batch)
        if len(rows) == len(set(wanted)):
            break
    for row in wanted:
        if row not in rows:
            raise ValueError(f"--row must be a row of the file, which has {n_before:,} rows, got {row}.")
    return {row: (*rows[row], first) for row in wanted}


class _Explained:
    """One row: what is said of it, as text and as data."""

    def __init__(
        self, model: Any, n_parts: int, keep: tuple[str, ...], row: int, X: Any, target: Any, first: Any
    ) -> None:
        from ..inspection import reasons

        self._model, self._n_parts, self._row = model, n_parts, row
        self._reasons = reasons(model, X)[0]
        self._target = target
        self._change = self._changed_row(X, first, keep)

    def _changed_row(self, X: Any, first: Any, keep: tuple[str, ...]) -> Any:
        from .._gate import sparse
        from ..inspection import smallest_change

        self._searched = self._reasons.against is not None and not sparse.issparse(X)
        if not self._searched:  # a value is not a decision, and there are no small changes of a text
            return None
        return smallest_change(self._model, X, first, keep=keep)

    def data(self) -> dict[str, Any]:
        found = self._reasons
        data: dict[str, Any] = {"row": self._row, "answer": found.answer, "probability": found.probability}
        data["needed"] = found.needed
        if self._target is not None:
            data["target"] = self._target
        data |= {"against": found.against, "score": found.score, "baseline": found.baseline}
        data["parts"] = [{"column": p.name, "value": p.value, "part": p.part} for p in found.parts]
        if self._change is not None:
            columns = {name: {"now": now, "then": then} for name, (now, then) in self._change.columns.items()}
            data["change"] = {"columns": columns, "answer": self._change.after, "probability": self._chance_after()}
        return data

    def _chance_after(self) -> float | None:
        if not hasattr(self._model, "predict_proba"):
            return None
        classes = self._model.classes_.tolist()
        return float(self._model.predict_proba(self._change.row)[0][classes.index(self._change.after)])

    def text(self) -> str:
        from .._figures import wrapped

        lines = [*wrapped(self._opening(), _WIDTH), "", *self._parts()]
        if self._reasons.meaning:
            lines += ["", *wrapped(self._reasons.meaning + _FOR_COLUMNS * self._reasons.of_rows, _WIDTH)]
        if self._change is not None:
            lines += ["", *wrapped(self._other_answer(), _WIDTH)]
        elif self._reasons.against is not None and self._searched:
            sentence = "No change of up to three columns within the range of the file leads to another answer."
            lines += ["", *wrapped(sentence, _WIDTH)]
        return "\n".join(lines)

    def _opening(self) -> str:
        from .._figures import number, percent, quoted

        found, target = self._reasons, "" if self._target is None else f"; the file has {_shown(self._target)}"
        if found.against is None:
            return f"Row {self._row:,}: the model answers {number(found.answer)}{target}."
        chance = "" if found.probability is None else f" (probability {percent(found.probability)})"
        says = f"Row {self._row:,}: the model answers {quoted(_shown(found.answer))}{chance}{target}."
        if found.favoured is None:
            return says
        name, needed = found.favoured
        return f"{says} The threshold for {quoted(_shown(name))} is {percent(needed)}."

    def _parts(self) -> list[str]:
        """A table of the largest parts, those that are left, and the sum."""
        from .._figures import number, plural, quoted, short

        found = self._reasons
        shown, rest = found.parts[: self._n_parts], found.parts[self._n_parts :]
        most = max((abs(part.part) for part in shown), default=1.0)
        rows = [(short(p.name, 32), short(_shown(p.value), 16), _signed(p.part), _bar(p.part / most)) for p in shown]
        if rest:
            rows.append((plural(len(rest), "other"), "", _signed(sum(part.part for part in rest)), ""))
        lead = "value" if found.against is None else f"lead over {quoted(short(_shown(found.against), 16))}"
        rows += [("baseline", "", _signed(found.baseline), ""), (lead, "", number(found.score), "")]
        widths = [max(len(row[k]) for row in rows) for k in range(3)]
        head = "raises the value" if found.against is None else "speaks for the answer"
        lines = [f"  {'':{widths[0]}}  {'':{widths[1]}}  {'':>{widths[2]}}  + {head}"]
        lines += [f"  {a:{widths[0]}}  {b:>{widths[1]}}  {c:>{widths[2]}}  {d}".rstrip() for a, b, c, d in rows]
        return [line[:_WIDTH] for line in lines]

    def _other_answer(self) -> str:
        from .._figures import listed, percent, quoted

        columns = self._change.columns.items()
        changes = [
            f"{quoted(name)} were {_outward(now, then)} instead of {_shown(now)}" for name, (now, then) in columns
        ]
        chance = self._chance_after()
        added = "" if chance is None else f" (probability {percent(chance)})"
        return f"If {listed(changes)}, the answer would be {quoted(_shown(self._change.after))}{added}."


def _signed(value: float) -> str:
    from .._figures import number

    return ("+" if value > 0 else "") + number(value, 3)


def _bar(share: float) -> str:
    return ("+" if share > 0 else "-") * max(1, round(20 * abs(share)))


def _shown(value: Any) -> str:
    """A value of a column, or a label, as the file has it."""
    from .._figures import column_value, label

    if value is None:
        return ""
    if isinstance(value, float):
        return "missing" if value != value else column_value(value)
    return label(value) if value != "" else "missing"


def _outward(now: Any, then: Any) -> str:
    """A changed value with four digits, rounded away from what it was, so that it still changes the answer."""
    from math import ceil, floor, log10

    if isinstance(then, str) or then == 0 or float(then).is_integer():
        return _shown(then)
    unit = 10.0 ** (floor(log10(abs(then))) - 3)
    return _shown((ceil if then > now else floor)(then / unit) * unit)
