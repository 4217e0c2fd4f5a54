"""Binary files: spreadsheets, which are read, and others, which raise an error that names their type."""

from __future__ import annotations

from pathlib import Path

from ._encoding import utf16_of
from ._source import Head

_OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"  # of old Office files
_MAGIC = {
    b"\x89PNG": "a PNG image",
    b"\xff\xd8\xff": "a JPEG image",
    b"GIF8": "a GIF image",
    b"RIFF": "an image or a sound",
    b"%PDF": "a PDF document",
    b"\x7fELF": "a program",
    b"MZ": "a program",
    b"SQLite format 3": "a SQLite database",
    b"\x93NUMPY": "a NumPy array",
    b"\x89HDF": "an HDF5 file",
    b"\x80\x04\x95": "a pickle",
    b"\x80\x05\x95": "a pickle",
    b"7z\xbc\xaf": "a 7z archive",
    b"Rar!": "a RAR archive",
    b"PK\x03\x04": "a zip archive",
    _OLE: "an old Office file",
}


def is_spreadsheet(path: Path) -> bool:
    """Whether the content of a file is that of a spreadsheet, whatever its name."""
    if not path.is_file():  # opening a pipe would wait for its writer
        return False
    with path.open("rb") as file:
        if file.read(len(_OLE)) == _OLE:
            return True
    import zipfile

    try:
        with zipfile.ZipFile(path) as archive:
            names = set(archive.namelist())
    except (zipfile.BadZipFile, OSError):
        return False
    return not names.isdisjoint({"xl/workbook.xml", "xl/workbook.bin"}) or {"mimetype", "content.xml"} <= names


def refuse_binary(name: str, head: Head) -> None:
    """Refuse binary content before it is read as a table."""
    if (what := binary_kind(head.text)) is not None:
        raise ValueError(f"{name}: the file is {what}, not a table in a format that can be read.")


def binary_kind(text: bytes) -> str | None:
    """Describe the kind of binary content in words; None for text."""
    has_nul = b"\0" in text
    for magic, what in _MAGIC.items():
        if text.startswith(magic) and (has_nul or not magic.isalnum()):  # text may begin with the letters MZ
            return what
    return "binary" if has_nul and utf16_of(text) is None else None
