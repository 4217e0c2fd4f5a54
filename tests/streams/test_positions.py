"""Going on from the position of any batch gives exactly the rest, bit for bit."""

from __future__ import annotations

import itertools
import json

import pyarrow
import pyarrow.csv
import pyarrow.ipc
import pyarrow.parquet
import pytest

from stream_files import COMPRESSORS, all_bits, csv_text, svmlight_text, vw_text, write
from thresher.streams import Position, _arrow_files, _compression, _source, open_stream


def make_text(name, text):
    def make(folder, number):
        suffix = name[name.rindex(".") :]
        content = text(23 + 4 * number, seed=number)
        return write(folder / f"{number}{name}", COMPRESSORS.get(suffix, bytes)(content))

    return make


def table(number):
    """The numbers, texts and classes of `csv_text`, as Arrow has them."""
    lines = csv_text(23 + 4 * number, seed=number)
    return pyarrow.csv.read_csv(
        pyarrow.py_buffer(lines), parse_options=pyarrow.csv.ParseOptions(newlines_in_values=True)
    )


def make_parquet(folder, number):
    path = folder / f"{number}.parquet"
    pyarrow.parquet.write_table(table(number), path, row_group_size=9)
    return path


def make_arrow(open_writer):
    def make(folder, number):
        rows = table(number)
        path = folder / f"{number}.arrow"
        with open_writer(path, rows.schema) as writer:
            writer.write_table(rows, 9)
        return path

    return make


def make_documents(folder, number):
    path = folder / f"set{number}"
    for i in range(23 + 4 * number):
        where = path / ["rain", "snow", "sun"][i % 3]
        where.mkdir(parents=True, exist_ok=True)
        write(where / f"{i}.txt", f"day {i} of set {number}")
    return path


SOURCES = {
    "svmlight": make_text(".svm", svmlight_text),
    "svmlight, Windows line ends": make_text(".svm", lambda n, seed: svmlight_text(n, seed).replace(b"\n", b"\r\n")),
    "svmlight, no last line end": make_text(".svm", lambda n, seed: svmlight_text(n, seed).rstrip()),
    "svmlight, gzip": make_text(".svm.gz", svmlight_text),
    "svmlight, byte order mark": make_text(".svm", lambda n, seed: b"\xef\xbb\xbf" + svmlight_text(n, seed)),
    "vw": make_text(".vw", vw_text),
    "vw, byte order mark, Windows line ends": make_text(
        ".vw", lambda n, seed: b"\xef\xbb\xbf" + vw_text(n, seed).replace(b"\n", b"\r\n")
    ),
    "vw, gzip": make_text(".vw.gz", vw_text),
    "csv with line breaks in quotes": make_text(".csv", csv_text),
    "csv, byte order mark": make_text(".csv", lambda n, seed: b"\xef\xbb\xbf\n\n" + csv_text(n, seed)),
    "csv, bzip2": make_text(".csv.bz2", csv_text),
    "csv, zstd": make_text(".csv.zst", csv_text),
    "parquet": make_parquet,
    "arrow file": make_arrow(pyarrow.ipc.new_file),
    "arrow stream": make_arrow(pyarrow.ipc.new_stream),
    "documents": make_documents,
}


@pytest.fixture(params=SOURCES)
def make(request):
    return SOURCES[request.param]


@pytest.fixture
def small_blocks(monkeypatch):
    """Many blocks in a batch."""
    for module, name, size in (
        (_compression, "_CHUNK", 101),
        (_compression, "_BLOCK", 64),
        (_compression, "_SIP", 7),
        (_source, "_BLOCK", 61),
        (_arrow_files, "ROWS_AT_ONCE", 4),
    ):
        monkeypatch.setattr(module, name, size)


def assert_goes_on_from_everywhere(stream):
    whole = list(stream)
    expected = all_bits(whole)
    assert all_bits(stream.batches(stream.start)) == expected
    for i, batch in enumerate(whole):
        kept = json.loads(json.dumps(batch.position))
        assert all_bits(stream.batches(kept)) == expected[i + 1 :]
    return whole


@pytest.mark.usefixtures("small_blocks")
@pytest.mark.parametrize("n_files, max_iter", [(1, 1), (1, 3), (2, 2), (3, 1)])
@pytest.mark.parametrize("shuffle", [0, 7, 1000])
def test_the_rest_is_the_rest(tmp_path, make, shuffle, n_files, max_iter):
    files = [make(tmp_path, number) for number in range(n_files)]
    stream = open_stream(files, batch_size=6, shuffle=shuffle, max_iter=max_iter, prefetch=False)
    whole = assert_goes_on_from_everywhere(stream)
    assert sum(len(batch) for batch in whole) == max_iter * sum(23 + 4 * number for number in range(n_files))
    assert whole[-1].position[:2] == (max_iter - 1, n_files - 1)


@pytest.mark.parametrize("batch_size", [1, 9, 23, 50])
def test_whatever_the_size_of_the_batches(tmp_path, make, batch_size):
    files = [make(tmp_path, number) for number in range(2)]
    assert_goes_on_from_everywhere(open_stream(files, batch_size=batch_size, prefetch=False))
    assert_goes_on_from_everywhere(open_stream(files, batch_size=batch_size, shuffle=11, prefetch=False))


@pytest.mark.parametrize("shuffle", [0, 20])
def test_a_stream_opened_again_goes_on_with_threads_or_without(tmp_path, make, shuffle):
    files = [make(tmp_path, number) for number in range(2)]
    options = {"batch_size": 5, "shuffle": shuffle, "max_iter": 2, "random_state": 3}
    whole = list(open_stream(files, prefetch=False, **options))
    for i in range(0, len(whole), 3):
        again = open_stream(files, prefetch=True, **options)
        assert all_bits(again.batches(whole[i].position)) == all_bits(whole[i + 1 :])


def test_without_shuffling_one_may_go_on_in_batches_of_another_size(tmp_path, make):
    path = make(tmp_path, 0)
    first = next(iter(open_stream(path, batch_size=10)))
    again = [len(batch) for batch in open_stream(path, batch_size=4).batches(first.position)]
    assert again == [4, 4, 4, 1]


def test_empty_files_in_between_change_nothing(tmp_path):
    texts = {"a": "1 1:1\n2 1:1\n", "b": "# nothing\n\n", "c": "3 1:1\n", "d": "#", "e": "4 1:1\n5 1:1"}
    files = [write(tmp_path / f"{name}.svm", text) for name, text in texts.items()]
    for shuffle, batch_size in itertools.product([0, 2], [1, 2, 3]):
        stream = open_stream(files, batch_size=batch_size, shuffle=shuffle, max_iter=2)
        whole = assert_goes_on_from_everywhere(stream)
        assert sorted(y for batch in whole for y in batch.y) == [1, 1, 2, 2, 3, 3, 4, 4, 5, 5]
        assert {batch.path.name for batch in whole} == {"a.svm", "c.svm", "e.svm"}
        assert stream.bytes_read == stream.n_bytes


def test_skipped_lines_stay_skipped(tmp_path):
    text = b"bad\n" + b"bad\n".join(svmlight_text(20).splitlines(keepends=True)) + b"bad\nbad"
    stream = open_stream(write(tmp_path / "a.svm", text), batch_size=3, skip_malformed=True, prefetch=False)
    whole = assert_goes_on_from_everywhere(stream)
    list(stream)
    n_bad = text.count(b"bad")
    assert stream.n_skipped == n_bad
    position = whole[3].position
    list(stream.batches(position))
    assert stream.n_skipped == text[position.offset :].count(b"bad")  # from there on


def test_progress_goes_on_where_it_was(tmp_path, make):
    stream = open_stream([make(tmp_path, 0), make(tmp_path, 1)], batch_size=6, max_iter=2)
    seen = [(batch.position, stream.bytes_read) for batch in stream]
    assert stream.bytes_read == stream.n_bytes
    for i, (position, _) in enumerate(seen):
        assert [stream.bytes_read for _ in stream.batches(position)] == [n for _, n in seen[i + 1 :]]
        assert stream.bytes_read == stream.n_bytes


# ---------------------------------------------------------------------------------------- positions of other streams


@pytest.mark.parametrize(
    "start", [(), (0, 0, 0, 1), (0, 0, 0, 1, 0, 0), (0, 0, -1, 1, 0), (0, 0, 0.0, 1, 0), 17, "00010"]
)
def test_a_position_is_five_integers(tmp_path, start):
    stream = open_stream(write(tmp_path / "a.svm", "1 1:1\n"))
    with pytest.raises(ValueError, match=r"^Stream: a position is five integers of at least 0, got .*\.$"):
        list(stream.batches(start))
    with pytest.raises(ValueError, match=r"^Stream: a position is five integers"):
        list(stream.batches((0, 0, True, 1, 0)))


@pytest.mark.parametrize(
    "start, options",
    [
        ((1, 0, 0, 1, 0), {}),
        ((3, 0, 0, 1, 0), {"max_iter": 3}),
        ((0, 2, 0, 1, 0), {}),
        ((0, 0, 0, 1, 3), {}),
        ((0, 0, 0, 1, 8), {"shuffle": 7, "batch_size": 4}),
    ],
)
def test_a_position_outside_of_the_stream_is_refused(tmp_path, start, options):
    files = [write(tmp_path / name, "1 1:1\n" * 20) for name in ("a.svm", "b.svm")]
    with pytest.raises(ValueError, match=r"^Stream: the position \(.*\) lies outside of this stream\.$"):
        list(open_stream(files, **options).batches(start))


def test_a_position_of_another_file_is_refused(tmp_path, make):
    """One that lies within a line, behind the end, or before the rows."""
    stream = open_stream(make(tmp_path, 0), batch_size=10, prefetch=False)
    position = next(iter(stream)).position
    wrong = [
        position._replace(offset=10**6, line=10**6 + 1),
        position._replace(line=10**6 + 1, offset=position.offset + 1),
    ]
    if stream.start.offset:
        wrong.append(Position(0, 0, 0, 1))
    for start in wrong:
        with pytest.raises(ValueError, match=r": the position \(\d+, \d+\) does not fit this file; it belongs to "):
            list(stream.batches(start))


@pytest.mark.parametrize("suffix", ["", *COMPRESSORS])
def test_every_place_that_begins_no_line_is_refused(tmp_path, suffix):
    text = b"1 1:1 2:2\n\n2 2:3\r\n# end"
    path = write(tmp_path / f"a.svm{suffix}", COMPRESSORS.get(suffix, bytes)(text))
    stream = open_stream(path, prefetch=False)
    good = []
    for offset in range(len(text) + 5):
        try:
            list(stream.batches((0, 0, offset, 1, 0)))
        except ValueError:
            continue
        good.append(offset)
    assert good == [0, *(i + 1 for i, byte in enumerate(text) if byte == 10), len(text)]


def test_more_rows_given_than_there_are_is_refused(tmp_path):
    path = write(tmp_path / "a.svm", "1 1:1\n" * 5)
    stream = open_stream(path, batch_size=2, shuffle=8)
    assert [len(batch) for batch in stream.batches((0, 0, 0, 1, 4))] == [1]
    with pytest.raises(ValueError, match=r"^a.svm: the position \(0, 1\) does not fit this file"):
        list(stream.batches((0, 0, 0, 1, 6)))
