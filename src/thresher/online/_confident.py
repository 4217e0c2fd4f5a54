"""Learners that keep a mean and a variance of every weight."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from .._engine import Learner
from .._estimators import GaussianProbability, LinearClassifier, param, read_only
from .._gate import Array, at_least, none, one_of

if TYPE_CHECKING:
    from .._core import CoreLearner, Rows


class ConfidentClassifier(GaussianProbability, LinearClassifier):
    """Weights are believed to be normal, with a mean and a covariance; so is the score of a row."""

    covariance: str = param(
        default="diagonal",
        rule=one_of("diagonal", "full"),
        doc=r"""Keep one variance per feature, or the whole matrix :math:`\Sigma` (O(d²) memory and time per update: up
        to a few thousand features).""",
    )
    n_features_to_select: Any = param(
        default=None,
        rule=at_least(1) | none,
        doc=r"""Read at most this many features: those with the largest :math:`\mu_j^2 / \Sigma_{jj}`, of equal ones the
        first. All of them go on learning, so the choice may change with every row. What the others know is not moved to
        the ones that stay, with a full covariance neither. With more than two classes, each has its own.""",
    )
    intercept_scaling: float = param(default=1.0)
    max_iter: int = param(default=1)

    _attributes: ClassVar[str] = r"""
        variance_ : ndarray of shape (1, n_features) or (n_classes, n_features)
            The doubt about each weight: the diagonal of :math:`\Sigma`. It starts at 1 and only falls.
        covariance_ : ndarray of shape (1, n_features, n_features) or (n_classes, n_features, n_features)
            :math:`\Sigma`, with ``covariance="full"`` only."""

    @property
    def covariance_(self) -> Array:
        """The covariance of the weights, when it is kept in full."""
        self._learner_now()
        if "covariance" not in self.state_.arrays:
            raise AttributeError(f'{type(self).__name__} keeps covariance_ only with covariance="full"; see variance_.')
        return read_only(self._of_the_model_read("covariance")[:, :-1, :-1])

    @property
    def variance_(self) -> Array:
        """The variance of each weight."""
        self._learner_now()
        if "variance" in self.state_.arrays:
            return read_only(self._of_the_model_read("variance")[:, :-1])
        return np.diagonal(self.covariance_, axis1=1, axis2=2)

    def _of_the_model_read(self, name: str) -> Array:
        """An array of the state; of several models that learn side by side, that of the one in use."""
        learner = self._learner_now()
        outputs = learner.outputs_of(self.state_, learner.chosen(self.state_))
        return self.state_.arrays[name][outputs.start : outputs.stop]

    def _variances_of(self, rows: Rows) -> Array:
        return self._learner_now().spreads(rows, self.state_)


class DiagonalClassifier(ConfidentClassifier):
    """Base class of learners with two forms of a diagonal covariance."""

    diagonal: str = param(
        default="drop",
        rule=one_of("drop", "precision"),
        doc=r"""Diagonal that is kept of an update: that of the new :math:`\Sigma`, or that of the new
        :math:`\Sigma^{-1}`, which stays more doubtful.""",
    )

    def _surest(self, diagonal: type[CoreLearner], full: type[CoreLearner], **params: Any) -> Learner:
        """The compiled learner of the covariance that was asked for."""
        params["n_selected"] = float(self.n_features_to_select or 0)
        if self.covariance == "full":
            return Learner(full, params)
        return Learner(diagonal, {**params, "precision": self.diagonal == "precision"})
