"""Linear learners whose weights an l1 penalty cuts to zero."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from .._engine import Learner, loss_params
from .._estimators import (
    ClassLoss,
    LinearClassifier,
    LinearRegressor,
    SelectsFeatures,
    SelfTuned,
    ValueLoss,
    param,
)
from .._gate import Array, Log, at_least, auto, boolean, non_negative, none
from ._synchronous import Synchronous

N_PENALTIES = 13  # of "auto": two in a decade of the usual six


class SparseLinear(SelfTuned, Synchronous):
    """Base class of the l1 learners.

    Examples
    --------
    >>> import numpy as np
    >>> from thresher.dual_averaging import L1RDAClassifier
    >>> X = np.random.default_rng(0).normal(size=(2000, 20))
    >>> y = 2 * X[:, 3] - X[:, 7] > 0
    >>> L1RDAClassifier(n_features_to_select=2, random_state=0).fit(X, y).support_
    array([3, 7])
    """

    alpha: Any = param(
        default=1e-4,
        rule=non_negative | auto,
        doc=r"""Strength of the l1 penalty (:math:`\lambda` in [1]_). Larger values give fewer features.
        ``"auto"`` trains 13 strengths side by side and predicts with the one with the smallest progressive loss. If the
        step size is ``"auto"``, too, this starts after 2,048 rows or a quarter of all rows, and the model predicts with
        the strength with the fewest mistakes or the smallest loss on late rows.""",
        kw_only=False,
    )
    n_features_to_select: int | None = param(
        default=None,
        rule=at_least(1) | none,
        doc="""Use exactly this many features, or fewer if there are ties. The penalty is then an order statistic of the
        mean gradients instead of ``alpha``, updated after 64, 128, 256, ... steps and whenever the weights are
        read.""",
    )
    debias: bool = param(
        default=False,
        rule=boolean,
        doc="""Select features with one learner, and learn their weights with a second one of the same kind without the
        l1 penalty. It takes about twice the time and mostly helps dual averaging on text, in particular if you want few
        features.""",
    )
    penalize_intercept: bool = param(
        default=False, rule=boolean, doc="Penalise the weight of the constant feature like the others."
    )

    _shorter_steps = "a smaller eta0"

    def _sparse_learner(self, core: Any, **params: float) -> Learner:
        """The compiled learner, or with an automatic penalty the learners of a whole path."""
        shared = {**self._sparse_params(), **{name: float(value) for name, value in params.items()}}
        if self.alpha != "auto":
            joint = "n_selected" if getattr(self, "selection", "class") == "model" else ""  # regressors have one output
            return Learner(core, {**shared, self._core_penalty: float(self.alpha)}, joint=joint)
        if self.n_features_to_select is not None:
            raise ValueError(
                f'{type(self).__name__}: alpha must be a number when n_features_to_select is given, got "auto".'
            )
        path = tuple({self._core_penalty: penalty} for penalty in self._penalties().tolist())
        return Learner(core, {**shared, **path[0]}, grid=path)

    def _penalties(self) -> Array:
        """The strengths of an automatic penalty: the range worth tuning, evenly on a logarithmic scale."""
        span = self._search_space["alpha"]
        assert isinstance(span, Log)
        return np.geomspace(span.low, span.high, N_PENALTIES)

    @property
    def penalty_(self) -> float:
        """The strength of the l1 penalty; if several are trained, the one with the smallest progressive loss so far."""
        learner = self._learner_now()
        return self._penalty_of(learner, learner.chosen(self.state_))

    def _candidate(self, params: Mapping[str, Any]) -> dict[str, Any]:
        return {**super()._candidate(params), "alpha": float(params[self._core_penalty])}

    def _penalty_of(self, learner: Learner, model: int) -> float:
        params = {**learner.params, **(learner.grid[model] if learner.grid else {})}
        return float(params[self._core_penalty])

    @property
    def path_(self) -> dict[str, Array]:
        """The strength of each penalty that is trained, its progressive loss, and its number of features in use."""
        learner = self._learner_now()
        models = list(range(learner.n_models))
        if learner.tuning is not None and learner.tuning.races:  # the leader among the steps, and who began with it
            models = [learner.tuning.leader(learner, self.state_), *models[learner.tuning.n_first :]]
        used = [learner.weights(self.state_, k)[:, :-1].any(axis=0).sum() for k in models]
        return {
            "penalty": np.array([self._penalty_of(learner, k) for k in models]),
            "progressive_loss": learner.progressive_losses(self.state_)[models],
            "n_features": np.asarray(used, dtype=float),
        }

    def _sparse_params(self) -> dict[str, Any]:
        """The parameters that every compiled l1 learner takes."""
        return {
            **loss_params(self),
            "n_selected": float(self.n_features_to_select or 0),
            "debias": bool(self.debias),
            "free_constant": not self.penalize_intercept,
        }

    def _without_joint_form(self) -> dict[str, bool]:
        """Settings with which each class learns against the rest alone, in words, and whether they are given."""
        return {
            "n_features_to_select": self.n_features_to_select is not None,
            "debias=True": bool(self.debias),
            'alpha="auto"': bool(self.alpha == "auto"),
        }


class SparseClassifier(SelectsFeatures, ClassLoss, LinearClassifier):
    """Base class of l1 learners of classes."""


class SparseRegressor(ValueLoss, LinearRegressor):
    """Base class of l1 learners of values."""
