"""Comparing what comes of repeated runs.

==============================  ========================================================================================
:func:`compare`                 several learners on the same splits or orders: means, deviations, paired tests
:class:`Comparison`             what it returns: scores, tests, a table, box plots
:func:`selection_frequency`     how often each feature is chosen when the data are resampled
:class:`SelectionFrequency`     what it returns: frequencies, a table, a picture
==============================  ========================================================================================
"""

from ._comparison import Comparison
from ._frequency import SelectionFrequency
from ._repeats import compare
from ._selection import selection_frequency

__all__ = ["Comparison", "SelectionFrequency", "compare", "selection_frequency"]
