"""Kernels, the Nystroem map that turns linear learners into kernel machines (:class:`FixedSizeNystroem`), the
least-squares support vector machine (:class:`LSSVC`), and linear least squares (:class:`LeastSquaresClassifier`)."""

from .._kernels import RBF, Cosine, Kernel, Linear, Polynomial, Scaled, WeightedSum
from ._least_squares import LeastSquaresClassifier, LeastSquaresRegressor
from ._ls_svc import LSSVC
from ._nystroem import FixedSizeNystroem

__all__ = [
    "LSSVC",
    "RBF",
    "Cosine",
    "FixedSizeNystroem",
    "Kernel",
    "LeastSquaresClassifier",
    "LeastSquaresRegressor",
    "Linear",
    "Polynomial",
    "Scaled",
    "WeightedSum",
]
