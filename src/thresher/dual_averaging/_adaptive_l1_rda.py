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
    "few features are wanted, zeros are exact, and {first} takes long steps for rare features",
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
        doc=rf"""Step size (:math:`\eta` in [1]_ and [2]_). From 0.1 to 10: the fewer features are wanted, the larger.
        {AUTO_STEP}""",
        search=Log(1e-2, 1e2),
    )
    smoothing: float = param(
        default=0.01,
        rule=divisor,
        doc=r"""What a feature's step size begins with, before it has seen gradients of its own (:math:`\delta` in [1]_,
        :math:`\rho` in [2]_).""",
    )
    l2_weight: float = param(default=0.0, rule=non_negative, doc="Strength of the l2 penalty.")

    def _learner(self, n_features: int) -> Learner:
        core = self._core_of(_core.AdaptiveL1Rda, _core.AdaptiveL1RdaBatch)
        numbers = {"smoothing": self.smoothing, "l2_weight": self.l2_weight, "batch_size": self.batch_size}
        return self._sparse_learner(core, eta0=self._fixed_step, **numbers)


class AdaptiveL1RDAClassifier(_AdaptiveL1RDA, SparseClassifier):
    r"""Sparse linear classifier by dual averaging with a step size for every feature: rare features take longer steps.

    As :class:`L1RDAClassifier` it keeps exact zeros in a stream. Where features differ in how often they occur, as
    words do, it is a little more accurate at the same number of features, mostly where many of them are
    kept, and asks for less tuning of ``eta0``.

    After :math:`t` steps with gradients :math:`g_1, \dots, g_t`, each the mean over a mini-batch, feature by feature,

    .. math:: w = -\frac{\mathrm{soft}\big(\sum_s g_s,\ \alpha t\big)}{\kappa t + H/\eta_0}, \qquad
              H = \delta + \sqrt{\textstyle\sum_s g_s^2},

    with :math:`\kappa` = ``l2_weight`` and :math:`\delta` = ``smoothing``; for :math:`\kappa > 0` the elastic net.

    Notes
    -----
    Two sums are stored for each feature; a weight is computed when a row asks for it. A row costs O(its stored values),
    and any chunking into calls of :meth:`partial_fit` gives the same bits;
    with ``batch_size`` above 1 an unfinished mini-batch waits in the state, and :meth:`fit` closes the last one with
    the rows it has.
    """

    _advice = Advice(_FOR_SPARSITY, GoodFor(3, aim="few features"))

    alpha: Any = param(default=1e-5, search=Log(1e-7, 1e-1), kw_only=False)


class AdaptiveL1RDARegressor(_AdaptiveL1RDA, SparseRegressor):
    r"""Sparse linear regression by dual averaging with a step size for every feature.

    See :class:`AdaptiveL1RDAClassifier` for the equations. Steps shrink with the gradients a feature has seen, so that
    it forgives features of different sizes more readily than :class:`L1RDARegressor`.
    """

    _advice = Advice(
        _FOR_SPARSITY,
        GoodFor(1, aim="few features"),
        start=lambda p: {"eta0": 1.0},
        powers={"alpha": Power(squared=1), "eta0": Power(squared=1, other=1)},
    )

    alpha: Any = param(default=1e-4, search=Log(1e-7, 1.0), kw_only=False)
    eta0: float | str = param(default="auto", search=Log(1e-3, 1e2))
