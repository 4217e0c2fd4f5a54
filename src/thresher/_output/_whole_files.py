"""Files written as a whole: into a draft in the same folder, which takes their place when it is complete."""

from __future__ import annotations

import contextlib
import errno
import os
import stat
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import IO

try:
    import fcntl
except ImportError:  # a system without locks: drafts of killed processes stay there
    fcntl = None  # type: ignore[assignment]

PathLike = str | os.PathLike[str]

_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
_LONGEST_STEM = 180  # bytes of a file's name in that of its draft: disks take 255
_swept: set[Path] = set()  # files whose folders were searched for drafts of dead processes


def write_whole(path: PathLike, content: bytes, *, inputs: Iterable[PathLike] = ()) -> None:
    """Write bytes to a file as :func:`writing` does."""
    with writing(path, inputs=inputs) as file:
        file.write(content)


@contextlib.contextmanager
def writing(path: PathLike, *, inputs: Iterable[PathLike] = ()) -> Iterator[IO[bytes]]:
    """Open a file that takes the place of `path` at the end, on the disk and complete; after an error, nothing changes.

    A link stays, and the file behind it is replaced, with the same permissions. Other paths (a pipe, a terminal,
    ``/dev/stdout``) is written to directly. One of the `inputs` is never replaced.
    """
    check_no_input(path, inputs)
    if is_special(path):
        with open(path, "wb") as through:
            yield through
        return
    place = Path(os.path.realpath(path))
    delete_drafts(place)
    try:
        draft, file = _new_draft(place)
    except OSError as error:  # it names the draft
        raise OSError(error.errno, error.strerror, os.fspath(path)) from None
    try:
        with file:
            yield file
            file.flush()
            os.chmod(draft, _permissions(place))
            os.fsync(file.fileno())
            os.replace(draft, place)
    except BaseException as error:
        draft.unlink(missing_ok=True)
        if isinstance(error, OSError) and error.errno in _FULL:  # it names nothing
            raise OSError(error.errno, f"{error.strerror}; nothing was written", os.fspath(path)) from None
        raise
    _sync_folder(place.parent)


def check_no_input(path: PathLike, inputs: Iterable[PathLike]) -> None:
    """Refuse to write over a file that is read."""
    if os.path.exists(path) and not is_special(path):
        for one in inputs:
            if os.path.exists(one) and os.path.samefile(path, one):
                raise ValueError(f"{Path(path).name}: this file is read as input; write to another one.")


def is_special(path: PathLike) -> bool:
    """Whether this cannot be replaced like a file: a pipe, a device, or what the process holds open already."""
    if os.path.abspath(path).startswith(("/dev/", "/proc/")):
        return True
    try:
        mode = os.stat(path).st_mode
    except OSError:
        return False
    return not stat.S_ISREG(mode) and not stat.S_ISDIR(mode)


def _new_draft(place: Path) -> tuple[Path, IO[bytes]]:
    """A file with a name that cannot be guessed, locked while it is written to."""
    while True:
        draft = place.with_name(f"{_prefix(place)}{os.urandom(8).hex()}.part")
        file = open(draft, "xb", opener=_private)  # noqa: SIM115  (closed by the caller)
        try:
            if fcntl is None or _lock(file.fileno(), wait=True):
                return draft, file
        except OSError:  # a disk without locks
            return draft, file
        file.close()  # another process took it for a leftover and removed it


def _private(path: str, flags: int) -> int:
    return os.open(path, flags | os.O_NOFOLLOW, 0o600)


def _prefix(place: Path) -> str:
    return f".{place.name.encode(errors='surrogateescape')[:_LONGEST_STEM].decode(errors='ignore')}."


def _lock(handle: int, *, wait: bool) -> bool:
    """Lock a file; returns whether it is still there."""
    fcntl.flock(handle, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
    return os.fstat(handle).st_nlink > 0


def delete_drafts(path: PathLike) -> None:
    """Delete abandoned drafts of this file; once, because a folder may be large."""
    place = Path(os.path.realpath(path))
    if fcntl is None or place in _swept:
        return
    _swept.add(place)
    prefix = _prefix(place)
    with contextlib.suppress(OSError), os.scandir(place.parent) as entries:
        for entry in entries:
            if entry.name.startswith(prefix) and entry.name.endswith(".part"):
                _delete_if_left(entry.path)


def _delete_if_left(draft: str) -> None:
    with contextlib.suppress(OSError):  # another user's, or being written to
        handle = os.open(draft, os.O_RDWR | os.O_NOFOLLOW | os.O_CLOEXEC)
        try:
            if _lock(handle, wait=False):
                os.unlink(draft)
        finally:
            os.close(handle)


def _permissions(place: Path) -> int:
    """Return the permissions of the replaced file, or those that the umask gives a new one."""
    try:
        return stat.S_IMODE(place.stat().st_mode)
    except OSError:
        mask = os.umask(0)
        os.umask(mask)
        return 0o666 & ~mask


def _sync_folder(folder: Path) -> None:
    """Make the new name as durable as the content, where the system can."""
    with contextlib.suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
