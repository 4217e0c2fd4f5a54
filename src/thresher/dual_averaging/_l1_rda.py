"""Dual averaging with an l1 penalty."""

from __future__ import annotations

from typing import Any

from .. import _core
from .._engine import Learner
from .._estimators import (
    AUTO_STEP,
    MEANS_RACE,
    Advice,
    GoodFor,
    JointByRivals,
    LateMeans,
    Power,
    Step,
    StepInUse,
    param,
)
from .._gate import Log, auto, non_negative, positive
from ._dual_means import DualMeans
from ._sparse import SparseClassifier, SparseLinear, SparseRegressor
from ._synchronous import MiniBatches

_FOR_SPARSITY = GoodFor(3, "you want few features and its zeros are exact", lambda p: p.wants_sparsity)


class _L1RDA(MiniBatches, SparseLinear):
    """l1-regularised dual averaging.

    Attributes
    ----------
    eta0_ : float
        The step size of the model that predicts, in units of the scaled rows if rows are scaled.

    References
    ----------
    .. [1] L. Xiao, "Dual averaging methods for regularized stochastic learning and online optimization", JMLR 11, 2010.
    .. [2] H. Yang, "Sparse learning under regularization framework", CUHK, 2011.
    """

    _raced = Step("eta0", "eta0", -1.0, (1.0, 3.0, 1e1, 3e1, 3e2))
    eta0_ = StepInUse()

    eta0: float | str = param(
        default="auto",
        rule=positive | auto,
        doc=rf"""Step size (:math:`1/\gamma` in [1]_ and [2]_). Use 1 for features of unit size. For rows of norm 1 with
        many small values, such as tf-idf, use 10 to 300, or 300 to 3000 with the logistic loss: with less, margins
        never reach 1 and all rows count the same. {AUTO_STEP}""",
        search=Log(1e-3, 1e3),
    )
    rho: float = param(
        default=0.0,
        rule=non_negative,
        doc=r"""Extra sparsity in early steps (:math:`\rho` in [1]_ and [2]_): it raises the threshold by
        :math:`\rho / (\eta_0 \sqrt t)`.""",
    )
    l2_weight: float = param(default=0.0, rule=non_negative, doc="Strength of the l2 penalty.")

    def _learner(self, n_features: int) -> Learner:
        averages = isinstance(self, LateMeans) and self._averages
        core = self._core_of(_core.L1RdaMean if averages else _core.L1Rda, _core.L1RdaBatch)
        numbers = {"rho": self.rho, "l2_weight": self.l2_weight, "batch_size": self.batch_size}
        return self._sparse_learner(core, eta0=self._fixed_step, **numbers)


class L1RDAClassifier(JointByRivals, DualMeans, _L1RDA, SparseClassifier):
    r"""Sparse linear classifier by regularised dual averaging, with exact zeros at every step of a stream.

    A feature whose mean gradient over all rows so far is below ``alpha`` has weight zero, however the stream is split
    into batches. Choose it if the model must use few features and sees the data once. If accuracy matters more than
    sparsity, choose :class:`~thresher.online.AROWClassifier`.

    After :math:`t` steps with mean gradient :math:`\bar g`,

    .. math:: w = \arg\min_w\ \bar g^\top w + \alpha\|w\|_1 + \frac{\kappa}{2}\|w\|^2
                  + \frac{1}{\eta_0\sqrt t}\Big(\frac12\|w\|^2 + \rho\|w\|_1\Big)
                = -\frac{\mathrm{soft}\big(\bar g,\ \alpha + \rho/(\eta_0\sqrt t)\big)}{\kappa + 1/(\eta_0\sqrt t)},

    with :math:`\kappa` = ``l2_weight``. :math:`\alpha > 0, \kappa > 0` is the elastic net, :math:`\alpha = 0` plain l2
    dual averaging.

    The last rows have a large influence on the weights, most of all with the hinge loss and columns on different
    scales. With the default settings, the model therefore predicts with weights that the same formula computes from a
    mean over all steps, in which step s has weight s: :math:`\sum_s s\,(s \bar g_s) / \sum_s s` replaces
    :math:`t \bar g`, and :math:`(2t + 1) / 3`, the mean of :math:`s`, replaces :math:`t`. Features whose mean gradient
    stays below ``alpha`` still have weight zero. If ``eta0`` is a number or ``average=False``, the model predicts with
    the last step, as published.

    Notes
    -----
    The learner stores only the sum of gradients and computes a weight when a row needs it. A row costs O(its stored
    values), and the model is exact after each row. However the rows are split into calls of :meth:`partial_fit`, the
    model is the same, bit for bit. With ``batch_size`` above 1, an incomplete mini-batch stays pending in the state;
    :meth:`fit` ends with a step on the rows of the last one. More than two classes: see ``multi_class``.

    Examples
    --------
    >>> model = L1RDAClassifier(alpha=0.1)
    >>> for i in range(0, 2000, 100):
    ...     model = model.partial_fit(X[i:i + 100], y[i:i + 100], classes=[False, True])
    >>> model.support_
    array([3, 7])
    """

    _advice = Advice(
        _FOR_SPARSITY,
        start=lambda p: {"eta0": 100.0} if p.is_sparse else {},  # rows of texts have length 1, spread over many columns
    )
    _raced = _L1RDA._raced._replace(race_rows=MEANS_RACE)

    alpha: Any = param(default=1e-5, search=Log(1e-7, 1e-1), kw_only=False)

    def _learner(self, n_features: int) -> Learner:
        core = _core.L1RdaMeanJoint if self._averages else _core.L1RdaJoint
        in_batches = {"batch_size above 1": self.batch_size > 1}
        return self._by_rivals(super()._learner(n_features), core, self._without_joint_form() | in_batches)

    def _no_mean_with(self) -> str:
        return "debias=True" if self.debias else "batch_size above 1" if self.batch_size > 1 else ""


class L1RDARegressor(_L1RDA, SparseRegressor):
    r"""Sparse linear regression by regularised dual averaging; see :class:`L1RDAClassifier` for the equations.

    If ``eta0`` is a number, this is the published learner, whose steps overshoot while
    :math:`\sqrt t < \eta_0 \|x\|^2 / 2`: scale features and targets to about 1, or lower ``eta0``. If weights overflow,
    training stops with an error that says what to do. With the default settings you need neither; see ``eta0`` and
    ``scale``.
    """

    _advice = Advice(
        _FOR_SPARSITY,
        GoodFor(2, "{they} predict{s} numbers and take{s} rows in any order"),
        start=lambda p: {"eta0": 0.1},
        powers={"alpha": Power(squared=1), "eta0": Power(other=1)},
    )

    alpha: Any = param(default=1e-4, search=Log(1e-7, 1.0), kw_only=False)
    eta0: float | str = param(default="auto", search=Log(1e-4, 1e2))
