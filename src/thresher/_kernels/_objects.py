"""Kernels as objects: rows and rows in, a dense matrix of similarities out."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

import numpy as np
from scipy import sparse

from .._params import Rule, at_least, check_params, non_negative, positive
from ._products import Array, as_floats, products, squared_distances, squares

width = Rule('"scale" or a number above 0', lambda v: (isinstance(v, str) and v == "scale") or positive.holds(v))


def scale(X: Any) -> float:
    """What ``gamma="scale"`` means for rows ``X``: 1 over the number of features times the variance of all values."""
    values = (X.data if sparse.issparse(X) else X).astype(np.float64, copy=False)
    n_values = X.shape[0] * X.shape[1]
    mean = values.sum() / n_values
    n_zeros = n_values - values.size
    variance = (np.sum((values - mean) ** 2) + n_zeros * mean**2) / n_values
    return float(1.0 / (X.shape[1] * variance)) if variance > np.finfo(np.float64).tiny else 1.0


@dataclass(frozen=True)
class Kernel:
    """Base class: what is given is checked, what is computed is of float64."""

    _param_rules: ClassVar[dict[str, Rule]] = {}

    def __post_init__(self) -> None:
        check_params(self, self._param_rules)

    def __call__(self, X: Any, Z: Any = None) -> Array:
        """The kernel of every row of ``X`` with every row of ``Z`` (default: with one another), both dense or CSR."""
        X = as_floats(X)
        if Z is None:
            return self.settled(X)._values(X, X)
        if getattr(self, "gamma", None) == "scale":
            raise ValueError(
                f'{type(self).__name__}: gamma must be a number when two sets of rows are compared, got "scale"; '
                "settled(X) puts in the number for X."
            )
        return self._values(X, as_floats(Z))

    def settled(self, X: Any) -> Self:
        """The same kernel, with the number that ``gamma="scale"`` stands for on rows ``X``."""
        if getattr(self, "gamma", None) != "scale":
            return self
        return replace(self, **{"gamma": scale(as_floats(X))})

    def diagonal(self, X: Any) -> Array:
        """The kernel of each row of ``X`` with itself."""
        X = as_floats(X)
        return self.settled(X)._on_diagonal(X)

    def _values(self, X: Any, Z: Any) -> Array:
        raise NotImplementedError

    def _on_diagonal(self, X: Any) -> Array:
        raise NotImplementedError


@dataclass(frozen=True)
class Linear(Kernel):
    """The inner product, ``x . z``.

    Examples
    --------
    >>> from thresher.kernels import Linear
    >>> Linear()([[1.0, 2.0]], [[3.0, 4.0], [0.0, 1.0]])
    array([[11.,  2.]])
    """

    def _values(self, X: Any, Z: Any) -> Array:
        return products(X, Z)

    def _on_diagonal(self, X: Any) -> Array:
        return squares(X)


@dataclass(frozen=True)
class RBF(Kernel):
    r"""The Gaussian kernel, :math:`\exp(-\gamma \|x - z\|^2)`.

    Parameters
    ----------
    gamma : float or "scale", default="scale"
        Width: :math:`1 / (2 \sigma^2)`. ``"scale"`` is ``1 / (n_features * X.var())``.

    Examples
    --------
    >>> from thresher.kernels import RBF
    >>> RBF(gamma=0.5)([[0.0], [1.0]]).round(3)
    array([[1.   , 0.607],
           [0.607, 1.   ]])
    """

    gamma: Any = "scale"
    _param_rules: ClassVar[dict[str, Rule]] = {"gamma": width}

    def _values(self, X: Any, Z: Any) -> Array:
        with np.errstate(over="ignore"):  # infinitely far apart: exp(-inf) is 0, as it should be
            values: Array = np.exp(-self.gamma * squared_distances(X, Z))
        return values

    def _on_diagonal(self, X: Any) -> Array:
        return np.ones(X.shape[0])


@dataclass(frozen=True)
class Polynomial(Kernel):
    r"""The polynomial kernel, :math:`(\gamma\, x^\top z + c)^p`.

    Parameters
    ----------
    degree : int, default=3
        :math:`p`.
    gamma : float or "scale", default="scale"
        Factor of the inner product. ``"scale"`` is ``1 / (n_features * X.var())``.
    coef0 : float, default=1.0
        :math:`c`, at least 0.

    Examples
    --------
    >>> from thresher.kernels import Polynomial
    >>> Polynomial(degree=2, gamma=1.0)([[1.0, 2.0]], [[3.0, 4.0]])
    array([[144.]])
    """

    degree: int = 3
    gamma: Any = "scale"
    coef0: float = 1.0
    _param_rules: ClassVar[dict[str, Rule]] = {"degree": at_least(1), "gamma": width, "coef0": non_negative}

    def _values(self, X: Any, Z: Any) -> Array:
        return self._of_products(products(X, Z))

    def _on_diagonal(self, X: Any) -> Array:
        return self._of_products(squares(X))

    def _of_products(self, values: Array) -> Array:
        with np.errstate(over="ignore"):
            values = (self.gamma * values + self.coef0) ** int(self.degree)
        if not np.isfinite(values).all():
            raise ValueError(
                f"Polynomial: values of degree {self.degree} leave the range of floating point; "
                "scale the features to about 1, or take a smaller gamma or degree."
            )
        return values


@dataclass(frozen=True)
class Cosine(Kernel):
    r"""The cosine of the angle between rows, :math:`x^\top z / (\|x\| \|z\|)`; 0 with a row of zeros.

    Examples
    --------
    >>> from thresher.kernels import Cosine
    >>> Cosine()([[3.0, 4.0]], [[6.0, 8.0], [4.0, -3.0]])
    array([[1., 0.]])
    """

    def _values(self, X: Any, Z: Any) -> Array:
        sizes = np.sqrt(squares(X))[:, None] * np.sqrt(squares(Z))
        values: Array = np.divide(products(X, Z), sizes, out=np.zeros_like(sizes), where=sizes > 0)
        return values

    def _on_diagonal(self, X: Any) -> Array:
        values: Array = (squares(X) > 0).astype(np.float64)
        return values
