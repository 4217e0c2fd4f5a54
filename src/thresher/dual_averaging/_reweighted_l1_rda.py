"""Dual averaging with a reweighted l1 penalty."""

from __future__ import annotations

from typing import Any

from .. import _core
from .._engine import Learner
from .._estimators import AUTO_STEP, Advice, Step, StepInUse, param
from .._gate import Log, auto, divisor, non_negative, positive
from ._sparse import SparseClassifier, SparseLinear, SparseRegressor
from ._synchronous import MiniBatches


class _ReweightedL1RDA(MiniBatches, SparseLinear):
    """Dual averaging with a reweighted l1 penalty.

    References
    ----------
    .. [1] V. Jumutc, "Flexible software design for stochastic and kernel-based learning in advanced data-driven
       modelling", KU Leuven, 2016.
    """

    alpha: Any = param(
        default=1e-5,
        doc=r"""Strength of the penalty (:math:`\lambda` in [1]_). The threshold of a feature with weight zero is
        ``alpha / smoothing``, that of one in use ``alpha / (|w| + smoothing)``, so choose the first quotient first.
        ``"auto"`` trains 13 strengths side by side and predicts with the one with the smallest progressive loss.""",
        search=Log(1e-8, 1e-1),
        kw_only=False,
    )
    _raced = Step("eta0", "eta0", -1.0, (1.0, 3.0, 1e1, 3e1, 3e2))
    eta0_ = StepInUse()

    eta0: float | str = param(
        default=1.0,
        rule=positive | auto,
        doc=rf"Step size (:math:`1/\gamma` in [1]_); see :class:`L1RDAClassifier`. {AUTO_STEP}",
        search=Log(1e-3, 1e3),
    )
    rho: float = param(default=0.0, rule=non_negative, doc=r"Extra sparsity in early steps (:math:`\rho` in [1]_).")
    smoothing: float = param(
        default=0.1,
        rule=divisor,
        doc=r"""Keeps the reweighting finite (:math:`\epsilon` in [1]_): the size above which a weight counts as
        large.""",
        search=Log(1e-3, 1e1),
    )

    def _learner(self, n_features: int) -> Learner:
        core = self._core_of(_core.ReweightedL1Rda, _core.ReweightedL1RdaBatch)
        numbers = {"rho": self.rho, "smoothing": self.smoothing, "l2_weight": 0.0, "batch_size": self.batch_size}
        return self._sparse_learner(core, eta0=self._fixed_step, **numbers)


class ReweightedL1RDAClassifier(_ReweightedL1RDA, SparseClassifier):
    r"""Sparse linear classifier by dual averaging with a reweighted l1 penalty, which shrinks large weights less.

    Each step reweights the penalty of each feature by :math:`1/(|w| + \epsilon)`. This is closer to an l0 penalty than
    :class:`L1RDAClassifier` and shrinks the features in use less.

    This is the learner of [1]_. Use it to find the relevant features if only a few matter: it recovers supports well.
    For prediction, choose :class:`L1RDAClassifier`, which is no worse and takes a fraction of the time
    (``python -m benchmarks newcomer``), or :class:`FTRLClassifier`. With thousands of features in use a pass is slow.

    .. math:: w_{t+1} = -\frac{\eta_0}{\sqrt t}\,\mathrm{soft}\Big(G_t,\ \alpha Q_t + \frac{\rho\sqrt t}{\eta_0}\Big),
              \qquad Q_t = \sum_{s \le t}\Theta_s, \qquad \Theta_1 = 1, \quad
              \Theta_{t+1} = \frac{1}{|w_{t+1}| + \epsilon},

    with :math:`G_t` the sum of gradients, each the mean over a mini-batch.

    Notes
    -----
    A weight whose feature did not occur is updated when a row next needs it: a zero weight in one operation, a weight
    in use in strides of many steps, since there is no closed form. Their sums are those of single steps to about nine
    digits. All rows together cost O(stored values log(steps)), never O(features) each. However the rows are split into
    calls of :meth:`partial_fit`, the model is the same, bit for bit. With ``batch_size`` above 1, an incomplete
    mini-batch stays pending in the state; :meth:`fit` ends with a step on the rows of the last one.
    """

    _raced = _ReweightedL1RDA._raced._replace(candidates=(1.0, 3.0, 1e1, 3e1, 1e2), race_rows=1 << 13)

    eta0: float | str = param(default="auto")


class ReweightedL1RDARegressor(_ReweightedL1RDA, SparseRegressor):
    r"""Sparse linear regression by dual averaging with a reweighted l1 penalty.

    See :class:`ReweightedL1RDAClassifier` for the equations. If ``eta0`` is a number, scale features and targets to
    about 1, because gradients of the squared loss are unbounded.
    """

    _advice = Advice(start=lambda p: {"eta0": 0.1})

    eta0: float | str = param(default="auto", search=Log(1e-4, 1e2))
