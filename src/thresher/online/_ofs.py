"""Online feature selection."""

from __future__ import annotations

from typing import ClassVar

from .. import _core
from .._engine import Learner
from .._estimators import AUTO_STEP, Advice, GoodFor, Step, param
from .._gate import Log, auto, boolean, positive
from ._budget import LARGEST_STEPS, BudgetedClassifier


class OFSClassifier(BudgetedClassifier):
    r"""Online feature selection: gradient steps on the hinge loss, and never more than B weights.

    Choose it when the model itself must stay small at every moment of a stream: a sensor, a rule list, memory that is
    counted. A weight that is cut starts again from 0, so a feature that is a little weaker than B others never gathers
    its evidence; where room for all features is there while learning,
    :class:`~thresher.dual_averaging.L1RDAClassifier` with ``n_features_to_select`` chooses better.

    With :math:`f = w^\top x`, every row shrinks the weights and a row with :math:`y f \le 1` moves them:

    .. math:: w \leftarrow (1 - \lambda\eta)\,w + \eta\,y\,x, \qquad
              w \leftarrow \min\Big(1, \frac{1}{\sqrt\lambda\,\|w\|}\Big)\, w, \qquad
              w \leftarrow \text{its } B \text{ largest } |w_j| .

    Notes
    -----
    A row costs O(its stored values + B). More than two classes are learned one against the rest. Any chunking into
    calls of :meth:`partial_fit` gives the same bits. A row weight multiplies ``eta0`` for that row; a step longer than
    :math:`1/\lambda` forgets all that was learned before it. Merged shards are averaged, then cut to B.

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
        doc=r"""Strength of the l2 penalty (:math:`\lambda` in [1]_): how fast weights are forgotten, and a ball of
        radius :math:`1/\sqrt\lambda` that holds them. ``"auto"`` is 0.01; where ``eta0`` is ``"auto"``, too, 0.001, as
        short steps need no such bounds.""",
        search=Log(1e-4, 1.0),
    )
    eta0: float | str = param(
        default="auto",
        rule=positive | auto,
        doc=rf"Length of all steps (:math:`\eta` in [1]_). {AUTO_STEP}",
        search=Log(1e-3, 10.0),
    )
    shrink: bool = param(
        default=True,
        rule=boolean,
        doc=r"""Shrink the weights by :math:`1 - \lambda\eta` at each row, as [1]_ says. The authors' own program does
        not.""",
    )

    _wanders: ClassVar[bool] = True  # from round to round over shards: the mean of models is steadier than the last
    _shorter_steps = "a smaller eta0"

    def _learner(self, n_features: int) -> Learner:
        alpha = (0.001 if self._races else 0.01) if isinstance(self.alpha, str) else float(self.alpha)
        return self._budget_learner(_core.Ofs, alpha=alpha, eta0=self._fixed_step, shrink=bool(self.shrink))
