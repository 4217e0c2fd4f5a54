"""Dual averaging with a reweighted l2 penalty."""

from __future__ import annotations

from .. import _core
from .._engine import Learner, loss_params
from .._estimators import (
    AUTO_STEP,
    Advice,
    ClassLoss,
    LinearClassifier,
    LinearRegressor,
    SelfTuned,
    Step,
    StepInUse,
    ValueLoss,
    param,
)
from .._gate import Log, auto, divisor, non_negative, positive
from ._synchronous import MiniBatches


class _ReweightedL2RDA(MiniBatches, SelfTuned):
    """Dual averaging with a reweighted l2 penalty.

    References
    ----------
    .. [1] V. Jumutc, "Flexible software design for stochastic and kernel-based learning in advanced data-driven
       modelling", KU Leuven, 2016.
    """

    alpha: float = param(
        default=1e-3,
        rule=positive,
        doc=r"Strength of the penalty (:math:`\lambda` in [1]_).",
        search=Log(1e-6, 1.0),
        kw_only=False,
    )
    _raced = Step("smoothing", "smoothing", -1.0, (1e1, 1e2, 1e3, 1e4))
    smoothing_ = StepInUse()

    smoothing: float | str = param(
        default=10.0,
        rule=divisor | auto,
        doc=rf"""Keeps the reweighting finite (:math:`\epsilon` in [1]_). Small weights are about ``smoothing`` times
        their mean gradient, so it also acts as a step size. {AUTO_STEP}""",
        search=Log(1e-2, 1e3),
    )
    threshold: float = param(
        default=1e-2,
        rule=non_negative,
        doc="""Weights of at most this size are zero in ``coef_`` and in predictions. Training still updates all
        weights.""",
        search=Log(1e-4, 1.0),
        file="threshold",
    )

    _penalty = "threshold"
    _shorter_steps = "a larger alpha"

    def _learner(self, n_features: int) -> Learner:
        core = self._core_of(_core.ReweightedL2Rda, _core.ReweightedL2RdaBatch)
        numbers = {name: float(getattr(self, name)) for name in ("alpha", "threshold", "batch_size")}
        return Learner(core, {**loss_params(self), **numbers, "smoothing": self._fixed_step})


class ReweightedL2RDAClassifier(_ReweightedL2RDA, ClassLoss, LinearClassifier):
    r"""Linear classifier by dual averaging with a reweighted l2 penalty, which approximates the l0 penalty.

    Each step reweights the penalty of each feature by :math:`1/(w^2 + \epsilon)`: large weights are hardly penalised
    and small ones shrink. Weights of at most ``threshold`` are zero in ``coef_`` and in predictions.

    This is the learner of [1]_. Use it to find the relevant ones among a few hundred features of about the same scale.
    For prediction, choose :class:`L1RDAClassifier`, or :class:`FTRLClassifier` on wide sparse data: both are more
    accurate (``python -m benchmarks newcomer``).

    .. math:: w_{t+1} = -\frac{G_t}{\alpha t + Q_t}, \qquad Q_t = \sum_{s \le t}\Theta_s, \qquad \Theta_1 = 1, \quad
              \Theta_{t+1} = \frac{1}{w_{t+1}^2 + \epsilon},

    with :math:`G_t` the sum of gradients, each the mean over a mini-batch.

    Notes
    -----
    The constant is penalised like the other weights, but never set to zero. A weight whose feature did not occur is
    updated when a row next needs it: in closed form, step by step while its recursion is strongly nonlinear, and
    otherwise by one Newton solution of the corresponding flow (to about 1e-8). However the rows are split into calls of
    :meth:`partial_fit`, the model is the same, bit for bit. With ``batch_size`` above 1, an incomplete mini-batch stays
    pending in the state; :meth:`fit` ends with a step on the rows of the last one.

    Examples
    --------
    >>> import numpy as np
    >>> from thresher.dual_averaging import ReweightedL2RDAClassifier
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(2000, 100))
    >>> y = X[:, 3] - X[:, 7] > 0
    >>> ReweightedL2RDAClassifier(threshold=0.3, random_state=0).fit(X, y).support_
    array([3, 7])
    """

    _raced = _ReweightedL2RDA._raced._replace(candidates=(1e2, 3e2, 1e3, 3e3, 1e4))

    smoothing: float | str = param(default="auto")

    _decides_otherwise = False  # its threshold is one of weights, as published


class ReweightedL2RDARegressor(_ReweightedL2RDA, ValueLoss, LinearRegressor):
    r"""Linear regression by dual averaging with a reweighted l2 penalty.

    See :class:`ReweightedL2RDAClassifier` for the equations. If ``smoothing`` is a number, steps overshoot while
    :math:`\alpha t < \|x\|^2 / 2`, so scale features and targets to about 1, or raise ``alpha``.

    Examples
    --------
    >>> import numpy as np
    >>> from thresher.dual_averaging import ReweightedL2RDARegressor
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(2000, 20))
    >>> model = ReweightedL2RDARegressor(threshold=0.1, random_state=0).fit(X, 2 * X[:, 3] - X[:, 7])
    >>> model.support_
    array([3, 7])
    """

    _raced = _ReweightedL2RDA._raced._replace(candidates=(1e3, 1e4, 1e5, 1e6))
    _advice = Advice(start=lambda p: {"alpha": 0.1, "smoothing": 1.0})

    alpha: float = param(default=1e-4, kw_only=False)
    smoothing: float | str = param(default="auto", search=Log(1e-3, 1e1))
