"""The base class of displays."""

from __future__ import annotations

import inspect
import re
from typing import Any, ClassVar, Self

from .._figures import styled

_POINTS = 72
_ATTRIBUTES = """Attributes
----------
ax_, figure_
    What was drawn on last.

"""


class Display:
    """Base of displays as in scikit-learn, which draw measured values on given axes or on new ones of pyplot."""

    _size: ClassVar[tuple[float, float]] = (470, 300)  # in points

    def __init_subclass__(cls) -> None:
        """Describe the attributes that all displays have."""
        if cls.__doc__:
            described = inspect.cleandoc(cls.__doc__)
            cls.__doc__ = re.sub(r"(?m)^(See Also|Examples)\n-", lambda at: _ATTRIBUTES + at[0], described, count=1)

    def plot(self, *, ax: Any = None) -> Self:
        """Draw.

        Parameters
        ----------
        ax : matplotlib axes, optional
            Where to draw; a new figure by default.

        Returns
        -------
        self
        """
        with styled(type(self).__name__):
            if ax is None:
                from matplotlib import pyplot

                width, height = self._size[0] / _POINTS, self._height() / _POINTS
                _, ax = pyplot.subplots(figsize=(width, height), layout="constrained")
            self._paint(ax)
        self.ax_, self.figure_ = ax, ax.figure
        return self

    def _height(self) -> float:
        return self._size[1]

    def _paint(self, axes: Any) -> None:
        raise NotImplementedError
