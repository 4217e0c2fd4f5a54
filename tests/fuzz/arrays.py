"""Damaged sparse matrices of every format: refused in a sentence, or harmless."""

from __future__ import annotations

import random
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import sparse
from words import Finding

from thresher.cluster import SparseKMeans
from thresher.kernels import LSSVC
from thresher.metrics import support_f1
from thresher.online import AROWClassifier
from thresher.preprocessing import RunningScaler
from thresher.streams import write_svmlight

N, D = 12, 5
Y = np.arange(N) % 2
NASTY = [-1, -(2**31), 2**31 - 1, 2**30, 2**62, 10**6, N, D, 0, 3]
FORMATS = ["csr", "csc", "coo", "bsr", "lil", "dok", "dia"]


def damaged(choose: random.Random) -> Any:
    """A sparse matrix with something wrong in it, mostly."""
    rng = np.random.default_rng(choose.randrange(1 << 30))
    X: Any = sparse.random_array((N, D), density=0.5, format=choose.choice(FORMATS), rng=rng)
    for _ in range(choose.choice([0, 1, 1, 2])):
        places = [getattr(X, name) for name in ("indices", "indptr", "offsets") if hasattr(X, name)]
        places += list(getattr(X, "coords", ())) if X.format == "coo" else []
        if X.format == "lil":
            X.rows[choose.randrange(N)] = [choose.choice(NASTY) for _ in range(choose.randrange(4))]
        elif X.format == "dok":
            X._dict[choose.choice(NASTY), choose.choice(NASTY)] = 1.0
        else:
            array = choose.choice([place for place in places if len(place)])
            array[choose.randrange(len(array))] = np.array(choose.choice(NASTY)).astype(array.dtype)
    if choose.random() < 0.2:
        for name in ("data", "indices", "indptr"):
            if hasattr(X, name) and choose.random() < 0.5 and X.format in ("csr", "csc", "coo", "bsr"):
                setattr(X, name, getattr(X, name)[: choose.randrange(4)])
    if X.format in ("csr", "csc", "coo") and choose.random() < 0.2 and len(X.data):
        X.data[0] = choose.choice([np.nan, np.inf, 1e200])
    return X


def targets() -> list[Callable[[Any], Any]]:
    """What users may hand rows to."""
    good = sparse.random_array((N, D), density=0.5, format="csr", rng=np.random.default_rng(0))
    model, grown = AROWClassifier().fit(good, Y), AROWClassifier().partial_fit(good, Y, classes=[0, 1])
    return [
        lambda X: AROWClassifier().fit(X, Y),
        model.predict,
        lambda X: grown.partial_fit(X, Y, grow=True),
        lambda X: RunningScaler().fit(X).transform(X),
        lambda X: LSSVC().fit(X, Y),
        lambda X: SparseKMeans(n_clusters=2, random_state=0).fit(X),
        lambda X: write_svmlight("/dev/null", X, Y),
        lambda X: support_f1(X, X),
    ]


TARGETS = targets()


def array(seed: int) -> str:
    choose = random.Random(seed)
    X, use = damaged(choose), choose.choice(TARGETS)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            use(X)
        except (ValueError, TypeError, FloatingPointError) as refusal:
            if "\n" in str(refusal) or len(str(refusal)) > 600:
                raise Finding(f"{X.format}: {refusal}") from refusal
            return "refused"
        except Exception as error:
            raise Finding(f"{X.format}: {type(error).__name__}: {error}") from error
    return "works"
