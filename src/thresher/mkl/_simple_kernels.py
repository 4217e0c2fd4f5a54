"""The customary list of kernels: widths and degrees, on all features and on each."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from .._gate import as_rows, at_least, boolean, check_value, is_foreign_array, positive
from .._kernels import RBF, Kernel, Linear, Polynomial

_WIDTHS = tuple(2.0**e for e in range(-3, 7))
_DEGREES = (1, 2, 3)


def simple_mkl_kernels(
    X: Any, *, widths: Sequence[float] = _WIDTHS, degrees: Sequence[int] = _DEGREES, each: bool = True
) -> list[Kernel]:
    r"""Return Gaussian and polynomial kernels on all features and on each single one, as in [1]_ and [2]_.

    Gaussians :math:`\exp(-\|x - z\|^2 / (2 s^2))` of ten widths :math:`s`, and polynomials of degree 1 (:math:`x^\top
    z`), 2 and 3 (:math:`(x^\top z + 1)^k`): 13 (d + 1) kernels for d features. The widths are meant for features of
    deviation 1, which is why the estimators standardise. If features come in groups, edit the list or build your own:
    kernels take lists of columns.

    Parameters
    ----------
    X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
        Only the number of columns matters.
    widths : sequence of float, default=(0.125, 0.25, ..., 64)
        :math:`s` of the Gaussians.
    degrees : sequence of int, default=(1, 2, 3)
        Degrees of the polynomials.
    each : bool, default=True
        Include kernels on each single feature.

    Returns
    -------
    list of Kernel

    References
    ----------
    .. [1] A. Rakotomamonjy, F. Bach, S. Canu and Y. Grandvalet, "SimpleMKL", Journal of Machine Learning Research 9,
       2008.
    .. [2] H. Yang, "Sparse learning under regularization framework", CUHK, 2011, Section 6.5.2.

    Examples
    --------
    >>> import numpy as np
    >>> from thresher.mkl import simple_mkl_kernels
    >>> kernels = simple_mkl_kernels(np.zeros((5, 20)))
    >>> len(kernels)
    273
    >>> print(kernels[15], "/", kernels[10])
    rbf(gamma=2) on column 0 / linear
    """
    who = "simple_mkl_kernels"
    check_value(who, "each", each, boolean)
    for name, values, rule in (("widths", widths, positive), ("degrees", degrees, at_least(1))):
        for value in values:
            check_value(who, name, value, rule)
    n_features = X.shape[1] if is_foreign_array(X) else as_rows(X, who, look=False).n_features
    places: Iterable[int | None] = (None, *range(n_features)) if each else (None,)
    return [kernel for place in places for kernel in _on(place, widths, degrees)]


def _on(place: int | None, widths: Sequence[float], degrees: Sequence[int]) -> list[Kernel]:
    return [
        *(RBF(1 / (2 * float(s) ** 2), features=place) for s in widths),
        *(
            Linear(features=place) if k == 1 else Polynomial(int(k), gamma=1.0, coef0=1.0, features=place)
            for k in degrees
        ),
    ]
