"""Learners that keep a mean and a variance of every weight."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from .._dataclasses import dataclass
from .._engine import Learner, State
from .._estimators import (
    JointClassifier,
    JointLearner,
    KeepsVariances,
    KnowsDoubt,
    LinearClassifier,
    SelectsFeatures,
    SelfTuned,
    param,
    read_only,
)
from .._gate import Array, at_least, none, one_of

if TYPE_CHECKING:
    from .._core import CoreLearner, Rows


@dataclass(frozen=True)
class ConfidentLearner(Learner):
    """A learner with variances, whose outputs together select the features of the largest sum of mean² / variance."""

    def _params_to_read(self, state: State, output: int) -> dict[str, Any]:
        params = super()._params_to_read(state, output)
        reads_all = self.joint and state.n_outputs > self.n_models and "level" not in state.arrays
        return {**params, "n_selected": 0.0} if reads_all else params

    def _evidence(self, state: State, outputs: range, weights: Array) -> Array:
        each = np.empty((len(outputs), weights.shape[1] - 1))
        for place, k in enumerate(outputs):
            self.core.evidence(state.views[k], self._params_of(state, k), each[place])
        return np.nan_to_num(each, nan=0.0, posinf=np.inf).sum(axis=0)


class ConfidentClassifier(SelfTuned, KeepsVariances, KnowsDoubt, SelectsFeatures, LinearClassifier):
    r"""Base class of learners that model the weights, and so the scores, as normal with a mean and a covariance.

    Attributes
    ----------
    variance_ : ndarray of shape (1, n_features) or (n_classes, n_features)
        The variance of each weight: the diagonal of :math:`\Sigma`. It starts at 1 and never grows.
    covariance_ : ndarray of shape (1, n_features, n_features) or (n_classes, n_features, n_features)
        :math:`\Sigma`, with ``covariance="full"`` only.

    Examples
    --------
    >>> from thresher.online import AROWClassifier
    >>> X = [[0.0, 1.0], [1.0, 0.0], [0.1, 0.9], [0.9, 0.2]]
    >>> y = ["ham", "spam", "ham", "spam"]
    >>> model = AROWClassifier(random_state=0).fit(X, y)
    >>> model.predict([[1.0, 0.1]])
    array(['spam'], dtype='<U4')
    """

    covariance: str = param(
        default="diagonal",
        rule=one_of("diagonal", "full"),
        doc=r"""Keep one variance per feature, or the whole matrix :math:`\Sigma` (O(d²) memory and time per update: up
        to a few thousand features).""",
    )
    n_features_to_select: Any = param(
        default=None,
        rule=at_least(1) | none,
        doc=r"""Predict with at most this many features: those with the largest :math:`\mu_j^2 / \Sigma_{jj}`, the first
        ones if there are ties. All features go on learning, so the selection may change with every row. The remaining
        weights are not adjusted for the features left out, not even with a full covariance.""",
    )
    selection: str = param(
        default="model",
        doc=r"""Whether ``n_features_to_select`` limits the features of the whole model or of each class. This matters
        only with more than two classes. With ``"model"``, features are ranked by the sum of
        :math:`\mu_j^2 / \Sigma_{jj}` over the classes, and all classes use the same ones.""",
    )

    @property
    def covariance_(self) -> Array:
        """The covariance of the weights, with ``covariance="full"`` only."""
        self._learner_now()
        if "covariance" not in self.state_.arrays:
            raise AttributeError(f'{type(self).__name__} keeps covariance_ only with covariance="full"; see variance_.')
        covariance, learner = self._of_the_model_read("covariance")[:, :-1, :-1], self._learner_now()
        if learner.tuning is not None:
            units = learner.units(self.state_)
            covariance = covariance * np.outer(units, units)
        return read_only(covariance)

    @property
    def variance_(self) -> Array:
        """The variance of each weight."""
        self._learner_now()
        if "variance" in self.state_.arrays:
            return self._for_rows_as_they_come(self._of_the_model_read("variance")[:, :-1])
        return np.diagonal(self.covariance_, axis1=1, axis2=2)

    def _for_rows_as_they_come(self, variance: Array) -> Array:
        learner = self._learner_now()
        return read_only(variance if learner.tuning is None else variance * learner.units(self.state_) ** 2)

    def _of_the_model_read(self, name: str) -> Array:
        """An array of the state; of several models that learn side by side, that of the one in use."""
        learner = self._learner_now()
        outputs = learner.outputs_of(self.state_, learner.chosen(self.state_))
        return self.state_.arrays[name][outputs.start : outputs.stop]

    def _selecting(self, core: type[CoreLearner], params: dict[str, Any]) -> Learner:
        """The learner, of which the surest features are read."""
        params = {**params, "n_selected": float(self.n_features_to_select or 0)}
        return ConfidentLearner(core, params, joint=self._joint)

    @property
    def _joint(self) -> str:
        chooses = self.selection == "model" and self.n_features_to_select is not None
        return "n_selected" if chooses else ""

    def _variances_of(self, rows: Rows) -> Array:
        return self._learner_now().spreads(rows, self.state_)


class DiagonalClassifier(JointClassifier, ConfidentClassifier):
    """Base class of learners with two forms of a diagonal covariance."""

    diagonal: str = param(
        default="drop",
        rule=one_of("drop", "precision"),
        doc=r"""How an update is reduced to a diagonal: take the diagonal of the new :math:`\Sigma` (``"drop"``), or of
        the new :math:`\Sigma^{-1}` (``"precision"``), which keeps larger variances.""",
    )

    def _surest(
        self, diagonal: type[CoreLearner], full: type[CoreLearner], joint: type[CoreLearner], **params: Any
    ) -> Learner:
        """The compiled learner of the covariance and the form for several classes that were asked for."""
        self._check_joint_form()
        if self.covariance == "full":
            return self._selecting(full, params)
        return self._with_joint_form(
            self._selecting(diagonal, {"average": False, **params, "precision": self.diagonal == "precision"}), joint
        )

    def _check_joint_form(self) -> None:
        """Refuse what has no joint form."""
        if self.multi_class != "joint":
            return
        for name, only in (("covariance", "diagonal"), ("n_features_to_select", None)):
            if getattr(self, name) != only:
                raise ValueError(
                    f'{type(self).__name__}: with multi_class="joint", {name} must be {only!r}, '
                    f"got {getattr(self, name)!r}."
                )

    @property
    def variance_(self) -> Array:
        """The variance of each weight."""
        learner = self._learner_now()
        if isinstance(learner, JointLearner):
            return self._for_rows_as_they_come(learner.variances(self.state_)[:, :-1])
        return super().variance_
