"""Pegasos for all losses."""

from __future__ import annotations

import operator
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from .. import _core
from .._engine import Learner, loss_params
from .._estimators import (
    AUTO_STEP,
    MOST_PASSES,
    VISITS,
    Advice,
    ClassLoss,
    GoodFor,
    JointByRivals,
    LinearRegressor,
    SelfTuned,
    Step,
    ValueLoss,
    param,
)
from .._gate import Array, Log, at_least, auto, boolean, one_for_each, one_of, one_per_feature, positive


class RidgeByFeature(SelfTuned):
    """Base class of learners whose l2 penalty is one for all features or one for each."""

    _raced = Step("alpha", "inverse_alpha", -1.0, (1e1, 1e2, 1e3, 1e4, 1e5), given=partial(operator.truediv, 1.0))

    alpha: Any = param(
        default=1e-4,
        rule=positive | one_per_feature | auto,
        doc=rf"""Strength of the penalty (:math:`\lambda` in [1]_ and [2]_). One value per feature gives coordinate-wise
        Pegasos: each weight has its own penalty :math:`\frac{{\alpha_j}}{{2}} w_j^2`, and the projection uses the same
        metric. An infinite value leaves a feature out; :func:`ard_weights` finds values from data. {AUTO_STEP}""",
        search=Log(1e-7, 1e-1),
        kw_only=False,
    )
    penalize_intercept: bool = param(
        default=True,
        rule=boolean,
        doc=r"""Penalise the weight of the constant feature like the others. Without a penalty it takes steps of
        :math:`1/(\alpha t)` without shrinkage, which are very long at the start if ``alpha`` is small.""",
    )

    @property
    def alpha_(self) -> Any:
        """The strength of the penalty of the model that predicts, in units of the scaled rows if rows are scaled."""
        return self._step_in_use() if self._races else self.alpha

    def _penalty_params(self, n_features: int) -> dict[str, Any]:
        """1 / alpha for all weights, or for each of them and the constant; a feature of infinite alpha is left out."""
        common, each = 1.0, None
        if self._races:
            common = self._fixed_step
        elif np.ndim(self.alpha) == 0:
            common = 1.0 / float(self.alpha)
        else:
            each = self._inverses(n_features)
        return {"inverse_alpha": common, "inverse_alphas": each, "free_constant": not self.penalize_intercept}

    def _inverses(self, n_features: int) -> Array:
        who = type(self).__name__
        alpha = one_for_each(self.alpha, n_features, "alpha", "feature", who)
        if not (alpha > 0).all():
            bad = int(np.flatnonzero(~(alpha > 0))[0])
            raise ValueError(f"{who}: alpha must hold numbers above 0, got {alpha[bad]} for feature {bad}.")
        kept = alpha[np.isfinite(alpha)]
        if not len(kept):
            raise ValueError(f"{who}: alpha must be finite for at least one feature, got inf for all of them.")
        return np.append(1.0 / alpha, 1.0 / kept.mean())  # the constant is penalised like the average feature


class _Pegasos(RidgeByFeature):
    """Stochastic subgradient steps with projection.

    References
    ----------
    .. [1] S. Shalev-Shwartz, Y. Singer, N. Srebro and A. Cotter, "Pegasos: primal estimated sub-gradient solver for
       SVM", Mathematical Programming 127, 2011.
    .. [2] V. Jumutc, "Flexible software design for stochastic and kernel-based learning in advanced data-driven
       modelling", KU Leuven, 2016.
    .. [3] S. Lacoste-Julien, M. Schmidt and F. Bach, "A simpler approach to obtaining an O(1/t) convergence rate for
       the projected stochastic subgradient method", arXiv:1212.2002, 2012.
    """

    batch_size: int = param(default=1, rule=at_least(1), doc="Number of rows in a mini-batch (:math:`k`).")
    intercept: str = param(
        default="feature",
        rule=one_of("feature", "mean", "batch_mean"),
        doc=r"""Where the constant term comes from (:math:`\rho` in [2]_). ``"feature"``: the weight of an additional
        constant feature. ``"mean"``: :math:`\bar y - w^\top \bar x`, with the means of targets and rows over all rows
        seen so far. ``"batch_mean"``: the same, but a step uses the mean of :math:`y - w^\top x` over its mini-batch,
        as in [2]_; see Notes. ``intercept_scaling`` and ``penalize_intercept`` are for ``"feature"`` only.""",
    )
    projection: bool = param(
        default=True,
        rule=boolean,
        doc="Project the weights into the ball. Without the projection, this is plain stochastic gradient descent.",
    )
    average: bool | str = param(
        default="auto",
        rule=boolean | one_of("late", "auto"),
        doc="""Predict with the mean of all iterates instead of the last one. It varies less, and the theory is about
        this mean. ``"late"`` gives iterate t the weight t, so that early iterates soon lose their influence [3]_.
        ``"auto"`` is ``"late"`` if ``alpha`` is ``"auto"``, and candidates are then compared by their means; if
        ``alpha`` is a number, this is the published learner, which predicts with the last iterate.""",
    )

    def _by_race(self) -> dict[str, Any]:
        return {"average": "late"} if self.average == "auto" else {}

    def _learner(self, n_features: int) -> Learner:
        average = self.average if self.average != "auto" else self._races and "late"
        params = {
            **loss_params(self),
            **self._penalty_params(n_features),
            "projection": bool(self.projection),
            "average": bool(average),
            "late": average == "late",
            "batch_size": float(self.batch_size),
            **self._mean_params(),
        }
        core = _core.PegasosMean if average == "late" else _core.Pegasos
        return Learner(core if self.batch_size == 1 else _core.PegasosBatch, params)

    def _mean_params(self) -> dict[str, bool]:
        """Whether the constant follows from means, for the core; it is then free of penalties."""
        if not self._has_mean_constant:
            return {"mean_constant": False, "batch_constant": False}
        if self._foresees:
            self._check_batch_mean()
        return {"mean_constant": True, "batch_constant": self._foresees, "free_constant": True}

    @property
    def _has_mean_constant(self) -> bool:
        return bool(self.fit_intercept) and self.intercept != "feature"

    @property
    def _foresees(self) -> bool:
        """Whether a step depends on all rows of its mini-batch before it learns from the first."""
        return self._has_mean_constant and self.intercept == "batch_mean"

    def _check_batch_mean(self) -> None:
        """Mini-batches must have more than one row, whose residual would be 0, and must not be cut."""
        wrong = (
            ("batch_size must be at least 2", self.batch_size, self.batch_size < 2),
            ("alpha must be a number", f'"{self.alpha}"', self._races),
            ("scale must be False", self.scale, self._is_scaled),
        )
        for words, value, is_wrong in wrong:
            if is_wrong:
                raise ValueError(f'{type(self).__name__}: {words} with intercept="batch_mean", got {value}.')

    def _with_intercept(self, learner: Learner) -> Learner:
        learner = super()._with_intercept(learner)
        return replace(learner, intercept=1.0) if self._has_mean_constant else learner

    @property
    def _exactness(self) -> str:
        return "call" if self._foresees else super()._exactness


class PegasosClassifier(JointByRivals, _Pegasos, ClassLoss):
    r"""Linear support vector machine, with a choice of losses, by stochastic subgradient steps.

    Minimises :math:`\frac{\alpha}{2}\|w\|^2 + \frac1n\sum_i \ell(w^\top x_i, y_i)` with steps of length
    :math:`1/(\alpha t)`. The model is dense: every feature that occurred has a weight. For a sparse model choose
    :class:`~thresher.dual_averaging.L1RDAClassifier`. With the default settings, ``alpha`` is chosen during training,
    and the model predicts with a mean of iterates.

    .. math:: w \leftarrow \Big(1 - \frac1t\Big) w - \frac{1}{\alpha t}\, g_t, \qquad
              w \leftarrow \min\!\Big(1, \frac{R}{\|w\|}\Big) w, \qquad R^2 = \frac{c}{\alpha},

    where :math:`g_t` is the mean subgradient of a mini-batch and :math:`c = \sup_m -\ell'(m)\,m` gives the smallest
    ball of this kind that is certain to contain the optimum: 1 for the hinge and pinball losses, 0.5 for the squared
    hinge and modified Huber losses, 0.278 for the logistic one.

    Notes
    -----
    A row costs O(its stored values): weights are stored as ``scale * v``, so shrinking and projecting them all is one
    multiplication. With ``batch_size`` above 1, :meth:`fit` ends with a step on the rows of the last mini-batch, while
    :meth:`partial_fit` keeps an incomplete one for the next call. Calls that end at multiples of ``batch_size`` give
    the same model as one pass, bit for bit. More than two classes: see ``multi_class``.

    The means of targets and rows are weighted means over the rows seen so far; after one pass they are the means of the
    data. With ``intercept="batch_mean"``, a mini-batch that ends early, with a pass or a call of :meth:`partial_fit`,
    uses the mean of its rows so far, so pass multiples of ``batch_size`` rows. It requires a number for ``alpha`` and
    mini-batches of at least two rows: with a single row, subtracting the mean residual would make every score equal to
    its target.

    Examples
    --------
    >>> from thresher.stochastic import PegasosClassifier
    >>> X = [[0.0, 1.0], [1.0, 0.0], [0.1, 0.9], [0.9, 0.2]]
    >>> y = ["ham", "spam", "ham", "spam"]
    >>> PegasosClassifier(alpha=0.1, loss="logistic", random_state=0).fit(X, y).predict([[1.0, 0.1]])
    array(['spam'], dtype='<U4')
    """

    _advice = Advice(
        GoodFor(
            1,
            "the rows are dense with {p.n_features:,} columns, and support vector machines do well on such data",
            lambda p: not (p.is_text or p.is_wide or p.wants_sparsity),
        ),
        GoodFor(2, "it handles all kinds of rows and many losses", lambda p: not p.wants_sparsity),
        GoodFor(3, aim="nothing to tune"),
        GoodFor(1, aim="linear"),
    )

    _raced = RidgeByFeature._raced._replace(candidates=(3e2, 1e3, 1e4), race_rows=1 << 12)  # means are told apart early

    _first_step = 1  # all classes share one penalty, so that the strongest is too strong

    alpha: Any = param(default="auto", kw_only=False)

    def _learner(self, n_features: int) -> Learner:
        learner = super()._learner(n_features)
        without = {
            "an alpha for each feature": np.ndim(self.alpha) > 0,
            "batch_size above 1": self.batch_size > 1,
            f'intercept="{self.intercept}"': self._has_mean_constant,
        }
        core = _core.PegasosMeanJoint if learner.core is _core.PegasosMean else _core.PegasosJoint
        return self._by_rivals(learner, core, without)


class PegasosRegressor(_Pegasos, ValueLoss, LinearRegressor):
    r"""Linear regression by stochastic subgradient steps: least squares, Huber, epsilon-insensitive or quantile.

    Minimises :math:`\frac{\alpha}{2}\|w\|^2 + \frac1n\sum_i \ell(w^\top x_i, y_i)` as :class:`PegasosClassifier` does.
    The radius of the ball follows the targets seen so far, :math:`R^2 = \bar c / \alpha` with :math:`\bar c` the mean
    of :math:`c(y) = \sup_p -\ell'(p, y)\,p` (:math:`y^2/4` for the squared loss), so that the ball contains the optimum
    however large the targets are.

    If ``alpha`` is a number, this is the published learner. Scale the features, and note that steps overshoot while
    :math:`\alpha t < \|x\|^2 / 2`, which is 60,000 steps for 1e-4 and rows of squared norm 12. If the model does worse
    than predicting the mean, :meth:`fit` issues a warning; try ``alpha=1e-2`` next.

    Examples
    --------
    >>> import numpy as np
    >>> from thresher.stochastic import PegasosRegressor
    >>> X = np.linspace(-1, 1, 200).reshape(-1, 1)
    >>> model = PegasosRegressor(alpha=1e-3, max_iter=50, random_state=0).fit(X, 3 * X[:, 0] + 1)
    >>> np.round(model.predict([[0.5]]), 1)
    array([2.5])
    """

    _advice = Advice(
        GoodFor(1, "{they} predict{s} numbers and take{s} rows in any order", lambda p: not p.wants_sparsity),
        GoodFor(1, aim="robust"),
        start=lambda p: {"alpha": 1e-2},  # small data are not done with long first steps
    )

    _raced = RidgeByFeature._raced._replace(candidates=(1e3, 1e4, 1e5, 1e6))
    _few_passes = 20

    alpha: Any = param(default="auto", search=Log(1e-7, 1.0), kw_only=False)
    max_iter: Any = param(
        default="auto",
        doc=f"""Passes over the data in :meth:`fit`; :meth:`partial_fit` always makes one. If ``alpha`` is ``"auto"``,
        too, ``"auto"`` makes as many as it takes to see {VISITS:,} rows, from 20 to {MOST_PASSES}; if ``alpha`` is a
        number, it makes 20.""",
    )
