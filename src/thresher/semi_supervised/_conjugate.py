"""The same problem in all rows, by products with the kernel matrix: Newton's method with conjugate gradients inside."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .._kernels import Array
from ._descent import Descent
from ._lap_newton import exact_step
from ._manifold import ManifoldPenalty

_INNER = 1000  # products for a direction
_SHARE = 1e-2  # of the gradient may be left by a direction
_ROUNDING = 1e-8  # below 0, as a part of the trace of the kernel, a square is a rounding error


class Point(NamedTuple):
    """Coefficients of all rows and the constant, divided by the size of features; K times the coefficients."""

    coef: Array
    constant: float
    products: Array

    def plus(self, factor: float, other: Point) -> Point:
        coef, constant, products = self
        return Point(coef + factor * other.coef, constant + factor * other.constant, products + factor * other.products)

    def dot(self, other: Point) -> float:
        """In the space of features."""
        return float(self.products @ other.coef + self.constant * other.constant)


class PrimalProblem:
    r"""J(w, b) = sum_i c_i [1 - y_i f_i]_+^2 + a |w|^2 + g f'Lf, with w the sum of rows weighted by coefficients.

    Gradients are taken in the space of features, that is, preconditioned by K [Melacci and Belkin, 2011]: their
    coefficients are ``a coef + v`` with v the derivative by f, all halved. The constant counts as a feature of the mean
    size of the others.
    """

    def __init__(self, K: Any, labelled: NDArray[np.intp], penalty: ManifoldPenalty, sides: Array, cost: Array) -> None:
        self._K, self._labelled, self._penalty = K, labelled, penalty
        self._sides, self._cost = sides, cost
        self._trace = float(K.diagonal().sum())
        self._size = np.sqrt(self._trace / len(K.diagonal())) or 1.0

    def length(self, point: Point) -> float:
        """In the space of features, which a kernel that is not positive semi-definite has none of."""
        square = point.dot(point)
        if square < -_ROUNDING * self._trace * float(point.coef @ point.coef):
            raise np.linalg.LinAlgError
        return float(np.sqrt(max(square, 0.0)))

    def scores(self, point: Point) -> Array:
        return point.products + self._size * point.constant

    def point(self, coef: Array, constant: float) -> Point:
        K = self._K
        return Point(coef, constant, K @ coef if isinstance(K, np.ndarray) else K.times(coef[None])[0])

    def margins(self, f: Array) -> Array:
        return self._sides * f[self._labelled]

    def objective(self, point: Point, f: Array) -> float:
        lack = np.maximum(1 - self.margins(f), 0.0)
        a, g, L, _ = self._penalty
        return float(self._cost @ lack**2 + a * (point.coef @ point.products) + g * (f @ L.times(f)))

    def gradient(self, point: Point, f: Array) -> Point:
        lack = np.maximum(1 - self.margins(f), 0.0)
        return self._pulled(point, f, -self._cost * self._sides * lack)

    def curved(self, point: Point, active: Array) -> Point:
        """The second derivative where these rows cost something, times a direction."""
        f = self.scores(point)
        return self._pulled(point, f, self._cost * active * f[self._labelled])

    def _pulled(self, point: Point, f: Array, by_labels: Array) -> Point:
        a, g, L, _ = self._penalty
        v = g * L.times(f)
        v[self._labelled] += by_labels
        return self.point(a * point.coef + v, self._size * float(v.sum()))

    def direction(self, gradient: Point, active: Array, enough: float) -> Point:
        """Conjugate gradients for the Newton step, until what is left is small enough."""
        found = gradient.plus(-1.0, gradient)
        way = left = found.plus(-1.0, gradient)
        square = self.length(left) ** 2
        for _ in range(_INNER):
            if square <= enough**2:
                break
            bent = self.curved(way, active)
            curvature = way.dot(bent)
            if curvature <= 0:
                break
            size = square / curvature
            found, left = found.plus(size, way), left.plus(-size, bent)
            before, square = square, self.length(left) ** 2
            way = left.plus(square / before, way)
        return found

    def step(self, point: Point, f: Array, way: Point) -> float:
        """The length of the step along a direction."""
        a, g, L, _ = self._penalty
        df = self.scores(way)
        slope = 2 * a * (way.coef @ point.products) + 2 * g * (df @ L.times(f))
        curvature = a * (way.coef @ way.products) + g * (df @ L.times(df))
        return exact_step(float(slope), float(curvature), self.margins(f), self.margins(df), self._cost)

    def descend(self, tol: float, max_iter: int) -> Descent:
        """From 0 until the norm of the gradient is no more than ``tol`` times what it was there."""
        point = self.point(np.zeros(self._K.shape[0]), 0.0)
        f = self.scores(point)
        values, n_iter = [self.objective(point, f)], 0
        gradient = self.gradient(point, f)
        norm = first = self.length(gradient)
        while norm > tol * first and n_iter < max_iter:
            active = (self.margins(f) < 1).astype(np.float64)
            way = self.direction(gradient, active, _SHARE * norm)
            point = point.plus(self.step(point, f, way), way)
            f = self.scores(point)
            gradient = self.gradient(point, f)
            before, norm = norm, self.length(gradient)
            n_iter += 1
            values.append(min(self.objective(point, f), values[-1]))
            if values[-1] == values[-2] and norm >= before:  # this is as close as rounding lets it come
                break
        residual = float(norm / first) if first != 0 else 0.0
        off = np.abs(self.scores(self.point(point.coef, point.constant)) - f).max() / max(1.0, np.abs(f).max())
        ends = values, residual, n_iter, residual <= tol
        return Descent(point.coef, self._size * point.constant, *ends, f, off=float(off))
