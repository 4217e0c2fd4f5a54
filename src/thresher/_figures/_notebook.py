"""Small pictures for notebooks, as HTML that needs no library and no style of the page."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from ._canvas import MUTED, SERIES
from ._wording import number, short

_TITLE = '<div style="font-size: 90%; color: {}; margin: .5em 0 .2em">{}</div>'
_CELL = '<td style="text-align: {}; padding: 0 .6em; border: 0">{}</td>'
_WIDTH, _HEIGHT = 240, 60


def bars_html(title: str, bars: Sequence[tuple[str, float]]) -> str:
    """A bar for each name and value, longest for the largest size; the colour tells the sign."""
    most = max((abs(value) for _, value in bars), default=0.0) or 1.0
    rows = []
    for name, value in bars:
        width, colour = _WIDTH / 2 * abs(value) / most, SERIES[0] if value > 0 else SERIES[1]
        bar = f'<div style="width: {width:.0f}px; height: .7em; background: {colour}"></div>'
        cells = (("right", escape(short(name, 32))), ("left", bar), ("right", number(value, 3)))
        rows.append(f"<tr>{''.join(_CELL.format(side, what) for side, what in cells)}</tr>")
    table = f'<table style="font-size: 90%; border-collapse: collapse">{"".join(rows)}</table>'
    return _TITLE.format(MUTED, escape(title)) + table


def line_html(title: str, values: Sequence[float]) -> str:
    """A line through values from left to right."""
    low, high = min(values), max(values)
    step, room = _WIDTH / max(len(values) - 1, 1), (high - low) or 1.0
    points = " ".join(
        f"{i * step:.1f},{_HEIGHT - 4 - (v - low) / room * (_HEIGHT - 8):.1f}" for i, v in enumerate(values)
    )
    line = f'<polyline points="{points}" fill="none" stroke="{SERIES[0]}" stroke-width="1.5"/>'
    ends = f"{escape(title)}, from {number(values[0], 4)} to {number(values[-1], 4)}"
    return _TITLE.format(MUTED, ends) + f'<svg width="{_WIDTH}" height="{_HEIGHT}">{line}</svg>'
