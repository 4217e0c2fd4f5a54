"""Kernels as objects, and the matrices that they make of rows."""

from ._gram import Gram, gram
from ._objects import RBF, Cosine, Kernel, Linear, Polynomial

__all__ = ["RBF", "Cosine", "Gram", "Kernel", "Linear", "Polynomial", "gram"]
