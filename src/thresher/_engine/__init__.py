"""The machinery of a pass: state, learners, losses, orders, outputs, rounds and threads. It does not depend on
estimators."""

from ._calibration import Curve, ScoreCounts
from ._learner import Axis, Learner, largest, surveyed, winning_codes
from ._lesson import Lesson, PassResult, n_workers
from ._losses import (
    FOR_CLASSES,
    FOR_VALUES,
    LOSSES,
    best_constant,
    describe_aliases,
    describe_parameter,
    loss_name,
    loss_params,
    loss_rules,
)
from ._measured_units import COMES_SCALED, ColumnUnits
from ._moments import joined, joint_moments, moments_of
from ._order import are_mixed, generator, passes, slices
from ._parts import are_scaled, matrix_of, part_of
from ._race import Race
from ._row_session import RowSession
from ._shard_rounds import Question, Round, ShardFacts, Sums, add, join, outgrown
from ._state import Field, Memory, State, added, by_gain, merge
from ._target import Target
from ._task_rounds import TaskTarget, check_rounds, encode_tasks, read_rounds, read_tasks, round_orders
from ._threads import allow_threads, in_threads, n_threads, one_blas_thread, thread_pool
from ._tuning import Tuning
from ._turns import in_turn, turn_of
