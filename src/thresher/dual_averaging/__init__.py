"""Dual averaging: sparse linear models for streams, with exact zeros."""

from typing import TYPE_CHECKING

from .._lazy import on_first_use

if TYPE_CHECKING:
    from ._adaptive_l1_rda import AdaptiveL1RDAClassifier, AdaptiveL1RDARegressor
    from ._ftrl import FTRLClassifier, FTRLRegressor
    from ._group_fobos import GroupFOBOSClassifier, GroupFOBOSRegressor
    from ._group_rda import GroupRDAClassifier, GroupRDARegressor
    from ._l1_rda import L1RDAClassifier, L1RDARegressor
    from ._multi_task_fobos import MultiTaskFOBOSClassifier, MultiTaskFOBOSRegressor
    from ._multi_task_rda import MultiTaskRDAClassifier, MultiTaskRDARegressor
    from ._reweighted_l1_rda import ReweightedL1RDAClassifier, ReweightedL1RDARegressor
    from ._reweighted_l2_rda import ReweightedL2RDAClassifier, ReweightedL2RDARegressor
    from ._shared_rda import SharedRDAClassifier
else:
    __getattr__, __dir__ = on_first_use(__name__, __file__)

__all__ = [
    "AdaptiveL1RDAClassifier",
    "AdaptiveL1RDARegressor",
    "FTRLClassifier",
    "FTRLRegressor",
    "GroupFOBOSClassifier",
    "GroupFOBOSRegressor",
    "GroupRDAClassifier",
    "GroupRDARegressor",
    "L1RDAClassifier",
    "L1RDARegressor",
    "MultiTaskFOBOSClassifier",
    "MultiTaskFOBOSRegressor",
    "MultiTaskRDAClassifier",
    "MultiTaskRDARegressor",
    "ReweightedL1RDAClassifier",
    "ReweightedL1RDARegressor",
    "ReweightedL2RDAClassifier",
    "ReweightedL2RDARegressor",
    "SharedRDAClassifier",
]
