"""Supervised novelty detection by least squares: two factorisations."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from .. import _gate
from .._estimators import Advice, GoodFor, WeighsLosses, param
from .._gate import Array, Log, Rule, beside, is_foreign_array, linalg, non_negative, on_host
from .._kernels import solve_definite
from ._novelty_kernel import NoveltyMachine, NoveltySolution, border
from ._snd import inverse_coupling

_below_one = Rule("a number of at least 0 and below 1", lambda v: non_negative.holds(v) and v < 1, type="float")


class LSSNDClassifier(WeighsLosses, NoveltyMachine):
    r"""Least-squares supervised novelty detection: exact, by two matrix factorisations.

    The problem of :class:`SNDClassifier` with squared losses and equalities,

    .. math:: \min_{w, \rho, \xi}\ \tfrac12 \sum_{jk} \Gamma_{jk} \langle w_j, w_k\rangle
              + \frac{C}{2} \sum_{ij} \xi_{ij}^2 - \sum_j \rho_j, \qquad
              Y_{ij} \langle w_j, \varphi(x_i)\rangle = \rho_j - \xi_{ij} .

    Choose it if speed matters and the model may keep all rows: a prediction costs O(training rows). It is more
    sensitive to mislabelled rows than :class:`SNDClassifier`. Its functions scatter around 0 on the rows of their own
    class, so 0 is not a useful border. With a width from neighbours, the default, each function is divided by its
    :math:`\rho_j`, and a common border leaves a share ``nu`` of the known rows outside, judged by leave-one-out
    functions in closed form. With a given width, the border of a class leaves a share ``nu`` of its own training rows
    outside, which rejects more of the new rows.

    Attributes
    ----------
    support_ : ndarray
        Indices of all training rows.
    thresholds_ : ndarray of shape (n_classes,)
        The borders: a row is inside a class if its function is larger.

    Notes
    -----
    :math:`\Gamma` has two distinct eigenvalues, so the system of all classes splits into two of the size of the kernel
    matrix. This costs O(n³) instead of O(n³ n_classes³) for the equivalent system of [1]_ (2.21 to 2.29).

    Examples
    --------
    >>> from thresher.datasets import make_novelty
    >>> from thresher.novelty import LSSNDClassifier
    >>> X, y = make_novelty(400, random_state=0)
    >>> model = LSSNDClassifier(gamma=10.0).fit(X[:200], y[:200])
    >>> model.predict([[-0.35, -0.35], [0.35, 0.35], [0.9, -0.9]])
    array([ 0,  1, -1])
    """

    _advice = Advice(
        GoodFor(
            2,
            "some rows may belong to no class, and {they} draw{s} a boundary around every class",
            lambda p: p.n_rows <= 2_000 and not p.is_linear,
        ),
        GoodFor(2, aim="outliers"),
    )

    C: float = param(default=10.0, doc=r"Weight of the losses (:math:`\gamma_2` in [1]_).", search=Log(1e-2, 1e4))
    nu: float = param(
        default=0.05,
        rule=_below_one,
        doc="Share of the known rows that the borders leave outside. It affects only rejections.",
    )
    gamma: Any = param(
        default="neighbors",
        doc="""Width of the RBF kernel, and factor of the polynomial one. It determines what counts as an outlier; see
        :class:`SNDClassifier`.""",
    )
    reject: bool = param(
        default=True,
        doc="""If True, predict the class with the largest function among those whose border contains the row, or
        ``outlier_label`` if there is none. If False, always predict the class with the largest function.""",
    )
    cache_size: float = param(default=500, doc="Memory for the kernel matrix in megabytes. It must fit as a whole.")

    _fitted: ClassVar[tuple[str, ...]] = ("thresholds_",)
    _takes_arrays: ClassVar[bool] = True
    _beside_rows: ClassVar[tuple[str, ...]] = (*NoveltyMachine._beside_rows, "thresholds_")

    def _solve(self, rows: Any, Y: Array, weight: Array) -> NoveltySolution:
        K = self._whole_gram(rows)
        try:
            B, rho, errors = least_squares_snd(K, Y, 1.0 / (self.C * weight), self.coupling, self._is_compared)
        except np.linalg.LinAlgError:
            raise ValueError(
                f"{type(self).__name__}: the kernel matrix with 1 / C added to its diagonal must be positive definite; "
                f"choose another kernel, or a smaller C than {self.C!r}."
            ) from None
        coef = inverse_coupling(self.coupling, Y.shape[1]) @ B.T
        found = NoveltySolution(coef, rho, on_host(beside(coef, K) @ K))
        if errors is None:
            return found
        return found._replace(held_out=(Y * rho - errors).T).compared(Y, weight, float(self.nu))

    @property
    def _is_compared(self) -> bool:
        """Whether everything is left to the rows."""
        return self._has_no_width and isinstance(self.kernel, str) and self.kernel == "rbf"

    def _finish(self, found: NoveltySolution, Y: Array, weight: Array) -> None:
        if self._is_compared:
            self.thresholds_ = np.zeros(Y.shape[1])
            return
        functions = found.scores - found.offsets[:, None]
        own = Y.T > 0
        self.thresholds_ = np.array(
            [border(f[rows], weight[rows], self.nu) for f, rows in zip(functions, own, strict=True)]
        )

    def _thresholds(self) -> Array:
        return self.thresholds_

    def _check_loaded(self) -> None:
        super()._check_loaded()
        _gate.check_loaded_arrays(self, {"thresholds_": (len(self.classes_),)})


def least_squares_snd(
    K: Array, Y: Array, ridge: Array, coupling: float, leave_out: bool = False
) -> tuple[Array, Array, Array | None]:
    r"""The solution of equations (2.27) to (2.29): :math:`B = \alpha \circ Y` and :math:`\rho`; if asked for, also the
    errors :math:`Y_{ij} \rho_j - \langle w_j, \varphi(x_i)\rangle` of weights learned without row i, at this rho.

    Optimal is :math:`K B \Gamma^{-1} + \mathrm{diag}(r) B = Y \mathrm{diag}(\rho)` with :math:`\sum_i B_{ij} Y_{ij} =
    1`. On what the classes have in common :math:`\Gamma` is :math:`\gamma + m - 1`, on the rest :math:`\gamma - 1`.
    Both are least-squares problems of their own, in which the error of a row that is left out is its coefficient over
    the diagonal of the inverse.
    """
    m = Y.shape[1]
    apart, inverse = _solved(K / (coupling - 1.0), ridge, Y, leave_out)
    common, common_inverse = _solved(K / (coupling + m - 1.0), ridge, Y, leave_out)
    T = (np.eye(m) - 1.0 / m) * (Y.T @ apart) + (Y.T @ common) / m
    rho = np.linalg.solve(T, np.ones(m))
    apart, common = apart * rho, common * rho
    apart, common = apart - apart.mean(axis=1, keepdims=True), common.mean(axis=1, keepdims=True)
    errors = apart / inverse[:, None] + common / common_inverse[:, None] if leave_out else None
    return apart + common, rho, errors


def _solved(A: Array, ridge: Array, Y: Array, leave_out: bool) -> tuple[Array, Array]:
    """The solution, and the diagonal of the inverse if it is asked for."""
    if is_foreign_array(A):
        found = solve_definite(A, beside(ridge, A), beside(Y, A))
        if found is None:
            raise np.linalg.LinAlgError
        return on_host(found[0]), on_host(found[1])
    A[np.diag_indices_from(A)] += ridge
    factor = linalg.cho_factor(A, lower=True, overwrite_a=True, check_finite=False)
    solution = linalg.cho_solve(factor, Y)
    return solution, linalg.lapack.dpotri(factor[0], lower=True)[0].diagonal() if leave_out else ridge
