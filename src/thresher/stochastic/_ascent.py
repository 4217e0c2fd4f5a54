"""Proximal stochastic dual coordinate ascent, pass by pass, with momentum where it pays."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from .. import _core
from .._gate import Array


class Ascent:
    r"""The weights of one output and the dual variables of all rows, on their way to the optimum of

    .. math:: P(w) = \sum_i s_i\, \ell(y_i w^\top x_i) + l_1 \|w\|_1 + \frac{l_2}{2} \|w\|^2.

    Plain passes are slow where :math:`l_2` is far below :math:`\max_i s_i \|x_i\|^2` (call the difference
    :math:`\kappa`). With momentum, a pass works on :math:`P(w) + \frac{\kappa}{2} \|w - z\|^2` instead, where z runs
    ahead of w as in Nesterov's method, and starts anew from w when the objective rose.

    Parameters
    ----------
    rows, bias, y, positive, share :
        What the core's functions take: rows, the value of the constant feature, codes of classes, the one to learn
        against the rest, and weights of rows that sum to 1.
    l1, l2, loss :
        Penalties and the name of the loss.
    momentum : bool
    """

    def __init__(
        self,
        rows: _core.Rows,
        bias: float,
        y: Array,
        positive: float,
        share: Array,
        *,
        l1: float,
        l2: float,
        loss: str,
        momentum: bool,
    ) -> None:
        self._problem = (rows, bias, y, positive, share)
        self._l1, self._l2, self._loss = l1, l2, loss
        largest = float(np.max(share * _core.row_squares(rows, bias)))
        self._kappa = max(0.0, largest - l2) if momentum else 0.0
        root = math.sqrt(l2 / (l2 + self._kappa))
        self._beta = (1 - root) / (1 + root)
        self._b, self._v = np.zeros(rows.n_rows), np.zeros(rows.n_features + 1)
        self._w, self._z, self._sums = np.zeros_like(self._v), np.zeros_like(self._v), np.zeros_like(self._v)
        self.weights, self._primal, self._dual = self._w, math.inf, -math.inf

    @property
    def gap(self) -> float:
        """No weights have an objective that is lower than that of ``weights`` by more."""
        return max(self._primal - self._dual, 0.0)

    def step(self, order: NDArray[np.int64]) -> None:
        """One pass over the rows."""
        l2 = self._l2 + self._kappa
        _core.sdca_epoch(*self._problem, order, self._b, self._v, self._l1, l2, self._loss)
        before, self._w = self._w, self._soft()
        if self._kappa:
            ahead = self._w + self._beta * (self._w - before)
            self._v += self._kappa / l2 * (ahead - self._z)
            self._z = ahead

    def measure(self) -> None:
        """Bounds on the optimum from both sides; ``weights`` are the best so far."""
        primal, dual = _core.sdca_bounds(
            *self._problem, self._b, self._sums, self._w, self._l1, self._l2, self._loss
        )  # leaves sums = sum_i s_i b_i y_i x_i / l2
        if not math.isfinite(primal - dual):
            raise FloatingPointError
        if primal > self._primal:
            self._z = self._w
        else:
            self._primal, self.weights = primal, self._w
        self._dual = max(self._dual, dual)
        self._v = (self._l2 * self._sums + self._kappa * self._z) / (self._l2 + self._kappa)

    def _soft(self) -> Array:
        cut = np.full(len(self._v), self._l1 / (self._l2 + self._kappa))
        cut[-1] = 0.0  # the constant bears no l1 penalty
        return self._v - np.clip(self._v, -cut, cut)
