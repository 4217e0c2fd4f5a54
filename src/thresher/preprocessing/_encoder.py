"""Encoding of tables with numbers, categories and text as named features."""

from __future__ import annotations

from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from .. import _core
from .._core import Rows
from .._estimators import check_is_fitted, param
from .._gate import Rule, Table, at_least, auto, boolean, looks_like_prose, none, one_of, sparse
from . import _pieces
from ._encoder_state import check_added, check_buckets, check_frequencies, emptied_encoder, is_names, merge_encoders
from ._pieces import MOST_BUCKETS, Sparse
from ._running import (
    RunningTransformer,
    by_place,
    counted_names,
    names_going_in,
    read_input,
    refuse_missing,
    require,
    without_values,
)

_ROWS_TO_LOOK_AT = 1000


class _Added(NamedTuple):
    """A feature that is added when it first appears: a word of a category, or ``""`` for a missing number."""

    row: int
    column: int
    value: str


class EncoderState:
    """Columns, added features and buckets, as model files keep them."""

    columns_: list[str]
    kinds_: str
    added_columns_: NDArray[np.int32]
    added_values_: list[str]
    fingerprints_: NDArray[np.uint32]
    bucket_places_: NDArray[np.int32]
    bucket_names_: list[str]
    n_texts_: int
    texts_with_: NDArray[np.float64]


class TableEncoder(EncoderState, RunningTransformer):
    """Encode a table: numbers as they are, categories one-hot or hashed, text as word counts.

    The name of each feature shows its origin: ``age``, ``job=clerk``, ``job=`` (missing), ``message:winner``. The
    result is sparse, or an array if the table has only numbers.

    Attributes
    ----------
    columns_ : list of str
        The columns of the table.
    kinds_ : str
        The kind of each column, inferred from the first rows: n (numbers), c (category), h (hashed category) or t
        (text).
    n_features_in_, n_features_out_ : int
    feature_names_in_ : ndarray of str

    Notes
    -----
    The order of features is: numbers, hash buckets (if any), then categories and words in the order of their first
    appearance, however rows are split into batches. Several texts may share a bucket; its name lists the first two, and
    ``...`` for more.

    A word is a sequence of at least two letters and digits, with apostrophes inside it. ASCII letters are lower-cased;
    other characters except punctuation count as letters.

    Examples
    --------
    >>> import numpy as np
    >>> from thresher.streams import Table, Text
    >>> from thresher.preprocessing import TableEncoder
    >>> jobs = Text.from_list(["cook", "clerk", "cook"])
    >>> table = Table(["age", "job"], np.array([[31.0], [47.0], [np.nan]]), {"job": jobs})
    >>> encoder = TableEncoder(missing="indicator").fit(table)
    >>> encoder.get_feature_names_out()
    array(['age', 'job=cook', 'job=clerk', 'age is missing'], dtype=object)
    >>> encoder.transform(table).toarray()
    array([[31.,  1.,  0.,  0.],
           [47.,  0.,  1.,  0.],
           [ 0.,  1.,  0.,  1.]])
    """

    categories: str = param(
        default="onehot",
        rule=one_of("onehot", "hash"),
        doc="""Encoding of categorical columns. One-hot features are added as categories appear, so the number of
        features grows, and categories that are new in :meth:`transform` have no feature. Hashed categories share
        `n_buckets` features from the start, which suits columns with very many categories, such as user names.""",
        kw_only=False,
    )
    text: Any = param(
        default="auto",
        rule=auto | Rule("a list of column names", is_names, type="list of str"),
        doc="""Text columns: each word is a feature. By default, columns whose first rows have five words or more on
        average and are mostly distinct.""",
    )
    n_buckets: int = param(
        default=2**18,
        rule=Rule(
            f"an integer from 1 to {MOST_BUCKETS}", lambda v: at_least(1).holds(v) and v <= MOST_BUCKETS, type="int"
        ),
        doc="Number of features for all hashed columns and text together.",
    )
    missing: str = param(
        default="zero",
        rule=one_of("zero", "indicator", "error"),
        doc="""Encoding of a missing number (NaN): 0, which is the mean after :class:`RunningScaler`; 0 and a feature
        ``age is missing``, added when the first value is missing; or an error. A missing category is a category of its
        own.""",
    )
    max_categories: int | None = param(
        default=10_000,
        rule=none | at_least(1),
        doc="Raise an error if a one-hot column has more categories than this.",
    )
    ngrams: int = param(
        default=1,
        rule=Rule("1 or 2", lambda v: at_least(1).holds(v) and v <= 2, type="{1, 2}"),
        doc="2 also counts pairs of adjacent words.",
    )
    words: str = param(
        default="log",
        rule=one_of("count", "binary", "log"),
        doc="Weight of a word that occurs c times in a text: c, 1, or 1 + log(c).",
    )
    idf: bool = param(
        default=True,
        rule=boolean,
        doc="Multiply by the inverse document frequency, log((1 + n) / (1 + n_with_word)) + 1, of the texts so far.",
    )
    normalize_text: bool = param(
        default=True,
        rule=boolean,
        doc="Scale the features of each text to length 1, so that long texts do not weigh more than short ones.",
    )

    _fitted = tuple(EncoderState.__annotations__)
    _input_tags = ("allow_nan", "string", "categorical")
    _derived = ("_known",)

    # --- learning ---------------------------------------------------------------------------------------------------

    def _learn(self, X: Any, first: bool) -> Self:
        self._check_params()
        table = self._as_table(X, first)
        kinds = self._decide(table) if first else self.kinds_
        if not first:
            table = self._with_known_columns(table)
        known: list[dict[str, int]] = [{} for _ in kinds] if first else self._places()
        refuse_missing(table, self.missing, type(self).__name__)
        added = self._new_features(table, kinds, known)  # from here on nothing is refused
        if first:
            self._forget(table.columns, kinds)
        base = len(self.added_values_)
        for place, feature in enumerate(added, start=base):
            known[feature.column][feature.value] = place
        self._known = known
        if added:
            self.added_columns_ = np.append(self.added_columns_, np.array([a.column for a in added], dtype=np.int32))
            self.added_values_.extend(a.value for a in added)
        self._count(self._hashed(table, self.fingerprints_), len(table))
        return self

    def _decide(self, table: Table) -> str:
        """The kind of each column, one letter each."""
        who = type(self).__name__
        prose = set() if isinstance(self.text, str) else set(self.text)
        for name in sorted(prose):
            if name not in table.text:
                trouble = "holds numbers" if name in table.number_names else "is not in the table"
                raise ValueError(f"{who}: text must name columns of text, but {name!r} {trouble}.")
        if isinstance(self.text, str):
            head = {name: column[:_ROWS_TO_LOOK_AT].to_list() for name, column in table.text.items()}
            prose = {name for name, values in head.items() if looks_like_prose(values)}
        word = "c" if self.categories == "onehot" else "h"
        return "".join("n" if n not in table.text else "t" if n in prose else word for n in table.columns)

    def _forget(self, columns: list[str], kinds: str) -> None:
        self.columns_, self.kinds_ = list(columns), kinds
        self.added_columns_, self.added_values_ = np.empty(0, dtype=np.int32), []
        n_buckets = int(self.n_buckets) if "h" in kinds or "t" in kinds else 0
        self.fingerprints_ = np.zeros((n_buckets, 3), dtype=np.uint32)  # for each two, and whether there were more
        self.bucket_places_, self.bucket_names_ = np.empty(0, dtype=np.int32), []
        self.n_texts_ = 0
        self.texts_with_ = np.zeros(int(self.n_buckets) if "t" in kinds and self.idf else 0)

    def _places(self) -> list[dict[str, int]]:
        """For each column, the places of its values among the added features."""
        if not hasattr(self, "_known"):
            self._known = [{} for _ in self.kinds_]
            for place, (column, value) in enumerate(zip(self.added_columns_, self.added_values_, strict=True)):
                self._known[column][value] = place
        return self._known

    def _new_features(self, table: Table, kinds: str, known: list[dict[str, int]]) -> list[_Added]:
        """Features to add for these rows, in the order of their first appearance."""
        added = []
        numbers = np.isnan(table.numbers).T if self.missing == "indicator" else ()
        gaps = dict(zip(table.number_names, numbers, strict=False))
        for column, (name, kind) in enumerate(zip(table.columns, kinds, strict=True)):
            if kind == "c":
                values = table.text[name]
                _, fresh = _core.look_up(values.offsets, values.data, known[column])
                self._refuse_too_many(name, len(known[column]) + len(fresh))
                added += [_Added(row, column, value) for value, row in fresh.items()]
            elif kind == "n" and name in gaps and gaps[name].any() and not known[column]:
                added.append(_Added(int(gaps[name].argmax()), column, ""))
        return sorted(added)

    def _count(self, hashed: list[tuple[str, Sparse, Any]], n_rows: int) -> None:
        """Remember names and document frequencies of hashed texts."""
        for kind, (_, buckets, _), (places, names) in hashed:
            if names:
                self.bucket_places_ = np.append(self.bucket_places_, places)
                self.bucket_names_.extend(names)
            if kind == "t" and len(self.texts_with_):
                np.add.at(self.texts_with_, buckets, 1.0)
        self.n_texts_ += n_rows

    _merged = merge_encoders  # for shards: what others learned from later rows
    _emptied = emptied_encoder

    # --- refusals ---------------------------------------------------------------------------------------------------

    def _as_table(self, X: Any, first: bool = False) -> Table:
        who = type(self).__name__
        if sparse.issparse(X):
            raise ValueError(f"{who}: X must be a table, a data frame or an array; sparse rows need no encoding.")
        X = read_input(X, who)
        if isinstance(X, Table):
            return X if first else by_place(X, self.columns_, who)
        width = X.shape[1]
        if not first and width != len(self.columns_):
            raise ValueError(f"X has {width} features, but {who} is expecting {len(self.columns_)} features as input.")
        return Table(counted_names(width) if first else self.columns_, X)

    def _with_known_columns(self, table: Table) -> Table:
        """The table with the columns of the first rows, in their order; others are passed over."""
        numbers = [name for name, kind in zip(self.columns_, self.kinds_, strict=True) if kind == "n"]
        if table.columns == self.columns_ and table.number_names == numbers:  # most of them
            return table
        who = type(self).__name__
        known = set(table.columns)
        for name, kind in zip(self.columns_, self.kinds_, strict=True):
            if name not in known:
                raise ValueError(f"{who}: X must have the columns of the first rows, but {name!r} is missing.")
            if (kind != "n") != (name in table.text):
                gone = np.isnan(table[name]).all() if kind != "n" else not any(table[name])
                if not gone:
                    was, now = ("numbers", "text") if kind == "n" else ("text", "numbers")
                    raise ValueError(f"{who}: column {name!r} held {was} in the first rows, got {now}.")
                table = without_values(table, name, text=kind != "n")
        return table if table.columns == self.columns_ else table.select(self.columns_)

    def _refuse_too_many(self, name: str, n: int) -> None:
        if self.max_categories is not None and n > self.max_categories:
            raise ValueError(
                f"{type(self).__name__}: column {name!r} has more than {self.max_categories} different words; pass "
                'categories="hash", name it in text if it is prose, or raise max_categories.'
            )

    # --- encoding ---------------------------------------------------------------------------------------------------

    def transform(self, X: Any) -> Any:
        """Return the features of rows.

        Parameters
        ----------
        X : Table, data frame or array-like of shape (n_samples, n_columns)
            Must have the columns of :meth:`fit`, in any order.

        Returns
        -------
        csr_array of shape (n_samples, n_features_out), or ndarray if there are only numbers
        """
        encoded = self._encoded(X)
        if isinstance(encoded, np.ndarray):
            return encoded
        made = sparse.csr_array(encoded, shape=(len(encoded[2]) - 1, self.n_features_out_))
        made.has_sorted_indices = made.has_canonical_format = True
        return made

    def _rows(self, X: Any) -> Rows | None:
        """The features of rows as the core takes them; None if they are not sparse, or not all are finite."""
        encoded = self._encoded(X)
        rows = None if isinstance(encoded, np.ndarray) else Rows.csr(*encoded, self.n_features_out_)
        return rows if rows is not None and rows.n_rows and not rows.fault else None

    def _encoded(self, X: Any) -> NDArray[Any] | tuple[NDArray[Any], NDArray[np.int32], NDArray[np.int64]]:
        """The features of rows: an array, or the values, columns and starts of a sparse matrix."""
        check_is_fitted(self)
        table = self._with_known_columns(self._as_table(X))
        refuse_missing(table, self.missing, type(self).__name__)
        if set(self.kinds_) == {"n"}:
            gaps = [np.zeros((len(table), 0))] + [table.numbers[:, [j]] for j in self.added_columns_]
            return np.hstack([np.nan_to_num(table.numbers), np.isnan(np.hstack(gaps))], dtype=table.numbers.dtype)
        pieces: list[tuple[int, Any]] = [(0, table.numbers)]
        for kind, hashed, _ in self._hashed(table, None):
            if kind == "t":
                hashed = _pieces.weighted(hashed, self.words, self.n_texts_, self.texts_with_, self.normalize_text)
            pieces.append((self.kinds_.count("n"), hashed))
        base = self.kinds_.count("n") + len(self.fingerprints_)
        pieces += [(base, places) for places in self._added_places(table)]
        float32 = table.numbers.dtype == np.float32
        return _core.stack_rows(pieces, len(table), float32)

    def _hashed(self, table: Table, seen: NDArray[np.uint32] | None) -> list[tuple[str, Sparse, Any]]:
        """Kind, buckets and new names of each hashed column; `seen` remembers which are new."""
        made = []
        for name, kind in zip(self.columns_, self.kinds_, strict=True):
            n_buckets = len(self.fingerprints_)
            if kind == "h":
                made.append((kind, *_pieces.hash_categories(name, table.text[name], n_buckets, seen)))
            elif kind == "t":
                made.append((kind, *_pieces.hash_words(name, table.text[name], n_buckets, int(self.ngrams), seen)))
        return made

    def _added_places(self, table: Table) -> list[NDArray[np.int32]]:
        """For each column of categories, or of numbers that may be missing, the added feature of each row, or -1."""
        made = []
        for name, kind, known in zip(self.columns_, self.kinds_, self._places(), strict=True):
            if kind == "c":
                values = table.text[name]
                made.append(_core.look_up(values.offsets, values.data, known)[0])
            elif kind == "n" and known:
                made.append(np.where(np.isnan(table[name]), known[""], -1).astype(np.int32))
        return made

    @property
    def groups_(self) -> list[str]:
        """For each feature, the categorical column it belongs to, ``""`` for numbers, buckets and missing values."""
        check_is_fitted(self)
        alone = [""] * (self.kinds_.count("n") + len(self.fingerprints_))
        return alone + [self.columns_[j] if self.kinds_[j] == "c" else "" for j in self.added_columns_]

    @property
    def n_features_in_(self) -> int:
        return len(self.columns_)

    @property
    def feature_names_in_(self) -> NDArray[np.object_]:
        return np.array(self.columns_, dtype=object)

    @property
    def n_features_out_(self) -> int:
        """Number of features so far."""
        return self.kinds_.count("n") + len(self.fingerprints_) + len(self.added_values_)

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[np.object_]:
        """Return the names of all features.

        Parameters
        ----------
        input_features : array-like of str, optional
            Names of the columns, if the rows of :meth:`fit` had none.
        """
        check_is_fitted(self)
        numbers = [name for name, kind in zip(self.columns_, self.kinds_, strict=True) if kind == "n"]
        columns = names_going_in(self.columns_, input_features, numbers)
        names = [name for name, kind in zip(columns, self.kinds_, strict=True) if kind == "n"]
        names += _pieces.bucket_names(self.fingerprints_, self.bucket_places_, self.bucket_names_)
        for column, value in zip(self.added_columns_.tolist(), self.added_values_, strict=True):
            name = columns[column]
            names.append(f"{name} is missing" if self.kinds_[column] == "n" else f"{name}={value}")
        return np.array(names, dtype=object)

    @property
    def origins_(self) -> list[str]:
        """For each feature, the column it is made from; for a bucket, that of the first text in it."""
        check_is_fitted(self)
        origins = [name for name, kind in zip(self.columns_, self.kinds_, strict=True) if kind == "n"]
        hashed = [name for name, kind in zip(self.columns_, self.kinds_, strict=True) if kind in "ht"]
        buckets = [hashed[0]] * len(self.fingerprints_) if hashed else []
        if len(hashed) > 1:
            for place, name in reversed(list(zip(self.bucket_places_.tolist(), self.bucket_names_, strict=True))):
                buckets[place // 2] = next(c for c in hashed if name.startswith((f"{c}=", f"{c}:")))
        return origins + buckets + [self.columns_[j] for j in self.added_columns_.tolist()]

    def _check_loaded(self) -> None:
        """Refuse attributes from a file that do not belong together."""
        check_added(self.columns_, self.kinds_, self.added_columns_, self.added_values_)
        n_buckets = len(self.fingerprints_) if isinstance(self.fingerprints_, np.ndarray) else -1
        right = (n_buckets > 0) == ("h" in self.kinds_ or "t" in self.kinds_) and n_buckets <= MOST_BUCKETS
        require(right, "there must be buckets if and only if something is hashed.")
        check_buckets(n_buckets, self.fingerprints_, self.bucket_places_, self.bucket_names_)
        check_frequencies(n_buckets, self.kinds_.count("t"), self.n_texts_, self.texts_with_)
        self.fingerprints_, self.texts_with_ = np.array(self.fingerprints_), np.array(self.texts_with_)  # to change
        self.__dict__.pop("_known", None)
