"""Adaptive regularisation of weight vectors."""

from __future__ import annotations

from typing import Any, ClassVar

from .. import _core
from .._params import positive
from .._spaces import Log, Range
from ..onepass import Learner
from ._confident import ConfidentClassifier


class AROWClassifier(ConfidentClassifier):
    r"""Adaptive regularisation of weights: every weight carries a variance, the model's doubt about it.

    A mistake moves the weights the model doubts most, and each update makes the features it saw more certain. Rare but
    telling features therefore learn fast, which suits text and other sparse data, usually in a single pass. Noisy
    labels hurt less than in learners that must fit every row. Choose :class:`PAClassifier` for half the memory,
    :class:`~thresher.dual_averaging.L1RDAClassifier` when the model must use few features.

    On a row with hinge loss :math:`\ell = 1 - y\,\mu^\top x > 0`,

    .. math:: \beta = \frac{1}{x^\top \Sigma x + r}, \qquad
              \mu \leftarrow \mu + \ell\,\beta\,y\,\Sigma x, \qquad
              \Sigma \leftarrow \Sigma - \beta\,(\Sigma x)(\Sigma x)^\top
              \iff \Sigma^{-1} \leftarrow \Sigma^{-1} + \tfrac{1}{r} x x^\top .

    Parameters
    ----------
    r : float, default=1.0
        Inertia (:math:`r` in [1]_). Larger values take smaller steps: raise it when labels are noisy.
    <covariance>
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
    A pass costs O(stored values) with a diagonal covariance. More than two classes are learned one against
    the rest. Any chunking into calls of :meth:`partial_fit` gives the same bits. A row weight divides ``r`` for that
    row; a row given twice is not the same as a row of weight two.

    References
    ----------
    .. [1] K. Crammer, A. Kulesza and M. Dredze, "Adaptive regularization of weight vectors", NIPS 2009.

    Examples
    --------
    >>> from thresher.online import AROWClassifier
    >>> X = [[0.0, 1.0], [1.0, 0.0], [0.1, 0.9], [0.9, 0.2]]
    >>> y = ["ham", "spam", "ham", "spam"]
    >>> model = AROWClassifier(random_state=0).fit(X, y)
    >>> model.predict([[1.0, 0.1]])
    array(['spam'], dtype='<U4')
    >>> bool((model.variance_ < 1).all())
    True
    """

    _param_rules = ConfidentClassifier._param_rules | {"r": positive}

    _search_space: ClassVar[dict[str, Range]] = {"r": Log(1e-3, 1e3)}

    def __init__(
        self,
        r: float = 1.0,
        *,
        covariance: str = "diagonal",
        diagonal: str = "drop",
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
        self.r = r
        self.covariance = covariance
        self.diagonal = diagonal
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
        if self.covariance == "full":
            return Learner(_core.ArowFull, {"r": float(self.r)})
        return Learner(_core.ArowDiagonal, {"r": float(self.r), "precision": self.diagonal == "precision"})
