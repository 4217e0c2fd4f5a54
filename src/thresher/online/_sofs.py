"""Second-order online feature selection."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import _core
from .._engine import Learner
from .._estimators import AUTO_STEP, Advice, GoodFor, KeepsVariances, Step, param, read_only
from .._gate import Array, Log, at_least_one, auto, positive
from ._budget import BudgetedClassifier


class SOFSClassifier(KeepsVariances, BudgetedClassifier):
    r"""Second-order online feature selection: AROW with weights only for the B features of smallest variance.

    Each feature has a variance, which falls whenever the feature occurs in a row with a loss. Only the B features of
    smallest variance have a weight. This selects features that are *frequent* (or large) in difficult rows, whatever
    the labels are. On text, with B in the thousands, frequent features are useful and the method is fast. To select a
    few informative features, choose :class:`~thresher.dual_averaging.L1RDAClassifier` with ``n_features_to_select``.
    With the default ``r``, dense rows are scaled. If you set ``r`` to a number, scale the features first, because the
    variance of a large feature falls fast.

    On a row with hinge loss :math:`\ell = 1 - y\,\mu^\top x > 0`,

    .. math:: \beta = \frac{1}{\sum_j s_j x_j^2 + r}, \qquad
              \mu_j \leftarrow \mu_j + \ell\,\beta\,y\,s_j x_j, \qquad
              \frac{1}{s_j} \leftarrow \frac{1}{s_j} + \frac{x_j^2}{r}, \qquad
              \mu_j \leftarrow 0 \text{ outside the } B \text{ smallest } s_j .

    A feature outside the selection replaces the one with the largest variance inside once its own variance is smaller
    by the factor ``advantage``. Until then its weight stays 0.

    Attributes
    ----------
    variance_ : ndarray of shape (1, n_features) or (n_classes, n_features)
        The variance :math:`s_j` of each weight, whether the feature is in use or not. It starts at 1 and never grows.

    Notes
    -----
    Variances never grow, and only those of the current row change, so a heap of B variances is exact: a row costs O(its
    stored values log B). More than two classes are learned one-vs-rest. However the rows are split into calls of
    :meth:`partial_fit`, the model is the same, bit for bit. A row weight divides ``r`` for that row. Merging adds the
    precisions of the shards and keeps the B features of smallest variance. A weight that only some shards have is
    shrunk towards 0 by the others.

    References
    ----------
    .. [1] Y. Wu, S. C. H. Hoi, T. Mei and N. Yu, "Large-scale online feature selection for ultra-high dimensional
       sparse data", ACM TKDD 11, 2017.

    Examples
    --------
    >>> len(model.support_)
    2
    """

    _advice = Advice(GoodFor(3, aim="bounded memory"))

    _raced = Step("r", "r", 1.0, (1e-2, 1e-1, 1.0, 1e1))

    r: float | str = param(
        default="auto",
        rule=positive | auto,
        doc=rf"Inertia of AROW (:math:`r`; :math:`\gamma` in [1]_). Larger values take smaller steps. {AUTO_STEP}",
        search=Log(1e-3, 1e3),
    )
    advantage: float | str = param(
        default="auto",
        rule=at_least_one | auto,
        doc="""How many times smaller the variance of a feature must be for it to replace another. At 1, as published,
        features that are about equally frequent keep replacing one another, and each loses its weight each time.
        ``"auto"`` is 1.25 if ``r`` is ``"auto"``, too, and 1 if ``r`` is a number.""",
    )

    @property
    def _advantage(self) -> float:
        return float(self.advantage) if self.advantage != "auto" else 1.25 if self._races else 1.0

    def _by_race(self) -> dict[str, Any]:
        return {"advantage": self._advantage} if self.advantage == "auto" else {}

    def _learner(self, n_features: int) -> Learner:
        return self._budget_learner(_core.Sofs, r=self._fixed_step, advantage=self._advantage)

    @property
    def variance_(self) -> Array:
        """The variance of each weight."""
        self._all_weights()
        learner = self._learner_now()
        outputs = learner.outputs_of(self.state_, learner.chosen(self.state_))
        variance = self.state_.arrays["variance"][outputs.start : outputs.stop, :-1]
        return read_only(variance if learner.tuning is None else variance * learner.units(self.state_) ** 2)

    def _check_order(self, view: dict[str, Array], used: NDArray[np.int64]) -> None:
        places = np.zeros(self.state_.sizes["weight"])
        places[used] = np.arange(1, len(used) + 1)
        if not np.array_equal(places, view["place"]):
            raise ValueError(f"{type(self).__name__}: place must say where selected names each feature.")
        heap = view["variance"][used]
        if (heap[1:] > heap[np.arange(len(heap) - 1) // 2]).any():
            raise ValueError(f"{type(self).__name__}: selected must be a heap, the largest variance first.")
        idle = view["variance"][:-1][places[:-1] == 0]
        if len(heap) == len(view["selected"]) and (idle * self._advantage < heap[0]).any():
            raise ValueError(f"{type(self).__name__}: selected must name the features of least variance.")
