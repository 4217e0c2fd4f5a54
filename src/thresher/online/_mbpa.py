"""Passive-aggressive steps with a margin for each class, on a budget of features."""

from __future__ import annotations

from .. import _core
from .._engine import Learner
from .._estimators import AUTO_STEP, Advice, GoodFor, Step, param
from .._gate import Log, auto, none, positive
from ._budget import LARGEST_STEPS, BudgetedClassifier


class MBPAClassifier(BudgetedClassifier):
    r"""Passive-aggressive classifier on a feature budget, with a margin for each class (a reconstruction).

    The method appears in [1]_ as a baseline, by name only. This version combines its documented parts: PA-I with a
    margin for each class, and the projection and truncation of :class:`OFSClassifier`. Do not expect it to reproduce
    published figures. Choose it if one class is rare, labels are clean, and the model must stay small throughout a
    stream.

    With the loss :math:`\ell = \max(0, \rho_y - y\,w^\top x)`, where :math:`\rho_{-1} = 1`,

    .. math:: w \leftarrow w + \min\Big(C, \frac{\ell}{\|x\|^2}\Big)\,y\,x, \qquad
              w \leftarrow \min\Big(1, \frac{1}{\sqrt\lambda\,\|w\|}\Big)\, w, \qquad
              w \leftarrow \text{its } B \text{ largest } |w_j| .

    Notes
    -----
    A row costs O(its stored values + B). With two classes the second is the positive one; more than two are learned
    one-vs-rest, each with its own ratio. However the rows are split into calls of :meth:`partial_fit`, the model is the
    same, bit for bit. A row weight multiplies ``C`` for that row. Merging averages the shards and keeps the B largest
    weights.

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
        doc=r"""The margin that a positive row must reach, if that of a negative row is 1 (:math:`\rho_{+1}`). By
        default, it is estimated from the rows so far: :math:`(1 + n_-) / (1 + n_+)`, so the rarer class gets the larger
        margin.""",
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
