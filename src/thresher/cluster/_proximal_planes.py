"""Clusters around planes."""

from __future__ import annotations

from typing import Any, ClassVar, Self

import numpy as np

from .. import _engine, _gate
from .._engine import one_blas_thread
from .._estimators import Advice, Estimator, GoodFor, check_is_fitted, param, warn_of_convergence
from .._gate import Log, check_params, non_negative, sparse
from .._kernels import Array, as_floats
from ._centres import FromStarts
from ._planes import Labels, PlaneRun, Planes, descend, spread_planes
from ._sums import refuse_few

_MOST_FEATURES = 5000  # squares of them are held, 200 MB each


class ProximalPlaneClustering(FromStarts, Estimator):
    r"""Proximal plane clustering: clusters of rows that lie close to a plane (in two dimensions, a line).

    For each cluster a plane :math:`w^\top x + b = 0` with a unit normal minimises

    .. math:: \sum_{x \in \text{cluster}} (w^\top x + b)^2 - c \sum_{x \notin \text{cluster}} (w^\top x + b)^2,

    alternating with moving rows to the nearest plane. Choose it if you know that clusters are flat: rows on a few
    lines, or linear relations between columns that differ between groups. A plane is unbounded, so rows far apart may
    share one. For compact clusters choose :class:`SparseKMeans`, for curved ones :class:`KernelSpectralClustering`.

    The result depends strongly on the start and on ``C_others``. Run it several times (``n_init``), try more than one
    ``C_others``, and do not rely on a single result.

    Attributes
    ----------
    normals_ : ndarray of shape (n_clusters, n_features)
        Normals of the planes, of length 1 (:math:`w`); the largest entry of each is positive.
    offsets_ : ndarray of shape (n_clusters,)
        Offsets of the planes (:math:`b`).
    C_others_ : float
        The value of ``C_others`` used; it may be smaller than the parameter.
    inertia_ : float
        The sum of squared distances from the nearest plane.

    Notes
    -----
    With :math:`A`, :math:`s` and :math:`N` the sums of :math:`x x^\top`, :math:`x` and 1 over the rows of a cluster,
    less *c* times those of the others, :math:`b = -s^\top w / N` and *w* is the eigenvector of :math:`A - ss^\top / N`
    with the smallest eigenvalue. Fitting planes and moving rows both lower the same sum.

    A step costs :math:`O(n d^2 + k d^3)`, which limits it to a few hundred features; more than 5,000 raise an error.
    Starts are planes through the neighbourhoods of rows far from the previous planes. With ``C_others=0``, an empty
    cluster takes over half of the rows of the cluster with the largest sum of squares.

    Scale the features first: a column of small numbers is a flat direction for every cluster. A cluster needs many more
    rows than features; with fewer, a plane fits exactly.

    References
    ----------
    .. [1] Y.-H. Shao, L. Bai, Z. Wang, X.-Y. Hua and N.-Y. Deng, "Proximal plane clustering via eigenvalues", Procedia
       Computer Science 17, 2013.

    Examples
    --------
    >>> import numpy as np
    >>> from thresher.cluster import ProximalPlaneClustering
    >>> rng = np.random.default_rng(0)
    >>> t, noise = rng.uniform(-3, 3, size=200), 0.1 * rng.normal(size=200)
    >>> X = np.column_stack([t, np.where(np.arange(200) < 100, t, 1 - t) + noise])  # y = x, and y = 1 - x
    >>> model = ProximalPlaneClustering(2, random_state=0).fit(X)
    >>> np.round(model.normals_ / model.normals_[:, :1], 1)
    array([[ 1.,  1.],
           [ 1., -1.]])
    >>> np.bincount(model.labels_[:100])  # all but one that lies where the lines cross
    array([ 1, 99])
    """

    _advice = Advice(
        GoodFor(3, "rows along lines or planes", aim="flat"),
        start=lambda p: {"n_init": 3},  # as a search makes many models
    )

    C_others: float = param(
        default=0.01,
        rule=non_negative,
        doc="""Weight of the repulsion by rows of other clusters (:math:`c` in [1]_). For a cluster of *m* of *n* rows,
        the sum above has a minimum only if :math:`c < m / (n - m)`, and a plane that is pushed away loses rows. If *c*
        exceeds half of that, the run starts again with half of *c*, :meth:`fit` issues a warning, and ``C_others_`` has
        the value used. (The published method then takes a stationary point that is not a minimum.) With 0, this is
        plain k-planes clustering.""",
        search=Log(1e-3, 1.0),
    )
    tol: float = param(default=1e-6)
    n_init: int = param(default=10)

    _fitted: ClassVar[tuple[str, ...]] = ("normals_", "offsets_", "C_others_")

    def fit(self, X: Any, y: Any = None) -> Self:
        """Find clusters.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
        y : ignored

        Returns
        -------
        self
        """
        check_params(self, self._param_rules)
        rows = as_floats(_gate.check_matrix(self, X, reset=True))
        self._check_shape(*rows.shape)
        middle = np.zeros(rows.shape[1]) if sparse.issparse(rows) else rows.mean(axis=0)
        centred = rows if sparse.issparse(rows) else rows - middle  # else squares lose digits
        rng = _engine.generator(self.random_state)
        with one_blas_thread():
            best = _best([self._run(centred, rng) for _ in range(self.n_init)])
            normals, offsets = best.steps[-1].planes
            planes = Planes(normals, offsets - normals @ middle)
            distances = planes.distances(rows)
        if not np.isfinite(distances).all():
            raise FloatingPointError(
                "ProximalPlaneClustering: the values of X differ too much in size to find planes; scale the features "
                "to about 1."
            )
        _gate.commit_features(self, X, rows.shape[1])
        self.normals_, self.offsets_ = planes
        self.C_others_ = best.c
        self.labels_ = distances.argmin(axis=1).astype(np.int32)
        self.inertia_ = float(np.sum(distances.min(axis=1) ** 2))
        self.objective_history_ = np.array([step.objective(best.c) for step in best.steps])
        self.n_iter_ = len(best.steps)
        self._look_back()
        return self

    def predict(self, X: Any) -> Labels:
        """Predict the nearest plane of each row."""
        return self._distances(X).argmin(axis=1).astype(np.int32)

    def transform(self, X: Any) -> Array:
        """Return the distance of each row from each plane."""
        return self._distances(X)

    def _distances(self, X: Any) -> Array:
        check_is_fitted(self)
        rows = as_floats(_gate.check_matrix(self, X, reset=False))
        with one_blas_thread():
            return Planes(self.normals_, self.offsets_).distances(rows)

    def score(self, X: Any, y: Any = None) -> float:
        """Return the negative sum of squared distances from the nearest plane; larger is better."""
        return -float(np.sum(self._distances(X).min(axis=1) ** 2))

    def _check_shape(self, n_rows: int, n_features: int) -> None:
        refuse_few("ProximalPlaneClustering", self.n_clusters, n_rows)
        if n_features > _MOST_FEATURES:
            raise ValueError(
                f"ProximalPlaneClustering: X must have at most {_MOST_FEATURES:,} features, because its matrices "
                f"grow with their square, got {n_features:,}."
            )

    def _run(self, rows: Any, rng: np.random.Generator) -> PlaneRun:
        start = spread_planes(rows, self.n_clusters, rng)
        return descend(rows, float(self.C_others), start, self.max_iter, self.tol)

    def _look_back(self) -> None:
        n_used, who = len(np.unique(self.labels_)), "ProximalPlaneClustering"
        if n_used < self.n_clusters:
            message = f"{who}: only {n_used} of {self.n_clusters} clusters have rows; fewer planes fit them as well."
            warn_of_convergence(message, stacklevel=3)
        elif self.C_others_ < self.C_others:
            lowered = f"{who}: C_others was lowered from {self.C_others:g} to {self.C_others_:g}, because "
            warn_of_convergence(lowered + "a cluster lost all its rows.", stacklevel=3)

    @property
    def _n_features_out(self) -> int:
        return len(self.offsets_)

    def _check_loaded(self) -> None:
        """Refuse attributes of a file that do not belong together."""
        _gate.check_loaded_features(self)
        k, d = self.n_clusters, self.n_features_in_
        if type(self.n_iter_) is not int or self.n_iter_ < 1:
            raise ValueError("ProximalPlaneClustering: n_iter_ must be an integer of at least 1.")
        _gate.check_loaded_arrays(self, {"normals_": (k, d), "offsets_": (k,), "objective_history_": (self.n_iter_,)})
        if not (np.abs(np.linalg.norm(np.clip(self.normals_, -2, 2), axis=1) - 1) < 1e-6).all():
            raise ValueError("ProximalPlaneClustering: normals_ must be one direction of length 1 per cluster.")
        largest = _gate.HUGE * np.sqrt(d)  # of a product with rows that passed the gate
        if np.abs(self.offsets_).max() > largest:
            raise ValueError(f"ProximalPlaneClustering: offsets_ must be one number up to {largest:g} per cluster.")
        if type(self.C_others_) is not float or not 0 <= self.C_others_ <= self.C_others:
            raise ValueError("ProximalPlaneClustering: C_others_ must be a number from 0 to C_others.")
        if type(self.inertia_) is not float or not 0 <= self.inertia_ < np.inf:
            raise ValueError("ProximalPlaneClustering: inertia_ must be a number of at least 0.")


def _best(runs: list[PlaneRun]) -> PlaneRun:
    """The run with the least objective, at a push of other rows that all of them could bear."""
    least = min(run.c for run in runs)
    return min(runs, key=lambda run: run.steps[-1].objective(least))
