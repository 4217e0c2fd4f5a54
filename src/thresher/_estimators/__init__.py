"""Base classes of all estimators, and what their docstrings share."""

from ._advice import MOST_COMPARED, Advice, Baseline, GoodFor, LearningProblem, Power, advice_of
from ._any_estimator import clone, task_of
from ._batches import BatchClassifier, BatchLearner, BatchLesson, BatchRule, Ids, Params, View, take
from ._calibrated import Calibrated
from ._contract import (
    ClustererContract,
    Estimator,
    NumbersFeatures,
    TransformerContract,
    check_is_fitted,
    is_fitted,
    warn_of_convergence,
)
from ._costs import MEASURES, ChoosesCosts, MeasuredLearner
from ._coupled import CoupledLearner, SharedClassifier
from ._declared import Declared, param
from ._joint_classes import JointClassifier, JointLearner
from ._kernel_machine import (
    ChoosesKernel,
    ComparesNeighbors,
    FixedSizeMachine,
    KeepsRows,
    KernelClassifier,
    KernelMachine,
    OwnFunctions,
    ReadsFunctions,
    WeighsLosses,
    with_label,
)
from ._late_means import LateMeans
from ._linear import (
    MOST_PASSES,
    VISITS,
    KeepsVariances,
    LinearClassifier,
    LinearRegressor,
    SelectsFeatures,
    WeighsClasses,
)
from ._loss_params import ClassLoss, ValueLoss
from ._multi_task import MultiTask, MultiTaskClassifier, MultiTaskRegressor
from ._online_linear import OnlineLinear, of_rows_seen_before, read_only
from ._reading import KnowsDoubt, ReadsClasses, ReadsTargets, ReadsValues
from ._seeded import SeededClassifier
from ._self_tuned import AUTO_STEP, SelfTuned, Step, StepInUse
from ._solved import Optimum, SolvedClassifier
