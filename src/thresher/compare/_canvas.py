"""Where pictures are drawn, in the style of reports."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from .._figures import STYLE, matplotlib_for

_PALE = 0.35
_WIDTH = 620


@contextmanager
def canvas(path: Any, axes: Any, height: float) -> Iterator[Any]:
    """Yields the axes, or those of a new figure of that height; what is drawn there is saved, if there is a path."""
    mpl = matplotlib_for("A picture")
    with mpl.rc_context(STYLE), warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # letters that the font lacks
        if axes is None:
            from matplotlib.figure import Figure

            figure = Figure(figsize=(_WIDTH / 72, height / 72), dpi=144, layout="constrained")
            figure.get_layout_engine().set(w_pad=8 / 72, h_pad=8 / 72)  # type: ignore[union-attr, call-arg]
            axes = figure.subplots()
        yield axes
        if path is not None:
            axes.figure.savefig(path, facecolor="white")


def paler(colour: str) -> Any:
    from matplotlib.colors import to_rgb

    return tuple(1 - _PALE * (1 - part) for part in to_rgb(colour))
