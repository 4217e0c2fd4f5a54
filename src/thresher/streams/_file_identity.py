"""Names of files that hold in other folders and processes, and versions that change with their content."""

from __future__ import annotations

import os
import zlib
from pathlib import Path
from typing import Any

from ._files import names_of
from ._format import PathLike
from ._remote import cache_key, is_url, opened

_BLOCK, _BLOCKS = 1 << 16, 16


def absolute_names(path: PathLike) -> list[str]:
    """All files that are meant, in order: absolute paths, and URLs as they are."""
    text = os.fspath(path)
    names = names_of(text if is_url(text) else str(Path(text).absolute()))
    return [name if isinstance(name, str) else str(name.absolute()) for name in names]


def version_of(path: PathLike) -> Any:
    """A plain value that differs when the content of a file does.

    For a file on this machine, its size and a checksum of some blocks; for a URL, the version that its file system
    tells. None for a file that does not exist, and the URL itself where nobody answers.
    """
    text = os.fspath(path)
    if is_url(text):
        try:
            system, inside = opened(text)
            return cache_key(text, system.info(inside))
        except OSError:  # whoever reads it will tell
            return text
    if not os.path.exists(text):
        return None
    if os.path.isdir(text):
        return [0, 0]
    size, checksum = os.path.getsize(text), 0
    with open(text, "rb") as file:
        for place in range(_BLOCKS + 1):  # first, last, and evenly between
            file.seek(max(0, size - _BLOCK) * place // _BLOCKS)
            checksum = zlib.crc32(file.read(_BLOCK), checksum)
    return [size, checksum]
