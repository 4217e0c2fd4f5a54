"""NumPy rows that are used on a GPU: copied there in blocks while a context is open, and models copied back."""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, NamedTuple

import numpy as np

from ._arrays import check_room, is_foreign_array, on_host, row_blocks


class _Place(NamedTuple):
    device: Any
    predicts: bool


_PLACE: ContextVar[_Place | None] = ContextVar("place", default=None)


def find_device(name: str) -> Any:
    """A device of PyTorch by its name, such as "cuda" or "cuda:1"; ValueError, in one sentence, if there is none."""
    try:
        torch = importlib.import_module("torch")
    except ModuleNotFoundError:
        raise ValueError(f"The device {name!r} needs PyTorch, which is not installed: pip install torch.") from None
    if not torch.cuda.is_available():
        raise ValueError(f"The device {name!r} is not available: PyTorch {torch.__version__} finds no GPU.")
    device, n_devices = torch.device(name), torch.cuda.device_count()
    if (device.index or 0) >= n_devices:
        raise ValueError(f"The device {name!r} is not available: PyTorch finds {n_devices}, counted from cuda:0.")
    return device


@contextmanager
def computing_on(device: Any, *, predictions: bool = False) -> Iterator[None]:
    """While open, estimators that take arrays learn from dense rows of NumPy on a device of PyTorch; with
    ``predictions``, they predict there as well, and answer with tensors. Without a device nothing changes."""
    token = _PLACE.set(None if device is None else _Place(device, predictions))
    try:
        yield
    except Exception as error:
        if type(error).__name__ != "OutOfMemoryError":  # PyTorch's own, which need not be there
            raise
        raise MemoryError(
            f"{device} ran out of memory; take fewer rows or landmarks at a time, or compute on the CPU."
        ) from None
    finally:
        _PLACE.reset(token)


def placed(rows: Any, learns: bool) -> Any:
    """Rows that passed the gate, on the device of the context that is open, if there is one."""
    place = _PLACE.get()
    if place is None or type(rows) is not np.ndarray or not (learns or place.predicts):
        return rows
    return copied_to(rows, place.device)


def copied_to(rows: Any, device: Any) -> Any:
    """Rows of NumPy as a tensor on a device. Blocks go through two buffers: one is filled while the other is
    on its way to the GPU."""
    torch = importlib.import_module("torch")
    like = torch.empty((0,), dtype=torch.float64, device=device)
    check_room((*rows.shape[:-1], -(-rows.shape[-1] * rows.itemsize // 8)), like)
    if like.device.type != "cuda":
        return torch.asarray(rows).to(like.device)
    there = torch.empty(rows.shape, dtype=getattr(torch, rows.dtype.name), device=device)
    blocks = list(row_blocks(rows.shape, rows))
    size = max((part.stop - part.start for part in blocks), default=0)
    buffers = [torch.empty((size, rows.shape[1]), dtype=there.dtype, pin_memory=True) for _ in blocks[:2]]
    sent = [torch.cuda.Event() for _ in buffers]
    with torch.cuda.device(like.device):
        for number, part in enumerate(blocks):
            buffer, event = buffers[number % 2], sent[number % 2]
            event.synchronize()  # of the block before the last, which leaves its buffer
            here = buffer[: part.stop - part.start]
            here.numpy()[...] = rows[part]
            there[part].copy_(here, non_blocking=True)
            event.record()
        torch.cuda.current_stream().synchronize()
    return there


def bring_home(model: Any) -> bool:
    """Make arrays of NumPy of all arrays of other libraries that a model, or a step of a pipeline, holds; whether there
    were any."""
    found = False
    for step in [model, *(step for _, step in getattr(model, "steps", ()))]:
        for name, value in vars(step).items():
            found = found or is_foreign_array(value)
            vars(step)[name] = _at_home(value)
    return found


def _at_home(value: Any) -> Any:
    if is_foreign_array(value):
        return on_host(value)
    if type(value) is dict:
        return {key: _at_home(one) for key, one in value.items()}
    return [_at_home(one) for one in value] if type(value) is list else value
