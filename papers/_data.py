"""The papers' data sets: real where the folder of ``--data`` or THRESHER_DATA has them, generated rows otherwise.

``load("sonar")`` gives rows as they are in the file: no column is scaled, no class renamed. Generated rows have the
shape of the set, or a smaller one, and its classes by name, so that every script runs without data; figures of a paper
say nothing about them, which ``Rows.title`` and ``Rows.note`` make known.
"""

from __future__ import annotations

import bz2
import gzip
import os
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from benchmarks._selection_data import A9A_FEATURES, newsgroup_parts
from scipy import sparse
from scipy.io import loadmat

from thresher.streams import read_svmlight

from . import _stand_ins
from ._report import DATA

Array = np.ndarray[Any, Any]


@dataclass(frozen=True)
class Rows:
    """Rows and labels; test rows where there is an official split, tasks and places of labels where a set has them."""

    X: Any
    y: Array
    X_test: Any = None
    y_test: Array | None = None
    tasks: Array | None = None
    splits: dict[int, Array] | None = None  # number of labels: their places, a row for each official split
    name: str = ""
    real: bool = True

    @property
    def title(self) -> str:
        return self.name if self.real else f"generated rows in place of {self.name}"

    @property
    def note(self) -> str:
        """What to print under a table of these rows; nothing where they are real."""
        return "" if self.real else f"{self.name} was not there: published figures do not apply to generated rows."

    def all(self) -> tuple[Any, Array]:
        """Rows and labels, those of the test part after the others."""
        if self.y_test is None:
            return self.X, self.y
        stack = sparse.vstack if sparse.issparse(self.X) else np.vstack
        return stack([self.X, self.X_test]), np.concatenate([self.y, self.y_test])


def load(name: str) -> Rows:
    """The set of this name; see ``SETS``."""
    if name not in SETS:
        raise ValueError(f"load: name must be one of {', '.join(SETS)}, got {name!r}.")
    known = SETS[name]
    folder = Path(os.environ.get(DATA, ""), known.folder or name)
    there = DATA in os.environ and all((folder / file).exists() for file in known.files)
    rows = known.read(folder) if there else known.make()
    return replace(rows, name=name, real=there)


# --- readers ----------------------------------------------------------------------------------------------------------


def text_of(path: Path) -> str:
    """What is in the file, compressed or not."""
    opened = {".gz": gzip.open, ".bz2": bz2.open}.get(path.suffix, open)
    with opened(path, "rt", encoding="utf-8") as file:
        return file.read()


def _table(path: Path, label: int, dropped: tuple[int, ...]) -> tuple[Array, Array]:
    """Numbers and labels of a table of words; headers, remarks and rows with unknown values are left out."""
    lines = [line.replace(",", " ").split() for line in text_of(path).splitlines()]
    lines = [line for line in lines if len(line) > 1 and "?" not in line and not line[0].startswith(("@", "%", '"'))]
    if lines[0][-1].isidentifier() and not lines[1][-1].isidentifier():
        lines = lines[1:]  # names of columns
    label %= len(lines[0])
    kept = [k for k in range(len(lines[0])) if k != label and k not in dropped]
    words = np.array([line[label] for line in lines])
    whole = all(word.lstrip("-").isdigit() for word in np.unique(words))
    return np.array([[line[k] for k in kept] for line in lines], dtype=float), words.astype(int) if whole else words


def _covtype(folder: Path) -> Rows:
    """Half a million rows: too many for lists of words."""
    held = np.loadtxt(folder / "covtype.csv.gz", delimiter=",", skiprows=1, dtype=np.int32)
    return Rows(held[:, :-1].astype(float), held[:, -1])


def _school(folder: Path) -> Rows:
    held = loadmat(folder / "school.mat")
    ys = [np.ravel(y).astype(float) for y in held["Y"].ravel()]
    X = np.vstack([np.asarray(x, dtype=float) for x in held["X"].ravel()])
    return Rows(X, np.concatenate(ys), tasks=np.repeat(np.arange(len(ys)), [len(y) for y in ys]))


def _few_labels(folder: Path, number: int) -> Rows:
    """A set of the book of semi-supervised learning; classes -1 and 1."""
    held = loadmat(folder / f"SSL,set={number},data.mat")
    splits = {n: loadmat(folder / f"SSL,set={number},splits,labeled={n}.mat")["idxLabs"] - 1 for n in (10, 100)}
    return Rows(np.asarray(held["X"], dtype=float), held["y"].ravel().astype(int), splits=splits)


def _splice(folder: Path) -> Rows:
    """Letters A, C, G, T as 0 to 3 around the AG at the end of an intron; classes -1 and 1."""
    code = np.zeros(256, dtype=np.int8)
    code[list(b"ACGT")] = range(4)
    parts: list[Array] = []
    for file in SETS["splice"].files:
        lines = text_of(folder / file).splitlines()
        letters = np.frombuffer("".join(lines[1::2]).encode(), dtype=np.uint8).reshape(len(lines) // 2, -1)
        parts += [code[letters], np.array([int(line.rpartition("=")[2]) for line in lines[::2]])]
    return Rows(*parts)


def _svmlight(folder: Path, files: tuple[str, str], n_features: int, zero_based: bool) -> Rows:
    train, test = (read_svmlight(folder / file, n_features=n_features, zero_based=zero_based) for file in files)
    return Rows(*train, *test)


def _newsgroups(folder: Path) -> Rows:
    """Tf-idf of the words of the training part; groups are 1 to 20 in alphabetical order."""
    a, X, X_test = newsgroup_parts(folder.parent)
    return Rows(X, 1 + a["train_y"], X_test, 1 + a["test_y"])


# --- sets -------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Known:
    """Files of a set (in a folder of its name, or another), how to read them, and what to make in their place."""

    files: tuple[str, ...]
    read: Callable[[Path], Rows]
    make: Callable[[], Rows]
    folder: str = ""


def _uci(
    *files: str,
    shape: tuple[int, int],
    classes: str,
    n_test: int = 0,
    label: int = -1,
    dropped: tuple[int, ...] = (),
    folder: str = "",
) -> Known:
    """A table; of two files the second has the official test rows."""

    def read(where: Path) -> Rows:
        return Rows(*(part for file in files for part in _table(where / file, label, dropped)))

    def make() -> Rows:
        return Rows(*_stand_ins.table(*shape, classes.split(), n_test))

    return Known(files, read, make, folder)


def _book(number: int, shape: tuple[int, int]) -> Known:
    files = tuple(f"SSL,set={number},{part}.mat" for part in ("data", "splits,labeled=10", "splits,labeled=100"))
    return Known(
        files, lambda folder: _few_labels(folder, number), lambda: Rows(**_stand_ins.few_labels(*shape)), "ssl_book"
    )


def _text(*files: str, n_features: int, zero_based: bool, folder: str = "") -> Known:
    return Known(
        files,
        lambda where: _svmlight(where, (files[0], files[1]), n_features, zero_based),
        lambda: Rows(*_stand_ins.text(n_features, n_classes=2)),
        folder,
    )


_TEN = " ".join(map(str, range(10)))
SETS: dict[str, Known] = {
    "iris": _uci("iris.data", shape=(150, 4), classes="Iris-setosa Iris-versicolor Iris-virginica"),
    "zoo": _uci("zoo.data", shape=(101, 16), classes="1 2 3 4 5 6 7", dropped=(0,)),
    "sonar": _uci("sonar.all-data", shape=(208, 60), classes="M R"),
    "ionosphere": _uci("ionosphere.data", shape=(351, 34), classes="b g"),
    "ecoli": _uci("ecoli.arff", shape=(336, 7), classes="cp im imL imS imU om omL pp"),
    "seeds": _uci("seeds.txt", shape=(210, 7), classes="1 2 3", dropped=(0,)),
    "tae": _uci("tae.data", shape=(151, 5), classes="1 2 3"),
    "pima": _uci("pima-indians-diabetes.data", shape=(768, 8), classes="0 1"),
    "wdbc": _uci("wdbc.data", shape=(569, 30), classes="B M", label=1, dropped=(0,)),
    "breast": _uci(
        "breast-cancer-wisconsin.data",
        shape=(683, 9),
        classes="2 4",
        dropped=(0,),
        folder="breast_wisconsin_original",
    ),
    "heart": _uci("heart.dat", shape=(270, 13), classes="1 2", folder="heart_statlog"),
    "spambase": _uci("spambase.data.gz", shape=(4601, 57), classes="0 1"),
    "magic": _uci("magic04.data.gz", shape=(5000, 10), classes="g h"),
    "shuttle": _uci("shuttle.trn", "shuttle.tst", shape=(5000, 9), n_test=2000, classes="1 2 3 4 5 6 7"),
    "pendigits": _uci("pendigits.train.data.gz", "pendigits.test.data", shape=(5000, 16), n_test=2000, classes=_TEN),
    "optdigits": _uci("optdigits.train.data.gz", "optdigits.test.data", shape=(3823, 64), n_test=1797, classes=_TEN),
    "covtype": Known(
        ("covtype.csv.gz",),
        _covtype,
        lambda: Rows(*_stand_ins.table(10_000, 54, [str(c) for c in range(1, 8)])),
    ),
    "usps": _uci("zip.train.csv.gz", "zip.test.csv.gz", shape=(4000, 256), n_test=1000, classes=_TEN, label=0),
    "ripley": _uci("synth.tr.csv", "synth.te.csv", shape=(250, 2), n_test=1000, classes="0 1", folder="r_mass"),
    "s1": Known(
        ("s-set1.arff",),
        lambda folder: Rows(*_table(folder / "s-set1.arff", -1, ())),
        lambda: Rows(*_stand_ins.blobs(5000, 15)),
    ),
    "school": Known(("school.mat",), _school, lambda: Rows(**_stand_ins.tasks(60, 40, 28))),
    "g241c": _book(5, (600, 241)),
    "BCI": _book(4, (400, 117)),
    "splice": Known(
        ("C_elegans_acc_100000.fasta.bz2", "C_elegans_acc_modsel.fasta.bz2"),
        _splice,
        lambda: Rows(*_stand_ins.splice(20_000, 398)),
        "splice_celegans",
    ),
    "a9a": _text("adult.trn.bz2", "adult.tst.bz2", n_features=A9A_FEATURES, zero_based=True),
    "reuters": _text("reuters.trn.bz2", "reuters.tst.bz2", n_features=8315, zero_based=False, folder="tick_reuters"),
    "newsgroups20": Known(("20news-bydate.tar.gz",), _newsgroups, lambda: Rows(*_stand_ins.text(20_000, n_classes=20))),
}
