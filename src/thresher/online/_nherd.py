"""Classification by a herd of normals."""

from __future__ import annotations

from typing import Any, ClassVar

from .. import _core
from .._engine import Learner
from .._gate import Log, Range, positive
from ._confident import SurestClassifier


class NHERDClassifier(SurestClassifier):
    r"""Normal herd: a whole normal distribution of weights takes the step of a passive-aggressive learner.

    Every weight vector of the herd :math:`N(\mu, \Sigma)` moves linearly to repair the row, and the herd that comes out
    is the new model. The mean takes AROW's step with :math:`r = 1/C`, the variances fall faster than in
    :class:`AROWClassifier`: it settles sooner, which pays on clean data and few rows.

    On a row with hinge loss :math:`\ell = 1 - y\,\mu^\top x > 0`, with :math:`\gamma = 1/C` and
    :math:`v = x^\top \Sigma x`,

    .. math:: \beta = \frac{1}{v + \gamma}, \qquad \mu \leftarrow \mu + \ell\,\beta\,y\,\Sigma x, \qquad
              \Sigma \leftarrow \Sigma - \beta^2 (v + 2 \gamma)\,(\Sigma x)(\Sigma x)^\top
              \iff \Sigma^{-1} \leftarrow \Sigma^{-1} + (2 C + C^2 v)\,x x^\top .

    Parameters
    ----------
    C : float, default=1.0
        Aggressiveness (:math:`C` in [1]_). Lower it when labels are noisy.
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
    Any chunking into calls of :meth:`partial_fit` gives the same bits. A row weight multiplies ``C``.

    References
    ----------
    .. [1] K. Crammer and D. D. Lee, "Learning via Gaussian herding", NIPS 2010.

    Examples
    --------
    >>> from thresher.online import NHERDClassifier
    >>> X = [[0.0, 1.0], [1.0, 0.0], [0.1, 0.9], [0.9, 0.2]]
    >>> y = ["ham", "spam", "ham", "spam"]
    >>> model = NHERDClassifier(random_state=0).fit(X, y)
    >>> model.predict([[1.0, 0.1]])
    array(['spam'], dtype='<U4')
    """

    _param_rules = SurestClassifier._param_rules | {"C": positive}

    _search_space: ClassVar[dict[str, Range]] = {"C": Log(1e-3, 1e3)}

    def __init__(
        self,
        C: float = 1.0,
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
        self.C = C
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
        return self._surest(_core.NherdDiagonal, _core.NherdFull, C=float(self.C))
