"""Damaged files of every format, read with odd options: the same rows in small batches and in large ones, or one
sentence that names the file."""

from __future__ import annotations

import random
import tempfile
import warnings
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from scipy import sparse
from words import Finding, check

from thresher.streams import open_stream

FRAME = pd.DataFrame(
    {
        "age": [31.5, 40.25, -3.0, 1e6, 0.0, 77.0] * 3,
        "sold": [f"{day:02d}.03.2024" for day in range(1, 19)],
        "job": ["cook", "smith", "judge, retired", "", 'the "boss"', "Zoë"] * 3,
        "rich": ["yes", "no", "yes", "no", "no", "yes"] * 3,
    }
)
VW = ["1 2.0 'tag|user age:3.5 red |item price", "-1 |user age:1 blue", "| nothing:0", "1 0.5 |a b:1e3 c:-2", "-1 |x y"]
SVM = ["1 1:0.5 3:2", "-1 2:1e3 # note", "+1 qid:3 1:1 7:-2.5e-3", "0", "1 4:1"]
BYTES = [b'"', b",", b";", b"\n", b"\r", b"\t", b"\0", b"\xff", b"\xc3", b"{", b"}", b"[", b"]", b":", b"|", b"'", b"-"]
BYTES += [
    b"nan",
    b"inf",
    b"1e999",
    b"0x1",
    b"null",
    b'"a":',
    b"1e-400",
    b"2024-13-45",
    b"9" * 40,
    b"\xef\xbb\xbf",
    b" ",
]
ENDS = {"csv": ".csv", "euro": ".csv", "latin": ".csv", "wide": ".csv", "json": ".jsonl", "vw": ".vw", "svm": ".svm"}
ENDS |= {"excel": ".xlsx", "parquet": ".parquet", "arrow": ".arrow", "gz": ".csv.gz"}
ODD: list[Any] = [
    None,
    "",
    "x",
    -1,
    0,
    1,
    99,
    2**70,
    1.5,
    True,
    [],
    ["job"],
    ["nothing"],
    {},
    b"b",
    "\0",
    "é",
    ",",
    ";",
]


@cache
def whole(kind: str) -> bytes:
    """A file without damage."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "x" + ENDS[kind])
        if kind == "json":
            FRAME.to_json(path, orient="records", lines=True)
        elif kind in ("vw", "svm"):
            path.write_text("\n".join((VW if kind == "vw" else SVM) * 4) + "\n")
        elif kind == "excel":
            FRAME.to_excel(path, index=False)
        elif kind == "parquet":
            FRAME.to_parquet(path, index=False)
        elif kind == "arrow":
            FRAME.to_feather(path)
        elif kind == "euro":
            FRAME.to_csv(path, index=False, sep=";", decimal=",")
        else:
            encoding = {"latin": "cp1252", "wide": "utf-16"}.get(kind, "utf-8")
            FRAME.to_csv(path, index=False, encoding=encoding)
        return path.read_bytes()


def damaged(content: bytes, choose: random.Random) -> bytes:
    made = bytearray(content)
    for _ in range(choose.choice([0, 1, 1, 2, 4])):
        at, how = choose.randrange(len(made) + 1), choose.random()
        if how < 0.45:
            made[at:at] = choose.choice(BYTES)
        elif how < 0.7:
            made[at : at + choose.choice([1, 1, 5, 40])] = choose.choice(BYTES)
        elif how < 0.85:
            del made[at : at + choose.choice([1, 3, 30])]
        elif how < 0.95:
            made[at:at] = made[at : at + 60]
        else:
            made = made[:at]
    return bytes(made)


USUAL: dict[str, list[Any]] = {
    **{"target": [-1, 0, "rich", "age", None], "header": ["auto", True, False], "delimiter": [",", ";", "\t", None]},
    **{"text_columns": [["job"], ["age"], [0]], "drop": [["job"], [1], ["rich"]], "decimal": [".", ",", None]},
    **{"date": ["D/M/Y", "M/D/Y"], "missing": [["cook"], ["no"]], "encoding": ["utf-8", "cp1252", "utf-16", "latin-1"]},
    **{
        "keep_identifiers": [True],
        "n_features": [None, 5, 100],
        "zero_based": [True, False, None],
        "sheet": [0, 1, "a"],
    },
    **{"format": ["csv", "json", "vw", "svmlight", "excel", "parquet", "arrow"], "max_features": [10, 1000]},
    **{"columns": [{"age": {"kind": "category"}}, {"sold": {"kind": "date", "pattern": "D.M.Y"}}, {0: "text"}]},
    **{"dtype": [np.float32, "float32", "int"], "layout": [{}, {"columns": []}]},
}


def read(path: Path, size: int, options: dict[str, Any]) -> tuple[list[Any], list[Any], int]:
    """The rows of a file as plain values, their targets, and how many lines were skipped."""
    rows, targets = [], []
    stream = open_stream(path, batch_size=size, prefetch=False, max_iter=1, **options)
    for batch in stream:
        X = batch.X
        if sparse.issparse(X):
            rows += [
                (X.indices[a:b].tolist(), X.data[a:b].tolist()) for a, b in zip(X.indptr, X.indptr[1:], strict=False)
            ]
        else:
            texts = [column.to_list() for column in X.text.values()]
            rows += [(values.tolist(), [text[i] for text in texts]) for i, values in enumerate(X.numbers)]
        targets += [None] * len(rows[len(targets) :]) if batch.y is None else batch.y.tolist()
    return rows, targets, stream.n_skipped


def reading(seed: int) -> str:
    choose = random.Random(seed)
    kind = choose.choice(list(ENDS))
    options: dict[str, Any] = {"skip_malformed": choose.random() < 0.3}
    if choose.random() < 0.4:
        name = choose.choice(list(USUAL))
        options[name] = choose.choice(USUAL[name] if choose.random() < 0.7 else ODD)
    content = whole("csv" if kind == "gz" else kind)
    content = damaged(content, choose)
    if kind == "gz":
        import gzip

        content = damaged(gzip.compress(content), choose)
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        path = Path(folder, "file" + ENDS[kind])
        path.write_bytes(content)
        return attempt(path, options, f"{kind} {options}")


def attempt(path: Path, options: dict[str, Any], case: str) -> str:
    found: list[Any] = []
    said = ""
    for size in (3, 4096):
        try:
            found.append(read(path, size, options))
        except Exception as error:
            check(error, case)
            found.append(None)
            said = str(error)
    if (found[0] is None) != (found[1] is None):
        raise Finding(f"{case}: refused only in {'large' if found[0] else 'small'} batches: {said}")
    if found[0] is None:
        return "refused"
    if repr(found[0]) != repr(found[1]):
        raise Finding(f"{case}: other rows in other batches: {found[0]!r:.150} {found[1]!r:.150}")
    return "works"
