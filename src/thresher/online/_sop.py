"""The second-order perceptron."""

from __future__ import annotations

from .. import _core
from .._engine import Learner
from .._estimators import AUTO_STEP, MEANS_RACE, LateMeans, Step, StepInUse, param
from .._gate import Array, Log, auto, positive
from ._confident import ConfidentClassifier


class SOPClassifier(LateMeans, ConfidentClassifier):
    r"""Second-order perceptron: misclassified rows, in units of the features' sums of squares.

    Learns only from mistakes, and features that occurred in many mistakes count less. It requires no margin and makes
    few updates. Learners that require a margin (:class:`AROWClassifier`, :class:`SCWClassifier`) are usually more
    accurate after the same rows.

    If :math:`S` holds the misclassified rows (:math:`y\,w^\top x \le 0`) and :math:`u = \sum y x` is their sum, the
    full form of [1]_ and the diagonal form, which is the default, are

    .. math:: \text{full: } w = (a I + S S^\top)^{-1} u, \qquad
              \text{diagonal: } w_j = \frac{u_j}{a + \sum_{x \in S} x_j^2} .

    If ``a`` is small compared with the squared values of the misclassified rows, the units of the features do not
    matter in either form. The full form also accounts for correlations: an invertible linear map of the features leaves
    its predictions nearly unchanged. It does change those of the diagonal form.

    Attributes
    ----------
    variance_ : ndarray of shape (1, n_features) or (n_classes, n_features)
        :math:`1 / (a + \sum x_j^2)`, or with ``covariance="full"`` the diagonal of
        :math:`\Sigma = (a I + S S^\top)^{-1}`. It starts at 1 / a and never grows.
    covariance_ : ndarray of shape (1, n_features, n_features) or (n_classes, n_features, n_features)
        :math:`\Sigma`, with ``covariance="full"`` only.
    a_ : float
        ``a`` of the model that predicts, in units of the scaled rows if rows are scaled.

    Notes
    -----
    A pass costs O(stored values) with a diagonal. More than two classes are learned one-vs-rest. However the rows are
    split into calls of :meth:`partial_fit`, the model is the same, bit for bit. A row of weight two enters :math:`S`
    and :math:`u` like two equal rows. The current row does not enter :math:`S` for its own prediction; in the full form
    this changes no sign. ``progressive_loss_`` is the hinge loss, so that learners can be compared.

    References
    ----------
    .. [1] N. Cesa-Bianchi, A. Conconi and C. Gentile, "A second-order perceptron algorithm", SIAM Journal on Computing
       34(3), 2005.
    """

    _raced = Step("a", "a", 1.0, (1.0, 1e1, 1e2), race_rows=MEANS_RACE // 2)  # whose last step is cheap
    a_ = StepInUse()

    a: float | str = param(
        default="auto",
        rule=positive | auto,
        doc=f"""Initial value of the sum of squares of each feature (:math:`a` in [1]_). With large values, the learner
        becomes the perceptron. {AUTO_STEP} With a full covariance it is 1.""",
        search=Log(1e-3, 1e3),
        kw_only=False,
    )
    covariance: str = param(
        default="diagonal",
        doc=r"""Keep the diagonal of :math:`S S^\top`, or all of it (O(d²) memory and time per mistake: up to a few
        thousand features).""",
    )

    def _learner(self, n_features: int) -> Learner:
        core = _core.SopFull if self.covariance == "full" else _core.SopDiagonal
        return self._selecting(core, {"a": self._fixed_step, "average": self._averages})

    @property
    def _races(self) -> bool:
        return self.covariance != "full" and super()._races  # a is inside the matrix

    @property
    def _fixed_step(self) -> float:
        return 1.0 if self.covariance == "full" and self.a == "auto" else super()._fixed_step

    def _can_continue(self, learner: Learner, made_by: Learner | None) -> bool:
        if made_by is not None and self.covariance == "full" and learner.params["a"] != made_by.params["a"]:
            return False  # it is inside the matrix that is kept
        return super()._can_continue(learner, made_by)

    @property
    def variance_(self) -> Array:
        """The variance of each weight."""
        self._learner_now()
        if "square_sum" in self.state_.arrays:
            squares = self._of_the_model_read("square_sum")[:, :-1]
            return self._for_rows_as_they_come(1 / (self._step_in_use() + squares))
        return super().variance_
