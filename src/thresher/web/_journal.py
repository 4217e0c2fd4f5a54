"""A journal on disk of all accepted entries, written before they are acknowledged.

The journal is a folder of segments ``journal-N``, N being the number of the first entry in it. A segment is a row of
records, one for each group of entries that was written at once: a mark, the length, a checksum of both and one of the
content, which is a line of JSON for each entry. Only the end of the last segment can be incomplete, and what is
incomplete was never acknowledged. A record that is damaged anywhere else is refused.
"""

from __future__ import annotations

import contextlib
import json
import os
import struct
from collections.abc import Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any
from zlib import crc32

try:
    import fcntl
except ImportError:  # a system without locks
    fcntl = None  # type: ignore[assignment]

_MARK = b"\x89thr"
_HEAD = struct.Struct("<4sIII")  # mark, length of the content, checksum of the content, checksum of all that
_LONGEST = 1 << 30


class Journal:
    """The journal of a folder, which only one process at a time can open.

    Attributes
    ----------
    n_entries : int
        Entries so far, those of deleted segments included.
    """

    def __init__(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self._folder, self._file = folder, -1
        self._lock = os.open(folder / "lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            if fcntl is not None:
                fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            os.close(self._lock)
            raise ValueError(f"{folder}: another service is using this folder; stop it, or name another one.") from None
        self.n_entries = 0

    def read(self, n_known: int) -> Iterator[Any]:
        """The entries behind the first `n_known`; then entries can be appended."""
        segments = self._segments()
        if segments and segments[0][0] > n_known + 1:
            raise ValueError(f"{self._folder}: the entries from {n_known + 1} on are missing from the journal.")
        self.n_entries = n_known
        number = segments[0][0] if segments else n_known + 1
        for place, (first, path) in enumerate(segments):
            if first != number:
                raise ValueError(f"{path}: the journal continues with entry {first}, and {number} is missing.")
            for entry in _entries(path, is_last=place == len(segments) - 1):
                if number > n_known:
                    self.n_entries = number
                    yield entry
                number += 1
        if number <= n_known:
            raise ValueError(f"{self._folder}: the journal ends before the checkpoint; restore both from one backup.")
        self.start_segment()

    def append(self, entries: Sequence[Any]) -> None:
        """Write a group of entries, which are on the disk when this returns."""
        self.write(record_of(entries), len(entries))

    def write(self, record: bytes, n_entries: int) -> None:
        """Write a record of one or more entries, which are on the disk when this returns."""
        left = memoryview(record)
        while left:
            left = left[os.write(self._file, left) :]  # O_DSYNC: it returns when the disk has it
        self.n_entries += n_entries

    def start_segment(self) -> None:
        """Write to a new segment from now on."""
        path = self._folder / f"journal-{self.n_entries + 1:012d}"
        file = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC | os.O_DSYNC, 0o600)
        folder = os.open(self._folder, os.O_RDONLY)
        os.fsync(folder)
        os.close(folder)
        if self._file >= 0:
            os.close(self._file)
        self._file = file

    def forget(self, n_known: int) -> None:
        """Delete the segments that hold none but the first `n_known` entries."""
        segments = self._segments()
        for (_, path), (after, _) in pairwise(segments):
            if after <= n_known + 1:
                path.unlink()

    def close(self) -> None:
        for handle in (self._file, self._lock):
            with contextlib.suppress(OSError):
                os.close(handle)

    def _segments(self) -> list[tuple[int, Path]]:
        paths = [path for path in self._folder.glob("journal-*") if path.name[8:].isdigit()]
        return sorted((int(path.name[8:]), path) for path in paths)


def record_of(entries: Sequence[Any]) -> bytes:
    """A group of entries as the journal keeps them."""
    content = b"".join(json.dumps(entry, separators=(",", ":")).encode() + b"\n" for entry in entries)
    if len(content) > _LONGEST:
        raise ValueError("The rows are too long for the journal; send fewer at a time.")
    head = struct.pack("<4sII", _MARK, len(content), crc32(content))
    return head + struct.pack("<I", crc32(head)) + content


def _entries(path: Path, is_last: bool) -> Iterator[Any]:
    """The entries of a segment. An incomplete end of the last one is cut off."""
    data, place = path.read_bytes(), 0
    while place < len(data):
        content = _content(data, place)
        if content is None:
            if not is_last or _has_record(data, place + 1):
                raise ValueError(f"{path}: the record at byte {place} is damaged; restore the folder from a backup.")
            with path.open("r+b") as file:
                file.truncate(place)
                os.fsync(file.fileno())
            return
        yield from map(json.loads, content.splitlines())
        place += _HEAD.size + len(content)


def _content(data: bytes, place: int) -> bytes | None:
    """The content of the record that begins here; None if it is not one, or not whole."""
    if place + _HEAD.size > len(data):
        return None
    mark, length, of_content, of_head = _HEAD.unpack_from(data, place)
    if mark != _MARK or of_head != crc32(data[place : place + 12]):
        return None
    content = data[place + _HEAD.size : place + _HEAD.size + length]
    return content if len(content) == length and crc32(content) == of_content else None


def _has_record(data: bytes, place: int) -> bool:
    while (place := data.find(_MARK, place)) >= 0:
        if _content(data, place) is not None:
            return True
        place += 1
    return False
