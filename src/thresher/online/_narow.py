"""AROW with an adaptive inertia."""

from __future__ import annotations

import warnings
from typing import Any, ClassVar

from sklearn.exceptions import ConvergenceWarning

from .. import _core
from .._core import Rows
from .._engine import Learner, Target
from .._gate import Log, Range, positive
from ._confident import SurestClassifier


class NAROWClassifier(SurestClassifier):
    r"""AROW whose inertia follows the doubt about each row: rows of which the model is sure teach nothing.

    The inertia of :class:`AROWClassifier` becomes :math:`r_t = v / (b v - 1)` for a row of variance
    :math:`v = x^\top \Sigma x`, which bounds the sum of all variances that were ever met (and with it the number of
    mistakes). Where :math:`v \le 1/b` nothing is learned, so that learning ends by itself. Choose it for long streams
    whose rules do not change, otherwise :class:`AROWClassifier`.

    On a row with hinge loss :math:`\ell = 1 - y\,\mu^\top x > 0` and :math:`v > 1/b`,

    .. math:: \beta = \frac{1}{v + r_t}, \qquad \mu \leftarrow \mu + \ell\,\beta\,y\,\Sigma x, \qquad
              \Sigma^{-1} \leftarrow \Sigma^{-1} + \tfrac{1}{r_t} x x^\top .

    Parameters
    ----------
    b : float, default=1.0
        One over the variance at which a row teaches nothing more (:math:`b` in [1]_). All variances start at 1, so
        that ``b`` must be above one over the squared length of a row (with its constant): raise it when rows are
        short.
    <covariance>
    <surest>
    <intercept>
    <passes>
    <classes>

    Attributes
    ----------
    <fitted classifier>
    <fitted covariance>
    <fitted>

    Notes
    -----
    A pass costs O(stored values) with a diagonal covariance. More than two classes are learned one against the rest.
    Any chunking into calls of :meth:`partial_fit` gives the same bits. A row weight divides :math:`r_t`.

    References
    ----------
    .. [1] F. Orabona and K. Crammer, "New adaptive algorithms for online classification", NIPS 2010.

    Examples
    --------
    >>> from thresher.online import NAROWClassifier
    >>> X = [[0.0, 1.0], [1.0, 0.0], [0.1, 0.9], [0.9, 0.2]]
    >>> y = ["ham", "spam", "ham", "spam"]
    >>> model = NAROWClassifier(random_state=0).fit(X, y)
    >>> model.predict([[1.0, 0.1]])
    array(['spam'], dtype='<U4')
    """

    _param_rules = SurestClassifier._param_rules | {"b": positive}

    _search_space: ClassVar[dict[str, Range]] = {"b": Log(0.1, 1e3)}

    def __init__(
        self,
        b: float = 1.0,
        *,
        covariance: str = "diagonal",
        diagonal: str = "drop",
        n_features_to_select: int | None = None,
        fit_intercept: bool = True,
        intercept_scaling: float = 1.0,
        max_iter: int = 1,
        n_steps: int | None = None,
        tol: float | None = None,
        shuffle: bool = True,
        class_weight: Any = None,
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.b = b
        self.covariance = covariance
        self.diagonal = diagonal
        self.n_features_to_select = n_features_to_select
        self.fit_intercept = fit_intercept
        self.intercept_scaling = intercept_scaling
        self.max_iter = max_iter
        self.n_steps = n_steps
        self.tol = tol
        self.shuffle = shuffle
        self.class_weight = class_weight
        self.random_state = random_state
        self.n_jobs = n_jobs

    def _learner(self, n_features: int) -> Learner:
        return self._surest(_core.NarowDiagonal, _core.NarowFull, b=float(self.b))

    def _look_back(self, rows: Rows, target: Target) -> None:
        """Say so when no row was long enough."""
        if not self.support_.size:
            warnings.warn(
                f"NAROWClassifier: no row was doubtful enough to learn from (variance above 1 / b = {1 / self.b:.3g}); "
                "a larger b learns from more.",
                ConvergenceWarning,
                stacklevel=4,
            )
