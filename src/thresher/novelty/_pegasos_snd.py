"""Supervised novelty detection on streams."""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import _core
from .._engine import Memory, State
from .._estimators import Advice, CoupledLearner, GoodFor, SharedClassifier, param
from .._gate import Array, Log, at_least, one_of, positive
from ..onepass import Rows
from ._outliers import ReadsNovelty


class _SNDLearner(CoupledLearner):
    """Rows may be refused after they were learned from (squares leave the range of floating point): always remember."""

    @property
    def steep(self) -> bool:
        return True

    def remember(self, state: State, rows: Rows) -> Memory:
        done, coupling = float(state.arrays["n_steps"][0, 0]), self.params["coupling"]
        forgets = {coupling - 1, coupling + state.sizes["output"] - 1}  # steps, as printed, that change all weights
        if self.params["printed"] and any(done < step <= done + rows.n_rows for step in forgets):
            return state.remember({})
        return super().remember(state, rows)


class PegasosSNDClassifier(ReadsNovelty, SharedClassifier):
    r"""Supervised novelty detection on streams: a linear classifier that rejects rows of no class.

    Each class has a score that should be above 1 on its own rows and below -1 on all others; on rows of
    ``outlier_label``, all scores should be below -1. The weights of the classes are coupled so that they repel each
    other:

    .. math:: \frac{\alpha}{2} \sum_{jk} \Gamma_{jk} \langle w_j, w_k\rangle
              + \frac1n \sum_{ij} [1 - Y_{ij} \langle w_j, x_i \rangle]_+ ,
              \qquad \Gamma = (\gamma - 1) I + 1 1^\top .

    Choose it for streams, many rows or sparse text, and after :class:`~thresher.kernels.FixedSizeNystroem` for large
    data with nonlinear boundaries. It is a linear machine with hinge losses: its objective [1]_ lacks the term with
    which :class:`SNDClassifier` encloses the classes, so a row far out on the right side of a hyperplane is not an
    outlier. Provide examples of outliers: without any, the functions of two classes are negatives of each other, and
    nothing is rejected. :class:`SNDClassifier` needs no examples, but takes only a few thousand rows.

    Attributes
    ----------
    coef_ : ndarray of shape (n_classes, n_features)
        Weights. Two classes have two rows.
    intercept_ : ndarray of shape (n_classes,)
        Constant terms, penalised like the other weights.
    norms_ : ndarray of shape (n_classes,)
        Norms of the weights of each class, including constants.
    cosines_ : ndarray of shape (n_classes, n_classes)
        Cosines of the angles between them.
    n_mistakes_ : int
        Number of rows predicted wrongly before the model learned from them; rejected outliers count as correct.

    Notes
    -----
    A row costs O(classes) for each of its stored values. However the rows are split into calls of :meth:`partial_fit`,
    the model is the same, bit for bit. With ``batch_size`` above 1, an incomplete mini-batch stays pending in the
    state; :meth:`fit` ends with a step on the rows of the last one. ``classes`` of the first call may include
    ``outlier_label``. :math:`\Gamma` is positive definite for every :math:`\gamma > 1`; the thesis requires
    :math:`\gamma > n_c - 1`. ``progressive_loss_`` is the mean over the classes.

    Examples
    --------
    >>> from sklearn.pipeline import make_pipeline
    >>> from thresher.datasets import make_novelty
    >>> from thresher.kernels import FixedSizeNystroem
    >>> from thresher.metrics import detection_rate
    >>> from thresher.novelty import PegasosSNDClassifier
    >>> X, y = make_novelty(4000, kind="moons", random_state=0)
    >>> model = make_pipeline(
    ...     FixedSizeNystroem(gamma=20.0, n_components=100, random_state=0),
    ...     PegasosSNDClassifier(alpha=1e-4, random_state=0),
    ... ).fit(X[:2000], y[:2000])
    >>> model.score(X[2000:], y[2000:]) > 0.95, detection_rate(y[2000:], model.predict(X[2000:])) > 0.9
    (True, True)
    """

    _advice = Advice(
        GoodFor(
            3,
            "some rows may belong to no class, and it is the method without a kernel",
            lambda p: p.is_linear,
        ),
        GoodFor(
            3,
            "some rows may belong to no class, and {p.n_rows:,} rows are too many for a kernel matrix",
            lambda p: p.n_rows > 5_000,
        ),
        GoodFor(1, aim="many outliers"),
    )

    alpha: float = param(
        default=1e-4,
        rule=positive,
        doc=r"Strength of the penalty (:math:`\lambda`).",
        search=Log(1e-7, 1e-1),
        kw_only=False,
    )
    variant: str = param(
        default="metric",
        rule=one_of("metric", "printed"),
        doc=r"""Steps and projection in the metric of :math:`\Gamma`, which reach the optimum; or Algorithm 1 of [1]_ as
        printed, whose ball may exclude the optimum and whose first ``coupling + n_classes`` steps cost O(features)
        each.""",
    )
    batch_size: int = param(
        default=1,
        rule=at_least(1),
        doc="Number of rows in a mini-batch (:math:`k`), which makes one step.",
    )
    intercept_scaling: float = param(default=1.0)
    class_weight: Any = param(
        default=None,
        doc="""Weights of the classes and of ``outlier_label``, which multiply the row weights. "balanced" works in
        :meth:`fit` only.""",
    )

    _shorter_steps = "a larger alpha"

    def _learner(self, n_features: int) -> CoupledLearner:
        params = {
            "alpha": float(self.alpha),
            "coupling": float(self.coupling),
            "printed": self.variant == "printed",
            "reject": bool(self.reject),
            "batch_size": float(self.batch_size),
        }
        core = _core.PegasosSnd if self.batch_size == 1 else _core.PegasosSndBatch
        return _SNDLearner(core, params, axis="output", n_more_codes=1)

    def _n_coupled(self) -> int:
        return len(self.classes_)

    def _functions(self, X: Any) -> Array:
        return self._scores(X)

    @property
    def norms_(self) -> Array:
        """The lengths of the classes' weights."""
        return np.linalg.norm(self._all_weights(), axis=1)

    @property
    def cosines_(self) -> Array:
        """The cosines of the angles between the classes' weights."""
        W = self._all_weights() / np.maximum(self.norms_, np.finfo(float).tiny)[:, None]
        return np.clip(W @ W.T, -1.0, 1.0)
