"""Semi-supervised kernel spectral clustering: labels that spread over clusters of unlabelled rows."""

from __future__ import annotations

from collections.abc import Callable
from typing import ClassVar

import numpy as np

from .._estimators import Advice, GoodFor, Variant, param
from .._gate import Array, Choice, boolean, check_value, non_negative
from .._kernels import of_features, of_kernel
from ._semi_spectral import SpectralClassifier, SpreadProblem
from ._spread import Stationary, stationary, stationary_features

_FEW_ROWS = 1000  # up to which all eigenvectors at once take less time than products


class SemiKSC(SpectralClassifier):
    r"""Semi-supervised kernel spectral clustering: one linear system for labels and for clusters.

    Minimises, over scores :math:`f = \langle w, \varphi\rangle + b` of all rows,

    .. math:: \frac12 \|w\|^2 + \frac{C}{2} \sum_{i\ \text{labelled}} (f_i - y_i)^2
              - \frac{\gamma}{2} \sum_i \frac{f_i^2}{d_i}, \qquad d_i = \sum_j k(x_i, x_j) .

    The last term is that of kernel spectral clustering: scores should be far from 0 on all rows, and similar for
    similar rows. Choose it if classes are clusters that a few labels can identify. It solves one linear system, and
    with ``n_components`` it takes any number of unlabelled rows. The kernel must be narrower than the gaps between
    clusters, like the default kernel of shared neighbours; with a wide kernel it is little more than kernel ridge
    regression on the labels. With a hundred labels or more, or if classes are not clusters, scikit-learn's ``SVC`` on
    the labelled rows is as good or better (:doc:`few labels </few-labels>`); compare the two by cross-validation on the
    labelled rows.

    Attributes
    ----------
    spread_ : float
        The factor of the spread (:math:`\gamma`).

    Notes
    -----
    With :math:`W = \gamma D^{-1} - C G`, where :math:`G` selects labelled rows, the coefficients solve
    :math:`(I - W K)\, a = C y`, and with a constant term (2.38) in [2]_. Both are solved in a symmetric form, by one
    factorisation for all classes (one-vs-rest), whose inertia shows whether the solution is a minimum: :math:`O(n^3)`,
    or :math:`O(n m^2)` with m landmarks. The model stores all rows, or all landmarks. A row weight is how often a row
    counts, labelled or not, except for widths, neighbours and ``class_weight="balanced"``, where all rows count once.

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> from thresher.semi_supervised import SemiKSC
    >>> X, truth = make_moons(300, noise=0.05, random_state=0)
    >>> y = truth.copy()
    >>> y[10:] = -1                                                       # 10 labels
    >>> model = SemiKSC(gamma=10.0).fit(X, y)
    >>> round(float((model.transduction_ == truth).mean()), 2), model.is_minimum_
    (1.0, True)
    """

    _advice = Advice(
        GoodFor(
            3,
            "few rows have labels, and with landmarks it learns from any number of unlabelled rows",
            lambda p: p.kernel in (None, "rbf"),  # scores of clusters need degrees
        ),
        GoodFor(1, aim="neighbours"),
        variants=(
            Variant(
                {"fit_intercept": True, "gamma": "scale"}, " of the two largest clusters", lambda p: p.n_classes == 2
            ),
        ),
    )

    spread: float = param(
        default=0.99,
        rule=non_negative,
        doc=r"""Weight that favours nonzero scores on all rows (:math:`\gamma \lambda`, with :math:`\gamma` of [2]_), at
        least 0, in units of the first eigenvalue :math:`\lambda` of kernel spectral clustering: 1 without a constant
        term, and often far less with one. Below 1 there is exactly one minimum, if the kernel has no values below 0 and
        there is no constant term; the nearer to 1, the more unlabelled rows count. With 0, they are used only for
        widths, neighbours and landmarks. Above 1, the solution may be a saddle point; see ``is_minimum_``.""",
        search=Choice([0.0, 0.5, 0.9, 0.99, 0.999]),
        kw_only=False,
    )
    fit_intercept: bool = param(
        default=False,
        rule=boolean,
        doc="""Fit a constant term, which has no penalty. Without it, scores first spread along the constant direction,
        the same for all rows; with it, along the direction that separates the two largest clusters. If these are the
        classes, it helps a lot.""",
    )

    _fitted: ClassVar[tuple[str, ...]] = ("spread_",)

    def _by_matrix(self, K: Array, given: SpreadProblem) -> Stationary:
        there = np.flatnonzero(given.share)  # rows that are like none spread in no direction

        def first() -> Array:
            part = K if len(there) == len(K) else K[np.ix_(there, there)]
            return of_kernel(part, given.share[there], 1, len(there) > _FEW_ROWS, 1e-8).values

        gamma = self._gamma(first)
        found = stationary(K, *self._quadratic(given, gamma), bool(self.fit_intercept))
        return found._replace(spread=gamma)

    def _by_features(self, F: Array, given: SpreadProblem) -> Stationary:
        gamma = self._gamma(lambda: of_features(F, given.share, 1).values)
        found = stationary_features(F, *self._quadratic(given, gamma), bool(self.fit_intercept))
        return found._replace(spread=gamma)

    def _gamma(self, first: Callable[[], Array]) -> float:
        """The factor of the spread. A kernel that does not tell rows apart has no eigenvalue, and nothing to spread."""
        if not self.fit_intercept or self.spread == 0:
            return float(self.spread)
        eigenvalues = first()
        return float(self.spread / eigenvalues[0]) if len(eigenvalues) else 0.0

    def _quadratic(self, given: SpreadProblem, gamma: float) -> tuple[Array, Array]:
        """W and R: how the objective bends in each score, and what it pulls with."""
        return gamma * given.share - given.cost, given.cost[:, None] * given.targets

    def _check_loaded(self) -> None:
        super()._check_loaded()
        check_value("SemiKSC", "spread_", self.spread_, non_negative)

    def _spreads(self) -> tuple[float, ...]:
        return (self.spread,)
