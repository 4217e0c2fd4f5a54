"""Results of :func:`selection_frequency`."""

from __future__ import annotations

import os
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._dataclasses import dataclass
from .._figures import label, short
from .._gate import at_least, checked, fraction
from ..inspection import largest
from ._pictures import draw_frequencies

_STABLE = 0.8
_MOST_LINES = 20


@dataclass(frozen=True, eq=False, repr=False)
class SelectionFrequency:
    """Selection frequencies of features; see :func:`selection_frequency`. ``print`` shows the highest.

    Attributes
    ----------
    frequency : ndarray of shape (n_features,)
        The share of the runs in which a feature was selected.
    sign : ndarray of shape (n_features,), or None
        The mean sign of its weight over the runs that selected it, from -1 to 1; 0 if none did. None if a feature has
        several weights, or none.
    mean_size : float
        Mean number of features selected in a run.
    n_runs : int
    n_rows, n_drawn : int
        Number of rows in total, and in each run.
    names : ndarray of shape (n_features,), or None
        The names of the features, if they have any.
    """

    frequency: NDArray[np.float64]
    sign: NDArray[np.float64] | None
    mean_size: float
    n_runs: int
    n_rows: int
    n_drawn: int
    names: NDArray[np.object_] | None = None

    @checked(threshold=fraction)
    def stable(self, threshold: float = _STABLE) -> NDArray[np.intp]:
        """Return the indices of the features selected in at least a share ``threshold`` of the runs, in order.

        Parameters
        ----------
        threshold : float, default=0.8
            From 0 to 1. With 0, all features are returned.

        Returns
        -------
        ndarray of int
        """
        return np.flatnonzero(self.frequency >= threshold)

    @checked(n=at_least(1))
    def most_frequent(self, n: int = _MOST_LINES) -> NDArray[np.intp]:
        """Return the indices of the ``n`` features selected most often, the most frequent first.

        Parameters
        ----------
        n : int, default=20

        Returns
        -------
        ndarray of int
        """
        return largest(self.frequency, n)

    def name(self, column: int) -> str:
        """Return the name of a feature; without names, its column counted from 1, as in :mod:`thresher.inspection`."""
        return f"x{column + 1}" if self.names is None else label(self.names[column])

    @checked(n=at_least(1), threshold=fraction)
    def plot(
        self,
        path: str | os.PathLike[str] | None = None,
        *,
        ax: Any = None,
        n: int = _MOST_LINES,
        threshold: float = _STABLE,
    ) -> Any:
        """Draw the most frequent features as bars, with a line at the threshold. Needs matplotlib.

        Parameters
        ----------
        path : path, optional
            Where to save the plot; the suffix determines the format (``.png``, ``.svg``, ``.pdf``).
        ax : matplotlib axes, optional
            Where to draw; a new figure by default.
        n : int, default=20
            Largest number of features.
        threshold : float, default=0.8
            The position of the line; bars below it are pale.

        Returns
        -------
        matplotlib axes
        """
        return draw_frequencies(self, path, ax, n, threshold)

    def __str__(self) -> str:
        shown = self.most_frequent()
        rows = [("feature", "chosen", "" if self.sign is None else "sign")]
        rows += [(short(self.name(j)), f"{self.frequency[j]:.0%}", self._sign(j)) for j in shown]
        width = max(len(name) for name, *_ in rows)
        lines = [f"{name:<{width}}  {share:>6}  {sign:>4}".rstrip() for name, share, sign in rows]
        left = np.count_nonzero(self.frequency) - len(shown)
        if left:
            most = np.partition(self.frequency, -len(shown) - 1)[-len(shown) - 1]
            lines.append(f"and {left:,} more, each in {most:.0%} of the runs or fewer")
        summary = (
            f"{self.n_runs} runs on {self.n_drawn:,} of {self.n_rows:,} rows: {self.mean_size:.1f} of "
            f"{len(self.frequency):,} features chosen on average, {len(self.stable()):,} in at least {_STABLE:.0%} "
            "of the runs"
        )
        return "\n".join([summary, "", *lines])

    def _sign(self, column: int) -> str:
        if self.sign is None:
            return ""
        return {1.0: "+", -1.0: "-"}.get(float(self.sign[column]), "+/-")

    def __repr__(self) -> str:
        return f"<SelectionFrequency of {len(self.frequency):,} features over {self.n_runs} runs>"
