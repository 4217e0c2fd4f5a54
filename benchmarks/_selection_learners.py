"""Every sparse linear learner of ``selection``: its candidates for the step size, and its models of given sizes.

Our learners hit a size with ``n_features_to_select``. The others are given the penalty that leaves so many weights: it
is searched for on a logarithmic scale by learning again, until 0 to 5 % too many are left, whose smallest then go.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.linear_model import LogisticRegression, SGDClassifier
from sklearn.multiclass import OneVsRestClassifier

from thresher import dual_averaging
from thresher.dual_averaging import (
    AdaptiveL1RDAClassifier,
    FTRLClassifier,
    L1RDAClassifier,
    ReweightedL1RDAClassifier,
    ReweightedL2RDAClassifier,
)
from thresher.online import AROWClassifier

from ._linear_models import Weights
from ._measure import installed
from ._vw_ftrl import Layout, one_pass, vw_cache_of

Params = dict[str, Any]
N_TRIES = 9  # for one size; the tries for one size serve the next, too
TOLERANCE = 1.05


@dataclass(frozen=True)
class Stream:
    """Rows in the order in which they come; ``name`` is that of the files which hold them all."""

    name: str
    X: Any
    y: Any
    n_rows: int  # of the rows, the first to learn from

    @property
    def rows(self) -> tuple[Any, Any]:
        return self.X[: self.n_rows], self.y[: self.n_rows]

    @property
    def n_classes(self) -> int:
        return int(self.y.max()) + 1

    @property
    def n_outputs(self) -> int:
        return 1 if self.n_classes == 2 else self.n_classes


Fit = Callable[[Stream, Params, Sequence[int]], list[Weights]]


@dataclass(frozen=True)
class SparseLearner:
    fit: Fit
    steps: tuple[Params, ...] = ({},)  # the candidates; one is the library's own choice
    one_pass: bool = True
    at_most_rows: float = float("inf")  # slower learners are left out beyond
    two_classes: bool = True
    many_classes: bool = True

    def suits(self, stream: Stream) -> bool:
        return (self.two_classes if stream.n_classes == 2 else self.many_classes) and stream.n_rows <= self.at_most_rows


def _grid(**values: Sequence[float]) -> tuple[Params, ...]:
    names = list(values)
    return tuple(dict(zip(names, each, strict=True)) for each in zip(*values.values(), strict=True))


_SPREAD = (0.03, 0.1, 0.3, 1.0, 3.0)
_FTRL = {
    "text": _grid(eta0=(1.0, 3.0, 10.0, 30.0, 3.0), beta=(0.1, 0.1, 0.1, 0.1, 0.01)),
    "bits": _grid(eta0=(0.03, 0.1, 0.3, 1.0, 0.1), beta=(1.0, 1.0, 1.0, 1.0, 0.1)),
}
_PLAIN = {"text": _grid(eta0=[1000 * s for s in _SPREAD]), "bits": _grid(eta0=_SPREAD)}
_ADAPTIVE = {"text": _grid(eta0=(0.3, 1.0, 3.0, 10.0, 30.0)), "bits": _grid(eta0=_SPREAD)}
_SMOOTHING = {"text": (1e2, 1e3, 1e4, 1e5, 1e6), "bits": (1.0, 10.0, 100.0, 1e3, 1e4)}
_INERTIA = {"text": _grid(r=(0.1, 0.3, 1.0, 3.0, 10.0)), "bits": _grid(r=(1.0, 3.0, 10.0, 30.0, 100.0))}
_SGD = {
    scale: ({}, *({"learning_rate": "invscaling", "eta0": e} for e in rates))
    for scale, rates in (("text", (1.0, 10.0, 100.0, 1000.0)), ("bits", (0.03, 0.1, 0.3, 1.0)))
}


def sparse_learners(scale: str) -> dict[str, SparseLearner]:
    ours: dict[str, tuple[type, tuple[Params, ...]]] = {
        "l1-RDA": (L1RDAClassifier, _PLAIN[scale]),
        "adaptive l1-RDA": (AdaptiveL1RDAClassifier, _ADAPTIVE[scale]),
        "FTRL": (FTRLClassifier, _FTRL[scale]),
    }
    learners = {}
    for name, (kind, steps) in ours.items():
        learners[name] = SparseLearner(_selecting(kind), steps)
        learners[f"{name}, debias"] = SparseLearner(_selecting(kind, debias=True), steps)
    learners["AROW-K"] = SparseLearner(_arow_k, _INERTIA[scale])
    learners["AROW-K, r auto"] = SparseLearner(_arow_k, ({"r": "auto"},))
    learners["FTRL, l1 searched"] = SparseLearner(_ftrl_searched, _FTRL[scale], many_classes=False)
    learners["reweighted l1-RDA"] = SparseLearner(
        _selecting(ReweightedL1RDAClassifier), _PLAIN[scale], at_most_rows=50_000, many_classes=False
    )
    learners["reweighted l2-RDA"] = SparseLearner(
        _reweighted_l2, _grid(smoothing=_SMOOTHING[scale]), many_classes=False
    )
    if hasattr(dual_averaging, "SharedRDAClassifier"):
        learners["shared RDA"] = SparseLearner(_shared, _PLAIN[scale], two_classes=False)
    if installed("vowpalwabbit"):
        learners["Vowpal Wabbit --ftrl"] = SparseLearner(_vw, _FTRL[scale])
    learners["SGDClassifier, one pass"] = SparseLearner(_sgd(max_iter=1, tol=None, shuffle=False), _SGD[scale])
    learners["SGDClassifier, its own fit"] = SparseLearner(_sgd(random_state=0), one_pass=False, many_classes=False)
    learners["l1 logistic regression"] = SparseLearner(_batch, one_pass=False)
    return learners


# --- ours -------------------------------------------------------------------------------------------------------------


def _selecting(kind: Any, **fixed: Any) -> Fit:
    """So many weights in all: with several classes, each has its share."""

    def fit(stream: Stream, params: Params, sizes: Sequence[int]) -> list[Weights]:
        each = {"loss": "logistic", "max_iter": 1, "shuffle": False, "selection": "class", **fixed, **params}
        shares = [k // stream.n_outputs for k in sizes]
        return [Weights.of(kind(n_features_to_select=k, **each).fit(*stream.rows)) for k in shares]

    return fit


def _arow_k(stream: Stream, params: Params, sizes: Sequence[int]) -> list[Weights]:
    """So many weights in all; the loss is AROW's own."""
    shares = [k // stream.n_outputs for k in sizes]
    each = {"selection": "class", "max_iter": 1, "shuffle": False, **params}
    models = [AROWClassifier(n_features_to_select=k, **each) for k in shares]
    return [Weights.of(model.fit(*stream.rows)) for model in models]


def _shared(stream: Stream, params: Params, sizes: Sequence[int]) -> list[Weights]:
    """So many features, which all classes share."""
    each = {"loss": "logistic", "max_iter": 1, "shuffle": False, **params}
    kind = dual_averaging.SharedRDAClassifier
    return [Weights.of(kind(n_features_to_select=k, **each).fit(*stream.rows)) for k in sizes]


def _reweighted_l2(stream: Stream, params: Params, sizes: Sequence[int]) -> list[Weights]:
    """Its threshold is applied when someone looks, so that one pass serves all sizes."""
    model = ReweightedL2RDAClassifier(
        alpha=0.1 / params["smoothing"], threshold=0.0, loss="logistic", max_iter=1, shuffle=False, **params
    )
    weights = Weights.of(model.fit(*stream.rows))
    return [weights.largest(k) for k in sizes]


def _ftrl_searched(stream: Stream, params: Params, sizes: Sequence[int]) -> list[Weights]:
    """What the rule of ``n_features_to_select`` costs: the same learner with a constant penalty, searched for."""
    return searched(
        lambda l1: Weights.of(FTRLClassifier(alpha=l1, max_iter=1, shuffle=False, **params).fit(*stream.rows)),
        1.0,
        sizes,
    )


# --- peers ------------------------------------------------------------------------------------------------------------


def _vw(stream: Stream, params: Params, sizes: Sequence[int]) -> list[Weights]:
    cache = vw_cache_of(stream.name, stream.X, stream.y)
    layout = Layout.of(stream.X, stream.y)
    return searched(lambda l1: one_pass(cache, stream.n_rows, layout, l1=l1, **params), 1.0, sizes)


def _sgd(**fixed: Any) -> Fit:
    def fit(stream: Stream, params: Params, sizes: Sequence[int]) -> list[Weights]:
        each = {"loss": "log_loss", "penalty": "l1", **fixed, **params}
        return searched(lambda alpha: Weights.of(SGDClassifier(alpha=alpha, **each).fit(*stream.rows)), 1e-4, sizes)

    return fit


def _batch(stream: Stream, params: Params, sizes: Sequence[int]) -> list[Weights]:
    """Not a stream learner: the rows are visited until the problem is solved."""

    def solve(penalty: float) -> Weights:
        model = LogisticRegression(l1_ratio=1.0, solver="liblinear", C=1 / penalty, tol=1e-3)
        if stream.n_classes == 2:
            return Weights.of(model.fit(*stream.rows))
        parts = [Weights.of(each) for each in OneVsRestClassifier(model).fit(*stream.rows).estimators_]
        return Weights(np.vstack([p.coef for p in parts]), np.concatenate([p.intercept for p in parts]))

    return searched(solve, 1.0, sizes)


def searched(learn: Callable[[float], Weights], start: float, sizes: Sequence[int]) -> list[Weights]:
    """Models with at most so many weights each, by a search for the penalty."""
    tried: dict[float, Weights] = {}
    found = []
    for k in sizes:
        for _ in range(N_TRIES):
            enough = [w for w in tried.values() if k <= w.size <= TOLERANCE * k]
            guess = None if enough else _next_penalty({p: w.size for p, w in tried.items()}, start, k)
            if guess is None:
                break
            tried[guess] = learn(guess)
        best = min(tried.values(), key=lambda w: (w.size < k, abs(w.size - k)))
        found.append(best.largest(k))
    return found


def _next_penalty(sizes: dict[float, int], start: float, k: int) -> float | None:
    """Between the nearest penalties that leave too many and too few, or ten times beyond; None: there is none."""
    if not sizes:
        return start
    too_many = [p for p, size in sizes.items() if size >= k]
    too_few = [p for p, size in sizes.items() if size < k]
    if not too_few:
        return 10 * max(too_many)
    if not too_many:
        return 0.1 * min(too_few) if min(too_few) > 1e-6 * start else None
    low, high = max(too_many), min(too_few)
    if low > high:  # not quite monotone: take a step between the two
        low, high = high, low
    if high / low < 1.001:
        return None
    counts = [np.log(max(sizes[p], 0.5)) for p in (low, high)]
    aim = np.log(1.02 * k)
    share = (counts[0] - aim) / (counts[0] - counts[1]) if counts[0] != counts[1] else 0.5
    return float(low * (high / low) ** np.clip(share, 0.1, 0.9))
