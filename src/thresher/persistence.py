"""Models in files: one safetensors file of arrays with a JSON header, never pickle.

A file holds data and names, no code. Loading looks the class up in the registry, checks every parameter by the class's
own rules and every array by the fields its learner declares, and refuses anything else in one sentence, before native
code sees it.
"""

from __future__ import annotations

import itertools
import json
import os
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import safetensors
import safetensors.numpy

from . import __version__, registry
from ._engine import State
from ._gate import check_params
from ._kernels import Kernel, from_plain, to_plain

__all__ = ["load_model", "save_model"]

FORMAT = 2
_PLAIN = (bool, int, float, str, type(None))
_MOST_TEXTS = 256  # beyond that, a list of texts is kept as two arrays
_OPTIONAL = {"feature_names_in_", "_grown"}

Tensors = dict[str, np.ndarray[Any, Any]]


def save_model(model: Any, path: str | os.PathLike[str]) -> None:
    """Write a fitted estimator to a file, all at once: the file is complete or it is the one that was there before.

    Parameters
    ----------
    model : estimator or StreamingPipeline
        Fitted, and made of classes in the registry. A random state that is not a number is not kept. A dict
        ``model.record_`` of plain values (what the model was trained on, and how) is kept with it.
    path : path-like

    Examples
    --------
    >>> import tempfile, pathlib
    >>> from thresher.online import PAClassifier
    >>> from thresher.persistence import load_model, save_model
    >>> model = PAClassifier().fit([[0.0], [1.0]], ["no", "yes"])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save_model(model, pathlib.Path(folder) / "m.thresher")
    ...     again = load_model(pathlib.Path(folder) / "m.thresher")
    >>> again.partial_fit([[2.0]], ["yes"]).predict([[1.0]])
    array(['yes'], dtype='<U3')
    """
    if Path(path).is_dir():
        raise IsADirectoryError(f"save_model: {os.fspath(path)} is a folder; name a file in it.")
    if not Path(path).absolute().parent.is_dir():
        raise FileNotFoundError(f"save_model: the folder of {os.fspath(path)} does not exist.")
    tensors: Tensors = {}
    header = {"format": FORMAT, "version": __version__, "model": _describe(model, "", tensors)}
    if getattr(model, "record_", None) is not None:
        header["record"] = model.record_
    write_whole(Path(path), safetensors.numpy.save(tensors, metadata={"thresher": json.dumps(header)}))


def _describe(model: Any, prefix: str, tensors: Tensors) -> dict[str, Any]:
    """What a file says of a model, and its arrays."""
    name = type(model).__name__
    if registry.components().get(name) is not type(model):
        raise ValueError(f"save_model: {name} is not an estimator of thresher.")
    if name == "StreamingPipeline":
        return {
            "class": name,
            "steps": [
                {"name": step_name, **_describe(step, f"{prefix}{i}/", tensors)}
                for i, (step_name, step) in enumerate(model.steps)
            ],
            **({} if model.task_column is None else {"task_column": _pack(model.task_column, "", tensors)}),
        }
    if hasattr(model, "_settle") and "n_features_in_" in vars(model):  # what is computed when it is asked for
        model._settle()
    params = model._plain_params() if hasattr(model, "_plain_params") else model.get_params(deep=False)
    names = type(model)._file_names() if hasattr(model, "_file_names") else dict(zip(params, params, strict=True))
    described: dict[str, Any] = {
        "class": name,
        "params": {names[k]: _pack(v, f"{prefix}params/{names[k]}", tensors) for k, v in params.items()},
        "fitted": {
            k: _pack(getattr(model, k), f"{prefix}fitted/{k}", tensors) for k in model._fitted if k in vars(model)
        },
    }
    if not set(model._fitted) - _OPTIONAL <= set(described["fitted"]):
        raise ValueError(f"save_model: this {name} is not fitted yet; call fit or partial_fit first.")
    if hasattr(model, "state_"):
        described |= {"n_outputs": model.state_.n_outputs, "sizes": model.state_.sizes}
        for key, array in model.state_.arrays.items():
            tensors[f"{prefix}state/{key}"] = np.ascontiguousarray(array)
    return described


def load_model(path: str | os.PathLike[str]) -> Any:
    """Read a model that :func:`save_model` wrote; learning goes on as if it had never stopped.

    Parameters
    ----------
    path : path-like

    Returns
    -------
    estimator or StreamingPipeline
    """
    where = Path(path).name
    if Path(path).is_dir():
        raise ValueError(f"{where}: this is a folder, not a model file.")
    try:
        with safetensors.safe_open(path, framework="numpy") as file:
            header = json.loads((file.metadata() or {})["thresher"])
            tensors = {key: file.get_tensor(key) for key in file.keys()}  # noqa: SIM118
    except FileNotFoundError:
        raise
    except (KeyError, TypeError):
        raise ValueError(f"{where}: not a model file of thresher.") from None
    except Exception as error:
        said = " ".join(str(error).split())
        raise ValueError(
            f"{where}: not a model file of thresher, or one that is cut short or damaged ({said})."
        ) from None
    try:
        return _rebuild(header, tensors, room=32 * os.path.getsize(path))
    except _Refusal as refusal:
        raise ValueError(f"{where}: {refusal}.") from None
    except (LookupError, TypeError, ValueError, AttributeError, ArithmeticError, MemoryError, RecursionError) as error:
        said = " ".join(str(error).split())[:200].rstrip(".")
        raise ValueError(f"{where}: the header does not describe a model: {said}.") from None


class _Refusal(Exception):
    """Why a file is no model, in the user's words."""


def _rebuild(header: dict[str, Any], tensors: Tensors, room: int) -> Any:
    if header["format"] == 1:  # one estimator, described where its file is
        header = {"model": header}
    elif header["format"] != FORMAT:
        raise _Refusal(f"format {header['format']} needs thresher {header['version']} or newer, this is {__version__}")
    model = _model(header["model"], "", tensors, room)
    if "record" in header:
        if not isinstance(header["record"], dict):
            raise _Refusal("the record must be a dict")
        model.record_ = header["record"]
    return model


def _model(described: dict[str, Any], prefix: str, tensors: Tensors, room: int) -> Any:
    name = described["class"]
    cls = registry.components().get(name) if isinstance(name, str) else None
    if cls is None:
        raise _Refusal(f"{name!r} is not an estimator of this thresher")
    if name == "StreamingPipeline":
        if prefix or not isinstance(described["steps"], list) or not described["steps"]:
            raise _Refusal("a pipeline must be a list of steps, none of them a pipeline")
        steps = [(str(step["name"]), _model(step, f"{i}/", tensors, room)) for i, step in enumerate(described["steps"])]
        pipeline = cls(steps, described.get("task_column"))
        pipeline._checked_steps()
        return pipeline
    kept = {file: k for k, file in cls._file_names().items()} if hasattr(cls, "_file_names") else {}
    params = {kept.get(k, k): _unpack(v, tensors, room) for k, v in described["params"].items()}
    if not set(params) <= set(cls().get_params(deep=False)):  # what came later than the file has its default
        raise _Refusal(f"the parameters are not those of {name}")
    model = cls(**params)
    fitted = {k: _unpack(v, tensors, room) for k, v in described["fitted"].items()}
    if not set(cls._fitted) - _OPTIONAL <= set(fitted) <= set(cls._fitted):
        raise _Refusal(f"the attributes are not those of {name}")
    check_params(model, cls._param_rules)
    for key, value in fitted.items():
        setattr(model, key, value)
    if not hasattr(cls, "_learner_now"):  # no compiled state
        model._check_loaded()
        return model
    _check_fitted(fitted, described)
    model.state_ = _state(model, described, prefix, tensors)
    if hasattr(model, "_check_loaded"):
        model._check_loaded()
    model._weights_cache = None
    if not np.isfinite(model._all_weights()).all():
        raise _Refusal("the arrays imply weights that are not finite")
    return model


def _check_fitted(fitted: dict[str, Any], header: dict[str, Any]) -> None:
    width = fitted["n_features_in_"]
    if type(width) is not int or width < 1 or header["sizes"].get("weight") != width + 1:
        raise _Refusal("the number of features does not fit the weights")
    names = fitted.get("feature_names_in_")
    if names is not None and (
        not isinstance(names, np.ndarray) or names.shape != (width,) or names.dtype.kind not in "OU"
    ):
        raise _Refusal("there must be one name per feature")
    if type(fitted["n_iter_"]) is not int or fitted["n_iter_"] < 0 or type(fitted.get("_grown", False)) is not bool:
        raise _Refusal("the number of passes must be an integer of at least 0")
    classes = fitted.get("classes_")
    if classes is not None:
        if not isinstance(classes, np.ndarray) or classes.ndim != 1 or classes.dtype.kind not in "biufOU":
            raise _Refusal("classes must be labels")
        if len(classes) < 2 or not np.array_equal(np.unique(classes), classes):
            raise _Refusal("classes must be at least two, in order")


def _state(model: Any, header: dict[str, Any], prefix: str, tensors: Tensors) -> State:
    learner = model._checked_learner(model.n_features_in_)
    fields, n_outputs, sizes = learner.fields(), header["n_outputs"], header["sizes"]
    expected_outputs, expected_sizes = model._state_shape(learner)
    expected_sizes |= {axis: max(sizes[axis], expected_sizes[axis]) for axis in learner.open_axes}
    if n_outputs != expected_outputs:
        raise _Refusal(f"{n_outputs!r} outputs do not fit the classes")
    if sizes != expected_sizes:
        raise _Refusal("the sizes of the state are not those of the learner")
    arrays = {}
    for f in fields:
        array = tensors.get(f"{prefix}state/{f.name}")
        expected = f.whole_shape(n_outputs, sizes)
        if array is None or array.dtype != np.float64 or array.shape != expected:
            raise _Refusal(f"array {f.name!r} must be float64 of shape {expected}")
        if not np.isfinite(array).all():
            raise _Refusal(f"array {f.name!r} must hold finite numbers")
        if f.initial > 0 and not (np.diagonal(array, axis1=-2, axis2=-1) if array.ndim == 3 else array).min() > 0:
            raise _Refusal(f"array {f.name!r} must hold numbers above 0")
        if f.merge == "sum" and "weight" not in f.axes.split() and not array.min() >= 0:
            raise _Refusal(f"array {f.name!r} must hold counts and sums of at least 0")
        arrays[f.name] = array
    return State(fields, n_outputs, sizes, arrays)


def _pack(value: Any, key: str, tensors: Tensors) -> Any:
    """A value as JSON; arrays of numbers and long lists of text go to ``tensors``."""
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, (np.random.RandomState, np.random.Generator)):
        return None
    if isinstance(value, _PLAIN):
        return value
    if isinstance(value, Kernel):
        return {"kernel": _kernel(value)}
    if isinstance(value, (list, tuple)) and any(isinstance(each, Kernel) for each in value):
        return {"kernels": [_kernel(each) for each in value]}
    if isinstance(value, dict):
        return {
            "pairs": [[_pack(k, f"{key}/{i}k", tensors), _pack(v, f"{key}/{i}", tensors)]
                      for i, (k, v) in enumerate(value.items())]
        }  # fmt: skip
    if isinstance(value, (list, tuple)) and value and all(isinstance(each, (list, tuple, range)) for each in value):
        tensors[f"{key}/ends"] = np.cumsum([len(each) for each in value])
        return {"lists": key, "of": _pack(np.array([v for each in value for v in each]), f"{key}/all", tensors)}
    array = np.asarray(value)
    if array.dtype.kind in "OUS" or (isinstance(value, (list, tuple)) and not value):
        texts = array.tolist()
        if not all(isinstance(item, str) for item in texts):
            raise ValueError(f"save_model: {key} must hold numbers or text.")
        kind = "list" if isinstance(value, (list, tuple)) else "object" if array.dtype.kind == "O" else "str"
        if len(texts) <= _MOST_TEXTS:
            return {"text": texts, "as": kind}
        packed = [text.encode("utf-8", "surrogatepass") for text in texts]
        tensors[f"{key}/lengths"] = np.array([len(text) for text in packed], dtype=np.int64)
        tensors[f"{key}/text"] = np.frombuffer(b"".join(packed), dtype=np.uint8)
        return {"texts": key, "as": kind}
    tensors[key] = np.ascontiguousarray(array)
    return {"tensor": key, "as": "list"} if isinstance(value, (list, tuple)) else {"tensor": key}


def _kernel(value: Any) -> dict[str, Any]:
    try:
        return to_plain(value)
    except ValueError as error:
        raise ValueError(f"save_model: {error}.") from None


def _unpack(value: Any, tensors: Tensors, room: int) -> Any:
    if isinstance(value, _PLAIN):
        return value
    if "kernel" in value:
        return from_plain(value["kernel"])
    if "kernels" in value:
        return [from_plain(each) for each in value["kernels"]]
    if "pairs" in value:
        return {_unpack(k, tensors, room): _unpack(v, tensors, room) for k, v in value["pairs"]}
    if "tensor" in value:
        array = tensors[value["tensor"]]
        return array.tolist() if value.get("as") == "list" else array
    if "lists" in value:
        return _lists(tensors[f"{value['lists']}/ends"], _unpack(value["of"], tensors, room))
    if "texts" in value:
        texts = _texts(tensors[f"{value['texts']}/lengths"], tensors[f"{value['texts']}/text"])
    else:
        texts = value["text"]
    if not all(isinstance(item, str) for item in texts):
        raise _Refusal("names and labels must be text")
    kind = value["as"] if "as" in value else "object" if value["object"] else "str"
    if kind == "list":
        return texts
    if 4 * len(texts) * max(map(len, texts), default=0) > room and kind == "str":  # as NumPy would store it
        raise _Refusal("names and labels take more room than the file")
    return np.array(texts, dtype=object if kind == "object" else str)


def _lists(ends: np.ndarray[Any, Any], together: Any) -> list[list[Any]]:
    if ends.dtype != np.int64 or ends.ndim != 1 or not isinstance(together, np.ndarray) or together.ndim != 1:
        raise _Refusal("lists must be kept as their ends and what they hold")
    starts = np.concatenate([[0], ends])
    if (np.diff(starts) < 0).any() or starts[-1] != len(together):
        raise _Refusal("lists must fit what they hold")
    each = together.tolist()
    return [each[a:b] for a, b in itertools.pairwise(starts.tolist())]


def _texts(lengths: np.ndarray[Any, Any], text: np.ndarray[Any, Any]) -> list[str]:
    if lengths.dtype != np.int64 or text.dtype != np.uint8 or lengths.ndim != 1 or text.ndim != 1:
        raise _Refusal("names and labels must be text")
    if (lengths < 0).any() or (lengths > len(text)).any() or lengths.sum() != len(text):
        raise _Refusal("names and labels must fit their lengths")
    ends = np.cumsum(lengths).tolist()
    raw = text.tobytes()
    return [raw[end - n : end].decode("utf-8", "surrogatepass") for end, n in zip(ends, lengths.tolist(), strict=True)]


def write_whole(path: Path, content: bytes) -> None:
    """Write, fsync, rename: a reader sees the old file or the new one, never a part."""
    if path.exists() and not path.is_file():  # a device or a pipe must not be replaced
        path.write_bytes(content)
        return
    handle, draft = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        os.chmod(draft, 0o666 & ~_umask())
        os.replace(draft, path)
    except BaseException:
        os.unlink(draft)
        raise


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
