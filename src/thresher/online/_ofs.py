"""Online feature selection."""

from __future__ import annotations

from typing import ClassVar

from .. import _core
from .._engine import Learner
from .._estimators import Advice, GoodFor, param
from .._gate import Log, boolean, positive
from ._budget import BudgetedClassifier


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

    alpha: float = param(
        default=0.01,
        rule=positive,
        doc=r"""Strength of the l2 penalty (:math:`\lambda` in [1]_): how fast weights are forgotten, and a ball of
        radius :math:`1/\sqrt\lambda` that holds them.""",
        search=Log(1e-4, 1.0),
    )
    eta0: float = param(
        default=0.2,
        rule=positive,
        doc=r"Length of all steps (:math:`\eta` in [1]_).",
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
        return self._budget_learner(_core.Ofs, alpha=float(self.alpha), eta0=float(self.eta0), shrink=bool(self.shrink))
