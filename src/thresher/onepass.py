"""The low-level interface: rows, a learner and a state in, the state changed in place.

Everything in the library that learns from rows goes through :meth:`Learner.learn`. Use it directly to embed the core:
to feed rows from your own loop, to own the visiting order, or to keep the state where you like. Nothing here guesses,
shuffles or copies.

1. :func:`rows` looks at a matrix once and returns rows that every pass trusts.
2. :func:`learner` turns an estimator, used as a set of parameters, into its compiled update rule.
3. :meth:`Learner.new_state` makes the arrays; :meth:`Learner.learn` changes them; :meth:`Learner.scores` and
   :meth:`Learner.weights` read them.

Examples
--------
>>> import numpy as np
>>> from thresher import onepass
>>> from thresher.online import AROWClassifier
>>> X = np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 0.2]])
>>> y = np.array([1.0, -1.0, 1.0])
>>> learner = onepass.learner(AROWClassifier(r=0.5), n_features=2)
>>> state = learner.new_state(n_features=2)
>>> result = learner.learn(onepass.rows(X), y, state, order=np.array([2, 1, 0]))
>>> result.n_mistakes
2
>>> learner.scores(onepass.rows(X), state).shape
(3, 1)
>>> sorted(state.arrays)
['coef', 'n_mistakes', 'tally', 'variance']
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from . import _state, _validation
from ._core import Rows, loss_slope, loss_value
from ._state import Array, Field, State

if TYPE_CHECKING:
    from ._core import CoreLearner  # what all compiled learners offer; there is no such class at run time

__all__ = ["Learner", "PassResult", "Rows", "State", "learner", "loss_slope", "loss_value", "rows"]

# Kept by the loop itself, for every learner: (rows, updates, loss, weight) of each output, and mistakes of the model.
_BOOKS = (Field("tally", "tally", 0.0, "sum"), Field("n_mistakes", "model", 0.0, "sum"))


class PassResult(NamedTuple):
    """What one pass met, predicting each row before it learned from it. Sums over passes: ``state.arrays["tally"]``."""

    n_mistakes: int
    """Rows whose score had the wrong sign; 0 is not positive. Means nothing for regression."""
    diverged: int
    """The step whose score was not finite, where the pass stopped; -1 when all went well."""


@dataclass(frozen=True)
class Learner:
    """A compiled update rule with its parameters. Holds nothing that was learned: that is the :class:`State`.

    Parameters
    ----------
    core : type
        One of the compiled learners.
    params : dict
        All its parameters, by the core's names.
    """

    core: type[CoreLearner]
    params: dict[str, Any]

    @property
    def steep(self) -> bool:
        """Whether its loss has slopes without a bound, so that weights may outgrow floating point."""
        return self.params.get("loss") in ("squared", "squared_hinge")

    def fields(self) -> list[Field]:
        """The arrays that make up its state."""
        return [*(Field(*f) for f in self.core.fields(self.params)), *_BOOKS]

    def sizes(self, n_features: int) -> dict[str, int]:
        """The length of each axis that a field names."""
        return {"weight": n_features + 1, "tally": 4}

    def new_state(self, n_features: int, n_outputs: int = 1) -> State:
        """The state before the first row: named arrays of shape ``(n_outputs, ...)``."""
        return State(self.fields(), n_outputs, self.sizes(n_features))

    def learn(
        self,
        rows: Rows,
        y: Array,
        state: State,
        *,
        order: NDArray[np.int64] | None = None,
        sample_weight: Array | None = None,
        intercept: float = 1.0,
        positive: float | None = None,
        output: int = 0,
        margins: Array | None = None,
    ) -> PassResult:
        """One pass: predict each row, then learn from it; ``state`` changes in place.

        Parameters
        ----------
        rows : Rows
            From :func:`rows`.
        y : ndarray of float64, shape (n_rows,)
            Targets: -1 and +1 for classes, any number for regression. With ``positive``, class codes.
        state : State
        order : ndarray of int64, optional
            Rows to visit, in this order; repeats are allowed. All rows as they stand when not given.
        sample_weight : ndarray of float64, shape (n_rows,), optional
            Weights of at least 0. A row of weight 0 is absent.
        intercept : float, default=1.0
            Value of the constant feature; 0 for none.
        positive : float, optional
            Learn this code of ``y`` against the rest.
        output : int, default=0
            The output of the state to train.
        margins : ndarray of float64, shape (n_steps,), optional
            Receives the score of every step before its update.

        Returns
        -------
        PassResult
        """
        return PassResult(
            *self.core.run_pass(
                rows, intercept, y, positive, sample_weight, order, state.views[output], self.params, margins
            )
        )

    def scores(self, rows: Rows, state: State, intercept: float = 1.0) -> Array:
        """Scores of shape ``(n_rows, n_outputs)``; O(non-zeros), however many features there are."""
        out = np.empty((rows.n_rows, state.n_outputs))
        for k in range(state.n_outputs):
            self.core.scores(rows, intercept, state.views[k], self.params, out[:, k])
        return out

    def weights(self, state: State) -> Array:
        """All weights, shape ``(n_outputs, n_features + 1)``, that of the constant feature last."""
        out = np.empty((state.n_outputs, state.sizes["weight"]))
        for k in range(state.n_outputs):
            self.core.weights(state.views[k], self.params, out[k])
        return out

    def finish(self, state: State) -> None:
        """Close an unfinished mini-batch with the rows it has."""
        for view in state.views:
            self.core.finish(view, self.params, state.sizes["weight"])

    def settle(self, state: State) -> None:
        """Bring lazy state to the form in which it merges."""
        for view in state.views:
            self.core.settle(view, self.params, state.sizes["weight"])

    def rebuild(self, state: State) -> None:
        """Recompute what is derived from the rest of the state."""
        for view in state.views:
            self.core.rebuild(view, self.params, state.sizes["weight"])

    def merge(self, start: State, states: Sequence[State], weights: Sequence[float]) -> State:
        """One state from those that shards reached from ``start``; see :func:`thresher._state.merge`."""

        def settle_all(together: Sequence[State]) -> None:
            for state in together:
                self.settle(state)

        return _state.merge(start, states, weights, settle=settle_all, rebuild=self.rebuild)


def rows(X: Any, *, n_features: int | None = None) -> Rows:
    """Look at a matrix once, and wrap it for the core without a copy where its form allows.

    Parameters
    ----------
    X : array-like or SciPy sparse matrix, shape (n_rows, n_columns)
        float32 or float64 in C order or CSR is used as it is; anything else is converted.
    n_features : int, optional
        Width of the model, when ``X`` is sparse and narrower than it.
    """
    return _validation.as_rows(X, "rows", n_features=n_features)


def learner(estimator: Any, n_features: int) -> Learner:
    """The compiled update rule of an estimator, with the estimator's parameters, checked."""
    checked: Learner = estimator._checked_learner(n_features)
    return checked
