"""Files: a header of JSON and arrays, written as a whole."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import safetensors
import safetensors.numpy

import thresher

from .._output import write_whole
from ._packing import Packer, Refusal, Tensors, Unpacker, require
from ._rebuilding import describe, rebuild

FORMAT = 2
# The errors raised by a description that fits no model.
_DAMAGE = (LookupError, TypeError, ValueError, AttributeError, ArithmeticError, MemoryError, RecursionError)


def save_model(model: Any, path: str | os.PathLike[str]) -> None:
    """Write a fitted estimator to a file, atomically: if it fails, an existing file is not changed.

    Parameters
    ----------
    model : estimator or StreamingPipeline
        A fitted estimator of this library. A random state that is not a number is not saved. If the model has a dict
        ``record_`` of plain values (what it was trained on, and how), the file includes it.
    path : path-like

    Examples
    --------
    >>> import tempfile, pathlib
    >>> from thresher.online import PAClassifier
    >>> from thresher.persistence import load_model, save_model
    >>> model = PAClassifier(C=1.0, random_state=0).fit([[0.0], [1.0]], ["no", "yes"])
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
    write_whole(path, model_bytes(model))


def model_bytes(model: Any) -> bytes:
    """The content of the file that :func:`save_model` writes."""
    packer = Packer()
    header = {"format": FORMAT, "version": thresher.__version__, "model": describe(model, packer)}
    if getattr(model, "record_", None) is not None:
        header["record"] = model.record_
    text = _as_json(header)
    _check_loads(text, packer.tensors)
    return safetensors.numpy.save(packer.tensors, metadata={"thresher": text})


def _as_json(header: dict[str, Any]) -> str:
    try:
        return json.dumps(header)
    except (TypeError, ValueError, RecursionError):
        raise ValueError(
            "save_model: record_ must hold plain values, such as numbers, text, lists and dicts."
        ) from None


def _check_loads(header: str, tensors: Tensors) -> None:
    """Refuse to save what would not load."""
    room = 32 * (len(header) + sum(array.nbytes for array in tensors.values()))
    try:
        _model(json.loads(header), Unpacker(tensors, room=room))
    except Refusal as refusal:
        raise ValueError(f"save_model: this model is not valid and could not be loaded again: {refusal}.") from None
    except _DAMAGE as error:
        raise ValueError(
            f"save_model: this model is not valid and could not be loaded again: {_reason(error)}."
        ) from None


def load_model(path: str | os.PathLike[str]) -> Any:
    """Read a model that :func:`save_model` wrote. ``partial_fit`` continues as if training had never stopped.

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
        raise FileNotFoundError(f"{path}: no such file.") from None
    except (KeyError, TypeError):
        raise ValueError(f"{where}: not a model file of thresher.") from None
    except Exception as error:
        reason = " ".join(str(error).split())
        raise ValueError(
            f"{where}: not a model file of thresher, or one that is cut short or damaged ({reason})."
        ) from None
    try:
        return _model(header, Unpacker(tensors, room=32 * os.path.getsize(path)))
    except Refusal as refusal:
        raise ValueError(f"{where}: {refusal}.") from None
    except _DAMAGE as error:
        raise ValueError(f"{where}: the header does not describe a model: {_reason(error)}.") from None


def _reason(error: Exception) -> str:
    """The first words of an error, in one line."""
    return " ".join(str(error).split())[:200].rstrip(".")


def _model(header: dict[str, Any], unpacker: Unpacker) -> Any:
    if header["format"] == 1:  # one estimator, described where its file is
        header = {"model": header}
    elif header["format"] != FORMAT:
        raise Refusal(
            f"format {header['format']} needs thresher {header['version']} or newer, this is {thresher.__version__}"
        )
    model = rebuild(header["model"], unpacker)
    if "record" in header:
        require(isinstance(header["record"], dict), "the record must be a dict")
        model.record_ = header["record"]
    return model
