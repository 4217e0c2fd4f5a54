"""Figures as SVG inside a page: colours are the page's own, so that they are right by day and by night."""

from __future__ import annotations

import io
import re
import warnings
import xml.etree.ElementTree as ET
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

INK, MUTED, GRID = "#1b1f24", "#667080", "#d8dde4"
SERIES = ("#0072b2", "#d55e00", "#009e73", "#a8478a", "#9a7400", "#3e97cf", "#5c6570", "#8f5b4a")
_PAGE_COLOURS = {INK: "var(--ink)", MUTED: "var(--muted)", GRID: "var(--grid)"} | {
    colour: f"var(--s{i + 1})" for i, colour in enumerate(SERIES)
}
_DASHES: tuple[Any, ...] = ("-", (0, (5, 2)), (0, (1.5, 1.5)))
_SVG = "{http://www.w3.org/2000/svg}"
_XLINK = "{http://www.w3.org/1999/xlink}"
_NUMBER = re.compile(r"-?\d+\.\d+")

STYLE: dict[str, Any] = {
    "svg.fonttype": "none",
    "svg.hashsalt": "thresher",
    "text.parse_math": False,  # a label may hold any text
    "axes.formatter.use_mathtext": False,
    "path.simplify": False,
    "font.size": 11.5,
    "axes.labelsize": 11.5,
    "axes.facecolor": "none",
    "axes.edgecolor": GRID,
    "axes.labelcolor": MUTED,
    "axes.grid": True,
    "axes.axisbelow": True,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "grid.color": GRID,
    "grid.linewidth": 0.7,
    "text.color": INK,
    "xtick.color": MUTED,
    "ytick.color": MUTED,
    "xtick.major.size": 0,
    "ytick.major.size": 0,
    "xtick.minor.size": 0,
    "ytick.minor.size": 0,
    "lines.linewidth": 1.8,
}


class Key(NamedTuple):
    """A line of a legend: what it says, and how its mark looks."""

    says: str
    style: str  # a class of the page: s1 to s8, ink, muted
    mark: str = "line"  # or dash, dots, dot, square, area


@dataclass
class Figure:
    svg: str
    caption: str
    legend: list[Key] = field(default_factory=list)
    small: bool = False  # several stand side by side


def colour(i: int) -> str:
    return SERIES[i % len(SERIES)]


def key(i: int, says: str, mark: str = "line") -> Key:
    if mark == "line":
        mark = ("line", "dash", "dots")[i // len(SERIES) % 3]
    return Key(says, f"s{i % len(SERIES) + 1}", mark)


def dash(i: int) -> Any:
    """Lines beyond the colours are dashed."""
    return _DASHES[i // len(SERIES) % 3]


def draw(paint: Callable[[Any], None], width: int = 440, height: int = 280) -> str:
    """Have axes painted on, and give the SVG.

    Parameters
    ----------
    paint : callable
        Is given the axes of matplotlib.
    width, height : int
        In the page's pixels; a narrow page shows it smaller.
    """
    mpl = matplotlib_for("A report as a page")
    with mpl.rc_context(STYLE), warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # letters that the measuring font lacks; the page's font has them
        figure = _figure(width, height)
        paint(figure.subplots())
        written = io.BytesIO()
        figure.savefig(written, format="svg", metadata={"Date": None, "Creator": None, "Format": None, "Type": None})
    return _inline(written.getvalue())


def matplotlib_for(what: str) -> Any:
    try:
        import matplotlib
    except ImportError:
        raise ImportError(f'{what} needs matplotlib: pip install "thresher[lab]".') from None
    return matplotlib


def _figure(width: int, height: int) -> Any:
    from matplotlib.figure import Figure as Canvas

    figure = Canvas(figsize=(width / 72, height / 72), dpi=72, layout="constrained")
    figure.get_layout_engine().set(w_pad=2 / 72, h_pad=3 / 72)  # type: ignore[union-attr, call-arg]
    figure.patch.set_visible(False)
    return figure


def dots(axes: Any, x: Any, y: Any, colour: str, size: float = 4.5, square: bool = False, **options: Any) -> None:
    """Points as one path of steps of no length with round or square ends: a few bytes each, and sharp at any size."""
    gap = np.full(len(x), np.nan)
    axes.plot(
        np.stack([x, x, gap], axis=1).ravel(),
        np.stack([y, y, gap], axis=1).ravel(),
        color=colour,
        linewidth=0.85 * size if square else size,
        solid_capstyle="projecting" if square else "round",
        **options,
    )


def _inline(written: bytes) -> str:
    """What matplotlib wrote, for the inside of a page: no header, styles or names of its own, short numbers."""
    root = ET.fromstring(written)
    view = root.get("viewBox", "")
    _tidy(root)
    root.attrib = {"viewBox": view, "class": "chart", "aria-hidden": "true", "focusable": "false"}
    return ET.tostring(root, encoding="unicode")


def _tidy(element: ET.Element) -> None:
    element.tag = element.tag.removeprefix(_SVG)
    element.text = (element.text or "").strip() if element.tag != "text" else element.text
    element.tail = None
    target = element.attrib.pop(f"{_XLINK}href", None)
    if target is not None:
        element.set("href", target.replace("\n", ""))
    if element.tag in ("g", "image", "text"):
        element.attrib.pop("id", None)
    if element.get("transform", "").startswith("rotate(-0 "):
        del element.attrib["transform"]
    for name in ("d", "x", "y", "width", "height"):
        if name in element.attrib:
            element.set(name, _short_path(element.attrib[name]))
    if "style" in element.attrib:
        element.set("style", _page_style(element.attrib["style"]))
    for child in list(element):
        if child.tag == f"{_SVG}metadata" or (child.tag == f"{_SVG}defs" and child.find(f"{_SVG}style") is not None):
            element.remove(child)
            continue
        _tidy(child)
        if child.tag == "g" and len(child) == 0:
            element.remove(child)


def _short_path(numbers: str) -> str:
    text = _NUMBER.sub(lambda m: f"{float(m.group()):.1f}".removesuffix(".0"), numbers)
    return re.sub(r"\s*([MLQCzZ])\s*", r"\1", text).strip()


def _page_style(style: str) -> str:
    kept = [part.strip() for part in style.split(";") if part.strip() and not part.strip().startswith("font-family")]
    text = ";".join(kept)
    for colour, name in _PAGE_COLOURS.items():
        text = text.replace(colour, name)
    return text
