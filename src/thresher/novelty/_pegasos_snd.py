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
    r"""Classes, and rows that belong to none of them, in one pass over a stream.

    Every class has a score, wanted above 1 on its own rows and below -1 on all others; rows of ``outlier_label`` are
    wanted below -1 by all classes. The weights of the classes are coupled, so that they point away from one another:

    .. math:: \frac{\alpha}{2} \sum_{jk} \Gamma_{jk} \langle w_j, w_k\rangle
              + \frac1n \sum_{ij} [1 - Y_{ij} \langle w_j, x_i \rangle]_+ ,
              \qquad \Gamma = (\gamma - 1) I + 1 1^\top .

    Choose it for streams, many rows or sparse text, and after :class:`~thresher.kernels.FixedSizeNystroem` for large
    data with curved classes. It is a linear machine with hinge losses: the term that makes :class:`SNDClassifier` hug
    its classes is not in its objective [1]_, so that a row far out on the right side of a plane is no outlier to it.
    Give it examples of outliers; without any, two classes have functions that are each other's negatives, and nothing
    is rejected. :class:`SNDClassifier` needs none, up to some thousand rows.

    Attributes
    ----------
    coef_ : ndarray of shape (n_classes, n_features)
        Weights. Two classes have two rows.
    intercept_ : ndarray of shape (n_classes,)
        Constant terms, penalised like the other weights.
    norms_ : ndarray of shape (n_classes,)
        The lengths of the classes' weights, constants included.
    cosines_ : ndarray of shape (n_classes, n_classes)
        The cosines of the angles between them.
    n_mistakes_ : int
        How many rows were predicted wrongly before they were learned from; outliers are right where they are
        rejected.

    Notes
    -----
    A row costs O(classes) for each of its stored values, and any chunking into calls of :meth:`partial_fit` gives the
    same bits; with ``batch_size`` above 1 an unfinished mini-batch waits in the state, and :meth:`fit` closes the last
    one with the rows it has. ``classes`` of the first call may name ``outlier_label`` or not. :math:`\Gamma` is
    positive definite for every :math:`\gamma > 1`; the thesis asks for more than :math:`n_c - 1`.
    ``progressive_loss_`` is the mean over the classes.

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
            "rows may be of no class, and it is the one without a kernel of its own",
            lambda p: p.is_linear,
        ),
        GoodFor(
            3,
            "rows may be of no class, and {p.n_rows:,} are too many to compare with one another",
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
        doc=r"""Steps and ball in the metric of :math:`\Gamma`, which reach the optimum; or Algorithm 1 of [1]_ as
        printed, whose ball may shut the optimum out and whose first ``coupling + n_classes`` steps cost O(features)
        each.""",
    )
    batch_size: int = param(
        default=1, rule=at_least(1), doc="Rows of a mini-batch (:math:`k`), whose mean gradient makes one step."
    )
    intercept_scaling: float = param(default=1.0)
    class_weight: Any = param(
        default=None,
        doc="""Weights of the classes, and of ``outlier_label``, multiplied into the row weights. "balanced" is for
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
