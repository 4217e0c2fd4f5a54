"""Every loss of the core: the written-out formulas, and what must hold between value, slope and pull."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose

from reference.losses import FOR_CLASSES, FOR_VALUES
from reference.losses import loss as find_loss
from thresher import _core

LABELS = [-1.0, 1.0]
TARGETS = [-2.7, -0.05, 0.0, 0.3, 4.1]
SHAPES = [(0.5, 0.1), (0.2, 0.7), (1.0, 0.0), (0.0, 0.1)]  # tau, epsilon
CASES = [(name, y) for name in FOR_CLASSES for y in LABELS] + [(name, y) for name in FOR_VALUES for y in TARGETS]
SCORES = np.round(np.linspace(-5.0137, 5.0137, 401), 9)


def kinks(name: str, y: float, epsilon: float) -> list[float]:
    """Scores where the slope jumps."""
    return {
        "hinge": [y],
        "pinball": [y],
        "epsilon_insensitive": [y - epsilon, y + epsilon],
        "quantile": [y],
    }.get(name, [])


@pytest.mark.parametrize("tau, epsilon", SHAPES)
@pytest.mark.parametrize("name, y", CASES)
def test_value_and_slope_are_the_written_out_formulas(name, y, tau, epsilon):
    truth = find_loss(name, tau, epsilon)
    scores = [*SCORES, -1.0, 0.0, 1.0, *kinks(name, y, epsilon)]
    values = [_core.loss_value(name, p, y, tau, epsilon) for p in scores]
    slopes = [_core.loss_slope(name, p, y, tau, epsilon) for p in scores]
    assert_allclose(values, [truth.value(p, y) for p in scores], rtol=1e-13, atol=1e-15)
    assert_allclose(slopes, [truth.slope(p, y) for p in scores], rtol=1e-13, atol=1e-15)


@pytest.mark.parametrize("tau, epsilon", SHAPES)
@pytest.mark.parametrize("name, y", CASES)
def test_slope_is_the_derivative_of_value(name, y, tau, epsilon):
    h = 1e-6
    away = [p for p in SCORES if all(abs(p - k) > 10 * h for k in kinks(name, y, epsilon))]
    above, below = (np.array([_core.loss_value(name, p + s, y, tau, epsilon) for p in away]) for s in (h, -h))
    slopes = [_core.loss_slope(name, p, y, tau, epsilon) for p in away]
    assert_allclose(slopes, (above - below) / (2 * h), rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize(
    "name, p, y",
    [
        ("hinge", 1.0, 1.0),
        ("hinge", -1.0, -1.0),
        ("squared_hinge", 1.0, 1.0),
        ("squared_hinge", -1.0, -1.0),
        ("pinball", 1.0, 1.0),
        ("pinball", -1.0, -1.0),
        ("modified_huber", 1.0, 1.0),
        ("epsilon_insensitive", 0.75, 0.5),
        ("epsilon_insensitive", 0.25, 0.5),
        ("quantile", 0.5, 0.5),
    ],
)
def test_slope_is_flat_at_a_kink(name, p, y):
    assert _core.loss_slope(name, p, y, 0.3, 0.25) == 0


@pytest.mark.parametrize("tau, epsilon", SHAPES)
@pytest.mark.parametrize("name, y", CASES)
def test_pull_is_the_written_out_formula(name, y, tau, epsilon):
    for p in (-3.0, 0.0, 2.0):  # a property of the target alone
        assert_allclose(_core.loss_pull(name, p, y, tau, epsilon), find_loss(name, tau, epsilon).pull(y), rtol=1e-14)


@pytest.mark.parametrize("tau, epsilon", SHAPES[:2])
@pytest.mark.parametrize("name, y", CASES)
def test_pull_is_the_supremum_of_minus_slope_times_score(name, y, tau, epsilon):
    step = 1e-3
    pulls = [-_core.loss_slope(name, p, y, tau, epsilon) * p for p in np.arange(-6, 6, step)]
    found = max(0.0, *pulls)  # 0 is reached at p = 0
    pull = _core.loss_pull(name, 0.0, y, tau, epsilon)
    assert found <= pull + 1e-12
    assert pull <= found + 2 * step


@pytest.mark.parametrize("p", [1e3, -1e3, 1e300, -1e300])
@pytest.mark.parametrize("name, y", CASES)
def test_slopes_stay_finite_for_huge_scores(name, y, p):
    assert np.isfinite(_core.loss_slope(name, p, y))
    assert_allclose(_core.loss_slope(name, p, y), find_loss(name).slope(p, y), rtol=1e-13)


@pytest.mark.parametrize("p", [1e3, -1e3, 1e300, -1e300])
@pytest.mark.parametrize("name, y", CASES)
def test_values_stay_finite_for_huge_scores_unless_they_are_squares(name, y, p):
    if abs(p) > 1e150 and name in ("squared", "squared_hinge"):
        assert _core.loss_value(name, p, y) in (np.inf, 0)
    else:
        assert np.isfinite(_core.loss_value(name, p, y))
        assert_allclose(_core.loss_value(name, p, y), find_loss(name).value(p, y), rtol=1e-13)


def test_logistic_keeps_its_digits_far_from_zero():
    assert_allclose(_core.loss_value("logistic", 40.0, 1.0), np.exp(-40.0), rtol=1e-14)
    assert_allclose(_core.loss_slope("logistic", 40.0, 1.0), -np.exp(-40.0), rtol=1e-14)
    assert _core.loss_value("logistic", -1e300, 1.0) == 1e300
    assert _core.loss_slope("logistic", -1e300, 1.0) == -1
