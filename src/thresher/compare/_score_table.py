"""Tables of a comparison, in text or Markdown."""

from __future__ import annotations

import math
from html import escape
from typing import TYPE_CHECKING

from .._figures import label, markdown_text, short

if TYPE_CHECKING:
    from ._comparison import Comparison

COSTS = ("seconds", "features")  # measured beside the scores; fewer is better
LEVEL = 0.05
_MOST_DIGITS = 6


def in_text(runs: Comparison, measures: list[str]) -> str:
    """Write means and deviations in columns; ``*`` marks the best, ``~`` those not significantly worse."""
    columns = [[short(label(name)) for name in ("", *runs._learners)]]
    columns += [[measure, *_cells(runs, measure, "{} *", "{} ~", "{}  ")] for measure in measures]
    first, *others = [[text.ljust(max(map(len, column))) for text in column] for column in columns]
    lines = ["  ".join(row).rstrip() for row in zip(first, *others, strict=True)]
    about = [label(runs.about), ""] if runs.about else []
    return "\n".join([*about, *lines, "", f"* best   ~ {_not_apart(runs)}" if runs.n_runs > 1 else "* best"])


def in_markdown(runs: Comparison, measures: list[str]) -> str:
    columns = [["", *(markdown_text(label(name)) for name in runs._learners)]]
    columns += [
        [markdown_text(label(measure)), *_cells(runs, measure, "**{}**", "**{}**", "{}")] for measure in measures
    ]
    head, *rows = zip(*columns, strict=True)
    lines = [head, ("---",) + ("---:",) * (len(head) - 1), *rows]
    about = [markdown_text(label(runs.about)), ""] if runs.about else []
    return "\n".join([*about, *(f"| {' | '.join(line)} |" for line in lines), "", _bold(runs)])


def in_html(runs: Comparison, measures: list[str]) -> str:
    """Write the table of Markdown for notebooks."""
    columns = [["", *(escape(label(name)) for name in runs._learners)]]
    columns += [
        [escape(label(measure)), *_cells(runs, measure, "<b>{}</b>", "<b>{}</b>", "{}")] for measure in measures
    ]
    head, *rows = zip(*columns, strict=True)
    lines = [_html_row("th", head), *(_html_row("td", row) for row in rows)]
    about = f"<div>{escape(label(runs.about))}</div>" if runs.about else ""
    return f"{about}<table>{''.join(lines)}</table><div>{escape(_bold(runs))}</div>"


def _html_row(cell: str, texts: tuple[str, ...]) -> str:
    return f"<tr>{''.join(f'<{cell}>{text}</{cell}>' for text in texts)}</tr>"


def _bold(runs: Comparison) -> str:
    return f"Bold: the best, and those {_not_apart(runs)}." if runs.n_runs > 1 else "Bold: the best."


def marks(runs: Comparison, measure: str) -> dict[str, str]:
    """Return ``"best"`` or ``"close"`` for names that deserve it. Costs, measured beside the scores, have no marks."""
    if measure in COSTS:
        return {}
    best = runs.best(measure)
    return {name: "best" if name == best else "close" for name in runs.among_the_best(measure)}


def _cells(runs: Comparison, measure: str, best: str, close: str, other: str) -> list[str]:
    means, deviations, marked = runs.mean(measure), runs.std(measure), marks(runs, measure)
    digits = _digits(list(means.values()), [d for d in deviations.values() if d > 0])
    words = {"best": best, "close": close}
    cells = []
    for name in runs._learners:
        text = "-"
        if name in means:
            text = f"{means[name]:.{digits}f}"
            text += "" if math.isnan(deviations[name]) else f" ± {deviations[name]:.{digits}f}"
        cells.append(words.get(marked.get(name, ""), other).format(text))
    return cells


def _digits(means: list[float], deviations: list[float]) -> int:
    """Count the digits that show two figures of the deviation in the middle; without one, four of the greatest mean."""
    if not deviations:
        whole = all(mean == round(mean) for mean in means)
        most = max(abs(mean) for mean in means)
        return 0 if whole else _clipped(3 - math.floor(math.log10(most)))
    return _clipped(1 - math.floor(math.log10(sorted(deviations)[len(deviations) // 2])))


def _clipped(digits: int) -> int:
    return min(max(digits, 0), _MOST_DIGITS)


def _not_apart(runs: Comparison) -> str:
    test = "t-test" if runs.test_ratio is None else "corrected resampled t-test"
    return f"not significantly worse at {LEVEL:.0%} (paired {test}, Holm)"
