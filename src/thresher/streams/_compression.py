"""Text of files, compressed or not: gzip, bzip2 and Zstandard are decompressed on the way."""

from __future__ import annotations

import bz2
import importlib.util
import os
import re
import stat
import zlib
from collections.abc import Callable, Iterator
from functools import partial
from io import FileIO
from pathlib import Path
from typing import Any

from ._ahead import ahead
from ._encoding import recoded

_CHUNK = 1 << 18  # compressed bytes read at a time
_BLOCK = 1 << 21  # bytes handed on at a time
_BLOCKS_AHEAD = 4
_LONGEST_MAGIC = 10
_SIP = 1 << 9  # of Zstandard, which makes up to 16 MB of them

_MAGIC = {
    "gzip": re.compile(rb"\x1f\x8b"),
    "bzip2": re.compile(rb"BZh[1-9](1AY&SY|\x17\x72\x45\x38\x50\x90)"),
    "zstd": re.compile(rb"\x28\xb5\x2f\xfd|[\x50-\x5f]\x2a\x4d\x18"),
}
SUFFIXES = (".gz", ".bz2", ".zst", ".zstd")


def compression(path: Path) -> str | None:
    """Recognise a compression by the first bytes. A file that cannot be read as text is refused."""
    with _opened(path) as file:
        return _compression_of(path, file.read(_LONGEST_MAGIC))


def _opened(path: Path) -> FileIO:
    mode = os.stat(path).st_mode  # before opening it: a pipe would wait for its writer
    if stat.S_ISDIR(mode):
        raise ValueError(f"{path.name}: this is a folder, not a file of rows.")
    if not stat.S_ISREG(mode):
        raise ValueError(f"{path.name}: a pipe or device cannot be read; write its text to a file first.")
    return FileIO(path)


def _compression_of(path: Path, start: bytes) -> str | None:
    if not start:
        raise ValueError(f"{path.name}: the file is empty.")
    if start.startswith(b"PK\x03\x04"):
        raise ValueError(f"{path.name}: zip archives are not read; unpack it, or compress with gzip, bzip2 or zstd.")
    kind = next((kind for kind, magic in _MAGIC.items() if magic.match(start)), None)
    if kind == "zstd" and importlib.util.find_spec("zstandard") is None:
        raise ValueError(f'{path.name}: Zstandard files need zstandard: pip install "thresher[lab]".')
    return kind


class TextBytes:
    """A file's text from byte `offset` on. `readinto` fills a buffer; `magic` is the first bytes on disk, `before` the
    byte in front of `offset`, empty if the text has none there. Compressed files are decompressed in a thread of their
    own, and text in another `encoding` than UTF-8 is recoded there."""

    def __init__(self, path: Path, offset: int = 0, *, threaded: bool = True, encoding: str = "utf-8") -> None:
        self.before = b""
        self._file = _opened(path)
        self.magic = self._file.read(_LONGEST_MAGIC)
        try:
            kind = _compression_of(path, self.magic)
        except ValueError:
            self._file.close()
            raise
        self._file.seek(0)
        self._blocks: Iterator[tuple[bytes, int]] | None = None
        self._rest = memoryview(b"")
        self._n_read = 0
        if kind is not None or encoding != "utf-8":
            blocks = _placed(path, self._file, _plain if kind is None else _DECODERS[kind])
            if encoding != "utf-8":
                blocks = recoded(path.name, blocks, encoding)
            self._blocks = ahead(blocks, _BLOCKS_AHEAD) if threaded else blocks
        if offset > 0:
            self._skip(offset)

    def __enter__(self) -> TextBytes:
        return self

    def __exit__(self, *error: object) -> None:
        if self._blocks is not None:
            self._blocks.close()  # type: ignore[attr-defined]
        self._file.close()

    def n_read(self, offset: int) -> int:
        """Bytes of the file on disk that its text up to `offset` has used, for progress."""
        return offset if self._blocks is None else self._n_read

    def readinto(self, buffer: memoryview) -> int:
        if self._blocks is None:
            return self._file.readinto(buffer) or 0
        if not self._rest and not self._next_block():
            return 0
        n = min(len(buffer), len(self._rest))
        buffer[:n] = self._rest[:n]
        self._rest = self._rest[n:]
        return n

    def blocks(self) -> Iterator[bytes]:
        """All that is left of a compressed file."""
        yield bytes(self._rest)
        while self._next_block():
            yield bytes(self._rest)

    def _skip(self, n_bytes: int) -> None:
        if self._blocks is None:
            self._file.seek(min(n_bytes - 1, os.fstat(self._file.fileno()).st_size))
            self.before = self._file.read(1)
            return
        while n_bytes > len(self._rest):
            n_bytes -= len(self._rest)
            if not self._next_block():
                return
        self.before = bytes(self._rest[n_bytes - 1 : n_bytes])
        self._rest = self._rest[n_bytes:]

    def _next_block(self) -> bool:
        assert self._blocks is not None
        block, self._n_read = next(self._blocks, (b"", self._n_read))
        self._rest = memoryview(block)
        return bool(block)


def _placed(path: Path, file: FileIO, decode: Callable[[FileIO], Iterator[bytes]]) -> Iterator[tuple[bytes, int]]:
    """Blocks of text, each with the place in the compressed file; damage raises an error of one sentence."""
    try:
        for block in decode(file):
            if block:
                yield block, file.tell()
    except (EOFError, OSError, ValueError, zlib.error) as error:
        reason = " ".join(str(error).split())
        raise ValueError(f"{path.name}: the compressed file is damaged or cut short ({reason}).") from None


def _members(file: FileIO, new: Callable[[], Any], padding: bytes) -> Iterator[bytes]:
    """The text of all members of a file, between which there may be padding."""
    rest = file.read(_CHUNK)
    while rest:
        member = new()
        while not member.eof:
            if not rest and getattr(member, "needs_input", True) and not (rest := file.read(_CHUNK)):
                raise EOFError("the end is missing")
            yield member.decompress(rest, _BLOCK)
            rest = getattr(member, "unconsumed_tail", b"")
        rest = member.unused_data.lstrip(padding)
        while not rest and (data := file.read(_CHUNK)):
            rest = data.lstrip(padding)


def _plain(file: FileIO) -> Iterator[bytes]:
    while block := file.read(_BLOCK):
        yield block


def _zstd(file: FileIO) -> Iterator[bytes]:
    import zstandard

    rest, block = b"", bytearray()
    while rest or (rest := file.read(_CHUNK)):
        frame = zstandard.ZstdDecompressor().decompressobj()
        begin = 0
        while not frame.eof:
            if begin >= len(rest):
                begin, rest = 0, file.read(_CHUNK)
                if not rest:
                    raise EOFError("the end is missing")
            try:
                block += frame.decompress(rest[begin : begin + _SIP])  # its output cannot be limited
            except zstandard.ZstdError as error:
                raise ValueError(str(error)) from None
            begin += _SIP
            if len(block) >= _BLOCK:
                text = bytes(block)
                yield from (text[i : i + 2 * _BLOCK] for i in range(0, len(text), 2 * _BLOCK))
                block.clear()
        rest = frame.unused_data + rest[begin:]
    yield bytes(block)


_DECODERS: dict[str, Callable[[FileIO], Iterator[bytes]]] = {
    "gzip": partial(_members, new=partial(zlib.decompressobj, wbits=31), padding=b"\0"),
    "bzip2": partial(_members, new=bz2.BZ2Decompressor, padding=b""),
    "zstd": _zstd,
}
