"""Cost-sensitive online active learning."""

from __future__ import annotations

import math
from typing import ClassVar

from .. import _core
from .._engine import Learner
from .._estimators import Advice, GoodFor, LateMeans, SeededClassifier, Step, check_is_fitted, param
from .._gate import Log, at_least, auto, none, one_of, positive


class CSOALClassifier(LateMeans, SeededClassifier):
    r"""Cost-sensitive online active learning: queries the labels of uncertain rows, in favour of a rare class.

    Choose it if labels are expensive and one class is rare: malicious URLs, faults, fraud. The nearer a score is to 0,
    the more likely the learner is to query the label, and it learns only from rows whose label it queried. If all
    labels are available, :class:`PAClassifier` with ``class_weight`` learns more from the same rows.

    The label of a row with score :math:`f = w^\top x` is queried with probability :math:`\delta / (\delta + |f|)`. A
    passive-aggressive step on one of two cost-sensitive hinge losses (:math:`\rho_{-1} = 1`) then follows:

    .. math:: \text{margin: } \ell = \max(0, \rho_y - y f),\ \tau = \min\Big(C, \frac{\ell}{\|x\|^2}\Big), \qquad
              \text{weight: } \ell = \max(0, 1 - y f),\ \tau = \min\Big(C\rho_y, \frac{\ell}{\|x\|^2}\Big), \qquad
              w \leftarrow w + \tau\,y\,x .

    Attributes
    ----------
    n_queried_ : int
        Number of labels queried so far. With more than two classes, each one-vs-rest output makes its own queries
        within its own budget, and this is their total, so a row may count several times.

    Notes
    -----
    Each random draw depends only on the seed of its output and the number of the row. However the rows are split into
    calls of :meth:`partial_fit`, the model is therefore the same, bit for bit. A row without a query changes only the
    row count. ``n_mistakes_`` and ``progressive_loss_`` cover all rows, so they also use labels that the model has not
    seen. A pass costs O(stored values). A row weight multiplies ``C`` for that row. Merging averages the shards and
    adds up their queries, so the sum may exceed the budget of a single shard.

    The literature has several variants. Both forms follow the published descriptions, not the authors' programs.

    References
    ----------
    .. [1] P. Zhao and S. C. H. Hoi, "Cost-sensitive online active learning with application to malicious URL
       detection", KDD 2013.

    Examples
    --------
    >>> from thresher.online import CSOALClassifier
    >>> X = [[0.0, 1.0], [1.0, 0.0], [0.1, 0.9], [0.9, 0.2]] * 25
    >>> y = ["ham", "spam", "ham", "spam"] * 25
    >>> model = CSOALClassifier(delta=0.1, random_state=0).fit(X, y)
    >>> model.predict([[1.0, 0.1]])
    array(['spam'], dtype='<U4')
    >>> model.n_queried_ < 50
    True
    """

    _advice = Advice(GoodFor(1, aim="active learning"))

    delta: float = param(
        default=1.0,
        rule=positive,
        doc=r"Query rate (:math:`\delta` in [1]_): the absolute score at which half of the labels are queried.",
        kw_only=False,
    )
    cost_kind: str = param(
        default="margin",
        rule=one_of("margin", "weight"),
        doc="""Whether a costly class gets a larger margin or longer steps. A margin helps if ``C`` rarely limits a step
        (1 or more); longer steps make a difference only if it does (0.01).""",
        file="cost",
    )
    query_budget: int | None = param(
        default=None,
        rule=at_least(1) | none,
        doc="The largest number of labels to query. After that, the model no longer changes.",
    )
    C: float | str = param(
        default="auto",
        rule=positive | auto,
        doc="""Aggressiveness: the largest step. Lower it when labels are noisy. ``"auto"`` is 1 divided by the typical
        squared length of a row, and dense rows are then scaled (see ``scale``). It does not compare values, because
        that would need labels of rows that were not queried.""",
        search=Log(1e-4, 1e2),
    )
    cost: float | None = param(
        default=None,
        rule=positive | none,
        doc=r"""The cost of a positive row, when a negative one costs 1 (:math:`\rho_{+1}`; :math:`c_p / c_n` in [1]_).
        By default, it is estimated from the labels queried so far: :math:`(1 + n_-) / (1 + n_+)`, so the rarer class
        costs more.""",
        file="cost_ratio",
    )
    max_iter: int = param(
        default=1,
        doc="Passes over the data in :meth:`fit`. Each pass queries labels again, and each query counts.",
    )

    _wanders: ClassVar[bool] = True  # from round to round over shards: the mean of models is steadier than the last

    _raced = Step("C", "C", -1.0, (1.0,))

    @property
    def _weighs_mistakes(self) -> bool:
        return self._is_lopsided if self.cost is None else self.cost != 1

    def _cost_ratio(self) -> float:
        return self._ratio_of_share(0.5) if self.cost is None else float(self.cost)

    def _learner(self, n_features: int) -> Learner:
        params = {
            "C": self._fixed_step,
            "delta": float(self.delta),
            "query_budget": math.inf if self.query_budget is None else float(self.query_budget),
            "cost_ratio": float(self.cost or 0),  # 0: estimated
            "by_weight": self.cost_kind == "weight",
            "average": self._averages,
        }
        return Learner(_core.Csoal, params)

    @property
    def n_queried_(self) -> int:
        """Number of labels queried so far, over all outputs."""
        check_is_fitted(self)
        learner = self._learner_now()
        outputs = learner.outputs_of(self.state_, learner.chosen(self.state_))
        return int(self.state_.arrays["n_queried"][outputs.start : outputs.stop].sum())

    def _check_loaded(self) -> None:
        """Refuse counts that are not valid."""
        a = self.state_.arrays
        self._check_counts("n_positives", "n_negatives")
        if (a["n_positives"] + a["n_negatives"] != a["n_queried"]).any():
            raise ValueError(f"{type(self).__name__}: n_queried must count the labels among the rows so far.")
