"""Work ahead: order, errors, and threads that end."""

from __future__ import annotations

import gc
import subprocess
import sys
import threading
import time

import pytest

from stream_files import COMPRESSORS, all_bits, csv_text, svmlight_text, write
from thresher.streams import _compression, open_stream
from thresher.streams._ahead import ahead


def workers():
    return [thread for thread in threading.enumerate() if thread.name == "thresher-ahead"]


@pytest.fixture(autouse=True)
def no_thread_is_left():
    assert workers() == []
    yield
    gc.collect()
    assert workers() == []


class Items:
    """Numbers that tell what became of them."""

    def __init__(self, n=10**9, error=None, wait=0.0):
        self.n, self.error, self.wait = n, error, wait
        self.made, self.closed, self.threads = 0, False, set()

    def __iter__(self):
        return self

    def __next__(self):
        self.threads.add(threading.current_thread())
        time.sleep(self.wait)
        if self.made == self.n:
            raise self.error or StopIteration
        self.made += 1
        return self.made - 1

    def close(self):
        self.closed = True


def eventually(condition):
    for _ in range(500):
        if condition():
            return True
        time.sleep(0.01)
    return False


@pytest.mark.parametrize("depth", [1, 2, 7])
@pytest.mark.parametrize("n", [0, 1, 2, 100])
def test_items_keep_their_order(n, depth):
    items = Items(n)
    assert list(ahead(items, depth)) == list(range(n))
    assert items.closed
    assert items.threads.isdisjoint({threading.current_thread()})


def test_items_may_be_none_or_errors():
    error = ValueError("an item")
    assert list(ahead(iter([None, error, None]), 2)) == [None, error, None]


def test_work_is_done_ahead_but_not_too_far():
    items = Items()
    numbers = ahead(items, 3)
    assert items.made == 0  # nothing before it is asked for
    assert next(numbers) == 0
    assert eventually(lambda: items.made == 5)  # one given, three waiting, one in hand
    time.sleep(0.3)
    assert items.made == 5
    assert next(numbers) == 1
    numbers.close()
    assert items.closed


@pytest.mark.parametrize(
    "error", [ValueError("bad"), KeyboardInterrupt(), SystemExit(3), GeneratorExit(), MemoryError()]
)
def test_an_error_comes_where_the_item_would_have_come(error):
    items = Items(3, error)
    numbers = ahead(items, 2)
    assert [next(numbers), next(numbers), next(numbers)] == [0, 1, 2]
    with pytest.raises(type(error)) as raised:
        next(numbers)
    assert raised.value is error
    assert items.closed
    with pytest.raises(StopIteration):
        next(numbers)


def test_closing_early_stops_the_thread_and_closes_the_items():
    for n_taken in (1, 5):
        items = Items()
        numbers = ahead(items, 2)
        for _ in range(n_taken):
            next(numbers)
        assert len(workers()) == 1
        numbers.close()
        assert workers() == []
        assert items.closed
    untouched = ahead(Items(), 2)
    untouched.close()


def test_an_abandoned_iterator_stops_its_thread():
    items = Items()
    numbers = ahead(items, 2)
    next(numbers)
    del numbers
    assert workers() == []
    assert items.closed


def test_a_slow_item_is_waited_for_when_closing():
    items = Items(wait=0.2)
    numbers = ahead(items, 2)
    next(numbers)
    numbers.close()
    assert items.closed


def test_the_caller_may_fail():
    items = Items()
    with pytest.raises(ZeroDivisionError):
        sum(1 / (number - 3) for number in ahead(items, 2))
    assert eventually(lambda: not workers())
    assert items.closed


def in_a_cycle(numbers):
    """Only the garbage collector can tell that it is abandoned."""
    holder = [numbers]
    holder.append(holder)


def test_the_collector_may_close_it_in_its_own_thread():
    dropped, collected = threading.Event(), threading.Event()

    def items():
        yield 0
        dropped.wait()
        gc.collect()
        collected.set()
        yield 1

    gc.disable()
    try:
        numbers = ahead(items(), 2)
        next(numbers)
        in_a_cycle(numbers)
        del numbers
        dropped.set()
        assert collected.wait(10)
        assert eventually(lambda: not workers())
    finally:
        gc.enable()


def test_the_collector_may_close_it_in_a_thread_that_works_for_it():
    """As when the thread that decompresses a file closes the iterator over its batches."""
    dropped, collected = threading.Event(), threading.Event()

    def inner():
        yield 0
        dropped.wait()
        gc.collect()
        collected.set()
        yield 1

    def outer():
        yield from ahead(inner(), 1)

    gc.disable()
    try:
        numbers = ahead(outer(), 1)
        next(numbers)
        assert len(workers()) == 2
        in_a_cycle(numbers)
        del numbers
        dropped.set()
        assert collected.wait(10)
        assert eventually(lambda: not workers())
    finally:
        gc.enable()


# ------------------------------------------------------------------------------------------------------------ streams


@pytest.mark.parametrize("suffix", ["", *COMPRESSORS])
@pytest.mark.parametrize("name, make", [("a.svm", svmlight_text), ("a.csv", csv_text)])
def test_threads_change_nothing(tmp_path, name, make, suffix):
    path = write(tmp_path / f"{name}{suffix}", COMPRESSORS.get(suffix, bytes)(make(60)))
    for options in ({}, {"shuffle": 20, "max_iter": 2}):
        with_threads = open_stream(path, batch_size=7, prefetch=True, **options)
        without = open_stream(path, batch_size=7, prefetch=False, **options)
        assert all_bits(with_threads) == all_bits(without)
        assert with_threads.bytes_read == without.bytes_read


def test_without_prefetch_there_are_no_threads(tmp_path):
    path = write(tmp_path / "a.svm.gz", COMPRESSORS[".gz"](svmlight_text(60)))
    for _ in open_stream(path, batch_size=7, prefetch=False):
        assert workers() == []


@pytest.mark.parametrize("suffix", ["", *COMPRESSORS])
def test_a_stream_left_early_leaves_no_thread(tmp_path, suffix, monkeypatch):
    monkeypatch.setattr(_compression, "_BLOCK", 100)
    path = write(tmp_path / f"a.svm{suffix}", COMPRESSORS.get(suffix, bytes)(svmlight_text(300)))
    stream = open_stream(path, batch_size=2)
    for batch in stream:
        assert 1 <= len(workers()) <= 2
        if batch.first_line > 20:
            break
    del batch
    assert workers() == []
    batches = iter(stream)
    next(batches)
    batches.close()
    assert workers() == []
    next(stream.batches())  # at once forgotten
    assert workers() == []
    with pytest.raises(ZeroDivisionError):
        sum(1 / (batch.first_line - 1) for batch in stream)
    assert eventually(lambda: not workers())


@pytest.mark.parametrize("suffix", ["", ".gz"])
def test_python_may_end_in_the_middle_of_a_stream(tmp_path, suffix):
    """Threads that are still at work in native code must not bring it down."""
    text = b"1 1:1 2:0.5 3:0.25 4:0.125\n" * 200_000
    path = write(tmp_path / f"a.svm{suffix}", COMPRESSORS.get(suffix, bytes)(text))
    script = """if True:
        import sys
        from thresher.streams import open_stream
        kept = []
        for batch_size in (10, 1000, 50_000):
            batches = iter(open_stream(sys.argv[1], batch_size=batch_size, max_iter=100))
            next(batches)
            kept.append(batches)
        kept.append(kept)
        print("leaving", flush=True)
    """
    for _ in range(3):
        done = subprocess.run([sys.executable, "-c", script, path], capture_output=True, text=True, timeout=60)
        assert (done.returncode, done.stdout, done.stderr) == (0, "leaving\n", "")
