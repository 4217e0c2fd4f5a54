"""What runs a pass: state, learners, losses, orders, outputs, rounds, threads. Knows no estimator."""

from ._learner import Axis, Learner, PassResult, winning_codes
from ._learner_protocol import LearnerProtocol
from ._lesson import Lesson, n_workers
from ._losses import (
    FOR_CLASSES,
    FOR_VALUES,
    LOSSES,
    LossInfo,
    best_constant,
    describe_aliases,
    describe_parameter,
    loss_name,
    loss_params,
    loss_rules,
)
from ._order import are_mixed, generator, passes, slices
from ._shard_rounds import Question, Round, ShardFacts, Sums, add, join, outgrown
from ._state import Field, Memory, State, added, by_gain, merge
from ._target import Coupling, Target
from ._task_rounds import TaskTarget, check_rounds, encode_tasks, read_rounds, read_tasks, round_orders
from ._threads import one_blas_thread

__all__ = [
    "FOR_CLASSES",
    "FOR_VALUES",
    "LOSSES",
    "Axis",
    "Coupling",
    "Field",
    "Learner",
    "LearnerProtocol",
    "Lesson",
    "LossInfo",
    "Memory",
    "PassResult",
    "Question",
    "Round",
    "ShardFacts",
    "State",
    "Sums",
    "Target",
    "TaskTarget",
    "add",
    "added",
    "are_mixed",
    "best_constant",
    "by_gain",
    "check_rounds",
    "describe_aliases",
    "describe_parameter",
    "encode_tasks",
    "generator",
    "join",
    "loss_name",
    "loss_params",
    "loss_rules",
    "merge",
    "n_workers",
    "one_blas_thread",
    "outgrown",
    "passes",
    "read_rounds",
    "read_tasks",
    "round_orders",
    "slices",
    "winning_codes",
]
