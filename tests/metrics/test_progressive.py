"""Progressive measures against scikit-learn's, which see all scores at once."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.metrics import average_precision_score, f1_score, roc_auc_score

from thresher.metrics import ProgressiveAveragePrecision, ProgressiveF1, ProgressiveROCAUC
from thresher.metrics._score_bins import N_BINS, PER_OCTAVE, ZERO, bins_of, raise_top

MEASURES = [ProgressiveF1, ProgressiveROCAUC, ProgressiveAveragePrecision]


def some_scores(n=600, *, share=0.2, scale=1.0, seed=0):
    """Labels, scores of which some tie, exactly 0 among them, and weights of which some are 0."""
    rng = np.random.default_rng(seed)
    y = rng.random(n) < share
    scores = (rng.normal(size=n) + 1.5 * y - 0.5) * scale
    scores[rng.random(n) < 0.1] = 0
    scores[::7] = scores[0]
    weights = np.round(rng.exponential(size=n), 2)
    weights[::5] = 0
    return y, scores, weights


batches = st.lists(
    st.lists(
        st.tuples(
            st.booleans(),
            st.one_of(
                st.sampled_from([0.0, -0.0, 1.0, -1.0, 0.5, 2.0, 5e-324, 1e300]),
                st.floats(-1e6, 1e6),
                st.floats(-1e300, 1e300),
            ),
            st.sampled_from([0.0, 0.25, 1.0, 3.0]),
        ),
        max_size=12,
    ),
    max_size=6,
)


def columns(rows):
    y, scores, weights = (np.array(column) for column in zip(*rows, strict=True)) if rows else ([], [], [])
    return np.asarray(y, dtype=bool), np.asarray(scores, dtype=float), np.asarray(weights, dtype=float)


def together(parts):
    return columns([row for rows in parts for row in rows])


def fed(measure, parts, weighted=True):
    for rows in parts:
        y, scores, weights = columns(rows)
        measure.update(y, scores, weights if weighted else None)
    return measure


# --- exact measures ---------------------------------------------------------------------------------------------------


@settings(deadline=None)
@given(batches, st.booleans())
def test_f1_is_exact(parts, weighted):
    y, scores, weights = together(parts)
    weights = weights if weighted else np.ones(len(y))
    expected = f1_score(y, scores > 0, sample_weight=weights, zero_division=0) if weights.any() else 0
    assert_allclose(fed(ProgressiveF1(), parts, weighted).value, expected, rtol=1e-12)


def obvious_pairs(y, scores, weights):
    """Pairs in order and all pairs, one by one."""
    in_order = pairs = 0.0
    for i in np.flatnonzero(y):
        for j in np.flatnonzero(~y):
            pairs += weights[i] * weights[j]
            in_order += weights[i] * weights[j] * ((scores[i] > scores[j]) + 0.5 * (scores[i] == scores[j]))
    return np.array([in_order, pairs])


@settings(deadline=None)
@given(batches, st.booleans())
def test_roc_auc_counts_the_pairs_within_batches(parts, weighted):
    counts = np.zeros(2)
    for rows in parts:
        y, scores, weights = columns(rows)
        counts += obvious_pairs(y, scores, weights if weighted else np.ones(len(y)))
    measure = fed(ProgressiveROCAUC(), parts, weighted)
    assert_allclose(measure.cells, counts, rtol=1e-12)
    assert_allclose(measure.value, counts[0] / counts[1] if counts[1] else 0, rtol=1e-12)


def test_roc_auc_of_one_batch_is_that_of_scikit_learn():
    y, scores, weights = some_scores()
    assert_allclose(ProgressiveROCAUC().update(y, scores).value, roc_auc_score(y, scores), rtol=1e-12)
    weighted = ProgressiveROCAUC().update(y, scores, weights).value
    assert_allclose(weighted, roc_auc_score(y, scores, sample_weight=weights), rtol=1e-12)


def test_roc_auc_compares_no_scores_of_different_batches():
    y, scores, _ = some_scores()
    one = ProgressiveROCAUC().update(y, scores)
    moved = ProgressiveROCAUC().update(y, scores).update(y, scores + 100)
    assert_allclose(moved.value, one.value, rtol=1e-12)
    assert moved.update([1, 1], [3, 4]).update([0], [-7]).value == moved.value  # batches of one class say nothing


# --- average precision ------------------------------------------------------------------------------------------------


@settings(max_examples=300, deadline=None)
@given(batches, st.booleans())
def test_the_bounds_hold_the_average_precision_of_all_scores(parts, weighted):
    y, scores, weights = together(parts)
    weights = weights if weighted else np.ones(len(y))
    measure = fed(ProgressiveAveragePrecision(), parts, weighted)
    low, high = measure.bounds
    if not weights[y].sum():
        assert (measure.value, low, high) == (0, 0, 1)
        return
    there = weights > 0
    true = average_precision_score(y[there], scores[there], sample_weight=weights[there])
    assert low - 1e-12 <= true <= high + 1e-12
    assert 0 <= low <= measure.value <= high <= 1


@settings(deadline=None)
@given(batches)
def test_the_bounds_hold_the_area_under_the_roc_curve(parts):
    y, scores, weights = together(parts)
    in_order, pairs = obvious_pairs(y, scores, weights)
    low, high = fed(ProgressiveAveragePrecision(), parts).roc_auc_bounds
    assert 0 <= low <= high <= 1
    if pairs:
        assert low - 1e-12 <= in_order / pairs <= high + 1e-12


@pytest.mark.parametrize("scale", [1, 5, 1e-9, 3.7e8, 1e-300, 1e300])
def test_the_scale_of_scores_does_not_matter(scale):
    rng = np.random.default_rng(1)
    y = rng.random(20_000) < 0.05
    scores = (rng.normal(size=20_000) + 2 * y) * scale
    measure = ProgressiveAveragePrecision().update(y, scores)
    low, high = measure.bounds
    true = average_precision_score(y, scores)
    assert low <= true <= high
    assert high - low < 0.06
    assert_allclose(measure.value, true, atol=0.003)


def test_a_scale_that_changes_costs_little():
    """As when the first steps of a learner are far too long."""
    rng = np.random.default_rng(3)
    y = rng.random(20_000) < 0.05
    scores = rng.normal(size=20_000) + 2 * y
    scores[:250] *= 1e4
    measure = ProgressiveAveragePrecision()
    for rows in np.split(np.arange(20_000), 80):
        measure.update(y[rows], scores[rows])
    low, high = measure.bounds
    true = average_precision_score(y, scores)
    assert low <= true <= high
    assert high - low < 0.1
    assert_allclose(measure.value, true, atol=0.005)


def test_ties_at_zero_are_known():
    y, scores, weights = some_scores()
    scores = np.where(np.abs(scores) < 0.8, 0, np.sign(scores))  # three scores, each in a bin of its own
    measure = ProgressiveAveragePrecision().update(y & (scores == 0), scores, weights)
    true = average_precision_score(y & (scores == 0), scores, sample_weight=weights)
    assert_allclose([*measure.bounds, measure.value], true, rtol=1e-12)
    area = roc_auc_score(y & (scores == 0), scores, sample_weight=weights)
    assert_allclose(measure.roc_auc_bounds, area, rtol=1e-12)
    other = ProgressiveAveragePrecision().update(y & (scores == 0), np.where(scores == 0, 1e-3, scores), weights)
    assert other.bounds[0] < true < other.bounds[1]


@settings(deadline=None)
@given(batches, st.integers(-30, 30))
def test_bins_are_those_of_all_scores_at_once(parts, power):
    """Whatever the batches; and scores twice as large are in the same bins of twice the width."""
    y, scores, weights = together(parts)
    scores = np.clip(scores, -1e200, 1e200)
    scores[np.abs(scores) < 1e-200] = 0
    whole = ProgressiveAveragePrecision().update(y, scores, weights)
    split = ProgressiveAveragePrecision()
    for i in range(len(y)):
        split.update(y[i : i + 1], scores[i : i + 1], weights[i : i + 1])
    assert_array_equal(split.cells, whole.cells)
    other = ProgressiveAveragePrecision().update(y, np.ldexp(scores, power), weights)
    assert_array_equal(other.cells[1:], whole.cells[1:])
    if (scores * weights).any():
        assert other.cells[0] == whole.cells[0] + power


@pytest.mark.parametrize("octaves", [0, 1, 2, 14, 15, 16, 20, 40])
def test_raising_the_top_is_binning_again(octaves):
    rng = np.random.default_rng(octaves)
    scores = np.sign(rng.normal(size=3000)) * 2.0 ** rng.uniform(-25, 3, 3000)
    scores[:20] = 0
    counts = np.bincount(bins_of(scores, 3), minlength=N_BINS).astype(float)[None]
    raise_top(counts, octaves)
    assert_array_equal(counts[0], np.bincount(bins_of(scores, 3 + octaves), minlength=N_BINS))


def test_bins_are_in_the_order_of_scores_and_narrow():
    scores = np.sort(np.concatenate([[0.0], *(s * 2.0 ** np.linspace(-20, 3, 5000)[:-1] for s in (-1, 1))]))
    bins = bins_of(scores, 3)
    assert (np.diff(bins) >= 0).all()
    assert bins[0] == 0
    assert bins[-1] == N_BINS - 1
    assert_array_equal(bins == ZERO, scores == 0)
    octaves = scores > 2.0**-11
    lowest, highest = (
        np.array([f(scores[octaves & (bins == b)]) for b in np.unique(bins[octaves])]) for f in (np.min, np.max)
    )
    assert (highest / lowest <= 1 + 1 / PER_OCTAVE).all()


# --- all of them ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", MEASURES)
@settings(deadline=None)
@given(batches, batches)
def test_merging_is_seeing_all_batches(kind, some, others):
    whole = fed(kind(), some + others)
    other = fed(kind(), others)
    before = other.cells.copy()
    merged = fed(kind(), some).merge(other)
    assert_allclose(merged.cells, whole.cells, rtol=1e-12)
    assert_allclose(merged.value, whole.value, rtol=1e-9)
    assert_array_equal(other.cells, before)
    assert_allclose(fed(kind(), others).merge(fed(kind(), some)).cells, merged.cells, rtol=1e-12)


@pytest.mark.parametrize("kind", MEASURES)
def test_nothing_is_zero(kind):
    measure = kind()
    assert measure.value == 0
    assert measure.update([], []).update([1, 0], [1.0, 2.0], [0, 0]).value == 0
    assert not measure.cells.any()
    assert measure.update([False, False], [0.0, 0.0]).value == 0
    assert measure.merge(kind()).value == 0


@pytest.mark.parametrize("kind", MEASURES)
def test_cells_may_belong_to_someone_else(kind):
    y, scores, weights = some_scores()
    home = np.zeros((3, kind.n_cells))
    kind(cells=home[1]).update(y[:300], scores[:300], weights[:300])
    gone_on = kind(cells=home[1]).update(y[300:], scores[300:], weights[300:])
    whole = kind().update(y[:300], scores[:300], weights[:300]).update(y[300:], scores[300:], weights[300:])
    assert_array_equal(home[1], whole.cells)
    assert gone_on.value == whole.value > 0
    assert not home[[0, 2]].any()
    assert gone_on.reset().value == 0
    assert not home.any()


@pytest.mark.parametrize("kind", MEASURES)
def test_labels_come_in_many_forms(kind):
    y, scores, _ = some_scores()
    expected = kind().update(y, scores).value
    assert expected > 0
    for form in (y.astype(int), y.astype(np.float32), 2 * y - 1.0, y.tolist()):
        assert kind().update(form, scores).value == expected
    assert kind(pos_label="b").update(np.array(["a", "b"])[y.astype(int)], scores).value == expected
    assert kind(pos_label="b").update(np.array(["a", "b"], dtype=object)[y.astype(int)], scores).value == expected
    assert kind(pos_label=4).update(y + 3, scores).value == expected
    assert kind(pos_label="b").update(y + 3, scores).value == kind().update(np.zeros(len(y)), scores).value
    assert repr(kind()) == f"{kind.__name__}(value=0)"
    assert repr(kind(pos_label="b")) == f"{kind.__name__}(pos_label='b', value=0)"


def test_single_precision_scores_are_taken_as_they_are():
    y, scores, _ = some_scores()
    for kind in MEASURES:
        single = scores.astype(np.float32)
        assert kind().update(y, single).value == kind().update(y, single.astype(float)).value


@pytest.mark.parametrize(
    "given, words",
    [
        ({"y_true": [1, 0, 2]}, "y_true must hold booleans or 0 (or -1) and 1, unless pos_label names the positive"),
        ({"y_true": [1, 0, 2]}, "got 2."),
        ({"y_true": [1, 0, -1]}, "got 'both 0 and -1'."),
        ({"y_true": ["a", "b", "a"]}, "got 'a'."),
        ({"y_true": [[1, 0, 1]]}, "y_true must be a vector of labels, got shape (1, 3)."),
        ({"y_true": [1, 0]}, "y_true must have one entry for each of the 3 scores, got 2."),
        ({"y_score": [0.1, np.nan, 1]}, "y_score must hold finite numbers, got nan."),
        ({"y_score": [[0.1, 2, 1]]}, "y_score must be numbers in 1 dimension, got float64 of shape (1, 3)."),
        ({"y_score": ["x", "y", "z"]}, "y_score must be numbers in 1 dimension"),
        ({"sample_weight": [1, 2]}, "sample_weight must have one entry for each of the 3 scores, got 2."),
        ({"sample_weight": [1, -2, 0]}, "sample_weight must hold numbers of at least 0, got -2.0."),
        ({"sample_weight": [1, np.inf, 0]}, "sample_weight must hold finite numbers, got inf."),
    ],
)
@pytest.mark.parametrize("kind", MEASURES)
def test_what_cannot_be_measured_is_refused_and_changes_nothing(kind, given, words):
    measure = kind().update([1, 0, 1], [0.5, 0.2, -1.0])
    before = measure.cells.copy()
    with pytest.raises(ValueError) as refused:
        measure.update(**({"y_true": [1, 0, 1], "y_score": [0.5, 0.2, 0.1]} | given))
    assert str(refused.value).startswith(f"{kind.__name__}: ")
    assert words in str(refused.value)
    assert_array_equal(measure.cells, before)


@pytest.mark.parametrize("kind", MEASURES)
def test_cells_that_are_none_are_refused(kind):
    n = kind.n_cells
    read_only = np.zeros(n)
    read_only.flags.writeable = False
    for cells in (np.zeros(n + 1), np.zeros(n, np.float32), [0.0] * n, np.zeros((n, 2))[:, 0], read_only):
        with pytest.raises(ValueError, match=f"^{kind.__name__}: cells must be {n} float64 numbers in a writeable"):
            kind(cells=cells)
    for damage in (np.nan, np.inf, -1.0):
        with pytest.raises(ValueError, match=f"^{kind.__name__}: cells must be those of such a measure"):
            kind(cells=np.append(np.zeros(n - 1), damage))
    if kind is ProgressiveAveragePrecision:
        for top in (1e9, 0.5, np.nan, -np.inf):
            with pytest.raises(ValueError, match="damaged"):
                kind(cells=np.append(top, np.zeros(n - 1)))


@pytest.mark.parametrize("kind", MEASURES)
def test_measures_of_another_kind_do_not_merge(kind):
    others = [each() for each in MEASURES if each is not kind] + [kind(pos_label="b")]
    for other in others:
        with pytest.raises(ValueError, match=f"^{kind.__name__}: other must be a {kind.__name__} of pos_label=None"):
            kind().merge(other)
