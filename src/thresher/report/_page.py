"""The report as a self-contained HTML page."""

from __future__ import annotations

import math
import re
from importlib import resources
from typing import Any

from .. import __version__
from .._figures import bytes_of, count, formatter, number, percent
from ._course import table as rounds_table
from ._decisions import table as decisions_table
from ._explained_rows import title_of
from ._plots import figures
from ._race_section import table as race_table
from ._style import stylesheet
from ._subject import Section

_KINDS = {"classification": "classifier", "regression": "regression", "clustering": "clustering"}


def page(title: str, summary: dict[str, Any], sections: dict[str, Section], kind: str | None = None) -> str:
    """Write the whole page; `kind` is written above its title, by default that of the model."""
    return fragment(
        "template.html",
        title=title,
        kind=kind or f"thresher report · {_KINDS[sections['model']['task']]}",
        summary=summary,
        sections=sections,
        drawn={name: figures(name, _for_figures(name, sections)) for name in sections},
        style=stylesheet(),
        version=__version__,
    )


def fragment(name: str, **values: Any) -> str:
    """Write a template of this room."""
    written: str = _environment().get_template(name).render(**values)
    return written


def _environment() -> Any:
    try:
        from jinja2 import Environment, FunctionLoader, StrictUndefined
    except ImportError:
        raise ImportError('A report as a page needs jinja2: pip install "thresher[lab]".') from None
    room = resources.files(__package__)
    environment = Environment(
        autoescape=True,  # labels and names are untrusted text
        undefined=StrictUndefined,
        loader=FunctionLoader(lambda name: room.joinpath(name).read_text("utf-8")),
    )
    environment.filters |= {
        "num": number,
        "cnt": count,
        "pct": percent,
        "pct0": lambda v: f"{100 * v:.0f}%" if v in (0, 1) or 0.01 <= v <= 0.99 else f"{100 * v:.1f}%",
        "bytes": bytes_of,
        "nb": lambda text: re.sub(r"(?<=\d) %", "\N{NO-BREAK SPACE}%", str(text)),
        "css": lambda v: f"{float(v) if math.isfinite(v) else 0.0:.2f}",
        "tint": _tint,
        "bars": _bars,
    }
    environment.globals |= {"pct": percent, "formatter": formatter, "half": _is_half}
    tables = {"rounds_table": rounds_table, "race_table": race_table, "decisions_table": decisions_table}
    environment.globals |= tables | {"title_of": title_of}
    return environment


def _is_half(name: str, section: Section, drawn: list[Any]) -> bool:
    """Whether a section is narrow enough to stand beside another."""
    if name == "asked":
        return bool(section["reasons"])
    if name == "data":
        return not (section["files"] and section["classes"]) and section["profile"] is None
    if name == "confusion":
        return len(section["classes"]) <= 4
    return len(drawn) == 1 and name in ("decision_values", "sparsity", "objective", "race", "regions", "map")


def _tint(value: float) -> str:
    """Return blue for positive, orange for negative numbers up to 1 in size, over any background."""
    strength = 0.55 * min(1.0, abs(float(value))) ** 0.8
    return f"rgb({'0 114 178' if value >= 0 else '213 94 0'} / {100 * strength:.0f}%)"


def _bars(counts: list[int]) -> str:
    """The path of a small histogram, 64 wide and 20 high."""
    width, top = 64 / len(counts), max(counts) or 1
    return "".join(f"M{i * width:.4g} 20v{-20 * n / top:.3g}h{0.85 * width:.3g}V20z" for i, n in enumerate(counts) if n)


def _for_figures(name: str, sections: dict[str, Section]) -> Section:
    section = sections[name]
    if name == "stream" and section["measure"] == "error" and "measures" in sections:
        return section | {"guess": sections["measures"]["guesses"]["error"]}
    return section
