"""``--device``: where a model learns and predicts."""

from __future__ import annotations

import re
from typing import Any

import click

from ._options import option

device_option = option(
    "--device",
    None,
    "Where to compute: cpu, or cuda for a GPU (needs PyTorch; methods that compute with whole matrices).",
    metavar="cpu|cuda",
    default="cpu",
)


def device_of(name: str) -> Any:
    """The GPU that is meant, or None for the CPU."""
    from .._gate import find_device

    if name == "cpu":
        return None
    if not re.fullmatch(r"cuda(:[0-9]{1,3})?", name):
        raise click.UsageError(f"--device must be cpu or cuda, or cuda:1 for the second GPU, got {name!r}.")
    try:
        return find_device(name)
    except ValueError as error:
        raise click.UsageError(f"--device: {error}") from None


def check_method(device: Any, method: Any, first: Any) -> None:
    """Refuse a GPU for a method, or for rows, that cannot use it."""
    from .. import registry
    from .._gate import sparse

    if device is None:
        return
    if not method.cls._takes_arrays:
        others = [each.name for each in registry.methods(method.task) if each.cls._takes_arrays]
        raise click.UsageError(
            f"--device cuda does not work with {method.name}, which learns on the CPU; "
            f"it works with {', '.join(sorted(others))}."
        )
    if sparse.issparse(first):
        raise click.UsageError("--device cuda needs a table of numbers, but these rows are sparse.")


def takes_arrays(model: Any) -> bool:
    """Whether a model, or the learner of a pipeline, computes with arrays where they lie."""
    from ..training import learner_of

    return bool(getattr(learner_of(model), "_takes_arrays", False))
