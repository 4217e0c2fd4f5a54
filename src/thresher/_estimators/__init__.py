"""What scikit-learn sees: the base classes of all estimators and what their docstrings share."""

from ._advice import MOST_COMPARED, Advice, Baseline, GoodFor, LearningProblem, Power, advice_of
from ._batches import BatchClassifier, BatchLearner, BatchRule, Ids, Lesson, Params, View, matrix_of, part_of, take
from ._costs import MEASURES, ChoosesCosts, MeasuredLearner, measure_rule
from ._coupled import CoupledLearner, SharedClassifier
from ._docs import fill
from ._kernel_machine import KERNELS, KernelMachine, as_kernel
from ._linear import LinearClassifier, LinearRegressor, OnlineLinear, read_only
from ._multi_task import MultiTask, MultiTaskClassifier, MultiTaskRegressor
from ._reading import ReadsClasses, ReadsValues, shares_of_classes
from ._solved import Optimum, SolvedClassifier

__all__ = [
    "KERNELS",
    "MEASURES",
    "MOST_COMPARED",
    "Advice",
    "Baseline",
    "BatchClassifier",
    "BatchLearner",
    "BatchRule",
    "ChoosesCosts",
    "CoupledLearner",
    "GoodFor",
    "Ids",
    "KernelMachine",
    "LearningProblem",
    "Lesson",
    "LinearClassifier",
    "LinearRegressor",
    "MeasuredLearner",
    "MultiTask",
    "MultiTaskClassifier",
    "MultiTaskRegressor",
    "OnlineLinear",
    "Optimum",
    "Params",
    "Power",
    "ReadsClasses",
    "ReadsValues",
    "SharedClassifier",
    "SolvedClassifier",
    "View",
    "advice_of",
    "as_kernel",
    "fill",
    "matrix_of",
    "measure_rule",
    "part_of",
    "read_only",
    "shares_of_classes",
    "take",
]
