"""The Laplacian support vector machine: scores that change little between neighbours."""

from __future__ import annotations

from typing import Any, ClassVar, Self

import numpy as np

from .._engine import one_blas_thread
from .._estimators import Advice, FixedSizeMachine, GoodFor, Variant, param, warn_of_convergence
from .._gate import (
    Log,
    Rule,
    at_least,
    auto,
    beside,
    boolean,
    check_params,
    labels_beside,
    non_negative,
    none,
    on_host,
    one_of,
    positive,
    sparse,
)
from .._kernels import Array
from ._descent import Descent
from ._graph import Drawn, Laplacian, check_adjacency, laplacian
from ._lap_solve import LapProblem, by_landmarks, by_products, by_rows
from ._manifold import ManifoldPenalty
from ._partial_machine import Descended
from ._roles import Roles, filled

_SMOOTH = 30.0  # what changes along the graph weigh beside the size of the function
_AGREE = 1e-6  # scores of the model and of the problem it solves


class LapSVC(Descended, FixedSizeMachine):
    r"""Laplacian support vector machine: scores that change little between neighbouring rows (LapSVM).

    Minimises, over functions :math:`f = \langle w, \varphi(\cdot)\rangle + b`,

    .. math:: \frac1l \sum_{i\ \text{labelled}} H(y_i f_i) + \gamma_A \|w\|^2
              + \frac{\gamma_I}{n^2} \sum_{i < j} W_{ij} \Bigl(\frac{f_i}{\sqrt{d_i}} - \frac{f_j}{\sqrt{d_j}}\Bigr)^2

    over all n rows, connected by a graph with weights W and degrees d. Choose it if classes follow the shape of the
    data, like the arms of a spiral or images of one object, and a few labels should spread along it. If rows of
    different classes are neighbours as often as rows of the same class (noise in many dimensions), the graph carries no
    information about the classes: compare with ``alpha_graph=0``, a plain support vector machine. If classes are
    clusters of any shape with gaps between them, :class:`S3VC` is an alternative; if unlabelled rows may belong to no
    class, use :class:`UniversumSVC`.

    Attributes
    ----------
    objectives_ : ndarray
        The objective after each Newton step, which never increases, or only the final one ("dual"); with several
        classes, a list of such arrays.
    residual_ : float
        Precision of the solution: the relative duality gap, or the relative norm of the gradient.
    n_iter_ : int
        Newton steps; with "dual", steps of two variables.

    Notes
    -----
    With :math:`F F^\top = K` and the factor R of :math:`\gamma_A I + \gamma_I F^\top L F` (one Cholesky factorisation
    each, for all classes and either solver) everything but the losses is eliminated: a quadratic program, or Newton's
    method, in as many variables as there are labels. Coefficients follow from the optimality conditions,
    :math:`(J^\top x - \gamma_I L f) / \gamma_A`, so no kernel matrix is inverted, and it may be singular.
    :math:`O(n^3)`, and :math:`O(n)` kernel values for a prediction; with m landmarks :math:`O(n m^2)` and O(m), plus
    the neighbour search, which takes :math:`O(n^2)` for rows of many columns (``benchmarks/README.md``, unlabelled).
    Several classes are learned one-vs-rest.

    If rows are at exactly the same distance, the neighbour search decides arbitrarily between them.

    References
    ----------
    .. [1] M. Belkin, P. Niyogi and V. Sindhwani, "Manifold regularization", JMLR 7, 2006.
    .. [2] S. Melacci and M. Belkin, "Laplacian support vector machines trained in the primal", JMLR 12, 2011.
    .. [3] V. Jumutc, "Flexible software design for stochastic and kernel-based learning in advanced data-driven
       modelling", KU Leuven, 2016, (2.35).

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> from thresher.semi_supervised import LapSVC
    >>> X, truth = make_moons(200, noise=0.05, random_state=0)
    >>> y = truth.copy()
    >>> y[8:] = -1                                                        # 8 labels
    >>> model = LapSVC(gamma=2.0).fit(X, y)
    >>> round(float((model.transduction_ == truth).mean()), 2)
    1.0
    >>> plain = LapSVC(gamma=2.0, alpha_graph=0).fit(X, y)
    >>> round(float((plain.transduction_ == truth).mean()), 2)
    0.77
    """

    _advice = Advice(
        GoodFor(
            4,
            "few rows have labels, and it spreads them along a graph of neighbours",
            lambda p: p.kernel in (None, "rbf") and not p.is_wide,
        ),
        GoodFor(2, aim="neighbours"),
        variants=(
            Variant(
                {"alpha_graph": 0.0, "kernel": "linear", "solver": "primal", "scaling": "thesis"},
                " of the labelled rows alone",
                labelled_only=True,
            ),
        ),
    )

    alpha: float = param(
        default=1e-4,
        rule=positive,
        doc=r"Strength of the penalty on the size of the function (:math:`\gamma_A`).",
        search=Log(1e-6, 1.0),
        kw_only=False,
    )
    alpha_graph: Any = param(
        default="auto",
        rule=non_negative | auto,
        doc=r"""Strength of the penalty on changes along the graph (:math:`\gamma_I`). ``"auto"`` is 30 times ``alpha``
        with the scaling "thesis", and :math:`30\, n^2` times ``alpha`` with the other one, which has the same effect
        for any number of rows: labels spread far. With 0, unlabelled rows are ignored, also for ``gamma`` and the
        landmarks, and are only predicted in ``transduction_``.""",
        search=Log(1e-1, 1e6),
        kw_only=False,
    )
    gamma: Any = param(default="neighbors")
    solver: str = param(
        default="dual",
        rule=one_of("dual", "primal"),
        doc="""One of two published machines. "dual" (LapSVM [1]_) has :math:`H(u) = [1 - u]_+`, and its graph penalty
        excludes the constant b. "primal" (LapSVMp [2]_) has :math:`H(u) = [1 - u]_+^2` and includes it. With
        ``alpha_graph=0`` they are scikit-learn's ``SVC`` with ``C = 1 / (2 l alpha)``, where l is the number of labels
        or the sum of their weights, and the same machine with squared losses; with the scaling "thesis",
        ``C = 1 / (2 alpha)``.""",
    )
    scaling: str = param(
        default="belkin",
        rule=one_of("belkin", "thesis"),
        doc=r"""The formula above, from [1]_, or :math:`\sum H + \gamma_A \|w\|^2 + \gamma_I f^\top L f` without
        dividing by numbers of rows, as in [2]_ and [3]_.""",
    )
    graph: str = param(
        default="knn",
        rule=one_of("knn", "full"),
        doc="""Connect two rows if one is among the ``n_neighbors`` nearest rows of the other, or connect all rows,
        whose weights must fit into ``cache_size``. You can also pass your own graph to :meth:`fit`.""",
    )
    n_neighbors: int = param(default=10, rule=at_least(1), doc="Number of neighbours of each row.")
    weights: str = param(
        default="binary",
        rule=one_of("binary", "heat"),
        doc=r"The same weight for all edges, or :math:`\exp(-g \|x - z\|^2)`, which a full graph always uses.",
    )
    graph_gamma: float | None = param(
        default=None,
        rule=positive | none,
        doc="""g of these weights; by default :math:`1 / (2 m^2)`, with m the mean distance of rows to their
        ``n_neighbors`` nearest.""",
    )
    graph_power: int = param(
        default=1,
        rule=Rule("an integer from 1 to 100", lambda v: at_least(1).holds(v) and v <= 100, type="int"),
        doc="Power of the matrix L. Values above 1 also enforce smoothness over longer distances (2 to 5 for images).",
    )
    metric: str = param(
        default="euclidean",
        rule=one_of("euclidean", "cosine"),
        doc=r"""Distance between rows, over all columns, whatever columns the kernel uses. With a precomputed kernel,
        distances and angles are those in its feature space, :math:`\|x - z\|^2 = k(x, x) + k(z, z) - 2 k(x, z)`.""",
    )
    normalized: bool = param(
        default=True,
        rule=boolean,
        doc="""Divide scores by the square roots of the degrees, as above; if False, L is :math:`D - W`. A row without
        edges does not contribute to the penalty.""",
    )
    inner: str = param(
        default="auto",
        rule=one_of("auto", "direct", "cg"),
        doc="""The solver of "primal": a factorisation of the kernel matrix, or conjugate gradients, which need no more
        memory than ``cache_size``; "auto" uses them if the matrix does not fit.""",
    )
    max_iter: int = param(
        default=100, rule=at_least(1), doc='Largest number of Newton steps of "primal"; about 5 are typical.'
    )
    tol: float = param(
        default=1e-6,
        rule=positive,
        doc=""""dual" stops at this relative duality gap, and "cg" when the norm of the gradient relative to that at 0
        is at most this. "direct" is exact.""",
    )
    cache_size: float = param(
        default=500,
        doc="""Memory for the kernel matrix in megabytes. A factorisation takes several times as much. With landmarks,
        "dual" needs a matrix over the labelled rows that fits; "primal" takes any number of them.""",
    )

    _fitted: ClassVar[tuple[str, ...]] = ("residual_",)
    _takes_arrays: ClassVar[bool] = True

    def fit(self, X: Any, y: Any, sample_weight: Any = None, adjacency: Any = None) -> Self:
        """Learn from all rows at once, with a graph of neighbours or your own graph.

        Parameters
        ----------
        X, y
            Rows, or with ``kernel="precomputed"`` their kernel matrix; labels, with ``unlabelled_label`` for unlabelled
            rows.
        sample_weight : array-like of shape (n_samples,), optional
            Nonnegative weights, which multiply the losses of labelled rows. Rows of weight 0 are ignored, also in the
            graph; other weights of unlabelled rows make no difference. ``class_weight="balanced"`` and ``gamma`` count
            these rows without their weights.
        adjacency : array-like or sparse matrix of shape (n_samples, n_samples), optional
            Your own graph instead of ``graph``: symmetric, with nonnegative weights. The diagonal is ignored.

        Returns
        -------
        self
        """
        check_params(self, self._param_rules)
        with self._without_scores():
            graph = self._fit_along(X, y, sample_weight, adjacency)
        self._score_folds(X, y, sample_weight, adjacency=graph)
        return self

    def _fit_along(self, X: Any, y: Any, sample_weight: Any, adjacency: Any) -> Any:
        """Learn from all rows; returns the graph that was given, checked."""
        who, (rows, labels, there, weight) = type(self).__name__, self._take_labelled(X, y, sample_weight)
        roles = self._read_roles(labels[there])
        weight = weight * self._factors(roles)
        open_ = there[roles.unlabelled]
        if self.alpha_graph == 0:  # then rows without a label have no part in it
            there, weight, roles = there[roles.labelled], weight[roles.labelled], roles.of(roles.labelled)
        graph = adjacency
        if adjacency is not None:
            adjacency = graph = check_adjacency(adjacency, rows.shape[0], who, normalized=bool(self.normalized))
            adjacency = adjacency if len(there) == rows.shape[0] else adjacency[there][:, there]
        with one_blas_thread(), np.errstate(over="ignore", invalid="ignore"):
            some = self._some(rows, there)
            given = self._given(roles, weight, self._smooth(some, adjacency))
            fixed = self._fixed_size(some)
            found = (
                self._solve(some, given) if fixed is None else by_landmarks(fixed, given, float(self.cache_size), who)
            )
        self._keep_fixed(X, rows, there, np.stack([one.coef for one in found]), fixed)
        self.residual_ = self._remember(roles, found)
        scores = np.stack([one.scores[roles.unlabelled] for one in found], axis=1)
        self.intercept_ = beside(self.intercept_, rows)
        in_graph = self.alpha_graph != 0
        read = self._read_scores(self._shape_scores(scores)) if in_graph else on_host(self.predict(X))[open_]
        self.transduction_ = labels_beside(filled(labels, open_, read), rows)
        self._look_back(found)
        return graph

    def _look_back(self, found: list[Descent]) -> None:
        """Warn if the optimum was not reached, or cannot be written down in this precision."""
        who, off = type(self).__name__, max(one.off for one in found)
        if not all(one.converged for one in found):
            what = "duality gap" if self.solver == "dual" else "gradient"
            warn_of_convergence(
                f"{who}: not converged, the relative {what} is {self.residual_:.2g}; raise max_iter, alpha or tol.",
                stacklevel=3,
            )
        elif off > _AGREE:
            warn_of_convergence(
                f"{who}: alpha is so small compared with alpha_graph, or the kernel so inexact (sparse rows far from "
                f"0), that scores are off by {off:.2g} of their size; raise alpha, lower alpha_graph or move the rows.",
                stacklevel=3,
            )

    # --- rows, their graph and their problem --------------------------------------------------------------------------

    def _smooth(self, rows: Any, adjacency: Any) -> Laplacian:
        """The Laplacian of the graph."""
        n = rows.shape[0]
        if self.alpha_graph == 0:
            return Laplacian(sparse.csr_array((n, n)))
        if adjacency is None:
            if self.graph == "full" and 8 * n**2 > self.cache_size * 2**20:
                raise ValueError(
                    f"{type(self).__name__}: cache_size must hold the graph of {n} rows, {8 * n**2 / 2**20:.0f} MB, "
                    f'got {self.cache_size!r}; graph="knn" has no such limit.'
                )
            drawn = Drawn(self.graph, int(self.n_neighbors), self.weights, self.graph_gamma, self.metric)
            adjacency = drawn.between(rows, is_kernel=self._is_precomputed)
        return Laplacian(laplacian(adjacency, normalized=bool(self.normalized)), int(self.graph_power))

    def _given(self, roles: Roles, weight: Array, along: Laplacian) -> LapProblem:
        """The problem of every output, in the scaling asked for."""
        labelled, n = np.flatnonzero(roles.labelled), len(weight)
        by_mean = self.scaling == "belkin"
        cost = weight[labelled] / weight[labelled].sum() if by_mean else weight[labelled]
        if isinstance(self.alpha_graph, str):
            smoothness = _SMOOTH * float(self.alpha)
        else:
            smoothness = self.alpha_graph / n**2 if by_mean else float(self.alpha_graph)
        penalty = ManifoldPenalty(float(self.alpha), smoothness, along, self.solver == "primal")
        sides = [side[labelled] for side in roles.outputs()]
        return LapProblem(labelled, cost, sides, penalty, float(self.tol), int(self.max_iter))

    def _solve(self, rows: Any, given: LapProblem) -> list[Descent]:
        if self.solver == "primal" and self.inner != "direct":
            K = on_host(self._gram(rows))
            if self.inner == "cg" or not isinstance(K, np.ndarray):
                return by_products(K, given, type(self).__name__)
        else:
            K = on_host(self._whole_gram(rows))
        return by_rows(K, given, type(self).__name__)

    def _check_loaded(self) -> None:
        super()._check_loaded()
        self._check_descent("residual_", least=0)
