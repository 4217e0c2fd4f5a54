"""The fixed-size map: a kernel as a handful of features, from a handful of rows."""

from __future__ import annotations

import math
from numbers import Integral
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils import gen_batches
from sklearn.utils.validation import check_is_fitted

from .. import _order, _validation
from .._kernels import RBF, Kernel, Linear, Polynomial
from .._kernels._kept import are_rows, as_arrays, as_rows, is_array
from .._kernels._objects import width
from .._kernels._products import Array
from .._params import Rule, at_least, check_params, non_negative, one_of, positive, seed
from .._spaces import Log, Range
from .._threads import one_blas_thread
from ._entropy import swaps

_RELATIVE_CUT = 1e-12  # eigenvalues below this part of the largest are rounding errors
_BLOCK = 1 << 21  # values held at a time while rows are mapped


class FixedSizeNystroem(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):  # type: ignore[misc]
    r"""Features in which a linear learner is a kernel machine, by the Nystroem method on a few landmark rows.

    With landmarks :math:`S`, their kernel matrix :math:`K_{SS} = U \Lambda U^\top` and the kernel :math:`k(S, x)` of a
    row with each of them,

    .. math:: \varphi(x) = \Lambda^{-1/2}\, U^\top k(S, x),

    so that :math:`\varphi(x)^\top \varphi(z)` is close to :math:`k(x, z)`, and equal to it on the landmarks. The number
    of features is fixed by you, not by the data: put it in front of any linear learner when straight boundaries are not
    enough, and more rows cost no more memory.

    Parameters
    ----------
    kernel : {"rbf", "polynomial", "linear"}, default="rbf"
        See :class:`RBF`, :class:`Polynomial` and :class:`Linear`.
    gamma : float or "scale", default="scale"
        Width of the kernel (:math:`1/(2\sigma^2)` in [1]_). ``"scale"`` is ``1 / (n_features * X.var())``.
    degree : int, default=3
        Degree of the polynomial kernel.
    coef0 : float, default=1.0
        Constant term of the polynomial kernel, at least 0.
    n_components : int, float or "sqrt", default="sqrt"
        Landmarks (:math:`m`): their number as an integer, or a float that times the square root of the number of rows
        gives it, rounded up; ``"sqrt"`` is 1.0. Never more than there are rows.
    selection : {"entropy", "random"}, default="entropy"
        ``"random"`` takes rows at random. ``"entropy"`` then proposes as many others, one by one, each in place of a
        random landmark, and accepts those that raise the quadratic Renyi entropy
        :math:`-\log(m^{-2} \sum_{ij \in S} K_{ij})`: landmarks that are less alike.
    random_state : int, RandomState or Generator, optional
        Source of landmarks and proposals.

    Attributes
    ----------
    components_ : ndarray or csr_array of shape (n_landmarks, n_features)
        The landmarks.
    component_indices_ : ndarray of shape (n_landmarks,)
        Which rows of the data they were.
    normalization_ : ndarray of shape (n_landmarks, n_features_out)
        :math:`U \Lambda^{-1/2}`. Directions whose eigenvalue is below :math:`10^{-12}` of the largest are left out.
    gamma_ : float or None
        The number used for ``gamma``; None for the linear kernel.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of str
        Names of the features, when ``X`` had any.

    Notes
    -----
    Fitting costs :math:`O(m^2 d + m^3)`, mapping a row :math:`O(m d + m^2)`. Proposals stop early on purpose: driven to
    its maximum, the entropy collects outliers. Scale the features first, all kernels depend on it.

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
    """

    _param_rules: ClassVar[dict[str, Rule]] = {
        "kernel": one_of("rbf", "polynomial", "linear"),
        "gamma": width,
        "degree": at_least(1),
        "coef0": non_negative,
        "n_components": Rule(
            '"sqrt", an integer of at least 1 or a float above 0',
            lambda v: (isinstance(v, str) and v == "sqrt") or positive.holds(v),
        ),
        "selection": one_of("entropy", "random"),
        "random_state": seed,
    }
    _fitted: ClassVar[tuple[str, ...]] = (
        "n_features_in_",
        "feature_names_in_",
        "component_indices_",
        "normalization_",
        "gamma_",
        "_landmarks",
    )

    def __init__(
        self,
        kernel: str = "rbf",
        *,
        gamma: Any = "scale",
        degree: int = 3,
        coef0: float = 1.0,
        n_components: Any = "sqrt",
        selection: str = "entropy",
        random_state: Any = None,
    ) -> None:
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.n_components = n_components
        self.selection = selection
        self.random_state = random_state

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
        rows = _validation.check_matrix(self, X, reset=True)
        kernel = self._kernel(self.gamma).settled(rows)
        with one_blas_thread():  # the same bits, whatever the number of threads
            indices, K = self._choose(rows, kernel)
            normalization = self._root(K)
        _validation.commit_features(self, X, rows.shape[1])
        self._landmarks = as_arrays(rows[indices])
        self.component_indices_, self.normalization_ = indices, normalization
        self.gamma_: float | None = getattr(kernel, "gamma", None)
        return self

    def transform(self, X: Any) -> Array:
        """The features of each row.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples, n_features_out)
        """
        check_is_fitted(self)
        rows = _validation.check_matrix(self, X, reset=False)
        kernel, landmarks = self._kernel(self.gamma_), self.components_
        features = np.empty((rows.shape[0], self.normalization_.shape[1]))
        per_row = landmarks.shape[0] if sparse.issparse(rows) else max(landmarks.shape)
        with np.errstate(over="ignore", invalid="ignore"):
            for part in gen_batches(len(features), max(1, _BLOCK // per_row)):
                features[part] = kernel(rows[part], landmarks) @ self.normalization_
        if not np.isfinite(features).all():
            raise ValueError("FixedSizeNystroem: X is too large for the landmarks, features leave floating point.")
        return features

    @property
    def components_(self) -> Any:
        """The landmarks."""
        check_is_fitted(self)
        return as_rows(self._landmarks, (len(self.component_indices_), self.n_features_in_))

    @property
    def _search_space(self) -> dict[str, Range]:
        return {} if self.kernel == "linear" else {"gamma": Log(1e-4, 10.0)}

    @property
    def _n_features_out(self) -> int:
        return int(self.normalization_.shape[1])

    def _kernel(self, gamma: Any) -> Kernel:
        if self.kernel == "linear":
            return Linear()
        return RBF(gamma) if self.kernel == "rbf" else Polynomial(self.degree, gamma, self.coef0)

    def _choose(self, rows: Any, kernel: Kernel) -> tuple[NDArray[np.int64], Array]:
        """Which rows are landmarks, and their kernel matrix."""
        n_rows = rows.shape[0]
        m = min(self._n_landmarks(n_rows), n_rows)
        rng = _order.generator(self.random_state)
        drawn = rng.permutation(n_rows)[: m if self.selection == "random" else 2 * m]
        K = kernel(rows[drawn])
        *_, (chosen, _) = swaps(K, m, rng)
        return drawn[chosen], K[np.ix_(chosen, chosen)]

    def _n_landmarks(self, n_rows: int) -> int:
        if isinstance(self.n_components, Integral):
            return int(self.n_components)
        part = 1.0 if self.n_components == "sqrt" else float(self.n_components)
        return math.ceil(round(part * math.sqrt(n_rows), 9))  # 0.07 * 100 is 7, whatever its last digit says

    def _root(self, K: Array) -> Array:
        r""":math:`U \Lambda^{-1/2}`, largest eigenvalues first."""
        values, vectors = np.linalg.eigh(K)
        values, vectors = values[::-1], vectors[:, ::-1]
        kept = values > max(values[0], 0.0) * _RELATIVE_CUT
        if not kept.any():
            raise ValueError("FixedSizeNystroem: the kernel must not be 0 on all landmarks; are all their values 0?")
        values, vectors = values[kept], vectors[:, kept]
        tallest = np.abs(vectors).argmax(axis=0)  # an eigenvector has no sign of its own: its largest entry is positive
        root: Array = vectors * (np.sign(vectors[tallest, np.arange(len(values))]) / np.sqrt(values))
        return root

    def _check_loaded(self) -> None:
        """Refuse attributes of a file that do not belong together."""
        _validation.check_loaded_features(self)
        parts, indices, root = self._landmarks, self.component_indices_, self.normalization_
        if not is_array(indices, "i", 1) or len(indices) < 1 or indices.min() < 0:
            raise ValueError("FixedSizeNystroem: component_indices_ must be integers of at least 0, one per landmark.")
        if len(np.unique(indices)) < len(indices):
            raise ValueError("FixedSizeNystroem: component_indices_ must not name a row twice.")
        if not is_array(root, "f", 2) or not len(root) == len(indices) >= root.shape[1] >= 1:
            raise ValueError("FixedSizeNystroem: normalization_ must be finite, with one row per landmark.")
        gamma_fits = self.gamma_ is None if self.kernel == "linear" else positive.holds(self.gamma_)
        if not gamma_fits:
            raise ValueError("FixedSizeNystroem: gamma_ must be a number above 0, or None for the linear kernel.")
        if not isinstance(parts, dict) or not are_rows(parts, (len(indices), self.n_features_in_)):
            raise ValueError("FixedSizeNystroem: the landmarks must be finite rows, one per index.")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags
