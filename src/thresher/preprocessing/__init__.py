"""Transformers that learn batch by batch and are saved with the model.

=============================  ========================================================================================
:class:`StreamingPipeline`     transformers and a learner as one model with ``partial_fit``
:class:`RunningScaler`         columns to mean 0 and deviation 1; sparse rows are scaled, never centred
:class:`TableEncoder`          categories and text to named features, one-hot or hashed; a rule for missing numbers
:class:`ColumnSplines`         columns of numbers to quadratic splines: additive models from linear learners
:class:`DateEncoder`           dates to years since 2000, months, weekdays and hours
:class:`InteractionGroups`     columns of categories to one-hot features of their interactions, in groups
:func:`groups_from_graph`      groups of features from the edges of a graph
:func:`prepared`               a learner with the preprocessing that your rows need
=============================  ========================================================================================
"""

from typing import TYPE_CHECKING

from .._lazy import on_first_use

if TYPE_CHECKING:
    from ._dates import DATE_PARTS as DATE_PARTS
    from ._dates import DAY_2000 as DAY_2000
    from ._dates import DAYS_IN_YEAR as DAYS_IN_YEAR
    from ._dates import DateEncoder
    from ._encoder import TableEncoder
    from ._interactions import InteractionGroups, groups_from_graph
    from ._pipeline import StreamingPipeline, prepared
    from ._scaler import RunningScaler
    from ._splines import ColumnSplines
    from ._task_column import split_tasks as split_tasks
    from ._task_column import task_column_rule as task_column_rule
else:
    __getattr__, __dir__ = on_first_use(__name__, __file__)

__all__ = [
    "ColumnSplines",
    "DateEncoder",
    "InteractionGroups",
    "RunningScaler",
    "StreamingPipeline",
    "TableEncoder",
    "groups_from_graph",
    "prepared",
]
