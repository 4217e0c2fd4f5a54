"""The compiled core. Structure (types, lengths, index bounds) is checked here, meaning in ``_gate``."""

from collections.abc import Iterable
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Longs = NDArray[np.int64]
Ints = NDArray[np.int32]
Bytes = NDArray[np.uint8]
State = dict[str, Floats]
Params = dict[str, Any]
_Numbers = TypeVar("_Numbers", float, Floats)

class Rows:
    @staticmethod
    def dense(X: NDArray[Any], look: bool = True, later: bool = False) -> Rows: ...
    @staticmethod
    def csr(
        values: NDArray[Any],
        columns: NDArray[Any],
        starts: Longs,
        n_features: int,
        look: bool = True,
        later: bool = False,
    ) -> Rows: ...
    def look(self) -> None: ...
    @property
    def n_rows(self) -> int: ...
    @property
    def n_features(self) -> int: ...
    @property
    def values(self) -> NDArray[Any]: ...
    @property
    def columns(self) -> NDArray[Any] | None: ...
    @property
    def starts(self) -> Longs: ...
    @property
    def known_fault(self) -> str: ...
    @property
    def fault(self) -> str: ...
    @property
    def fault_at(self) -> tuple[int, int, float]: ...

class RowReader:
    def __init__(self, who: str, names: Iterable[str], n_features: int) -> None: ...
    def read(self, x: Any, learns: bool) -> int: ...
    def take(self, rows: Rows) -> None: ...
    def accept(self) -> list[str]: ...
    def rows(self) -> Rows: ...
    def values(self) -> Floats: ...
    @property
    def n_features(self) -> int: ...
    @property
    def width(self) -> int: ...

def same_entries(entries: dict[str, Any], names: tuple[str, ...], values: tuple[Any, ...]) -> bool: ...

class RowModels:
    LEARNED: int
    LEFT: int
    OVERFLOWED: int

    def learn(self, x: RowReader, y: float, weight: float, is_new: bool) -> int: ...
    def score(self, x: RowReader) -> float: ...
    def failed(self) -> list[int]: ...
    @property
    def has_ended(self) -> bool: ...

class Several:
    def run(  # for each of `which`, the step that diverged, or -1
        self,
        rows: Rows,
        bias: float,
        y: Floats,
        positive: Floats,
        weight: Floats | None,
        order: Longs | None,
        which: Longs,
        margins: Floats,
    ) -> list[int]: ...
    def close(self) -> None: ...
    def __enter__(self) -> Several: ...
    def __exit__(self, *error: object) -> None: ...

class RowDoor:
    def __init__(
        self,
        reader: RowReader | None,
        learns: RowModels | None,
        reads: RowModels | None,
        names: tuple[str, ...],
        params: tuple[Any, ...],
        views: Any,
        targets: dict[Any, tuple[float, float]] | None,
        labels: list[Any] | None,
    ) -> None: ...
    def holds(self, model: dict[str, Any]) -> bool: ...
    def learn(self, model: dict[str, Any], x: Any, y: Any, weight: Any) -> int: ...
    def score(self, x: Any) -> float | None: ...
    def predict(self, x: Any) -> Any: ...
    @property
    def reader(self) -> RowReader: ...

class CoreLearner:
    @staticmethod
    def fields(params: Params) -> list[tuple[str, str, float, str, str, str, str, str, str]]: ...
    @staticmethod
    def run_pass(
        rows: Rows,
        bias: float,
        y: Floats,
        positive: float | None,
        weight: Floats | None,
        order: Longs | None,
        state: State,
        params: Params,
        margins: Floats | None,
        begin: int = 0,
        other_rows: Floats | None = None,
        other_at: Longs | None = None,
        other_scores: Floats | None = None,
        count_scores: bool = False,
    ) -> tuple[int, int, int]: ...
    @staticmethod
    def several(  # of learners that can learn several outputs in one pass
        states: list[State], params: list[Params], n_weights: int, n_to_come: int
    ) -> Several: ...
    @staticmethod
    def scores(rows: Rows, bias: float, state: State, params: Params, out: Floats) -> None: ...
    @staticmethod
    def row_models(  # of learners of one output
        states: list[State],
        params: list[Params],
        n_weights: int,
        bias: float,
        reads: int,
        until: float | None,
        counts_scores: bool,
        measured: tuple[float, float] | None,
    ) -> RowModels: ...
    @staticmethod
    def spreads(  # of learners with variances
        rows: Rows, bias: float, state: State, params: Params, out: Floats
    ) -> None: ...
    @staticmethod
    def weights(state: State, params: Params, out: Floats) -> None: ...
    @staticmethod
    def survey(  # of learners of one output: whether weights are finite, and whether any but the constant's is not 0
        state: State, params: Params, n_weights: int
    ) -> tuple[bool, bool]: ...
    @staticmethod
    def evidence(  # of learners whose surest weights are read; one number per feature
        state: State, params: Params, out: Floats
    ) -> None: ...
    @staticmethod
    def finish(state: State, params: Params, n_weights: int) -> None: ...
    @staticmethod
    def settle(state: State, params: Params, n_weights: int) -> None: ...
    @staticmethod
    def rebuild(state: State, params: Params, n_weights: int) -> None: ...

def __getattr__(name: str) -> type[CoreLearner]: ...  # every learner that a header in core/learners offers

class Groups:
    def __init__(self, starts: Longs, members: Ints, n_features: int) -> None: ...
    @property
    def overlapping(self) -> bool: ...
    @property
    def n_covered(self) -> int: ...
    @property
    def starts(self) -> Longs: ...
    @property
    def members(self) -> Ints: ...
    def touched(self, columns: NDArray[Any]) -> Longs: ...

def linear_scores(rows: Rows, bias: float, weights: Floats, out: Floats) -> None: ...
def take_columns(rows: Rows, bias: float, columns: Longs, out: Floats) -> None: ...
def take_sparse(rows: Rows, bias: float, columns: Longs) -> Rows: ...
def add_products(rows: Rows, weight: Floats, out: Floats) -> None: ...
def add_columns(rows: Rows, a: Floats, b: Floats, first: Floats, second: Floats) -> None: ...
def ascend(X: Floats, y: Floats, cost: Floats, squared: bool, a: Floats, w: Floats) -> float: ...
def best_outside(a: Floats, b: Floats, s: float, c: float, pool: Longs, out: Longs) -> int: ...
def condition(mean: Floats, covariance: Floats, n_first: int, keep: int) -> None: ...

class GroupRows:
    def __init__(self, fixed: Floats) -> None: ...
    def add(self, X: Floats, rows: Longs) -> None: ...

def group_ascend(
    rows: GroupRows,
    y: Floats,
    cost: Floats,
    C: float,
    sigma: float,
    ridge: float,
    step: str,
    w0: Floats,
    a: Floats,
    z: Floats,
    w: Floats,
) -> tuple[float, float, float]: ...

class Columns:
    @staticmethod
    def of(rows: Rows) -> Columns: ...
    ids: Longs
    starts: Longs
    row_of: Ints
    values: Floats
    squares: Floats

class ColumnSearch:
    def __init__(self, columns: Columns, precision: Floats, mean: Floats) -> None: ...
    def best(self, share: Floats, left: NDArray[np.bool_], out: Longs) -> int: ...

def best_columns(scores: Floats, left: NDArray[np.bool_], out: Longs) -> int: ...
def count_scores(
    scores: Floats,
    y: Floats,
    weight: Floats | None,
    order: Longs | None,
    bins: Floats,
    clock: Floats,
    drift: Floats,
    ages: bool = True,
) -> None: ...
def score_bin_centres() -> Floats: ...
def add_moments(rows: Rows, n: Floats, mean: Floats, m2: Floats, missing: Floats) -> tuple[int, int, float] | None: ...
def spline_features(
    rows: NDArray[Any], knots: Floats, starts: Longs, means: Floats, out: NDArray[Any]
) -> tuple[int, int, float] | None: ...
def measure_lengths(rows: Rows, part: Longs, sum: Floats, count: Floats) -> None: ...
def measure_rows(rows: Rows, part: Longs, n: float, mean: Floats, m2: Floats, count: Floats) -> None: ...
def scale_rows(
    rows: Rows, part: Longs, shift: Floats, inverse: Floats, far: float, out: Floats, is_far: Bytes | None = None
) -> None: ...
def assign(
    rows: Rows,
    begin: int,
    end: int,
    table: Floats,
    offsets: Floats,
    place: Ints | None,
    middle: Floats | None,
    weight: Floats | None,
    labels: Ints,
    costs: Floats | None,
    sums: Floats | None = None,
    weights: Floats | None = None,
    bytes: int = 64,
) -> None: ...
def centre_costs(
    rows: Rows, begin: int, table: Floats, offsets: Floats, place: Ints | None, middle: Floats | None, out: Floats
) -> None: ...
def learn_prototype(
    rows: Rows, order: Longs, w: Floats, alpha: float, eta0: float, smoothing: float, hinge: bool
) -> None: ...
def row_squares(rows: Rows, bias: float, middle: Floats | None = None) -> Floats: ...
def sdca_epoch(
    rows: Rows,
    bias: float,
    y: Floats,
    positive: float,
    share: Floats,
    order: Longs,
    b: Floats,
    v: Floats,
    l1: float,
    l2: float,
    loss: str,
) -> None: ...
def sdca_bounds(
    rows: Rows,
    bias: float,
    y: Floats,
    positive: float,
    share: Floats,
    b: Floats,
    v: Floats,
    w: Floats,
    l1: float,
    l2: float,
    loss: str,
) -> tuple[float, float]: ...
def parse_svmlight(
    text: Any,
    *,
    final: bool = True,
    first_line: int = 1,
    zero_based: bool = False,
    n_features: int | None = None,
    float32: bool = False,
    skip_malformed: bool = False,
    max_rows: int = -1,
    max_features: int | None = None,
) -> tuple[Floats, NDArray[Any], NDArray[Any], Longs, int, int, int, int]: ...

class ValueFormat:
    def __init__(
        self,
        kind: str,
        *,
        decimal: str = ".",
        thousands: str = "",
        unit: str = "",
        pattern: str = "",
        yes: list[str] = ...,
        no: list[str] = ...,
        missing: list[str] = ...,
    ) -> None: ...

def read_values(offsets: Longs, data: Bytes, format: ValueFormat) -> tuple[Floats, int, int, int]: ...
def parse_vw(
    text: Any,
    *,
    n_features: int,
    final: bool = True,
    first_line: int = 1,
    float32: bool = False,
    skip_malformed: bool = False,
    max_rows: int = -1,
) -> tuple[Floats, Floats, NDArray[Any], Ints, Longs, int, int, int]: ...
def name_vw(
    text: Any, *, n_features: int, wanted: Ints, seen: NDArray[np.uint32], final: bool = True
) -> tuple[Ints, Longs, Bytes, int, int]: ...
def parse_csv(
    text: Any,
    *,
    kinds: str,
    final: bool = True,
    first_line: int = 1,
    delimiter: str = ",",
    target: int = -1,
    formats: dict[int, ValueFormat] = ...,
    float32: bool = False,
    skip_malformed: bool = False,
    max_rows: int = -1,
) -> tuple[Any, NDArray[Any], list[tuple[Longs, Bytes]], int, int, int]: ...
def split_csv(
    text: Any,
    *,
    final: bool = True,
    first_line: int = 1,
    delimiter: str = ",",
    skip_malformed: bool = False,
    max_rows: int = -1,
) -> tuple[list[list[str]], int, int]: ...
def count_numbers(offsets: Longs, data: Bytes) -> tuple[int, int, int]: ...
def factorize(offsets: Longs, data: Bytes) -> tuple[Ints, Longs]: ...
def take_texts(offsets: Longs, data: Bytes, places: Longs) -> tuple[Longs, Bytes]: ...
def look_up(offsets: Longs, data: Bytes, known: dict[str, int]) -> tuple[Ints, dict[str, int]]: ...
def date_parts(days: Floats) -> tuple[Longs, Longs, Longs]: ...

# Texts that were new to their buckets: 2 * bucket + slot, and the texts as offsets and bytes.
_News = tuple[Ints, Longs, Bytes]

def hash_texts(
    offsets: Longs, data: Bytes, prefix: bytes, n_buckets: int, seen: NDArray[np.uint32] | None = None
) -> tuple[Ints, _News]: ...
def hash_words(
    offsets: Longs, data: Bytes, prefix: bytes, n_buckets: int, ngrams: int = 1, seen: NDArray[np.uint32] | None = None
) -> tuple[Floats, Ints, Longs, _News]: ...
def stack_rows(
    pieces: list[tuple[int, NDArray[Any] | tuple[Floats, Ints, Longs]]], n_rows: int, float32: bool = False
) -> tuple[NDArray[Any], Ints, Longs]: ...
def format_svmlight(
    values: NDArray[Any], columns: NDArray[Any], starts: Longs, targets: Floats, zero_based: bool
) -> bytes: ...
def set_n_threads(n: int) -> None: ...
def all_finite(x: Floats) -> bool: ...
def losses() -> list[dict[str, Any]]: ...
def loss_value(loss: str, p: _Numbers, y: _Numbers, tau: float = 0.5, epsilon: float = 0.1) -> _Numbers: ...
def loss_slope(loss: str, p: _Numbers, y: _Numbers, tau: float = 0.5, epsilon: float = 0.1) -> _Numbers: ...
def loss_pull(loss: str, p: _Numbers, y: _Numbers, tau: float = 0.5, epsilon: float = 0.1) -> _Numbers: ...
def loss_conjugate(loss: str, u: _Numbers, y: _Numbers, tau: float = 0.5, epsilon: float = 0.1) -> _Numbers: ...

class BlockSolver:
    def __init__(
        self,
        columns: list[Rows],  # of each task: rows of the transposed matrix
        y: list[Floats],
        share: list[Floats],
        loss: str,
        epsilon: float,
        fit_intercept: bool,
        starts: Longs,
        task: Ints,
        column: Longs,
    ) -> None: ...
    def solve(
        self, weight: Floats, norm: float, l1: float, l2: float, w: Floats, c: Floats, tol: float, max_iter: int
    ) -> tuple[float, float, int]: ...
    def largest(self, weight: Floats, norm: float, l1: float) -> float: ...

def look_at_squares(
    stack: NDArray[Any], most: Floats, same: NDArray[np.bool_], diagonals: Floats, factors: Floats, sum: Floats
) -> None: ...
def nearly_symmetric(matrix: NDArray[Any], atol: float, rtol: float) -> bool: ...
def take_half(matrix: NDArray[Any], places: Longs, same: bool, out: Floats) -> None: ...
def add_halves(matrices: NDArray[Any], weights: Floats, rows: Longs, sum: Floats) -> None: ...
def half_energies(matrices: NDArray[Any], x: Floats, some: Longs, out: Floats) -> None: ...
def mirrored(lower: Floats, factor: float, matrix: Floats) -> None: ...
def add_blocks(stack: NDArray[Any], weights: Floats, rows: Longs, columns: Longs, out: Floats) -> None: ...

class BoxQP:
    def __init__(
        self,
        matrix: Any,
        room: int,
        diagonal: Floats,
        linear: Floats,
        lower: Floats,
        upper: Floats,
        epsilon: Floats,
        sign: Floats,
        total: Floats,
        coupling: Floats,
        x: Floats,
    ) -> None: ...
    def run(self, n_steps: int, tol: float) -> bool: ...
    def conclude(self) -> None: ...
    def read(self, scores: Floats, multiplier: Floats) -> tuple[float, float, int]: ...

def box_descend(
    rows: Rows,
    bias: float,
    squares: Floats,
    linear: Floats,
    lower: Floats,
    upper: Floats,
    epsilon: Floats,
    order: Longs,
    x: Floats,
    w: Floats,
    slack: Floats,
) -> None: ...
def box_certify(
    scores: Floats, linear: Floats, lower: Floats, upper: Floats, epsilon: Floats, total: float, x: Floats
) -> tuple[float, float, float]: ...
