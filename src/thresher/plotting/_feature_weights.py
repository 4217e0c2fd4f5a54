"""The weights of the features that matter."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

import numpy as np

from .._figures import INK, label
from ..inspection import Feature, KernelInUse, features_that_matter
from ._column_curve import paint_bars
from ._display import Display

_BAR, _AROUND = 20, 60  # points for a feature, and for the axis


class FeatureWeightsDisplay(Display):
    """The weights of the features that matter most, the most important first.

    If the learner keeps variances of its weights, a line shows one standard deviation to either side. With several
    classes, there is a bar for each.

    Parameters
    ----------
    features : list of Feature
        Those of :func:`thresher.inspection.features_that_matter`.

    Examples
    --------
    >>> import numpy as np
    >>> from thresher.online import AROWClassifier
    >>> from thresher.plotting import FeatureWeightsDisplay
    >>> X = np.random.default_rng(0).normal(size=(500, 30))
    >>> model = AROWClassifier(random_state=0).fit(X, X[:, 4] > X[:, 9])
    >>> display = FeatureWeightsDisplay.from_estimator(model, n=2)
    >>> [tick.get_text() for tick in display.ax_.get_yticklabels()]
    ['x5', 'x10']
    """

    def __init__(self, features: Sequence[Feature]) -> None:
        self.features = list(features)

    @classmethod
    def from_estimator(cls, estimator: Any, n: int = 20, *, scale: Any = None, ax: Any = None) -> Self:
        """Find the features that matter to a fitted model, and draw their weights.

        Parameters
        ----------
        estimator : estimator or pipeline
            With linear weights, or centres of clusters.
        n : int, default=20
            Largest number of features.
        scale : array-like, optional
            The typical size of each feature, see :func:`~thresher.inspection.features_that_matter`.
        ax : matplotlib axes, optional

        Returns
        -------
        FeatureWeightsDisplay
        """
        features = features_that_matter(estimator, n, scale=scale)
        if not features:
            raise ValueError(f"{cls.__name__}: estimator must use a feature, but all weights are 0.")
        return cls(features).plot(ax=ax)

    def _height(self) -> float:
        return bars_height(self.features)

    def _paint(self, axes: Any) -> None:
        outputs = paint_weights(axes, self.features)
        deviations = [feature.deviation for feature in self.features]
        if len(outputs) == 1 and None not in deviations:
            weights, places = [feature.weights[outputs[0]] for feature in self.features], np.arange(len(self.features))
            axes.errorbar(weights, places, xerr=np.array(deviations, float), fmt="none", ecolor=INK, elinewidth=1)


def bars_height(named: Sequence[Feature | KernelInUse]) -> float:
    """The points that a bar for each weight needs, and the axis."""
    return _AROUND + _BAR * len(named) * max(1.0, 0.4 * len(named[0].weights))


def paint_weights(axes: Any, named: Sequence[Feature | KernelInUse]) -> list[Any]:
    """A bar for each weight of features or kernels; returns the outputs that they belong to."""
    outputs = list(named[0].weights)
    weights = np.array([[each.weights[output] for each in named] for output in outputs])
    drawn = paint_bars(axes, [label(each.name) for each in named], weights, 32)
    axes.set(xlabel="weight" if len(outputs) > 1 else f"weight in favour of {label(outputs[0])}")
    if len(outputs) > 1:
        axes.legend(drawn, [label(output) for output in outputs], frameon=False)
    return outputs
