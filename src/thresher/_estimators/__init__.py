"""What scikit-learn sees: the base classes of all estimators and what their docstrings share."""

from ._advice import MOST_COMPARED, Advice, Baseline, GoodFor, LearningProblem, Power, advice_of
from ._any_estimator import clone, task_of
from ._batches import BatchClassifier, BatchLearner, BatchLesson, BatchRule, Ids, Params, View, matrix_of, part_of, take
from ._contract import (
    ClassifierContract,
    ClustererContract,
    Estimator,
    NumbersFeatures,
    RegressorContract,
    TransformerContract,
    check_is_fitted,
    is_fitted,
    warn_of_convergence,
)
from ._costs import MEASURES, ChoosesCosts, MeasuredLearner
from ._coupled import CoupledLearner, SharedClassifier
from ._declared import Declared, Param, param
from ._docs import fill
from ._estimator_protocol import EstimatorProtocol
from ._kernel_machine import ChoosesKernel, FixedSizeMachine, KernelClassifier, KernelMachine
from ._linear import LinearClassifier, LinearRegressor, LinearScores, UsesThreads, WeighsClasses
from ._loss_params import ClassLoss, ValueLoss
from ._multi_task import MultiTask, MultiTaskClassifier, MultiTaskRegressor
from ._online_linear import OnlineLinear, read_only
from ._reading import GaussianProbability, ReadsClasses, ReadsTargets, ReadsValues
from ._seeded import SeededClassifier
from ._solved import Optimum, SolvedClassifier

__all__ = [
    "MEASURES",
    "MOST_COMPARED",
    "Advice",
    "Baseline",
    "BatchClassifier",
    "BatchLearner",
    "BatchLesson",
    "BatchRule",
    "ChoosesCosts",
    "ChoosesKernel",
    "ClassLoss",
    "ClassifierContract",
    "ClustererContract",
    "CoupledLearner",
    "Declared",
    "Estimator",
    "EstimatorProtocol",
    "FixedSizeMachine",
    "GaussianProbability",
    "GoodFor",
    "Ids",
    "KernelClassifier",
    "KernelMachine",
    "LearningProblem",
    "LinearClassifier",
    "LinearRegressor",
    "LinearScores",
    "MeasuredLearner",
    "MultiTask",
    "MultiTaskClassifier",
    "MultiTaskRegressor",
    "NumbersFeatures",
    "OnlineLinear",
    "Optimum",
    "Param",
    "Params",
    "Power",
    "ReadsClasses",
    "ReadsTargets",
    "ReadsValues",
    "RegressorContract",
    "SeededClassifier",
    "SharedClassifier",
    "SolvedClassifier",
    "TransformerContract",
    "UsesThreads",
    "ValueLoss",
    "View",
    "WeighsClasses",
    "advice_of",
    "check_is_fitted",
    "clone",
    "fill",
    "is_fitted",
    "matrix_of",
    "param",
    "part_of",
    "read_only",
    "take",
    "task_of",
    "warn_of_convergence",
]
