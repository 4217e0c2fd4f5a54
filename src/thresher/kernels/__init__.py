"""Kernels, and the map that makes a linear learner a kernel machine: :class:`FixedSizeNystroem`."""

from .._kernels import RBF, Cosine, Kernel, Linear, Polynomial, Scaled, WeightedSum
from ._nystroem import FixedSizeNystroem

__all__ = ["RBF", "Cosine", "FixedSizeNystroem", "Kernel", "Linear", "Polynomial", "Scaled", "WeightedSum"]
