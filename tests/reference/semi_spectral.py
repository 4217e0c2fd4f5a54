"""Semi-supervised kernel spectral clustering, as the whole linear systems of Jumutc (2016), with its errata, and as
functions of explicit features:

    (2.37)  |w|^2 / 2 + rho / 2 sum_{labelled} (e_i - y_i)^2 - gamma / 2 e'V e,      e = Phi w + b
    (2.39)  g1 / 2 (|w1|^2 + |w2|^2) + <w1, w2> + g2 / 2 sum_{labelled} [(e1_i - y_i)^2 + (e2_i + y_i)^2]
            - g3 / 2 e1'V e1 - g4 / 2 e2'V e2,                                       e1 = Phi w1, e2 = Phi w2

with V = 1 / degree. Labelled rows have y = +1 or -1, others 0. A row of weight v stands for v rows.
"""

from __future__ import annotations

import numpy as np

Array = np.ndarray


def features(K: Array) -> Array:
    """Phi with Phi Phi' = K."""
    values, vectors = np.linalg.eigh(K)
    return vectors * np.sqrt(np.maximum(values, 0.0))


def inverse_degrees(K: Array, weight: Array) -> Array:
    """V: a row that stands for v rows has v scores in the sum over rows, each divided by the degree."""
    return np.array([v / sum(K[i, j] * weight[j] for j in range(len(K))) for i, v in enumerate(weight)])


def semi_ksc(K: Array, y: Array, gamma: float, rho: float, bias: bool, weight: Array | None = None):
    """(2.38): alpha and b, so that e = K alpha + b; without a bias, (I - W K) alpha = rho y."""
    weight = np.ones(len(y)) if weight is None else weight
    one, costs = np.ones(len(y)), rho * weight * (y != 0)
    W = np.diag(gamma * inverse_degrees(K, weight) - costs)
    if not bias:
        return np.linalg.solve(np.eye(len(y)) - W @ K, costs * y), 0.0
    c = one @ W @ one
    M = np.eye(len(y)) - np.outer(one, one @ W) / c
    alpha = np.linalg.solve(np.eye(len(y)) - W @ M @ K, M.T @ (costs * y))
    return alpha, -(one @ W @ K @ alpha + costs @ y) / c


def semi_objective(phi: Array, w: Array, b: float, y: Array, V: Array, gamma: float, rho: float) -> float:
    e = phi @ w + b
    return float(w @ w / 2 + rho / 2 * np.sum((e - y)[y != 0] ** 2) - gamma / 2 * np.sum(V * e**2))


def semi_derivatives(phi: Array, y: Array, V: Array, gamma: float, rho: float) -> tuple[Array, Array]:
    """Of (2.37) in (w, b): the second derivative, and minus the first one at 0."""
    more = np.column_stack([phi, np.ones(len(y))])
    bend = rho * (y != 0) - gamma * V
    hessian = more.T @ (bend[:, None] * more) + np.diag([1.0] * phi.shape[1] + [0.0])
    return hessian, more.T @ (rho * y)


def bi_semi_ksc(K: Array, y: Array, g1: float, g2: float, g3: float, g4: float):
    """(2.44) with every matrix in its place (E9): alpha, lambda and the functions f1, f2 of the rows."""
    m = len(y)
    V, G, gp = np.diag(inverse_degrees(K, np.ones(m))), np.diag((y != 0).astype(float)), 1 / (1 - g1**2)
    H3, H4, eye = (g3 * V - g2 * G) @ K, (g4 * V - g2 * G) @ K, np.eye(m)
    system = np.block([[eye + g1 * gp * H3, -gp * H3], [-gp * H4, eye + g1 * gp * H4]])
    solution = np.linalg.solve(system, g2 * np.concatenate([y, -y]))
    alpha, lam = solution[:m], solution[m:]
    return alpha, lam, gp * K @ (lam - g1 * alpha), gp * K @ (alpha - g1 * lam)


def kkt(K: Array, y: Array, g: tuple[float, float, float, float], coef_1: Array, coef_2: Array) -> list[Array]:
    """(2.43): what the six conditions leave for functions with these coefficients, e1 = K coef_1 and e2 = K coef_2."""
    g1, g2, g3, g4 = g
    phi, V, G = features(K), inverse_degrees(K, np.ones(len(y))), y != 0
    w1, w2 = phi.T @ coef_1, phi.T @ coef_2
    e1, e2 = K @ coef_1, K @ coef_2
    alpha, lam = g1 * coef_1 + coef_2, coef_1 + g1 * coef_2
    return [
        e1 - phi @ w1,
        e2 - phi @ w2,
        w1 - phi.T @ (lam - g1 * alpha) / (1 - g1**2),
        w2 - phi.T @ (alpha - g1 * lam) / (1 - g1**2),
        alpha - g3 * V * e1 + g2 * G * (e1 - y),
        lam - g4 * V * e2 + g2 * G * (e2 + y),
    ]


def bi_objective(phi: Array, w1: Array, w2: Array, y: Array, V: Array, g: tuple[float, float, float, float]) -> float:
    g1, g2, g3, g4 = g
    e1, e2 = phi @ w1, phi @ w2
    loss = np.sum((e1 - y)[y != 0] ** 2) + np.sum((e2 + y)[y != 0] ** 2)
    spread = g3 * np.sum(V * e1**2) + g4 * np.sum(V * e2**2)
    return float(g1 / 2 * (w1 @ w1 + w2 @ w2) + w1 @ w2 + g2 / 2 * loss - spread / 2)


def bi_derivatives(phi: Array, y: Array, V: Array, g: tuple[float, float, float, float]) -> tuple[Array, Array]:
    """Of (2.39) in (w1, w2): the second derivative, and minus the first one at 0."""
    g1, g2, g3, g4 = g
    r = phi.shape[1]
    hessian = np.zeros((2 * r, 2 * r))
    for k, spread in enumerate((g3, g4)):
        bend = g2 * (y != 0) - spread * V
        hessian[k * r : (k + 1) * r, k * r : (k + 1) * r] = phi.T @ (bend[:, None] * phi) + g1 * np.eye(r)
        hessian[k * r : (k + 1) * r, (1 - k) * r : (2 - k) * r] = np.eye(r)
    return hessian, np.concatenate([phi.T @ (g2 * y), -phi.T @ (g2 * y)])
