"""Measures that scikit-learn does not have.

========================================  ==============================================================================
:func:`support_precision`,                whether the right features were found
:func:`support_recall`, :func:`support_f1`
:func:`sign_f1`                           whether their weights have the right sign
:func:`explained_variance_over_tasks`     how much of the variance of several tasks is explained
========================================  ==============================================================================
"""

from ._support import sign_f1, support_f1, support_precision, support_recall
from ._tasks import explained_variance_over_tasks

__all__ = ["explained_variance_over_tasks", "sign_f1", "support_f1", "support_precision", "support_recall"]
