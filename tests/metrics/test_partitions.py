"""Variation of information against its definition, and as a metric."""

import math
from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from thresher.metrics import variation_of_information


def by_definition(first, second):
    """Entropies of the two partitions and of both together, counted by hand."""

    def entropy(labels):
        return -sum(n / len(first) * math.log(n / len(first)) for n in Counter(labels).values())

    pairs = list(zip(first, second, strict=True))
    return 2 * entropy(pairs) - entropy(first) - entropy(second)


partitions = st.integers(1, 30).flatmap(
    lambda n: st.tuples(*[st.lists(st.integers(0, 5), min_size=n, max_size=n) for _ in range(3)])
)


@given(partitions)
@settings(max_examples=200, deadline=None)
def test_it_is_the_entropy_that_either_leaves_of_the_other(three):
    first, second, _ = three
    found = variation_of_information(first, second)
    assert found == pytest.approx(by_definition(first, second), abs=1e-12)
    assert 0 <= found <= math.log(len(first)) + 1e-12


@given(partitions, st.permutations(range(6)))
@settings(max_examples=200, deadline=None)
def test_it_is_a_metric_of_partitions_and_not_of_names(three, renamed):
    first, second, third = three
    there = variation_of_information(first, second)
    assert there == variation_of_information(second, first)  # to the bit
    assert there <= variation_of_information(first, third) + variation_of_information(third, second) + 1e-12
    assert variation_of_information(first, [renamed[label] for label in first]) == 0.0
    assert (there == 0) == (len(set(zip(first, second, strict=True))) == len(set(first)) == len(set(second)))


def test_labels_may_be_anything():
    numbers, names = [0, 0, 1, 2], ["x", "x", "y", "z"]
    for same in (names, np.array(names), np.array(numbers) / 3, [None, None, "y", 2], [True, True, "True", 1.5]):
        assert variation_of_information(numbers, same) == 0.0
    assert variation_of_information([1, 1, "1", "1"], [1, 1, 1, 1]) == pytest.approx(math.log(2))
    assert variation_of_information(np.array([[1], [2]]).ravel(), [5, 5]) == pytest.approx(math.log(2))


def test_many_parts_take_no_table_of_all_pairs():
    many = np.arange(200_000)
    assert variation_of_information(many, many[::-1]) == 0.0
    assert variation_of_information(many, np.zeros(len(many))) == pytest.approx(math.log(200_000))


@pytest.mark.parametrize(
    ("first", "second", "message"),
    [
        ([0, 1], [0], r"labels_true and labels_pred must be labels of the same rows, got 2 and 1\.$"),
        ([], [], r"labels_true must have at least one label, got none\.$"),
        ([0, 1], [[0], [1]], r"labels_pred must be one label per row, got an array of shape \(2, 1\)\.$"),
        ([[1], [1, 2]], [0, 1], r"labels_true must be numbers or text, got lists\.$"),
    ],
)
def test_labels_of_other_rows_are_refused(first, second, message):
    with pytest.raises(ValueError, match="^variation_of_information: " + message):
        variation_of_information(first, second)
