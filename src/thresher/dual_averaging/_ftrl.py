"""Follow the regularised leader, proximal form."""

from __future__ import annotations

from typing import Any

from .. import _core
from .._engine import Learner
from .._estimators import AUTO_STEP, Advice, GoodFor, JointByRivals, Power, Step, StepInUse, param
from .._gate import Log, auto, non_negative, positive
from ._sparse import SparseClassifier, SparseLinear, SparseRegressor


class _FTRL(SparseLinear):
    """Follow the regularised leader, proximal form.

    Attributes
    ----------
    eta0_ : float
        The step size of the model that predicts, in units of the scaled rows if rows are scaled.

    References
    ----------
    .. [1] H. B. McMahan et al., "Ad click prediction: a view from the trenches", KDD 2013.
    """

    _core_penalty = "l1"

    _raced = Step("eta0", "alpha", -0.5, (3e-2, 1e-1, 3e-1, 1.0, 3.0, 1e1), derives=True)
    eta0_ = StepInUse()

    eta0: float | str = param(
        default="auto",
        rule=positive | auto,
        doc=rf"""Step size (:math:`\alpha` in [1]_, ``--ftrl_alpha`` of Vowpal Wabbit). For features of size 1, use 0.1
        to 1; for rows of norm 1 with many small values, such as tf-idf, 3 to 10 with ``beta=0.1``. {AUTO_STEP}""",
        search=Log(1e-3, 1e1),
        kw_only=False,
        file="alpha",
    )
    beta: float | str = param(
        default="auto",
        rule=non_negative | auto,
        doc=r"""Initial value in the denominator of each feature's step size (:math:`\beta` in [1]_). Smaller values
        give rare features longer steps. ``"auto"`` is 0.1 if ``eta0`` is ``"auto"``, too, and 1 if ``eta0`` is a
        number.""",
    )
    alpha: Any = param(
        default=0.01,
        doc=r"""Strength of the l1 penalty (:math:`\lambda_1` in [1]_): a threshold on the *sum* of gradients, so its
        effect decreases as the stream gets longer. Larger values give fewer features. ``"auto"`` trains 13 strengths
        side by side and predicts with the one with the smallest progressive loss.""",
        search=Log(1e-3, 1e2),
        kw_only=True,
        file="l1",
    )
    l2: float = param(
        default=0.0,
        rule=non_negative,
        doc=r"Strength of the l2 penalty (:math:`\lambda_2` in [1]_), on the same scale as ``alpha``.",
    )

    @property
    def _beta(self) -> float:
        return float(self.beta) if self.beta != "auto" else 0.1 if self._races else 1.0

    def _by_race(self) -> dict[str, Any]:
        return {"beta": self._beta} if self.beta == "auto" else {}

    def _learner(self, n_features: int) -> Learner:
        if self._beta == 0 and self.l2 == 0:
            raise ValueError(f"{type(self).__name__}: beta must be a number above 0 when l2 is 0, got {self.beta!r}.")
        return self._sparse_learner(_core.Ftrl, alpha=self._fixed_step, beta=self._beta, l2=self.l2)


class FTRLClassifier(JointByRivals, _FTRL, SparseClassifier):
    r"""Sparse linear classifier by FTRL-proximal (follow the regularised leader), widely used for click prediction.

    Each feature has its own step size, and zeros are exact on a stream. Try it first on sparse data if you want the
    best accuracy for a given number of features. :class:`AdaptiveL1RDAClassifier` is faster, and its penalty is on the
    scale of the mean loss.

    For each feature, with the current gradient :math:`g` and weight :math:`w`,

    .. math:: w = -\frac{\mathrm{soft}(z,\ \lambda_1)}{\lambda_2 + (\beta + \sqrt n)/\alpha}, \qquad
              z \leftarrow z + g - \frac{\sqrt{n + g^2} - \sqrt n}{\alpha}\, w, \qquad n \leftarrow n + g^2.

    Notes
    -----
    The learner stores two numbers per feature and computes a weight when a row needs it. A row costs O(its stored
    values). However the rows are split into calls of :meth:`partial_fit`, the model is the same, bit for bit. More than
    two classes: see ``multi_class``.
    """

    _advice = Advice(GoodFor(2, aim="few features"))

    loss: str = param(default="logistic")

    def _learner(self, n_features: int) -> Learner:
        return self._by_rivals(super()._learner(n_features), _core.FtrlJoint, self._without_joint_form())


class FTRLRegressor(_FTRL, SparseRegressor):
    r"""Sparse linear regression by FTRL-proximal; see :class:`FTRLClassifier` for the equations."""

    _advice = Advice(
        GoodFor(2, aim="few features"),
        start=lambda p: {"eta0": 1.0},
        powers={"alpha": Power(squared=1), "eta0": Power(squared=1, other=1)},
    )

    eta0: float | str = param(default="auto", kw_only=False)
