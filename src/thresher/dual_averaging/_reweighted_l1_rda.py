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
        doc=r"""Strength of the penalty (:math:`\lambda` in [1]_). A feature of weight zero meets ``alpha / smoothing``,
        one in use ``alpha / (|w| + smoothing)``: choose that quotient first.
        ``"auto"`` learns with 13 strengths side by side and reads the one with the least progressive loss.""",
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
        doc=r"""Keeps the reweighting finite (:math:`\epsilon` in [1]_): the size at which a weight begins to count as
        large.""",
        search=Log(1e-3, 1e1),
    )

    def _learner(self, n_features: int) -> Learner:
        core = self._core_of(_core.ReweightedL1Rda, _core.ReweightedL1RdaBatch)
        numbers = {"rho": self.rho, "smoothing": self.smoothing, "l2_weight": 0.0, "batch_size": self.batch_size}
        return self._sparse_learner(core, eta0=self._fixed_step, **numbers)


class ReweightedL1RDAClassifier(_ReweightedL1RDA, SparseClassifier):
    r"""Sparse linear classifier by dual averaging whose l1 penalty spares large weights and presses small ones.

    Every step weighs the penalty of each feature anew by :math:`1/(|w| + \epsilon)`: closer to counting features than
    :class:`L1RDAClassifier` is, with less shrinkage of those in use.

    This is the learner of [1]_. Use it to find which features matter where few carry a lot: it recovers supports well.
    To predict, take :class:`L1RDAClassifier`, which is no worse and needs a fraction of the time (``python -m
    benchmarks newcomer``), or :class:`FTRLClassifier`. With thousands of features in use a pass is slow.

    .. math:: w_{t+1} = -\frac{\eta_0}{\sqrt t}\,\mathrm{soft}\Big(G_t,\ \alpha Q_t + \frac{\rho\sqrt t}{\eta_0}\Big),
              \qquad Q_t = \sum_{s \le t}\Theta_s, \qquad \Theta_1 = 1, \quad
              \Theta_{t+1} = \frac{1}{|w_{t+1}| + \epsilon},

    with :math:`G_t` the sum of gradients, each the mean over a mini-batch.

    Notes
    -----
    A weight without gradient is brought up to date when a row asks for it: one that is zero in one operation, one in
    use step by step, as no closed form exists. All rows together cost O(stored values + steps of weights in use), never
    O(features) each. Any chunking into calls of :meth:`partial_fit` gives the same bits;
    with ``batch_size`` above 1 an unfinished mini-batch waits in the state, and :meth:`fit` closes the last one with
    the rows it has.
    """

    _raced = _ReweightedL1RDA._raced._replace(candidates=(1.0, 3.0, 1e1, 3e1, 1e2), race_rows=1 << 13)

    eta0: float | str = param(default="auto")


class ReweightedL1RDARegressor(_ReweightedL1RDA, SparseRegressor):
    r"""Sparse linear regression by dual averaging with a reweighted l1 penalty.

    See :class:`ReweightedL1RDAClassifier` for the equations. With a number for ``eta0``, scale features and targets to
    about 1: gradients of the squared loss have no bound.
    """

    _advice = Advice(start=lambda p: {"eta0": 0.1})

    eta0: float | str = param(default="auto", search=Log(1e-4, 1e2))
