"""Adaptive dual averaging with an l1 penalty."""

from __future__ import annotations

from typing import Any

from .. import _core
from .._engine import Learner
from .._estimators import AUTO_STEP, Advice, GoodFor, Power, Step, StepInUse, param
from .._gate import Log, auto, divisor, non_negative, positive
from ._sparse import SparseClassifier, SparseLinear, SparseRegressor
from ._synchronous import MiniBatches

_FOR_SPARSITY = GoodFor(
    2,
    "you want few features, its zeros are exact, and {first} takes longer steps for rare features",
    lambda p: p.wants_sparsity and p.is_wide,
)


class _AdaptiveL1RDA(MiniBatches, SparseLinear):
    """Dual averaging with a step size for every feature.

    Attributes
    ----------
    eta0_ : float
        The step size of the model that predicts, in units of the scaled rows if rows are scaled.

    References
    ----------
    .. [1] J. Duchi, E. Hazan and Y. Singer, "Adaptive subgradient methods for online learning and stochastic
       optimization", JMLR 12, 2011.
    .. [2] V. Jumutc, "Flexible software design for stochastic and kernel-based learning in advanced data-driven
       modelling", KU Leuven, 2016.
    """

    _raced = Step("eta0", "eta0", -0.5, (3e-2, 1e-1, 3e-1, 1.0, 3.0))
    eta0_ = StepInUse()

    eta0: float | str = param(
        default="auto",
        rule=positive | auto,
        doc=rf"""Step size (:math:`\eta` in [1]_ and [2]_). Use values from 0.1 to 10, larger ones for fewer features.
        {AUTO_STEP}""",
        search=Log(1e-2, 1e2),
    )
    smoothing: float = param(
        default=0.01,
        rule=divisor,
        doc=r"""Initial value in the denominator of each feature's step size (:math:`\delta` in [1]_, :math:`\rho` in
        [2]_).""",
    )
    l2_weight: float = param(default=0.0, rule=non_negative, doc="Strength of the l2 penalty.")

    def _learner(self, n_features: int) -> Learner:
        core = self._core_of(_core.AdaptiveL1Rda, _core.AdaptiveL1RdaBatch)
        numbers = {"smoothing": self.smoothing, "l2_weight": self.l2_weight, "batch_size": self.batch_size}
        return self._sparse_learner(core, eta0=self._fixed_step, **numbers)


class AdaptiveL1RDAClassifier(_AdaptiveL1RDA, SparseClassifier):
    r"""Sparse linear classifier by dual averaging with a step size for each feature: rare features take longer steps.

    Like :class:`L1RDAClassifier`, it keeps exact zeros on a stream. If features differ in how often they occur, as
    words do, it is slightly more accurate at the same number of features, mostly when many of them are kept, and
    ``eta0`` needs less tuning.

    After :math:`t` steps with gradients :math:`g_1, \dots, g_t`, each the mean over a mini-batch, feature by feature,

    .. math:: w = -\frac{\mathrm{soft}\big(\sum_s g_s,\ \alpha t\big)}{\kappa t + H/\eta_0}, \qquad
              H = \delta + \sqrt{\textstyle\sum_s g_s^2},

    with :math:`\kappa` = ``l2_weight`` and :math:`\delta` = ``smoothing``; for :math:`\kappa > 0` the elastic net.

    Notes
    -----
    The learner stores two sums per feature and computes a weight when a row needs it. A row costs O(its stored values).
    However the rows are split into calls of :meth:`partial_fit`, the model is the same, bit for bit. With
    ``batch_size`` above 1, an incomplete mini-batch stays pending in the state; :meth:`fit` ends with a step on the
    rows of the last one.
    """

    _advice = Advice(_FOR_SPARSITY, GoodFor(3, aim="few features"))

    alpha: Any = param(default=1e-5, search=Log(1e-7, 1e-1), kw_only=False)


class AdaptiveL1RDARegressor(_AdaptiveL1RDA, SparseRegressor):
    r"""Sparse linear regression by dual averaging with a step size for every feature.

    See :class:`AdaptiveL1RDAClassifier` for the equations. The steps of a feature shrink with its own gradients, so
    features on different scales do less harm than in :class:`L1RDARegressor`.
    """

    _advice = Advice(
        _FOR_SPARSITY,
        GoodFor(1, aim="few features"),
        start=lambda p: {"eta0": 1.0},
        powers={"alpha": Power(squared=1), "eta0": Power(squared=1, other=1)},
    )

    alpha: Any = param(default=1e-4, search=Log(1e-7, 1.0), kw_only=False)
    eta0: float | str = param(default="auto", search=Log(1e-3, 1e2))
