"""Figures as SVG inside a page, in the page's own colours."""

from __future__ import annotations

import io
import re
from collections.abc import Callable
from dataclasses import field
from typing import TYPE_CHECKING, Any, NamedTuple

from .._dataclasses import dataclass
from ._canvas import GRID, INK, MUTED, SERIES, new_axes, styled

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element

_PAGE_COLOURS = {INK: "var(--ink)", MUTED: "var(--muted)", GRID: "var(--grid)"} | {
    colour: f"var(--s{i + 1})" for i, colour in enumerate(SERIES)
}
_SVG = "{http://www.w3.org/2000/svg}"
_XLINK = "{http://www.w3.org/1999/xlink}"
_NUMBER = re.compile(r"-?\d+\.\d+")


class Key(NamedTuple):
    """A line of a legend: its words, and the style of its mark."""

    says: str
    style: str  # a class of the page: s1 to s8, ink, muted
    mark: str = "line"  # or dash, dots, dot, square, area


@dataclass
class Figure:
    svg: str
    caption: str
    legend: list[Key] = field(default_factory=list)
    small: bool = False  # several stand side by side


def key(i: int, says: str, mark: str = "line") -> Key:
    if mark == "line":
        mark = ("line", "dash", "dots")[i // len(SERIES) % 3]
    return Key(says, f"s{i % len(SERIES) + 1}", mark)


def draw(paint: Callable[[Any], None], width: int = 440, height: int = 280) -> str:
    """Draw on axes, and return the SVG.

    Parameters
    ----------
    paint : callable
        Is given the axes of matplotlib.
    width, height : int
        In the page's pixels; a narrow page shows it smaller.
    """
    written = io.BytesIO()
    with styled("A report as a page"):
        axes = new_axes(width, height, (2, 3))
        axes.figure.patch.set_visible(False)
        paint(axes)
        axes.figure.savefig(
            written, format="svg", metadata={"Date": None, "Creator": None, "Format": None, "Type": None}
        )
    return _inline(written.getvalue())


def _inline(written: bytes) -> str:
    """Strip the SVG of its header, styles, names and unneeded digits."""
    from xml.etree.ElementTree import fromstring, tostring

    root = fromstring(written)
    view = root.get("viewBox", "")
    _tidy(root)
    root.attrib = {"viewBox": view, "class": "chart", "aria-hidden": "true", "focusable": "false"}
    return tostring(root, encoding="unicode")


def _tidy(element: Element) -> None:
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
