from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from thresher import datasets

MAKERS = sorted(set(datasets.__all__) - {"SparseStream", "make_sparse_stream", "make_days", "sample_one_to_k"})


@pytest.mark.parametrize("name", MAKERS)
def test_the_same_seed_gives_the_same_bits_and_another_does_not(name):
    make = getattr(datasets, name)
    first, again, other = make(60, random_state=3), make(60, random_state=3), make(60, random_state=4)
    for one, two in zip(first, again, strict=True):
        assert_array_equal(one, two)
    assert not np.array_equal(first[0], other[0])


@pytest.mark.parametrize("name", MAKERS)
def test_what_is_returned_beside_the_rows_does_not_change_them(name):
    make = getattr(datasets, name)
    more = [option for option in ("return_coef", "return_truth", "return_groups") if option in make.__annotations__]
    plain = make(60, random_state=3)
    for option in more:
        full = make(60, random_state=3, **{option: True})
        assert len(full) > len(plain)
        for one, two in zip(plain, full, strict=False):
            assert_array_equal(one, two)


@pytest.mark.parametrize("name", MAKERS)
def test_random_states_and_generators_are_taken(name):
    make = getattr(datasets, name)
    assert_array_equal(
        make(20, random_state=np.random.default_rng(1))[0], make(20, random_state=np.random.default_rng(1))[0]
    )
    assert_array_equal(
        make(20, random_state=np.random.RandomState(1))[0], make(20, random_state=np.random.RandomState(1))[0]
    )
