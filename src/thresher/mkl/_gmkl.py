"""Generalised multiple kernel learning: an elastic net on kernel weights."""

from __future__ import annotations

import warnings
from typing import Any, ClassVar

import numpy as np
from sklearn.utils import _safe_indexing

from .._engine import Target
from .._estimators import Advice, GoodFor, ReadsValues, param
from .._gate import (
    HUGE,
    Array,
    Log,
    Uniform,
    auto,
    check_value,
    fraction,
    is_foreign_array,
    non_negative,
    on_host,
    one_of,
    positive,
    take,
)
from .._kernels import Kernel
from ._kernel_weights import ElasticNet, WeightSet
from ._mkl_machine import ManyKernelsClassifier, ManyKernelsMachine
from ._simple_kernels import simple_mkl_kernels
from ._stack import AnyStack
from ._weight_search import Dual, Search

PRICES = (0.1, 1.0, 10.0, 100.0)
"""What ``C="auto"`` of the regressor tries, in deviations of the values times the number of rows."""
FREE = 0.05
"""``epsilon="auto"``, in deviations of the values."""


class ElasticNetMachine(ManyKernelsMachine):
    """Base class of machines with an elastic net on the weights of their kernels.

    References
    ----------
    .. [1] H. Yang, "Sparse learning under regularization framework", CUHK, 2011, Chapter 6.
    """

    v: float = param(
        default=0.5,
        rule=fraction,
        doc="Share of the l1 norm: 1 is L1-MKL, with the fewest kernels; 0 is L2-MKL, with all of them.",
        search=Uniform(0.0, 1.0),
        kw_only=False,
    )
    solver: str = param(
        default="auto",
        rule=one_of("auto", "spg", "level"),
        doc="""Spectral projected gradient; the level method, which solves fewer machines but takes more time between
        them; or the first until it slows down, then the second.""",
    )

    _by_position: ClassVar[tuple[str, ...]] = ("kernels", "v", "C")

    def _weight_set(self) -> WeightSet:
        return ElasticNet(float(self.v))

    def _search(self, stack: AnyStack, dual: Dual, solver: str = "auto") -> Search:
        return super()._search(stack, dual, self.solver)


class GMKLClassifier(ElasticNetMachine, ManyKernelsClassifier):
    r"""Generalised multiple kernel learning: a support vector machine with an elastic net on its kernel weights.

    The kernel is a sum :math:`\sum_q \theta_q K_q` whose weights are learned with the machine:

    .. math:: \min_{\theta \in \Theta}\ \max_{0 \le \alpha \le C,\ y^\top \alpha = 0}\ \sum_i \alpha_i
              - \tfrac12 \sum_q \theta_q\, (\alpha \circ y)^\top K_q\, (\alpha \circ y),\qquad
              \Theta = \{\theta \ge 0 : v \|\theta\|_1 + (1 - v) \|\theta\|_2^2 \le 1\}

    Choose it to find out which of several views of the rows matter, such as kernel widths, groups of features or
    sources of data: most weights are exactly 0, and similar kernels share their weight. If you already have one good
    kernel, a plain machine tuned as carefully is usually as accurate and far cheaper; so is, often,
    :class:`UniformMKLClassifier`, which sums all kernels.

    Notes
    -----
    For q kernels, each machine costs O(q n^2) in addition to solving it. Each starts from the previous one, and the
    first ones are solved loosely. The bounds hold nonetheless: a primal value is never below the optimum, and
    :math:`\sum_i \alpha_i - \max_{\theta \in \Theta} \theta^\top a` with :math:`a_q` half the energies
    :math:`(\alpha \circ y)^\top K_q (\alpha \circ y)` never above it, for any :math:`\alpha` in the box.

    Examples
    --------
    >>> from thresher.datasets import make_additive
    >>> from thresher.mkl import GMKLClassifier
    >>> X, y = make_additive(random_state=0)                            # three of 20 features count
    >>> model = GMKLClassifier().fit(X[:150], y[:150])
    >>> lower, upper = model.bounds_[0]
    >>> bool(upper - lower <= 1e-3 * upper)
    True
    >>> chosen = model.weights_[0] > 0
    >>> len(chosen), int(chosen.sum()) < 50
    (273, True)
    >>> model.kernel_names_[model.weights_[0].argmax()]
    'rbf(gamma=0.5)'
    """

    _advice = Advice(GoodFor(1, aim="many kernels"))


def _straight(rows: Any) -> list[Kernel]:
    """The linear ones of the default kernels."""
    return simple_mkl_kernels(rows, widths=(), degrees=(1,))


class GMKLRegressor(ReadsValues, ElasticNetMachine):
    r"""Generalised multiple kernel learning for regression: support vector regression with an elastic net on kernel
    weights.

    The kernel weights of :class:`GMKLClassifier`, with the epsilon-insensitive loss:

    .. math:: \min_{\theta \in \Theta}\ \max_{-C \le x \le C,\ \sum x = 0}\ y^\top x - \epsilon \|x\|_1
              - \tfrac12 \sum_q \theta_q\, x^\top K_q\, x

    Choose it for at most a few thousand rows, to find out which features or kernels a nonlinear relation needs. Numbers
    for ``C`` and ``epsilon`` are in the units of the targets.

    Attributes
    ----------
    C_, epsilon_ : float
        The values of ``C`` and ``epsilon`` used.

    Examples
    --------
    >>> import numpy as np
    >>> from thresher.mkl import GMKLRegressor
    >>> X = np.random.default_rng(0).uniform(-2, 2, size=(150, 6))
    >>> y = np.sin(2 * X[:, 1])
    >>> model = GMKLRegressor().fit(X, y)
    >>> model.score(X, y) > 0.95
    True
    >>> for name in model.kernel_names_[model.weights_[0] > 0.15]:
    ...     print(name)
    rbf(gamma=32) on x2
    rbf(gamma=8) on x2
    rbf(gamma=2) on x2
    """

    _advice = Advice(GoodFor(1, aim="curved"))

    C: float | str = param(
        default="auto",
        rule=positive | auto,
        doc=f"""Weight of the losses (:math:`C`). ``"auto"`` tries {len(PRICES)} numbers, in units of the deviation of
        the targets times the number of rows, on two thirds of the rows, and takes the one that predicts the remaining
        rows best. If ``kernels`` is None, it tries each with all default kernels and with the linear ones alone:
        with few rows for each feature, curves fit the noise.""",
        search=Log(1.0, 1e4),
    )
    epsilon: float | str = param(
        default="auto",
        rule=non_negative | auto,
        doc=f"""Errors up to this size cost nothing. ``"auto"`` is {FREE:g} deviations of the targets.""",
        search=Log(1e-3, 1.0),
    )

    _fitted: ClassVar[tuple[str, ...]] = ("C_", "epsilon_")

    def _price(self, X: Any, rows: Any, y: Array, counts: Array) -> float:
        self._is_straight = False
        present, n_rows = np.flatnonzero(counts), len(counts)
        share = counts / counts.sum()
        deviation = float(np.sqrt(share @ (y - share @ y) ** 2)) or 1.0
        self.epsilon_ = FREE * deviation if isinstance(self.epsilon, str) else float(self.epsilon)
        if not isinstance(self.C, str):
            self.C_ = float(self.C)
            return self.C_
        lists = [self.kernels] if self.kernels is not None else [None, _straight(rows)]
        tried = [(relative * deviation * n_rows, kernels) for kernels in lists for relative in PRICES]
        held = present[::3]
        learned = np.setdiff1d(present, held)
        self.C_ = tried[len(PRICES) // 2][0]
        if len(learned) >= 2 * len(PRICES):
            unit = 2.0 ** int(np.frexp(deviation)[1])  # no number of the machines that are compared is out of bounds
            errors = [
                self._error({"C": C / unit, "kernels": kernels}, unit, X, rows, y / unit, counts, learned, held)
                for C, kernels in tried
            ]
            self.C_, kernels = tried[int(np.argmin(errors))]
            self._is_straight = self.kernels is None and kernels is not None
        return self.C_

    def _default_kernels(self, rows: Any) -> list[Kernel]:
        return _straight(rows) if self._is_straight else super()._default_kernels(rows)

    def _error(
        self, params: dict[str, Any], unit: float, X: Any, rows: Any, y: Array, counts: Array, learned: Any, held: Any
    ) -> float:
        """The squared error on some rows of a machine that learned others; C and values are in units."""
        C, epsilon = params["C"] * len(learned) / len(counts), self.epsilon_ / unit
        params = {**self.get_params(deep=False), **params, "C": C, "epsilon": epsilon}

        def some(at: Any) -> Any:
            if self._is_precomputed:
                return rows.part(at, learned)
            if is_foreign_array(rows):
                return take(rows, at)
            return _safe_indexing(X if hasattr(X, "columns") else rows, at)  # kernels may name columns

        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # a loose machine is good enough to compare
            model = type(self)(**params).fit(some(learned), y[learned], counts[learned])
        wrong_by = np.clip(on_host(model.predict(some(held))) - y[held], -HUGE, HUGE)  # whose squares are finite
        return float(np.average(wrong_by**2, weights=counts[held]))

    def _dual(self, target: Target, output: int, costs: Array) -> Dual:
        return Dual(np.asarray(target.y, dtype=np.float64), -costs, costs, self.epsilon_)

    def predict(self, X: Any) -> Array:
        """Predict the value of each row."""
        return self._functions(X)[:, 0]

    def _check_loaded(self, n_outputs: int = 1) -> None:
        super()._check_loaded(n_outputs)
        check_value(type(self).__name__, "C_", self.C_, positive)
        check_value(type(self).__name__, "epsilon_", self.epsilon_, non_negative)
