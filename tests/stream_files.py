"""Files for the tests of streams, and batches as values that can be compared bit for bit."""

from __future__ import annotations

import bz2
import gzip
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import numpy as np
import zstandard
from scipy import sparse

from thresher.streams import Batch, Table

COMPRESSORS: dict[str, Callable[[bytes], bytes]] = {
    ".gz": lambda text: gzip.compress(text, mtime=0),
    ".bz2": bz2.compress,
    ".zst": zstandard.ZstdCompressor(write_checksum=True).compress,
}


def write(path: Path, text: str | bytes) -> Path:
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def svmlight_text(n_rows: int, seed: int = 0) -> bytes:
    """Rows of many widths, with comments and blank lines in between."""
    rng = np.random.default_rng(seed)
    lines = []
    for row in range(n_rows):
        columns = np.flatnonzero(rng.random(30) < 0.2) + 1
        lines.append(" ".join([str(row % 3 - 1), *(f"{j}:{rng.normal():.6g}" for j in columns)]))
        if row % 11 == 5:
            lines.append("# a comment")
        if row % 13 == 7:
            lines += ["", "   "]
    return "\n".join(lines).encode() + b"\n"


def vw_text(n_rows: int, seed: int = 0) -> bytes:
    """Labels, importance weights, tags, namespaces with weights and without names; some labels are missing."""
    rng = np.random.default_rng(seed)
    lines = []
    for row in range(n_rows):
        label = "" if row % 7 == 4 else f"{row % 3 - 1} " + ["", "2.5 ", "0 'x", "0.5 0 tag"][row % 4]
        words = " ".join(rng.choice(["good", "bad", "film", "12", "7:0.5"], row % 6))
        lines.append(f"{label}|words {words} |size:0.5 height:{rng.normal():.6g} |{' 3:1 :2 :4' if row % 2 else ''}")
        if row % 13 == 7:
            lines += ["", "   "]
    return "\n".join(lines).encode() + b"\n"


def csv_text(n_rows: int, seed: int = 0) -> bytes:
    """A number, a quoted text with line breaks and delimiters, a number that may be missing, a class."""
    rng = np.random.default_rng(seed)
    lines = ["length,note,width,kind"]
    for row in range(n_rows):
        note = ["plain", '"two\nlines"', '"a ""quote"", and more"', '"\r\n\r\n"', ""][row % 5]
        width = "" if row % 7 == 3 else f"{rng.normal():.6g}"
        lines.append(f"{rng.normal():.6g},{note},{width},{'yes' if row % 3 else 'no'}")
        if row % 13 == 7:
            lines.append("")
    return "\n".join(lines).encode() + b"\n"


def bits(values: Any) -> Any:
    """Type, shape and content as plain values."""
    if sparse.issparse(values):
        return "csr", values.shape, bits(values.data), bits(values.indices), bits(values.indptr)
    if isinstance(values, Table):
        return "table", values.columns, bits(values.numbers), {k: text.to_list() for k, text in values.text.items()}
    if values is None or values.dtype == object:
        return None if values is None else values.tolist()
    return values.dtype.str, values.shape, values.tobytes()


def batch_bits(batch: Batch) -> Any:
    weight = bits(batch.weight)
    return bits(batch.X), bits(batch.y), batch.path.name, batch.first_line, tuple(batch.position), weight


def all_bits(batches: Iterable[Batch]) -> list[Any]:
    return [batch_bits(batch) for batch in batches]


def rows_of(batches: Iterable[Batch]) -> list[Any]:
    """Each row with its target, as plain values that can be compared and sorted."""
    rows = []
    for batch in batches:
        X = batch.X
        if isinstance(X, Table):
            columns = [X[name].tolist() if name not in X.text else X.text[name].to_list() for name in X.columns]
            plain = list(zip(*columns, strict=True))
        elif sparse.issparse(X):
            plain = [tuple(zip(X[[i]].indices.tolist(), X[[i]].data.tolist(), strict=True)) for i in range(X.shape[0])]
        else:
            plain = list(map(tuple, X.tolist()))
        targets = [None] * len(plain) if batch.y is None else batch.y.tolist()
        rows += [repr(row) for row in zip(plain, targets, strict=True)]
    return rows
