"""scikit-learn's contract: a check that is expected to fail must fail, where scikit-learn can say so (from 1.7 on)."""

from __future__ import annotations

from inspect import signature
from typing import Any

from sklearn.utils import estimator_checks


def parametrize_with_checks(estimators: list[Any], **options: Any) -> Any:
    if "xfail_strict" not in signature(estimator_checks.parametrize_with_checks).parameters:
        options.pop("xfail_strict", None)
    return estimator_checks.parametrize_with_checks(estimators, **options)
