"""Remote files by their URLs: expand patterns, and fetch a copy of each file.

fsspec transfers the files. Copies are kept in the folder that the environment variable THRESHER_CACHE names, by default
in a folder of the user among the temporary files. The name of a copy is made of the URL and the version that the file
system reports, so a file is fetched again only when it has changed. Copies are never deleted.
"""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path, PurePosixPath
from typing import Any

from .._output import writing

_URL = re.compile(r"([A-Za-z][\w+.-]+::)*[A-Za-z][\w+.-]+://")  # two letters at least: C:// is a drive
_LOCAL = re.compile(r"(file|local)://")
_PACKAGES = {
    **dict.fromkeys(("s3", "s3a"), "s3fs"),
    **dict.fromkeys(("gs", "gcs"), "gcsfs"),
    **dict.fromkeys(("abfs", "abfss", "az", "adl"), "adlfs"),
    **dict.fromkeys(("http", "https"), "aiohttp"),
    **dict.fromkeys(("ssh", "sftp"), "paramiko"),
    "hdfs": "pyarrow",
    "smb": "smbprotocol",
}
_VERSION = re.compile(r"(?i)e-?tag|.*(md5|crc|checksum|digest|generation|version|modif|mtime|date_time).*|created|size")


def is_url(path: Any) -> bool:
    """Whether this names a file by a URL, perhaps a chain of them. A name that merely has a colon does not."""
    return isinstance(path, str) and _URL.match(path) is not None


def expand(url: str) -> list[str]:
    """The URLs of all files that match a pattern, in natural order; a URL without a pattern as it is. Reads none."""
    if not _has_pattern(url):
        return [url]
    system, pattern = opened(url)
    with _in_one_sentence(url):
        if system.exists(pattern):
            return [url]
        found = system.glob(pattern)
    if not found:
        raise FileNotFoundError(f"No file matches {url!r}.")
    return sorted((_matched(url, pattern, match) for match in found), key=natural_order)


def fetch(url: str) -> Path:
    """A copy of the file on this machine, of the same name. Several processes may ask for it at once; what could not be
    fetched whole leaves nothing."""
    system, path = opened(url)
    if _LOCAL.match(url) and "::" not in url:
        if not os.path.exists(path):
            raise FileNotFoundError(f"{url}: no such file.")
        return Path(path)
    with _in_one_sentence(url):
        known = system.info(path)
    if known.get("type") == "directory":
        raise ValueError(f"{url}: this is a folder; name its files, by a pattern such as {url.rstrip('/')}/*.svm.")
    cache, key = _cache(), cache_key(url, known)
    copy = cache / key / _name(url, path)
    if not copy.exists():
        copy.parent.mkdir(exist_ok=True)
        try:
            with writing(copy) as draft:
                with _in_one_sentence(url):
                    system.get_file(path, draft.name)
                arrived, promised = os.path.getsize(draft.name), known.get("size")
                if promised is not None and arrived != promised:
                    raise OSError(f"{url}: only {arrived:,} of {promised:,} bytes arrived.")
        finally:
            with suppress(OSError):  # unless it holds the copy
                copy.parent.rmdir()
    return copy


def natural_order(path: str | Path) -> tuple[list[tuple[int, str]], str]:
    """By which to sort names: 2 before 10."""
    parts = re.split(r"(\d+)", str(path))
    return [(int(part), "") if part.isdecimal() else (-1, part) for part in parts], str(path)


# --- URLs -------------------------------------------------------------------------------------------------------------


def _place(url: str) -> tuple[str, str, str]:
    """The part of a chain before the link that names the file, this link, and the part behind it."""
    links = url.split("::")
    n = next(i for i, link in enumerate(links) if "://" in link)
    return "".join(link + "::" for link in links[:n]), links[n], "".join("::" + link for link in links[n + 1 :])


def _has_pattern(url: str) -> bool:
    link = _place(url)[1]
    return any(sign in link for sign in ("*[" if link.startswith("http") else "*[?"))  # ? begins a query there


def _matched(url: str, pattern: str, match: str) -> str:
    """The URL with a match in place of the pattern; the host and the rest of a chain stay."""
    before, link, behind = _place(url)
    start = link.removesuffix(pattern) if link.endswith(pattern) else link.partition("://")[0] + "://"
    return f"{before}{match if '://' in match else start + match}{behind}"


def _name(url: str, path: str) -> str:
    """The last part of the path, which tells the format; the end of it, if a disk takes no names as long as that."""
    name = PurePosixPath(re.split(r"[?#]", path)[0] if _place(url)[1].startswith("http") else path).name
    return "file" if name in ("", "..") else name.encode(errors="replace")[-200:].decode(errors="ignore")


def opened(url: str) -> tuple[Any, str]:
    """The file system of a URL, and the path within it."""
    try:
        import fsspec
    except ImportError:
        raise ValueError(f'{url} needs fsspec: pip install "thresher[lab]".') from None
    for link in url.split("::"):
        protocol = link.partition("://")[0]
        if "://" in link or protocol in fsspec.available_protocols():
            _check_protocol(url, protocol)
    with _in_one_sentence(url):
        system, path = fsspec.core.url_to_fs(url)
        system.invalidate_cache()  # a listing may have been kept since there were other files
    return system, str(path)


def _check_protocol(url: str, protocol: str) -> None:
    import fsspec

    try:
        fsspec.get_filesystem_class(protocol)
    except ImportError as missing:
        package = _PACKAGES.get(protocol)
        needs = (
            f"needs {package}: pip install {package}." if package else f"cannot be read here: {_first_line(missing)}"
        )
        raise ValueError(f"{url} {needs}") from None
    except ValueError:
        raise ValueError(f"{url}: fsspec does not support {protocol}://.") from None


@contextmanager
def _in_one_sentence(url: str) -> Iterator[None]:
    """Turn errors of many libraries into one sentence."""
    try:
        yield
    except Exception as failure:
        reason: BaseException = failure
        if isinstance(failure, FileNotFoundError):
            if failure.__cause__ is None or not _is_of_the_network(failure.__cause__):
                raise FileNotFoundError(f"{url}: no such file.") from None
            reason = failure.__cause__
        raise OSError(f"{url}: cannot be read, {type(reason).__name__}: {_first_line(reason)}") from failure


def _is_of_the_network(cause: BaseException) -> bool:
    """Whether a missing file is a problem of the network: fsspec reports both in the same way."""
    if isinstance(cause, FileNotFoundError) or getattr(cause, "status", None) in (404, 410):
        return False
    return isinstance(cause, OSError) or type(cause).__module__.partition(".")[0] == "aiohttp"


def _first_line(failure: BaseException) -> str:
    return (str(failure).strip().splitlines() or ["no reason is given"])[0].rstrip(".") + "."


# --- the cache --------------------------------------------------------------------------------------------------------


def cache_key(url: str, known: dict[str, Any]) -> str:
    import hashlib

    version = sorted((name, str(value)) for name, value in known.items() if _VERSION.fullmatch(name))
    return hashlib.sha256(repr((url, version)).encode()).hexdigest()[:32]


def _cache() -> Path:
    """The folder of copies. One that the user names may be shared; one among the temporary files must belong to the
    user, and must not be writable by others, who could change the rows."""
    named = os.environ.get("THRESHER_CACHE")
    if named:
        folder = Path(named)
        folder.mkdir(parents=True, exist_ok=True)
        return folder
    import tempfile

    folder = Path(tempfile.gettempdir(), f"thresher-{os.getuid()}")
    folder.mkdir(mode=0o700, exist_ok=True)
    known = folder.lstat()
    if not stat.S_ISDIR(known.st_mode) or known.st_uid != os.getuid():
        raise PermissionError(f"{folder}: the folder belongs to another user; set THRESHER_CACHE to one of yours.")
    if known.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
        raise PermissionError(
            f"{folder}: other users can write to it; delete it, or set THRESHER_CACHE to another folder."
        )
    return folder
