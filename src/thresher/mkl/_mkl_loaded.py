"""Checks of model files: a machine with many kernels."""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import _gate
from .._engine import Target
from .._gate import check_loaded_features
from .._kernels import Kernel, are_rows, is_array


def check(model: Any) -> None:
    """Refuse attributes that do not belong together."""
    check_loaded_features(model)
    who = type(model).__name__
    n_kernels = len(model.factors_) if is_array(model.factors_, "f", 1) else 0
    _check_numbers(model, who, n_kernels)
    names = model.kernel_names_
    if not isinstance(names, np.ndarray) or names.shape != (n_kernels,) or not all(isinstance(n, str) for n in names):
        raise ValueError(f"{who}: kernel_names_ must hold one name per kernel.")
    if type(model.n_svm_) is not int or model.n_svm_ < 1:
        raise ValueError(f"{who}: n_svm_ must be an integer of at least 1.")
    _check_kernels(model, who, n_kernels)
    _check_scaling(model, who)


def _check_numbers(model: Any, who: str, n_kernels: int) -> None:
    n_outputs = _n_outputs(model, who)
    if not is_array(model.support_, "i", 1) or (np.diff(model.support_) <= 0).any() or (model.support_ < 0).any():
        raise ValueError(f"{who}: support_ must hold indices of rows in order.")
    shapes = {
        "factors_": (max(n_kernels, 1),),
        "weights_": (n_outputs, n_kernels),
        "dual_coef_": (n_outputs, len(model.support_)),
        "intercept_": (n_outputs,),
        "bounds_": (n_outputs, 2),
    }
    _gate.check_loaded_arrays(model, shapes)
    if (model.weights_ < 0).any() or (model.factors_ < 0).any():
        raise ValueError(f"{who}: weights_ and factors_ must be at least 0.")


def _n_outputs(model: Any, who: str) -> int:
    if "classes_" not in type(model)._fitted:
        return 1
    _gate.check_loaded(model.classes_, who)
    return Target(np.empty(0), model.classes_).n_outputs


def _check_kernels(model: Any, who: str, n_kernels: int) -> None:
    kernels, width, parts = model.kernels_, model.n_features_in_, model._support_rows
    if kernels is None:
        if not model._is_precomputed or parts or (model.support_ >= width).any():
            raise ValueError(f"{who}: without kernels, support_ must name columns of precomputed ones.")
        return
    if model._is_precomputed or not isinstance(kernels, list) or len(kernels) != n_kernels:
        raise ValueError(f"{who}: kernels_ must be one per weight, and None if they are precomputed.")
    for kernel in kernels:
        if not isinstance(kernel, Kernel):
            raise ValueError(f"{who}: kernels_ must hold kernels.")
        kernel._check_settled(width)
    if not isinstance(parts, dict) or not are_rows(parts, (len(model.support_), width)):
        raise ValueError(f"{who}: the support vectors must be finite rows, one per index.")


def _check_scaling(model: Any, who: str) -> None:
    mean, scale = model.mean_, model.scale_
    if mean is None and scale is None:
        return
    for name, value in (("mean_", mean), ("scale_", scale)):
        if not is_array(value, "f", 1) or value.dtype != np.float64 or len(value) != model.n_features_in_:
            raise ValueError(f"{who}: {name} must hold one finite number per feature.")
    if not scale.min() > 0:
        raise ValueError(f"{who}: scale_ must hold numbers above 0.")
