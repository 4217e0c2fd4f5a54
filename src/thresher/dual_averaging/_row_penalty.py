"""Penalties of multi-task learners."""

from __future__ import annotations

import math
from typing import Any, ClassVar

import numpy as np

from .._engine import loss_params
from .._estimators import AUTO_STEP, CoupledLearner, MultiTask, SelfTuned, Step, StepInUse, param
from .._gate import Array, Log, Rule, auto, non_negative, one_for_each, one_of, positive

_one_per_feature = Rule(
    "one number of at least 0 per feature",
    lambda v: isinstance(v, (np.ndarray, list, tuple)) and np.ndim(v) == 1,
    type="array-like of shape (n_features,)",
)
_power = Rule("a number of at least 1, or infinity", lambda v: _is_power(v), type="float")


def _is_power(v: Any) -> bool:
    return isinstance(v, (int, float, np.integer, np.floating)) and not isinstance(v, bool) and bool(v >= 1)


class PenalisedTasks(SelfTuned, MultiTask):
    """Base class: a feature is a row of weights, one per task, and the rows are penalised.

    References
    ----------
    .. [1] H. Yang, "Sparse learning under regularization framework", CUHK, 2011, chapter 4.

    Examples
    --------
    >>> import numpy as np
    >>> from thresher.dual_averaging import MultiTaskRDAClassifier
    >>> X, tasks = np.random.default_rng(0).normal(size=(4000, 20)), np.tile(["north", "south"], 2000)
    >>> y = np.where(tasks == "north", 1, 2) * X[:, 3] - X[:, 7] > 0
    >>> model = MultiTaskRDAClassifier(alpha=0.15, random_state=0).fit(X, y, tasks=tasks)
    >>> np.sort(np.linalg.norm(model.coef_, axis=0).argsort()[-2:])
    array([3, 7])
    """

    _core_learner: ClassVar[Any]

    penalty: str = param(
        default="l21",
        rule=one_of("l1", "l21", "l1_l21", "lp1"),
        doc="""Penalty on the weights of a feature over the tasks: their l2 norm (aMTFS in [1]_, selects features for
        all tasks), their l1 norm (iMTFS, selects features for each task separately), the l2 norm plus ``l1_weight``
        times the l1 norm (MTFTS, selects features and tasks within them), or their ``p``-norm.""",
        kw_only=False,
    )
    alpha: float = param(
        default=1e-4,
        rule=non_negative,
        doc=r"Strength of the penalty (:math:`\lambda` in [1]_). Larger values give fewer features.",
        search=Log(1e-7, 1e-1),
        kw_only=False,
    )
    _raced = Step("eta0", "eta0", -1.0, (1.0, 3.0, 1e1, 3e1, 3e2))
    eta0_ = StepInUse()

    eta0: float | str = param(
        default="auto",
        rule=positive | auto,
        doc=rf"Step size (:math:`1/\gamma` in [1]_). {AUTO_STEP}",
        search=Log(1e-3, 1e3),
    )
    p: float = param(default=2.0, rule=_power, doc='The power of ``penalty="lp1"``, at least 1; infinity is allowed.')
    l1_weight: Any = param(
        default=1.0,
        rule=non_negative | _one_per_feature,
        doc='Share of the l1 penalty in ``"l1_l21"`` (:math:`r_j` in [1]_), one for all or one per feature.',
    )

    def _learner(self, n_features: int) -> CoupledLearner:
        weight, each = self._l1_weights(n_features)
        params = {
            **loss_params(self),
            "penalty": self._penalty_name(),
            "p": 2.0 if math.isinf(self.p) else float(self.p),
            "alpha": float(self.alpha),
            "eta0": self._fixed_step,
            "l1_weight": weight,
            "l1_weights": each,
        }
        return CoupledLearner(type(self)._core_learner, params)

    def _penalty_name(self) -> str:
        """The penalty in the core's words: powers with a closed form have names of their own."""
        if self.penalty != "lp1":
            return self.penalty
        return {1.0: "l1", 2.0: "l21", math.inf: "linf1"}.get(float(self.p), "lp1")

    def _l1_weights(self, n_features: int) -> tuple[float, Array | None]:
        if np.ndim(self.l1_weight) == 0:
            return float(self.l1_weight), None
        who = type(self).__name__
        weights = one_for_each(self.l1_weight, n_features, "l1_weight", "feature", who)
        sane = np.isfinite(weights) & (weights >= 0)
        if not sane.all():
            raise ValueError(f"{who}: l1_weight must be numbers of at least 0, got {weights[~sane][0]}.")
        return 0.0, np.append(weights, 0.0)
