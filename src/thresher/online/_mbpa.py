"""Passive-aggressive steps with a margin for each class, on a budget of features."""

from __future__ import annotations

from .. import _core
from .._engine import Learner
from .._estimators import AUTO_STEP, Advice, GoodFor, Step, param
from .._gate import Log, auto, none, positive
from ._budget import LARGEST_STEPS, BudgetedClassifier


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

    Notes
    -----
    A row costs O(its stored values + B). With two classes the second is the positive one; more are learned one against
    the rest, each with a ratio of its own. Any chunking into calls of :meth:`partial_fit` gives the same bits. A row
    weight multiplies ``C`` for that row. Merged shards are averaged, then cut to B.

    References
    ----------
    .. [1] Y. Liu, Y. Yan, L. Chen, Y. Han and Y. Yang, "Adaptive sparse confidence-weighted learning for online feature
       selection", AAAI 2019.
    """

    _advice = Advice(GoodFor(2, aim="bounded memory"))

    _raced = Step("C", "C", -1.0, LARGEST_STEPS)

    C: float | str = param(
        default="auto",
        rule=positive | auto,
        doc=f"Aggressiveness: the largest step. Lower it when labels are noisy. {AUTO_STEP}",
        search=Log(1e-4, 1e2),
    )
    alpha: float = param(
        default=0.01,
        rule=positive,
        doc=r"The weights stay in a ball of radius :math:`1/\sqrt\lambda` (:math:`\lambda`).",
        search=Log(1e-4, 1.0),
    )
    cost: float | None = param(
        default=None,
        rule=positive | none,
        doc=r"""Cost of a positive row, when a negative one costs 1 (:math:`\rho_{+1}`): the margins that they must
        reach. Estimated from the rows so far when not given: :math:`(1 + n_-) / (1 + n_+)`, so the rarer class gets the
        larger margin.""",
        file="cost_ratio",
    )

    _shorter_steps = "a smaller C"

    @property
    def _weighs_mistakes(self) -> bool:
        return self._is_lopsided if self.cost is None else self.cost != 1

    def _cost_ratio(self) -> float:
        return self._ratio_of_share(0.5) if self.cost is None else float(self.cost)

    def _learner(self, n_features: int) -> Learner:
        ratio = float(self.cost or 0)  # 0: estimated
        return self._budget_learner(_core.Mbpa, C=self._fixed_step, alpha=float(self.alpha), cost_ratio=ratio)
