"""Kernels, and the map that makes a linear learner a kernel machine: :class:`FixedSizeNystroem`."""

from .._kernels import RBF, Linear, Polynomial
from ._nystroem import FixedSizeNystroem

__all__ = ["RBF", "FixedSizeNystroem", "Linear", "Polynomial"]
