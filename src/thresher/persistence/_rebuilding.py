"""Models as descriptions, and back: classes and parameters by their permanent names, checked by the classes' rules."""

from __future__ import annotations

import inspect
from contextlib import nullcontext
from typing import Any

import numpy as np

from .. import registry
from .._engine import State, one_blas_thread
from .._estimators import OnlineLinear
from .._gate import check_loaded, check_loaded_features, check_params
from ._packing import Packer, Refusal, Tensors, Unpacker, require

_OPTIONAL = {"feature_names_in_", "_grown", "_is_float32", "_score_bins", "_score_clock"}
_LATER = {"reads", "n_wrong", "loss_shift"}  # of models side by side; the oldest files have one for each of them


def describe(model: Any, packer: Packer, prefix: str = "") -> dict[str, Any]:
    """Describe a fitted model in plain values; its arrays go to the packer, under names that begin with `prefix`."""
    cls = type(model)
    if registry.component(cls.__name__) is not cls:
        raise ValueError(
            f"save_model: {cls.__name__} is not an estimator of thresher; build pipelines with "
            "thresher.preprocessing.prepared, or save the learner alone."
        )
    if hasattr(model, "steps"):
        return _describe_steps(model, packer, prefix)
    if hasattr(model, "n_features_in_"):
        model._settle()
    params, in_file = model._plain_params(), cls._file_names()
    fitted = [name for name in model._fitted if name in vars(model)]
    if not set(model._fitted) - _OPTIONAL <= set(fitted):
        raise ValueError(f"save_model: this {cls.__name__} is not fitted yet; call fit or partial_fit first.")
    described: dict[str, Any] = {
        "class": cls.__name__,
        "params": {in_file[k]: packer.pack(v, f"{prefix}params/{in_file[k]}") for k, v in params.items()},
        "fitted": {name: packer.pack(getattr(model, name), f"{prefix}fitted/{name}") for name in fitted},
    }
    if hasattr(model, "models_"):
        described["models"] = [describe(one, packer, f"{prefix}{i}/") for i, one in enumerate(model.models_)]
    if hasattr(model, "state_"):
        described |= {"n_outputs": model.state_.n_outputs, "sizes": model.state_.sizes}
        for key, array in (model.state_.as_float32() if model._is_float32 else model.state_.arrays).items():
            packer.tensors[f"{prefix}state/{key}"] = np.ascontiguousarray(array)
    return described


def _describe_steps(model: Any, packer: Packer, prefix: str) -> dict[str, Any]:
    options = {k: v for k, v in model.get_params(deep=False).items() if k != "steps" and v is not None}
    steps = enumerate(model.steps)
    return {
        "class": type(model).__name__,
        "steps": [{"name": name, **describe(step, packer, f"{prefix}{i}/")} for i, (name, step) in steps],
        **{name: packer.pack(value, "") for name, value in options.items()},
    }


def tensors_of(model: Any) -> Tensors:
    """Return the arrays of a fitted model by their names in a file."""
    packer = Packer()
    describe(model, packer)
    return packer.tensors


def rebuild(
    described: dict[str, Any], unpacker: Unpacker, prefix: str = "", may_hold: tuple[str, ...] = ("models", "steps")
) -> Any:
    """Build a model from its description; raise an error if it fits no class or breaks its rules.

    A sum of models may hold pipelines, and a pipeline neither pipelines nor sums: `may_hold` says what is left.
    """
    name = described["class"]
    cls = registry.component(name) if isinstance(name, str) else None
    if cls is None:
        raise Refusal(f"{name!r} is not an estimator of this thresher")
    if "steps" in inspect.signature(cls).parameters:
        return _rebuild_steps(cls, described, unpacker, prefix, "steps" in may_hold)
    model = cls(**_params(cls, {k: unpacker.unpack(v) for k, v in described["params"].items()}))
    if hasattr(cls, "_take_models"):
        models = described["models"]
        require("models" in may_hold and isinstance(models, list), "the models of a sum must be a list, none a sum")
        made = [rebuild(one, unpacker, f"{prefix}{i}/", ("steps",)) for i, one in enumerate(models)]
        model._take_models(made)
    fitted = {k: unpacker.unpack(v) for k, v in described["fitted"].items()}
    known = set(cls._fitted)
    require(known - _OPTIONAL <= set(fitted) <= known, f"the attributes are not those of {name}")
    check_params(model, cls._param_rules)
    for key, value in fitted.items():
        setattr(model, key, value)
    if issubclass(cls, OnlineLinear):
        model.state_ = _state(model, described, prefix, unpacker)
    # To limit BLAS takes longer than to load a small model. Values may be of any size: the results are checked below.
    with np.errstate(all="ignore"), one_blas_thread() if cls._multiplies_when_loaded else nullcontext():
        model._check_loaded()
        if issubclass(cls, OnlineLinear):
            model._weights_cache = None
            require(bool(np.isfinite(model._all_weights()).all()), "the arrays imply weights that are not finite")
    return model


def _rebuild_steps(cls: Any, described: dict[str, Any], unpacker: Unpacker, prefix: str, may_be: bool) -> Any:
    steps = described["steps"]
    good = may_be and isinstance(steps, list) and bool(steps)
    require(good, "a pipeline must be a list of steps, none of them a pipeline")
    options = {k: described[k] for k in inspect.signature(cls).parameters if k != "steps" and k in described}
    made = [(str(step["name"]), rebuild(step, unpacker, f"{prefix}{i}/", ())) for i, step in enumerate(steps)]
    pipeline = cls(made, **options)
    pipeline._checked_steps()
    return pipeline


def _params(cls: Any, in_file: dict[str, Any]) -> dict[str, Any]:
    """Parameters by their names of today. What a file does not name has its default, or what the class makes of the
    others: ``_from_file`` takes the parameters of a file and returns those of today."""
    today = {permanent: name for name, permanent in cls._file_names().items()}
    require(set(in_file) <= set(today), f"the parameters are not those of {cls.__name__}")
    return cls._from_file({today[name]: value for name, value in in_file.items()})


def _state(model: Any, header: dict[str, Any], prefix: str, unpacker: Unpacker) -> State:
    check_loaded_features(model)
    if hasattr(model, "classes_"):
        check_loaded(model.classes_, type(model).__name__)
    counted = type(model.n_iter_) is int and model.n_iter_ >= 0 and type(vars(model).get("_grown", False)) is bool
    require(counted, "the number of passes must be an integer of at least 0")
    require(type(model._is_float32) is bool, "a model must be in float32 or not")
    n_outputs, sizes = header["n_outputs"], header["sizes"]
    require(sizes.get("weight") == model.n_features_in_ + 1, "the number of features does not fit the weights")
    learner = model._checked_learner(model.n_features_in_).for_outputs(model._n_outputs)
    fields = learner.fields()
    expected_outputs, expected_sizes = model._state_shape(learner)
    expected_sizes |= {axis: max(sizes[axis], expected_sizes[axis]) for axis in learner.open_axes}
    require(n_outputs == expected_outputs, f"{n_outputs!r} outputs do not fit the classes")
    require(sizes == expected_sizes, "the sizes of the state are not those of the learner")
    arrays: dict[str, Any] = {}
    is_old = learner.grid and f"{prefix}state/reads" not in unpacker.tensors
    for field in fields:
        array = unpacker.tensors.get(f"{prefix}state/{field.name}")
        if is_old and field.name in _LATER:
            array = field.block(n_outputs, sizes)
        shape = field.whole_shape(n_outputs, sizes)
        rounded = model._is_float32 and field.may_be_rounded
        types = (np.float64, np.float32) if rounded else (np.float64,)
        fits = array is not None and array.dtype in types and array.shape == shape
        require(fits, f"array {field.name!r} must be float64{' or float32' if rounded else ''} of shape {shape}")
        arrays[field.name] = array
    for field in fields:
        fault = field.fault(arrays)
        require(not fault, f"array {field.name!r} must hold {fault}")
    state = State(fields, n_outputs, sizes, arrays)
    if is_old:
        state.arrays["reads"][0, 0] = learner.best(state)
        state.arrays["n_wrong"][...] = state.arrays["n_mistakes"][learner.chosen(state)]
    require(not learner.grid or state.arrays["reads"][0, 0] in range(learner.n_models), "there is no model to be read")
    return state
