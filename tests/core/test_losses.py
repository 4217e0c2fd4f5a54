"""Every loss of the core's table: its twin, what it declares, and what holds between its functions."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose

from reference.losses import FOR_CLASSES, FOR_VALUES
from reference.losses import loss as find_loss
from thresher import _core
from thresher._engine import LOSSES, best_constant

LABELS = [-1.0, 1.0]
TARGETS = [-2.7, -0.05, 0.0, 0.3, 4.1]
SHAPES = [(0.5, 0.1), (0.2, 0.7), (1.0, 0.0), (0.0, 0.1)]  # tau, epsilon
CASES = [(name, y) for name in FOR_CLASSES for y in LABELS] + [(name, y) for name in FOR_VALUES for y in TARGETS]
SCORES = np.round(np.linspace(-5.0137, 5.0137, 401), 9)
HUGE = [1e3, -1e3, 1e300, -1e300]

cases = pytest.mark.parametrize("name, y", CASES)
shapes = pytest.mark.parametrize("tau, epsilon", SHAPES)
each = pytest.mark.parametrize("name", LOSSES)


def on_scores(function, name, scores, y, *shape):
    """A function of the core on many scores and one target."""
    scores = np.asarray(scores, dtype=float)
    return function(name, scores, np.full(len(scores), y), *shape)


@each
def test_there_is_a_twin(name):
    assert find_loss(name).value(0.0, 1.0) == pytest.approx(_core.loss_value(name, 0.0, 1.0))


@shapes
@cases
def test_value_and_slope_are_the_written_out_formulas(name, y, tau, epsilon):
    truth = find_loss(name, tau, epsilon)
    scores = [*SCORES, -1.0, 0.0, 1.0, *truth.kinks(y)]
    values, slopes = (on_scores(f, name, scores, y, tau, epsilon) for f in (_core.loss_value, _core.loss_slope))
    assert_allclose(values, [truth.value(p, y) for p in scores], rtol=1e-13, atol=1e-15)
    assert_allclose(slopes, [truth.slope(p, y) for p in scores], rtol=1e-13, atol=1e-15)


@shapes
@cases
def test_slope_is_the_derivative_of_value(name, y, tau, epsilon):
    h, kinks = 1e-6, find_loss(name, tau, epsilon).kinks(y)
    away = np.array([p for p in SCORES if all(abs(p - k) > 10 * h for k in kinks)])
    above, below = (on_scores(_core.loss_value, name, away + s, y, tau, epsilon) for s in (h, -h))
    slopes = on_scores(_core.loss_slope, name, away, y, tau, epsilon)
    assert_allclose(slopes, (above - below) / (2 * h), rtol=1e-6, atol=1e-8)


@shapes
@cases
def test_slopes_rise_with_the_score_and_values_are_at_least_0(name, y, tau, epsilon):
    assert (np.diff(on_scores(_core.loss_slope, name, SCORES, y, tau, epsilon)) >= 0).all()
    assert (on_scores(_core.loss_value, name, SCORES, y, tau, epsilon) >= 0).all()


@pytest.mark.parametrize("tau, epsilon", [(0.3, 0.25), (0.8, 0.5)])
@cases
def test_slope_is_the_flat_side_of_a_kink(name, y, tau, epsilon):
    y = round(8 * y) / 8  # kinks without rounding
    for p in find_loss(name, tau, epsilon).kinks(y):
        below, there, above = on_scores(_core.loss_slope, name, [p - 1e-9, p, p + 1e-9], y, tau, epsilon)
        assert below < above
        assert there == min(max(below, 0.0), above)  # 0 where the kink is the minimum


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


@shapes
@cases
def test_pull_is_the_written_out_formula(name, y, tau, epsilon):
    for p in (-3.0, 0.0, 2.0):  # a property of the target alone
        assert_allclose(_core.loss_pull(name, p, y, tau, epsilon), find_loss(name, tau, epsilon).pull(y), rtol=1e-14)


@pytest.mark.parametrize("tau, epsilon", SHAPES[:2])
@cases
def test_pull_is_the_supremum_of_minus_slope_times_score(name, y, tau, epsilon):
    step = 1e-3
    scores = np.arange(-6, 6, step)
    found = max(0.0, np.max(-on_scores(_core.loss_slope, name, scores, y, tau, epsilon) * scores))  # 0 is reached at 0
    pull = _core.loss_pull(name, 0.0, y, tau, epsilon)
    assert found <= pull + 1e-12
    assert pull <= found + 2 * step


@cases
def test_slopes_stay_finite_for_huge_scores(name, y):
    for p in HUGE:
        assert np.isfinite(_core.loss_slope(name, p, y))
        assert_allclose(_core.loss_slope(name, p, y), find_loss(name).slope(p, y), rtol=1e-13)


@cases
def test_values_stay_finite_for_huge_scores_unless_slopes_have_no_bound(name, y):
    for p in HUGE:
        if abs(p) > 1e150 and not LOSSES[name].bounded:
            assert _core.loss_value(name, p, y) in (np.inf, 0)
        else:
            assert np.isfinite(_core.loss_value(name, p, y))
            assert_allclose(_core.loss_value(name, p, y), find_loss(name).value(p, y), rtol=1e-13)


def test_logistic_keeps_its_digits_far_from_zero():
    assert_allclose(_core.loss_value("logistic", 40.0, 1.0), np.exp(-40.0), rtol=1e-14)
    assert_allclose(_core.loss_slope("logistic", 40.0, 1.0), -np.exp(-40.0), rtol=1e-14)
    assert _core.loss_value("logistic", -1e300, 1.0) == 1e300
    assert _core.loss_slope("logistic", -1e300, 1.0) == -1


# --- what a loss declares ---------------------------------------------------------------------------------------------


@cases
def test_slopes_are_bounded_if_the_loss_says_so(name, y):
    steepest = np.abs(on_scores(_core.loss_slope, name, [1e6, -1e6], y)).max()
    assert steepest <= 10 if LOSSES[name].bounded else steepest >= 1e6


@shapes
@cases
def test_no_slope_changes_faster_than_the_curvature_and_some_nearly_do(name, y, tau, epsilon):
    scores = y + np.linspace(-4, 4, 4001)
    rise = np.diff(on_scores(_core.loss_slope, name, scores, y, tau, epsilon)) / np.diff(scores)
    curvature = LOSSES[name].curvature
    if np.isfinite(curvature):
        assert rise.max() <= curvature * (1 + 1e-9)
        assert rise.max() >= 0.999 * curvature or (LOSSES[name].parameter == "epsilon" and epsilon == 0)
    else:
        assert find_loss(name, tau, epsilon).kinks(y)


@pytest.mark.parametrize("name", FOR_VALUES)
def test_the_degree_says_what_another_unit_costs(name):
    for y in TARGETS:
        plain, scaled = (on_scores(_core.loss_value, name, c * SCORES, c * y, 0.3, c * 0.25) for c in (1.0, 10.0))
        assert_allclose(scaled, 10.0 ** LOSSES[name].degree * plain, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("tau, epsilon", SHAPES[:2])
@pytest.mark.parametrize("name", FOR_VALUES)
def test_no_constant_is_better_than_the_best_one(name, tau, epsilon):
    y = np.array([-1.0, 0.2, 0.25, 0.3, 7.0])

    def paid(constant):
        return _core.loss_value(name, np.full(len(y), constant), y, tau, epsilon).sum()

    best = best_constant(name, y, tau, epsilon)
    assert paid(best) <= min(map(paid, np.linspace(-1.5, 7.5, 901))) + 1e-12
    if LOSSES[name].mean_is_best:
        assert best == y.mean()
        assert abs(_core.loss_slope(name, np.full(len(y), y.mean()), y, tau, epsilon).sum()) < 1e-12


@shapes
@cases
def test_the_conjugate_meets_fenchel_with_equality_at_the_slope_and_bounds_it_elsewhere(name, y, tau, epsilon):
    scores = np.concatenate([np.linspace(-4, 4, 33), [-800.0, 800.0, 30.0, -30.0]])
    values, u = (on_scores(f, name, scores, y, tau, epsilon) for f in (_core.loss_value, _core.loss_slope))
    conjugate = on_scores(_core.loss_conjugate, name, u, y, tau, epsilon)
    if not LOSSES[name].has_conjugate:
        assert np.isnan(conjugate).all()
        return
    assert_allclose(values + conjugate, u * scores, atol=1e-9, rtol=1e-9)
    assert (values[:, None] + conjugate >= scores[:, None] * u - 1e-9).all()


@each
def test_the_table_is_complete(name):
    loss = LOSSES[name]
    assert loss.about[0].islower()
    assert not loss.about.endswith(".")
    assert loss.for_classes or loss.for_values
    assert (loss.degree > 0) == loss.for_values
    assert bool(loss.parameter) == bool(loss.parameter_about)
    assert loss.parameter in ("", "tau", "epsilon")
    assert loss.parameter != "epsilon" or not loss.for_classes  # classifiers have no epsilon


def test_arrays_of_unequal_length_and_unknown_names_are_refused():
    with pytest.raises(ValueError, match="a target for every score"):
        _core.loss_value("hinge", np.zeros(3), np.zeros(2))
    with pytest.raises(ValueError, match="unknown loss: none"):
        _core.loss_value("none", 0.0, 1.0)


def test_a_loss_without_a_twin_is_noticed():
    with pytest.raises(NotImplementedError, match="must hold a twin of the loss 'new'"):
        find_loss("new")
