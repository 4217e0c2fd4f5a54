"""The weights of the kernels that a model chose."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

from .._gate import at_least, checked
from ..inspection import KernelInUse, kernels_in_use
from ._display import Display
from ._feature_weights import bars_height, paint_weights


class KernelWeightsDisplay(Display):
    """The weights of the kernels that a model of :mod:`thresher.mkl` chose, the strongest first.

    Parameters
    ----------
    kernels : list of KernelInUse
        Those of :func:`thresher.inspection.kernels_in_use`.

    Examples
    --------
    >>> import numpy as np
    >>> from thresher.kernels import RBF
    >>> from thresher.mkl import GMKLClassifier
    >>> from thresher.plotting import KernelWeightsDisplay
    >>> X = np.random.default_rng(0).normal(size=(100, 3))
    >>> model = GMKLClassifier([RBF(0.5, features=j) for j in range(3)], v=1.0).fit(X, np.abs(X[:, 1]) > 0.7)
    >>> display = KernelWeightsDisplay.from_estimator(model)
    >>> display.ax_.get_yticklabels()[0].get_text()
    'rbf(gamma=0.5) on x2'
    """

    def __init__(self, kernels: Sequence[KernelInUse]) -> None:
        self.kernels = list(kernels)

    @classmethod
    @checked(n=at_least(1))
    def from_estimator(cls, estimator: Any, n: int = 20, *, ax: Any = None) -> Self:
        """Find the kernels that a fitted model uses, and draw their weights.

        Parameters
        ----------
        estimator : estimator or pipeline
            A model of :mod:`thresher.mkl`.
        n : int, default=20
            Largest number of kernels.
        ax : matplotlib axes, optional

        Returns
        -------
        KernelWeightsDisplay
        """
        kernels = kernels_in_use(estimator)
        if not kernels:
            raise ValueError(f"{cls.__name__}: estimator must use a kernel, but all weights are 0.")
        return cls(kernels[:n]).plot(ax=ax)

    def _height(self) -> float:
        return bars_height(self.kernels)

    def _paint(self, axes: Any) -> None:
        paint_weights(axes, self.kernels)
