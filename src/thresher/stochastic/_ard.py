"""Relevance of features, as penalties for coordinate-wise Pegasos."""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import _gate
from .._engine import one_blas_thread
from .._estimators import warn_of_convergence
from .._gate import Array, at_least, checked, linalg, non_negative, positive


@checked(noise=positive, tol=non_negative, max_iter=at_least(1))
def ard_weights(X: Any, y: Any, *, noise: float = 1e-3, tol: float = 1e-5, max_iter: int = 100) -> Array:
    r"""Penalties per feature by automatic relevance determination, for :class:`PegasosClassifier`.

    Each feature has a prior variance :math:`v_j` of its weight in the linear model :math:`y \approx X w` with normal
    noise. The variances that make the targets most likely minimise

    .. math:: y^\top C^{-1} y + \log\det C, \qquad C = \sigma I + X\, \text{diag}(v)\, X^\top,

    by repeated weighted lassos [1]_ (equation 3.16 of [2]_): from :math:`z = 1`,

    .. math:: w = \arg\min \|y - Xw\|^2 + 2\sigma \sum_j \sqrt{z_j}\, |w_j|, \qquad v_j = |w_j| / \sqrt{z_j}, \qquad
              z_j = x_j^\top C^{-1} x_j.

    A large variance is a small penalty: the result is :math:`1/v_j`, scaled to mean 1 over the features that are kept.
    Only the ratios are meaningful, so one factor remains to be tuned:
    ``PegasosClassifier(alpha=c * ard_weights(X, y))``. A feature with :math:`v_j = 0` is irrelevant. Its penalty is
    infinite, and :class:`PegasosClassifier` leaves it out.

    Parameters
    ----------
    X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
        Scaled to about 1. There is no constant term: centre the columns, or add a column of ones.
    y : array-like of shape (n_samples,)
        Two classes, read as -1 and +1 in their order, or numbers.
    noise : float, default=1e-3
        Variance of the noise (:math:`\sigma`). More noise excludes more features.
    tol : float, default=1e-5
        Stop when a round changes :math:`w` by at most this (Euclidean norm).
    max_iter : int, default=100
        Largest number of rounds.

    Returns
    -------
    ndarray of shape (n_features,)
        Relative penalties above 0; ``inf`` for features that are not needed.

    Notes
    -----
    The method uses only :math:`X^\top X` and :math:`X^\top y`, which cost O(n_samples n_features^2) once. A round costs
    at most O(n_features^3), so a few thousand features are the limit. The objective never increases.

    References
    ----------
    .. [1] D. Wipf and S. Nagarajan, "A new view of automatic relevance determination", NIPS 2007.
    .. [2] V. Jumutc, "Flexible software design for stochastic and kernel-based learning in advanced data-driven
       modelling", KU Leuven, 2016. It uses the variances as penalties, which turns relevance upside down.

    Examples
    --------
    >>> import numpy as np
    >>> from thresher.stochastic import PegasosClassifier, ard_weights
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(200, 20))
    >>> y = np.sign(X[:, 4] + 0.2 * X[:, 9])
    >>> relative = ard_weights(X, y, noise=1.0)
    >>> bool(relative[4] < relative[9])
    True
    >>> model = PegasosClassifier(alpha=1e-3 * relative, random_state=0).fit(X, y)
    >>> bool(set(model.support_) <= set(np.flatnonzero(np.isfinite(relative))))
    True
    """
    rows = _gate.as_matrix(X, "ard_weights")
    target = _targets(y, rows.shape[0])
    with one_blas_thread():
        G = rows.T @ rows
        G = np.asarray(G.toarray() if hasattr(G, "toarray") else G, dtype=np.float64)
        v, settled = _variances(G, np.asarray(rows.T @ target, dtype=np.float64), noise, tol, max_iter)
    kept = v > 0
    if not kept.any():
        raise ValueError(f"ard_weights: noise must be smaller than {noise!r}, at which no feature is relevant.")
    if not settled:
        warn_of_convergence(
            f"ard_weights: the weights still moved by more than tol={tol:g} in the last of {max_iter} rounds; "
            "raise max_iter or tol.",
            stacklevel=2,
        )
    relative = np.full(len(v), np.inf)
    relative[kept] = 1 / v[kept]
    relative[kept] /= relative[kept].mean()
    return relative


def _targets(y: Any, n_rows: int) -> Array:
    """-1 and +1 for two classes, else the numbers themselves."""
    column = _gate.as_column(y, "ard_weights")
    if column.dtype.kind in "fiu":
        values = _gate.check_targets(column, n_rows, "ard_weights")
        return values if len(np.unique(values)) != 2 else np.where(values == values.max(), 1.0, -1.0)
    classes, codes = _gate.find_classes(column, "ard_weights")
    _gate.check_length(codes, n_rows, "y", "ard_weights")
    if len(classes) != 2:
        raise ValueError(f"ard_weights: y must hold two classes or numbers, got {len(classes)} classes.")
    return 2 * codes - 1


def _variances(G: Array, b: Array, noise: float, tol: float, max_iter: int) -> tuple[Array, bool]:
    """The variances, and whether the rounds came to rest; G = X'X, b = X'y."""
    w, z = np.zeros(len(b)), np.ones(len(b))
    v = w
    for _ in range(max_iter):
        before = w
        w = _lasso(G, b, noise * np.sqrt(z), before, 0.01 * tol)
        v = np.abs(w) / np.sqrt(z)
        if np.linalg.norm(w - before) <= tol:
            return v, True
        z = _pulls(G, v, noise)
    return v, False


def _lasso(G: Array, b: Array, cuts: Array, start: Array, tol: float, max_sweeps: int = 10_000) -> Array:
    """argmin_w  w'Gw / 2 - b'w + sum_j cuts_j |w_j|, by coordinate steps from ``start``.

    All coordinates are looked at until none moves by more than ``tol``; in between, those in use settle alone.
    """
    w, rest = start.copy(), b - G @ start  # rest = b - G w
    size = np.diagonal(G)
    everywhere = np.flatnonzero(size > 0)
    some = everywhere
    for _ in range(max_sweeps):
        moved = 0.0
        for j in some:
            pull = rest[j] + size[j] * w[j]
            new = np.copysign(max(abs(pull) - cuts[j], 0.0), pull) / size[j]
            if new != w[j]:
                rest -= G[:, j] * (new - w[j])
                moved = max(moved, abs(new - w[j]))
                w[j] = new
        if moved > tol:
            some = np.flatnonzero(w)
        elif some is everywhere:
            break
        else:
            some = everywhere
    return w


def _pulls(G: Array, v: Array, noise: float) -> Array:
    """z_j = x_j' C^-1 x_j, from matrices over the features in use (Woodbury)."""
    used = np.flatnonzero(v)
    S = np.sqrt(v[used])
    M = linalg.cholesky(noise * np.eye(len(used)) + S[:, None] * G[np.ix_(used, used)] * S, lower=True)
    half = linalg.solve_triangular(M, S[:, None] * G[used], lower=True)
    z: Array = (np.diagonal(G) - np.sum(half**2, axis=0)) / noise
    inverse = linalg.solve_triangular(M, np.eye(len(used)), lower=True)
    z[used] = (1 - noise * np.sum(inverse**2, axis=0)) / v[used]  # the same, without a difference of large numbers
    return np.maximum(z, np.finfo(float).tiny)
