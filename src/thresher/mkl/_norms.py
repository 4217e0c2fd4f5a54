"""Multiple kernel learning with other sets of weights: balls of any norm, and no choice at all."""

from __future__ import annotations

from typing import Any, ClassVar

from .._estimators import Advice, GoodFor
from .._gate import Log, Range, Rule, Uniform, positive
from ._classifier import ManyKernelsClassifier
from ._kernel_weights import EqualWeights, WeightSet, ball

_power = Rule("1 or a number from 1.001 to 1000", lambda v: positive.holds(v) and (v == 1 or 1.001 <= v <= 1000))


class LpMKLClassifier(ManyKernelsClassifier):
    r"""A support vector machine whose kernel weights are bounded in the p-norm: Lp-MKL.

    The problem of :class:`GMKLClassifier` over :math:`\Theta = \{\theta \ge 0 : \|\theta\|_p \le 1\}`. Above ``p=1``,
    which is L1-MKL, no kernel is dropped: choose it where all kernels are thought to carry something, and accuracy is
    wanted rather than a choice. The larger p, the closer the weights are to one another.

    Parameters
    ----------
    <kernels>
    p : float, default=2.0
        1, or from 1.001 to 1000. 2 is L2-MKL.
    <machine>
    <search>
    class_weight : dict or "balanced", optional
        Weights of the classes, multiplied into ``C``.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Labels, sorted.
    <fitted kernels>

    References
    ----------
    .. [1] M. Kloft, U. Brefeld, S. Sonnenburg and A. Zien, "lp-norm multiple kernel learning", Journal of Machine
       Learning Research 12, 2011.

    Examples
    --------
    >>> from thresher.datasets import make_additive
    >>> from thresher.mkl import LpMKLClassifier
    >>> X, y = make_additive(random_state=0)
    >>> model = LpMKLClassifier(p=1.5).fit(X[:150], y[:150])
    >>> bool((model.weights_ > 0).all()), model.n_svm_ < 20
    (True, True)
    """

    _advice = Advice(GoodFor(3, aim="many kernels"))

    _param_rules = ManyKernelsClassifier._many_rules | {"p": _power}
    _search_space: ClassVar[dict[str, Range]] = {"C": Log(1.0, 1e4), "p": Uniform(1.001, 4.0)}

    def __init__(
        self,
        kernels: Any = None,
        p: float = 2.0,
        C: float = 100.0,
        *,
        tol: float = 1e-3,
        standardise: bool = True,
        max_svm: int = 500,
        class_weight: Any = None,
        cache_size: float = 500,
    ) -> None:
        self.kernels = kernels
        self.p = p
        self.C = C
        self.tol = tol
        self.standardise = standardise
        self.max_svm = max_svm
        self.class_weight = class_weight
        self.cache_size = cache_size

    def _weight_set(self) -> WeightSet:
        return ball(float(self.p))


class UniformMKLClassifier(ManyKernelsClassifier):
    r"""A support vector machine with the mean of all kernels, none of which is chosen: what kernel learning must beat.

    All weights are 1 over the number of kernels, which leaves one machine to be solved.

    Parameters
    ----------
    <kernels>
    <machine>
    <search>
    class_weight : dict or "balanced", optional
        Weights of the classes, multiplied into ``C``.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Labels, sorted.
    <fitted kernels>

    Examples
    --------
    >>> from thresher.datasets import make_additive
    >>> from thresher.mkl import UniformMKLClassifier
    >>> X, y = make_additive(random_state=0)
    >>> model = UniformMKLClassifier().fit(X[:150], y[:150])
    >>> bool((model.weights_ == 1 / 273).all())
    True
    """

    _advice = Advice(GoodFor(2, aim="many kernels"))

    _param_rules = ManyKernelsClassifier._many_rules
    _search_space: ClassVar[dict[str, Range]] = {"C": Log(1.0, 1e4)}

    def __init__(
        self,
        kernels: Any = None,
        C: float = 100.0,
        *,
        tol: float = 1e-3,
        standardise: bool = True,
        max_svm: int = 500,
        class_weight: Any = None,
        cache_size: float = 500,
    ) -> None:
        self.kernels = kernels
        self.C = C
        self.tol = tol
        self.standardise = standardise
        self.max_svm = max_svm
        self.class_weight = class_weight
        self.cache_size = cache_size

    def _weight_set(self) -> WeightSet:
        return EqualWeights()
