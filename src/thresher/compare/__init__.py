"""Comparing what comes of repeated runs.

==============================  ========================================================================================
:func:`selection_frequency`     how often each feature is chosen when the data are resampled
:class:`SelectionFrequency`     what it returns: frequencies, a table, a picture
==============================  ========================================================================================
"""

from ._frequency import SelectionFrequency
from ._selection import selection_frequency

__all__ = ["SelectionFrequency", "selection_frequency"]
