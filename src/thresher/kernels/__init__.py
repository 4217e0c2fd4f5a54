"""Kernels, the Nystroem map that turns linear learners into kernel machines (:class:`FixedSizeNystroem`), the
least-squares support vector machine (:class:`LSSVC`), linear least squares (:class:`LeastSquaresClassifier`), and
logistic regression (:class:`LogisticClassifier`)."""

from typing import TYPE_CHECKING

from .._lazy import on_first_use

if TYPE_CHECKING:
    from .._kernels import RBF, Cosine, Kernel, Linear, Polynomial, Scaled, WeightedSum
    from ._least_squares import LeastSquaresClassifier, LeastSquaresRegressor
    from ._logistic import LogisticClassifier
    from ._ls_svc import LSSVC
    from ._nystroem import FixedSizeNystroem
else:
    __getattr__, __dir__ = on_first_use(__name__, __file__)

__all__ = [
    "LSSVC",
    "RBF",
    "Cosine",
    "FixedSizeNystroem",
    "Kernel",
    "LeastSquaresClassifier",
    "LeastSquaresRegressor",
    "Linear",
    "LogisticClassifier",
    "Polynomial",
    "Scaled",
    "WeightedSum",
]
