"""Converters of linear models for skl2onnx, so that scikit-learn's pipelines around them become ONNX graphs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from .. import registry
from .._estimators import LinearClasses, ReadsValues
from ._folding import UNEXPORTED, scoring_of
from ._onnx_writer import OPSET, OnnxScoring

_DOUBLE, _STRING = 11, 8  # as ONNX numbers types


def register_skl2onnx() -> None:
    """Let ``skl2onnx.convert_sklearn`` convert linear classifiers and regressors of thresher, alone or in a pipeline.

    Computations are in double precision; inputs and outputs have the type that you pass to skl2onnx. Classifiers
    have two outputs, ``label`` and ``probabilities`` (a matrix, never a list of dicts; scores if a model has no
    probabilities). Pipelines of thresher itself, which take tables, are written by :func:`export`.

    Examples
    --------
    >>> from thresher.exporting import register_skl2onnx
    >>> register_skl2onnx()  # doctest: +SKIP
    """
    try:
        from skl2onnx import update_registered_converter
        from skl2onnx.common.shape_calculator import calculate_linear_regressor_output_shapes as of_values
    except ImportError:
        raise ValueError("register_skl2onnx: skl2onnx must be installed: pip install skl2onnx.") from None
    for_classes: dict[str, Any] = {"parser": _declare_outputs, "options": {"zipmap": [False]}}
    for method in registry.methods():
        if issubclass(method.cls, (LinearClasses, ReadsValues)) and not UNEXPORTED.keys() & set(method.needs):
            shapes, more = (_shape_outputs, for_classes) if method.task == "classification" else (of_values, {})
            update_registered_converter(method.cls, _alias(method.cls), shapes, _convert, **more)


def _alias(cls: type) -> str:
    return f"Thresher{cls.__name__}"


def _declare_outputs(scope: Any, model: Any, inputs: list[Any], custom_parsers: Any = None) -> Any:
    """The outputs of a classifier; those of scikit-learn's own are known to skl2onnx by their base class."""
    from skl2onnx.common.data_types import Int64TensorType, guess_tensor_type

    operator = scope.declare_local_operator(_alias(type(model)), model)
    operator.inputs = inputs
    operator.outputs.append(scope.declare_local_variable("label", Int64TensorType()))
    operator.outputs.append(scope.declare_local_variable("probabilities", guess_tensor_type(inputs[0].type)))
    return operator.outputs


def _shape_outputs(operator: Any) -> None:
    from skl2onnx.common.data_types import Int64TensorType, StringTensorType

    classes, n = operator.raw_operator.classes_, operator.inputs[0].get_first_dimension()
    label = Int64TensorType if classes.dtype.kind in "iub" else StringTensorType
    if classes.dtype.kind not in "iubUOS":
        raise ValueError(
            "register_skl2onnx: classes must be text or whole numbers, which is all that skl2onnx supports."
        )
    operator.outputs[0].set_type(label([n]))
    told = len(classes) > 2 or hasattr(operator.raw_operator, "predict_proba")
    operator.outputs[1].type.shape = [n, len(classes) if told else 1]


class _Container:
    """The graph that skl2onnx makes."""

    def __init__(self, scope: Any, container: Any) -> None:
        self.scope, self.container = scope, container

    def node(self, op: str, inputs: Sequence[str], domain: str = "", **attributes: Any) -> str:
        made = str(self.scope.get_unique_variable_name("thresher"))
        named = {"name": self.scope.get_unique_operator_name(op), "op_domain": domain, "op_version": OPSET}
        self.container.add_node(op, list(inputs), [made], **named, **attributes)
        return made

    def constant(self, value: np.ndarray[Any, Any]) -> str:
        from onnx.helper import np_dtype_to_tensor_dtype

        made = str(self.scope.get_unique_variable_name("constant"))
        is_text = value.dtype == object
        values = [text.encode() for text in value.ravel()] if is_text else value.ravel().tolist()
        kind = _STRING if is_text else np_dtype_to_tensor_dtype(value.dtype)
        self.container.add_initializer(made, kind, list(value.shape), values)
        return made


def _convert(scope: Any, operator: Any, container: Any) -> None:
    """Write the scoring of a model behind its inputs."""
    from skl2onnx.common.data_types import guess_proto_type

    model, graph = operator.raw_operator, _Container(scope, container)
    scoring = scoring_of(model)
    names = getattr(model, "feature_names_in_", range(model.n_features_in_))
    given = [each.full_name for each in operator.inputs]
    whole = given[0] if len(given) == 1 else graph.node("Concat", given, axis=1)
    matrix = graph.node("Cast", [whole], to=_DOUBLE)
    writer = OnnxScoring(graph, scoring, matrix, {name: place for place, name in enumerate(names)})
    found = writer.outputs()
    wanted = ["prediction"] if scoring.classes is None else ["prediction", "probabilities"]
    for name, variable in zip(wanted, operator.outputs, strict=True):
        value = found[name if name in found else "scores"][0]
        if scoring.classes is None:
            value = graph.node("Reshape", [value, graph.constant(np.array([-1, 1]))])
        kind = guess_proto_type(variable.type)
        value = value if kind == _STRING else graph.node("Cast", [value], to=kind)
        container.add_node("Identity", [value], [variable.full_name], name=scope.get_unique_operator_name("output"))
