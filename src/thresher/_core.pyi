"""The compiled core. Structure (types, lengths, index bounds) is checked here, meaning in ``_validation``."""

from typing import Any, overload

import numpy as np
from numpy.typing import NDArray

class Rows:
    @staticmethod
    def dense(X: NDArray[Any], look: bool = True) -> Rows: ...
    @staticmethod
    def csr(
        values: NDArray[Any], columns: NDArray[Any], starts: NDArray[np.int64], n_features: int, look: bool = True
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
    def starts(self) -> NDArray[np.int64]: ...
    @property
    def fault(self) -> str: ...
    @property
    def fault_at(self) -> tuple[int, int, float]: ...

class CoreLearner:
    @staticmethod
    def fields(params: dict[str, Any]) -> list[tuple[str, str, float, str, str, str, str]]: ...
    @staticmethod
    def run_pass(
        rows: Rows,
        bias: float,
        y: NDArray[np.float64],
        positive: float | None,
        weight: NDArray[np.float64] | None,
        order: NDArray[np.int64] | None,
        state: dict[str, NDArray[np.float64]],
        params: dict[str, Any],
        margins: NDArray[np.float64] | None,
        begin: int = 0,
    ) -> tuple[int, int, int]: ...
    @staticmethod
    def scores(
        rows: Rows, bias: float, state: dict[str, NDArray[np.float64]], params: dict[str, Any], out: NDArray[np.float64]
    ) -> None: ...
    @staticmethod
    def spreads(  # of learners with variances
        rows: Rows, bias: float, state: dict[str, NDArray[np.float64]], params: dict[str, Any], out: NDArray[np.float64]
    ) -> None: ...
    @staticmethod
    def weights(state: dict[str, NDArray[np.float64]], params: dict[str, Any], out: NDArray[np.float64]) -> None: ...
    @staticmethod
    def evidence(  # of learners whose surest weights are read; one number per feature
        state: dict[str, NDArray[np.float64]], params: dict[str, Any], out: NDArray[np.float64]
    ) -> None: ...
    @staticmethod
    def finish(state: dict[str, NDArray[np.float64]], params: dict[str, Any], n_weights: int) -> None: ...
    @staticmethod
    def settle(state: dict[str, NDArray[np.float64]], params: dict[str, Any], n_weights: int) -> None: ...
    @staticmethod
    def rebuild(state: dict[str, NDArray[np.float64]], params: dict[str, Any], n_weights: int) -> None: ...

class Pa(CoreLearner): ...
class ArowDiagonal(CoreLearner): ...
class ArowFull(CoreLearner): ...
class ArowSelecting(CoreLearner): ...
class CwDiagonal(CoreLearner): ...
class CwFull(CoreLearner): ...
class CwVarianceDiagonal(CoreLearner): ...
class CwVarianceFull(CoreLearner): ...
class ScwDiagonal(CoreLearner): ...
class ScwFull(CoreLearner): ...
class NarowDiagonal(CoreLearner): ...
class NarowFull(CoreLearner): ...
class NherdDiagonal(CoreLearner): ...
class NherdFull(CoreLearner): ...
class SopDiagonal(CoreLearner): ...
class SopFull(CoreLearner): ...
class Ofs(CoreLearner): ...
class Petrun(CoreLearner): ...
class Sofs(CoreLearner): ...
class Mbpa(CoreLearner): ...
class Csoal(CoreLearner): ...
class Pegasos(CoreLearner): ...
class PegasosBatch(CoreLearner): ...
class DropoutPegasos(CoreLearner): ...
class L1Rda(CoreLearner): ...
class L1RdaBatch(CoreLearner): ...
class AdaptiveL1Rda(CoreLearner): ...
class Ftrl(CoreLearner): ...
class ReweightedL1Rda(CoreLearner): ...
class ReweightedL2Rda(CoreLearner): ...
class MultiTaskRda(CoreLearner): ...  # run_pass, scores and weights as in bind_matrix.hpp
class MultiTaskFobos(CoreLearner): ...
class SharedRda(CoreLearner): ...
class PegasosSnd(CoreLearner): ...
class GroupLassoRda(CoreLearner): ...
class GroupLassoRdaOverlap(CoreLearner): ...
class SparseGroupRda(CoreLearner): ...
class SparseGroupRdaOverlap(CoreLearner): ...
class GroupFobos(CoreLearner): ...

class Groups:
    def __init__(self, starts: NDArray[np.int64], members: NDArray[np.int32], n_features: int) -> None: ...
    @property
    def overlapping(self) -> bool: ...
    @property
    def n_covered(self) -> int: ...
    @property
    def starts(self) -> NDArray[np.int64]: ...
    @property
    def members(self) -> NDArray[np.int32]: ...
    def touched(self, columns: NDArray[Any]) -> NDArray[np.int64]: ...

def linear_scores(rows: Rows, bias: float, weights: NDArray[np.float64], out: NDArray[np.float64]) -> None: ...
def take_columns(rows: Rows, bias: float, columns: NDArray[np.int64], out: NDArray[np.float64]) -> None: ...
def add_columns(
    rows: Rows,
    a: NDArray[np.float64],
    b: NDArray[np.float64],
    first: NDArray[np.float64],
    second: NDArray[np.float64],
) -> None: ...
def ascend(
    X: NDArray[np.float64],
    y: NDArray[np.float64],
    cost: NDArray[np.float64],
    squared: bool,
    a: NDArray[np.float64],
    w: NDArray[np.float64],
) -> float: ...
def best_outside(
    a: NDArray[np.float64],
    b: NDArray[np.float64],
    s: float,
    c: float,
    pool: NDArray[np.int64],
    out: NDArray[np.int64],
) -> int: ...
def condition(mean: NDArray[np.float64], covariance: NDArray[np.float64], n_first: int, keep: int) -> None: ...
def group_ascend(
    X: NDArray[np.float64],
    ends: NDArray[np.int64],
    free: int,
    y: NDArray[np.float64],
    cost: NDArray[np.float64],
    C: float,
    sigma: float,
    ridge: float,
    step: str,
    w0: NDArray[np.float64],
    a: NDArray[np.float64],
    z: NDArray[np.float64],
    w: NDArray[np.float64],
) -> float: ...
def add_moments(
    rows: Rows, n: NDArray[np.float64], mean: NDArray[np.float64], m2: NDArray[np.float64], missing: NDArray[np.float64]
) -> tuple[int, int, float] | None: ...
def assign(
    rows: Rows,
    begin: int,
    end: int,
    table: NDArray[np.float64],
    offsets: NDArray[np.float64],
    place: NDArray[np.int32] | None,
    middle: NDArray[np.float64] | None,
    weight: NDArray[np.float64] | None,
    labels: NDArray[np.int32],
    costs: NDArray[np.float64],
    sums: NDArray[np.float64] | None = None,
    weights: NDArray[np.float64] | None = None,
    wide: bool = True,
) -> None: ...
def centre_costs(
    rows: Rows,
    begin: int,
    table: NDArray[np.float64],
    offsets: NDArray[np.float64],
    place: NDArray[np.int32] | None,
    middle: NDArray[np.float64] | None,
    out: NDArray[np.float64],
) -> None: ...
def learn_prototype(
    rows: Rows,
    order: NDArray[np.int64],
    w: NDArray[np.float64],
    alpha: float,
    eta0: float,
    smoothing: float,
    hinge: bool,
    tol: float,
) -> int: ...
def row_squares(rows: Rows, bias: float) -> NDArray[np.float64]: ...
def sdca_epoch(
    rows: Rows,
    bias: float,
    y: NDArray[np.float64],
    positive: float,
    share: NDArray[np.float64],
    order: NDArray[np.int64],
    b: NDArray[np.float64],
    v: NDArray[np.float64],
    l1: float,
    l2: float,
    loss: str,
) -> None: ...
def sdca_bounds(
    rows: Rows,
    bias: float,
    y: NDArray[np.float64],
    positive: float,
    share: NDArray[np.float64],
    b: NDArray[np.float64],
    v: NDArray[np.float64],
    w: NDArray[np.float64],
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
) -> tuple[NDArray[np.float64], NDArray[Any], NDArray[Any], NDArray[np.int64], int, int, int, int]: ...
def parse_csv(
    text: Any,
    *,
    kinds: str,
    final: bool = True,
    first_line: int = 1,
    delimiter: str = ",",
    target: int = -1,
    float32: bool = False,
    skip_malformed: bool = False,
    max_rows: int = -1,
) -> tuple[Any, NDArray[Any], list[tuple[NDArray[np.int64], NDArray[np.uint8]]], int, int, int]: ...
def split_csv(
    text: Any,
    *,
    final: bool = True,
    first_line: int = 1,
    delimiter: str = ",",
    skip_malformed: bool = False,
    max_rows: int = -1,
) -> tuple[list[list[str]], int, int]: ...
def count_numbers(offsets: NDArray[np.int64], data: NDArray[np.uint8]) -> tuple[int, int, int]: ...
def factorize(offsets: NDArray[np.int64], data: NDArray[np.uint8]) -> tuple[NDArray[np.int32], NDArray[np.int64]]: ...

# Texts that were new to their buckets: 2 * bucket + slot, and the texts as offsets and bytes.
_News = tuple[NDArray[np.int32], NDArray[np.int64], NDArray[np.uint8]]

def hash_texts(
    offsets: NDArray[np.int64],
    data: NDArray[np.uint8],
    prefix: bytes,
    n_buckets: int,
    seen: NDArray[np.uint32] | None = None,
) -> tuple[NDArray[np.int32], _News]: ...
def hash_words(
    offsets: NDArray[np.int64],
    data: NDArray[np.uint8],
    prefix: bytes,
    n_buckets: int,
    ngrams: int = 1,
    seen: NDArray[np.uint32] | None = None,
) -> tuple[NDArray[np.float64], NDArray[np.int32], NDArray[np.int64], _News]: ...
def stack_rows(
    pieces: list[tuple[NDArray[np.float64], NDArray[np.int32], NDArray[np.int64]]], n_rows: int, float32: bool = False
) -> tuple[NDArray[Any], NDArray[np.int32], NDArray[np.int64]]: ...
def format_svmlight(
    values: NDArray[Any],
    columns: NDArray[Any],
    starts: NDArray[np.int64],
    targets: NDArray[np.float64],
    zero_based: bool,
) -> bytes: ...
def all_finite(x: NDArray[np.float64]) -> bool: ...
def losses() -> list[dict[str, Any]]: ...
@overload
def loss_value(loss: str, p: float, y: float, tau: float = 0.5, epsilon: float = 0.1) -> float: ...
@overload
def loss_value(
    loss: str, p: NDArray[np.float64], y: NDArray[np.float64], tau: float = 0.5, epsilon: float = 0.1
) -> NDArray[np.float64]: ...
@overload
def loss_slope(loss: str, p: float, y: float, tau: float = 0.5, epsilon: float = 0.1) -> float: ...
@overload
def loss_slope(
    loss: str, p: NDArray[np.float64], y: NDArray[np.float64], tau: float = 0.5, epsilon: float = 0.1
) -> NDArray[np.float64]: ...
@overload
def loss_pull(loss: str, p: float, y: float, tau: float = 0.5, epsilon: float = 0.1) -> float: ...
@overload
def loss_pull(
    loss: str, p: NDArray[np.float64], y: NDArray[np.float64], tau: float = 0.5, epsilon: float = 0.1
) -> NDArray[np.float64]: ...
@overload
def loss_conjugate(loss: str, u: float, y: float, tau: float = 0.5, epsilon: float = 0.1) -> float: ...
@overload
def loss_conjugate(
    loss: str, u: NDArray[np.float64], y: NDArray[np.float64], tau: float = 0.5, epsilon: float = 0.1
) -> NDArray[np.float64]: ...

class BoxQP:
    def __init__(
        self,
        matrix: Any,
        room: int,
        diagonal: NDArray[np.float64],
        linear: NDArray[np.float64],
        lower: NDArray[np.float64],
        upper: NDArray[np.float64],
        epsilon: NDArray[np.float64],
        sign: NDArray[np.float64],
        total: NDArray[np.float64],
        coupling: NDArray[np.float64],
        x: NDArray[np.float64],
    ) -> None: ...
    def run(self, n_steps: int, tol: float) -> bool: ...
    def conclude(self) -> None: ...
    def read(self, scores: NDArray[np.float64], multiplier: NDArray[np.float64]) -> tuple[float, float, int]: ...

def box_descend(
    rows: Rows,
    bias: float,
    squares: NDArray[np.float64],
    linear: NDArray[np.float64],
    lower: NDArray[np.float64],
    upper: NDArray[np.float64],
    epsilon: NDArray[np.float64],
    order: NDArray[np.int64],
    x: NDArray[np.float64],
    w: NDArray[np.float64],
    slack: NDArray[np.float64],
) -> None: ...
def box_certify(
    scores: NDArray[np.float64],
    linear: NDArray[np.float64],
    lower: NDArray[np.float64],
    upper: NDArray[np.float64],
    epsilon: NDArray[np.float64],
    total: float,
    x: NDArray[np.float64],
) -> tuple[float, float, float]: ...
