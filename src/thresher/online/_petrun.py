"""The perceptron, truncated."""

from __future__ import annotations

from typing import ClassVar

from .. import _core
from .._engine import Learner
from .._estimators import Step, param
from .._gate import auto, positive
from ._budget import BudgetedClassifier


class PETrunClassifier(BudgetedClassifier):
    r"""Perceptron by truncation (PEtrun): after each mistake, the B largest weights stay and the others are forgotten.

    The simplest learner that never uses more than B features, and the baseline of those that do it better: choose it to
    compare with. :class:`OFSClassifier` asks for a margin and keeps the weights in bounds.

    A row with :math:`y\,w^\top x \le 0` is a mistake:

    .. math:: w \leftarrow w + \eta\,y\,x, \qquad w \leftarrow \text{its } B \text{ largest } |w_j| .

    Notes
    -----
    A mistake costs O(its stored values + B), any other row O(its stored values). The loss in ``progressive_loss_`` is
    :math:`\max(0, -y\,w^\top x)`. More than two classes are learned one against the rest. Any chunking into calls of
    :meth:`partial_fit` gives the same bits. A row weight multiplies ``eta0`` for that row. Merged shards are averaged,
    then cut to B.
    """

    _raced = Step("eta0", "eta0", 0.0, (1.0,))

    eta0: float | str = param(
        default="auto",
        rule=positive | auto,
        doc=r"""Length of the steps (:math:`\eta`). It scales all weights alike, and no prediction depends on it.
        ``"auto"`` is 1, and dense rows are scaled, see ``scale``; a number gives the published learner.""",
    )

    _wanders: ClassVar[bool] = True  # from round to round over shards: the mean of models is steadier than the last

    _shorter_steps = "a smaller eta0"

    def _learner(self, n_features: int) -> Learner:
        return self._budget_learner(_core.Petrun, eta0=self._fixed_step)
