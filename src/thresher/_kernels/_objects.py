"""Kernels as objects: rows and rows in, a dense matrix of similarities out."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import field, replace
from typing import Any, ClassVar, Self

import numpy as np

from .._dataclasses import dataclass
from .._gate import Rule, as_float64, at_least, is_finite, is_foreign_array, namespace, non_negative, positive, sparse
from . import _columns
from ._kernel import Kernel
from ._neighbors import neighbor_width
from ._products import Array, as_floats, distances_to, products, squares, unit_rows

_factor = Rule(
    '"scale" or a number above 0',
    lambda v: (isinstance(v, str) and v == "scale") or positive.holds(v),
    type='float or "scale"',
)
width = Rule(
    '"scale", "neighbors" or a number above 0',
    lambda v: (isinstance(v, str) and v in ("scale", "neighbors")) or positive.holds(v),
    type='float, "scale" or "neighbors"',
)
_features = {"features": Rule(_columns.says, _columns.are_features)}


def scale(X: Any) -> float:
    """The value of ``gamma="scale"`` for rows ``X``: 1 over the number of features times the variance of all values."""
    if is_foreign_array(X):
        variance = float(namespace(X).var(as_float64(X)))
        return 1.0 / (X.shape[1] * variance) if variance > np.finfo(np.float64).tiny else 1.0
    values = (X.data if sparse.issparse(X) else X).astype(np.float64, copy=False)
    n_values = X.shape[0] * X.shape[1]
    mean = values.sum() / n_values
    n_zeros = n_values - values.size
    variance = (np.sum((values - mean) ** 2) + n_zeros * mean**2) / n_values
    return float(1.0 / (X.shape[1] * variance)) if variance > np.finfo(np.float64).tiny else 1.0


@dataclass(frozen=True)
class ColumnKernel(Kernel):
    """Base class: a kernel of all columns, or of some."""

    features: Any = field(default=None, kw_only=True)
    _param_rules: ClassVar[dict[str, Rule]] = _features

    def __post_init__(self) -> None:
        object.__setattr__(self, "features", _columns.as_features(self.features))
        super().__post_init__()

    def settled(self, X: Any, names: Sequence[str] | None = None) -> Self:
        who = type(self).__name__
        names = getattr(X, "columns", None) if names is None else names
        rows = as_floats(X)
        known: dict[str, Any] = {"features": _columns.placed(self.features, rows, names, who)}
        gamma = getattr(self, "gamma", None)
        if isinstance(gamma, str):
            some = _columns.pick(rows, known["features"], who)
            known["gamma"] = (neighbor_width(some) if gamma == "neighbors" else 0.0) or scale(some)
        return self if all(getattr(self, name) == value for name, value in known.items()) else replace(self, **known)

    def describe(self, names: Sequence[str] | None = None) -> str:
        return type(self).__name__.lower() + self._shape() + _columns.describe_columns(self.features, names)

    def _check_settled(self, n_features: int | None = None) -> None:
        who = type(self).__name__
        if isinstance(gamma := getattr(self, "gamma", None), str):
            raise ValueError(
                f'{who}: gamma must be a number when two sets of rows are compared, got "{gamma}"; '
                "settled(X) replaces it by the number for X."
            )
        if self.features is not None and isinstance(self.features[0], str):
            raise ValueError(
                f"{who}: features must be numbers of columns when two sets of rows are compared, got "
                f"{self.features[0]!r}; settled(X) replaces names by numbers for X."
            )
        if n_features is not None:
            _columns.check_width(self.features, n_features, who)

    def _against(self, Z: Any) -> Callable[[Any], Array]:
        values = self._compare_with(self._pick(Z))
        return lambda X: values(self._pick(X))

    def _on_diagonal(self, X: Any) -> Array:
        return self._of_squares(squares(self._pick(X)))

    def _pick(self, X: Any) -> Any:
        return _columns.pick(X, self.features, type(self).__name__)

    def _shape(self) -> str:
        """Its parameters, in brackets."""
        return ""

    def _compare_with(self, Z: Any) -> Callable[[Any], Array]:
        """The same for rows of the chosen columns."""
        raise NotImplementedError

    def _of_squares(self, squares: Array) -> Array:
        """The kernel of rows with themselves, given their squared lengths."""
        raise NotImplementedError


@dataclass(frozen=True)
class Linear(ColumnKernel):
    """The inner product of two rows.

    Parameters
    ----------
    features : int, str or list of these, optional
        The columns that count, by number or by name (of a data frame); all by default.

    Examples
    --------
    >>> from thresher.kernels import Linear
    >>> Linear()([[1.0, 2.0]], [[3.0, 4.0], [0.0, 1.0]])
    array([[11.,  2.]])
    >>> Linear(features=1)([[1.0, 2.0]], [[3.0, 4.0], [0.0, 1.0]])
    array([[8., 2.]])
    """

    def _compare_with(self, Z: Any) -> Callable[[Any], Array]:
        return lambda X: products(X, Z)

    def _of_squares(self, squares: Array) -> Array:
        return squares


@dataclass(frozen=True)
class Cosine(ColumnKernel):
    r"""The cosine of the angle between two rows, :math:`x^\top z / (\|x\| \|z\|)`; 0 for a row of zeros.

    Choose it for counts of words, where the length of a text should not matter.

    Parameters
    ----------
    features : int, str or list of these, optional
        See :class:`Linear`.

    Examples
    --------
    >>> from thresher.kernels import Cosine
    >>> Cosine()([[3.0, 4.0]], [[6.0, 8.0], [1.0, 0.0]]).round(3)
    array([[1. , 0.6]])
    """

    def _compare_with(self, Z: Any) -> Callable[[Any], Array]:
        unit = unit_rows(Z)
        return lambda X: products(unit_rows(X), unit)

    def _of_squares(self, squares: Array) -> Array:
        xp = namespace(squares)
        return xp.astype(squares > 0, xp.float64)


@dataclass(frozen=True)
class RBF(ColumnKernel):
    r"""The Gaussian kernel, :math:`\exp(-\gamma \|x - z\|^2)`.

    Parameters
    ----------
    gamma : float, "scale" or "neighbors", default="scale"
        Width: :math:`1 / (2 \sigma^2)`. ``"scale"`` is ``1 / (n_features * X.var())`` over the columns that count,
        ``"neighbors"`` 2 over the median squared distance of a row from its 10th neighbour.
    features : int, str or list of these, optional
        See :class:`Linear`.

    Examples
    --------
    >>> from thresher.kernels import RBF
    >>> RBF(gamma=0.5)([[0.0], [1.0]]).round(3)
    array([[1.   , 0.607],
           [0.607, 1.   ]])
    """

    gamma: Any = "scale"
    _param_rules: ClassVar[dict[str, Rule]] = {"gamma": width, **_features}

    def _shape(self) -> str:
        return f"(gamma={_short(self.gamma)})"

    def _compare_with(self, Z: Any) -> Callable[[Any], Array]:
        distances = distances_to(Z)

        def values(X: Any) -> Array:
            with np.errstate(over="ignore"):  # infinitely far apart: exp(-inf) is 0, as it should be
                exponents = distances(X)
                exponents *= -self.gamma
                if is_foreign_array(exponents):
                    return namespace(exponents).exp(exponents)
                return np.exp(exponents, out=exponents)

        return values

    def _of_squares(self, squares: Array) -> Array:
        return namespace(squares).ones_like(squares)


@dataclass(frozen=True)
class Polynomial(ColumnKernel):
    r"""The polynomial kernel, :math:`(\gamma\, x^\top z + c)^p`.

    Parameters
    ----------
    degree : int, default=3
        :math:`p`.
    gamma : float or "scale", default="scale"
        Factor of the inner product. ``"scale"`` is ``1 / (n_features * X.var())`` over the columns that count.
    coef0 : float, default=1.0
        :math:`c`, at least 0.
    features : int, str or list of these, optional
        See :class:`Linear`.

    Examples
    --------
    >>> from thresher.kernels import Polynomial
    >>> Polynomial(degree=2, gamma=1.0)([[1.0, 2.0]], [[3.0, 4.0]])
    array([[144.]])
    """

    degree: int = 3
    gamma: Any = "scale"
    coef0: float = 1.0
    _param_rules: ClassVar[dict[str, Rule]] = {
        "degree": at_least(1),
        "gamma": _factor,
        "coef0": non_negative,
        **_features,
    }

    def _shape(self) -> str:
        return f"(degree={self.degree}, gamma={_short(self.gamma)}, coef0={_short(self.coef0)})"

    def _compare_with(self, Z: Any) -> Callable[[Any], Array]:
        return lambda X: self._of_squares(products(X, Z))

    def _of_squares(self, squares: Array) -> Array:
        with np.errstate(over="ignore"):
            values: Array = (self.gamma * squares + self.coef0) ** int(self.degree)
        if not is_finite(values):
            raise ValueError(
                f"Polynomial: values of degree {self.degree} overflow; "
                "scale the features to about 1, or take a smaller gamma or degree."
            )
        return values


def _short(value: Any) -> str:
    return value if isinstance(value, str) else f"{value:.3g}"
