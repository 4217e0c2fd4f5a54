"""Shuffled streams: the same rows in a fixed mixed order, other in each pass."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from stream_files import all_bits, csv_text, rows_of, svmlight_text, write
from thresher.streams import open_stream


@pytest.fixture
def numbered(tmp_path):
    """103 rows whose target and only value is their number."""
    return write(tmp_path / "a.svm", "".join(f"{i} 1:{i}\n" for i in range(103)))


def targets(stream):
    return [batch.y.tolist() for batch in stream]


def joined(batches):
    return list(itertools.chain.from_iterable(batches))


@pytest.mark.parametrize("batch_size", [1, 7, 10, 64, 103, 500])
@pytest.mark.parametrize("shuffle", [0, 1, 7, 20, 50, 103, 1000])
def test_batches_have_the_size_asked_for(numbered, batch_size, shuffle):
    sizes = [len(batch) for batch in open_stream(numbered, batch_size=batch_size, shuffle=shuffle)]
    assert sizes == [batch_size] * (103 // batch_size) + [103 % batch_size] * (103 % batch_size > 0)


@pytest.mark.parametrize("shuffle, batch_size, run", [(20, 5, 20), (20, 10, 20), (7, 5, 10), (1, 8, 8), (50, 20, 60)])
def test_rows_are_mixed_within_their_run(numbered, shuffle, batch_size, run):
    """A run is as long as asked for, rounded up to whole batches."""
    found = joined(targets(open_stream(numbered, batch_size=batch_size, shuffle=shuffle)))
    assert found != sorted(found)
    for begin in range(0, 103, run):
        part = found[begin : begin + run]
        assert sorted(part) == list(range(begin, min(begin + run, 103)))
        assert len(part) < 5 or part != sorted(part)


def test_each_run_is_mixed_in_its_own_way(numbered):
    found = joined(targets(open_stream(numbered, batch_size=20, shuffle=20)))
    orders = {tuple(y - begin for y in found[begin : begin + 20]) for begin in range(0, 100, 20)}
    assert len(orders) == 5


@pytest.mark.parametrize("name, make", [("a.svm", svmlight_text), ("a.csv", csv_text)])
@pytest.mark.parametrize("prefetch", [True, False])
def test_rows_keep_their_targets(tmp_path, name, make, prefetch):
    path = write(tmp_path / name, make(101))
    plain = rows_of(open_stream(path))
    mixed = rows_of(open_stream(path, batch_size=8, shuffle=40, prefetch=prefetch))
    assert mixed != plain
    assert sorted(mixed) == sorted(plain)


def test_the_same_seed_gives_the_same_order(numbered):
    options = {"batch_size": 8, "shuffle": 50, "max_iter": 2}
    first = all_bits(open_stream(numbered, **options))
    stream = open_stream(numbered, **options)
    assert all_bits(stream) == all_bits(stream) == first
    assert all_bits(open_stream(numbered, random_state=0, **options)) == first
    others = [targets(open_stream(numbered, random_state=seed, **options)) for seed in range(5)]
    assert len({repr(other) for other in others}) == 5


def test_each_pass_and_each_file_is_mixed_anew(tmp_path):
    files = [write(tmp_path / f"{i}.svm", "".join(f"{j} 1:1\n" for j in range(50))) for i in range(2)]
    stream = open_stream(files, batch_size=50, shuffle=50, max_iter=3)
    orders = targets(stream)
    assert len(orders) == 6
    assert all(sorted(order) == list(range(50)) for order in orders)
    assert len({tuple(order) for order in orders}) == 6
    assert orders[:2] == targets(open_stream(files, batch_size=50, shuffle=50))  # whatever follows


def test_the_mixing_is_fair(numbered):
    """Over many seeds, each row of a run comes first about equally often."""
    streams = (open_stream(numbered, batch_size=4, shuffle=4, random_state=s, prefetch=False) for s in range(400))
    first = [int(next(iter(stream)).y[0]) for stream in streams]
    counts = np.bincount(first, minlength=4)
    assert counts.min() > 65  # 100 each; five deviations are 43


def test_a_batch_tells_where_its_run_begins(numbered):
    batches = list(open_stream(numbered, batch_size=5, shuffle=20))
    assert [batch.first_line for batch in batches[:5]] == [1, 1, 1, 1, 21]
    assert [batch.position.skip for batch in batches[:5]] == [5, 10, 15, 0, 5]
    text = numbered.read_bytes()
    assert [batch.position.line for batch in batches[:5]] == [1, 1, 1, 21, 21]
    assert text[batches[3].position.offset :].startswith(b"20 1:20\n")
