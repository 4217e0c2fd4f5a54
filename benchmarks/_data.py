"""Generated data, the same on every machine, kept under build/bench-data.

*Text-like* rows: 47,236 columns as in rcv1. A row has a class and words drawn from that class's distribution, a Zipf
law that 4,000 of the columns tilt one way or the other, so the true weight vector (log odds) is sparse. Values are
log tf-idf, rows have norm 1, and 5 % of the labels are wrong.

*Dense* rows: 28 correlated columns, half of them skewed, as the features of HIGGS are; the label is the sign of a
linear score with noise.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from thresher.streams import write_svmlight

FOLDER = Path(__file__).parents[1] / "build" / "bench-data"
N_WORDS = 47_236
N_TILTED = 4_000
LABEL_NOISE = 0.05
HELD_OUT_SEED = 99

Arrays = dict[str, np.ndarray[Any, Any]]


class Problem(NamedTuple):
    X: Any
    y: np.ndarray[Any, Any]
    X_test: Any
    y_test: np.ndarray[Any, Any]


def text_problem(n_rows: int, nnz: int = 75, n_test: int = 20_000) -> Problem:
    return Problem(*text_rows(n_rows, nnz, seed=1), *text_rows(n_test, nnz, seed=HELD_OUT_SEED))


def text_classes(n_rows: int, n_classes: int, n_test: int) -> Problem:
    """The first of the same rows; the class is that of the largest of as many random linear scores."""
    problem = text_problem(5_000 if n_rows <= 5_000 else 100_000)
    scores = np.random.default_rng(n_classes).standard_normal((N_WORDS, n_classes))
    y, y_test = (np.asarray(X @ scores).argmax(axis=1) for X in (problem.X[:n_rows], problem.X_test[:n_test]))
    return Problem(problem.X[:n_rows], y, problem.X_test[:n_test], y_test)


def dense_problem(n_rows: int, n_test: int = 20_000) -> Problem:
    return Problem(*_dense_rows(n_rows, seed=1), *_dense_rows(n_test, seed=HELD_OUT_SEED))


def text_rows(n_rows: int, nnz: int, seed: int) -> tuple[Any, np.ndarray[Any, Any]]:
    """CSR rows (float64, int32) and labels of -1 and 1."""
    a = cached(f"text-{n_rows}-{nnz}-{seed}", lambda: _make_text(n_rows, nnz, seed))
    return sparse.csr_array((a["data"], a["indices"], a["indptr"]), shape=(n_rows, N_WORDS)), a["y"]


def _make_text(n_rows: int, nnz: int, seed: int) -> Arrays:
    fixed = np.random.default_rng(0)  # the language is the same for all seeds
    frequency = fixed.permutation((np.arange(N_WORDS) + 20.0) ** -1.05)
    tilt = np.zeros(N_WORDS)
    tilt[fixed.choice(N_WORDS, N_TILTED, replace=False)] = 0.7 * fixed.standard_normal(N_TILTED)
    words = [frequency * np.exp(sign * tilt) for sign in (-1, 1)]
    words = [p / p.sum() for p in words]
    idf = 1 - np.log(-np.expm1(-nnz * (words[0] + words[1]) / 2))

    rng = np.random.default_rng(seed)
    label = rng.integers(0, 2, n_rows)
    length = np.maximum(rng.poisson(1.05 * nnz * rng.lognormal(-0.08, 0.4, n_rows)), 5)
    row = np.repeat(np.arange(n_rows), length)
    ladder = np.concatenate([np.cumsum(words[0]), 1 + np.cumsum(words[1])])  # one search serves both classes
    word = np.searchsorted(ladder, label[row] + rng.random(len(row))) - N_WORDS * label[row]
    cell, tf = np.unique(row * N_WORDS + np.clip(word, 0, N_WORDS - 1), return_counts=True)
    row, word = np.divmod(cell, N_WORDS)
    value = (1 + np.log(tf)) * idf[word]
    value /= np.sqrt(np.bincount(row, value**2))[row]
    wrong = rng.random(n_rows) < LABEL_NOISE
    return {
        "data": value,
        "indices": word.astype(np.int32),
        "indptr": np.concatenate([[0], np.cumsum(np.bincount(row, minlength=n_rows))]).astype(np.int32),
        "y": np.where(wrong, 1 - 2 * label, 2 * label - 1).astype(np.float64),
    }


def _dense_rows(n_rows: int, seed: int) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    a = cached(f"dense-{n_rows}-{seed}", lambda: _make_dense(n_rows, seed))
    return a["X"], a["y"]


def _make_dense(n_rows: int, seed: int) -> Arrays:
    fixed = np.random.default_rng(0)
    mixing = np.eye(28) + 0.15 * fixed.standard_normal((28, 28))
    true = fixed.standard_normal(28) / np.sqrt(28)
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n_rows, 28)) @ mixing
    X[:, ::2] = np.expm1(0.5 * X[:, ::2])  # momenta and energies have a long tail
    score = X @ true
    return {"X": X, "y": np.where(score + 0.7 * rng.standard_normal(n_rows) > 0.1, 1.0, -1.0)}


def svmlight_file(name: str, n_rows: int, *, decimals: int | None, seed: int = 1) -> Path:
    """Text-like rows as an svmlight file, values rounded to some decimals or written to the last bit."""

    def write(path: Path) -> None:
        with open(path, "wb") as file:
            for X, y in _chunks(n_rows, seed):
                if decimals is not None:
                    X.data = np.round(X.data, decimals)
                part = path.with_suffix(".part")
                write_svmlight(part, X, y)
                file.write(part.read_bytes())
                part.unlink()

    return cached_file(f"{name}-{n_rows}-{seed}.svm", write)


def vw_file(svmlight: Path) -> Path:
    """The same text for Vowpal Wabbit: ``1 | 3:0.5``."""

    def write(path: Path) -> None:
        with open(svmlight, "rb") as source, open(path, "wb") as file:
            while lines := source.readlines(1 << 26):
                text = b"\n" + b"".join(lines)
                file.write(text.replace(b"\n1 ", b"\n1 | ").replace(b"\n-1 ", b"\n-1 | ")[1:])

    return cached_file(svmlight.with_suffix(".vw").name, write)


def vw_words_file(svmlight: Path) -> Path:
    """The same rows with words of 3 to 10 letters for features, in a namespace: ``1 |w horse:0.5``."""
    rng = np.random.default_rng(0)
    letters = rng.integers(ord("a"), ord("z") + 1, (N_WORDS + 1, 10), dtype=np.uint8)
    words = [bytes(row[:n]) for row, n in zip(letters, rng.integers(3, 11, N_WORDS + 1), strict=True)]

    def write(path: Path) -> None:
        with open(svmlight, "rb") as source, open(path, "wb") as file:
            for line in source:
                label, *pairs = line.split()
                named = (words[int(j)] + b":" + x for j, x in (pair.split(b":") for pair in pairs))
                file.write(label + b" |w " + b" ".join(named) + b"\n")

    return cached_file(f"words-{svmlight.with_suffix('.vw').name}", write)


def _chunks(n_rows: int, seed: int, size: int = 50_000) -> Iterator[tuple[Any, np.ndarray[Any, Any]]]:
    for k, begin in enumerate(range(0, n_rows, size)):
        a = _make_text(min(size, n_rows - begin), 75, seed=1000 * seed + k)
        yield sparse.csr_array((a["data"], a["indices"], a["indptr"]), shape=(len(a["y"]), N_WORDS)), a["y"]


def csv_file(n_rows: int) -> Path:
    """Dense rows as CSV with a header, the label last, 7 decimals."""

    def write(path: Path) -> None:
        X, y = _dense_rows(n_rows, seed=1)
        header = ",".join([*(f"x{j}" for j in range(28)), "y"])
        np.savetxt(path, np.column_stack([X, y]), fmt="%.7f", delimiter=",", header=header, comments="")

    return cached_file(f"dense-{n_rows}.csv", write)


def cached(name: str, make: Callable[[], Arrays]) -> Arrays:
    def write(path: Path) -> None:
        with open(path, "wb") as file:
            np.savez(file, **make())

    with np.load(cached_file(f"{name}.npz", write)) as file:
        return dict(file)


def cached_file(name: str, write: Callable[[Path], None]) -> Path:
    path = FOLDER / name
    if not path.exists():
        FOLDER.mkdir(parents=True, exist_ok=True)
        unfinished = path.with_name(f"unfinished-{path.name}")
        write(unfinished)
        unfinished.rename(path)
    return path
