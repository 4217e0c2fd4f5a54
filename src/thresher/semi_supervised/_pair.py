"""Two functions that repel each other, fit labels of opposite sign and spread over all rows.

Of scores f_k = <w_k, phi>, with V_i >= 0 the share of a row in the spread, c_i > 0 the cost of a labelled row, else 0,

    Q(w_1, w_2) = g (|w_1|^2 + |w_2|^2) / 2 + <w_1, w_2> + sum_k sum_i [ c_i (f_ki - y_ki)^2 - g_k V_i f_ki^2 ] / 2

with y_1 = y, y_2 = -y.   Jumutc (2016), (2.39), where g is gamma_1, c is gamma_2, and g_k are gamma_3 and gamma_4.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from .._gate import Array, linalg
from ._spread import Stationary, solve, stationary, stationary_features, times_features, weighted_products

_FIRM = 1e-8  # reciprocal condition numbers above which a system may be solved in parts


class Pair(NamedTuple):
    """``coupling`` is g, ``spreads`` are g_1 and g_2; ``targets`` have a column per problem."""

    coupling: float
    spreads: tuple[float, float]
    share: Array
    cost: Array
    targets: Array

    @property
    def gamma(self) -> Array:
        """The matrix of the cost of the weights: half of w' Gamma w."""
        return np.array([[self.coupling, 1.0], [1.0, self.coupling]])

    def curvatures(self) -> list[Array]:
        return [g * self.share - self.cost for g in self.spreads]

    def pulls(self) -> Array:
        """Of f_1, and with the other sign of f_2."""
        return self.cost[:, None] * self.targets

    def as_one(self) -> tuple[Array, Array]:
        """Equal spreads: f_2 = -f_1, and f_1 alone has the problem of a function that costs (g - 1) |w|^2 / 2."""
        less = self.coupling - 1.0
        return self.curvatures()[0] / less, self.pulls() / less


def pair(K: Array, given: Pair) -> Stationary:
    """By a kernel matrix; columns of the answer are f_1 of all problems, then f_2 of all."""
    if given.spreads[0] == given.spreads[1]:
        return _mirrored(stationary(K, *given.as_one(), False))
    found = in_parts(K, given)
    return direct(K, given) if found is None else found


def pair_features(F: Array, given: Pair) -> Stationary:
    """By features whose products are the kernel: (Gamma (x) I - blocks F' diag(W_k) F) [w_1; w_2] = [F'R; -F'R]."""
    if given.spreads[0] == given.spreads[1]:
        return _mirrored(stationary_features(F, *given.as_one(), False))
    r = F.shape[1]
    A: Array = np.asfortranarray(np.kron(given.gamma, np.eye(r)), dtype=np.float64)
    for k, W in enumerate(given.curvatures()):
        A[k * r : (k + 1) * r, k * r : (k + 1) * r] -= weighted_products(F, W)
    right = times_features(F.T, given.pulls())
    w, rcond, n_negative = solve(A, np.vstack([right, -right]))
    coef = np.hstack([w[:r], w[r:]])
    return Stationary(coef, np.zeros(coef.shape[1]), times_features(F, coef), rcond, n_negative == 0)


def direct(K: Array, given: Pair) -> Stationary:
    """The problem of one function of twice as many rows, with the kernel Gamma^-1 (x) K."""
    n, inverse, pulls = len(K), np.linalg.inv(given.gamma), given.pulls()
    both = stationary(np.kron(inverse, K), np.concatenate(given.curvatures()), np.vstack([pulls, -pulls]), False)
    a = np.hstack([weights[0] * both.coef[:n] + weights[1] * both.coef[n:] for weights in inverse])
    return Stationary(a, np.zeros(a.shape[1]), K @ a, both.rcond, both.is_minimum)


def in_parts(K: Array, given: Pair) -> Stationary | None:
    r"""The same by two factorisations of the size of K and a system of two equations per label; None where the rows
    alone, without their labels, have no firm minimum.

    With S = V^1/2 K V^1/2, coefficients V^1/2 x and what labels pull with, u_k = c (y_k - f_k), it is

        [g - g_1 S, 1; 1, g - g_2 S] x = V^-1/2 u,      of determinant   q(S) = (g - g_1 S) (g - g_2 S) - 1.

    All blocks are polynomials of one matrix: the inverse is a sum over the roots z of q of a matrix of two rows times
    (z - S)^-1. Only its columns of labelled rows are asked for, and u then solves f + u / c = y there.
    """
    labelled = np.flatnonzero(given.cost)
    root, picked = np.sqrt(given.share), np.zeros((len(K), len(labelled)))
    picked[labelled, np.arange(len(labelled))] = 1.0
    by_root = picked / np.where(root > 0, root, 1.0)[labelled]  # without a share, a row is like none: all scores are 0
    parts, rconds = [(np.diag([float(g == 0) / given.coupling for g in given.spreads]), picked)], []
    for z, factor in _roots(given):
        columns, rcond = _resolvent(K, root, z, by_root)
        if rcond < _FIRM:
            return None
        parts.append((factor, root[:, None] * columns))
        rconds.append(rcond)
    system = np.diag(np.tile(1.0 / given.cost[labelled], 2))
    for factor, columns in parts:
        system += np.kron(factor, K[labelled] @ columns)
    y = given.targets[labelled]
    u, rcond, n_negative = solve(np.asfortranarray((system + system.T) / 2), np.vstack([y, -y]))
    u_1, u_2 = u[: len(y)], u[len(y) :]
    a = np.zeros((len(K), 2 * y.shape[1]))
    for factor, columns in parts:
        a += columns @ np.hstack([row[0] * u_1 + row[1] * u_2 for row in factor])
    return Stationary(a, np.zeros(a.shape[1]), K @ a, min(rcond, *rconds), n_negative == 0)


def _roots(given: Pair) -> list[tuple[float, Array]]:
    """The roots z of q(z) = (g - g_1 z) (g - g_2 z) - 1, real and above 0, with the matrices of the fractions

        [g - g_1 S, 1; 1, g - g_2 S]^-1 = sum_z  M(z) / |q'(z)| (z - S)^-1,     M(z) = +-[g - g_2 z, -1; -1, g - g_1 z]

    and, where a spread is 0, one root and a constant more.
    """
    g, (g_1, g_2) = given.coupling, given.spreads
    slope = np.hypot(g * (g_1 - g_2), 2 * np.sqrt(g_1) * np.sqrt(g_2))  # |q'| at both
    half = (g * (g_1 + g_2) + slope) / 2
    roots = [((g - 1) / half * (g + 1), 1.0)]
    if g_1 > 0 and g_2 > 0:
        roots.append((half / g_1 / g_2, -1.0))
    return [(z, sign * np.array([[g - g_2 * z, -1.0], [-1.0, g - g_1 * z]]) / slope) for z, sign in roots]


def _resolvent(K: Array, root: Array, z: float, right: Array) -> tuple[Array, float]:
    """(z - S)^-1 times some columns, with the reciprocal condition number; 0 where z is not above all eigenvalues."""
    A = np.multiply(K, -root[:, None], order="F")
    A *= root
    A[np.diag_indices_from(A)] += z
    norm = linalg.lapack.dlange("1", A)
    factor, failed = linalg.lapack.dpotrf(A, lower=True, overwrite_a=True)
    if failed or not np.isfinite(norm):
        return right, 0.0
    rcond, _ = linalg.lapack.dpocon(factor, norm, uplo="L")
    columns, _ = linalg.lapack.dpotrs(factor, right, lower=True)
    return columns, float(rcond)


def _mirrored(one: Stationary) -> Stationary:
    """f_2 = -f_1."""
    coef, intercept, scores = (np.concatenate([part, -part], axis=-1) for part in (one.coef, one.intercept, one.scores))
    return Stationary(coef, intercept, scores, one.rcond, one.is_minimum)
