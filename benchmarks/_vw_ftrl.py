"""Vowpal Wabbit's FTRL on rows of ours: a cache file of them, one pass over it, and its weights.

The cache is VW's own binary format, made beforehand, so that no text is parsed when it learns. Column j is feature j;
one number is left out, which VW gives to the constant.
"""

from __future__ import annotations

import re
import tempfile
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from thresher.streams import write_svmlight

from ._data import cached_file
from ._linear_models import Weights

_CONSTANT = 11_650_396  # VW's hash of the constant
_DECIMALS = 6


class Layout(NamedTuple):
    """Where VW keeps weights: that of class k of feature j at ``(j << shift) + k``, among ``1 << bits``."""

    n_features: int
    n_classes: int

    @property
    def n_outputs(self) -> int:
        return 1 if self.n_classes == 2 else self.n_classes

    @property
    def shift(self) -> int:
        return (self.n_outputs - 1).bit_length()

    @property
    def bits(self) -> int:
        """Room for all, at least VW's default."""
        return max(18, self.n_features.bit_length() + self.shift)

    @property
    def constant(self) -> int:
        """The feature that is the constant."""
        return _CONSTANT & ((1 << (self.bits - self.shift)) - 1)

    @classmethod
    def of(cls, X: Any, y: Any) -> Layout:
        return cls(X.shape[1], int(y.max()) + 1)


def svmlight_of(name: str, X: Any, y: Any) -> Path:
    """The rows as text for us, labels -1 and 1 or the number of the class from 1 on."""
    return cached_file(f"{name}.svm", lambda path: write_svmlight(path, _rounded(X), _labels(y)))


def vw_text_of(name: str, X: Any, y: Any) -> Path:
    """The same rows as text for VW."""

    def write(path: Path) -> None:
        columns = X.indices + (X.indices >= Layout.of(X, y).constant)
        moved = sparse.csr_array((X.data, columns, X.indptr), shape=(X.shape[0], X.shape[1] + 1))
        write_svmlight(path, _rounded(moved), _labels(y), zero_based=True)
        path.write_bytes(re.sub(rb"(?m)^(\S+)", rb"\1 |", path.read_bytes()))

    return cached_file(f"{name}.vw", write)


def vw_cache_of(name: str, X: Any, y: Any) -> Path:
    def write(path: Path) -> None:
        from vowpalwabbit import Workspace

        text = vw_text_of(f"uncached-{name}", X, y)
        Workspace(f"{_shape(Layout.of(X, y))} -d {text} --cache_file {path} -k --quiet").finish()
        text.unlink()

    return cached_file(f"{name}.vw-cache", write)


def options(layout: Layout, *, l1: float, eta0: float, beta: float) -> str:
    steps = f"--l1 {l1!r} --ftrl_alpha {eta0!r} --ftrl_beta {beta!r}"
    return f"{_shape(layout)} --loss_function logistic {steps} --quiet"


def one_pass(cache: Path, n_rows: int, layout: Layout, **params: float) -> Weights:
    """The first rows of a cache, once, and the weights that VW would predict with."""
    from vowpalwabbit import Workspace

    with tempfile.TemporaryDirectory() as folder:
        model = Path(folder, "model.txt")
        source = f"-d {cache} --cache_file {cache} --examples {n_rows}"
        Workspace(f"{options(layout, **params)} {source} --predict_only_model --readable_model {model}").finish()
        lines = model.read_text().rpartition("\n:0\n")[2].split()
    places, values = np.array([line.split(":") for line in lines], dtype=np.float64).reshape(-1, 2).T
    feature, k = np.divmod(places.astype(np.int64), 1 << layout.shift)
    free = feature == layout.constant
    feature -= feature > layout.constant
    weights = Weights(np.zeros((layout.n_outputs, layout.n_features)), np.zeros(layout.n_outputs))
    weights.intercept[k[free]] = values[free]
    weights.coef[k[~free], feature[~free]] = values[~free]
    return weights


def _shape(layout: Layout) -> str:
    several = f"--oaa {layout.n_classes} " if layout.n_classes > 2 else ""
    return f"{several}--ftrl -b {layout.bits}"


def _rounded(X: Any) -> Any:
    return sparse.csr_array((np.round(X.data, _DECIMALS), X.indices, X.indptr), shape=X.shape)


def _labels(y: Any) -> Any:
    return y + 1 if y.max() > 1 else 2 * y - 1
