"""Plots of models and runs, in the style of scikit-learn's displays. matplotlib is imported on first use.

======================================  ================================================================================
:class:`FeatureWeightsDisplay`          the weights of the features that matter
:class:`KernelWeightsDisplay`           the weights of the kernels that a model chose
:class:`ColumnCurveDisplay`             the effect of a column on the score
:class:`ThresholdDisplay`               recall and precision over the threshold
:class:`ProgressiveCalibrationDisplay`  the calibration curve of a classifier
:class:`ProgressiveDisplay`             the progressive error along a stream
:class:`PenaltyPathDisplay`             loss and features along a path of penalties
:class:`SelectionFrequencyDisplay`      how often runs on parts of the data choose each feature
======================================  ================================================================================
"""

from typing import TYPE_CHECKING

from .._lazy import on_first_use

if TYPE_CHECKING:
    from ._column_curve import ColumnCurveDisplay
    from ._column_curve import paint_bars as paint_bars
    from ._column_curve import paint_curve as paint_curve
    from ._feature_weights import FeatureWeightsDisplay
    from ._kernel_bars import KernelWeightsDisplay
    from ._penalty_path import PenaltyPathDisplay
    from ._progressive_calibration import ProgressiveCalibrationDisplay
    from ._progressive_course import RECENT as RECENT
    from ._progressive_course import ProgressiveDisplay
    from ._progressive_course import paint_course as paint_course
    from ._progressive_course import recent_rate as recent_rate
    from ._selection_frequency import SelectionFrequencyDisplay
    from ._selection_frequency import frequencies_height as frequencies_height
    from ._selection_frequency import paint_frequencies as paint_frequencies
    from ._threshold_outcomes import Steps as Steps
    from ._threshold_outcomes import ThresholdDisplay
else:
    __getattr__, __dir__ = on_first_use(__name__, __file__)

__all__ = [
    "ColumnCurveDisplay",
    "FeatureWeightsDisplay",
    "KernelWeightsDisplay",
    "PenaltyPathDisplay",
    "ProgressiveCalibrationDisplay",
    "ProgressiveDisplay",
    "SelectionFrequencyDisplay",
    "ThresholdDisplay",
]
