"""Confidence-weighted learning in batches, with the whole covariance."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from scipy import linalg, sparse

from .._batches import BatchClassifier, BatchLearner, BatchRule, Params, matrix_of
from .._core import Rows, ascend
from .._linear import read_only
from .._params import at_least, none, one_of, positive
from .._spaces import Log, Range
from .._state import Array, State
from ..onepass import Learner

_BLOCK = 2048  # rows whose coordinates are changed at once
_WIDEST = 30_000  # features: beyond, the precision alone takes 7 GB


class Bcw(BatchRule):
    """State: the precision P, what pulls at the means P mu, and the means themselves, one column for each class."""

    @staticmethod
    def fields(params: Params) -> list[tuple[Any, ...]]:
        return [
            ("precision", "weight weight", 1.0, "sum"),
            ("pull", "weight class", 0.0, "sum"),
            ("coef", "weight class", 0.0, "derived"),
        ]

    @classmethod
    def rebuild(cls, state: State, params: Params) -> None:
        for precision, pull, coef in zip(*(state.arrays[n] for n in ("precision", "pull", "coef")), strict=True):
            coef[...] = linalg.cho_solve(linalg.cho_factor(precision), pull)


@dataclass(frozen=True)
class BcwLearner(BatchLearner):
    """All classes share one precision, so they are one output of the state, with an axis for the classes."""

    def new_state(self, n_features: int, n_outputs: int = 1) -> State:
        return State(self.fields(), 1, self.sizes(n_features) | {"class": n_outputs})

    def all_scores(self, rows: Rows, state: State, outputs: Sequence[int]) -> Array:
        coef = state.arrays["coef"][0]
        scores: Array = (matrix_of(rows) @ coef[:-1] + self.intercept * coef[-1]).T
        return np.ascontiguousarray(scores, dtype=np.float64)

    def weights(self, state: State, model: int | None = None) -> Array:
        return np.ascontiguousarray(state.arrays["coef"][0].T)

    def learn_batch(
        self, rows: Rows, targets: Array, weight: Array, state: State, run: Callable[..., Iterator[Any]] = map
    ) -> Array:
        margins = self.all_scores(rows, state, ())
        X = _with_constant(matrix_of(rows), self.intercept)
        C, squared = self.params["C"], self.params["squared"]
        precision, coef = state.arrays["precision"][0], state.arrays["coef"][0]
        after = _gram(X)
        after *= C
        after += precision
        centre = np.zeros_like(coef) if self.params["centre"] == "zero" else coef
        root = linalg.cholesky(precision if self.params["centre"] == "kl" else after, lower=True, check_finite=False)
        w = np.ascontiguousarray((root.T @ centre).T)  # one row for each class
        a = np.zeros(targets.shape)
        cost = C * weight
        for _ in range(self.params["n_passes"]):
            for begin, block in _whitened(X, root):
                some = slice(begin, begin + len(block))
                for y, a_k, w_k in zip(targets, a, w, strict=True):
                    ascend(block, y[some], cost[some], squared, a_k[some], w_k)
        mean = linalg.solve_triangular(root, w.T, trans="T", lower=True, check_finite=False)
        if not (np.isfinite(mean).all() and np.isfinite(after).all()):
            raise FloatingPointError
        precision[...] = after
        coef[...] = mean
        state.arrays["pull"][0] = after @ mean
        losses = np.maximum(0.0, 1.0 - margins * targets)
        state.arrays["tally"][0] += (rows.n_rows, a.any(axis=0).sum(), (losses @ weight).mean(), weight.sum())
        return margins


def _with_constant(X: Any, constant: float) -> Any:
    """The rows in float64 with the constant feature last."""
    column = np.full((X.shape[0], 1), constant)
    if sparse.issparse(X):
        return sparse.csr_array(sparse.hstack([X, sparse.csr_array(column)], format="csr", dtype=np.float64))
    return np.hstack([X, column])


def _gram(X: Any) -> Array:
    product = X.T @ X
    gram: Array = product.toarray() if sparse.issparse(product) else product
    return gram


def _whitened(X: Any, root: Array) -> Iterator[tuple[int, Array]]:
    """The rows in coordinates in which the covariance is the identity, block by block: x^ = L^-1 x with P = L L'."""
    inverse = linalg.solve_triangular(root, np.eye(len(root)), lower=True) if sparse.issparse(X) else None
    for begin in range(0, X.shape[0], _BLOCK):
        part = X[begin : begin + _BLOCK]
        if inverse is not None:
            yield begin, np.ascontiguousarray(part @ inverse.T)
        else:
            yield begin, np.ascontiguousarray(linalg.solve_triangular(root, part.T, lower=True, check_finite=False).T)


class BCWClassifier(BatchClassifier):
    r"""Confidence-weighted learning in batches: a mean and a precision of all weights, changed by whole batches.

    Parameters
    ----------
    C : float, default=1.0
    <intercept>
    <passes>
    <classes>

    Attributes
    ----------
    <fitted classifier>
    <fitted>
    """

    _param_rules = BatchClassifier._param_rules | {
        "C": positive,
        "loss": one_of("hinge", "squared_hinge"),
        "centre": one_of("previous", "kl", "zero"),
        "batch_size": at_least(1) | none,
        "n_passes": at_least(1),
    }
    _search_space: ClassVar[dict[str, Range]] = {"C": Log(1e-3, 1e3)}

    def __init__(
        self,
        C: float = 1.0,
        *,
        loss: str = "squared_hinge",
        centre: str = "previous",
        batch_size: int | None = None,
        n_passes: int = 1,
        fit_intercept: bool = True,
        intercept_scaling: float = 1.0,
        max_iter: int = 1,
        n_steps: int | None = None,
        tol: float | None = None,
        shuffle: bool = True,
        class_weight: Any = None,
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.C = C
        self.loss = loss
        self.centre = centre
        self.batch_size = batch_size
        self.n_passes = n_passes
        self.fit_intercept = fit_intercept
        self.intercept_scaling = intercept_scaling
        self.max_iter = max_iter
        self.n_steps = n_steps
        self.tol = tol
        self.shuffle = shuffle
        self.class_weight = class_weight
        self.random_state = random_state
        self.n_jobs = n_jobs

    def _learner(self, n_features: int) -> BatchLearner:
        if n_features > _WIDEST:
            raise ValueError(
                f"BCWClassifier: X must have at most {_WIDEST:,} features, because every pair has a covariance, "
                f"got {n_features:,}."
            )
        core: Any = Bcw
        params = {
            "C": float(self.C),
            "squared": self.loss == "squared_hinge",
            "centre": self.centre,
            "n_passes": int(self.n_passes),
        }
        return BcwLearner(core, params)

    def _state_shape(self, learner: Learner) -> tuple[int, dict[str, int]]:
        n_classes = len(self.classes_)
        return 1, learner.sizes(self.n_features_in_) | {"class": 1 if n_classes == 2 else n_classes}

    @property
    def precision_(self) -> Array:
        """The inverse covariance of the weights, which all classes share."""
        self._all_weights()
        return read_only(self.state_.arrays["precision"][0, :-1, :-1])
