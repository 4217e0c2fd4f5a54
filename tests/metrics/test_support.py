from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import sparse
from sklearn.metrics import f1_score, precision_score, recall_score

from thresher.metrics import sign_f1, support_f1, support_precision, support_recall

MEASURES = {support_precision: precision_score, support_recall: recall_score, support_f1: f1_score}


def _random_weights(seed):
    rng = np.random.default_rng(seed)
    return [rng.normal(size=40) * (rng.random(40) < 0.4) for _ in range(2)]


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("measure", MEASURES, ids=lambda m: m.__name__)
def test_supports_are_compared_as_scikit_learn_compares_labels(measure, seed):
    true, found = _random_weights(seed)
    assert_allclose(measure(true, found), MEASURES[measure](true != 0, found != 0))


@pytest.mark.parametrize("measure", MEASURES, ids=lambda m: m.__name__)
def test_every_form_of_a_support_counts_the_same(measure):
    true, found = _random_weights(0)
    expected = measure(true, found)
    for form in (
        lambda w: np.stack([w * (np.arange(40) < 20), w * (np.arange(40) >= 10)]),  # in use if any output uses it
        lambda w: sparse.csr_array(w[None]),
        lambda w: w != 0,
        lambda w: np.flatnonzero(w),
        lambda w: set(np.flatnonzero(w).tolist()),
        lambda w: np.flatnonzero(w)[::-1].tolist(),
        lambda w: frozenset(np.flatnonzero(w)),
    ):
        assert measure(form(true), found) == expected
        assert measure(true, form(found)) == expected
        assert measure(form(true), form(found)) == expected


def test_precision_and_recall_of_nothing():
    none, some = np.zeros(3), np.array([1.0, 0, 0])
    assert [support_precision(some, none), support_recall(some, none), support_f1(some, none)] == [0, 0, 0]
    assert [support_precision(none, some), support_recall(none, some), support_f1(none, some)] == [0, 1, 0]
    assert [support_precision(none, none), support_recall(none, none), support_f1(none, none)] == [1, 1, 1]
    assert support_f1(set(), set()) == 1
    assert support_f1({1}, set()) == 0


@pytest.mark.parametrize("seed", range(5))
def test_signs_are_compared_by_the_mean_of_three_f1_scores(seed):
    true, found = _random_weights(seed)
    expected = np.mean([f1_score(np.sign(true) == s, np.sign(found) == s) for s in (1, -1, 0)])
    assert_allclose(sign_f1(true, found), expected)
    assert_allclose(sign_f1(true.reshape(4, 10), sparse.csr_array(found.reshape(4, 10))), expected)
    assert_allclose(sign_f1(np.abs(true), np.abs(found)), f1_score(true != 0, found != 0, average="macro"))


def test_whole_groups_of_table_3_1_give_the_published_69_per_cent():
    sizes = (10, 8, 6, 4, 2, 1)
    true = np.concatenate([np.arange(10) < n for n in (*sizes, 0, 0, 0, 0)]).astype(float)
    true[true != 0] = np.where(np.arange(31) % 2, -1, 1)
    found = true.copy()
    found[:60][found[:60] == 0] = np.where(np.arange(29) % 2, -1, 1)  # six groups whole, signs by chance
    assert_allclose(sign_f1(true, found), 0.699, atol=0.001)
    assert_allclose(support_f1(true, found), 2 * 31 / (31 + 60))


def test_a_wrong_sign_that_no_true_weight_has_counts():
    assert sign_f1([1, 1, 0], [1, 1, 0]) == 1
    assert_allclose(sign_f1([1, 1, 0], [1, -1, 0]), (2 / 3 + 0 + 1) / 3)


@pytest.mark.parametrize(
    "call, words",
    [
        (lambda: support_f1(np.ones(3), np.ones(4)), "support_f1: coef must have 3 features as true_coef has, got 4."),
        (lambda: support_f1(np.ones(3), [7]), "support_f1: coef must hold indices below 3, got 7."),
        (lambda: support_recall({5}, np.ones(3)), "support_recall: true_coef must hold indices below 3, got 5."),
        (lambda: support_f1([1, 0, 1], [0]), "support_f1: true_coef must be weights as floats, or distinct indices"),
        (lambda: support_f1([-1], [0]), "got integers that repeat or are below 0."),
        (lambda: support_precision(np.ones(3), ["a"]), "support_precision: coef must be numbers in 1 or 2"),
        (lambda: support_f1(np.ones((2, 2, 2)), [0]), "support_f1: true_coef must be numbers in 1 or 2"),
        (lambda: sign_f1([np.nan], [0.0]), "sign_f1: true_coef must hold finite numbers, got nan."),
        (
            lambda: sign_f1(np.ones(2), np.ones(3)),
            "sign_f1: coef must have the shape of true_coef, (1, 2), got (1, 3).",
        ),
    ],
)
def test_what_cannot_be_compared_is_refused_in_one_sentence(call, words):
    with pytest.raises(ValueError) as refused:
        call()
    assert words in str(refused.value)
