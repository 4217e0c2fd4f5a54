"""Supervised novelty detection: a quadratic program over all classes."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from .._estimators import Advice, GoodFor, param, warn_of_convergence
from .._gate import Array, Rule, Uniform, above_one, at_least, auto, non_negative, positive
from ..solvers import BoxSolution, box_qp
from ._novelty_kernel import NOTHING, NoveltyMachine, NoveltySolution

_share = Rule("a number above 0 and at most 1", lambda v: positive.holds(v) and v <= 1, type="float")
_APART = 10.0  # coupling for each class
_PUBLISHED = 2.0
_ROUND = 100  # steps for each variable, before the first look at whether there is anything to find


class SNDClassifier(NoveltyMachine):
    r"""Supervised novelty detection: a classifier that rejects rows that belong to no class.

    An ordinary classifier assigns every row to a class, however unusual it is; a one-class machine detects unusual rows
    but treats all classes as one. Here each class has a function that is positive inside the class. The functions are
    learned from the rows of all classes, with weights that repel each other. A row gets the class with the largest
    function, and is an outlier if none is above 0. Examples of outliers help but are not needed.

    .. math:: \min_{w, \rho, \xi}\ \tfrac12 \sum_{jk} \Gamma_{jk} \langle w_j, w_k\rangle
              + \frac{1}{\nu n} \sum_{ij} \xi_{ij} - \sum_j \rho_j, \qquad
              Y_{ij} \langle w_j, \varphi(x_i)\rangle \ge \rho_j - \xi_{ij},\ \xi \ge 0,

    with :math:`\Gamma = (\gamma - 1) I + 1 1^\top`, :math:`Y_{ij} = 1` for a row in the column of its class, -1
    elsewhere, and :math:`f_j = \langle w_j, \varphi(x)\rangle - \rho_j`.

    Choose it for up to a few thousand rows. For more, use :class:`PegasosSNDClassifier` after
    :class:`~thresher.kernels.FixedSizeNystroem`; if the model may keep all rows, :class:`LSSNDClassifier` is faster. If
    every row belongs to a class, use ``reject=False`` or an ordinary support vector machine, which solves one problem
    for each pair of classes.

    Attributes
    ----------
    dual_gap_ : float
        Upper bound on how far the objective is from its minimum.
    n_iter_ : int
        Steps of the solver. Notes
    -----
    One kernel matrix of n × n serves all classes; the dual has n × n_classes variables and one equality for each class
    [1]_. Two classes without outliers are one problem: their functions are :math:`\langle w, \varphi(x)\rangle - \rho`
    and :math:`-\langle w, \varphi(x)\rangle - \rho`, and ``coupling`` changes nothing but their scale. Predictions cost
    O(support vectors). There is a solution for every :math:`\gamma > 1` and any number of classes; the thesis requires
    more, and some of its equations contain misprints.

    ``score`` is the accuracy; rows of ``outlier_label`` count as correct if they are rejected.

    Examples
    --------
    >>> from thresher.datasets import make_novelty
    >>> from thresher.novelty import SNDClassifier
    >>> X, y = make_novelty(800, kind="moons", random_state=0)
    >>> known = y[:400] != -1
    >>> model = SNDClassifier(nu=0.05, gamma=15.0).fit(X[:400][known], y[:400][known])    # has met no outlier
    >>> model.predict([[-0.25, 0.4], [0.25, -0.4], [0.9, 0.9]])
    array([ 0,  1, -1])
    >>> model.score(X[400:], y[400:]) > 0.9
    True
    """

    _advice = Advice(
        GoodFor(
            1,
            "some rows may belong to no class, and {they} draw{s} a boundary around every class",
            lambda p: p.n_rows <= 5_000 and not p.is_linear,  # more would take more than minutes
        ),
        GoodFor(1, aim="outliers"),
    )

    coupling: Any = param(
        default="auto",
        rule=above_one | auto,
        doc=r"""How strongly the classes repel each other (:math:`\gamma`), above 1: values near 1 repel most, and with
        large values the classes are learned almost independently. A number gives the published machine, and so does
        ``"auto"``, with 2, if ``gamma`` or another kernel is given. Otherwise ``"auto"`` uses 10 times the number of
        classes, so that the other classes change the weights of a class by at most a tenth. Each function is then
        divided by its :math:`\rho_j`, so that classes can be compared, and the border is set so that a share ``nu`` of
        the training rows would be rejected if they were new, each judged without its own coefficient.""",
    )
    nu: float = param(
        default=0.1,
        rule=_share,
        doc=r"""Roughly the largest share of rows on the wrong side of each function (:math:`\nu`,
        :math:`C = 1 / (\nu n)`), and so of the known rows that are rejected.""",
        search=Uniform(0.01, 0.5),
        kw_only=False,
    )
    kernel: Any = param(
        default="rbf",
        doc="""With "rbf" there is always a solution. With "linear" the only solution is 0 if the rows of a class and
        the negated rows of the others surround the origin; you then get a warning.""",
    )
    gamma: Any = param(
        default="neighbors",
        doc=r"""Width of the RBF kernel, :math:`\exp(-\gamma \|x - z\|^2)` (:math:`1 / (2 \sigma^2)` in [1]_), and
        factor of the polynomial one. **The parameter that decides what an outlier is.** A wide kernel separates the
        classes and rejects little around them; a narrow one fits more closely and rejects more. A width that is best
        for classification may reject most new rows. Tune it for its purpose: with
        :class:`~thresher.tuning.NoveltyKFold` and some outliers for ``reject=True``, and by plain cross-validation for
        ``reject=False``.""",
    )
    tol: float = param(default=1e-5, rule=non_negative, doc="Stop when the relative duality gap is at most this.")
    max_iter: int = param(
        default=1_000_000, rule=at_least(1), doc="Largest number of steps of the solver, each on two coefficients."
    )

    _fitted: ClassVar[tuple[str, ...]] = ("dual_gap_", "n_iter_")

    def _solve(self, rows: Any, Y: Array, weight: Array) -> NoveltySolution:
        signs = np.ascontiguousarray(Y.T)
        most = weight / (self.nu * weight.sum())  # C of each row
        coupling = self._coupling(len(signs))
        inverse = inverse_coupling(coupling, len(signs))
        mirrored = len(signs) == 2 and np.array_equal(signs[0], -signs[1])
        if mirrored:  # w_2 = -w_1 and rho_2 = rho_1, to the last bit if one is made of the other
            signs, inverse = signs[:1], np.array([[1.0 / (coupling - 1.0)]])
        K = self._gram(rows)
        solution, is_nothing = self._descend(K, signs, most, inverse)
        who = type(self).__name__
        if is_nothing:
            warn_of_convergence(
                f"{who}: all weights are nearly 0, because in this kernel the rows of a class and the negated "
                'rows of the others surround the origin; take kernel="rbf", or a larger gamma.',
                stacklevel=4,
            )
        elif not solution.converged:
            warn_of_convergence(
                f"{who}: the duality gap is {solution.gap:.3g} after {self.max_iter} steps, more than tol allows; "
                "raise max_iter.",
                stacklevel=4,
            )
        coef, scores, gap = inverse @ solution.x, solution.scores, float(solution.gap)
        rho = offsets(signs * scores, signs * solution.x, most)
        if mirrored:
            coef, rho, scores, gap = np.vstack([coef, -coef]), np.repeat(rho, 2), np.vstack([scores, -scores]), 2 * gap
        found = NoveltySolution(coef, rho, scores, gap, solution.n_iter, K.diagonal())
        return found.compared(Y, weight, float(self.nu)) if self._is_compared and not is_nothing else found

    @property
    def _is_compared(self) -> bool:
        """Whether everything is left to the rows."""
        return self.coupling == "auto" and self._has_no_width and isinstance(self.kernel, str) and self.kernel == "rbf"

    def _coupling(self, n_classes: int) -> float:
        if self._is_compared:
            return _APART * n_classes
        return _PUBLISHED if self.coupling == "auto" else float(self.coupling)

    def _descend(self, K: Any, signs: Array, most: Array, inverse: Array) -> tuple[BoxSolution, bool]:
        """The solution in x = alpha Y, and whether its weights are as good as 0: a gap that is a part of nothing is
        never small enough, so the solver pauses for a look."""
        lower, upper = np.minimum(0.0, signs * most), np.maximum(0.0, signs * most)
        rows_own = float(np.mean(K.diagonal()))
        left, x, n_iter, steps = int(self.max_iter), None, 0, _ROUND * signs.size
        while True:
            steps = min(left, steps)
            found = box_qp(
                K, 0.0, lower, upper, signs=signs, total=1.0, coupling=inverse, start=x, tol=self.tol, max_iter=steps,
                cache_size=self.cache_size,
            )  # fmt: skip
            left, x, n_iter, steps = left - steps, found.x, n_iter + found.n_iter, 2 * steps
            converged = found.converged or found.gap <= self.tol * abs(found.objective)
            is_nothing = bool(found.objective <= NOTHING * rows_own * inverse[0, 0])
            if converged or is_nothing or left <= 0:
                return found._replace(n_iter=n_iter, converged=converged), is_nothing

    def _finish(self, found: NoveltySolution, Y: Array, weight: Array) -> None:
        self.dual_gap_, self.n_iter_ = found.gap, found.n_iter

    def _check_loaded(self) -> None:
        super()._check_loaded()
        if not non_negative.holds(self.dual_gap_) or type(self.n_iter_) is not int or self.n_iter_ < 0:
            raise ValueError(
                f"{type(self).__name__}: dual_gap_ must be a number of at least 0, n_iter_ an integer of at least 0."
            )


def inverse_coupling(coupling: float, n_classes: int) -> Array:
    r"""The inverse of :math:`\Gamma = (\gamma - 1) I + 1 1^\top`."""
    return (np.eye(n_classes) - 1.0 / (coupling + n_classes - 1.0)) / (coupling - 1.0)


def offsets(values: Array, alpha: Array, most: Array) -> Array:
    r""":math:`\rho` of each class: the value of rows inside their boxes; without any, the middle of where it may be.

    ``values`` are :math:`Y_{ij} \langle w_j, \varphi(x_i)\rangle`, all of shape (n_classes, n_rows).
    """
    found = np.empty(len(values))
    for j, (v, a) in enumerate(zip(values, alpha, strict=True)):
        margin = 1e-9 * np.minimum(most, a.max())
        inside = (a > margin) & (a < most - margin)
        if inside.any():
            found[j] = v[inside].mean()
            continue
        low, high = v[a >= most - margin].max(), v[a <= margin].min(initial=np.inf)
        found[j] = (low + high) / 2 if np.isfinite(high) else low
    return found
