"""Losses of the solvers: those of the core's table that are smooth and have a conjugate."""

from __future__ import annotations

import re

import numpy as np
import pytest

from thresher import _engine, solvers
from thresher.solvers._solver_input import LOSSES, rests


def test_smooth_losses_with_a_conjugate_are_offered():
    assert set(LOSSES) == {"squared", "logistic", "squared_hinge", "huber"}
    for name, loss in LOSSES.items():
        assert loss is _engine.LOSSES[name]
        assert np.isfinite(loss.curvature)


@pytest.mark.parametrize("name", [name for name in LOSSES if not LOSSES[name].for_values])
def test_a_loss_rests_if_one_class_alone_has_a_best_intercept(name):
    X, y = np.ones((4, 1)), np.ones(4)
    if rests(name):
        assert solvers.lasso(X, y, 0.1, loss=name).converged
    else:
        with pytest.raises(ValueError, match="y must hold both -1 and 1"):
            solvers.lasso(X, y, 0.1, loss=name)


def test_the_docstring_names_them():
    listed = re.search(r"loss : \{(.*)\}", solvers.lasso.__doc__).group(1)
    assert set(re.findall(r"\w+", listed)) == set(LOSSES)
