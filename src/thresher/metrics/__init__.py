"""Measures that scikit-learn does not have.

==========================================  ============================================================================
:func:`support_precision`,                  whether the right features were found
:func:`support_recall`, :func:`support_f1`
:func:`sign_f1`                             whether their weights have the right sign
:func:`explained_variance_over_tasks`       how much of the variance of several tasks is explained
:func:`detection_rate`,                     the shares of outliers found, and of other rows rejected
:func:`rejection_rate`
:func:`balanced_line_fit`                   whether clusters have the form that kernel spectral clustering finds
:func:`variation_of_information`            how much two partitions of the same rows differ
:func:`sampled_silhouette`                  how well clusters are separated, by a sample of the rows
:class:`ProgressiveF1`,                     measures of a stream whose rows are scored before they are learned from, in
:class:`ProgressiveROCAUC`,                 bounded memory, also for rare classes
:class:`ProgressiveAveragePrecision`
==========================================  ============================================================================
"""

from typing import TYPE_CHECKING

from .._lazy import on_first_use

if TYPE_CHECKING:
    from ._cluster_scores import balanced_line_fit, sampled_silhouette, variation_of_information
    from ._prediction_scores import detection_rate, explained_variance_over_tasks, rejection_rate
    from ._progressive import ProgressiveAveragePrecision, ProgressiveF1, ProgressiveROCAUC
    from ._support import sign_f1, support_f1, support_precision, support_recall
else:
    __getattr__, __dir__ = on_first_use(__name__, __file__)

__all__ = [
    "ProgressiveAveragePrecision",
    "ProgressiveF1",
    "ProgressiveROCAUC",
    "balanced_line_fit",
    "detection_rate",
    "explained_variance_over_tasks",
    "rejection_rate",
    "sampled_silhouette",
    "sign_f1",
    "support_f1",
    "support_precision",
    "support_recall",
    "variation_of_information",
]
