"""Learners with a mean and a covariance, one row after the other, as the spec writes them (sections 6 and 8).

A step maps (m, v, share) of a row, m = y mu.x and v = x'Sx, to (pull, gain, drop), or None where nothing is learned:

    mu += pull y Sx,   S -= drop Sx x'S  (full, diagonal "drop"),   1 / S_jj += gain x_j^2  (diagonal "precision")

Each learner yields, after every row, the score of the row before it was learned and all that is known after it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from .online import with_constant

Array = np.ndarray
Step = tuple[float, float, float] | None
Rule = Callable[[float, float, float], Step]


def narow(b: float) -> Rule:
    """r_t = v / (b v - 1) where v > 1 / b, else no update; the weight of a row divides r_t"""

    def step(m: float, v: float, share: float) -> Step:
        if m >= 1 or v <= 1 / b:
            return None
        r = v / (b * v - 1) / share
        return (1 - m) / (v + r), 1 / r, 1 / (v + r)

    return step


def nherd(C: float) -> Rule:
    """S -= beta^2 (v + 2 gamma) Sx x'S, gamma = 1 / C; the weight of a row multiplies C"""

    def step(m: float, v: float, share: float) -> Step:
        if m >= 1:
            return None
        gamma = 1 / (C * share)
        beta = 1 / (v + gamma)
        return (1 - m) * beta, (v + 2 * gamma) / gamma**2, beta**2 * (v + 2 * gamma)

    return step


def cw_variance(phi: float) -> Rule:
    """alpha = (-b + sqrt(b^2 - 8 phi (m - phi v))) / (4 phi v), b = 1 + 2 phi m, if m < phi v"""

    def step(m: float, v: float, share: float) -> Step:
        if m >= phi * v:
            return None
        b = 1 + 2 * phi * m
        alpha = max(0.0, (-b + math.sqrt(b * b - 8 * phi * (m - phi * v))) / (4 * phi * v))
        gain = 2 * alpha * phi
        return alpha, gain, gain / (1 + gain * v)

    return step


def cw(phi: float) -> Rule:
    """alpha = (-m psi + sqrt(m^2 phi^4 / 4 + v phi^2 zeta)) / (v zeta), if m < phi sqrt(v)"""

    def step(m: float, v: float, share: float) -> Step:
        return None if m >= phi * math.sqrt(v) else _with_deviation(_alpha(m, v, phi), v, phi)

    return step


def scw(C: float, phi: float, variant: str) -> Rule:
    """I: alpha of CW, at most C. II: alpha with n = v + 1 / (2 C). The weight of a row multiplies C."""

    def step(m: float, v: float, share: float) -> Step:
        if m >= phi * math.sqrt(v):
            return None
        cost = C * share
        if variant == "I":
            return _with_deviation(min(cost, _alpha(m, v, phi)), v, phi)
        n = v + 1 / (2 * cost)
        gamma = phi * math.sqrt(phi**2 * m**2 * v**2 + 4 * n * v * (n + v * phi**2))
        alpha = max(0.0, (-(2 * m * n + phi**2 * m * v) + gamma) / (2 * (n**2 + n * v * phi**2)))
        return _with_deviation(alpha, v, phi)

    return step


def _alpha(m: float, v: float, phi: float) -> float:
    psi, zeta = 1 + phi**2 / 2, 1 + phi**2
    return max(0.0, (-m * psi + math.sqrt(m**2 * phi**4 / 4 + v * phi**2 * zeta)) / (v * zeta))


def _with_deviation(alpha: float, v: float, phi: float) -> Step:
    """u = (-alpha v phi + sqrt(alpha^2 v^2 phi^2 + 4 v))^2 / 4, beta = alpha phi / (sqrt(u) + v alpha phi)"""
    u = (-alpha * v * phi + math.sqrt(alpha**2 * v**2 * phi**2 + 4 * v)) ** 2 / 4
    return alpha, alpha * phi / math.sqrt(u), alpha * phi / (math.sqrt(u) + v * alpha * phi)


def run(
    rule: Rule, X: Array, y: Array, *, form: str = "drop", intercept: float = 0.0, weight: Array | None = None
) -> Iterator[tuple[float, Array, Array]]:
    """``form`` is "full", "drop" or "precision"."""
    X = with_constant(X, intercept)
    weight = np.ones(len(y)) if weight is None else weight
    mu = np.zeros(X.shape[1])
    sigma = np.eye(X.shape[1]) if form == "full" else np.ones(X.shape[1])
    for x, label, share in zip(X, y, weight, strict=True):
        score = mu @ x
        sx = sigma @ x if form == "full" else sigma * x
        step = rule(label * score, x @ sx, share) if share > 0 else None
        if step is not None:
            pull, gain, drop = step
            mu = mu + pull * label * sx
            if form == "full":
                sigma = sigma - drop * np.outer(sx, sx)
            elif form == "drop":
                sigma = sigma - drop * sx**2
            else:
                sigma = 1 / (1 / sigma + gain * x**2)
        yield score, mu, sigma


def arow(r: float) -> Rule:
    """beta = 1 / (v + r / share), pull = (1 - m) beta, 1 / S += x x' share / r"""

    def step(m: float, v: float, share: float) -> Step:
        beta = 1 / (v + r / share)
        return ((1 - m) * beta, share / r, beta) if m < 1 else None

    return step


def passive_aggressive(C: float, variant: str) -> Rule:
    """PA with all variances 1, which stay: v is the square of the row."""

    def step(m: float, v: float, share: float) -> Step:
        if m >= 1 or v == 0:
            return None
        taus = {"hard": (1 - m) / v, "I": min(C * share, (1 - m) / v), "II": (1 - m) / (v + 1 / (2 * C * share))}
        return taus[variant], 0.0, 0.0

    return step


def run_jointly(
    rule: Rule, X: Array, codes: Array, n_classes: int, *, form: str = "drop", intercept: float = 0.0, weight: Array
) -> Iterator[tuple[Array, Array, Array]]:
    """All classes in one vector of weights: a row of class t becomes a positive row z of two classes, whose blocks are
    x for t, -x for the class b with the largest score but t, and 0 for the others. Scores, mu and sigma have a row for
    each class."""
    X = with_constant(X, intercept)
    mu, sigma = np.zeros((n_classes, X.shape[1])), np.ones((n_classes, X.shape[1]))
    for x, t, share in zip(X, codes, weight, strict=True):
        scores = mu @ x
        b = max((k for k in range(n_classes) if k != t), key=lambda k: scores[k])
        z = np.outer((np.arange(n_classes) == t) * 1.0 - (np.arange(n_classes) == b), x).ravel()
        flat = sigma.ravel()
        step = rule(mu.ravel() @ z, z @ (flat * z), share) if share > 0 else None
        if step is not None:
            pull, gain, drop = step
            mu = mu + (pull * flat * z).reshape(mu.shape)
            flat = flat - drop * (flat * z) ** 2 if form == "drop" else 1 / (1 / flat + gain * z**2)
            sigma = flat.reshape(mu.shape)
        yield scores, mu, sigma


def sop(
    X: Array, y: Array, *, a: float, form: str = "full", intercept: float = 0.0, weight: Array | None = None
) -> Iterator[tuple[float, Array, Array]]:
    """w = (a I + S S')^-1 u, u = sum of y x over mistakes, S their rows; a row weight counts the row that often"""
    X = with_constant(X, intercept)
    weight = np.ones(len(y)) if weight is None else weight
    u = np.zeros(X.shape[1])
    A = a * (np.eye(X.shape[1]) if form == "full" else np.ones(X.shape[1]))
    for x, label, share in zip(X, y, weight, strict=True):
        w = np.linalg.solve(A, u) if form == "full" else u / A
        score = w @ x
        if share > 0 and label * score <= 0:
            u = u + share * label * x
            A = A + share * (np.outer(x, x) if form == "full" else x**2)
        yield score, *((np.linalg.solve(A, u), np.linalg.inv(A)) if form == "full" else (u / A, 1 / A))


def surest(mu: Array, variance: Array, K: int) -> Array:
    """The K largest mu^2 / variance of all but the last weight, of equal ones the first; the others are 0."""
    order = np.argsort(-np.abs(mu[:-1]) / np.sqrt(variance[:-1]), kind="stable")
    kept = np.zeros_like(mu)
    kept[order[:K]] = mu[order[:K]]
    kept[-1] = mu[-1]
    return kept


def beliefs(model: Any) -> Iterator[tuple[Array, Array]]:
    """Mean and covariance of all weights of an output, the constant's last."""
    arrays = model.state_.arrays
    for k in range(model.state_.n_outputs):
        mu = np.append(model.coef_[k], model.intercept_[k] / model.intercept_scaling)
        if "covariance" in arrays:
            yield mu, arrays["covariance"][k]
        elif "variance" in arrays:
            yield mu, np.diag(arrays["variance"][k])
        else:
            yield mu, np.diag(1 / (model.a + arrays["square_sum"][k]))
