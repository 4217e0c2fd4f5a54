"""Generalised multiple kernel learning: an elastic net on kernel weights."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from .._engine import Target
from .._estimators import Advice, GoodFor, ReadsValues
from .._gate import Array, Log, Range, Uniform, fraction, non_negative, one_of
from ._classifier import ManyKernelsClassifier
from ._kernel_weights import ElasticNet, WeightSet
from ._mkl_machine import ManyKernelsMachine
from ._weight_search import Dual

_rules = {"v": fraction, "solver": one_of("auto", "spg", "level")}


class GMKLClassifier(ManyKernelsClassifier):
    r"""A support vector machine that chooses its kernels, alike ones together: generalised multiple kernel learning.

    The kernel is a sum :math:`\sum_q \theta_q K_q` whose weights are learned with the machine:

    .. math:: \min_{\theta \in \Theta}\ \max_{0 \le \alpha \le C,\ y^\top \alpha = 0}\ \sum_i \alpha_i
              - \tfrac12 \sum_q \theta_q\, (\alpha \circ y)^\top K_q\, (\alpha \circ y),\qquad
              \Theta = \{\theta \ge 0 : v \|\theta\|_1 + (1 - v) \|\theta\|_2^2 \le 1\}

    Choose it when several views of the rows compete, such as widths of a kernel, groups of features or sources of data,
    and it should be seen which of them count: most weights are exactly 0, and kernels that say the same share theirs.
    With one good kernel at hand, a plain machine tuned as carefully is mostly as accurate and far cheaper; with a sum
    of all kernels, :class:`UniformMKLClassifier` often is.

    Parameters
    ----------
    <kernels>
    v : float, default=0.5
        Share of the l1 norm: 1 is L1-MKL, the fewest kernels; 0 is L2-MKL, all of them.
    <machine>
    solver : {"auto", "spg", "level"}, default="auto"
        Spectral projected gradient; the level method, which remembers all machines, takes fewer of them and more time
        between them; or the first until it makes little way, then the second.
    <search>
    class_weight : dict or "balanced", optional
        Weights of the classes, multiplied into ``C``.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Labels, sorted.
    <fitted kernels>

    Notes
    -----
    O(q n^2) for a machine, q being the number of kernels, beside the machine itself. Each is solved from the one
    before, loosely at first; the bounds hold nonetheless: a primal value is never below the optimum, and
    :math:`\sum_i \alpha_i - \max_{\theta \in \Theta} \theta^\top a` with :math:`a_q` half the energies
    :math:`(\alpha \circ y)^\top K_q (\alpha \circ y)` never above it, for any :math:`\alpha` in the box.

    References
    ----------
    .. [1] H. Yang, "Sparse learning under regularization framework", CUHK, 2011, Chapter 6.

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

    _param_rules = ManyKernelsClassifier._many_rules | _rules
    _search_space: ClassVar[dict[str, Range]] = {"C": Log(1.0, 1e4), "v": Uniform(0.0, 1.0)}

    def __init__(
        self,
        kernels: Any = None,
        v: float = 0.5,
        C: float = 100.0,
        *,
        solver: str = "auto",
        tol: float = 1e-3,
        standardise: bool = True,
        max_svm: int = 500,
        class_weight: Any = None,
        cache_size: float = 500,
    ) -> None:
        self.kernels = kernels
        self.v = v
        self.C = C
        self.solver = solver
        self.tol = tol
        self.standardise = standardise
        self.max_svm = max_svm
        self.class_weight = class_weight
        self.cache_size = cache_size

    def _weight_set(self) -> WeightSet:
        return ElasticNet(float(self.v))


class GMKLRegressor(ReadsValues, ManyKernelsMachine):
    r"""Support vector regression that chooses its kernels: generalised multiple kernel learning of values.

    The kernel weights of :class:`GMKLClassifier`, with errors up to ``epsilon`` free of charge:

    .. math:: \min_{\theta \in \Theta}\ \max_{-C \le x \le C,\ \sum x = 0}\ y^\top x - \epsilon \|x\|_1
              - \tfrac12 \sum_q \theta_q\, x^\top K_q\, x

    Choose it for a few thousand rows at most, where it should be seen which features or which kernels a curved
    relation needs. ``C`` and ``epsilon`` are in the units of the values.

    Parameters
    ----------
    <kernels>
    v : float, default=0.5
        Share of the l1 norm: 1 is L1-MKL, the fewest kernels; 0 is L2-MKL, all of them.
    <machine>
    epsilon : float, default=0.1
        Errors up to this size cost nothing.
    solver : {"auto", "spg", "level"}, default="auto"
        See :class:`GMKLClassifier`.
    <search>

    Attributes
    ----------
    <fitted kernels>

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

    _param_rules = ManyKernelsMachine._many_rules | _rules | {"epsilon": non_negative}
    _search_space: ClassVar[dict[str, Range]] = {"C": Log(1.0, 1e4), "v": Uniform(0.0, 1.0), "epsilon": Log(1e-3, 1.0)}

    def __init__(
        self,
        kernels: Any = None,
        v: float = 0.5,
        C: float = 100.0,
        *,
        epsilon: float = 0.1,
        solver: str = "auto",
        tol: float = 1e-3,
        standardise: bool = True,
        max_svm: int = 500,
        cache_size: float = 500,
    ) -> None:
        self.kernels = kernels
        self.v = v
        self.C = C
        self.epsilon = epsilon
        self.solver = solver
        self.tol = tol
        self.standardise = standardise
        self.max_svm = max_svm
        self.cache_size = cache_size

    def _weight_set(self) -> WeightSet:
        return ElasticNet(float(self.v))

    def _dual(self, target: Target, output: int, costs: Array) -> Dual:
        return Dual(np.asarray(target.y, dtype=np.float64), -costs, costs, float(self.epsilon))

    def predict(self, X: Any) -> Array:
        """The value of each row."""
        return self._scores(X)[:, 0]
