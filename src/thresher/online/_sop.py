"""The second-order perceptron."""

from __future__ import annotations

from typing import Any, ClassVar

from .. import _core
from .._engine import Learner
from .._estimators import read_only
from .._gate import Array, Log, Range, positive
from ._confident import SurestClassifier


class SOPClassifier(SurestClassifier):
    r"""Second-order perceptron: the rows of all mistakes, weighed by how often their features erred before.

    Learns from mistakes alone, with the whitened sum of their rows: a feature that took part in many mistakes counts
    less. It needs no margin, so that the scale of the features hardly matters, and it changes seldom. Learners that ask
    for a margin (:class:`AROWClassifier`, :class:`SCWClassifier`) are usually more accurate after the same rows.

    With :math:`S` the rows of the mistakes (:math:`y\,w^\top x \le 0`) and :math:`u = \sum y x` over them,

    .. math:: w = (a I + S S^\top)^{-1} u .

    Parameters
    ----------
    a : float, default=1.0
        How many mistakes of unit length a feature is worth at the start (:math:`a` in [1]_). Large values make it the
        perceptron.
    covariance : {"diagonal", "full"}, default="diagonal"
        Keep the diagonal of :math:`S S^\top`, or all of it (O(d²) memory and time per mistake: up to a few thousand
        features).
    <surest>
    <intercept>
    <passes>
    <classes>

    Attributes
    ----------
    <fitted classifier>
    variance_ : ndarray of shape (1, n_features) or (n_classes, n_features)
        The diagonal of :math:`\Sigma = (a I + S S^\top)^{-1}`. It starts at 1 / a and only falls.
    covariance_ : ndarray of shape (1, n_features, n_features) or (n_classes, n_features, n_features)
        :math:`\Sigma`, with ``covariance="full"`` only.
    <fitted>

    Notes
    -----
    A pass costs O(stored values) with a diagonal. More than two classes are learned one against the rest. Any chunking
    into calls of :meth:`partial_fit` gives the same bits. A row of weight two is a row given twice to :math:`S` and
    :math:`u`. The row at hand is not counted in :math:`S` for its own prediction, which changes no sign.
    ``progressive_loss_`` is the hinge loss, to compare with other learners.

    References
    ----------
    .. [1] N. Cesa-Bianchi, A. Conconi and C. Gentile, "A second-order perceptron algorithm", SIAM Journal on Computing
       34(3), 2005.

    Examples
    --------
    >>> from thresher.online import SOPClassifier
    >>> X = [[0.0, 1.0], [1.0, 0.0], [0.1, 0.9], [0.9, 0.2]]
    >>> y = ["ham", "spam", "ham", "spam"]
    >>> model = SOPClassifier(random_state=0).fit(X, y)
    >>> model.predict([[1.0, 0.1]])
    array(['spam'], dtype='<U4')
    """

    _param_rules: ClassVar = {
        name: rule for name, rule in SurestClassifier._param_rules.items() if name != "diagonal"
    } | {"a": positive}

    _search_space: ClassVar[dict[str, Range]] = {"a": Log(1e-3, 1e3)}

    def __init__(
        self,
        a: float = 1.0,
        *,
        covariance: str = "diagonal",
        n_features_to_select: int | None = None,
        fit_intercept: bool = True,
        intercept_scaling: float = 1.0,
        max_iter: int = 1,
        n_steps: int | None = None,
        tol: float | None = None,
        shuffle: bool = True,
        class_weight: Any = None,
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.a = a
        self.covariance = covariance
        self.n_features_to_select = n_features_to_select
        self.fit_intercept = fit_intercept
        self.intercept_scaling = intercept_scaling
        self.max_iter = max_iter
        self.n_steps = n_steps
        self.tol = tol
        self.shuffle = shuffle
        self.class_weight = class_weight
        self.random_state = random_state
        self.n_jobs = n_jobs

    def _learner(self, n_features: int) -> Learner:
        core = _core.SopFull if self.covariance == "full" else _core.SopDiagonal
        return Learner(core, {"a": float(self.a), "n_selected": float(self.n_features_to_select or 0)})

    def _can_continue(self, learner: Learner, made_by: Learner | None) -> bool:
        if made_by is not None and self.covariance == "full" and learner.params["a"] != made_by.params["a"]:
            return False  # it is inside the matrix that is kept
        return super()._can_continue(learner, made_by)

    @property
    def variance_(self) -> Array:
        """The variance of each weight."""
        self._learner_now()
        if "square_sum" in self.state_.arrays:
            return read_only(1 / (self.a + self.state_.arrays["square_sum"][:, :-1]))
        return super().variance_
