"""The folder of a lab: its data files, files that are added to it, and what is known of them."""

from __future__ import annotations

import functools
import os
import re
import tempfile
import unicodedata
from collections.abc import AsyncIterable, Iterator
from pathlib import Path
from typing import Any

from ..wizard import DataFile
from ._guard import HttpRefusal

RUNS = "thresher-runs"
_ENDINGS = (
    *("csv", "tsv", "txt", "data", "json", "jsonl", "ndjson", "parquet", "arrow", "feather", "xlsx", "xls", "ods"),
    *("svm", "svmlight", "libsvm", "vw"),
)
_PACKED = ("", ".gz", ".bz2", ".xz", ".zst")
_LONGEST_NAME = 100
_MOST_COPIES = 1000
_MOST_OPEN = 8


class LabFolder:
    """A folder with data files, in which runs are kept, too. Nothing outside of it is read or written.

    Attributes
    ----------
    path : Path
    runs : Path
        The folder of the runs.
    """

    def __init__(self, path: Path) -> None:
        if not path.exists():
            raise FileNotFoundError(f"{path}: this folder does not exist; make it, or name another one.")
        if not path.is_dir():
            raise NotADirectoryError(f"{path}: this is a file; name the folder that it is in.")
        if not os.access(path, os.W_OK):
            raise PermissionError(f"{path}: nothing can be written to this folder; name another one.")
        self.path = path.resolve()
        self.runs = self.path / RUNS
        self.runs.mkdir(exist_ok=True)
        if self.runs.resolve().parent != self.path:
            raise ValueError(f"{self.runs}: must be a folder, not a link to another place.")

    def files(self) -> list[dict[str, Any]]:
        """The data files, the latest first."""
        found = [(path, path.stat()) for path in self._paths()]
        found.sort(key=lambda each: -each[1].st_mtime_ns)
        return [{"name": path.name, "bytes": stat.st_size} for path, stat in found]

    def _paths(self) -> Iterator[Path]:
        for path in self.path.iterdir():
            if _is_data(path.name) and path.is_file() and path.resolve().parent == self.path:
                yield path

    def find(self, name: str) -> Path:
        """The path of a data file in the folder."""
        for path in self._paths():
            if path.name == name:
                return path
        raise HttpRefusal(404, "There is no such file in the folder; choose one of those that are listed.")

    def data(self, name: str) -> DataFile:
        """Return the facts about a file in its present state."""
        path = self.find(name)
        stat = path.stat()
        return _opened(str(path), stat.st_mtime_ns, stat.st_size)

    async def add(self, name: str, chunks: AsyncIterable[bytes]) -> str:
        """Write a file that arrives in parts; returns its name, a free one similar to the requested name."""
        wanted = safe_name(name)
        with tempfile.NamedTemporaryFile(dir=self.runs, prefix="upload-") as draft:
            async for chunk in chunks:
                draft.write(chunk)
            draft.flush()
            os.chmod(draft.name, 0o644)
            for free in _numbered(wanted):
                try:
                    os.link(draft.name, self.path / free)
                except FileExistsError:
                    continue
                return free
        raise HttpRefusal(409, f"There are too many files called {wanted} in the folder; rename yours.")


@functools.lru_cache(_MOST_OPEN)
def _opened(path: str, changed: int, size: int) -> DataFile:
    return DataFile(path)


def _is_data(name: str) -> bool:
    return not name.startswith((".", "-")) and any(name.lower().endswith(f".{e}{p}") for e in _ENDINGS for p in _PACKED)


def safe_name(name: str) -> str:
    """A safe name for an uploaded file, without folders and without characters that have a meaning elsewhere."""
    last = re.split(r"[/\\]", unicodedata.normalize("NFC", name))[-1]
    safe = re.sub(r"[^\w.()+, -]", "_", last).lstrip(".- ").strip()
    stem, dot, ending = safe.partition(".")
    safe = stem[: max(1, _LONGEST_NAME - len(ending))] + dot + ending[-20:] if len(safe) > _LONGEST_NAME else safe
    if not stem or not _is_data(safe):
        raise HttpRefusal(
            415,
            "This does not look like a file of data; add one that ends in .csv, .xlsx, .parquet, .json or the like.",
        )
    return safe


def _numbered(name: str) -> Iterator[str]:
    stem, _, ending = name.partition(".")
    yield name
    for number in range(2, _MOST_COPIES):
        yield f"{stem}-{number}.{ending}"
