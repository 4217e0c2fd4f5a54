"""Two coupled functions, one for each side, that fit labels and spread over clusters: Bi-SemiKSC."""

from __future__ import annotations

from typing import Any, ClassVar

from numpy.typing import NDArray

from .. import _gate
from .._estimators import Advice, GoodFor, OwnFunctions, param
from .._gate import Array, Choice, above_one, label, non_negative, none
from ._pair import Pair, pair, pair_features
from ._roles import Roles
from ._semi_spectral import SpectralClassifier, SpreadProblem
from ._spread import Stationary


class BiSemiKSC(OwnFunctions, SpectralClassifier):
    r"""Bilinear semi-supervised kernel spectral clustering, with a function for each class.

    Minimises, over the scores :math:`f_k = \langle w_k, \varphi\rangle` of all rows, one for each of two classes,

    .. math:: \frac{g}{2} \left(\|w_1\|^2 + \|w_2\|^2\right) + \langle w_1, w_2\rangle
              + \frac{C}{2} \sum_{i\ \text{labelled}} \left[(f_{1i} - y_i)^2 + (f_{2i} + y_i)^2\right]
              - \frac{\gamma_3}{2} \sum_i \frac{f_{1i}^2}{d_i} - \frac{\gamma_4}{2} \sum_i \frac{f_{2i}^2}{d_i} ,

    with :math:`d_i = \sum_j k(x_i, x_j)`. A row belongs to the class with the larger function or, with
    ``outlier_label``, to none if no function is above 0. Choose it to compare with published work, or if one class is a
    cluster and the other is the rest; otherwise :class:`SemiKSC` is as good and has fewer parameters. With equal
    spreads it *is* :class:`SemiKSC`: then :math:`f_2 = -f_1`, the coupling only changes the scale, and no row is an
    outlier. With other spreads, outliers form a thin band between the classes, plus rows so far away that all kernel
    values are 0 in floating point. To detect rows that are merely far away, use :mod:`thresher.novelty`. We could not
    reproduce the better classification that [2]_ reports for the coupling, and with a hundred labels, scikit-learn's
    ``SVC`` on the labelled rows is as good (:doc:`few labels </few-labels>`).

    Attributes
    ----------
    support_ : ndarray
        Indices of the stored rows: all of them, or the landmarks.
    dual_coef_ : ndarray of shape (n_classes, n_support)
        Their coefficients in the function of each class.
    intercept_ : ndarray of shape (n_classes,)
        Zeros: there is no constant term.

    Notes
    -----
    Several classes are learned one-vs-rest: each keeps the function :math:`f_1` of its own problem. One factorisation
    serves all of them.

    The system (2.44) of [2]_ has 2n equations and is printed with some matrices in the wrong places; the corrected
    system is used here. It is solved by two Cholesky factorisations of the size of the kernel matrix and a system of
    two equations per label, which is exact: without labels all its blocks are polynomials of one matrix. If there is no
    minimum without labels, the system is solved directly. :math:`O(n^3)`, or :math:`O(n m^2)` with m landmarks.

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

    spread: float = param(
        default=0.99,
        rule=non_negative,
        doc=r"""Weight that favours nonzero values of the function of a class on all rows (:math:`\gamma_3` in [2]_), at
        least 0. With two classes, it is for the second one.""",
        search=Choice([0.0, 0.5, 0.9, 0.99, 0.999]),
        kw_only=False,
    )
    spread_rest: float = param(
        default=0.9,
        rule=non_negative,
        doc=r"""The same for the function of all other rows (:math:`\gamma_4`); with two classes, for the first one.""",
        search=Choice([0.0, 0.5, 0.9, 0.99, 0.999]),
        kw_only=False,
    )
    C: float = param(default=10.0, doc=r"Weight of the squared errors of labelled rows (:math:`\gamma_2`).")
    coupling: float = param(
        default=2.0,
        rule=above_one,
        doc=r"""How strongly the functions repel each other (:math:`g = \gamma_1`), above 1: values near 1 repel most.
        There is exactly one minimum if :math:`(g - \gamma_3)(g - \gamma_4) > 1`, with both spreads below g, and the
        kernel has no values below 0: with 2, if both spreads are below 1. Otherwise the solution may be a saddle point;
        see ``is_minimum_``.""",
        kw_only=False,
    )
    threshold: None = param(
        default=None,
        rule=none,
        doc="Must be None: each class has its own function.",
    )
    outlier_label: Any = param(
        default=None,
        rule=label | none,
        doc="""If given, :meth:`predict` returns it for rows on which no function is above 0. ``y`` must not contain
        it.""",
    )
    cache_size: float = param(
        default=500,
        doc="""Memory for the kernel matrix in megabytes. It must fit as a whole unless there are landmarks; 500 MB are
        enough for 8000 rows. The total memory is several times as much, and grows with the number of labelled rows.""",
    )

    _by_position: ClassVar[tuple[str, ...]] = ("spread", "spread_rest", "C", "coupling", "kernel")

    @property
    def reject(self) -> bool:
        """Whether rows may be predicted to belong to no class."""
        return self.outlier_label is not None

    def class_scores(self, X: Any) -> Array:
        """Return the function of each class, shape (n_samples, n_classes); the largest decides, if it is above 0."""
        return self._functions(X)

    def predict(self, X: Any) -> NDArray[Any]:
        """Predict the class of each row, or ``outlier_label``, if given, where no function is above 0."""
        return super().predict(X)

    def _by_matrix(self, K: Array, given: SpreadProblem) -> Stationary:
        return self._of_classes(pair(K, self._pair(given)))

    def _by_features(self, F: Array, given: SpreadProblem) -> Stationary:
        return self._of_classes(pair_features(F, self._pair(given)))

    def _pair(self, given: SpreadProblem) -> Pair:
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

    def _read_roles(self, labels: NDArray[Any]) -> Roles:
        if _gate.carrying(labels, self.outlier_label).any():
            raise ValueError(
                f"BiSemiKSC: outlier_label must not be a label of y, got {self.outlier_label!r}; for rows that are "
                "known to belong to no class, use thresher.novelty."
            )
        return super()._read_roles(labels)

    def _read_functions(self, functions: Array) -> NDArray[Any]:
        return self._read_own(functions, 0.0, self.outlier_label)

    def _check_loaded(self) -> None:
        super()._check_loaded()
        if _gate.carrying(self.classes_, self.outlier_label).any():
            raise ValueError("BiSemiKSC: classes_ must not hold the label of outliers.")
