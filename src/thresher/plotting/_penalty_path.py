"""Loss and features along a path of penalties."""

from __future__ import annotations

from typing import Any, Self

import numpy as np

from .._figures import colour, count, ticks
from ..paths import PenaltyPath, penalty_path
from ._display import Display


class PenaltyPathDisplay(Display):
    """The progressive loss over the number of features in use, for many strengths of a penalty.

    The model with the smallest loss is marked, and the sparsest one that is nearly as good.

    Parameters
    ----------
    path : PenaltyPath
        What :func:`thresher.paths.penalty_path` returns.
    tolerance : float, default=0.05
        How much larger the loss of the sparser model may be, as a share of the smallest loss.

    Examples
    --------
    >>> import numpy as np
    >>> from thresher.dual_averaging import L1RDAClassifier
    >>> from thresher.plotting import PenaltyPathDisplay
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(1000, 20))
    >>> display = PenaltyPathDisplay.from_estimator(L1RDAClassifier(), [0.3, 0.1, 0.03], [(X, X[:, 0] > 0)])
    >>> display.path.n_features[0] <= display.path.n_features[-1]
    np.True_
    """

    def __init__(self, path: PenaltyPath, tolerance: float = 0.05) -> None:
        self.path, self.tolerance = path, tolerance

    @classmethod
    def from_path(cls, path: PenaltyPath, *, tolerance: float = 0.05, ax: Any = None) -> Self:
        """Draw a path that :func:`thresher.paths.penalty_path` returned."""
        return cls(path, tolerance).plot(ax=ax)

    @classmethod
    def from_estimator(
        cls, estimator: Any, alphas: Any, stream: Any, *, tolerance: float = 0.05, ax: Any = None
    ) -> Self:
        """Compute a path with :func:`thresher.paths.penalty_path`, and draw it.

        Parameters
        ----------
        estimator : estimator
            Not fitted; its penalty is replaced.
        alphas : array-like
            The penalties.
        stream : Stream or iterable of batches
        tolerance : float, default=0.05
            How much larger the loss of the sparser model may be, as a share of the smallest loss.
        ax : matplotlib axes, optional

        Returns
        -------
        PenaltyPathDisplay
        """
        return cls.from_path(penalty_path(estimator, alphas, stream), tolerance=tolerance, ax=ax)

    def _paint(self, axes: Any) -> None:
        path = self.path
        order = np.lexsort([path.progressive_loss, path.n_features])
        axes.plot(
            path.n_features[order],
            path.progressive_loss[order],
            color=colour(0),
            linewidth=1.3,
            marker="o",
            markersize=4,
        )
        marked = {"least loss": path.best_model, f"smallest within {self.tolerance:.0%}": path.within(self.tolerance)}
        for i, (words, model) in enumerate(marked.items(), start=1):
            place = next(k for k, each in enumerate(path.models) if each is model)
            says = f"{words}: {count(int(path.n_features[place]))} features"
            n, loss = path.n_features[place], path.progressive_loss[place]
            axes.plot([n], [loss], "o", color=colour(i), markersize=13 - 3 * i, label=says)
        axes.set_xscale("symlog")
        axes.minorticks_off()
        axes.set(xlabel="features in use", ylabel="progressive loss", xlim=(0, None))
        ticks(axes.xaxis, "rough amount", None)
        ticks(axes.yaxis, "number", 5)
        axes.legend(frameon=False)
