"""Online feature selection."""

from __future__ import annotations

from typing import ClassVar

from .. import _core
from .._engine import Learner
from .._estimators import AUTO_STEP, Advice, GoodFor, Step, param
from .._gate import Log, auto, boolean, positive
from ._budget import LARGEST_STEPS, BudgetedClassifier


class OFSClassifier(BudgetedClassifier):
    r"""Online feature selection: gradient steps on the hinge loss that never leave more than B weights.

    Choose it if the model must stay small throughout a stream, for example on a sensor with little memory. A truncated
    weight starts again from 0, so a feature that is slightly weaker than B others can never catch up. If there is
    memory for all features during training, :class:`~thresher.dual_averaging.L1RDAClassifier` with
    ``n_features_to_select`` selects better features.

    With :math:`f = w^\top x`, every row shrinks the weights and a row with :math:`y f \le 1` moves them:

    .. math:: w \leftarrow (1 - \lambda\eta)\,w + \eta\,y\,x, \qquad
              w \leftarrow \min\Big(1, \frac{1}{\sqrt\lambda\,\|w\|}\Big)\, w, \qquad
              w \leftarrow \text{its } B \text{ largest } |w_j| .

    Notes
    -----
    A row costs O(its stored values + B). More than two classes are learned one-vs-rest. However the rows are split into
    calls of :meth:`partial_fit`, the model is the same, bit for bit. A row weight multiplies ``eta0`` for that row; a
    step longer than :math:`1/\lambda` discards everything learned before it. Merging averages the shards and keeps the
    B largest weights.

    Examples
    --------
    >>> len(model.support_)
    2
    """

    _advice = Advice(GoodFor(1, aim="bounded memory"))

    _raced = Step("eta0", "eta0", -1.0, LARGEST_STEPS)

    alpha: float | str = param(
        default="auto",
        rule=positive | auto,
        doc=r"""Strength of the l2 penalty (:math:`\lambda` in [1]_): how fast weights shrink, and the radius
        :math:`1/\sqrt\lambda` of the ball that bounds them. ``"auto"`` is 0.01, or 0.001 if ``eta0`` is ``"auto"``,
        too, because short steps do not need a tight bound.""",
        search=Log(1e-4, 1.0),
    )
    eta0: float | str = param(
        default="auto",
        rule=positive | auto,
        doc=rf"Constant step size (:math:`\eta` in [1]_). {AUTO_STEP}",
        search=Log(1e-3, 10.0),
    )
    shrink: bool = param(
        default=True,
        rule=boolean,
        doc=r"""Shrink the weights by :math:`1 - \lambda\eta` at each row, as described in [1]_. The authors' own
        program does not do so.""",
    )

    _wanders: ClassVar[bool] = True  # from round to round over shards: the mean of models is steadier than the last
    _shorter_steps = "a smaller eta0"

    def _learner(self, n_features: int) -> Learner:
        alpha = (0.001 if self._races else 0.01) if isinstance(self.alpha, str) else float(self.alpha)
        return self._budget_learner(_core.Ofs, alpha=alpha, eta0=self._fixed_step, shrink=bool(self.shrink))
