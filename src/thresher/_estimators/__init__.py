"""Base classes of all estimators, and what their docstrings share."""

from typing import TYPE_CHECKING

from .._lazy import on_first_use

if TYPE_CHECKING:
    from ._advice import KINDS, MOST_COMPARED, Advice, GoodFor, LearningProblem, Power, Variant, advice_of
    from ._any_estimator import clone, task_of
    from ._batches import BatchClassifier, BatchLearner, BatchLesson, BatchRule, Ids, Params, View, take
    from ._calibrated import Calibrated, CalibratedOnFolds, row_keys
    from ._contract import (
        ClustererContract,
        Estimator,
        NumbersFeatures,
        SetsOutput,
        TransformerContract,
        check_is_fitted,
        is_fitted,
        plain_transform,
        warn_of_convergence,
    )
    from ._costs import MEASURES, ChoosesCosts, MeasuredLearner
    from ._coupled import CoupledLearner, SharedClassifier
    from ._declared import Declared, param
    from ._joint_classes import JointByRivals, JointClassifier, JointLearner
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
    from ._late_means import MEANS_RACE, LateMeans
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
    from ._one_row import LearnsRows
    from ._online_linear import OnlineLinear, of_rows_seen_before, read_only
    from ._reading import KnowsDoubt, LinearClasses, ReadsClasses, ReadsTargets, ReadsValues
    from ._seeded import SeededClassifier
    from ._self_tuned import AUTO_STEP, SelfTuned, Step, StepInUse
    from ._shares import NEAR, SHARPEST
    from ._solved import Optimum, SolvedClassifier
    from ._thresholds import cost_rule
else:
    __getattr__, __dir__ = on_first_use(__name__, __file__)
