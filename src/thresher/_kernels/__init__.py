"""Kernels as objects, and the matrices that they make of rows."""

from ._gram import Gram, gram
from ._kernel import Kernel, Scaled, WeightedSum
from ._objects import RBF, Cosine, Linear, Polynomial

__all__ = ["RBF", "Cosine", "Gram", "Kernel", "Linear", "Polynomial", "Scaled", "WeightedSum", "gram"]
