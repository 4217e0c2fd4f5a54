"""Columns of categories to one-hot features of all their interactions, in groups; groups from a graph."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations, product
from math import prod
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from .._estimators import Estimator, TransformerContract, check_is_fitted, param
from .._gate import Rule, at_least, check_params, sparse
from ._encoder_state import is_names
from ._running import counted_names, names_going_in, require

_WIDEST = 2**31 - 1


class ColumnCategories:
    """Columns and their categories, as model files keep them."""

    columns_: list[str]
    categories_: list[list[str]]


class InteractionGroups(ColumnCategories, TransformerContract, Estimator):
    """One-hot features of all combinations of up to three columns, with a group for each combination.

    Use it to find out which categorical columns (such as the letters of a gene) and which of their interactions matter.
    Seven columns of four letters give 28 single features, 336 pairs and 2240 triples, in 63 groups. Pass these to a
    learner with ``groups=encoder.groups_`` or, in a :class:`StreamingPipeline`, with ``groups="encoder"``.

    Attributes
    ----------
    columns_ : list of str
        The columns that go in: their names, or ``x1``, ``x2``, ...
    categories_ : list of list of str
        The categories of each, as text.
    groups_ : list of str
        For each feature that comes out, the columns it combines: ``a``, ``a:b``, ``a:b:c``.
    n_features_in_, n_features_out_ : int

    Notes
    -----
    Columns hold text or integers, which are treated as categories. Other numbers raise an error: bin them first. A
    category that :meth:`fit` did not see has no features. The encoding keeps all categories of a column; the group
    penalty makes the weights unique.

    Examples
    --------
    >>> from thresher.preprocessing import InteractionGroups
    >>> encoder = InteractionGroups(degree=2).fit([["A", "C"], ["G", "C"], ["G", "T"]])
    >>> encoder.get_feature_names_out()
    array(['x1=A', 'x1=G', 'x2=C', 'x2=T', 'x1=A:x2=C', 'x1=A:x2=T', 'x1=G:x2=C', 'x1=G:x2=T'], dtype=object)
    >>> encoder.groups_
    ['x1', 'x1', 'x2', 'x2', 'x1:x2', 'x1:x2', 'x1:x2', 'x1:x2']
    >>> encoder.transform([["G", "T"]]).toarray()
    array([[0., 1., 0., 1., 0., 0., 0., 1.]])
    """

    degree: int = param(
        default=3,
        rule=Rule("1, 2 or 3", lambda v: at_least(1).holds(v) and v <= 3, type="{1, 2, 3}"),
        doc="Largest number of columns in a combination.",
        kw_only=False,
    )

    _fitted = tuple(ColumnCategories.__annotations__)
    _input_tags = ("string", "categorical")

    def fit(self, X: Any, y: Any = None) -> Self:
        """Learn the categories of each column.

        Parameters
        ----------
        X : data frame or array-like of shape (n_samples, n_columns)
            Text or whole numbers.
        y : ignored

        Returns
        -------
        self
        """
        check_params(self, self._param_rules)
        names, columns = _categorical(X, type(self).__name__)
        categories = [np.unique(column).tolist() for column in columns]
        width = _width([len(each) for each in categories], self.degree)
        if width > _WIDEST:
            raise ValueError(
                f"InteractionGroups: degree must be lower for these columns, because it makes {width} features."
            )
        self.columns_, self.categories_ = names, categories
        return self

    def transform(self, X: Any) -> Any:
        """Return the features of rows.

        Parameters
        ----------
        X : data frame or array-like of shape (n_samples, n_columns)

        Returns
        -------
        csr_array of shape (n_samples, n_features_out)
        """
        check_is_fitted(self)
        names, columns = _categorical(X, type(self).__name__)
        known, n_known = self.columns_, len(self.columns_)
        if len(columns) != n_known or (hasattr(X, "columns") and known not in (names, counted_names(n_known))):
            raise ValueError(
                f"InteractionGroups: X must have the columns {', '.join(map(repr, self.columns_))}, got "
                f"{', '.join(map(repr, names))}."
            )
        codes = [_codes(column, known) for column, known in zip(columns, self.categories_, strict=True)]
        sizes = [len(known) for known in self.categories_]
        places, base = [], 0
        for chosen in self._combinations():
            place = np.zeros(len(codes[0]), dtype=np.int64)
            there = np.ones(len(codes[0]), dtype=bool)
            for j in chosen:
                place = place * sizes[j] + codes[j]
                there &= codes[j] >= 0
            places.append(np.where(there, base + place, -1))
            base += prod(sizes[j] for j in chosen)
        table = np.stack(places, axis=1)
        starts = np.concatenate([[0], np.cumsum((table >= 0).sum(axis=1))]).astype(np.int64)
        found = table[table >= 0].astype(np.int32)
        encoded = sparse.csr_array((np.ones(len(found)), found, starts), shape=(len(table), base))
        encoded.has_sorted_indices = encoded.has_canonical_format = True
        return encoded

    def _combinations(self) -> Iterator[tuple[int, ...]]:
        """Single columns, then pairs, then triples."""
        for n in range(1, self.degree + 1):
            yield from combinations(range(len(self.columns_)), n)

    def _features(self) -> Iterator[tuple[tuple[int, str], ...]]:
        """For each feature, the columns and categories it combines."""
        for chosen in self._combinations():
            yield from product(*([(j, value) for value in self.categories_[j]] for j in chosen))

    @property
    def n_features_in_(self) -> int:
        return len(self.columns_)

    @property
    def n_features_out_(self) -> int:
        check_is_fitted(self)
        return _width([len(known) for known in self.categories_], self.degree)

    @property
    def groups_(self) -> list[str]:
        """For each feature, the columns it combines."""
        check_is_fitted(self)
        return [":".join(self.columns_[j] for j, _ in chosen) for chosen in self._features()]

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[np.object_]:
        """``column=category``, joined by ``:``."""
        check_is_fitted(self)
        columns = names_going_in(self.columns_, input_features)
        names = [":".join(f"{columns[j]}={value}" for j, value in chosen) for chosen in self._features()]
        return np.array(names, dtype=object)

    def _check_loaded(self) -> None:
        """Refuse attributes from a file that do not belong together."""
        columns, categories = self.columns_, self.categories_
        require(isinstance(columns, list) and is_names(columns) and bool(columns), "columns_ must hold names.")
        listed = isinstance(categories, list) and len(categories) == len(columns)
        require(listed, "categories_ must hold one list for each column.")
        for known in categories:
            texts = isinstance(known, list) and is_names(known) and bool(known)
            require(texts and sorted(set(known)) == known, "categories_ must hold different texts, in order.")
        width = _width([len(known) for known in categories], self.degree)
        require(width <= _WIDEST, "there must be no more features than a file has room for.")


def _width(sizes: list[int], degree: int) -> int:
    return sum(prod(chosen) for n in range(1, degree + 1) for chosen in combinations(sizes, n))


def _codes(column: NDArray[Any], known: list[str]) -> NDArray[np.int64]:
    """The place of each category among those that are known, -1 for others."""
    sorted_ = np.array(known)
    places = np.minimum(np.searchsorted(sorted_, column), len(sorted_) - 1)
    return np.where(sorted_[places] == column, places, -1)


def _categorical(X: Any, who: str) -> tuple[list[str], list[NDArray[Any]]]:
    """Names and columns, as text."""
    if sparse.issparse(X):
        raise ValueError(f"{who}: X must be a data frame or an array, got sparse rows.")
    if hasattr(X, "columns"):
        names = [str(name) for name in X.columns]
        columns = [np.asarray(X[name]) for name in X.columns]
    else:
        table = X if isinstance(X, np.ndarray) else np.asarray(X, dtype=None if _regular(X) else object)
        if table.ndim != 2:
            raise ValueError(f"{who}: X must be a table of rows and columns, got {table.ndim} dimensions.")
        names, columns = counted_names(table.shape[1]), list(table.T)
    if not columns or not len(columns[0]):
        raise ValueError(f"{who}: X must have at least one row and one column.")
    return names, [_as_text(column, name, who) for name, column in zip(names, columns, strict=True)]


def _regular(X: Any) -> bool:
    """Whether all values are of one kind, so that NumPy does not turn numbers into text."""
    kinds = {isinstance(value, str) for row in X for value in row}
    return len(kinds) == 1


def _as_text(column: NDArray[Any], name: str, who: str) -> NDArray[Any]:
    if column.dtype.kind == "U":
        return column
    if column.dtype.kind in "fiub":
        whole = column.astype(np.int64) if column.dtype.kind != "f" or np.isfinite(column).all() else None
        if whole is not None and (whole == column).all():
            return whole.astype(str)
    elif all(isinstance(value, (str, int, np.integer)) for value in column.tolist()):
        return np.array([str(value) for value in column.tolist()])
    raise ValueError(f"{who}: column {name!r} must hold text or whole numbers, without gaps.")


def groups_from_graph(edges: Any, n_features: int | None = None) -> list[list[int]]:
    """Return one group of two features for each edge of a graph. Groups of adjacent edges overlap.

    Parameters
    ----------
    edges : array-like of shape (n_edges, 2), or sparse matrix of shape (n_features, n_features)
        Pairs of features; or a matrix whose entries other than 0 are the edges. Direction and repeats do not matter.
    n_features : int, optional
        Total number of features, to check the edges. Features without an edge belong to no group.

    Returns
    -------
    list of [int, int]
        For the ``groups`` of :class:`~thresher.dual_averaging.GroupRDAClassifier`.

    Examples
    --------
    >>> from thresher.preprocessing import groups_from_graph
    >>> groups_from_graph([(0, 1), (2, 1), (1, 2)])
    [[0, 1], [1, 2]]
    """
    pairs = np.stack(edges.nonzero(), axis=1) if sparse.issparse(edges) else np.asarray(edges)
    if pairs.size == 0:
        return []
    if pairs.ndim != 2 or pairs.shape[1] != 2 or pairs.dtype.kind not in "iu":
        raise ValueError("groups_from_graph: edges must be pairs of integers, or a sparse matrix.")
    if pairs.min() < 0:
        raise ValueError(f"groups_from_graph: edges must join features from 0 on, got {int(pairs.min())}.")
    if n_features is not None and pairs.max() >= n_features:
        most = int(pairs.max())
        raise ValueError(f"groups_from_graph: edges must join features from 0 to {n_features - 1}, got {most}.")
    if (pairs[:, 0] == pairs[:, 1]).any():
        raise ValueError("groups_from_graph: edges must join two different features.")
    return np.unique(np.sort(pairs, axis=1), axis=0).tolist()
