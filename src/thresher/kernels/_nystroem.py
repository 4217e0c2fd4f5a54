"""The fixed-size map: a kernel as a handful of features, from a handful of rows."""

from __future__ import annotations

from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from .. import _engine, _gate
from .._engine import in_turn, one_blas_thread
from .._estimators import Advice, ChoosesKernel, Estimator, GoodFor, NumbersFeatures, check_is_fitted, param
from .._gate import Log, Range, at_least, beside, check_params, none, on_host, one_of, seed, sparse, take
from .._kernels import (
    CANDIDATES,
    Array,
    Kernel,
    are_places,
    are_rows,
    as_arrays,
    as_floats,
    as_rows,
    by_entropy,
    count_landmarks,
    first,
    how_many,
    inverse_root,
    is_array,
    is_sample,
    mapped,
    squared_distances,
    stacked,
)

_EXPECTED_ROWS = 10_000  # in a stream, whose length is unknown
_CANDIDATES = {"entropy": CANDIDATES, "random": 1, "kmeans": 10}  # for every landmark


class FixedSizeNystroem(NumbersFeatures, ChoosesKernel, Estimator):
    r"""Kernel features for linear learners, by the Nystroem method with a few landmark rows.

    With landmarks :math:`S`, their kernel matrix :math:`K_{SS} = U \Lambda U^\top` and the kernel :math:`k(S, x)` of a
    row with each of them,

    .. math:: \varphi(x) = \Lambda^{-1/2}\, U^\top k(S, x),

    so that :math:`\varphi(x)^\top \varphi(z)` approximates :math:`k(x, z)`, exactly on the landmarks. You choose the
    number of features, so memory does not grow with the number of rows. Put it before any linear learner if linear
    boundaries are not enough.

    Attributes
    ----------
    components_ : ndarray or csr_array of shape (n_landmarks, n_features)
        The landmarks.
    component_indices_ : ndarray of shape (n_landmarks,)
        Indices of the landmarks among all rows, counted over all batches.
    normalization_ : ndarray of shape (n_landmarks, n_features_out)
        :math:`U \Lambda^{-1/2}`. Directions whose eigenvalue is below :math:`10^{-12}` of the largest are left out.
    kernel_ : kernel
        The kernel as an object, with numbers for all parameters that depend on the rows.
    gamma_ : float or None
        The number used for ``gamma``; None for a kernel that has none.
    n_rows_seen_ : int
        Number of rows that the candidates were drawn from.

    Notes
    -----
    With :math:`c` candidates, fitting costs :math:`O(c m d + m^3)`, mapping a row :math:`O(m d + m^2)`. The number of
    candidates is small on purpose: fully maximizing the entropy would select outliers. Scale the features first,
    because all kernels depend on their scale.

    For rows that do not fit in memory, call :meth:`partial_fit` on batches, which draws one random number per row. The
    candidates are then a uniform sample of all rows so far, whatever the order and the size of the batches, and the
    landmarks are those that :meth:`fit` would choose with the same numbers for ``gamma`` and ``n_components``, to the
    bit. If landmarks change, so do the features, and a learner trained on the old ones becomes invalid.
    :class:`~thresher.preprocessing.StreamingPipeline` prevents this: it uses a fitted map as it is, and fits an
    unfitted one on the first batch. So either read the data twice, once for the map and once for the learner, or make
    the first batch large.

    References
    ----------
    .. [1] V. Jumutc, "Flexible software design for stochastic and kernel-based learning in advanced data-driven
       modelling", KU Leuven, 2016.
    .. [2] K. De Brabanter, J. De Brabanter, J. Suykens and B. De Moor, "Optimized fixed-size kernel models for large
       data sets", Computational Statistics and Data Analysis 54, 2010.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.pipeline import make_pipeline
    >>> from thresher.kernels import FixedSizeNystroem
    >>> from thresher.online import AROWClassifier
    >>> X = np.random.default_rng(0).normal(size=(1000, 2))
    >>> y = (X**2).sum(axis=1) > 1.4                                   # a ring around a disc
    >>> AROWClassifier(random_state=0).fit(X, y).score(X, y) < 0.7
    True
    >>> model = make_pipeline(FixedSizeNystroem(random_state=0), AROWClassifier(max_iter=5, random_state=0))
    >>> model.fit(X, y).score(X, y) > 0.95
    True

    Two passes over a stream, of which one batch is in memory at a time:

    >>> from thresher.preprocessing import StreamingPipeline
    >>> landmarks = FixedSizeNystroem(n_components=40, random_state=0)
    >>> for start in range(0, 1000, 100):
    ...     landmarks = landmarks.partial_fit(X[start : start + 100])
    >>> model = StreamingPipeline([("map", landmarks), ("learn", AROWClassifier())])
    >>> for start in range(0, 1000, 100):
    ...     some = slice(start, start + 100)
    ...     model = model.partial_fit(X[some], y[some], classes=[False, True])
    >>> model.score(X, y) > 0.9
    True
    """

    _advice = Advice(
        GoodFor(1, when=lambda p: p.task == "classification", aim="curved", settings=" + a linear learner")
    )

    kernel: Any = param(
        default="rbf",
        doc="""By name, see :class:`RBF`, :class:`Polynomial`, :class:`Linear` and :class:`Cosine`; or any kernel of
        this module as an object, which then has its own parameters.""",
        kw_only=False,
    )
    gamma: Any = param(
        default="scale",
        doc=r"""Width of the kernel (:math:`1/(2\sigma^2)` in [1]_). ``"scale"`` is ``1 / (n_features * X.var())``; in
        :meth:`partial_fit`, of the rows that are kept.""",
    )
    n_components: Any = param(
        default="sqrt",
        rule=how_many,
        doc="""Landmarks (:math:`m`): their number as an integer, or a float that multiplies the square root of the
        number of rows, rounded up; ``"sqrt"`` is 1.0. It is at most the number of rows. [1]_ uses ``"sqrt"``, and 0.2
        from 10,000 rows on; SALSA uses ``sqrt(1/2)``, which is 0.7071. :meth:`partial_fit` does not know the total
        number of rows and assumes 10,000, so ``"sqrt"`` is 100 there.""",
    )
    selection: str = param(
        default="entropy",
        rule=one_of(*_CANDIDATES),
        doc=r"""How to choose landmarks among the candidates, which are rows drawn at random. ``"random"`` takes the
        first ones. ``"entropy"`` then proposes the others one by one, each in place of a random landmark, and accepts
        those that increase the quadratic Renyi entropy :math:`-\log(m^{-2} \sum_{ij \in S} K_{ij})`, which favours
        landmarks that differ. ``"kmeans"`` clusters the candidates and takes the row nearest to each centre, which
        usually approximates the kernel best.""",
    )
    n_candidates: int | None = param(
        default=None,
        rule=(none | at_least(1))._replace(type="int"),
        doc="""Number of rows to choose from; by default twice the landmarks for ``"entropy"``, ten times for
        ``"kmeans"``.""",
    )
    random_state: Any = param(default=None, rule=seed, doc="Seed of the candidates and proposals.")

    _fitted: ClassVar[tuple[str, ...]] = (
        *("n_features_in_", "feature_names_in_", "n_rows_seen_", "_limits", "_seed"),
        *("_indices", "_candidates", "_settled_kernel", "_chosen", "_root"),
    )
    _takes_arrays: ClassVar[bool] = True
    _stays: ClassVar[bool] = True  # what it learned must not change under a learner: see StreamingPipeline

    # --- learning ---------------------------------------------------------------------------------------------------

    def fit(self, X: Any, y: Any = None) -> Self:
        """Choose landmarks among the rows.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
        y : ignored

        Returns
        -------
        self
        """
        check_params(self, self._param_rules)
        rows = _gate.check_matrix(self, X, reset=True)
        limits, drawn_from = self._sizes(rows.shape[0]), self._new_seed()
        sample = first(drawn_from, np.arange(rows.shape[0]), limits[1])
        candidates = as_arrays(take(rows, sample), limits[1])
        kernel = self._kernel_for(rows, _gate.frame_names(X))
        chosen, root = self._choose(kernel, as_rows(candidates, (len(sample), rows.shape[1])), limits[0], drawn_from)
        _gate.commit_features(self, X, rows.shape[1])
        self.n_rows_seen_, self._limits, self._seed = rows.shape[0], limits, drawn_from
        self._indices, self._candidates = sample, candidates
        self._settled_kernel, self._chosen, self._root = kernel, chosen, root
        return self

    @in_turn
    def partial_fit(self, X: Any, y: Any = None) -> Self:
        """Draw candidates from more rows. Landmarks are chosen among them when they are needed."""
        check_params(self, self._param_rules)
        begins = not hasattr(self, "_candidates")
        rows = _gate.check_matrix(self, X, reset=begins)
        if begins:
            _gate.commit_features(self, X, rows.shape[1])
            self.n_rows_seen_, self._limits, self._seed = 0, self._sizes(_EXPECTED_ROWS), self._new_seed()
            self._indices, self._candidates = np.empty(0, dtype=np.int64), as_arrays(rows[:0, :], self._limits[1])
        self._draw(rows)
        return self

    def _draw(self, rows: Any) -> None:
        """Candidates of the rows so far: those with the smallest keys."""
        n_rows = rows.shape[0]
        indices = np.concatenate([self._indices, np.arange(self.n_rows_seen_, self.n_rows_seen_ + n_rows)])
        self.n_rows_seen_ += n_rows
        n_before, kept = len(self._indices), first(self._seed, indices, self._limits[1])
        taken = np.sort(kept[kept >= n_before])
        if not len(taken):
            return
        places = np.concatenate([np.arange(n_before), taken])  # of the rows that are candidates, or were
        both = stacked(self._candidate_rows(), as_floats(take(rows, taken - n_before)))
        self._candidates = as_arrays(take(both, np.searchsorted(places, kept)), self._limits[1])
        self._indices = indices[kept]
        for name in ("_settled_kernel", "_chosen", "_root"):  # of other candidates
            self.__dict__.pop(name, None)

    def _settle(self) -> None:
        """Choose landmarks among the candidates, unless that is done."""
        if "_root" in self.__dict__:
            return
        rows = self._candidate_rows()
        kernel = self._kernel_for(rows, getattr(self, "feature_names_in_", None))
        self._chosen, self._root = self._choose(kernel, rows, self._limits[0], self._seed)
        self._settled_kernel = kernel

    def _choose(self, kernel: Kernel, rows: Any, m: int, drawn_from: int) -> tuple[NDArray[np.int64], Array]:
        """Places of the landmarks among the candidates, and the root of their kernel matrix."""
        m, few = min(m, rows.shape[0]), on_host(rows)
        with one_blas_thread():  # the same bits, whatever the number of threads
            chosen = middle_rows(few, m) if self.selection == "kmeans" else by_entropy(kernel, few, m, drawn_from)
            return chosen.astype(np.int64), beside(inverse_root(kernel(few[chosen]), "FixedSizeNystroem"), rows)

    def _sizes(self, n_rows: int) -> list[int]:
        """Landmarks and candidates at most."""
        m = count_landmarks(self.n_components, n_rows)
        if self.selection == "random":
            return [m, m]
        return [m, max(m, self.n_candidates or _CANDIDATES[self.selection] * m)]

    def _new_seed(self) -> int:
        return int(_engine.generator(self.random_state).integers(2**63))

    def _candidate_rows(self) -> Any:
        return as_rows(self._candidates, (len(self._indices), self.n_features_in_))

    # --- mapping ----------------------------------------------------------------------------------------------------

    def transform(self, X: Any) -> Array:
        """Return the features of each row, an array of shape (n_samples, n_features_out)."""
        check_is_fitted(self)
        rows = _gate.check_matrix(self, X, reset=False)
        kernel, landmarks, root = self.kernel_, self.components_, self.normalization_
        return mapped(kernel, rows, landmarks, root, "FixedSizeNystroem")

    @property
    def components_(self) -> Any:
        """The landmarks."""
        return take(self._settled()._candidate_rows(), self._chosen)

    @property
    def component_indices_(self) -> NDArray[np.int64]:
        """Indices of the landmarks among the rows of the data."""
        return self._settled()._indices[self._chosen]

    @property
    def normalization_(self) -> Array:
        return self._settled()._root

    @property
    def kernel_(self) -> Kernel:
        """The kernel, with numbers for all parameters that depend on the rows."""
        return self._settled()._settled_kernel

    @property
    def gamma_(self) -> float | None:
        """The number used for ``gamma``."""
        return getattr(self.kernel_, "gamma", None)

    def _settled(self) -> Self:
        check_is_fitted(self)
        self._settle()
        return self

    @property
    def _search_space(self) -> dict[str, Range]:  # type: ignore[override]
        has_width = isinstance(self.kernel, str) and self.kernel in ("rbf", "polynomial")
        return {"gamma": Log(1e-4, 10.0)} if has_width else {}

    @property
    def _n_features_out(self) -> int:
        return int(self.normalization_.shape[1])

    # --- files ------------------------------------------------------------------------------------------------------

    def _check_loaded(self) -> None:
        """Refuse attributes of a file that do not belong together."""
        _gate.check_loaded_features(self)
        for name in ("n_rows_seen_", "_seed"):
            if type(getattr(self, name)) is not int or not 0 <= getattr(self, name) < 2**63:
                raise ValueError(f"FixedSizeNystroem: {name} must be an integer of at least 0.")
        limits = self._limits
        if not isinstance(limits, list) or len(limits) != 2 or not all(map(at_least(1).holds, limits)):
            raise ValueError("FixedSizeNystroem: _limits must be two integers of at least 1.")
        n_candidates, parts = min(limits[1], self.n_rows_seen_), self._candidates
        if not is_array(self._indices, "i", 1) or not is_sample(
            self._seed, self._indices, n_candidates, self.n_rows_seen_
        ):
            raise ValueError("FixedSizeNystroem: _indices must be rows that were seen, in the order of their draw.")
        if not isinstance(parts, dict) or not are_rows(parts, (n_candidates, self.n_features_in_)):
            raise ValueError("FixedSizeNystroem: the candidates must be finite rows, one per index.")
        self._check_landmarks(n_candidates, min(limits[0], n_candidates))

    def _check_landmarks(self, n_candidates: int, m: int) -> None:
        chosen, root = self._chosen, self._root
        if not is_array(chosen, "i", 1) or len(chosen) != m or not are_places(chosen, n_candidates):
            raise ValueError("FixedSizeNystroem: _chosen must name candidates, one per landmark, none of them twice.")
        if not is_array(root, "f", 2) or not len(root) == m >= root.shape[1] >= 1:
            raise ValueError("FixedSizeNystroem: normalization_ must be finite, with one row per landmark.")
        if not isinstance(self._settled_kernel, Kernel):
            raise ValueError("FixedSizeNystroem: kernel_ must be a kernel.")
        self._settled_kernel._check_settled(self.n_features_in_)


_MOST_ROUNDS = 20


def middle_rows(rows: Any, n_clusters: int) -> NDArray[np.intp]:
    """For each of ``n_clusters``, begun at the first rows, the row nearest to its mean (Lloyd's algorithm). A cluster
    that lost its rows is stood for by the first row that stands for none."""
    rows = as_floats(rows)
    labels = np.full(rows.shape[0], -1)
    centres = rows[:n_clusters]
    for _ in range(_MOST_ROUNDS):
        distances = squared_distances(rows, centres)
        nearest = distances.argmin(axis=1)
        if np.array_equal(nearest, labels):
            break
        labels = nearest
        centres = _means(rows, labels, centres)
    inside = np.where(labels[:, None] == np.arange(n_clusters), squared_distances(rows, centres), np.inf)
    found = np.where(np.isfinite(inside).any(axis=0), inside.argmin(axis=0), -1)
    spare = np.setdiff1d(np.arange(rows.shape[0]), found)
    found[found < 0] = spare[: np.count_nonzero(found < 0)]
    return found


def _means(rows: Any, labels: NDArray[np.intp], before: Any) -> Any:
    """The mean of each cluster; one without rows stays where it was."""
    n_clusters = before.shape[0]
    counts = np.bincount(labels, minlength=n_clusters)
    weights = 1.0 / np.maximum(counts, 1)
    member = sparse.csr_array((weights[labels], (labels, np.arange(len(labels)))), shape=(n_clusters, len(labels)))
    stay = sparse.diags_array((counts == 0).astype(np.float64))
    means = member @ rows + stay @ before
    return sparse.csr_array(means) if sparse.issparse(means) else means
