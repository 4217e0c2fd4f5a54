"""Multiple kernel learning: support vector machines that learn the weights of many kernels."""

from ._gmkl import GMKLClassifier, GMKLRegressor
from ._norms import LpMKLClassifier, UniformMKLClassifier
from ._simple_kernels import simple_mkl_kernels

__all__ = ["GMKLClassifier", "GMKLRegressor", "LpMKLClassifier", "UniformMKLClassifier", "simple_mkl_kernels"]
