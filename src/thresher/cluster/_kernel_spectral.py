"""Kernel spectral clustering: clusters of any shape, and the cluster of rows that come later."""

from __future__ import annotations

from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from .. import _gate
from .._engine import one_blas_thread
from .._estimators import (
    Advice,
    ComparesNeighbors,
    FixedSizeMachine,
    GoodFor,
    check_is_fitted,
    param,
    warn_of_convergence,
)
from .._gate import beside, check_params, namespace, on_host, one_of, positive, take
from .._kernels import Array, Components, Gram, Kernel, Neighbors, is_array, of_features, of_kernel, squares, times
from ..metrics import balanced_line_fit
from ._centres import Clusters
from ._directions import directions, unit
from ._sums import refuse_few

Codes = NDArray[Any]


def signs(scores: Array) -> Codes:
    """+1 for a score above 0, else -1."""
    return np.where(scores > 0, 1, -1).astype(np.int8)


def most_frequent(codes: Codes, weight: Array, n_clusters: int) -> Codes:
    """The codes of most rows, by weight, first; of equal ones the one that sorts first. There may be fewer."""
    distinct, which = np.unique(codes, axis=0, return_inverse=True)
    counts = np.bincount(which.ravel(), weights=weight, minlength=len(distinct))
    return distinct[np.argsort(-counts, kind="stable")[:n_clusters]]


def nearest(scores: Array, norms: Array, codebook: Codes, decoding: str) -> NDArray[np.int64]:
    """The place in the codebook of the code that differs from a row's in the fewest signs; of several the one for which
    it must cross the nearest planes. With ``decoding="margin"`` the planes alone decide.

    A score over the norm of its weights is the distance of a row's image from the plane where that score is 0.
    """
    own, distances = signs(scores), np.abs(scores) / norms
    to_cross = np.stack([np.where(own != code, distances, 0.0).sum(axis=1) for code in codebook], axis=1)
    if decoding == "hamming":
        n_signs = np.stack([(own != code).sum(axis=1) for code in codebook], axis=1)
        to_cross = np.where(n_signs == n_signs.min(axis=1, keepdims=True), to_cross, np.inf)
    return np.asarray(to_cross.argmin(axis=1), dtype=np.int64)


_FEW_ROWS = 1000  # up to which all eigenvectors at once take less time than products


class _SpectralSolution(NamedTuple):
    components: Components
    places: NDArray[np.intp]  # of the rows that are kept
    coef: Array
    degree_coef: Array
    kernel: Kernel | None


class KernelSpectralClustering(Clusters, ComparesNeighbors, FixedSizeMachine):
    r"""Kernel spectral clustering (KSC): clusters of any shape, and predictions for new rows.

    Spectral clustering as weighted kernel PCA, in which the weight of a row is the inverse of its degree
    :math:`d_i = \sum_j k(x_i, x_j)`: for each of :math:`k - 1` scores :math:`e_i = \langle w, \varphi(x_i)\rangle + b`,

    .. math:: \max_{w, b} \; \frac{\gamma}{2} \sum_i \frac{e_i^2}{d_i} - \frac12 \|w\|^2 ,

    which is an eigenvalue problem. Well-separated clusters have scores in different orthants, so the signs of the
    scores encode the clusters, and new rows have scores, too. Choose it for curved clusters (rings, moons) that K-means
    would split, if you need to assign new rows, or if you want to choose the number of clusters on held-out rows
    (:meth:`score`). The result depends strongly on the width of the kernel: tune ``gamma`` together with
    ``n_clusters``. For round clusters, or rows with thousands of features, :class:`SparseKMeans` is faster and shows
    which features matter.

    Attributes
    ----------
    labels_ : ndarray of shape (n_samples,)
        The cluster of each row, as returned by :meth:`predict`; 0 is the one with the most frequent code. Not saved in
        model files.
    codebook_ : ndarray of shape (n_codes, n_clusters - 1)
        The directions of clusters, largest cluster first; with signs as codes, the ``n_clusters`` most frequent sign
        patterns of the training rows, +1 or -1, most frequent first and of equal ones by their values. There may be
        fewer; :meth:`fit` then issues a warning.
    eigenvalues_ : ndarray of shape (n_clusters - 1,)
        Eigenvalues (:math:`\lambda`), largest first. They are close to 1 for well-separated clusters.
    support_ : ndarray
        Indices of the stored rows: all with a weight above 0, or the landmarks.
    support_vectors_ : ndarray or csr_array of shape (n_support, n_features)
        These rows.
    dual_coef_ : ndarray of shape (n_clusters - 1, n_support)
        Their coefficients (:math:`\alpha`), in the direction in which the largest score is positive.
    intercept_ : ndarray of shape (n_clusters - 1,)
        Constant terms (:math:`b`).

    Notes
    -----
    With :math:`D = \mathrm{diag}(d)` and :math:`M_D = I - 1 1^\top D^{-1} / 1^\top D^{-1} 1`, coefficients are the
    leading eigenvectors of :math:`D^{-1} M_D K`, found as :math:`\alpha = B u` from the symmetric :math:`B^\top K B`
    with :math:`D^{-1} M_D = B B^\top`, and :math:`b = - 1^\top D^{-1} K \alpha / 1^\top D^{-1} 1`. If eigenvalues
    repeat, as for clusters without any similarity, the eigenvectors are determined only up to a rotation. This does no
    harm: the score vectors of any two such clusters have a negative product, whatever the rotation, and therefore
    different signs somewhere. However, a cluster whose score is about 0 in some direction is split over two codes, and
    if it is large, these may displace the code of a small cluster. Check :meth:`score` in this case.

    In the fixed-size form the degree of a row counts its similarity with itself exactly, so that a row far from all
    landmarks does not get an excessive weight. A row weight counts as that many equal rows. Any kernel with positive
    degrees works; others raise an error.

    References
    ----------
    .. [1] C. Alzate and J. Suykens, "Multiway spectral clustering with out-of-sample extensions through weighted kernel
       PCA", IEEE Transactions on Pattern Analysis and Machine Intelligence 32, 2010.
    .. [2] V. Jumutc, "Flexible software design for stochastic and kernel-based learning in advanced data-driven
       modelling", KU Leuven, 2016, Section 2.2.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.datasets import make_circles
    >>> from thresher.cluster import KernelSpectralClustering
    >>> X, ring = make_circles(400, factor=0.4, noise=0.04, random_state=0)
    >>> model = KernelSpectralClustering(n_clusters=2, gamma=20.0).fit(X[:300])
    >>> found = model.predict(X[300:])                                     # rows that were not there
    >>> bool(np.all(found == ring[300:]) or np.all(found != ring[300:]))
    True

    The number of clusters, by rows held out:

    >>> def fit(k):
    ...     return KernelSpectralClustering(k, gamma=20.0).fit(X[:300]).score(X[300:])
    >>> max(range(2, 7), key=fit)
    2

    100 landmarks instead of all rows:

    >>> small = KernelSpectralClustering(2, gamma=20.0, n_components=100, random_state=0).fit(X)
    >>> len(small.support_), np.bincount(small.labels_).tolist()
    (100, [200, 200])
    """

    _advice = Advice(GoodFor(2, "of any shape: rings, moons, chains", aim="curved"))

    n_clusters: int = param(
        default=2,
        doc="Number of clusters (:math:`k`). With 1, there are no scores.",
        kw_only=False,
    )
    kernel: Any = param(default="auto", kw_only=False)
    decoding: str = param(
        default="auto",
        rule=one_of("auto", "hamming", "margin", "angle"),
        doc="""How scores are decoded into clusters. ``"hamming"``, as published: by the code of their signs; if it is
        not in the codebook, by the code that differs in the fewest signs, and among several by the one whose planes
        (where a score is 0) are nearest. ``"margin"``: such rows by the nearest planes only. ``"angle"``: by the
        nearest of ``n_clusters`` directions, which K-means finds among the scores of the training rows scaled to length
        1; best with many clusters. ``"auto"`` is ``"angle"`` with the kernel of shared neighbours, else
        ``"hamming"``.""",
    )
    eigen_solver: str = param(
        default="auto",
        rule=one_of("auto", "dense", "lanczos"),
        doc="""``"dense"`` needs the whole kernel matrix and :math:`O(n^3)`; ``"lanczos"`` (in blocks) only products
        with it, :math:`O(n^2)` each, and a matrix larger than ``cache_size`` is computed again for each of them.
        ``"auto"`` uses ``"lanczos"`` from 1000 rows on. The fixed-size form needs neither.""",
    )
    tol: float = param(
        default=1e-10,
        rule=positive,
        doc=r"""Precision of ``"lanczos"``: the length of :math:`B^\top K B u - \lambda u` relative to the first
        eigenvalue.""",
    )

    _fitted: ClassVar[tuple[str, ...]] = ("eigenvalues_", "codebook_", "_degree_coef")
    _takes_arrays: ClassVar[bool] = True

    # --- learning ---------------------------------------------------------------------------------------------------

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Find clusters.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
            With ``kernel="precomputed"``, the kernel of every row with every row.
        y : ignored
        sample_weight : array-like of shape (n_samples,), optional
            Nonnegative weights, which count as that many equal rows. Rows of weight 0 are ignored, but get a label.

        Returns
        -------
        self
        """
        check_params(self, self._param_rules)
        rows = self._take(X)
        who, n_rows = type(self).__name__, rows.shape[0]
        weight, there = self._rows_there(_gate.check_weights(sample_weight, n_rows, who), n_rows)
        refuse_few(who, self.n_clusters, len(there), "rows" if len(there) == n_rows else "rows of weight above 0")
        with one_blas_thread(), np.errstate(over="ignore", invalid="ignore"):
            found = self._solve(self._some(rows, there), weight[there])
        self._keep(X, rows, there[found.places], np.vstack([found.coef, found.degree_coef]), found.kernel)
        self.dual_coef_, self._degree_coef = self.dual_coef_[:-1, :], self.dual_coef_[-1, :]
        self.eigenvalues_ = beside(found.components.values, rows)
        self.intercept_ = beside(found.components.intercept, rows)
        scores = self.decision_function(X)
        some = scores if len(there) == n_rows else take(scores, there)
        if self._reads_angles:
            codebook = directions(unit(some), weight[there], self.n_clusters)
        else:
            codebook = most_frequent(signs(on_host(some)), weight[there], self.n_clusters)
        self.codebook_ = beside(codebook, rows)
        self.labels_ = self._nearest(scores)
        self._look_back(found.components.has_settled)
        return self

    def _solve(self, rows: Any, weight: Array) -> _SpectralSolution:
        """Components of the rows that count, and coefficients that give scores and degrees."""
        n_scores, fixed = self.n_clusters - 1, self._fixed_size(rows)
        if fixed is None:
            K = self._whole_gram(rows) if self.eigen_solver == "dense" else self._gram(rows)
            by_lanczos = self.eigen_solver == "lanczos" or len(weight) > _FEW_ROWS or isinstance(K, Gram)
            degrees = self._positive(times(K, weight[:, None])[:, 0])
            found = of_kernel(K, weight / degrees, n_scores, by_lanczos and self.eigen_solver != "dense", self.tol)
            self._refuse_flat(found)
            return _SpectralSolution(found, np.arange(len(weight)), found.coef, weight, None)
        F = fixed.features
        total = beside(weight, F) @ F
        missing = np.maximum(fixed.own(rows) - on_host(squares(F)), 0.0)  # of a row's similarity with itself
        found = of_features(F, weight / self._positive(on_host(F @ total) + weight * missing), n_scores)
        self._refuse_flat(found)
        total = on_host(total)
        return _SpectralSolution(found, fixed.places, fixed.coef(found.coef), fixed.coef(total[None])[0], fixed.kernel)

    def _positive(self, degrees: Array) -> Array:
        if not (degrees > 0).all() or not np.isfinite(degrees).all():
            lowest = degrees.min() if np.isfinite(degrees).all() else degrees[~np.isfinite(degrees)][0]
            raise ValueError(
                f"{type(self).__name__}: degrees (sums of the kernel of a row with all rows) must be finite and above "
                f'0, got {lowest:.3g}; use kernel="rbf".'
            )
        return degrees

    def _refuse_flat(self, found: Components) -> None:
        if len(found.values) < self.n_clusters - 1:
            raise ValueError(
                f"{type(self).__name__}: n_clusters must be at most {len(found.values) + 1} for this kernel, which "
                f"spreads these rows in {len(found.values)} directions, got {self.n_clusters}."
            )

    def _look_back(self, has_settled: bool) -> None:
        who = type(self).__name__
        if not has_settled:
            message = f"{who}: eigenvectors are not exact to tol={self.tol!r}; use a larger tol, another gamma or "
            warn_of_convergence(message + 'eigen_solver="dense".', stacklevel=3)
        if (n_found := self.codebook_.shape[0]) < self.n_clusters:
            message = f"{who}: only {n_found} of {self.n_clusters} clusters have rows; use fewer clusters"
            warn_of_convergence(message + " or another gamma.", stacklevel=3)

    # --- reading ----------------------------------------------------------------------------------------------------

    def transform(self, X: Any) -> Array:
        """Return the score variables (:math:`e`) of each row, an array of shape (n_samples, n_clusters - 1)."""
        return self.decision_function(X)

    def decision_function(self, X: Any) -> Array:
        """Return the score variables of each row, as :meth:`transform` does."""
        check_is_fitted(self)
        with one_blas_thread():
            scores = self._kernel_scores(X)
            return scores + beside(self.intercept_, scores)

    def predict(self, X: Any) -> NDArray[np.int64]:
        """Predict the cluster of each row from its scores; see ``decoding``."""
        return self._nearest(self.decision_function(X))

    def score(self, X: Any, y: Any = None) -> float:
        """Return :meth:`line_fit` of rows. Use held-out rows to choose ``n_clusters`` and ``gamma``."""
        return self.line_fit(X)

    def line_fit(self, X: Any, *, balance_weight: float = 0.1, through: str = "origin") -> float:
        """Measure how well clusters are separated, by :func:`~thresher.metrics.balanced_line_fit`.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
        balance_weight : float, default=0.1
            Weight of the balance of cluster sizes.
        through : {"origin", "mean"}, default="origin"
            The point that the lines pass through; ``"mean"`` as published.

        Returns
        -------
        float
            Between 0 and 1, larger is better; 0 for a single cluster.
        """
        scores, degrees = self.decision_function(X), None
        if self.n_clusters == 1:
            return 0.0
        if self.n_clusters == 2:
            degrees = on_host(self._kernel_scores(X, self._degree_coef[None, :]))[:, 0]
        labels, scores = on_host(self._nearest(scores)), on_host(scores)
        return balanced_line_fit(scores, labels, degrees=degrees, balance_weight=balance_weight, through=through)

    @property
    def _reads_angles(self) -> bool:
        return self.decoding == "angle" or (self.decoding == "auto" and isinstance(self.kernel_, Neighbors))

    def _nearest(self, scores: Array) -> NDArray[np.int64]:
        if self._reads_angles:
            xp = namespace(scores)
            return xp.astype(xp.argmax(unit(scores) @ beside(self.codebook_, scores).T, axis=1), xp.int64)
        norms, codes = np.sqrt(on_host(self.eigenvalues_)), on_host(self.codebook_)
        return beside(nearest(on_host(scores), norms, codes, self.decoding), scores)

    @property
    def _n_features_out(self) -> int:
        return int(self.intercept_.shape[0])

    # --- files ------------------------------------------------------------------------------------------------------

    def _check_loaded(self) -> None:
        super()._check_loaded()
        who, n_scores, n_kept = type(self).__name__, self.n_clusters - 1, len(self.support_)
        _gate.check_loaded_arrays(self, dict.fromkeys(("intercept_", "eigenvalues_"), (n_scores,)))
        _gate.check_loaded_arrays(self, {"dual_coef_": (n_scores, n_kept), "_degree_coef": (n_kept,)})
        if (self.eigenvalues_ <= 0).any() or (np.diff(self.eigenvalues_) > 0).any():
            raise ValueError(f"{who}: eigenvalues_ must be above 0, largest first.")
        codes = self.codebook_
        if self._reads_angles:
            if not is_array(codes, "f", 2) or codes.shape[1] != n_scores or not 1 <= len(codes) <= self.n_clusters:
                raise ValueError(
                    f"{who}: codebook_ must be directions of {n_scores} scores, {self.n_clusters} at most."
                )
            return
        if not is_array(codes, "i", 2) or codes.shape[1] != n_scores or not 1 <= len(codes) <= self.n_clusters:
            raise ValueError(f"{who}: codebook_ must be codes of {n_scores} signs, {self.n_clusters} at most.")
        if (np.abs(codes) != 1).any() or len(np.unique(codes, axis=0)) < len(codes):
            raise ValueError(f"{who}: codebook_ must hold +1 and -1, and no code twice.")
