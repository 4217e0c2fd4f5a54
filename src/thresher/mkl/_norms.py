"""Multiple kernel learning with other sets of weights: balls of any norm, and no choice at all."""

from __future__ import annotations

from typing import ClassVar

from .._estimators import Advice, GoodFor, param
from .._gate import Rule, Uniform, positive
from ._kernel_weights import EqualWeights, WeightSet, ball
from ._mkl_machine import ManyKernelsClassifier

_power = Rule(
    "1 or a number from 1.001 to 1000", lambda v: positive.holds(v) and (v == 1 or 1.001 <= v <= 1000), type="float"
)


class LpMKLClassifier(ManyKernelsClassifier):
    r"""Lp-MKL: a support vector machine with kernel weights bounded in the p-norm.

    The problem of :class:`GMKLClassifier` over :math:`\Theta = \{\theta \ge 0 : \|\theta\|_p \le 1\}`. Above ``p=1``,
    which is L1-MKL, no kernel is dropped. Choose it if you expect all kernels to be informative and care about accuracy
    rather than selection. The larger ``p``, the more similar the weights.

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

    p: float = param(
        default=2.0,
        rule=_power,
        doc="1, or from 1.001 to 1000. 2 is L2-MKL.",
        search=Uniform(1.001, 4.0),
        kw_only=False,
    )

    _by_position: ClassVar[tuple[str, ...]] = ("kernels", "p", "C")

    def _weight_set(self) -> WeightSet:
        return ball(float(self.p))


class UniformMKLClassifier(ManyKernelsClassifier):
    r"""A support vector machine with the mean of all kernels: the baseline of multiple kernel learning.

    All weights are 1 over the number of kernels, so there is only one machine to solve.

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
    _only_mean: ClassVar[bool] = True

    def _weight_set(self) -> WeightSet:
        return EqualWeights()
