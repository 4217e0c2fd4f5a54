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
>>> lesson = onepass.Lesson(onepass.rows(X), onepass.Target(y), order=np.array([2, 1, 0]))
>>> result = learner.learn(lesson, state)
>>> result.n_mistakes
2
>>> learner.scores(onepass.rows(X), state).shape
(3, 1)
>>> sorted(state.arrays)
['coef', 'n_mistakes', 'score_bins', 'score_clock', 'score_drift', 'tally', 'variance']
"""

from __future__ import annotations

from typing import Any

from . import _gate
from ._core import Rows, loss_slope, loss_value
from ._engine import Axis, Learner, Lesson, PassResult, State, Target

__all__ = [
    "Axis",
    "Learner",
    "Lesson",
    "PassResult",
    "Rows",
    "State",
    "Target",
    "learner",
    "loss_slope",
    "loss_value",
    "rows",
]


def rows(X: Any, *, n_features: int | None = None) -> Rows:
    """Look at a matrix once, and wrap it for the core without a copy where its form allows.

    Passes trust what was seen: do not change the matrix while its rows are in use.

    Parameters
    ----------
    X : array-like or SciPy sparse matrix, shape (n_rows, n_columns)
        float32 or float64 in C order or CSR is used as it is; anything else is converted.
    n_features : int, optional
        Width of the model, when ``X`` is sparse and narrower than it.
    """
    return _gate.as_rows(X, "rows", n_features=n_features)


def learner(estimator: Any, n_features: int, n_outputs: int | None = None) -> Learner:
    """The compiled update rule of an estimator, with the estimator's parameters, checked.

    The rule may depend on the number of outputs: one for two classes or values, otherwise one for each class. If it is
    not given, it is that of the estimator if fitted, or 1.
    """
    if not hasattr(estimator, "_checked_learner"):
        raise TypeError(f"learner: estimator must be a linear estimator of thresher, got {estimator!r}.")
    outputs = estimator._n_outputs if n_outputs is None else n_outputs
    return estimator._checked_learner(n_features).for_outputs(outputs)
