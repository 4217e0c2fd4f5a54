"""Columns of text: factorised, hashed, cut into words, against plain Python."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from numpy.testing import assert_array_equal
from scipy import sparse

from reference import text as reference
from thresher import _core
from thresher._gate._table import Text

values = st.lists(
    st.text(st.characters(codec="utf-8"), max_size=20) | st.sampled_from(["", "a", "b", "aa"]), max_size=30
)
characters = st.sampled_from("abcXYZ09'' .,-\t\n\0éßあ漢“”’«\u00a0\u3000、\u2070😀")
sentences = st.lists(st.text(characters, max_size=40), min_size=1, max_size=6)


def column(texts):
    text = Text.from_list(texts)
    return text.offsets, text.data


FROZEN_BUCKETS = [695, 382, 235]
FROZEN_FINGERPRINTS = [2322194067, 1967436029, 1720557442]


def test_the_hash_does_not_change_between_versions():
    # saved models depend on it
    seen = np.zeros((1 << 10, 3), np.uint32)
    buckets, _ = _core.hash_texts(*column(["", "winner", "a longer text, of 3 words"]), b"message", 1 << 10, seen)
    assert buckets.tolist() == FROZEN_BUCKETS
    assert seen[buckets, 0].tolist() == FROZEN_FINGERPRINTS


@settings(max_examples=200, deadline=None)
@given(values, st.binary(max_size=20), st.integers(1, 2**30))
def test_hashes_are_those_of_plain_python(texts, prefix, n_buckets):
    buckets, (places, _, _) = _core.hash_texts(*column(texts), prefix, n_buckets)
    assert buckets.tolist() == [reference.bucket(text, prefix, n_buckets) for text in texts]
    assert len(places) == 0  # nothing is remembered without a place for it


@pytest.mark.parametrize(
    "make", [lambda i: str(i), lambda i: f"x{i:020}", lambda i: "a" * (i % 400) + chr(65 + i // 400)]
)
def test_hashes_are_spread_evenly(make):
    n, n_buckets = 20_000, 512
    buckets, _ = _core.hash_texts(*column([make(i) for i in range(n)]), b"", n_buckets)
    chi2 = ((np.bincount(buckets, minlength=n_buckets) - n / n_buckets) ** 2).sum() / (n / n_buckets)
    assert abs(chi2 - (n_buckets - 1)) < 5 * np.sqrt(2 * (n_buckets - 1))


@settings(max_examples=200, deadline=None)
@given(values)
def test_factorize_numbers_values_by_first_appearance(texts):
    codes, first = _core.factorize(*column(texts))
    known = list(dict.fromkeys(texts))
    assert codes.tolist() == [known.index(text) for text in texts]
    assert first.tolist() == [texts.index(text) for text in known]
    assert (codes.dtype, first.dtype) == (np.int32, np.int64)


def test_factorize_holds_many_values():
    texts = [str(i % 50_000) for i in range(120_000)]
    codes, first = _core.factorize(*column(texts))
    assert_array_equal(codes, np.arange(120_000) % 50_000)
    assert_array_equal(first, np.arange(50_000))


@settings(max_examples=100, deadline=None)
@given(st.lists(st.text(max_size=3), max_size=20), st.data())
def test_texts_are_taken_as_a_list_gives_them(texts, data):
    places = data.draw(st.lists(st.integers(-len(texts), len(texts) - 1))) if texts else []
    begin = data.draw(st.integers(0, len(texts)))
    taken = _core.take_texts(*column(texts), np.array(places, np.int64))
    assert Text(*taken).to_list() == [texts[place] for place in places]
    assert Text(*column(texts))[begin:].take(np.arange(len(texts) - begin)).to_list() == texts[begin:]
    for outside in (len(texts), -len(texts) - 1):
        with pytest.raises(IndexError):
            _core.take_texts(*column(texts), np.array([outside]))


@settings(max_examples=100, deadline=None)
@given(st.lists(st.text("abß", max_size=2), max_size=20), st.sets(st.text("abß", max_size=2)))
def test_texts_are_looked_up_as_a_dict_does(texts, words):
    known = {word: place for place, word in enumerate(sorted(words))}
    places, new = _core.look_up(*column(texts), known)
    assert (places.tolist(), places.dtype) == ([known.get(text, -1) for text in texts], np.int32)
    assert list(new.items()) == [(text, texts.index(text)) for text in dict.fromkeys(texts) if text not in known]


def test_different_bytes_that_read_as_the_same_text_are_one():
    data = np.frombuffer(b"\xff\xfe", np.uint8)
    assert _core.look_up(np.array([0, 1, 2]), data, {})[1] == {"\ufffd": 0}


@settings(max_examples=300, deadline=None)
@given(st.integers(-(10**6), 3 * 10**6), st.integers(0, 86399))
@example(59, 0)
@example(-1, 86399)
def test_parts_of_dates_are_those_of_the_calendar(day, second):
    moment = np.datetime64(day, "D")
    ((month,), (weekday,), (hour,)) = _core.date_parts(np.array([day + second / 86400]))
    assert month == moment.astype("datetime64[M]").astype(int) % 12 + 1
    assert weekday == (day + 3) % 7 + 1
    assert hour == second // 3600 + 1


@pytest.mark.parametrize("days", [np.nan, np.inf, -np.inf, 1e300])
def test_no_calendar_has_these_dates(days):
    assert [part.tolist() for part in _core.date_parts(np.array([days]))] == [[0], [0], [0]]


@settings(max_examples=300, deadline=None)
@given(sentences, st.sampled_from([1, 2]), st.sampled_from([1, 7, 1 << 18]))
@example(["Don't 'quote' rock'n'roll a I x2 --- naïve “Free” 2nd''"], 2, 1 << 18)
def test_words_are_counted_as_plain_python_counts_them(texts, ngrams, n_buckets):
    counts, buckets, starts, _ = _core.hash_words(*column(texts), b"message", n_buckets, ngrams)
    expected = reference.counts(texts, b"message", n_buckets, ngrams)
    assert np.diff(starts).tolist() == [len(row) for row in expected]
    assert buckets.tolist() == [bucket for row in expected for bucket in row]
    assert counts.tolist() == [n for row in expected for n in row.values()]


def test_what_counts_as_a_word():
    assert reference.words("Don't 'quote' I x2 naïve “Free” GRÖSSE a1b") == [
        "don't", "quote", "x2", "naïve", "free", "grÖsse", "a1b",
    ]  # fmt: skip
    assert reference.words("one two six", ngrams=2) == ["one", "one two", "two", "two six", "six"]


@settings(max_examples=200, deadline=None)
@given(st.lists(st.binary(max_size=30), max_size=5))
def test_bytes_that_are_no_text_do_no_harm(texts):
    offsets = np.cumsum([0, *map(len, texts)], dtype=np.int64)
    data = np.frombuffer(b"".join(texts), np.uint8)
    *_, starts, _ = _core.hash_words(offsets, data, b"", 8, 2)
    assert len(starts) == len(texts) + 1


@settings(max_examples=100, deadline=None)
@given(st.lists(st.text("abc", max_size=3), max_size=60), st.integers(1, 7), st.integers(1, 60))
def test_the_first_two_texts_of_a_bucket_are_remembered_however_they_arrive(texts, n_buckets, batch):
    seen = np.zeros((n_buckets, 3), np.uint32)
    names: dict[int, str] = {}
    for begin in range(0, len(texts), batch):
        _, (places, *new) = _core.hash_texts(*column(texts[begin : begin + batch]), b"p", n_buckets, seen)
        fresh = dict(zip(places.tolist(), Text(*new).to_list(), strict=True))
        assert not set(fresh) & set(names)
        names |= fresh
    expected: dict[int, list[str]] = {}
    for text in dict.fromkeys(texts):
        expected.setdefault(reference.bucket(text, b"p", n_buckets), []).append(text)
    assert names == {2 * b + k: text for b, some in expected.items() for k, text in enumerate(some[:2])}
    for b in range(n_buckets):
        some = expected.get(b, [])
        prints = [reference.fingerprint(text, b"p") for text in some[:2]]
        assert seen[b].tolist() == [*prints, *[0] * (2 - len(prints)), len(some) > 2]


@pytest.mark.parametrize("float32", [False, True])
@pytest.mark.parametrize("seed", range(5))
def test_pieces_side_by_side_add_up(seed, float32):
    rng = np.random.default_rng(seed)
    parts = [sparse.random_array((40, 25), density=d, format="csr", rng=rng) for d in (0.0, 0.05, 0.3, 0.5)]
    expected = np.zeros((40, 32))
    pieces = []
    for first, part in enumerate(parts):
        pieces.append((first, (part.data, part.indices.astype(np.int32), part.indptr.astype(np.int64))))
        expected[:, first : first + 25] += part.toarray()
    numbers = rng.choice([0.0, -0.0, np.nan, 1.5, -2.0], (40, 4)).astype(np.float32 if float32 else np.float64)
    pieces.append((0, numbers))
    expected[:, :4] += np.nan_to_num(numbers)
    places = rng.integers(-1, 7, 40, dtype=np.int32)
    pieces.append((25, places))
    expected[places >= 0, 25 + places[places >= 0]] += 1
    values, columns, starts = _core.stack_rows(pieces, 40, float32)
    assert values.dtype == (np.float32 if float32 else np.float64)
    whole = sparse.csr_array((values, columns, starts), shape=(40, 32))
    for row in np.split(columns, starts[1:-1]):
        assert (np.diff(row) > 0).all()
    np.testing.assert_allclose(whole.toarray(), expected, rtol=1e-6 if float32 else 1e-15)
    assert [len(part) for part in _core.stack_rows([], 3)] == [0, 0, 4]


@pytest.mark.parametrize("offsets", [[], [0, 9], [-1, 1], [2, 1], [0, 2, 1]])
def test_offsets_that_do_not_fit_are_refused(offsets):
    bad = np.array(offsets, np.int64), np.zeros(3, np.uint8)
    for call in (
        _core.factorize,
        lambda *c: _core.look_up(*c, {}),
        lambda *c: _core.hash_texts(*c, b"", 4),
        lambda *c: _core.hash_words(*c, b"", 4),
    ):
        with pytest.raises(ValueError, match="offsets"):
            call(*bad)


def test_other_structure_that_does_not_fit_is_refused():
    texts = column(["a"])
    for n_buckets in (0, -1, 2**31):
        with pytest.raises(ValueError, match="n_buckets"):
            _core.hash_texts(*texts, b"", n_buckets)
    with pytest.raises(ValueError, match="three numbers"):
        _core.hash_words(*texts, b"", 4, seen=np.zeros((4, 2), np.uint32))
    with pytest.raises(ValueError, match="ngrams"):
        _core.hash_words(*texts, b"", 4, 3)
    values, columns, starts = np.ones(1), np.zeros(1, np.int32), np.array([0, 1])
    for piece in ((np.ones(2), columns, starts), (values, columns, np.array([0, 2])), (values, columns, starts[:1])):
        with pytest.raises(ValueError, match=r"equally long|starts"):
            _core.stack_rows([(0, piece)], 1)
    with pytest.raises(ValueError, match="starts"):
        _core.stack_rows([(0, (values, columns, starts))], -1)
    for piece in (np.ones((2, 3)), np.ones((2, 3), np.float32), np.ones(2, np.int32)):
        for n_rows in (1, 3, -1):
            with pytest.raises(ValueError, match="same rows"):
                _core.stack_rows([(0, piece)], n_rows)
    with pytest.raises(TypeError):
        _core.stack_rows([(0, np.ones((1, 2), np.int64))], 1)
