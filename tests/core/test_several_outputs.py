"""Classes against the rest that learn side by side, in lanes of a register, give the bits of those that learn alone.

Runs under sanitizers (``make sanitize``), so it imports the core, NumPy and the state only.
"""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from thresher import _core
from thresher._engine._state import Field, State

CW = {"phi": 1.3, "average": False, "n_selected": 2.0}
LEARNERS = {
    "ArowDiagonal": {"r": 1.0, "average": False},
    "CwDiagonal": CW,
    "CwVarianceDiagonal": CW,
    "ScwDiagonal": CW | {"C": 0.5, "squared": True},
    "NarowDiagonal": {"b": 2.0, "average": False, "n_selected": 0.0},
    "NherdDiagonal": {"C": 1.0, "average": False, "n_selected": 0.0},
}
N_ROWS, N_FEATURES = 120, 12


def data(n_classes, dtype=np.float64, density=0.5):
    rng = np.random.default_rng(n_classes)
    X = rng.normal(size=(N_ROWS, N_FEATURES)) * (rng.random((N_ROWS, N_FEATURES)) < density)
    X[7] = 0
    rows, columns = np.nonzero(X)
    starts = np.searchsorted(rows, np.arange(N_ROWS + 1)).astype(np.int64)
    parts = X[rows, columns].astype(dtype), columns.astype(np.int32), starts
    return X.astype(dtype), _core.Rows.csr(*parts, N_FEATURES), rng.integers(0, n_classes, N_ROWS).astype(np.float64)


def states_of(core, params, n_outputs):
    fields = [Field(*f) for f in core.fields(params)]
    return State([*fields, Field("tally", "tally", 0.0, "sum")], n_outputs, {"weight": N_FEATURES + 1, "tally": 4})


def learn_both_ways(name, rows, y, n_classes, *, weight=None, order=None, **changes):
    """What outputs learn alone and together: states, scores, and the step at which one diverged."""
    core, params, bias = getattr(_core, name), LEARNERS[name] | {"precision": False} | changes, 0.5
    n_steps = N_ROWS if order is None else len(order)
    alone, together = states_of(core, params, n_classes), states_of(core, params, n_classes)
    margins, diverged = np.zeros((n_classes, n_steps)), []
    for k in range(n_classes):
        result = core.run_pass(rows, bias, y, float(k), weight, order, alone.view(k), params, margins[k])
        diverged.append(result[1])
    codes, views, scores = np.arange(n_classes, dtype=np.float64), together.views, np.zeros((n_classes, n_steps))
    with core.several(views, [params] * n_classes, N_FEATURES + 1, n_steps) as several:
        steps = several.run(rows, bias, y, codes, weight, order, np.arange(n_classes), scores)
    return (alone, margins, diverged), (together, scores, steps)


def assert_same(one, other):
    (alone, margins, diverged), (together, scores, steps) = one, other
    assert diverged == steps
    assert_array_equal(margins, scores)
    for name, array in alone.arrays.items():
        assert_array_equal(array, together.arrays[name], err_msg=name)
    assert alone.arrays["tally"][:, 1].all()  # they did learn


@pytest.mark.parametrize("precision", [False, True])
@pytest.mark.parametrize("n_classes", [2, 3, 4, 9])
@pytest.mark.parametrize("name", LEARNERS)
def test_outputs_learn_together_what_they_learn_alone(name, n_classes, precision):
    _, rows, y = data(n_classes)
    assert_same(*learn_both_ways(name, rows, y, n_classes, precision=precision))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_weights_and_orders_count_for_outputs_together(dtype):
    _, rows, y = data(5, dtype)
    rng = np.random.default_rng(1)
    order = rng.permutation(N_ROWS)[:90]
    weight = rng.choice([0.0, 0.5, 1.0, 2.0], N_ROWS)
    assert_same(*learn_both_ways("ArowDiagonal", rows, y, 5, weight=weight, order=order))


@pytest.mark.parametrize("what", ["dense rows", "few rows", "the mean of late iterates"])
def test_outputs_that_gain_nothing_by_it_learn_alone(what):
    X, rows, y = data(5)
    order = np.arange(3) if what == "few rows" else None
    changes = {"average": True} if what == "the mean of late iterates" else {}
    rows = _core.Rows.dense(X) if what == "dense rows" else rows
    assert_same(*learn_both_ways("ArowDiagonal", rows, y, 5, order=order, **changes))


@pytest.mark.parametrize("n_steps", [N_ROWS, 30])
def test_an_output_that_diverges_stops_and_leaves_the_others_alone(n_steps):
    _, rows, y = data(6)
    core, order = _core.ArowDiagonal, np.arange(n_steps)
    params = [LEARNERS["ArowDiagonal"] | {"precision": False, "r": r} for r in (0.1, 0.3, 1.0, 3.0, 10.0, 30.0)]
    alone, together = (states_of(core, params[0], 6) for _ in range(2))
    for states in (alone, together):
        states.arrays["coef"][3, :-1] = 1e308
        states.arrays["coef"][1, 4] = 1e308
    margins, scores = np.zeros((6, n_steps)), np.zeros((6, n_steps))
    diverged = [
        core.run_pass(rows, 1.0, y, 2.0, None, order, alone.view(k), params[k], margins[k])[1] for k in range(6)
    ]
    codes = np.full(6, 2.0)  # of one class, by several parameters
    with core.several(together.views, params, N_FEATURES + 1, n_steps) as several:
        assert several.run(rows, 1.0, y, codes, None, order, np.arange(6), scores) == diverged
    assert diverged[3] >= 0
    assert diverged[0] == diverged[5] == -1
    assert_array_equal(margins, scores)
    for name, array in alone.arrays.items():
        assert_array_equal(array, together.arrays[name], err_msg=name)


@pytest.mark.parametrize("n_first", [30, 90])
def test_weights_stay_in_lanes_from_pass_to_pass_and_some_outputs_may_sit_out(n_first):
    X, rows, y = data(5)
    core, params = (
        _core.ArowDiagonal,
        [LEARNERS["ArowDiagonal"] | {"precision": False, "r": r} for r in (0.1, 1, 3, 9, 27)],
    )
    alone, together = (states_of(core, params[0], 5) for _ in range(2))
    passes = [(np.arange(n_first), [0, 1, 2, 3, 4]), (np.arange(n_first, N_ROWS), [3, 1]), (np.arange(40), [4, 3])]
    with core.several(together.views, params, N_FEATURES + 1, N_ROWS + 40) as several:
        for order, which in passes:
            margins, scores = np.zeros((len(which), len(order))), np.zeros((len(which), len(order)))
            for place, k in enumerate(which):
                core.run_pass(rows, 1.0, y, 2.0, None, order, alone.view(k), params[k], margins[place])
            codes = np.full(len(which), 2.0)
            assert several.run(rows, 1.0, y, codes, None, order, np.array(which), scores) == [-1] * len(which)
            assert_array_equal(margins, scores)
        several.run(_core.Rows.dense(X), 1.0, y, np.array([2.0]), None, None, np.array([0]), np.zeros((1, N_ROWS)))
        core.run_pass(_core.Rows.dense(X), 1.0, y, 2.0, None, None, alone.view(0), params[0], np.zeros(N_ROWS))
    for name, array in alone.arrays.items():
        assert_array_equal(array, together.arrays[name], err_msg=name)


@pytest.mark.parametrize(
    ("codes", "which", "shape", "message"),
    [
        (np.arange(4.0), np.arange(5), (5, N_ROWS), "outputs, codes and margins"),
        (np.arange(5.0), np.arange(5), (4, N_ROWS), "outputs, codes and margins"),
        (np.arange(5.0), np.arange(5), (5, N_ROWS - 1), "margins and steps"),
        (np.arange(2.0), np.array([0, 5]), (2, N_ROWS), "is not there"),
        (np.arange(2.0), np.array([0, -1]), (2, N_ROWS), "is not there"),
        (np.arange(2.0), np.array([1, 1]), (2, N_ROWS), "named twice"),
    ],
)
def test_lengths_and_places_that_do_not_fit_are_refused(codes, which, shape, message):
    _, rows, y = data(5)
    params = LEARNERS["ArowDiagonal"] | {"precision": False}
    states = states_of(_core.ArowDiagonal, params, 5)
    several = _core.ArowDiagonal.several(states.views, [params] * 5, N_FEATURES + 1, N_ROWS)
    with pytest.raises(ValueError, match=message):
        several.run(rows, 1.0, y, codes, None, None, which, np.zeros(shape))


def test_rows_of_another_width_are_refused():
    y = data(5)[2]
    params = LEARNERS["ArowDiagonal"] | {"precision": False}
    states = states_of(_core.ArowDiagonal, params, 1)
    narrow = _core.Rows.dense(np.zeros((N_ROWS, N_FEATURES - 1)))
    several = _core.ArowDiagonal.several(states.views, [params], N_FEATURES + 1, N_ROWS)
    with pytest.raises(ValueError, match="differ in length"):
        several.run(narrow, 1.0, y, np.zeros(1), None, None, np.zeros(1, dtype=np.int64), np.zeros((1, N_ROWS)))


def test_states_without_parameters_are_refused():
    params = LEARNERS["ArowDiagonal"] | {"precision": False}
    states = states_of(_core.ArowDiagonal, params, 2)
    with pytest.raises(ValueError, match="parameters for every state"):
        _core.ArowDiagonal.several(states.views, [params], N_FEATURES + 1, N_ROWS)


def test_an_order_beyond_the_rows_is_refused():
    _, rows, y = data(5)
    params = LEARNERS["ArowDiagonal"] | {"precision": False}
    states, order = states_of(_core.ArowDiagonal, params, 5), np.array([N_ROWS])
    several = _core.ArowDiagonal.several(states.views, [params] * 5, N_FEATURES + 1, N_ROWS)
    with pytest.raises(ValueError, match="names a row"):
        several.run(rows, 1.0, y, np.arange(5.0), None, order, np.arange(5), np.zeros((5, 1)))
