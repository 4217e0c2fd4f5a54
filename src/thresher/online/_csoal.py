"""Cost-sensitive online active learning."""

from __future__ import annotations

import math
from typing import ClassVar

from .. import _core
from .._engine import Learner
from .._estimators import Advice, GoodFor, LateMeans, SeededClassifier, Step, check_is_fitted, param
from .._gate import Log, at_least, auto, none, one_of, positive


class CSOALClassifier(LateMeans, SeededClassifier):
    r"""Cost-sensitive online active learning: asks for the labels of doubtful rows, and minds the rare class.

    Choose it when labels cost more than rows and one class is rare: malicious URLs, faults, fraud. The nearer the score
    of a row to 0, the likelier its label is asked for; only then does the model learn from it. With all labels at hand,
    :class:`PAClassifier` with ``class_weight`` learns more from the same rows.

    The label of a row with score :math:`f = w^\top x` is asked for with probability :math:`\delta / (\delta + |f|)`.
    If it is, a passive-aggressive step follows, by one of two cost-sensitive hinge losses (:math:`\rho_{-1} = 1`):

    .. math:: \text{margin: } \ell = \max(0, \rho_y - y f),\ \tau = \min\Big(C, \frac{\ell}{\|x\|^2}\Big), \qquad
              \text{weight: } \ell = \max(0, 1 - y f),\ \tau = \min\Big(C\rho_y, \frac{\ell}{\|x\|^2}\Big), \qquad
              w \leftarrow w + \tau\,y\,x .

    Attributes
    ----------
    n_queried_ : int
        Labels asked for so far. With more than two classes each output asks for itself, "is it of this class?",
        with a budget of its own, and this is the number of all those questions: a row may count several times.

    Notes
    -----
    A draw is a function of its output's seed and the number of the row, so there is no generator to keep and any
    chunking into calls of :meth:`partial_fit` gives the same bits. A row that is not asked about changes nothing but
    the clock. ``n_mistakes_`` and ``progressive_loss_`` are over all rows: they judge the model with labels it may not
    have used. A pass costs O(stored values). A row weight multiplies ``C`` for that row. Merged shards are averaged and
    their questions add up, beyond the budget if each shard had one.

    The literature names variants of this; both forms here follow its descriptions, not its programs.

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
        doc=r"Curiosity (:math:`\delta` in [1]_): the score at which every other label is asked for.",
        kw_only=False,
    )
    cost_kind: str = param(
        default="margin",
        rule=one_of("margin", "weight"),
        doc="""A costly class gets a larger margin, or longer steps. A margin helps where ``C`` seldom stops a
        step (1 or more); longer steps are possible only where it does (0.01).""",
        file="cost",
    )
    query_budget: int | None = param(
        default=None,
        rule=at_least(1) | none,
        doc="Labels asked for at most. Once they are used up, nothing is learned any more.",
    )
    C: float | str = param(
        default="auto",
        rule=positive | auto,
        doc="""Aggressiveness: the largest step. Lower it when labels are noisy. ``"auto"`` is 1 divided by the
        typical squared length of a row, and dense rows are then scaled, see ``scale``: values are not compared, because
        that would take the labels of rows that nobody asked about.""",
        search=Log(1e-4, 1e2),
    )
    cost: float | None = param(
        default=None,
        rule=positive | none,
        doc=r"""The cost of a positive row, when a negative one costs 1 (:math:`\rho_{+1}`; :math:`c_p / c_n` in [1]_).
        Estimated from the labels asked for so far when not given: :math:`(1 + n_-) / (1 + n_+)`, so the rarer class
        costs more.""",
        file="cost_ratio",
    )
    max_iter: int = param(
        default=1, doc="Passes over the data in :meth:`fit`. Each asks anew, and each question counts."
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
        """Labels asked for so far, over all outputs."""
        check_is_fitted(self)
        learner = self._learner_now()
        outputs = learner.outputs_of(self.state_, learner.chosen(self.state_))
        return int(self.state_.arrays["n_queried"][outputs.start : outputs.stop].sum())

    def _check_loaded(self) -> None:
        """Refuse counts that are none."""
        a = self.state_.arrays
        self._check_counts("n_positives", "n_negatives")
        if (a["n_positives"] + a["n_negatives"] != a["n_queried"]).any():
            raise ValueError(f"{type(self).__name__}: n_queried must count the labels among the rows so far.")
