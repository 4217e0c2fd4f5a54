"""The gate: user data become rows, targets, weights, labels and tables; rules and ranges of parameters."""

from ._arguments import checked
from ._arrays import (
    as_float64,
    beside,
    check_room,
    empty,
    factor_beside,
    is_finite,
    is_foreign_array,
    k_smallest,
    kth_smallest,
    labels_beside,
    namespace,
    on_host,
    row_blocks,
    solve_lower,
    take,
    with_diagonal,
    zeros,
)
from ._column_kinds import ColumnFound, ReadingOptions, find_readings, looks_like_prose
from ._column_reading import KINDS, ColumnReading
from ._frame_target import read_target, split_target
from ._frames import arrow_kind, arrow_numbers, as_arrow, frame_names, is_frame, known_frame, need_pyarrow
from ._labels import (
    at_least_two,
    balanced,
    carrying,
    check_classes,
    check_loaded,
    class_factors,
    encode,
    find_classes,
    joined,
)
from ._names import similar_names
from ._placing import bring_home, computing_on, copied_to, find_device
from ._ranges import Choice, Log, Range, Uniform, Whole, as_space, is_same, search_space
from ._rules import (
    HUGE,
    Rule,
    above_half,
    above_one,
    at_least,
    at_least_one,
    auto,
    boolean,
    check_params,
    check_value,
    class_weights,
    count_of_jobs,
    divisor,
    fraction,
    label,
    non_negative,
    none,
    number,
    one_of,
    one_per_feature,
    positive,
    seed,
    shown,
)
from ._scipy import after_import, linalg, optimize, sparse, spatial, special
from ._sparse_formats import as_csr, dense_weights
from ._sparse_rows import SparseRows
from ._table import Table, Text, written_date
from ._table_reading import ROWS_TO_LOOK_AT, read_table, understand_table
from ._types import Array
from ._validation import (
    UncheckedRows,
    as_column,
    as_matrix,
    as_rows,
    check_array,
    check_features,
    check_length,
    check_loaded_arrays,
    check_loaded_features,
    check_matrix,
    check_targets,
    check_weights,
    commit_features,
    commit_growth,
    one_for_each,
    widened,
)
from ._values import distinct, float_array
