"""Comparison of learners, and stability of selected features, over repeated runs.

==============================  ========================================================================================
:func:`compare`                 compare learners on the same splits or orders: means, deviations, paired tests
:class:`Comparison`             its result: scores, tests, a table, box plots
:func:`selection_frequency`     count how often each feature is selected when the data are resampled
:class:`SelectionFrequency`     its result: frequencies, a table, a plot
==============================  ========================================================================================
"""

from ._comparison import Comparison
from ._frequency import SelectionFrequency
from ._repeats import compare
from ._selection import selection_frequency

__all__ = ["Comparison", "SelectionFrequency", "compare", "selection_frequency"]
