"""Kernel machines that learn from labelled, unlabelled and irrelevant rows."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from .. import _gate
from .._engine import are_scaled, one_blas_thread
from .._estimators import ComparesNeighbors, LearningProblem, WeighsLosses, param, warn_of_convergence
from .._gate import Log, Rule, Uniform, at_least, auto, label, non_negative, none, number, positive
from .._kernels import Array
from ._descent import Descent, InnerProducts, Limits, SideProblem, cheapest_side, descend, losses
from ._partial_machine import Descended, PartlyLabelledRows
from ._roles import Roles, check_labels, class_factors, filled, read_roles

_WHOLE = 5_000  # rows up to which machines that compare all of them are tried


def compares_all(problem: LearningProblem) -> bool:
    """Whether a machine that compares all rows is worth a try: for some thousands, or if no other takes the kernel."""
    return problem.n_rows <= _WHOLE or problem.kernel not in (None, "rbf")


_ALL_OPEN = 0.1  # what all unlabelled rows weigh beside the labelled ones
_below_one = Rule("a number of at least 0 and below 1", lambda v: non_negative.holds(v) and v < 1, type="float")


class _PlainSVM:
    """The parameters that not all of these machines have."""

    epsilon: float = 0.0
    irrelevant_label: Any = None
    init: str = "svm"
    balance: float | None = None
    _read: Callable[[Array, float], Array]


class PartlyLabelledSVC(_PlainSVM, WeighsLosses, Descended, ComparesNeighbors):
    """Base class: a subclass says how an unlabelled row may be read.

    Attributes
    ----------
    n_iter_ : int
        Number of convex problems solved.
    dual_gap_ : float
        The duality gap of the last convex problem.
    """

    C: float = param(default=1.0, doc="Weight of the losses of labelled rows.")
    C_unlabelled: Any = param(
        default=0.1,
        rule=non_negative | auto,
        doc="""Weight of the losses of unlabelled rows (:math:`C_U`); with 0 they are ignored. With ``"auto"``, all of
        them together have a tenth of the weight of the labelled rows.""",
        search=Log(1e-4, 1.0),
        kw_only=False,
    )
    kernel: Any = param(
        default="auto",
        doc="""By name, or an object of :mod:`thresher.kernels`. ``"auto"`` is ``"rbf"`` if ``gamma`` is given.
        Otherwise two rows are similar if they share neighbours, or neighbours of neighbours, and so on: with the kernel
        K of :class:`SemiKSC`, it is :math:`K (I - 0.99 K)^{-1}`, scaled to mean diagonal 1, which lets labels spread
        far. If the matrix does not fit into ``cache_size``, it is ``"rbf"`` with ``gamma="neighbors"``.""",
        kw_only=False,
    )
    tol: float = param(
        default=1e-4,
        rule=positive,
        doc="""Each convex problem is solved to this relative duality gap. The machine stops when a problem lowers the
        objective by at most this fraction, if not before.""",
    )

    _fitted: ClassVar[tuple[str, ...]] = ("dual_gap_",)
    _by_position: ClassVar[tuple[str, ...]] = ("C", "C_unlabelled", "kernel")
    _spread_of_neighbors = 0.99

    def _learn_from(self, X: Any, given: PartlyLabelledRows) -> None:
        check_labels(type(self).__name__, self.irrelevant_label, self.unlabelled_label)
        there, roles, cost = self._costs(given)
        with one_blas_thread(), np.errstate(over="ignore", invalid="ignore"):
            found = self._solve(self._matrix(self._some(given.rows, there)), roles, cost)
        self._keep(X, given.rows, there, np.stack([one.coef for one in found]))
        self.dual_gap_ = self._remember(roles, found)
        open_, scores = roles.unlabelled, np.stack([one.scores for one in found], axis=1)
        self.transduction_ = filled(given.labels, there[open_], self._read_scores(self._shape_scores(scores[open_])))
        self._look_back(found, given.rows)

    def _look_back(self, found: list[Descent], rows: Any) -> None:
        """Warn if the optimum was not reached."""
        who = type(self).__name__
        if not all(one.solved for one in found):
            scale = "" if are_scaled(getattr(rows, "data", rows)) else "scale the features to about 1, "
            warn_of_convergence(
                f"{who}: a convex problem was left at a duality gap of {self.dual_gap_:.2g} (the objective is "
                f"{self.objective_:.3g}); {scale}lower C and C_unlabelled, or raise tol.",
                stacklevel=5,
            )
        elif not all(one.converged for one in found):
            warn_of_convergence(
                f"{who}: not converged after {self.n_iter_} convex problems; raise max_iter or tol.", stacklevel=5
            )

    def predict(self, X: Any) -> NDArray[Any]:
        """Predict the class of each row, or ``irrelevant_label``, if given."""
        return self._read_scores(self.decision_function(X))

    def predict_relevant(self, X: Any) -> NDArray[Any]:
        """Predict the class of each row, assuming that it belongs to one."""
        return super()._read_scores(self.decision_function(X))

    # --- rows, their costs and their problems -------------------------------------------------------------------------

    def _costs(self, given: PartlyLabelledRows) -> tuple[NDArray[np.intp], Roles, Array]:
        """The places of rows that count, their roles and the factors of their losses."""
        who, there = type(self).__name__, given.there
        roles = read_roles(given.labels[there], self.irrelevant_label, self.unlabelled_label, who)
        factors = class_factors(self.class_weight, roles, self.irrelevant_label, who)
        cost = np.where(roles.unlabelled, self._open_cost(roles, given.weight), float(self.C) * factors) * given.weight
        roles, there, cost = roles.of(cost > 0), there[cost > 0], cost[cost > 0]
        if len(np.unique(roles.codes[roles.labelled])) < len(roles.classes):
            self._refuse_weightless()
        if self.balance is not None and (len(roles.classes) > 2 or not roles.unlabelled.any()):
            raise ValueError(
                f"{who}: balance must be None unless there are two classes and unlabelled rows, got {self.balance!r}."
            )
        return there, roles, cost

    def _open_cost(self, roles: Roles, weight: Array) -> float:
        """The factor of the losses of unlabelled rows."""
        if not isinstance(self.C_unlabelled, str):
            return float(self.C_unlabelled)
        open_ = float(weight[roles.unlabelled].sum())
        return _ALL_OPEN * float(self.C) * float(weight[roles.labelled].sum()) / open_ if open_ > 0 else 0.0

    def _matrix(self, rows: Any) -> Any:
        """The kernel matrix; of inner products that do not fit, the rows, where no mean of rows is asked for."""
        K = self._gram(rows)
        fits = isinstance(K, np.ndarray) or self.kernel != "linear" or self.balance is not None
        return K if fits else InnerProducts(rows)

    def _solve(self, K: Any, roles: Roles, cost: Array) -> list[Descent]:
        rest = cost, roles.unlabelled, float(self.epsilon), None if self.balance is None else float(self.balance)
        limits = Limits(float(self.tol), int(getattr(self, "max_iter", 1)), float(self.cache_size))
        from_all, read = self.init == "universum", type(self)._read
        return [descend(K, SideProblem(side, *rest), read, limits, from_all=from_all) for side in roles.outputs()]

    def _read_scores(self, scores: Array) -> NDArray[Any]:
        labels: NDArray[Any] = super()._read_scores(scores)
        if self.irrelevant_label is None:
            return labels
        known = _gate.joined(self.classes_, self.irrelevant_label)
        places = np.searchsorted(self.classes_, labels)
        return known[np.where(self._is_irrelevant(scores), len(known) - 1, places)]

    def _is_irrelevant(self, scores: Array) -> NDArray[np.bool_]:
        """Mark rows that cost less in no class than in the best: with two, within (1 + epsilon) / 2 of a score of 0."""
        if scores.ndim == 1:
            return np.asarray(cheapest_side(scores, self.epsilon) == 0)
        as_none, as_other, as_this = (losses(scores, np.full_like(scores, s), self.epsilon) for s in (0, -1, 1))
        best_class = as_other.sum(axis=1) + (as_this - as_other).min(axis=1)
        return np.asarray(as_none.sum(axis=1) < best_class)

    def _is_outlier(self, y: NDArray[Any]) -> NDArray[np.bool_]:
        """Mark the rows whose label says that they belong to no class."""
        return _gate.carrying(y, self.irrelevant_label)

    def _check_loaded(self) -> None:
        check_labels(type(self).__name__, self.irrelevant_label, self.unlabelled_label)
        super()._check_loaded()
        self._check_descent("dual_gap_", least=1)


class MovesUnlabelled(PartlyLabelledSVC):
    """Base class of machines that solve a convex problem after the other."""

    balance: float | None = param(
        default=None,
        rule=number | none,
        doc="""Required mean score of the unlabelled rows: 0 if about half of them belong to each class. It prevents
        solutions with nearly all of them on one side. For two classes only.""",
    )
    max_iter: int = param(default=100, rule=at_least(1), doc="Largest number of convex problems; 2 to 20 are typical.")


class KnowsIrrelevant(PartlyLabelledSVC):
    """Base class of machines that may take rows for irrelevant.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Labels of the classes, sorted, without those of unlabelled and irrelevant rows.
    """

    C: float = param(
        default=1.0, doc=r"Weight of the losses of labelled and irrelevant rows (:math:`1/\lambda` in the thesis)."
    )
    epsilon: float = param(
        default=0.1,
        rule=_below_one,
        doc="Scores of irrelevant rows, and of unlabelled rows treated as such, cost nothing up to this size; below 1.",
        search=Uniform(0.0, 0.9),
        kw_only=False,
    )
    irrelevant_label: Any = param(
        default=None,
        rule=label | none,
        doc="""The value of ``y`` for rows known to belong to no class. If given, :meth:`predict` may return it; ``y``
        need not contain it.""",
    )
    class_weight: Any = param(
        default=None,
        doc="""Weights of the classes, which multiply the row weights; a dict may include ``irrelevant_label``. They do
        not apply to unlabelled rows.""",
    )

    _by_position: ClassVar[tuple[str, ...]] = ("C", "C_unlabelled", "epsilon", "kernel")
