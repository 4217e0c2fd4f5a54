"""Two coupled functions, one for each side, that fit labels and spread over clusters: Bi-SemiKSC."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from .. import _gate
from .._estimators import Advice, GoodFor
from .._gate import Array, Choice, Log, Range, Rule, label, non_negative, none, positive
from ._pair import Pair, pair, pair_features
from ._roles import Roles
from ._semi_spectral import Given, SpectralClassifier
from ._spread import Stationary

_above_one = Rule("a number above 1", lambda v: positive.holds(v) and v > 1)


class BiSemiKSC(SpectralClassifier):
    r"""Bilinear semi-supervised kernel spectral clustering: a function for each class, which repel each other.

    Minimises, over the scores :math:`f_k = \langle w_k, \varphi\rangle` of all rows, one for each of two classes,

    .. math:: \frac{g}{2} \left(\|w_1\|^2 + \|w_2\|^2\right) + \langle w_1, w_2\rangle
              + \frac{C}{2} \sum_{i\ \text{labelled}} \left[(f_{1i} - y_i)^2 + (f_{2i} + y_i)^2\right]
              - \frac{\gamma_3}{2} \sum_i \frac{f_{1i}^2}{d_i} - \frac{\gamma_4}{2} \sum_i \frac{f_{2i}^2}{d_i} ,

    with :math:`d_i = \sum_j k(x_i, x_j)`. A row belongs to the class with the larger function, or, with
    ``outlier_label``, to none if no function is above 0 there. Choose it to compare with published work, or where one
    class is a cluster and the other is what remains; else :class:`SemiKSC` is as good and has fewer parameters. With
    equal spreads it *is* :class:`SemiKSC`: then :math:`f_2 = -f_1`, the coupling does nothing but scale, and no row is
    ever an outlier. With others, outliers are a thin band between the classes, and rows so far from all that kernel
    values, and with them all functions, are 0 in floating point; not rows that are merely far: for those there is
    :mod:`thresher.novelty`. That the coupling classifies better, as [1]_ reports, we could not reproduce, and with a
    hundred labels scikit-learn's ``SVC`` on them is as good (:doc:`few labels </few-labels>`).

    Parameters
    ----------
    spread : float, default=0.99
        How much the function of a class should differ from 0 on all rows (:math:`\gamma_3` in [1]_), at least 0. Of two
        classes, that of the second.
    spread_rest : float, default=0.9
        The same for the function of all other rows (:math:`\gamma_4`): of two classes, that of the first.
    C : float, default=10.0
        Weight of the squared errors of labelled rows (:math:`\gamma_2`).
    coupling : float, default=2.0
        Above 1 (:math:`g = \gamma_1`): near 1 the functions repel each other most. There is exactly one minimum if
        :math:`(g - \gamma_3)(g - \gamma_4) > 1`, with both spreads below g, and the kernel has no values below 0: with
        2, if both spreads are below 1. Beyond, it may be a saddle point that is found: ``is_minimum_``.
    <kernel>
    outlier_label : label, optional
        Where it is given, what :meth:`predict` says of rows on which no function is above 0. ``y`` must not hold it.
    unlabelled_label : label, default=-1
        What ``y`` says of rows without a label. Among words it is the word ``"-1"``; ``"?"`` is another choice.
    class_weight : dict or "balanced", optional
        Weights of the classes, which multiply ``C``. Unlabelled rows have none.
    <landmarks>
    cache_size : float, default=500
        Megabytes for the kernel matrix, which must fit as a whole unless there are landmarks: 500 are enough for 8000
        rows. All in all it takes several times as much, the more rows have labels the more.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Labels of the classes, sorted, without the one that means unlabelled.
    support_, support_vectors_, dual_coef_
        The rows that are kept, all of them or the landmarks, and their coefficients in the function of each class.
    intercept_ : ndarray of shape (n_classes,)
        Zeros: there is no constant term.
    kernel_ : Kernel or None
        The kernel, with numbers for everything that depends on the data; None if it is precomputed.
    rcond_ : float
        Reciprocal condition number of the linear system. Below 1e-12 there is a warning.
    is_minimum_ : bool
        Whether the scores are the minimum; else they are a saddle point.
    transduction_ : ndarray of shape (n_samples,)
        ``y`` with the answers of the model for unlabelled rows. Not kept in model files.
    n_features_in_, feature_names_in_
        Of the rows.

    Notes
    -----
    More than two classes are learned one against the rest: each has the function :math:`f_1` of its own problem, and
    that of its rest is forgotten. One factorisation serves them all.

    The system (2.44) of [1]_ has 2n equations, and is printed with its matrices in the wrong places; this is the
    correct one. It is solved by two Cholesky factorisations of the size of the kernel matrix and a system of two
    equations per label, which is exact: without labels all its blocks are polynomials of one matrix. Where these have
    no minimum without labels, it is solved as it is. :math:`O(n^3)`, or :math:`O(n m^2)` with m landmarks.

    References
    ----------
    .. [1] V. Jumutc, "Flexible software design for stochastic and kernel-based learning in advanced data-driven
       modelling", KU Leuven, 2016, equations 2.39 to 2.46.

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> from thresher.semi_supervised import BiSemiKSC
    >>> X, truth = make_moons(300, noise=0.05, random_state=0)
    >>> y = truth.copy()
    >>> y[10:] = -1                                                       # 10 labels
    >>> model = BiSemiKSC(gamma=10.0).fit(X, y)
    >>> round(float((model.transduction_ == truth).mean()), 2), model.is_minimum_
    (1.0, True)
    """

    _advice = Advice(GoodFor(3, aim="neighbours"))

    _param_rules: ClassVar[dict[str, Rule]] = SpectralClassifier._param_rules | {
        "spread": non_negative,
        "spread_rest": non_negative,
        "coupling": _above_one,
        "outlier_label": label | none,
    }
    _search_space: ClassVar[dict[str, Range]] = {
        "spread": Choice([0.0, 0.5, 0.9, 0.99, 0.999]),
        "spread_rest": Choice([0.0, 0.5, 0.9, 0.99, 0.999]),
        "C": Log(1e-2, 1e3),
        "gamma": Log(1e-4, 100.0, when={"kernel": "rbf"}),
    }

    def __init__(
        self,
        spread: float = 0.99,
        spread_rest: float = 0.9,
        C: float = 10.0,
        coupling: float = 2.0,
        kernel: Any = "rbf",
        *,
        gamma: Any = "scale",
        degree: int = 3,
        coef0: float = 1.0,
        outlier_label: Any = None,
        unlabelled_label: Any = -1,
        class_weight: Any = None,
        n_components: Any = None,
        random_state: Any = None,
        cache_size: float = 500,
    ) -> None:
        self.spread = spread
        self.spread_rest = spread_rest
        self.C = C
        self.coupling = coupling
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.outlier_label = outlier_label
        self.unlabelled_label = unlabelled_label
        self.class_weight = class_weight
        self.n_components = n_components
        self.random_state = random_state
        self.cache_size = cache_size

    @property
    def reject(self) -> bool:
        """Whether rows may be predicted to belong to no class."""
        return self.outlier_label is not None

    def class_scores(self, X: Any) -> Array:
        """The function of each class, shape (n_samples, n_classes): the largest wins, if it is above 0."""
        return self._functions(X)

    def decision_function(self, X: Any) -> Array:
        """What tells the classes apart: a score per class; with two classes, the second's less the first's."""
        return super().decision_function(X)

    def predict(self, X: Any) -> NDArray[Any]:
        """The class of each row; ``outlier_label``, where there is one, if no function is above 0."""
        return super().predict(X)

    def _by_matrix(self, K: Array, given: Given) -> Stationary:
        return self._of_classes(pair(K, self._pair(given)))

    def _by_features(self, F: Array, given: Given) -> Stationary:
        return self._of_classes(pair_features(F, self._pair(given)))

    def _pair(self, given: Given) -> Pair:
        return Pair(float(self.coupling), self._spreads(), *given)

    def _of_classes(self, both: Stationary) -> Stationary:
        """A function per class: with two, f_2 is that of the first; else f_1 of each problem."""
        n_problems = both.coef.shape[1] // 2
        columns = [1, 0] if n_problems == 1 else list(range(n_problems))
        return both._replace(
            coef=both.coef[:, columns], intercept=both.intercept[columns], scores=both.scores[:, columns]
        )

    def _spreads(self) -> tuple[float, float]:
        return float(self.spread), float(self.spread_rest)

    def _n_functions(self, n_classes: int) -> int:
        return n_classes

    def _read_roles(self, labels: NDArray[Any]) -> Roles:
        if _gate.carrying(labels, self.outlier_label).any():
            raise ValueError(
                f"BiSemiKSC: outlier_label must be no label of y, got {self.outlier_label!r}; for rows that are known "
                "to belong to no class there is thresher.novelty."
            )
        return super()._read_roles(labels)

    def _shape_scores(self, scores: Array) -> Array:
        return scores[:, 1] - scores[:, 0] if scores.shape[1] == 2 else scores

    def _read_functions(self, functions: Array) -> NDArray[Any]:
        winner = functions.argmax(axis=1)
        if self.outlier_label is None:
            labels: NDArray[Any] = self.classes_[winner]
            return labels
        none_of_them = str(self.outlier_label) if isinstance(self.classes_[0], str) else self.outlier_label
        known = _gate.joined(self.classes_, none_of_them)
        labels = known[np.where(functions.max(axis=1) > 0, winner, len(known) - 1)]
        return labels

    def _check_loaded(self) -> None:
        super()._check_loaded()
        if _gate.carrying(self.classes_, self.outlier_label).any():
            raise ValueError("BiSemiKSC: classes_ must not hold that of outliers.")
