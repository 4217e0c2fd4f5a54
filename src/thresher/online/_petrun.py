"""The perceptron, truncated."""

from __future__ import annotations

from typing import ClassVar

from .. import _core
from .._engine import Learner
from .._estimators import Step, param
from .._gate import auto, positive
from ._budget import BudgetedClassifier


class PETrunClassifier(BudgetedClassifier):
    r"""Perceptron by truncation (PEtrun): after each mistake, only the B largest weights are kept.

    The simplest learner that never uses more than B features. Use it as a baseline. :class:`OFSClassifier` also
    requires a margin and bounds the weights, and is usually better.

    A row with :math:`y\,w^\top x \le 0` is a mistake:

    .. math:: w \leftarrow w + \eta\,y\,x, \qquad w \leftarrow \text{its } B \text{ largest } |w_j| .

    Notes
    -----
    A mistake costs O(its stored values + B), any other row O(its stored values). The loss in ``progressive_loss_`` is
    :math:`\max(0, -y\,w^\top x)`. More than two classes are learned one-vs-rest. However the rows are split into calls
    of :meth:`partial_fit`, the model is the same, bit for bit. A row weight multiplies ``eta0`` for that row. Merging
    averages the shards and keeps the B largest weights.
    """

    _raced = Step("eta0", "eta0", 0.0, (1.0,))

    eta0: float | str = param(
        default="auto",
        rule=positive | auto,
        doc=r"""Step size (:math:`\eta`). It multiplies all weights, so no prediction depends on it. ``"auto"`` is 1 and
        scales dense rows (see ``scale``); a number gives the published learner.""",
    )

    _wanders: ClassVar[bool] = True  # from round to round over shards: the mean of models is steadier than the last

    _shorter_steps = "a smaller eta0"

    def _learner(self, n_features: int) -> Learner:
        return self._budget_learner(_core.Petrun, eta0=self._fixed_step)
