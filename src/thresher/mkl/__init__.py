"""Multiple kernel learning: support vector machines that learn the weights of many kernels."""

from typing import TYPE_CHECKING

from .._lazy import on_first_use

if TYPE_CHECKING:
    from ._gmkl import GMKLClassifier, GMKLRegressor
    from ._norms import LpMKLClassifier, UniformMKLClassifier
    from ._simple_kernels import simple_mkl_kernels
else:
    __getattr__, __dir__ = on_first_use(__name__, __file__)

__all__ = ["GMKLClassifier", "GMKLRegressor", "LpMKLClassifier", "UniformMKLClassifier", "simple_mkl_kernels"]
