"""Kernels as objects, and the matrices that they make of rows."""

from ._objects import RBF, Kernel, Linear, Polynomial

__all__ = ["RBF", "Kernel", "Linear", "Polynomial"]
