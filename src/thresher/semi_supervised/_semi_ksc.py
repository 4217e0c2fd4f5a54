"""Labels that spread over clusters of unlabelled rows: semi-supervised kernel spectral clustering."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np

from .._estimators import Advice, Baseline, GoodFor
from .._gate import Array, Choice, Log, Range, Rule, boolean, check_value, non_negative
from .._kernels import of_features, of_kernel
from ._semi_spectral import Given, SpectralClassifier
from ._spread import Stationary, stationary, stationary_features

_FEW_ROWS = 1000  # up to which all eigenvectors at once take less time than products


class SemiKSC(SpectralClassifier):
    r"""Semi-supervised kernel spectral clustering: one linear system for labels and for clusters.

    Minimises, over scores :math:`f = \langle w, \varphi\rangle + b` of all rows,

    .. math:: \frac12 \|w\|^2 + \frac{C}{2} \sum_{i\ \text{labelled}} (f_i - y_i)^2
              - \frac{\gamma}{2} \sum_i \frac{f_i^2}{d_i}, \qquad d_i = \sum_j k(x_i, x_j) .

    The last term is that of kernel spectral clustering: scores should be far from 0 on all rows, and alike where rows
    are close together. Choose it where classes are clusters, and a few labels are enough to name them; it has nothing
    to converge, and takes any number of unlabelled rows with ``n_components``. The kernel must be narrow for that,
    narrower than the gaps between clusters: try ten times ``gamma="scale"``, and more. With a wide one it is no more
    than kernel ridge regression on the labels. Where labels are a hundred or more, or classes are no clusters,
    scikit-learn's ``SVC`` on the labels alone is as good or better (:doc:`few labels </few-labels>`); compare the two
    in folds of labelled rows.

    Parameters
    ----------
    spread : float, default=0.99
        How much scores of all rows should differ from 0 (:math:`\gamma \lambda`, with :math:`\gamma` of [2]_), at least
        0, in units of the first eigenvalue :math:`\lambda` of kernel spectral clustering: 1 without a constant term,
        and often far less with one. Below 1 there is exactly one minimum, if the kernel has no values below 0 and there
        is no constant term; the nearer to 1, the more unlabelled rows count. With 0 they do so in ``gamma="scale"`` and
        as landmarks only. Beyond 1, it may be a saddle point that is found: ``is_minimum_``.
    C : float, default=10.0
        Weight of the squared errors of labelled rows (:math:`\rho`).
    <kernel>
    fit_intercept : bool, default=False
        Whether there is a constant term, which has no penalty. Without one the first direction in which scores spread
        is that of all rows alike, with one it is that of the two largest heaps: where these are the classes, it is
        worth a lot.
    unlabelled_label : label, default=-1
        What ``y`` says of rows without a label. Among words it is the word ``"-1"``; ``"?"`` is another choice.
    class_weight : dict or "balanced", optional
        Weights of the classes, which multiply ``C``. Unlabelled rows have none.
    <landmarks>
    cache_size : float, default=500
        Megabytes for the kernel matrix, which must fit as a whole unless there are landmarks: 500 are enough for 8000
        rows.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Labels of the classes, sorted, without the one that means unlabelled.
    <fitted kernel>
    rcond_ : float
        Reciprocal condition number of the linear system. Below 1e-12 there is a warning.
    spread_ : float
        The factor of the spread (:math:`\gamma`).
    is_minimum_ : bool
        Whether the scores are the minimum; else they are a saddle point.
    transduction_ : ndarray of shape (n_samples,)
        ``y`` with the answers of the model for unlabelled rows. Not kept in model files.

    Notes
    -----
    With :math:`W = \gamma D^{-1} - C G`, where :math:`G` picks labelled rows, the coefficients are those of
    :math:`(I - W K)\, a = C y`, and with a constant term those of (2.38) in [2]_. Both are solved in a symmetric form,
    by one factorisation for all classes (one against the rest), whose signs tell whether there is a minimum:
    :math:`O(n^3)`, or :math:`O(n m^2)` with m landmarks. All rows are kept, or all landmarks.

    References
    ----------
    .. [1] C. Alzate and J. Suykens, "A semi-supervised formulation to binary kernel spectral clustering", IJCNN 2012.
    .. [2] V. Jumutc, "Flexible software design for stochastic and kernel-based learning in advanced data-driven
       modelling", KU Leuven, 2016, equations 2.37 and 2.38.

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
            "few rows have labels, and it learns from any number of others by landmarks",
            lambda p: p.kernel in (None, "rbf"),  # scores of clusters need degrees
        ),
        GoodFor(1, aim="neighbours"),
        baseline=Baseline({"spread": 0.0}, (), "least squares"),
    )

    _param_rules: ClassVar[dict[str, Rule]] = SpectralClassifier._param_rules | {
        "spread": non_negative,
        "fit_intercept": boolean,
    }
    _fitted: ClassVar[tuple[str, ...]] = (*SpectralClassifier._fitted, "spread_")
    _search_space: ClassVar[dict[str, Range]] = {
        "spread": Choice([0.0, 0.5, 0.9, 0.99, 0.999]),
        "C": Log(1e-2, 1e3),
        "gamma": Log(1e-4, 100.0, when={"kernel": "rbf"}),
    }

    spread_: float

    def __init__(
        self,
        spread: float = 0.99,
        C: float = 10.0,
        kernel: Any = "rbf",
        *,
        gamma: Any = "scale",
        degree: int = 3,
        coef0: float = 1.0,
        fit_intercept: bool = False,
        unlabelled_label: Any = -1,
        class_weight: Any = None,
        n_components: Any = None,
        random_state: Any = None,
        cache_size: float = 500,
    ) -> None:
        self.spread = spread
        self.C = C
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.fit_intercept = fit_intercept
        self.unlabelled_label = unlabelled_label
        self.class_weight = class_weight
        self.n_components = n_components
        self.random_state = random_state
        self.cache_size = cache_size

    def _by_matrix(self, K: Array, given: Given) -> Stationary:
        there = np.flatnonzero(given.share)  # rows that are like none spread in no direction

        def first() -> Array:
            part = K if len(there) == len(K) else K[np.ix_(there, there)]
            return of_kernel(part, given.share[there], 1, len(there) > _FEW_ROWS, 1e-8).values

        gamma = self._gamma(first)
        found = stationary(K, *self._quadratic(given, gamma), bool(self.fit_intercept))
        return found._replace(spread=gamma)

    def _by_features(self, F: Array, given: Given) -> Stationary:
        gamma = self._gamma(lambda: of_features(F, given.share, 1).values)
        found = stationary_features(F, *self._quadratic(given, gamma), bool(self.fit_intercept))
        return found._replace(spread=gamma)

    def _gamma(self, first: Callable[[], Array]) -> float:
        """The factor of the spread. A kernel whose rows are all alike has no eigenvalue, and nothing to spread."""
        if not self.fit_intercept or self.spread == 0:
            return float(self.spread)
        eigenvalues = first()
        return float(self.spread / eigenvalues[0]) if len(eigenvalues) else 0.0

    def _quadratic(self, given: Given, gamma: float) -> tuple[Array, Array]:
        """W and R: how the objective bends in each score, and what it pulls with."""
        return gamma * given.share - given.cost, given.cost[:, None] * given.targets

    def _check_loaded(self) -> None:
        """Refuse attributes of a file that do not belong together."""
        super()._check_loaded()
        check_value("SemiKSC", "spread_", self.spread_, non_negative)

    def _spreads(self) -> tuple[float, ...]:
        return (self.spread,)
