"""Dual averaging that chooses one set of features for all classes."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from .. import _core
from .._engine import Learner, State, loss_params
from .._estimators import (
    AUTO_STEP,
    Advice,
    ClassLoss,
    CoupledLearner,
    GoodFor,
    SelfTuned,
    SharedClassifier,
    Step,
    StepInUse,
    param,
)
from .._gate import Array, Log, at_least, auto, non_negative, none, positive
from ._synchronous import Synchronous, uncut


class SharedRDAClassifier(SelfTuned, Synchronous, ClassLoss, SharedClassifier):
    r"""Sparse linear classifier that uses the same features for all classes.

    One-vs-rest selects features for each class separately, so a model of ten classes needs the union of ten sets. Here
    the weights of a feature over all classes form one group, which is selected or dropped as a whole. Choose it with
    more than two classes if features are costly to measure or to read. With two classes, it is the same as
    :class:`L1RDAClassifier`.

    After :math:`t` rows with mean gradients :math:`\bar G` (row :math:`j`: feature :math:`j` over the classes, each
    with its loss against the rest),

    .. math:: W_j = -\eta_0\sqrt t\,\Big[1 - \frac{\alpha}{\|\bar G_j\|_2}\Big]_+ \bar G_j ,

    the minimiser of :math:`\langle\bar G, W\rangle + \alpha\sum_j\|W_j\|_2 + \|W\|^2/(2\eta_0\sqrt t)`. The penalty has
    no factor for the number of classes: :math:`\alpha` means the same however many classes a feature matters to.

    Attributes
    ----------
    eta0_ : float
        The step size of the model that predicts, in units of the scaled rows if rows are scaled.

    Notes
    -----
    A row costs O(classes) for each stored value whose feature is in use, and O(1) to predict for each of the others;
    all classes are learned in one pass over the rows. However the rows are split into calls of :meth:`partial_fit`, the
    model is the same, bit for bit. ``progressive_loss_`` is the mean over the classes. The constant terms have no
    penalty.

    References
    ----------
    .. [1] H. Yang, "Sparse learning under regularization framework", CUHK, 2011, eq. 4.12.

    Examples
    --------
    >>> import numpy as np
    >>> from thresher.dual_averaging import SharedRDAClassifier
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(3000, 50))
    >>> y = X[:, [3, 7, 11]].argmax(axis=1)
    >>> model = SharedRDAClassifier(n_features_to_select=3, random_state=0).fit(X, y)
    >>> model.support_
    array([ 3,  7, 11])
    """

    _advice = Advice(GoodFor(1, aim="shared features"))

    alpha: float = param(
        default=1e-4,
        rule=non_negative,
        doc=r"Strength of the penalty (:math:`\lambda`). Larger values give fewer features.",
        search=Log(1e-7, 1e-1),
        kw_only=False,
    )
    _raced = Step("eta0", "eta0", -1.0, (1.0, 3.0, 1e1, 3e1, 3e2))
    eta0_ = StepInUse()

    eta0: float | str = param(
        default="auto",
        rule=positive | auto,
        doc=rf"""Step size (:math:`1/\gamma`). Use 1 for features of unit size, and 10 to 300 for rows of norm 1 with
        many small values, such as tf-idf. {AUTO_STEP}""",
        search=Log(1e-3, 1e3),
    )
    n_features_to_select: int | None = param(
        default=None,
        rule=at_least(1) | none,
        doc="""Use exactly this many features for all classes together, or fewer if there are ties. The penalty is then
        an order statistic of the gradients instead of ``alpha``, updated after 64, 128, 256, ... rows and whenever
        the weights are read.""",
    )

    def _learner(self, n_features: int) -> CoupledLearner:
        params = {
            **loss_params(self),
            "alpha": float(self.alpha),
            "eta0": self._fixed_step,
            "n_selected": float(self.n_features_to_select or 0),
        }
        return CoupledLearner(_core.SharedRda, params, axis="output")

    def _weights_to_learn_at(self, learner: Learner, state: State) -> Array:
        return replace(learner, params=uncut(learner.params, state.views[0], self._core_penalty)).weights(state)

    def _step(self, learner: Learner, state: State, gradient: Array) -> None:
        """A row has the same values for all classes, a gradient has not. A penalty that follows a number of features is
        found anew in every round."""
        state.arrays["gradient_sum"][0] += gradient.T
        state.arrays["n_steps"][...] += 1
        learner.rebuild(state)

    def _tally_of(self, tally: Array) -> Array:
        """The mean loss over the classes; rows that moved weights are counted by the class that most of them moved."""
        n_rows, _, _, weight = tally[0]
        return np.array([[n_rows, tally[:, 1].max(), tally[:, 2].mean(), weight]])
