"""Numbers and labels as text. Labels and names come from files, so they may hold any characters."""

from __future__ import annotations

import math
import re
import textwrap
import unicodedata
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

_LONGEST = 200
_LEAST = 0.0001  # per cent: a share closer to 0 or 100 is written as a bound
_SHARES = ("error", "balanced error", "accuracy", "balanced accuracy")
_SCORES = ("macro F1", "AUROC", "average precision", "Brier score", "Brier score (sample)", "R²")
_CRITERIA = {  # those whose names are not their words
    "balanced_error": "balanced error",
    "f1": "F1",
    "roc_auc": "AUROC",
    "average_precision": "average precision",
    "mse": "mean squared error",
    "line_fit": "line fit",
}
_ERRORS = ("error", "balanced_error", "cost", "mse")  # criteria that are smaller when models are better
_JOINERS = "\N{ZERO WIDTH JOINER}\N{ZERO WIDTH NON-JOINER}\N{SOFT HYPHEN}"  # words of some languages need them


class Estimate(NamedTuple):
    """A measure, and the ends of its 95 % interval."""

    value: float
    low: float
    high: float


def label(value: Any) -> str:
    """Write a label or name as people do: 1 rather than 1.0, on one line.

    Characters that steer a terminal, turn text around or cannot be written to a file are replaced.
    """
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return short("".join(map(_shown, str(value)[: _LONGEST + 1])), _LONGEST)


def short(text: str, most: int = 30) -> str:
    return text if len(text) <= most else text[: most - 1] + "…"


def _shown(character: str) -> str:
    if character.isspace():
        return " "
    unwritable = unicodedata.category(character) in ("Cc", "Cf", "Cs", "Cn") and character not in _JOINERS
    return "\N{REPLACEMENT CHARACTER}" if unwritable else character


def lines(value: Any) -> str:
    """Write text of several lines, such as a program, with the same replacements as in a label."""
    return "\n".join("".join(map(_shown, line)) for line in str(value).expandtabs(4).splitlines())


def wrapped(words: str, width: int, first: str = "", later: str | None = None) -> list[str]:
    """The lines of a paragraph; a percent sign stays with its number.

    Parameters
    ----------
    words : str
    width : int
    first, later : str
        What the first and the later lines begin with; by default later lines are indented as far as the first.
    """
    glued = words.replace(" %", "\N{NO-BREAK SPACE}%")
    indent = " " * len(first) if later is None else later
    found = textwrap.wrap(glued, width, initial_indent=first, subsequent_indent=indent, break_on_hyphens=False)
    return [line.replace("\N{NO-BREAK SPACE}", " ") for line in found]


def plain(value: Any) -> Any:
    """Convert anything to values that JSON has; numbers that are not finite become None."""
    if isinstance(value, Estimate):
        return {"value": plain(value.value), "low": plain(value.low), "high": plain(value.high)}
    if isinstance(value, dict):
        return {label(key): plain(item) for key, item in value.items()}
    if isinstance(value, np.ndarray):
        return plain(value.tolist())
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if value is None or isinstance(value, (bool, int)):
        return value
    return lines(value)


def percent(share: float) -> str:
    """Write a share of rows: 12.1 %, with as many digits as it takes near 0 and 100."""
    if not math.isfinite(share):
        return "?"
    p = 100 * share
    low, high = abs(p), abs(100 - p)
    if not low or not high:
        return f"{p:.0f} %"
    if min(low, high) < _LEAST:
        return f"<{_LEAST} %" if low < high else f">{100 - _LEAST} %"
    near_100 = 1 if high >= 1 else 2 if high >= 0.05 else _digits(high, 1)
    digits = _digits(low, 2) if low < 10 else near_100
    return f"{p:.{min(6, max(1, digits))}f} %"


def _digits(size: float, that_count: int) -> int:
    """Count the decimals that show so many digits of a number."""
    return that_count - 1 - math.floor(math.log10(size))


def number(value: Any, digits: int = 4) -> str:
    """Write a number with a few significant digits."""
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, (int, float, np.number)):
        return label(value)
    value = float(value)
    if not math.isfinite(value):
        return "?" if math.isnan(value) else ("∞" if value > 0 else "−∞")
    if value.is_integer() and abs(value) < 1e15:
        return count(int(value))
    size = abs(value)
    if not 1e-4 <= size < 1e9:
        mantissa, power = f"{value:.{digits - 1}e}".split("e")
        return _minus(f"{mantissa.rstrip('0').rstrip('.')}e{int(power)}")
    text = f"{value:,.{max(0, _digits(size, digits))}f}"
    return _minus(text.rstrip("0").rstrip(".") if "." in text else text)


def column_value(value: Any, digits: int = 4) -> str:
    """Write a number of a column as :func:`number` does, but four digits without a mark: they may be a year."""
    if isinstance(value, (int, float)) and 1000 <= abs(value) < 10_000 and float(value).is_integer():
        return _minus(str(int(value)))
    return number(value, digits)


def score(value: float) -> str:
    """Write a measure between 0 and 1: 0.980, with more digits just below 1."""
    if not math.isfinite(value):
        return "?"
    near = 1 - value
    return _minus(f"{value:.{3 if near <= 0 or near >= 0.0005 else min(6, _digits(near, 1))}f}")


def formatter(measure: str) -> Callable[[float], str]:
    """Return the function that writes values of a measure."""
    if measure in _SHARES:
        return percent
    return score if measure in _SCORES else lambda v: number(v, 3)


def criterion_words(criterion: str) -> str:
    """Return the name of a criterion of a search in words."""
    return _CRITERIA.get(criterion, criterion)


def criterion_sign(criterion: str) -> int:
    """Return -1 for an error, whose score is negative so that searches can maximise it, else 1."""
    return -1 if criterion in _ERRORS else 1


def amount(value: float, digits: int = 4) -> str:
    """Write an amount in thousands, millions or billions."""
    for size, unit in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if abs(value) >= size:
            return f"{value / size:.{digits}g}{unit}"
    return _minus(f"{value:.4g}")


def count(n: float) -> str:
    return _minus(f"{int(n):,}")


def _minus(text: str) -> str:
    return text.replace("-", "−")


def bytes_of(n: float) -> str:
    units = ("bytes", "kB", "MB", "GB", "TB")
    power = min(len(units) - 1, math.floor(math.log10(max(n, 1)) / 3))
    size = n / 1000**power
    return f"{size:.0f} {units[power]}" if power == 0 or size >= 10 else f"{size:.1f} {units[power]}"


def seconds_of(s: float) -> str:
    if s < 1:
        return f"{number(1000 * s, 2)} ms"
    if s < 120:
        return f"{number(s, 3)} s"
    return f"{number(s / 60, 3)} min" if s < 7200 else f"{number(s / 3600, 3)} h"


def size_range(sizes: Any) -> str:
    """Write the numbers of rows that clusters have."""
    low, high = min(sizes), max(sizes)
    return plural(high, "row") if low == high else f"{count(low)} to {count(high)} rows"


def plural(n: int, one: str, many: str | None = None) -> str:
    return f"{count(n)} {one if n == 1 else many or one + 's'}"


def interval(estimate: Estimate, form: Callable[[float], str] = percent) -> str:
    return f"between {form(estimate.low)} and {form(estimate.high)}, 95 % interval"


def low_to_high(estimate: Estimate, form: Callable[[float], str]) -> str:
    return f"{form(estimate.low)} to {form(estimate.high)}"


def one_in(share: float) -> str:
    """Write a share in words: 1 row in 20."""
    if share <= 0:
        return "no row"
    if share > 0.4:
        return f"{percent(share)} of rows"
    return f"1 row in {number(round(1 / share)) if share < 0.15 else number(1 / share, 2)}"


def listed(items: Sequence[str], most: int = 4) -> str:
    """Join items as in a, b and c; longer lists are cut."""
    shown = list(items[:most])
    if len(items) > most:
        return ", ".join(shown) + f" and {count(len(items) - most)} more"
    return shown[0] if len(shown) == 1 else ", ".join(shown[:-1]) + " and " + shown[-1] if shown else "none"


def quoted(value: Any) -> str:
    """Write a label inside a sentence."""
    return f"'{short(label(value), 60)}'"


def unmarked(text: str) -> str:
    """Write a docstring without markup, with formulas as a terminal can show them."""
    text = re.sub(r"\s*\(:math:`[^`]*`( in [^)]*)?\)|(,? (from|in|of))?\s*\[\d+\]_", "", " ".join(text.split()))
    text = re.sub(r":math:`([^`]*)`", lambda role: _written_formula(role[1]), text)
    return re.sub(r"(?::\w+:)?`{1,2}(?:~[\w.]*\.)?([^`]*)`{1,2}", r"\1", text)


_SIGNS = {r"\,": " ", r"\!": "", r"\|": "‖", r"^\top": "ᵀ", "^{-1}": "⁻¹", "^2": "²", r"\sqrt": "√", "{": "", "}": ""}


def _written_formula(latex: str) -> str:
    """Names of Greek letters and signs become these, those of functions stay words."""
    import html

    for name, sign in _SIGNS.items():
        latex = latex.replace(name, sign)
    return re.sub(r"\\([A-Za-z]+)", lambda name: html.unescape(f"&{name[1]};").strip("&;"), latex)


def markdown_text(text: str) -> str:
    """Escape the signs of Markdown."""
    return "".join("\\" + c if c in "\\|*_`<[" else c for c in text)
