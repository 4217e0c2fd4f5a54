"""A folder of texts: each subfolder is a class, each file in it a document."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from .._gate import Table, Text
from ._recognise import binary_kind
from ._source import Mark, Part, RowSource

_LONGEST_TEXT = 1 << 26
_LOOKED_AT, _START = 20, 1 << 12  # files at the beginning, and bytes of each


class DocumentSource(RowSource):
    """Documents in a fixed shuffled order: subfolders one after the other would show a learner one class at a time.

    Hidden files are ignored. A folder without subfolders holds documents without labels, in the order of their names.
    """

    columns = feature_names = ["text"]

    def __init__(self, path: Path) -> None:
        if not path.is_dir():
            raise ValueError(f"{path.name}: documents are read from a folder with a subfolder for each class.")
        self.path = path
        folders = [entry for entry in _visible(path) if entry.is_dir()]
        self._labelled = bool(folders)
        files = [file for folder in folders or [path] for file in _visible(folder) if file.is_file()]
        if not files:
            raise ValueError(f"{path.name}: the folder holds no documents (files in one subfolder per class).")
        order = np.random.default_rng(0).permutation(len(files)) if self._labelled else np.arange(len(files))
        self.files = [files[i] for i in order]
        for file in self.files[:_LOOKED_AT]:  # before hours of work; each is looked at again when it is read
            with file.open("rb") as opened:
                _refuse_binary(file, opened.read(_START))
        self.n_bytes = sum(file.stat().st_size for file in files)

    def layout(self) -> dict[str, Any]:
        target, kind = ("folder", "t") if self._labelled else (None, None)
        return {"columns": ["text"], "kinds": "t", "target": target, "target_kind": kind}

    def parts(self, n_rows: int, start: Mark) -> Iterator[Part]:
        if start.offset > len(self.files) or start.line != start.offset + 1:
            raise self.wrong_position(start)
        done = sum(map(os.path.getsize, self.files[: start.offset]))
        for begin in range(start.offset, len(self.files), n_rows):
            some = self.files[begin : begin + n_rows]
            texts = [_read(file) for file in some]
            done += sum(map(os.path.getsize, some))
            offsets = np.concatenate([[0], np.cumsum([len(text) for text in texts])]).astype(np.int64)
            column = Text(offsets, np.frombuffer(b"".join(texts), np.uint8))
            X = Table(["text"], np.empty((len(some), 0)), {"text": column})
            y = np.array([file.parent.name for file in some], dtype=object) if self._labelled else None
            yield Part(X, y, begin + 1, Mark(begin + len(some), begin + len(some) + 1), done, 0)


def _visible(folder: Path) -> list[Path]:
    return sorted(entry for entry in folder.iterdir() if not entry.name.startswith("."))


def _refuse_binary(file: Path, text: bytes) -> None:
    if (what := binary_kind(text)) is not None:
        raise ValueError(f"{file.name}: the file is {what}, not a document.")


def _read(file: Path) -> bytes:
    """UTF-8, whatever text the file holds."""
    with file.open("rb") as opened:
        text = opened.read(_LONGEST_TEXT + 1)
    if len(text) > _LONGEST_TEXT:
        raise ValueError(f"{file.name}: the document is larger than {_LONGEST_TEXT >> 20} MB.")
    _refuse_binary(file, text)
    try:
        text.decode()
    except UnicodeDecodeError:
        return text.decode("latin-1").encode()
    return text
