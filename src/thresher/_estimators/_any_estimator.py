"""Properties of estimators of this library or another, found without importing scikit-learn."""

from __future__ import annotations

import sys
from copy import deepcopy
from typing import Any

_TASKS = {"classifier": "classification", "regressor": "regression", "clusterer": "clustering"}
_MIXINS = {"ClusterMixin": "clusterer", "ClassifierMixin": "classifier", "RegressorMixin": "regressor"}


def task_of(estimator: Any) -> str:
    """Return the task of an estimator or a class of estimators; that of a pipeline is the task of its last step.

    Returns
    -------
    {"classification", "regression", "clustering", "transform"}
    """
    last = estimator.steps[-1][1] if hasattr(estimator, "steps") else estimator
    kind = getattr(last, "_estimator_type", None) or _foreign_kind(last)
    return _TASKS.get(kind or "", "transform")


def _foreign_kind(estimator: Any) -> str | None:
    """The kind that scikit-learn sees, if it is loaded: otherwise nothing can be an estimator of it."""
    if "sklearn.base" not in sys.modules:
        return None
    if isinstance(estimator, type):
        from sklearn import base

        return next((kind for name, kind in _MIXINS.items() if issubclass(estimator, getattr(base, name))), None)
    from sklearn.utils import get_tags

    return get_tags(estimator).estimator_type


def clone(estimator: Any) -> Any:
    """Return an estimator with the same parameters, not fitted."""
    if type(estimator) in (list, tuple):
        return type(estimator)([clone(each) for each in estimator])
    if hasattr(estimator, "__sklearn_clone__") and not isinstance(estimator, type):
        return estimator.__sklearn_clone__()
    if not hasattr(estimator, "get_params") or isinstance(estimator, type):
        return deepcopy(estimator)
    return type(estimator)(**{name: clone(value) for name, value in estimator.get_params(deep=False).items()})
