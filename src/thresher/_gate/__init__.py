"""The gate: user data become rows, targets, weights, labels and tables; rules and ranges of parameters."""

from ._arguments import checked
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
from ._ranges import Choice, Log, Range, Uniform, Whole, as_space, is_same, search_space
from ._rules import (
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
    fraction,
    label,
    non_negative,
    none,
    number,
    one_of,
    one_per_feature,
    positive,
    seed,
)
from ._table import Table, Text
from ._types import Array
from ._validation import (
    HUGE,
    as_column,
    as_matrix,
    as_rows,
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
    refuse_values,
    widened,
)
