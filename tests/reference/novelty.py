"""Supervised novelty detection in NumPy: slow, obvious. Y is +1 for a row in the column of its class, -1 elsewhere."""

from __future__ import annotations

from collections.abc import Container, Iterator

import numpy as np

Array = np.ndarray


def coupling_matrix(coupling: float, n_classes: int) -> Array:
    """Gamma."""
    return (coupling - 1) * np.eye(n_classes) + np.ones((n_classes, n_classes))


def signs(codes: Array, n_classes: int) -> Array:
    """Y; an outlier has the code n_classes."""
    return np.where(codes[:, None] == np.arange(n_classes), 1.0, -1.0)


def pegasos_snd(
    X: Array,
    Y: Array,
    weight: Array,
    alpha: float,
    coupling: float,
    bias: float,
    printed: bool = False,
    batch_size: int = 1,
    close_after: Container[int] = (),
) -> Iterator[tuple[Array, Array]]:
    """Scores of each row and W (features and the constant, classes) after it; a row of weight 0 is absent.

    G is the mean over a mini-batch. ``close_after`` are rows after which an unfinished one makes a step with the rows
    it has.
    """
    X = np.c_[X, np.full(len(X), bias)]
    n_classes = Y.shape[1]
    gamma = coupling_matrix(coupling, n_classes)
    W, total = np.zeros((X.shape[1], n_classes)), np.zeros((X.shape[1], n_classes))
    t, n_rows, n_waiting, weights = 0, 0, 0, 0.0
    for i, (x, y, w) in enumerate(zip(X, Y, weight, strict=True)):
        scores = x @ W
        if w > 0:
            total = total + np.outer(x, w * y * (y * scores < 1))
            n_rows, n_waiting, weights = n_rows + 1, n_waiting + 1, weights + w
        if n_waiting == batch_size or (n_waiting > 0 and i in close_after):
            t, G = t + 1, total / n_waiting
            total, n_waiting = np.zeros(W.shape), 0
            pull = weights / n_rows * n_classes  # the mean of what a row may pull
            if printed:
                W = W - (alpha * W @ gamma - G) / (alpha * t)
                square, most = np.sum(W**2), pull / (alpha * (coupling + n_classes - 1))
            else:
                W = (1 - 1 / t) * W + G @ np.linalg.inv(gamma) / (alpha * t)
                square, most = np.trace(W @ gamma @ W.T), pull / alpha
            if square > most:
                W = W * np.sqrt(most / square)
        yield scores, W


def coupled_hinge(W: Array, X: Array, Y: Array, alpha: float, coupling: float) -> float:
    """The objective of Pegasos-SND, of rows with their constant."""
    gamma = coupling_matrix(coupling, Y.shape[1])
    return float(alpha / 2 * np.trace(W @ gamma @ W.T) + np.maximum(0, 1 - Y * (X @ W)).sum(axis=1).mean())


def direct_ls_snd(K: Array, Y: Array, ridge: Array, coupling: float) -> tuple[Array, Array]:
    """alpha (rows, classes) and rho from the one system of equations (2.27) to (2.29), of size m (n + 1)."""
    n, m = Y.shape
    eta, mu = coupling + m - 2, (coupling + m - 1) * (coupling - 1)
    A, right = np.zeros((m * (n + 1), m * (n + 1))), np.zeros(m * (n + 1))
    for i in range(m):
        rows = slice(i * n, (i + 1) * n)
        A[rows, m * n + i] = A[m * n + i, rows] = 1.0
        right[m * n + i] = 1.0
        for j in range(m):
            G = np.outer(Y[:, i], Y[:, j]) * K
            A[rows, j * n : (j + 1) * n] = -eta / mu * G - np.diag(ridge) if i == j else G / mu
    found = np.linalg.solve(A, right)
    return found[: m * n].reshape(m, n).T, found[m * n :]


def snd_primal(W: Array, rho: Array, Phi: Array, Y: Array, C: Array, coupling: float) -> float:
    """The objective of SND at weights (features, classes), with the least slacks."""
    slack = np.maximum(0, rho - Y * (Phi @ W))
    return float(np.trace(W @ coupling_matrix(coupling, Y.shape[1]) @ W.T) / 2 + C @ slack.sum(axis=1) - rho.sum())
