"""Base class of kernels, and kernels made of kernels: a factor times one, a weighted sum of several."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, ClassVar, Self

import numpy as np

from .._dataclasses import dataclass
from .._gate import Rule, beside, check_params, check_value, is_finite, non_negative, one_of, positive, sparse, zeros
from . import _kernel_blocks
from ._products import Array, as_floats

_CONSTANT = 1e-12  # a variance below this part of the mean diagonal is a rounding error


@dataclass(frozen=True)
class Kernel:
    """Base class, which checks parameters and rows; values are of float64."""

    _param_rules: ClassVar[dict[str, Rule]] = {}

    def __post_init__(self) -> None:
        check_params(self, self._param_rules)

    def __call__(self, X: Any, Z: Any = None) -> Array:
        """The kernel of every row of ``X`` with every row of ``Z`` (default: with one another), both dense or CSR."""
        rows = self._checked(X)
        if Z is None:
            kernel = self.settled(X)
            return _kernel_blocks.among(kernel._against, rows, kernel._on_diagonal(rows))
        self._check_settled()
        others = self._checked(Z)
        if others.shape[1] != rows.shape[1]:
            raise ValueError(
                f"{type(self).__name__}: both sets of rows must have the same columns, got {rows.shape[1]} and "
                f"{others.shape[1]}."
            )
        return _kernel_blocks.between(self._against(beside(others, rows)), rows, others.shape[0])

    def _checked(self, X: Any) -> Any:
        """Rows of finite numbers."""
        rows, who = as_floats(X), type(self).__name__
        if rows.ndim != 2:
            raise ValueError(f"{who}: rows must be a table of two dimensions, got shape {rows.shape}.")
        if not is_finite(rows.data if sparse.issparse(rows) else rows):
            raise ValueError(f"{who}: rows must hold finite numbers.")
        return rows

    def settled(self, X: Any, names: Sequence[str] | None = None) -> Self:
        """The same kernel, ready for rows like ``X``: ``gamma="scale"`` is a number, and features are places of
        columns, found by ``names`` (default: those of a data frame)."""
        raise NotImplementedError

    def diagonal(self, X: Any) -> Array:
        """The kernel of every row with itself."""
        return self.settled(X)._on_diagonal(as_floats(X))

    def describe(self, names: Sequence[str] | None = None) -> str:
        """A short name for reports; ``names`` are those of the columns."""
        raise NotImplementedError

    def normalised(self, X: Any, by: str = "trace") -> Scaled:
        """The same kernel times a factor, so that kernels of different kinds are of one size.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
            Training rows; the factor that they give holds for all others, too.
        by : {"trace", "variance"}, default="trace"
            ``"trace"``: the diagonal of their matrix sums to 1. ``"variance"``: the mean squared distance of their
            images from the mean image, which is the mean of the diagonal less that of all entries, is 1. A kernel that
            has nothing to divide by keeps its size.

        Returns
        -------
        Scaled
        """
        check_value("normalised", "by", by, one_of("trace", "variance"))
        kernel, rows = self.settled(X), as_floats(X)
        diagonal = kernel._on_diagonal(rows)
        if by == "trace":
            return Scaled(kernel, _inverse(float(diagonal.sum()), 0.0))
        mean = float(diagonal.mean())
        return Scaled(kernel, _inverse(mean - _mean_entry(kernel, rows), _CONSTANT * mean))

    def __str__(self) -> str:
        return self.describe()

    def _check_settled(self, n_features: int | None = None) -> None:
        """Refuse a kernel of which something is still to be read from rows, or that does not fit rows of a width."""

    def _against(self, Z: Any) -> Callable[[Any], Array]:
        """The kernel of rows with those of ``Z``, as a function of the rows: all of float64, dense or CSR."""
        raise NotImplementedError

    def _on_diagonal(self, X: Any) -> Array:
        """The kernel of such rows with themselves."""
        raise NotImplementedError


@dataclass(frozen=True)
class Scaled(Kernel):
    """A kernel times a factor above 0, as :meth:`Kernel.normalised` returns it. It has the name of its kernel.

    Examples
    --------
    >>> from thresher.kernels import Linear
    >>> kernel = Linear().normalised([[1.0, 2.0], [0.0, 1.0]])
    >>> round(kernel.factor, 3)
    0.167
    >>> kernel([[1.0, 2.0]], [[3.0, 0.0]])
    array([[0.5]])
    """

    kernel: Kernel
    factor: float = 1.0
    _param_rules: ClassVar[dict[str, Rule]] = {
        "kernel": Rule("a kernel", lambda v: isinstance(v, Kernel)),
        "factor": positive,
    }

    def settled(self, X: Any, names: Sequence[str] | None = None) -> Self:
        return replace(self, kernel=self.kernel.settled(X, names))

    def describe(self, names: Sequence[str] | None = None) -> str:
        return self.kernel.describe(names)

    def _check_settled(self, n_features: int | None = None) -> None:
        self.kernel._check_settled(n_features)

    def _against(self, Z: Any) -> Callable[[Any], Array]:
        values = self.kernel._against(Z)
        return lambda X: self.factor * values(X)

    def _on_diagonal(self, X: Any) -> Array:
        return self.factor * self.kernel._on_diagonal(X)


@dataclass(frozen=True)
class WeightedSum(Kernel):
    r"""A weighted sum of kernels, :math:`\sum_m \theta_m k_m(x, z)`. Kernels of weight 0 cost nothing.

    Parameters
    ----------
    kernels : sequence of kernels
        At least one.
    weights : sequence of float, optional
        A number of at least 0 for each (:math:`\theta`); 1 if not given.

    Examples
    --------
    >>> from thresher.kernels import RBF, Linear, WeightedSum
    >>> kernel = WeightedSum([Linear(features=0), RBF(0.5, features=[0, 1])], [2.0, 0.25])
    >>> print(kernel)
    2 linear on column 0 + 0.25 rbf(gamma=0.5) on columns 0, 1
    >>> kernel([[1.0, 2.0]], [[3.0, 2.0]]).round(4)
    array([[6.0338]])
    """

    kernels: Sequence[Kernel]
    weights: Sequence[float] | None = None
    _param_rules: ClassVar[dict[str, Rule]] = {
        "kernels": Rule(
            "a sequence of at least one kernel",
            lambda v: isinstance(v, tuple) and bool(v) and all(isinstance(one, Kernel) for one in v),
        ),
        "weights": Rule(
            "numbers of at least 0", lambda v: isinstance(v, tuple) and all(non_negative.holds(one) for one in v)
        ),
    }

    def __post_init__(self) -> None:
        if isinstance(self.kernels, list):
            object.__setattr__(self, "kernels", tuple(self.kernels))
        given = self.weights
        if given is None and isinstance(self.kernels, tuple):
            given = (1.0,) * len(self.kernels)
        elif isinstance(given, (list, np.ndarray)) and np.ndim(given) == 1:
            given = tuple(np.asarray(given).tolist())
        object.__setattr__(self, "weights", given)
        super().__post_init__()
        if len(self._weights) != len(self.kernels):
            raise ValueError(
                f"WeightedSum: weights must be one number per kernel, got {len(self._weights)} for {len(self.kernels)}."
            )

    @property
    def _weights(self) -> Sequence[float]:
        assert self.weights is not None  # None was replaced when it was made
        return self.weights

    def settled(self, X: Any, names: Sequence[str] | None = None) -> Self:
        return replace(self, kernels=tuple(kernel.settled(X, names) for kernel in self.kernels))

    def describe(self, names: Sequence[str] | None = None) -> str:
        terms = (f"{weight:.3g} {kernel.describe(names)}" for weight, kernel in self._used())
        return " + ".join(terms) or "nothing"

    def _check_settled(self, n_features: int | None = None) -> None:
        for kernel in self.kernels:
            kernel._check_settled(n_features)

    def _against(self, Z: Any) -> Callable[[Any], Array]:
        terms = [(weight, kernel._against(Z)) for weight, kernel in self._used()]

        def values(X: Any) -> Array:
            total = zeros((X.shape[0], Z.shape[0]), X)
            for weight, term in terms:
                total += weight * term(X)
            return total

        return values

    def _on_diagonal(self, X: Any) -> Array:
        total = zeros((X.shape[0],), X)
        for weight, kernel in self._used():
            total += weight * kernel._on_diagonal(X)
        return total

    def _used(self) -> list[tuple[float, Kernel]]:
        return [(weight, kernel) for weight, kernel in zip(self._weights, self.kernels, strict=True) if weight > 0]


def _inverse(amount: float, rounding: float) -> float:
    return 1.0 / amount if amount > rounding and 0.0 < 1.0 / amount < np.inf else 1.0


def _mean_entry(kernel: Kernel, rows: Any) -> float:
    """The mean of the matrix of all rows, which is never held."""
    n_rows: int = rows.shape[0]
    return sum(float(kernel(rows[part, :], rows).sum()) for part in _kernel_blocks.parts(n_rows, n_rows)) / n_rows**2
