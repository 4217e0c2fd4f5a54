"""Kernels, and the map that makes a linear learner a kernel machine: :class:`FixedSizeNystroem`."""

from .._kernels import RBF, Cosine, Linear, Polynomial
from ._nystroem import FixedSizeNystroem

__all__ = ["RBF", "Cosine", "FixedSizeNystroem", "Linear", "Polynomial"]
