"""Profiles of files, data frames or arrays before training."""

from __future__ import annotations

import os
from dataclasses import replace
from typing import Any

import numpy as np

from .._figures import plural
from .._gate import Table, Text, at_least, check_value, none, sparse
from ..streams import Stream, open_stream
from ._column_summary import RunningFigures
from ._look import LabelCounts
from ._profile_parts import Profile
from ._profile_rows import are_missing, profile_rows, rows_that_fit
from ._profile_warnings import DataWarning
from ._records import Sampler
from ._train import Run

_MOST_BYTES = 1 << 26  # of files that are read


def profile(data: Any, target: Any = None, *, rows: int | None = None, **stream_options: Any) -> Profile:
    """Summarise data before training: kinds, ranges and missing values of the columns, classes, and warnings.

    Warnings cover columns that predict the target on their own, constant, nearly empty and duplicate columns, extreme
    values, duplicate rows, rows sorted by target, very rare classes, and tables with more columns than rows. The cost
    is linear in the number of rows read. For many rows, quartiles, histograms, numbers of distinct values and some
    warnings come from an even sample; missing values, means, minima, maxima and categories come from all rows.

    Parameters
    ----------
    data : path-like, list of them, Stream, data frame, Table, array-like or sparse matrix
    target : str, int or array-like, optional
        The column to predict, by name or number, or the targets themselves.
    rows : int, optional
        Number of rows to read. By default all; for large files, those in the first 64 MB.
    **stream_options
        For files: parameters of :func:`thresher.streams.open_stream`.

    Returns
    -------
    Profile

    Examples
    --------
    >>> import pandas as pd
    >>> from thresher.training import profile
    >>> frame = pd.DataFrame({"age": [31, 47, None, 25] * 30, "left": ["no", "yes", "no", "no"] * 30})
    >>> found = profile(frame, "left")
    >>> found
    Profile(120 rows; 2 columns; 1 warnings)
    >>> found.columns[0].span, found.columns[0].missing, found.classes
    ('25 to 47', 0.25, {'no': 90, 'yes': 30})
    >>> print(found.warnings[0].says)
    Column 'age' alone predicts the target nearly perfectly ('age' is wrong on 0 % of rows, a guess on 25.0 %); leave
    it out unless the value is known before the target is
    """
    check_value("profile", "rows", rows, none | at_least(1))
    if isinstance(data, Stream) or _are_paths(data):
        if not isinstance(data, Stream):
            data = open_stream(data, target=target, **stream_options)
        elif target is not None:
            raise ValueError("profile: a Stream has its own target; leave out target.")
        return _profile_stream(data, rows)
    if stream_options:
        raise ValueError(
            f"profile: {next(iter(stream_options))} is for reading files; leave it out for rows in memory."
        )
    X, y, name = _separated(_as_rows(data), target)
    return profile_rows(X[:rows], y if y is None else y[:rows], target=name)


def _are_paths(data: Any) -> bool:
    one = data[0] if isinstance(data, (list, tuple)) and data else data
    return isinstance(one, (str, os.PathLike))


def _as_rows(data: Any) -> Any:
    if isinstance(data, Table):
        return data
    if hasattr(data, "columns"):
        return Table.from_frame(data)
    X = sparse.csr_array(data) if sparse.issparse(data) else np.asarray(data)
    if X.ndim != 2 or X.dtype.kind not in "fiub":
        got = f"{X.dtype} of shape {X.shape}"
        raise ValueError(f"profile: data must be files, a data frame or rows of numbers, got {got}.")
    return X.astype(np.float64)


def _separated(X: Any, target: Any) -> tuple[Any, Any, str | None]:
    """Features, targets and the name of the target."""
    if target is None:
        return X, None, None
    if not isinstance(target, (str, int, np.integer)):
        y = np.asarray(target)
        if y.shape != X.shape[:1]:
            raise ValueError(f"profile: target must have one value per row, got shape {y.shape} for {X.shape[0]} rows.")
        return X, y, "target"
    if not isinstance(X, Table):
        raise ValueError(
            f"profile: target must hold the targets, because columns of an array have no names, got {target!r}."
        )
    names = X.columns
    if target not in (names if isinstance(target, str) else range(-len(names), len(names))):
        raise ValueError(f"profile: target must be a column of the data, got {target!r}.")
    name = target if isinstance(target, str) else names[int(target)]
    y = X[name]
    y = np.array(y.to_list(), dtype=object) if isinstance(y, Text) else y
    return X.select([each for each in names if each != name]), y, name


def _profile_stream(stream: Stream, rows: int | None) -> Profile:
    """One pass over the rows of a stream, up to a number of rows or 64 MB, of which an even sample is kept."""
    sampler: Sampler | None = None
    labels, counted, n_seen, whole, has_target = LabelCounts(), RunningFigures(), 0, True, True
    for batch in stream.batches():
        if batch.position.n_pass > 0:
            break
        rest = None if rows is None else rows - n_seen
        n_seen += len(batch)
        X, y = batch.X[:rest], None if batch.y is None else batch.y[:rest]
        if sampler is None:
            sampler, has_target = Sampler(rows_that_fit(X) // 2), y is not None
        elif (y is not None) != has_target:
            raise ValueError(
                f"{batch.path.name}: the target column is {'missing' if has_target else 'new'} in this file."
            )
        sampler.add(X, y)
        counted.add(X)
        labels.add(None if y is None else y[~are_missing(y)])
        enough = stream.bytes_read > _MOST_BYTES if rest is None else len(batch) >= rest
        if enough:
            whole = stream.bytes_read * stream.max_iter >= stream.n_bytes and X.shape[0] == len(batch)
            break
    sample = None if sampler is None else sampler.rows()
    if sampler is None or sample is None:
        raise ValueError(f"{stream.path.name}: the file has no rows.")
    share = stream.bytes_read * stream.max_iter / stream.n_bytes
    n_rows = sampler.n_rows if whole else round(n_seen / min(share, 1.0))
    found = profile_rows(
        *sample,
        understood=stream.understood,
        target=stream.layout().get("target"),
        classes=labels.by_name() or None,
        n_rows=n_rows,
        counted=counted,
    )
    if stream.n_skipped:
        first = stream.first_refusal().removesuffix(".")
        says = f"{plural(stream.n_skipped, 'line')} could not be read; correct them, or have such lines skipped"
        says += first and f" (the first: {first})"
        skipped = DataWarning("skipped", says, option="skip_malformed")
        found = replace(found, warnings=(skipped, *found.warnings))
    return replace(found, n_read=sampler.n_rows)


def profile_run(run: Run, target: str | None = None, understood: Any = None) -> Profile | None:
    """The profile of the rows that a run has kept; None if there are none.

    Parameters
    ----------
    run : Run
    target : str, optional
        The name of the target.
    understood : Understood, optional
        What was found out about the file from which the rows are.
    """
    if run.sample is None:
        return None
    X, y = run.sample
    classes, n_rows = run.facts.classes or None, run.facts.n_rows
    return profile_rows(X, y, understood=understood, target=target, classes=classes, n_rows=n_rows)
