"""Encodings of text: recognised by the first bytes, and recoded to UTF-8 on the way."""

from __future__ import annotations

import codecs
import importlib.util
import re
from collections.abc import Iterator

_START = 1 << 12  # bytes that tell binary content from text
_UNDEFINED = re.compile(rb"[\x81\x8d\x8f\x90\x9d]")  # in Windows-1252
# Western European letters beside ASCII letters, and signs that stand alone: quotes, dashes, currencies, degrees.
_WESTERN = re.compile(
    rb"(?:(?<=[A-Za-z ,;\"'\t\n])|^)[\xc0-\xd6\xd8-\xf6\xf8-\xff]+(?=[A-Za-z \"',;.\t\r\n]|$)|[A-Za-z][\xc0-\xff]"
)
_SIGNS = re.compile(rb"[\x80\x82-\x8c\x8e\x91-\x9c\x9e-\xbf\xd7\xf7]")
_LONGEST_LOOK = 1 << 18


def is_encoding(name: object) -> bool:
    """Whether Python knows an encoding of text by this name."""
    try:
        return isinstance(name, str) and codecs.lookup(name)._is_text_encoding
    except (LookupError, ValueError):  # Python refuses a name with a null character in other words
        return False


def find_encoding(file: str, head: bytes, complete: bool) -> str:
    """The encoding of a text that begins in this way; raises an error if it cannot be detected."""
    if head.startswith(codecs.BOM_UTF8):
        return "utf-8"
    if (utf16 := utf16_of(head)) is not None:
        return utf16
    if b"\0" in head[:_START]:
        raise ValueError(f"{file}: the file is binary, not text.")
    try:
        if not head.isascii():
            codecs.getincrementaldecoder("utf-8")().decode(head, complete)
    except UnicodeDecodeError:
        return _legacy(file, head)
    return "utf-8"


def utf16_of(head: bytes) -> str | None:
    """The kind of UTF-16 that a text is in, by its mark or because every other byte of most Western letters is 0."""
    if head.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return "utf-16"
    start = head[:_START]
    zeros, even = start.count(b"\0"), start[::2].count(b"\0")
    if max(even, zeros - even) <= 0.3 * len(start) or min(even, zeros - even) > 0.02 * len(start):
        return None
    return "utf-16-be" if 2 * even > zeros else "utf-16-le"


def _legacy(file: str, head: bytes) -> str:
    """An encoding from before Unicode: Windows-1252 where letters stand as in Western European words."""
    text = head[:_LONGEST_LOOK]
    high = len(re.findall(rb"[\x80-\xff]", text))
    if not high:  # the first of them come late
        text = head
        high = len(re.findall(rb"[\x80-\xff]", text))
    western = sum(len(re.findall(rb"[\x80-\xff]", match)) for match in _WESTERN.findall(text))
    if western + len(_SIGNS.findall(text)) >= 0.9 * high and high < 0.2 * len(text):
        return "latin-1" if _UNDEFINED.search(head) else "cp1252"
    found = _detected(text)
    if found is None:
        raise ValueError(f"{file}: the text is not UTF-8; name its encoding, such as encoding='cp1252'.")
    return found


def _detected(text: bytes) -> str | None:
    if importlib.util.find_spec("charset_normalizer") is None:
        return None
    from charset_normalizer import from_bytes

    best = from_bytes(text).best()
    return None if best is None else str(best.encoding)


def recode(file: str, text: bytes, encoding: str, complete: bool) -> bytes:
    """The beginning of a text in UTF-8."""
    return b"".join(block for block, _ in recoded(file, iter([(text, 0)]), encoding, complete))


def recoded(
    file: str, blocks: Iterator[tuple[bytes, int]], encoding: str, complete: bool = True
) -> Iterator[tuple[bytes, int]]:
    """Blocks of a text in UTF-8, each with its place in the file. A byte that cannot be decoded is refused."""
    decoder = codecs.getincrementaldecoder(encoding)()
    try:
        for block, place in blocks:
            yield decoder.decode(block).encode(), place
        if complete:
            decoder.decode(b"", True)
    except UnicodeError as error:
        reason = getattr(error, "reason", error)
        raise ValueError(f"{file}: the text is not {encoding} ({reason}); name its encoding.") from None
