"""Text to arrays: svmlight files against scikit-learn, CSV against pandas and NumPy, Vowpal Wabbit's text against its
own reader. All arrays hold the same numbers."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from sklearn.datasets import load_svmlight_file

from thresher.streams import open_stream, read_svmlight

from ._data import N_WORDS, csv_file, svmlight_file, vw_file, vw_words_file
from ._measure import REPEATS, Case, installed, take_turns
from ._report import Table, skipped

_EQUAL = "The results are equal to the last bit."


def run(quick: bool) -> list[Table]:
    short = svmlight_file("short", 12_000 if quick else 125_000, decimals=6)
    full = svmlight_file("full", 7_000 if quick else 75_000, decimals=None)
    return [
        _svmlight(short, "6 decimals"),
        _svmlight(full, "all digits of a double"),
        _csv(csv_file(20_000 if quick else 200_000)),
        _vw(vw_file(short), "whole numbers and values, 6 decimals", short),
        _vw(vw_words_file(short), "words and values, 6 decimals"),
    ]


def _svmlight(path: Path, digits: str) -> Table:
    readers = {
        "sklearn load_svmlight_file": lambda _: load_svmlight_file(path, n_features=N_WORDS, zero_based=False),
        "read_svmlight": lambda _: read_svmlight(path, n_features=N_WORDS),
        "open_stream, all batches": lambda _: [(batch.X, batch.y) for batch in open_stream(path, n_features=N_WORDS)],
    }
    (X, y), (X_ours, y_ours) = (readers[name](None) for name in list(readers)[:2])
    for part in ("data", "indices", "indptr"):
        np.testing.assert_array_equal(getattr(X, part), getattr(X_ours, part))
    np.testing.assert_array_equal(y, y_ours)
    del X, y, X_ours, y_ours
    return _table(f"svmlight, {digits}", path, readers, "15")


def _csv(path: Path) -> Table:
    def stream(_: Any) -> Any:
        batches = [np.column_stack([batch.X, batch.y]) for batch in open_stream(path)]
        return np.concatenate(batches)

    readers: dict[str, Any] = {}
    missing = []
    if installed("pandas"):
        import pandas as pd

        readers["pandas read_csv"] = lambda _: pd.read_csv(path).to_numpy()
    else:
        missing.append("pandas")
    readers["numpy loadtxt"] = lambda _: np.loadtxt(path, delimiter=",", skiprows=1)
    readers["open_stream, one array"] = stream
    expected = stream(None)
    for read in readers.values():
        np.testing.assert_array_equal(read(None), expected)
    table = _table("CSV, 7 decimals", path, readers, "")
    table.notes += skipped(missing)
    return table


def _vw(path: Path, what: str, svmlight: Path | None = None) -> Table:
    """Vowpal Wabbit reads and hashes, and learns nothing (--noop); it has no arrays to compare."""

    def stream(_: Any) -> Any:
        return [(batch.X, batch.y) for batch in open_stream(path)]

    readers: dict[str, Any] = {}
    if installed("vowpalwabbit"):
        from vowpalwabbit import Workspace

        readers["vw --noop"] = lambda _: Workspace(f"--noop -d {path} --quiet").finish()
    readers["open_stream, all batches"] = stream
    note = "Vowpal Wabbit parses and hashes every example, learns nothing and uses no cache."
    if svmlight is not None:
        X, y = read_svmlight(svmlight, n_features=N_WORDS)
        begin = 0
        for rows, targets in stream(None):
            part = X[begin : begin + len(targets)]
            np.testing.assert_array_equal(rows.indices, part.indices + 1)
            np.testing.assert_array_equal(rows.data, part.data)
            np.testing.assert_array_equal(targets, y[begin : begin + len(targets)])
            begin += len(targets)
        note += " Our rows are equal to those of the svmlight file to the last bit."
    table = _table(f"Vowpal Wabbit's text, {what}", path, readers, "", note)
    table.notes += skipped([] if len(readers) > 1 else ["vowpalwabbit"])
    return table


def _table(what: str, path: Path, readers: dict[str, Any], target: str, note: str = _EQUAL) -> Table:
    timings = take_turns({name: Case(read) for name, read in readers.items()})
    megabytes = path.stat().st_size / 1e6
    first, *_ = readers
    table = Table(
        f"Reading {megabytes:.0f} MB of {what}",
        ["reader", "CPU s", "MB/s", f"{first} / it", "target"],
        notes=[f"Best of {REPEATS} repetitions in turn. {note}"],
    )
    for name, timing in timings.items():
        ratio, speed = timings[first].best / timing.best, megabytes / timing.best
        shown_target = target if name == "read_svmlight" else ""
        table.rows.append([name, f"{timing.best:.3f}", f"{speed:.0f}", f"{ratio:.1f}", shown_target])
    return table
