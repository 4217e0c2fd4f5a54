"""K-means with an l1 penalty on the centres."""

from __future__ import annotations

from typing import Any, ClassVar, NamedTuple, Self

import numpy as np

from .. import _engine, _gate
from .._engine import in_turn, one_blas_thread
from .._estimators import Advice, GoodFor, check_is_fitted, param
from .._gate import Rule, at_least, beside, check_params, is_foreign_array, on_host, one_of, positive
from .._kernels import Array
from ._centres import SparseCentres
from ._kmeans_loaded import check_loaded
from ._kmeans_rounds import StepsInRounds
from ._lloyd import Draws, KMeansStep, given_centres, start_rows, steps
from ._sums import ClusterSums, check_sums, merge_into, warn_of_empty
from ._sweep import Data

_starts = Rule(
    "'k-means++', 'random' or an array of centres",
    lambda v: isinstance(v, (np.ndarray, list)) or (isinstance(v, str) and v in ("k-means++", "random")),
    type='{"k-means++", "random"} or array of shape (n_clusters, n_features)',
)


class _KMeansRun(NamedTuple):
    step: KMeansStep
    history: list[float]


class SparseKMeans(StepsInRounds, SparseCentres):
    r"""K-means with an l1 penalty, for clusters described by few features.

    Minimises, over centres :math:`w_1 \dots w_k` and clusters :math:`c(i)`,

    .. math:: \sum_i \tfrac12 \|x_i - w_{c(i)}\|^2 + \alpha\, \|w_{c(i)}\|_1.

    The best centre of a cluster is its mean, with each value soft-thresholded by ``alpha``; assigning rows to clusters
    takes the penalty into account as well. Both steps are exact and lower the same objective, so it never increases.
    With ``alpha=0`` this is plain K-means. Choose it for wide or sparse rows if each cluster should be described by a
    few features, such as words. Scale the features first.

    Attributes
    ----------
    cluster_centers_ : ndarray of shape (n_clusters, n_features)
        Centres.
    inertia_ : float
        Twice the objective, as is usual for squared distances: the sum of :math:`\|x - w\|^2 + 2\alpha\|w\|_1`, or of
        :math:`1 - x^\top w + \alpha\|w\|_1` for the cosine metric. After :meth:`partial_fit`, each row counts with its
        cost before the model learned from it.
    objective_history_ : ndarray of shape (n_iter,)
        The same after each step. It never increases. Empty after :meth:`partial_fit`.
    cluster_weights_ : ndarray of shape (n_clusters,)
        The total weight of the rows of each centre; their number if they have no weights.
    n_iter_ : int
        Number of steps; after :meth:`partial_fit`, number of batches.
    n_samples_seen_ : int
        Number of rows learned from.
    support_ : ndarray
        Indices of the features that any centre uses.

    Notes
    -----
    A step reads the rows once and costs :math:`O(k)` times the stored values, of sparse rows only those of features
    that a centre uses, plus :math:`O(k)` times the number of features. Starts are drawn by greedy k-means++. An empty
    cluster takes the row that gains most from a centre of its own; if none gains, it stays empty and :meth:`fit` issues
    a warning.

    A step needs only sums over rows (:class:`ClusterSums`), so the rows may be stored anywhere: see
    :meth:`cluster_sums`, with which steps on a file are those of :meth:`fit`. So are rounds on several machines
    (:mod:`thresher.distributed`), where ``max_iter`` and ``tol`` mean the same, but there is one run whatever
    ``n_init`` says, its starts are drawn from a sample of some thousand rows, and without ``labels_``.

    References
    ----------
    .. [1] V. Jumutc, "Flexible software design for stochastic and kernel-based learning in advanced data-driven
       modelling", KU Leuven, 2016.

    Examples
    --------
    >>> import numpy as np
    >>> from thresher.cluster import SparseKMeans
    >>> rng = np.random.default_rng(0)
    >>> X = 0.5 * rng.normal(size=(300, 50))
    >>> X[:150, 7] += 3                                                # one feature of fifty tells the halves apart
    >>> model = SparseKMeans(n_clusters=2, alpha=0.2, random_state=0).fit(X)
    >>> model.support_
    array([7])
    >>> np.bincount(model.labels_)
    array([150, 150])
    """

    _advice = Advice(
        GoodFor(1, "it finds clusters that differ in few features"),
        GoodFor(1, "compact clusters that differ in few columns", aim="round"),
        start=lambda p: {"n_init": 3},  # one start may be bad luck, and ten take long in a search
    )

    n_clusters: int = param(default=8, kw_only=False)
    solver: str = param(
        default="exact",
        rule=one_of("exact", "rda"),
        doc=r"""``"rda"`` finds centres by Algorithm 12 of [1]_: adaptive dual averaging over ``n_steps`` rows drawn
        from each cluster. If values are about 1, it comes close to what ``"exact"`` computes in one read (no centre
        gets much farther from 0 than :math:`\eta \sqrt T`), and is provided for comparison: the deviation from it falls
        as slowly as :math:`\sqrt{\eta s / 2}\; T^{-1/4}`, for rows of deviation :math:`s`. With the cosine metric it is
        the hinge form: the direction of the minimum of :math:`\text{mean}\, [1 - x^\top w]_+ + \alpha \|w\|_1`.""",
    )
    init: Any = param(
        default="k-means++",
        rule=_starts,
        doc="Initial centres: rows far apart, random rows, or an array.",
    )
    batch_size: int = param(
        default=1024, rule=at_least(1), doc="Number of rows after which the centres move in :meth:`partial_fit`."
    )
    n_steps: int = param(
        default=10_000,
        rule=at_least(1),
        doc='Number of draws for each centre and step with ``solver="rda"`` (:math:`T`).',
    )
    eta0: float = param(default=1.0, rule=positive, doc=r'Step size with ``solver="rda"`` (:math:`\eta`).')
    smoothing: float = param(
        default=0.1, rule=positive, doc=r"The constant that keeps this step size finite (:math:`\rho`)."
    )
    random_state: Any = param(default=None, doc="Seed of the starts and draws.")

    _fitted: ClassVar[tuple[str, ...]] = (
        *("cluster_centers_", "cluster_weights_", "n_samples_seen_", "_sums", "_metric", "_grown"),
    )
    _takes_arrays: ClassVar[bool] = True
    _exactness: ClassVar[str] = "call"  # batches may be cut at multiples of batch_size; the first call has the starts

    # --- learning ---------------------------------------------------------------------------------------------------

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Find clusters.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
        y : ignored
        sample_weight : array-like of shape (n_samples,), optional
            Weights of at least 0. A row of weight 0 is absent, though it gets a label.

        Returns
        -------
        self
        """
        check_params(self, self._param_rules)
        rows, there, weight = self._present(X, sample_weight, reset=True)
        rng = _engine.generator(self.random_state)
        with one_blas_thread():  # products are slim: threads would wait for one another, and change bits
            n_runs = self.n_init if isinstance(self.init, str) or self.solver == "rda" else 1  # others would be equal
            best = min((self._run(there, weight, rng) for _ in range(n_runs)), key=lambda run: run.history[-1])
        _gate.commit_features(self, X, rows.shape[1])
        found = ClusterSums(best.step.swept.sums, best.step.swept.weights, best.history[-1], there.shape[0])
        self._commit(beside(best.step.centres, rows), found, len(best.history))
        self.objective_history_ = np.array(best.history)
        self._grown = False
        self.labels_ = beside(best.step.swept.labels if rows is there else self._assign(rows)[0], rows)
        warn_of_empty(int(np.count_nonzero(np.bincount(best.step.swept.labels))), self.n_clusters, self.alpha)
        return self

    @in_turn
    def partial_fit(self, X: Any, y: Any = None, sample_weight: Any = None, *, grow: bool = False) -> Self:
        """Learn from more rows: each batch of ``batch_size`` rows is assigned to the current centres, which then move
        to the soft-thresholded mean of all their rows so far, whatever the ``solver``.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
            The first call needs at least ``n_clusters`` rows, from which the starts are chosen.
        y : ignored
        sample_weight : array-like of shape (n_samples,), optional
            Weights of at least 0. A row of weight 0 is absent.
        grow : bool, default=False
            Accept batches with more or fewer columns than before.

        Returns
        -------
        self
        """
        check_params(self, self._param_rules)
        begins = not hasattr(self, "cluster_centers_")
        if not begins:
            self._check_same()
        _, rows, weight = self._present(X, sample_weight, reset=begins, grow=grow)
        objective, n_rows = self._objective(), rows.shape[0]
        with one_blas_thread():
            if begins:
                centres = self._start(rows, weight, _engine.generator(self.random_state))
                sums = ClusterSums(np.zeros_like(centres), np.zeros(len(centres)), 0.0, 0)
            else:
                new = ((0, 0), (0, rows.shape[1] - self.n_features_in_))
                centres, sums = np.pad(self._centres, new), self._summed(new)
            labels = np.empty(n_rows, dtype=np.int32)
            for part in _engine.slices(n_rows, self.batch_size):
                some = None if weight is None else np.ascontiguousarray(weight[part])
                data = Data.of(
                    rows[part, :] if is_foreign_array(rows) else rows[part], centres, some, cosine=objective.cosine
                )
                swept = objective.sweep(data, centres)
                labels[part] = swept.labels
                sums += ClusterSums(swept.sums, swept.weights, swept.value, data.n_rows)
                moved = objective.best_centres(sums.sums, sums.weights)
                centres = np.where((sums.weights > 0)[:, None], moved, centres)
        n_batches = 0 if begins else self.n_iter_
        if begins:
            _gate.commit_features(self, X, rows.shape[1])
        elif grow:
            _gate.commit_growth(self, X, rows.shape[1])
        self._grown = grow or self.__dict__.get("_grown", False)
        self._commit(beside(centres, rows), sums, n_batches + -(-n_rows // self.batch_size))
        self.labels_ = beside(labels, rows)
        return self

    def cluster_sums(self, X: Any, sample_weight: Any = None) -> ClusterSums:
        """Sum the rows of each cluster at the current centres; sums of different rows can be added.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
        sample_weight : array-like of shape (n_samples,), optional

        Returns
        -------
        ClusterSums

        Examples
        --------
        Steps on rows that are not all in memory, each the same as a step of :meth:`fit`:

        >>> import numpy as np
        >>> from thresher.cluster import SparseKMeans
        >>> X = np.random.default_rng(0).normal(size=(1000, 5))
        >>> model = SparseKMeans(3, random_state=0).partial_fit(X[:100])
        >>> for step in range(5):
        ...     model = model.move_centres(sum(model.cluster_sums(X[i : i + 100]) for i in range(0, 1000, 100)))
        """
        check_is_fitted(self)
        _, rows, weight = self._present(X, sample_weight, reset=False)
        data = Data.of(rows, self._centres, weight, cosine=self.metric == "cosine")
        with one_blas_thread():
            swept = self._objective().sweep(data, self._centres)
        return ClusterSums(swept.sums, swept.weights, swept.value, rows.shape[0])

    def move_centres(self, sums: ClusterSums) -> Self:
        """Move each centre to the minimum for the rows in its sum; a centre without rows stays.

        Parameters
        ----------
        sums : ClusterSums
            Sums over all rows, at the current centres.

        Returns
        -------
        self
        """
        check_is_fitted(self)
        check_sums(sums, self.cluster_centers_.shape, "SparseKMeans")
        moved = self._objective().best_centres(sums.sums, sums.weights)
        centres = np.where((sums.weights > 0)[:, None], moved, self._centres)
        self._commit(beside(centres, self.cluster_centers_), sums, self.n_iter_ + 1)
        return self

    # --- steps ------------------------------------------------------------------------------------------------------

    def _start(self, rows: Any, weight: Array | None, rng: np.random.Generator) -> Array:
        if isinstance(self.init, str):
            return start_rows(self.init, rows, self.n_clusters, rng, weight, cosine=self.metric == "cosine")
        given = given_centres(self.init, (self.n_clusters, rows.shape[1]))
        return self._objective().fit_length(given)

    def _run(self, rows: Any, weight: Array | None, rng: np.random.Generator) -> _KMeansRun:
        """One start and the steps from there, until they no longer pay."""
        objective = self._objective()
        start = self._start(rows, weight, rng)
        move = None
        if self.solver == "rda":
            rows = on_host(rows)  # which are drawn one after the other
        data = Data.of(rows, start, weight, cosine=objective.cosine)
        if self.solver == "rda":
            move = Draws(objective, self.n_steps, float(self.eta0), float(self.smoothing), rng)
        best: _KMeansRun | None = None
        for _, step in zip(range(self.max_iter), steps(objective, data, start, move), strict=False):
            before = best.history[-1] if best else np.inf
            if best and step.swept.value >= before:  # nothing is left to gain but rounding errors, or the luck of draws
                break
            settled = best is not None and np.array_equal(step.swept.labels, best.step.swept.labels)
            best = _KMeansRun(step, [*(best.history if best else []), step.swept.value])
            gained_little = before - step.swept.value <= self.tol * step.swept.value
            if settled or (gained_little and (step.swept.weights > 0).all()):  # a next step fills empty ones
                break
        assert best is not None
        return best

    def _check_same(self) -> None:
        if (len(self._centres), self._metric) != (self.n_clusters, self.metric):
            raise ValueError(
                f"SparseKMeans: n_clusters and metric must be those of the calls before, "
                f"{len(self._centres)} and {self._metric!r}, got {self.n_clusters} and {self.metric!r}."
            )

    # --- shards and files -------------------------------------------------------------------------------------------

    @property
    def progressive_loss_(self) -> float:
        """The mean cost of the rows, each measured before the model learned from it."""
        check_is_fitted(self)
        total_weight = float(self.cluster_weights_.sum())
        return self.inertia_ / total_weight if total_weight > 0 else 0.0

    def _merged(self, others: list[Self], start: Self | None) -> None:
        """Become what this model and others reached together from one start, which counts once."""
        merge_into(self, others, start)

    def _check_loaded(self) -> None:
        """Refuse attributes of a file that do not belong together."""
        check_loaded(self)
