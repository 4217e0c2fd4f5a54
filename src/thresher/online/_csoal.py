"""Cost-sensitive online active learning."""

from __future__ import annotations

import math
from typing import Any, ClassVar

import numpy as np
from sklearn.utils.validation import check_is_fitted

from .. import _core, _engine
from .._engine import Learner, State
from .._estimators import Advice, GoodFor, LinearClassifier
from .._gate import Log, Range, at_least, none, one_of, positive

_WHOLE = 2.0**53  # up to here, every whole number is a float64
_SEEDS = 2**40  # so that those of thousands of shards add up exactly


class CSOALClassifier(LinearClassifier):
    r"""Cost-sensitive online active learning: asks for the labels of doubtful rows, and minds the rare class.

    Choose it when labels cost more than rows and one class is rare: malicious URLs, faults, fraud. The nearer the score
    of a row to 0, the likelier its label is asked for; only then does the model learn from it. With all labels at hand,
    :class:`PAClassifier` with ``class_weight`` learns more from the same rows.

    The label of a row with score :math:`f = w^\top x` is asked for with probability :math:`\delta / (\delta + |f|)`.
    If it is, a passive-aggressive step follows, by one of two cost-sensitive hinge losses (:math:`\rho_{-1} = 1`):

    .. math:: \text{margin: } \ell = \max(0, \rho_y - y f),\ \tau = \min\Big(C, \frac{\ell}{\|x\|^2}\Big), \qquad
              \text{weight: } \ell = \max(0, 1 - y f),\ \tau = \min\Big(C\rho_y, \frac{\ell}{\|x\|^2}\Big), \qquad
              w \leftarrow w + \tau\,y\,x .

    Parameters
    ----------
    delta : float, default=1.0
        Curiosity (:math:`\delta` in [1]_): the score at which every other label is asked for.
    cost : {"margin", "weight"}, default="margin"
        What a costly class gets: a larger margin, or longer steps. A margin helps where ``C`` seldom stops a step (1 or
        more); longer steps are possible only where it does (0.01).
    query_budget : int, optional
        Labels asked for at most. Once they are used up, nothing is learned any more.
    C : float, default=1.0
        Aggressiveness: the largest step. Lower it when labels are noisy.
    cost_ratio : float, optional
        The cost of a positive row, when a negative one costs 1 (:math:`\rho_{+1}`; :math:`c_p / c_n` in [1]_).
        Estimated from the labels asked for so far when not given: :math:`(1 + n_-) / (1 + n_+)`, so the rarer class
        costs more.
    <intercept>
    max_iter : int, default=1
        Passes over the data in :meth:`fit`. Each asks anew, and each question counts.
    n_steps : int, optional
        Instead of ``max_iter`` passes, that many rows.
    tol : float, optional
        Stop :meth:`fit` when a pass moves the weights by less (Euclidean norm). Never while they are all zero.
    shuffle : bool, default=True
        Visit the rows in a new random order on every pass of :meth:`fit`: blocks of 64 rows, or single rows where they
        come sorted by label.
    <classes>
    random_state : int, RandomState or Generator, optional
        Source of the visiting orders, and of the seeds of all draws. Seeds are drawn by the first call of :meth:`fit`
        or :meth:`partial_fit` and kept in ``state_`` (and so in files).

    Attributes
    ----------
    <fitted classifier>
    n_queried_ : int
        Labels asked for so far. With more than two classes each output asks for itself, "is it of this class?", with a
        budget of its own, and this is the number of all those questions: a row may count several times.
    <fitted>

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

    _param_rules = LinearClassifier._param_rules | {
        "delta": positive,
        "cost": one_of("margin", "weight"),
        "query_budget": at_least(1) | none,
        "C": positive,
        "cost_ratio": positive | none,
    }

    _search_space: ClassVar[dict[str, Range]] = {"C": Log(1e-4, 1e2)}
    _wanders: ClassVar[bool] = True  # from round to round over shards: the mean of models is steadier than the last

    def __init__(
        self,
        delta: float = 1.0,
        *,
        cost: str = "margin",
        query_budget: int | None = None,
        C: float = 1.0,
        cost_ratio: float | None = None,
        fit_intercept: bool = True,
        intercept_scaling: float = 0.1,
        max_iter: int = 1,
        n_steps: int | None = None,
        tol: float | None = None,
        shuffle: bool = True,
        class_weight: Any = None,
        n_jobs: int | None = None,
        random_state: Any = None,
    ) -> None:
        self.delta = delta
        self.cost = cost
        self.query_budget = query_budget
        self.C = C
        self.cost_ratio = cost_ratio
        self.fit_intercept = fit_intercept
        self.intercept_scaling = intercept_scaling
        self.max_iter = max_iter
        self.n_steps = n_steps
        self.tol = tol
        self.shuffle = shuffle
        self.class_weight = class_weight
        self.n_jobs = n_jobs
        self.random_state = random_state

    def _learner(self, n_features: int) -> Learner:
        params = {
            "C": float(self.C),
            "delta": float(self.delta),
            "query_budget": math.inf if self.query_budget is None else float(self.query_budget),
            "cost_ratio": float(self.cost_ratio or 0),  # 0: estimated
            "by_weight": self.cost == "weight",
        }
        return Learner(_core.Csoal, params)

    def _new_state(self, learner: Learner, n_features: int, n_outputs: int) -> State:
        state = super()._new_state(learner, n_features, n_outputs)
        state.arrays["seed"][:, 0] = _engine.generator(self.random_state).integers(_SEEDS, size=n_outputs)
        return state

    @property
    def n_queried_(self) -> int:
        """Labels asked for so far, over all outputs."""
        check_is_fitted(self)
        return int(self.state_.arrays["n_queried"].sum())

    def _check_loaded(self) -> None:
        """Refuse counts that are none."""
        a = self.state_.arrays
        for name in ("n_steps", "n_queried", "seed", "n_positives", "n_negatives"):
            if not ((a[name] >= 0) & (a[name] <= _WHOLE) & (a[name] == np.floor(a[name]))).all():
                raise ValueError(f"{type(self).__name__}: {name} must hold whole numbers from 0 to 2^53.")
        if (a["n_queried"] > a["n_steps"]).any() or (a["n_positives"] + a["n_negatives"] != a["n_queried"]).any():
            raise ValueError(f"{type(self).__name__}: n_queried must count the labels among the rows so far.")
