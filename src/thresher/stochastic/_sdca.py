"""Linear classification with an elastic net, solved in the dual to a certified precision."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from .. import _core, _engine
from .._engine import LOSSES, Target, are_scaled, loss_name, loss_rules
from .._estimators import Advice, GoodFor, LearningProblem, Optimum, SolvedClassifier, param, warn_of_convergence
from .._gate import Array, Log, Rule, Uniform, as_rows, fraction, positive, seed, sparse
from ._ascent import Ascent

_below_one = Rule(
    "a number of at least 0 and below 1 (the dual needs some l2 penalty; 0.99 is close to pure l1)",
    lambda v: fraction.holds(v) and v < 1,
    type="float",
)
_MANY = 50_000  # rows from which on one pass is as good
_FEW = 20  # columns whose pairs can all be tried
_DUAL_PASSES = 100  # after so many, smooth losses are left to descent on columns


def _columns(rows: _core.Rows, bias: float, who: str) -> _core.Rows:
    """The columns, as rows of the transposed matrix; the last is the constant, unless it is 0."""
    shape = rows.n_rows, rows.n_features
    if rows.columns is None:
        dense = np.empty((shape[0], shape[1] + (bias != 0)), dtype=rows.values.dtype, order="F")
        dense[:, : shape[1]] = rows.values
        dense[:, shape[1] :] = bias
        return as_rows(dense.T, who, look=False)
    by_column = sparse.csr_array((rows.values, rows.columns, rows.starts), shape=shape).tocsc()
    if bias:
        constant = sparse.csc_array(np.full((shape[0], 1), bias, dtype=rows.values.dtype))
        by_column = sparse.hstack([by_column, constant], format="csc")
    return as_rows(by_column.T, who, look=False)


def _may_fit(problem: LearningProblem) -> bool:
    return not problem.wants_sparsity and problem.n_classes <= 30


class SparseSDCAClassifier(SolvedClassifier):
    r"""Sparse linear classification by proximal stochastic dual coordinate ascent, solved to a duality gap.

    Minimises

    .. math:: P(w) = \frac{1}{\sum_i s_i}\sum_i s_i\, \ell(y_i w^\top x_i)
              + \alpha \Big(\rho \|w\|_1 + \frac{1 - \rho}{2} \|w\|^2\Big)

    with :math:`\rho` the ``l1_ratio`` and :math:`s_i` the row weights. Unlike the online learners, which stop near the
    optimum, it needs all rows at once, has no step size, and certifies its precision: the duality gap bounds
    :math:`P(w) - \min P`. Choose it if the rows fit in memory and you want the zeros of the optimum. For streams and
    for a pure l1 penalty, choose :class:`~thresher.dual_averaging.L1RDAClassifier`.

    Notes
    -----
    Each row has a dual variable :math:`b_i`. With
    :math:`v = \frac{1}{\alpha(1-\rho)} \sum_i \frac{s_i}{\sum s} b_i y_i x_i` the weights are
    :math:`w = \text{soft}(v, \rho / (1 - \rho))`, zeros included. A step maximises the dual objective, with a quadratic
    bound in place of :math:`\|w\|^2`, over one :math:`b_i`: in closed form, or by a few safeguarded Newton steps for
    the logistic loss. A pass costs O(stored values). If the loss is smooth and there are more rows than features,
    passes are accelerated by momentum. The gap is measured after each of the first five passes and then after every
    fifth, and the best weights so far are kept. Several classes are learned one-vs-rest.

    Where the l2 penalty is very small, dual steps are short. If the gap is still above ``tol`` after 100 passes and the
    loss is smooth, the solver of :func:`thresher.solvers.lasso` continues from the best weights, and its passes count
    towards ``max_iter``.

    References
    ----------
    .. [1] S. Shalev-Shwartz and T. Zhang, "Accelerated proximal stochastic dual coordinate ascent for regularized loss
       minimization", Mathematical Programming 155, 2016.

    Examples
    --------
    >>> import numpy as np
    >>> from thresher.stochastic import SparseSDCAClassifier
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(200, 50))
    >>> y = np.where(X[:, 3] - X[:, 8] > 0, "yes", "no")
    >>> model = SparseSDCAClassifier(alpha=0.2, l1_ratio=0.9, random_state=0).fit(X, y)
    >>> model.support_
    array([3, 8])
    >>> model.dual_gap_ <= 1e-4
    True
    """

    _advice = Advice(
        GoodFor(2, aim="linear"),
        GoodFor(
            2,
            "the rows fit in memory and it finds the optimum",
            lambda p: (p.is_wide or p.is_text) and p.n_rows <= _MANY and _may_fit(p),
        ),
        GoodFor(1, when=lambda p: p.is_table and _may_fit(p), kind="additive"),
        GoodFor(1, when=lambda p: p.is_table and _may_fit(p) and p.n_features <= _FEW, kind="pairs"),
        start=lambda p: {
            "alpha": 1.0 / max(p.n_rows, 1) if p.is_wide or p.is_text else 1e-2,
            "l1_ratio": 0.0,
            "tol": 1e-3,
            "max_iter": 100,
        },
        settled=("l1_ratio",),
    )

    alpha: float = param(
        default=1e-4,
        rule=positive,
        doc=r"Strength of the penalty (:math:`\lambda` in [1]_ is :math:`\alpha (1 - \rho)`).",
        search=Log(1e-5, 1.0),
        kw_only=False,
    )
    l1_ratio: float = param(
        default=0.5,
        rule=_below_one,
        doc=r"""Share of the l1 penalty (:math:`\rho`), below 1: without an l2 penalty, the dual variables do not
        determine the weights. 0 is ridge.""",
        search=Uniform(0.0, 0.95),
        kw_only=False,
    )
    loss: str = param(
        default="squared_hinge",
        rule=loss_rules(("squared_hinge", "hinge", "logistic"))["loss"],
        doc='``"log_loss"`` is accepted as well. The smooth ones converge faster.',
    )
    intercept_scaling: float = param(
        default=1.0,
        doc="""Value of the constant feature. Its weight has the l2 penalty, which the dual requires, but no l1 penalty.
        The larger the value, the less the penalty affects the constant.""",
    )
    tol: float = param(
        default=1e-4,
        doc="""Stop when the duality gap is at most this. The loss is 1 (logistic: 0.69) if all weights are 0, so it is
        roughly a fraction of the possible improvement. To tell weights just above 0 from 0 reliably, use a smaller
        value.""",
    )
    random_state: Any = param(default=None, rule=seed, doc="Seed of the visiting orders.")

    def _solve(self, rows: _core.Rows, target: Target, weight: Array) -> list[Optimum]:
        rng = _engine.generator(self.random_state)
        share = weight / weight.max()
        share /= share.sum()
        return [self._solve_one(rows, target, share, k, rng) for k in range(target.n_outputs)]

    def _solve_one(self, rows: _core.Rows, target: Target, share: Array, k: int, rng: np.random.Generator) -> Optimum:
        """The optimum of one output."""
        loss, code = loss_name(self.loss), target.positive(k)
        assert code is not None
        with_momentum = math.isfinite(LOSSES[loss].curvature) and rows.n_rows > rows.n_features
        l1, l2 = float(self.alpha * self.l1_ratio), float(self.alpha * (1 - self.l1_ratio))
        problem = (rows, self._bias(), target.y, code, share)
        ascent, n_iter = Ascent(*problem, l1=l1, l2=l2, loss=loss, momentum=with_momentum), 0
        smooth = math.isfinite(LOSSES[loss].curvature)
        most = min(self.max_iter, _DUAL_PASSES) if smooth else self.max_iter
        while ascent.gap > self.tol and n_iter < most:
            ascent.step(rng.permutation(rows.n_rows))
            n_iter += 1
            if n_iter <= 5 or n_iter % 5 == 0 or n_iter == most:
                try:
                    ascent.measure()
                except FloatingPointError:
                    scale = "" if are_scaled(rows.values) else "scale the features to about 1, or "
                    raise FloatingPointError(
                        f"{type(self).__name__}: the weights overflowed; {scale}raise alpha."
                    ) from None
        best = Optimum(ascent.weights, ascent.gap, n_iter)
        if ascent.gap <= self.tol or n_iter == self.max_iter:
            return best
        y = np.where(target.y == code, 1.0, -1.0)
        return self._finish(best, rows, y, share, loss, (l1, l2))

    def _finish(
        self, best: Optimum, rows: _core.Rows, y: Array, share: Array, loss: str, penalty: tuple[float, float]
    ) -> Optimum:
        """From these weights on by descent on columns, the constant's among them."""
        (l1, l2), bias = penalty, self._bias()
        columns = _columns(rows, bias, type(self).__name__)
        least = np.finfo(np.float64).tiny  # the core asks for weights of blocks above 0
        weight = np.full(columns.n_rows, max(l1, least))
        if bias:
            weight[-1] = least  # the constant bears no l1 penalty
        blocks = np.arange(columns.n_rows + 1), np.zeros(columns.n_rows, np.int32), np.arange(columns.n_rows)
        solver = _core.BlockSolver([columns], [y], [share], loss, 0.1, False, *blocks)
        w, constants = best.weights[: columns.n_rows].copy(), np.zeros(1)
        _, gap, n_iter = solver.solve(weight, 2.0, 0.0, l2, w, constants, self.tol, self.max_iter - best.n_iter)
        n_iter += best.n_iter
        if not gap < best.gap:  # rounding hides the rest, or numbers are out of range
            return best._replace(n_iter=n_iter)
        return Optimum(w if bias else np.append(w, 0.0), gap, n_iter)

    def _look_back(self) -> None:
        who = type(self).__name__
        if self.dual_gap_ > self.tol:
            warn_of_convergence(
                f"{who}: the duality gap is {self.dual_gap_:.2g} after {self.n_iter_} passes, above tol={self.tol:g}; "
                "scale the features, raise max_iter or alpha, or raise tol.",
                stacklevel=3,
            )
        if not self.support_.size:
            warn_of_convergence(
                f"{who}: all weights are 0, so no feature is in use; a smaller alpha keeps more features.",
                stacklevel=3,
            )
