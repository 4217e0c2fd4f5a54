"""Passive-aggressive steps with a margin for each class, on a budget of features."""

from __future__ import annotations

from typing import Any, ClassVar

from .. import _core
from .._engine import Learner
from .._estimators import Advice, GoodFor
from .._gate import Log, Range, none, positive
from ._budget import BUDGET_RULES, BudgetedClassifier


class MBPAClassifier(BudgetedClassifier):
    r"""Passive-aggressive classifier on a budget, with a margin for each class; a reconstruction.

    The method is known to us as a baseline of [1]_ and by name only: what is here is a composition of its documented
    parts, PA-I with a margin for each class and the projection and truncation of :class:`OFSClassifier`. Do not expect
    published figures of it. Choose it where one class is rare, labels are clean, and the model must stay small at every
    moment of a stream.

    With the loss :math:`\ell = \max(0, \rho_y - y\,w^\top x)`, where :math:`\rho_{-1} = 1`,

    .. math:: w \leftarrow w + \min\Big(C, \frac{\ell}{\|x\|^2}\Big)\,y\,x, \qquad
              w \leftarrow \min\Big(1, \frac{1}{\sqrt\lambda\,\|w\|}\Big)\, w, \qquad
              w \leftarrow \text{its } B \text{ largest } |w_j| .

    Parameters
    ----------
    <budget>
    C : float, default=1.0
        Aggressiveness: the largest step. Lower it when labels are noisy.
    alpha : float, default=0.01
        The weights stay in a ball of radius :math:`1/\sqrt\lambda` (:math:`\lambda`).
    cost_ratio : float, optional
        The margin that positive rows must reach, when negative ones must reach 1 (:math:`\rho_{+1}`). Estimated from
        the rows so far when not given: :math:`(1 + n_-) / (1 + n_+)`, so the rarer class gets the larger margin.
    <intercept>
    <passes>
    <classes>

    Attributes
    ----------
    <fitted classifier>
    <fitted>

    Notes
    -----
    A row costs O(its stored values + B). With two classes the second is the positive one; more are learned one against
    the rest, each with a ratio of its own. Any chunking into calls of :meth:`partial_fit` gives the same bits. A row
    weight multiplies ``C`` for that row. Merged shards are averaged, then cut to B.

    References
    ----------
    .. [1] Y. Liu, Y. Yan, L. Chen, Y. Han and Y. Yang, "Adaptive sparse confidence-weighted learning for online feature
       selection", AAAI 2019.

    Examples
    --------
    >>> from thresher.online import MBPAClassifier
    >>> X = [[0.0, 1.0, 0.1], [1.0, 0.0, 0.1], [0.1, 0.9, 0.0], [0.9, 0.2, 0.1]]
    >>> y = ["ham", "spam", "ham", "spam"]
    >>> MBPAClassifier(n_features_to_select=2, random_state=0).fit(X, y).predict([[1.0, 0.1, 0.0]])
    array(['spam'], dtype='<U4')
    """

    _advice = Advice(GoodFor(2, aim="bounded memory"))

    _param_rules = BUDGET_RULES | {"C": positive, "alpha": positive, "cost_ratio": positive | none}

    _search_space: ClassVar[dict[str, Range]] = {"C": Log(1e-4, 1e2), "alpha": Log(1e-4, 1.0)}
    _shorter_steps = "a smaller C"

    def __init__(
        self,
        n_features_to_select: int = 50,
        *,
        C: float = 1.0,
        alpha: float = 0.01,
        cost_ratio: float | None = None,
        fit_intercept: bool = True,
        intercept_scaling: float = 0.1,
        max_iter: int = 5,
        n_steps: int | None = None,
        tol: float | None = None,
        shuffle: bool = True,
        class_weight: Any = None,
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.n_features_to_select = n_features_to_select
        self.C = C
        self.alpha = alpha
        self.cost_ratio = cost_ratio
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
        ratio = float(self.cost_ratio or 0)  # 0: estimated
        return self._budget_learner(_core.Mbpa, C=float(self.C), alpha=float(self.alpha), cost_ratio=ratio)
