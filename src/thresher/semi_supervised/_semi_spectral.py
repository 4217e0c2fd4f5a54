"""Base class of kernel machines whose scores fit the labels and spread over all rows, labelled or not."""

from __future__ import annotations

from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .._engine import one_blas_thread
from .._estimators import ComparesNeighbors, FixedSizeMachine, WeighsLosses, param, warn_of_convergence
from .._gate import Array, Log, beside, boolean, check_value, fraction, labels_beside, on_host, take
from .._kernels import FixedSize, Neighbors
from ._partial_machine import PartlyLabelled, PartlyLabelledRows
from ._roles import Roles, filled
from ._spread import Stationary, times_features

_CLOSE = 1e-12  # reciprocal condition numbers below which a solution has hardly a digit


class SpreadProblem(NamedTuple):
    """Of each row: its share in the spread, the factor of its squared error, 0 where there is no label, and targets +1
    and -1, 0 where there is none, in a column per class (one column for two classes)."""

    share: Array
    cost: Array
    targets: Array


class SpectralClassifier(WeighsLosses, PartlyLabelled, ComparesNeighbors, FixedSizeMachine):
    """Base class: a subclass finds its functions and reads them.

    Attributes
    ----------
    rcond_ : float
        Reciprocal condition number of the linear system. Values below 1e-12 cause a warning.
    is_minimum_ : bool
        Whether the scores are the minimum; else they are a saddle point.

    References
    ----------
    .. [1] C. Alzate and J. Suykens, "A semi-supervised formulation to binary kernel spectral clustering", IJCNN 2012.
    .. [2] V. Jumutc, "Flexible software design for stochastic and kernel-based learning in advanced data-driven
       modelling", KU Leuven, 2016, equations 2.37 to 2.46.
    """

    C: float = param(
        default=10.0, doc=r"Weight of the squared errors of labelled rows (:math:`\rho`).", search=Log(1e-2, 1e3)
    )
    kernel: Any = param(default="auto", kw_only=False)
    class_weight: Any = param(
        default=None, doc="Weights of the classes, which multiply ``C``. They do not apply to unlabelled rows."
    )
    cache_size: float = param(
        default=500,
        doc="""Memory for the kernel matrix in megabytes. It must fit as a whole unless there are landmarks; 500 MB are
        enough for 8000 rows.""",
    )

    _fitted: ClassVar[tuple[str, ...]] = ("rcond_", "is_minimum_")
    _takes_arrays: ClassVar[bool] = True

    def _by_matrix(self, K: Array, given: SpreadProblem) -> Stationary:
        """The functions of all classes, by a kernel matrix."""
        raise NotImplementedError

    def _by_features(self, F: Array, given: SpreadProblem) -> Stationary:
        """The same by features whose products are the kernel."""
        raise NotImplementedError

    def _spreads(self) -> tuple[float, ...]:
        raise NotImplementedError

    def _learn_from(self, X: Any, given: PartlyLabelledRows) -> None:
        """Solve the linear system of all rows, or of the landmarks."""
        there, weight, roles = given.there, given.weight, self._read_roles(given.labels[given.there])
        with one_blas_thread(), np.errstate(over="ignore", invalid="ignore"):
            fixed = self._fixed_size(some := self._some(given.rows, there))
            if fixed is None:
                K = on_host(self._whole_gram(some))
                found = self._by_matrix(K, self._given(roles, weight, K @ weight, K.diagonal()))
            else:
                degrees, own = _degrees(fixed, some, weight), fixed.own(some)
                found = self._by_features(fixed.features, self._given(roles, weight, degrees, own))
        if found.rcond == 0 or not np.isfinite(found.coef).all():
            who = type(self).__name__
            raise ValueError(f"{who}: the linear system must not be singular; change the spread, or lower C.")
        coef = found.coef.T if fixed is None else fixed.coef(found.coef.T)
        self._keep_fixed(X, given.rows, there, coef, fixed)
        self.classes_, self.intercept_ = roles.classes, beside(found.intercept, given.rows)
        if found.spread is not None:
            self.spread_ = found.spread
        self.rcond_, self.is_minimum_ = min(found.rcond, 1.0), bool(found.is_minimum)  # LAPACK's may exceed 1 by a bit
        open_ = roles.unlabelled
        answers = filled(given.labels, there[open_], self._read_functions(found.scores[open_]))
        self.transduction_ = labels_beside(answers, given.rows)
        if self.rcond_ < _CLOSE:
            warn_of_convergence(
                f"{type(self).__name__}: the linear system is nearly singular (rcond_ is {self.rcond_:.1g}), so its "
                "solution is inaccurate; change the spread, or lower C.",
                stacklevel=4,
            )

    def _given(self, roles: Roles, weight: Array, degrees: Array, own: Array) -> SpreadProblem:
        """The problem, by the sums of each row's kernel with all rows, and its kernel with itself. A row that is like
        none, not even like itself (an empty row, with inner products), has no share in the spread."""
        cost = np.where(roles.unlabelled, 0.0, float(self.C) * self._factors(roles) * weight)
        targets = np.stack(roles.outputs(), axis=1)
        if not any(self._spreads()):
            return SpreadProblem(np.zeros(len(weight)), cost, targets)
        like_none = (degrees == 0) & (own == 0)
        degrees = np.where(like_none, np.inf, degrees)
        if not (degrees > 0).all():
            raise ValueError(
                f"{type(self).__name__}: the kernel of a row with all rows must have a sum above 0, got "
                f"{np.min(degrees):.3g}; take one without values below 0, such as 'rbf', or spread=0."
            )
        return SpreadProblem(weight / degrees, cost, targets)

    # --- functions, and how they are read -----------------------------------------------------------------------------

    def predict(self, X: Any) -> NDArray[Any]:
        """The class of each row."""
        return self._read_functions(self._functions(X))

    def _read_functions(self, functions: Array) -> NDArray[Any]:
        return self._read_scores(self._shape_scores(functions))

    def _check_loaded(self) -> None:
        super()._check_loaded()
        who = type(self).__name__
        check_value(who, "rcond_", self.rcond_, fraction)
        check_value(who, "is_minimum_", self.is_minimum_, boolean)


def _degrees(fixed: FixedSize, rows: Any, weight: Array) -> Array:
    """Sums of the approximate kernel. Rows far from all landmarks have hardly any, or less than none: but where the
    kernel has no values below 0, a row is at least like itself."""
    degrees: Array = times_features(fixed.features, times_features(fixed.features.T, weight))
    if isinstance(fixed.kernel, Neighbors) or (fixed.kernel(on_host(take(rows, fixed.places))) < 0).any():
        return degrees
    return np.maximum(degrees, on_host(fixed.kernel.diagonal(rows)) * weight)
