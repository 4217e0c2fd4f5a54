"""Losses of the solvers: those of the core, with their conjugates."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose

from thresher import _core
from thresher.solvers._conjugates import LOSSES

SCORES = np.concatenate([np.linspace(-4, 4, 33), [-800.0, 800.0, 30.0, -30.0]])
losses = pytest.mark.parametrize("name", LOSSES)


def targets(name):
    return (-1.0, 1.0) if LOSSES[name].of_classes else (-1.0, 1.0, 0.0, 2.7)


@losses
def test_values_and_slopes_are_those_of_the_core(name):
    for y in targets(name):
        ys = np.full(len(SCORES), y)
        value, slope = ([f(name, p, y) for p in SCORES] for f in (_core.loss_value, _core.loss_slope))
        assert_allclose(LOSSES[name].value(SCORES, ys), value, rtol=1e-14)
        assert_allclose(LOSSES[name].slope(SCORES, ys), slope, rtol=1e-13, atol=1e-300)


@losses
def test_conjugates_meet_fenchel_with_equality_at_the_slope_and_bound_it_elsewhere(name):
    loss = LOSSES[name]
    for y in targets(name):
        ys = np.full(len(SCORES), y)
        u = loss.slope(SCORES, ys)
        conjugate = loss.conjugate(u, ys)
        assert_allclose(loss.value(SCORES, ys) + conjugate, u * SCORES, atol=1e-9, rtol=1e-9)
        assert (loss.value(SCORES, ys)[:, None] + conjugate >= SCORES[:, None] * u - 1e-9).all()


@losses
def test_no_slope_changes_faster_than_the_curvature_and_some_nearly_do(name):
    loss = LOSSES[name]
    p = np.linspace(-2, 2, 4001)
    for y in targets(name):
        rise = np.diff(loss.slope(p, np.full(len(p), y))) / np.diff(p)
        assert rise.max() <= loss.curvature * (1 + 1e-9)
        assert rise.max() >= 0.999 * loss.curvature
