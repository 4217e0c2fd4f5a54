"""Export of models: one function for all targets."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from .._output import write_whole
from ._c_writer import to_c
from ._folding import scoring_of
from ._onnx_writer import to_onnx
from ._scoring import Scoring
from ._sql_writer import to_sql

TARGETS = ("onnx", "sql", "json", "c")
_OPTIONS = {"table": "sql", "key": "sql", "name": "c"}


def export(
    model: Any,
    path: str | os.PathLike[str] | None = None,
    *,
    to: str | None = None,
    table: str | None = None,
    key: str | Sequence[str] | None = None,
    name: str | None = None,
) -> str | bytes:
    """Write a linear or additive model for use without Python.

    The exported model takes rows of the original table, before any preprocessing: numbers, text, and dates as days
    since 1970-01-01. It gives the same scores, probabilities and predictions as the model. Columns that the model does
    not use are not needed. An export does not include how files are read: convert numbers and dates written as text
    (``"1.234,5"``, ``"3 May"``) to numbers first.

    Parameters
    ----------
    model : estimator or StreamingPipeline
        A fitted linear model, after any of the steps of :func:`thresher.preprocessing.prepared`.
    path : path-like, optional
        A file to write the result to.
    to : {"onnx", "sql", "json", "c"}, optional
        By default, the ending of ``path``.
        An ONNX graph (of double precision), a query (for SQLite and DuckDB), the description of the scoring as
        JSON, or a file of C99. Hashed columns, and so text columns, can be exported to JSON and C only.
    table : str, optional
        SQL: the table that the query reads, by default ``data``.
    key : str or list of str, optional
        SQL: columns of that table to return with the predictions, to identify rows.
    name : str, optional
        C: prefix of the function names, by default ``model``.

    Returns
    -------
    str, or bytes for "onnx"

    Examples
    --------
    >>> import numpy as np
    >>> import thresher
    >>> from thresher.online import AROWClassifier
    >>> X = np.random.default_rng(0).normal(size=(200, 2))
    >>> model = AROWClassifier(random_state=0).fit(X, X[:, 0] > 0)
    >>> print(thresher.export(model, to="c")[:58])
    /* AROWClassifier, exported by thresher: C99, standard lib
    """
    if path is not None and not isinstance(path, (str, os.PathLike)):
        raise ValueError(f"export: path must name a file, got {path!r}.")
    if to is None:
        to = "" if path is None else Path(path).suffix.removeprefix(".")
    if to not in TARGETS:
        raise ValueError(f"export: to must be one of {', '.join(TARGETS)}, got {to!r}.")
    given = {option: value for option, value in (("table", table), ("key", key), ("name", name)) if value is not None}
    for option in given:
        if _OPTIONS[option] != to:
            raise ValueError(f"export: {option} is for {_OPTIONS[option]} only, got to={to!r}.")
    if name is not None and not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", str(name)):
        raise ValueError(f"export: name must be a C identifier of letters, digits and underscores, got {name!r}.")
    if isinstance(key, str):
        given["key"] = [key]
    keys = key if isinstance(key, (list, tuple)) else [key]
    if not all(each is None or isinstance(each, str) for each in (table, *keys)):
        raise ValueError(f"export: table and key must be names, got {table!r} and {key!r}.")
    writers: dict[str, Callable[..., str | bytes]] = {
        "onnx": to_onnx,
        "sql": to_sql,
        "json": Scoring.to_json,
        "c": to_c,
    }
    made = writers[to](scoring_of(model), **given)
    if path is not None:
        write_whole(path, made if isinstance(made, bytes) else made.encode())
    return made
