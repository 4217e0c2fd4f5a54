"""Axes, drawing and wording that reports and comparisons share."""

from typing import TYPE_CHECKING

from .._lazy import on_first_use

if TYPE_CHECKING:
    from ._canvas import (
        INK,
        MUTED,
        SERIES,
        colour,
        dash,
        dots,
        headline,
        matplotlib_for,
        name_bars,
        paler,
        panel_below,
        picture,
        row_ticks,
        styled,
        ticks,
        x_ticks,
    )
    from ._notebook import bars_html, line_html
    from ._svg import Figure, Key, draw, key
    from ._terminal import progress_bar, progress_lines
    from ._wording import (
        Estimate,
        bytes_of,
        column_value,
        count,
        criterion_sign,
        criterion_words,
        formatter,
        interval,
        label,
        lines,
        listed,
        low_to_high,
        markdown_text,
        number,
        one_in,
        percent,
        plain,
        plural,
        quoted,
        score,
        seconds_of,
        short,
        size_range,
        unmarked,
        wrapped,
    )
else:
    __getattr__, __dir__ = on_first_use(__name__, __file__)
