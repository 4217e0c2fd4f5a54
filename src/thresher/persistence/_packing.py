"""Values as JSON and arrays: parameters and fitted attributes of models."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np

from .._gate import on_host

Tensors = dict[str, np.ndarray[Any, Any]]

_PLAIN = (bool, int, float, str, type(None))
_MOST_TEXTS = 256  # beyond that, a list of texts is kept as two arrays


class Refusal(Exception):
    """The reason why a file is not a model."""


def require(holds: bool, sentence: str) -> None:
    """Refuse the file unless something holds."""
    if not holds:
        raise Refusal(sentence)


class Packer:
    """Turns values into JSON. Arrays of numbers and long lists of text go to ``tensors``."""

    def __init__(self) -> None:
        self.tensors: Tensors = {}

    def pack(self, value: Any, key: str) -> Any:
        """Return a value as JSON; its arrays are named after `key`."""
        if isinstance(value, np.generic):
            value = value.item()
        if isinstance(value, _PLAIN):
            return value
        if isinstance(value, (np.random.RandomState, np.random.Generator)):
            return None
        if _is_kernel(value):
            return {"kernel": _kernel(value)}
        if isinstance(value, dict):
            pairs = enumerate(value.items())
            return {"pairs": [[self.pack(k, f"{key}/{i}k"), self.pack(v, f"{key}/{i}")] for i, (k, v) in pairs]}
        return (
            self._list(value, key)
            if isinstance(value, (list, tuple))
            else self._array(np.asarray(on_host(value)), False, key)
        )

    def _list(self, values: Any, key: str) -> dict[str, Any]:
        if any(map(_is_kernel, values)):
            return {"kernels": [_kernel(each) for each in values]}
        if values and all(isinstance(each, (list, tuple, range)) for each in values):
            self.tensors[f"{key}/ends"] = np.cumsum([len(each) for each in values])
            return {"lists": key, "of": self.pack(np.array([v for each in values for v in each]), f"{key}/all")}
        return self._array(np.asarray(values), True, key)

    def _array(self, array: np.ndarray[Any, Any], is_list: bool, key: str) -> dict[str, Any]:
        if array.dtype.kind in "OUS" or (is_list and not len(array)):
            kind = "list" if is_list else {"O": "object", "U": "str", "S": "bytes"}[array.dtype.kind]
            texts = array.tolist()
            return self._texts([text.decode("latin-1") for text in texts] if kind == "bytes" else texts, kind, key)
        self.tensors[key] = np.ascontiguousarray(array)
        return {"tensor": key, "as": "list"} if is_list else {"tensor": key}

    def _texts(self, texts: list[Any], kind: str, key: str) -> dict[str, Any]:
        if not all(isinstance(item, str) for item in texts):
            raise ValueError(f"save_model: {key} must hold numbers or text.")
        if len(texts) <= _MOST_TEXTS:
            return {"text": texts, "as": kind}
        packed = [text.encode("utf-8", "surrogatepass") for text in texts]
        self.tensors[f"{key}/lengths"] = np.array([len(text) for text in packed], dtype=np.int64)
        self.tensors[f"{key}/text"] = np.frombuffer(b"".join(packed), dtype=np.uint8)
        return {"texts": key, "as": kind}


def _is_kernel(value: Any) -> bool:
    if isinstance(value, (*_PLAIN, np.generic, np.ndarray, dict, list, tuple, range)):
        return False
    from .._kernels import Kernel

    return isinstance(value, Kernel)


def _kernel(value: Any) -> dict[str, Any]:
    from .._kernels import to_plain

    try:
        return to_plain(value)
    except ValueError as error:
        raise ValueError(f"save_model: {error}.") from None


class Unpacker:
    """Turns JSON and arrays of untrusted files into values; texts may take `room` bytes in memory."""

    def __init__(self, tensors: Tensors, room: int) -> None:
        self.tensors = tensors
        self._room = room

    def unpack(self, value: Any) -> Any:
        """Return the value that :meth:`Packer.pack` was given."""
        if isinstance(value, _PLAIN):
            return value
        if "kernel" in value or "kernels" in value:
            from .._kernels import from_plain

            if "kernel" in value:
                return from_plain(value["kernel"])
            return [from_plain(each) for each in value["kernels"]]
        if "pairs" in value:
            return {self.unpack(k): self.unpack(v) for k, v in value["pairs"]}
        if "tensor" in value:
            array = self.tensors[value["tensor"]]
            return array.tolist() if value.get("as") == "list" else array
        if "lists" in value:
            return _lists(self.tensors[f"{value['lists']}/ends"], self.unpack(value["of"]))
        return self._texts(value)

    def _texts(self, value: dict[str, Any]) -> Any:
        if "texts" in value:
            key = value["texts"]
            texts = _cut(self.tensors[f"{key}/lengths"], self.tensors[f"{key}/text"])
        else:
            texts = value["text"]
        require(all(isinstance(item, str) for item in texts), "names and labels must be text")
        kind = value["as"] if "as" in value else "object" if value["object"] else "str"
        if kind == "list":
            return texts
        size = 4 * len(texts) * max(map(len, texts), default=0)  # as NumPy would store it
        require(kind == "object" or size <= self._room, "names and labels take more room than the file")
        if kind == "bytes":
            return np.array([text.encode("latin-1") for text in texts])
        return np.array(texts, dtype=object if kind == "object" else str)


def _lists(ends: np.ndarray[Any, Any], together: Any) -> list[list[Any]]:
    flat = isinstance(together, np.ndarray) and together.ndim == 1
    require(flat and ends.dtype == np.int64 and ends.ndim == 1, "lists must be kept as their ends and what they hold")
    starts = np.concatenate([[0], ends])
    require(not (np.diff(starts) < 0).any() and starts[-1] == len(together), "lists must fit what they hold")
    each = together.tolist()
    return [each[a:b] for a, b in itertools.pairwise(starts.tolist())]


def _cut(lengths: np.ndarray[Any, Any], text: np.ndarray[Any, Any]) -> list[str]:
    kinds = lengths.dtype == np.int64 and text.dtype == np.uint8 and lengths.ndim == text.ndim == 1
    require(kinds, "names and labels must be text")
    fits = not (lengths < 0).any() and not (lengths > len(text)).any() and lengths.sum() == len(text)
    require(fits, "names and labels must fit their lengths")
    ends = np.cumsum(lengths).tolist()
    raw = text.tobytes()
    return [raw[end - n : end].decode("utf-8", "surrogatepass") for end, n in zip(ends, lengths.tolist(), strict=True)]
