"""Quadratic splines of numeric columns, with which linear learners fit a curve for each column."""

from __future__ import annotations

from copy import copy
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from .._estimators import check_is_fitted, param
from .._gate import Rule, Table, at_least, check_array, is_foreign_array, none, sparse
from ._encoder_state import is_names
from ._running import RunningTransformer, check_number_names, names_going_in, read_input, refuse_value, require
from ._spline_basis import HUGE, MOST_KNOTS, Array, SplineBasis, pairs_rule, resolve_pairs
from ._splines_there import features_there

FIRST_ROWS = 10_000  # by which a stream chooses the knots
_CHOSEN = ("_knots", "_n_knots", "_curved", "_means")


class SplineState:
    """Columns, pairs and knots, as model files keep them."""

    columns_: list[str]
    text_columns_: list[str]
    pairs_: NDArray[np.int64]
    n_rows_seen_: int
    _named: bool
    _knots: Array
    _n_knots: NDArray[np.int64]
    _curved: NDArray[np.bool_]
    _means: Array


class ColumnSplines(SplineState, RunningTransformer):
    r"""Quadratic splines of numeric columns, which turn a linear learner into an additive model.

    In a linear model, the score can only rise or fall with a column. After this transformer, the score is a sum of one
    curve for each column, :math:`f(x) = b + \sum_j f_j(x_j)`, where each :math:`f_j` is a quadratic spline.
    :func:`thresher.inspection.column_curves` returns the curves. Choose it for numeric tables if a linear model is not
    accurate enough, and a kernel is too slow or too hard to explain. Interactions between columns need `pairs`, or a
    kernel.

    Attributes
    ----------
    knots_ : dict of str to ndarray
        The knots of each numeric column, in its units. A column with two distinct values has these as knots and stays
        linear.
    columns_ : list of str
        Names of the input columns, or ``x1``, ``x2``, ...
    text_columns_ : list of str
        Names of the text columns, which are passed through.
    groups_ : list of str
        For each feature the column, or the pair of columns, that it belongs to; ``""`` for a column that stays linear.
    n_features_in_, n_features_out_ : int
    feature_names_in_ : ndarray of str
        Names of the columns, if they had any.

    See Also
    --------
    thresher.inspection.column_curves : the curve of each column.
    RunningScaler : the next step, because the features have different scales.
    InteractionGroups : the same idea for categorical columns.

    Notes
    -----
    A column yields itself (``age``) and its centred B-splines (``age spline 1``, ...), in all two more features than it
    has knots. Beyond the outer knots, which are the smallest and the largest value, all of them are linear. Coinciding
    knots are merged, and there are fewer knots than distinct values, so a column of two values stays as it is. Text
    columns of a table are passed through.

    For a missing number (NaN), the first feature is missing and the others are 0, their mean. A :class:`TableEncoder`
    after the splines handles the first one: with ``missing="indicator"`` a missing number is a level of its own.

    :meth:`fit` chooses the knots from all rows. :meth:`partial_fit` chooses them from the first 10,000 rows, however
    they are split into batches, and keeps them afterwards. A :class:`StreamingPipeline` needs features after its first
    batch, and they must keep their meaning, so there the knots come from the first batch alone. It should have a few
    hundred rows in random order; otherwise fit the splines to a sample beforehand.

    A product of two columns is made of their ranks, from -1 to 1 between the outer knots, as Legendre polynomials of
    degree 1 and 2: four features for each pair.

    References
    ----------
    .. [1] C. de Boor, "A Practical Guide to Splines", Springer, 1978.
    .. [2] T. Hastie and R. Tibshirani, "Generalized additive models", Statistical Science 1(3), 1986.

    Examples
    --------
    >>> import numpy as np
    >>> from thresher.online import AROWClassifier
    >>> from thresher.preprocessing import ColumnSplines, RunningScaler, StreamingPipeline
    >>> X = np.random.default_rng(0).uniform(-2, 2, size=(2000, 2))
    >>> y = X[:, 0] ** 2 + X[:, 1] > 1
    >>> steps = [("splines", ColumnSplines()), ("scale", RunningScaler()), ("learn", AROWClassifier(random_state=0))]
    >>> model = StreamingPipeline(steps).fit(X, y)
    >>> round(AROWClassifier(random_state=0).fit(X, y).score(X, y), 2), round(model.score(X, y), 2)
    (0.76, 0.99)
    >>> model["splines"].get_feature_names_out()[:4].tolist()
    ['x1', 'x1 spline 1', 'x1 spline 2', 'x1 spline 3']
    """

    n_knots: int = param(
        default=8,
        rule=Rule(f"an integer from 2 to {MOST_KNOTS}", lambda v: at_least(2).holds(v) and v <= MOST_KNOTS, type="int"),
        doc="Largest number of knots of a column, at evenly spaced quantiles.",
        kw_only=False,
    )
    pairs: Any = param(
        default=None,
        rule=none | pairs_rule,
        doc="""Pairs of columns, by name or by number from 0 (of the columns of numbers), whose products become
        features as well. ``"all"`` is for tables of few columns: ten columns have 45 pairs, and these 180 features.""",
    )

    _fitted = tuple(SplineState.__annotations__)
    _input_tags = ("allow_nan",)
    _stays: ClassVar[bool] = True  # what it learned must not change under a learner: see StreamingPipeline

    # --- learning ---------------------------------------------------------------------------------------------------

    def fit(self, X: Any, y: Any = None) -> Self:
        """Choose knots from these rows, and forget earlier ones.

        Parameters
        ----------
        X : Table, data frame or array-like of shape (n_samples, n_columns)
        y : ignored

        Returns
        -------
        self
        """
        self._learn(X, first=True, most=None)
        self._settle()
        return self

    def _learn(self, X: Any, first: bool, most: int | None = FIRST_ROWS) -> Self:
        self._check_params()
        columns, text, numbers = self._read(X)
        if not first:
            self._check_columns(columns, text, numbers.shape[1])
        n_before = 0 if first else self.n_rows_seen_
        kept = numbers[: None if most is None else max(most - n_before, 0)]
        names = [name for name in columns or self._numbered(numbers.shape[1]) if name not in text]
        pairs = resolve_pairs(self.pairs, names, type(self).__name__) if first else self.pairs_
        _refuse_infinite(kept, None if columns is None else names, type(self).__name__)
        if first:
            self.columns_, self.text_columns_ = columns or self._numbered(numbers.shape[1]), text
            self.pairs_, self._named, self._rows = pairs, columns is not None, list[NDArray[Any]]()
            self._forget_knots()
        if len(kept) and (first or not self._is_final):
            self._rows = [*self._rows, kept if most is None else kept.copy()]
            self._forget_knots()
        self.n_rows_seen_ = n_before + len(numbers)
        return self

    @property
    def _is_final(self) -> bool:
        """Whether knots were chosen for good: by :meth:`fit`, or in a model file, which keeps no rows."""
        return "_knots" in vars(self) and not self._rows

    def _settle(self) -> None:
        """Choose the knots for good."""
        self._choose()
        self._rows = []

    def _choose(self) -> None:
        """Choose the knots by the rows so far, unless that is done."""
        if "_knots" in vars(self):
            return
        names = self._number_names()
        rows = np.concatenate(self._rows) if self._rows else np.empty((0, len(names)))
        made = SplineBasis.of_rows(rows, int(self.n_knots), self.pairs_, type(self).__name__)
        self._knots, self._n_knots, self._curved, self._means = made.knots, made.n_knots, made.curved, made.means

    def _forget_knots(self) -> None:
        for name in _CHOSEN:
            self.__dict__.pop(name, None)

    # --- shards -----------------------------------------------------------------------------------------------------

    def _merged(self, others: list[Self]) -> None:
        """Choose knots by the first rows of all, for shards; as after learning from later rows, if there are few."""
        for other in others:
            if (other.columns_, other.text_columns_) != (self.columns_, self.text_columns_):
                raise ValueError(f"{type(self).__name__}: shards must have the same columns.")
        if any(each._is_final for each in (self, *others)):
            if not all(each._is_final and each._same_knots(self) for each in (self, *others)):
                raise ValueError(f"{type(self).__name__}: shards that have chosen different knots cannot be merged.")
        else:
            self._rows = [part for each in (self, *others) for part in each._rows]
            self._forget_knots()
        self.n_rows_seen_ += sum(other.n_rows_seen_ for other in others)

    def _same_knots(self, other: Self) -> bool:
        return all(np.array_equal(getattr(self, name), getattr(other, name)) for name in ("pairs_", *_CHOSEN))

    def _emptied(self) -> Self:
        """The same columns, and no rows."""
        made = copy(self)
        made._rows, made.n_rows_seen_ = [], 0
        made._forget_knots()
        return made

    # --- input ------------------------------------------------------------------------------------------------------

    def _read(self, X: Any) -> tuple[list[str] | None, list[str], NDArray[Any]]:
        """Names of columns, if they have any, names of those of text, and the numbers."""
        who = type(self).__name__
        if sparse.issparse(X):
            raise ValueError(
                f"{who}: X must be a table, a data frame or an array; splines of sparse rows would be dense, so leave "
                "them linear, or call toarray() if the columns are few."
            )
        rows = read_input(X, who)
        if not isinstance(rows, Table):
            return None, [], rows
        if not rows.number_names:
            raise ValueError(f"{who}: X must have a column of numbers, got text only.")
        return rows.columns, [name for name in rows.columns if name in rows.text], rows.numbers

    def _check_columns(self, columns: list[str] | None, text: list[str], width: int) -> None:
        who, known = type(self).__name__, self._number_names()
        if columns is not None and self._named:
            check_number_names(known, [name for name in columns if name not in text], who)
        elif width != len(known):
            raise ValueError(f"X has {width} features, but {who} is expecting {len(known)} features as input.")

    @staticmethod
    def _numbered(n: int) -> list[str]:
        return [f"x{j + 1}" for j in range(n)]

    def _number_names(self) -> list[str]:
        return [name for name in self.columns_ if name not in self.text_columns_]

    # --- features ---------------------------------------------------------------------------------------------------

    def transform(self, X: Any) -> Any:
        """Return the features of rows.

        Parameters
        ----------
        X : Table, data frame or array-like of shape (n_samples, n_columns)

        Returns
        -------
        ndarray or Table
            A Table for a Table or a data frame: features first, then the text columns. For an array of PyTorch or
            CuPy, an array of the same kind on the same device.
        """
        check_is_fitted(self)
        if is_foreign_array(X):
            self._check_columns(None, [], X.shape[1] if X.ndim == 2 else 0)
            return features_there(check_array(X, type(self).__name__, with_missing=True), self._basis)
        columns, text, numbers = self._read(X)
        self._check_columns(columns, text, numbers.shape[1])
        names = self._number_names() if columns is not None else None
        features = self._basis.features(numbers, type(self).__name__, names)
        if columns is None:
            return features
        texts = {name: read_input(X, type(self).__name__).text[name] for name in text}
        return Table([*self._feature_names(self._number_names()), *text], features, texts)

    @property
    def _basis(self) -> SplineBasis:
        self._choose()
        return SplineBasis(self._knots, self._n_knots, self._curved, self.pairs_, self._means)

    def _feature_names(self, columns: list[str]) -> list[str]:
        names, last, k = [], None, 0
        for owners in self._basis.owners:
            k = k + 1 if owners == last else 0
            if len(owners) == 1:
                names.append(columns[owners[0]] + (f" spline {k}" if k else ""))
            else:
                names.append(f"{columns[owners[0]]}:{columns[owners[1]]} {k + 1}")
            last = owners
        return names

    @property
    def knots_(self) -> dict[str, Array]:
        """The knots of each column of numbers."""
        check_is_fitted(self)
        basis = self._basis
        return {name: basis.knots_of(j) for j, name in enumerate(self._number_names())}

    @property
    def origins_(self) -> list[str]:
        """For each feature the column it is made of, or two columns as ``a:b``."""
        check_is_fitted(self)
        names = self._number_names()
        return [":".join(names[j] for j in owners) for owners in self._basis.owners] + self.text_columns_

    @property
    def groups_(self) -> list[str]:
        """For each feature the column or pair it belongs to, ``""`` for columns that stay as they are."""
        basis, origins = self._basis, self.origins_
        alone = [len(own) == 1 and not basis.curved[own[0]] for own in basis.owners] + [True] * len(self.text_columns_)
        return ["" if one else origin for one, origin in zip(alone, origins, strict=True)]

    @property
    def n_features_in_(self) -> int:
        return len(self.columns_)

    @property
    def n_features_out_(self) -> int:
        check_is_fitted(self)
        return len(self._basis.owners) + len(self.text_columns_)

    @property
    def feature_names_in_(self) -> NDArray[np.object_]:
        if not self._named:
            raise AttributeError("ColumnSplines: the columns had no names.")
        return np.array(self.columns_, dtype=object)

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[np.object_]:
        """``column``, ``column spline 1``, ..., ``column:column 1``, ...; columns of text come last."""
        check_is_fitted(self)
        given = names_going_in(self.columns_, input_features)
        numbers = [name for name, known in zip(given, self.columns_, strict=True) if known not in self.text_columns_]
        return np.array([*self._feature_names(numbers), *self.text_columns_], dtype=object)

    def _check_loaded(self) -> None:
        """Refuse attributes from a file that do not belong together."""
        columns, text = self.columns_, self.text_columns_
        names = isinstance(columns, list) and is_names(columns) and 0 < len(columns) == len(set(columns))
        require(names, "columns_ must hold different names.")
        known = isinstance(text, list) and is_names(text) and text == [name for name in columns if name in set(text)]
        require(known and len(text) < len(columns), "text_columns_ must hold some of the columns.")
        require(type(self._named) is bool, "_named must be True or False.")
        counted = type(self.n_rows_seen_) is int and 0 <= self.n_rows_seen_ < 2**53
        require(counted, "n_rows_seen_ must be an integer of at least 0.")
        SplineBasis.check(len(columns) - len(text), self._knots, self._n_knots, self._curved, self.pairs_, self._means)
        self._rows = []


def _refuse_infinite(numbers: NDArray[Any], names: list[str] | None, who: str) -> None:
    most = min(HUGE, float(np.finfo(numbers.dtype).max))
    bad = np.abs(numbers) > most  # a missing number is not
    if bad.any():
        row, column = np.argwhere(bad)[0].tolist()
        refuse_value((row, column, float(numbers[row, column])), names, who)
