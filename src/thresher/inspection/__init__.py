"""Inspection of fitted models: features, groups and kernels in use, curves of columns, and reasons for a prediction.

=============================  ========================================================================================
:func:`features_that_matter`   the features that a model relies on most
:func:`groups_in_use`          the groups of columns that a model has selected
:func:`kernels_in_use`         the kernels that a model has chosen
:func:`contributions`          exact parts of the scores of rows, by column
:func:`column_curves`          the part of the score that each column gives, over its values
:func:`smallest_change`        the smallest change of few columns that changes the prediction for a row
=============================  ========================================================================================
"""

from typing import TYPE_CHECKING

from .._lazy import on_first_use

if TYPE_CHECKING:
    from ._changes import Change, smallest_change
    from ._column_curves import ColumnCurve, column_curves
    from ._contributions import Contributions, contributions
    from ._features import Feature, GroupInUse, KernelInUse, features_that_matter, groups_in_use, kernels_in_use
    from ._features import Weights as Weights
    from ._features import known_names as known_names
    from ._features import largest as largest
    from ._features import last_step as last_step
    from ._reasons import Reasons as Reasons
    from ._reasons import reasons as reasons
else:
    __getattr__, __dir__ = on_first_use(__name__, __file__)

__all__ = [
    "Change",
    "ColumnCurve",
    "Contributions",
    "Feature",
    "GroupInUse",
    "KernelInUse",
    "column_curves",
    "contributions",
    "features_that_matter",
    "groups_in_use",
    "kernels_in_use",
    "smallest_change",
]
