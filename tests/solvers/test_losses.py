"""Losses of the solvers: those of the core's table that are smooth, have a conjugate and no parameter."""

from __future__ import annotations

import re

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from thresher import _core, _engine, solvers
from thresher.solvers._solver_rows import LOSSES


def test_smooth_losses_with_a_conjugate_are_offered():
    assert {"squared", "logistic", "squared_hinge"} <= set(LOSSES)
    for name, loss in LOSSES.items():
        told = _engine.LOSSES[name]
        assert (loss.curvature, loss.of_classes) == (told.curvature, not told.for_values)
        assert np.isfinite(loss.curvature)


@pytest.mark.parametrize("name", LOSSES)
def test_functions_are_those_of_the_core(name):
    p, y = np.linspace(-2, 2, 9), np.resize([-1.0, 1.0], 9)
    for function, of_core in (("value", _core.loss_value), ("slope", _core.loss_slope)):
        assert_array_equal(
            getattr(LOSSES[name], function)(p, y), [of_core(name, a, b) for a, b in zip(p, y, strict=True)]
        )


@pytest.mark.parametrize("name", [name for name in LOSSES if LOSSES[name].of_classes])
def test_a_loss_rests_if_one_class_alone_has_a_best_intercept(name):
    X, y = np.ones((4, 1)), np.ones(4)
    if LOSSES[name].rests:
        assert solvers.lasso(X, y, 0.1, loss=name).converged
    else:
        with pytest.raises(ValueError, match="y must hold both -1 and 1"):
            solvers.lasso(X, y, 0.1, loss=name)


def test_the_docstring_names_them():
    listed = re.search(r"loss : \{(.*)\}", solvers.lasso.__doc__).group(1)
    assert set(re.findall(r"\w+", listed)) == set(LOSSES)
