"""Files: a header of JSON and arrays, written as a whole."""

from __future__ import annotations

import json
import os
import tempfile
from pathlib import Path
from typing import Any

import safetensors
import safetensors.numpy

from .. import __version__
from ._packing import Packer, Refusal, Unpacker, require
from ._rebuilding import describe, rebuild

FORMAT = 2


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
    packer = Packer()
    header = {"format": FORMAT, "version": __version__, "model": describe(model, packer)}
    if getattr(model, "record_", None) is not None:
        header["record"] = model.record_
    write_whole(Path(path), safetensors.numpy.save(packer.tensors, metadata={"thresher": json.dumps(header)}))


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
        reason = " ".join(str(error).split())
        raise ValueError(
            f"{where}: not a model file of thresher, or one that is cut short or damaged ({reason})."
        ) from None
    try:
        return _model(header, Unpacker(tensors, room=32 * os.path.getsize(path)))
    except Refusal as refusal:
        raise ValueError(f"{where}: {refusal}.") from None
    except (LookupError, TypeError, ValueError, AttributeError, ArithmeticError, MemoryError, RecursionError) as error:
        reason = " ".join(str(error).split())[:200].rstrip(".")
        raise ValueError(f"{where}: the header does not describe a model: {reason}.") from None


def _model(header: dict[str, Any], unpacker: Unpacker) -> Any:
    if header["format"] == 1:  # one estimator, described where its file is
        header = {"model": header}
    elif header["format"] != FORMAT:
        raise Refusal(f"format {header['format']} needs thresher {header['version']} or newer, this is {__version__}")
    model = rebuild(header["model"], unpacker)
    if "record" in header:
        require(isinstance(header["record"], dict), "the record must be a dict")
        model.record_ = header["record"]
    return model


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
