r"""Sets of kernel weights over which a machine can be optimised.

A set :math:`\Theta` of weights of at least 0 answers three questions, all in closed form or by one root: its point
nearest to any other (:meth:`project`), its point furthest along given gains (:meth:`best_response`), and an upper bound
of how far that is (:meth:`support`, :math:`\sigma(a) = \max_{\theta \in \Theta} \theta^\top a`), on which the
certificate of a machine rests. :meth:`slopes` gives the derivative of the projection :math:`\theta` of z by z,
:math:`d - d n n^\top d / n^\top d n`: factors d of its own coordinate, and n, the direction out of the set in which it
cannot go (None inside). :meth:`start` gives equal weights, as large as the set allows.
"""

from __future__ import annotations

import numpy as np

from .._dataclasses import dataclass
from .._gate import Array, optimize

_NEWTON = 100
_INSIDE = 1e-12
_ROUNDING = 5e-16  # relative: steps no longer than this are errors of rounding


@dataclass(frozen=True)
class ElasticNet:
    r""":math:`\{\theta \ge 0 : v \|\theta\|_1 + (1 - v) \|\theta\|_2^2 \le 1\}`; ``v = 1`` is the simplex of L1-MKL,
    ``v = 0`` the ball of L2-MKL."""

    v: float

    def start(self, n: int) -> Array:
        v, u = self.v, 1 - self.v  # u n c^2 + v n c = 1, without the cancellation of its usual root
        return np.full(n, float(2 / (n * (v + np.sqrt(v * v + 4 * u / n)))))

    def project(self, z: Array) -> Array:
        r""":math:`[z - l v / 2]_+ / (1 + l (1 - v))` with the :math:`l` that puts it on the border.

        With the k largest left, :math:`u m l^2 + 2 m l = c` for :math:`u = 1 - v`, :math:`m = u + k v^2 / 4` and
        :math:`c` the excess of those k over 1; so l is the largest of n closed forms, and nothing is searched for.
        """
        v, u = self.v, 1 - self.v
        z = np.maximum(z, 0.0)
        largest = z[z > 0]
        if v * largest.sum() + u * (largest @ largest) <= 1:
            return z
        largest.sort()
        largest = largest[::-1]
        excess = np.maximum(v * largest.cumsum() + u * (largest * largest).cumsum() - 1, 0.0)
        m = u + np.arange(1, len(largest) + 1) * (v * v / 4)
        l = float((excess / (m + np.sqrt(m * m + u * m * excess))).max())
        return np.maximum(z - l * v / 2, 0.0) / (1 + l * u)

    def slopes(self, z: Array, theta: Array) -> tuple[Array, Array | None]:
        v, u, used = self.v, 1 - self.v, theta > 0
        if v * theta.sum() + u * (theta @ theta) < 1 - _INSIDE:
            return used.astype(np.float64), None
        normal = np.where(used, v / 2 + u * theta, 0.0)
        return used.astype(np.float64) / (1 + _multiple(z - theta, normal) * u), normal

    def best_response(self, a: Array) -> Array:
        r""":math:`[a / \lambda - v]_+ / (2 (1 - v))`; equal gains get equal weights. Theorem 9."""
        largest = float(a.max(initial=0.0))
        if largest == 0:
            return self.start(len(a))
        if self.v == 1:
            return self.project((a == largest) / np.count_nonzero(a == largest))
        a = a / largest
        return np.maximum(a / self._multiplier(a) - self.v, 0.0) / (2 * (1 - self.v))

    def support(self, a: Array) -> float:
        r""":math:`\min_\lambda \lambda + \sum_q [a_q - \lambda v]_+^2 / (4 \lambda (1 - v))`: a bound for any
        :math:`\lambda > 0`."""
        largest = float(a.max(initial=0.0))
        if largest == 0 or self.v == 1:
            return largest
        a = a / largest
        multiplier = self._multiplier(a)
        over = np.maximum(a - multiplier * self.v, 0.0)
        return largest * float(multiplier + over @ over / (4 * multiplier * (1 - self.v)))

    def _multiplier(self, a: Array) -> float:
        r""":math:`\lambda`, the largest over k of :math:`\sqrt{\sum_{q \le k} a_{(q)}^2 / (4 (1 - v) + k v^2)}`."""
        largest = a[a > 0]
        largest.sort()
        largest = largest[::-1]
        parts = 4 * (1 - self.v) + np.arange(1, len(largest) + 1) * self.v**2
        return float(np.sqrt(((largest * largest).cumsum() / parts).max()))


@dataclass(frozen=True)
class Ball:
    r""":math:`\{\theta \ge 0 : \|\theta\|_p \le 1\}` for :math:`p > 1`."""

    p: float

    def start(self, n: int) -> Array:
        return np.full(n, n ** (-1 / self.p))

    def project(self, z: Array) -> Array:
        z = np.maximum(z, 0.0)
        norm = self._norm(z)
        if norm <= 1 + _INSIDE:
            return z / max(norm, 1.0)
        low, high = -1.0, 1.0  # logarithms of the multiplier
        while self._norm(self._pulled(z, np.exp(low))) <= 1:
            low -= 2
        while self._norm(self._pulled(z, np.exp(high))) > 1:
            high += 2
        l = np.exp(optimize.brentq(lambda log: self._norm(self._pulled(z, np.exp(log))) - 1, low, high, xtol=1e-14))
        theta = self._pulled(z, l)
        return theta / max(self._norm(theta), 1.0)

    def slopes(self, z: Array, theta: Array) -> tuple[Array, Array | None]:
        used = theta > 0
        if self._norm(theta) < 1 - _INSIDE:
            return used.astype(np.float64), None
        normal = np.where(used, theta ** (self.p - 1), 0.0)
        power = np.power(theta, self.p - 2, out=np.zeros_like(theta), where=used)
        return used / (1 + _multiple(z - theta, normal) * (self.p - 1) * power), normal

    def best_response(self, a: Array) -> Array:
        r""":math:`(a / \|a\|_{p'})^{p' - 1}` with :math:`1/p + 1/p' = 1`."""
        largest = float(a.max(initial=0.0))
        if largest == 0:
            return self.start(len(a))
        theta = (a / largest) ** (1 / (self.p - 1))  # p' - 1 = 1 / (p - 1)
        return theta / self._norm(theta)

    def support(self, a: Array) -> float:
        r""":math:`\|a\|_{p'}`."""
        return float(self.best_response(a) @ a)

    def _norm(self, theta: Array) -> float:
        largest = float(theta.max(initial=0.0))
        return 0.0 if largest == 0 else largest * float(np.sum((theta / largest) ** self.p)) ** (1 / self.p)

    def _pulled(self, z: Array, l: float) -> Array:
        """Solves ``theta + l theta^(p - 1) = z``, by Newton steps from above, where both forms are convex."""
        in_theta, r = self.p >= 2, 1 / (self.p - 1)
        line, bend, e, root = (1.0, l, self.p - 1, r) if in_theta else (l, 1.0, r, self.p - 1)
        x = np.minimum(z / line, (z / bend) ** root)  # theta, or theta^(p - 1), of which theta is the e-th power
        for _ in range(_NEWTON):
            power = np.power(x, e - 1)
            step = (line * x + bend * power * x - z) / (line + bend * e * power)
            x = np.maximum(x - step, 0.0)
            if np.all(step <= _ROUNDING * x):
                break
        return x if in_theta else np.power(x, e)


@dataclass(frozen=True)
class EqualWeights:
    """One point: all weights 1 over their number."""

    def start(self, n: int) -> Array:
        return np.full(n, 1 / n)

    def project(self, z: Array) -> Array:
        return self.start(len(z))

    def slopes(self, z: Array, theta: Array) -> tuple[Array, Array | None]:
        return np.zeros_like(theta), None

    def best_response(self, a: Array) -> Array:
        return self.start(len(a))

    def support(self, a: Array) -> float:
        return float(a.sum() / len(a))


def _multiple(pulled: Array, normal: Array) -> float:
    """The multiple of ``normal`` that a projection took away."""
    return max(float(pulled @ normal) / float(normal @ normal), 0.0)


WeightSet = ElasticNet | Ball | EqualWeights


def ball(p: float) -> WeightSet:
    """The set of Lp-MKL; at its end, p = 1, it is the simplex."""
    return ElasticNet(1.0) if p == 1 else Ball(float(p))
