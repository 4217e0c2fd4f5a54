"""Files in, rows out: whole, in batches, and back to a file."""

from __future__ import annotations

import csv
import io
import itertools
import os
import re
import subprocess
import sys

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from scipy import sparse
from sklearn.datasets import dump_svmlight_file, load_svmlight_file

from stream_files import all_bits
from thresher.streams import Batch, Position, Stream, Table, _source, open_stream, read_svmlight, write_svmlight


@pytest.fixture
def problem():
    rng = np.random.default_rng(7)
    X = sparse.random_array((523, 90), density=0.1, format="csr", rng=rng)
    return X, rng.integers(-1, 2, 523).astype(float)


@pytest.fixture
def svm_file(problem, tmp_path):
    """Written by scikit-learn, with comments and blank lines in between."""
    text = io.BytesIO()
    dump_svmlight_file(*problem, text, zero_based=False, comment="made for a test")
    lines = text.getvalue().splitlines()
    lines[100:100] = [b"", b"# in between", b"   "]
    path = tmp_path / "data.svm"
    path.write_bytes(b"\n".join(lines) + b"\n# the end")
    return path


def assert_same_rows(X, expected):
    assert X.shape == expected.shape
    assert_array_equal(X.toarray(), expected.toarray())


# ------------------------------------------------------------------------------------------------------ whole files


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_a_file_reads_as_scikit_learn_reads_it(svm_file, dtype):
    X, y = read_svmlight(svm_file, dtype=dtype)
    expected, targets = load_svmlight_file(svm_file, dtype=dtype)
    assert isinstance(X, sparse.csr_array)
    assert (X.dtype, X.indices.dtype, X.indptr.dtype, y.dtype) == (dtype, np.int32, np.int32, np.float64)
    assert X.has_canonical_format
    assert_same_rows(X, expected)
    assert_array_equal(y, targets)


def test_n_features_is_the_width_and_the_limit(svm_file):
    assert read_svmlight(str(svm_file), n_features=1000)[0].shape == (523, 1000)
    assert read_svmlight(svm_file, n_features=2**40)[0].indices.dtype == np.int64
    with pytest.raises(ValueError, match=r'^data.svm, line \d+, column \d+: index "\d+" is beyond n_features=50.$'):
        read_svmlight(svm_file, n_features=50)


@pytest.mark.parametrize("zero_based", [False, True])
@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.int16])
@pytest.mark.parametrize("layout", [sparse.csr_array, sparse.coo_array, sparse.csc_matrix, lambda X: X.toarray()])
def test_what_is_written_reads_back(problem, tmp_path, layout, dtype, zero_based, monkeypatch):
    monkeypatch.setattr("thresher.streams._svmlight._VALUES_PER_WRITE", 1000)  # several writes
    X, y = problem
    X = (X * 100).astype(dtype)
    X.eliminate_zeros()
    write_svmlight(tmp_path / "out.svm", layout(X), y.astype(int), zero_based=zero_based)
    read, targets = read_svmlight(
        tmp_path / "out.svm", n_features=90, zero_based=zero_based, dtype=np.result_type(dtype, np.float32)
    )
    assert_same_rows(read, X)
    assert_array_equal(targets, y)
    peer, _ = load_svmlight_file(tmp_path / "out.svm", n_features=90, zero_based=zero_based)
    assert_array_equal(peer.toarray().astype(read.dtype), X.toarray())


def test_entries_stored_twice_are_written_as_their_sum(tmp_path):
    X = sparse.csr_array(([1.0, 2.0, 4.0], [1, 1, 0], [0, 3]), shape=(1, 2))
    write_svmlight(tmp_path / "out.svm", X, [0.5])
    assert (tmp_path / "out.svm").read_text() == "0.5 1:4 2:3\n"
    assert X.nnz == 3  # what was given is untouched


@pytest.mark.parametrize(
    "X, y, message",
    [
        ([[1.0, np.nan]], [1], "X must be finite"),
        (sparse.csr_array([[1.0, np.inf]]), [1], "X must be finite"),
        ([[1.0]], [np.nan], "y must be finite"),
        ([[1.0]], [1, 2], r"y must have shape \(1,\), one per row, got \(2,\)"),
        ([1.0], [1], "X must have 2 dimensions, got 1"),
        ([["a"]], [1], "X and y must be numbers"),
    ],
)
def test_what_cannot_be_read_back_is_refused_before_the_file_is_touched(tmp_path, X, y, message):
    with pytest.raises(ValueError, match=f"^write_svmlight: {message}"):
        write_svmlight(tmp_path / "out.svm", X, y)
    assert not (tmp_path / "out.svm").exists()


@pytest.mark.parametrize("read", [read_svmlight, open_stream])
def test_an_empty_file_is_refused(tmp_path, read):
    (tmp_path / "empty.svm").touch()
    with pytest.raises(ValueError, match=r"^empty.svm: the file is empty.$"):
        read(tmp_path / "empty.svm")
    with pytest.raises(FileNotFoundError):
        read(tmp_path / "missing.svm")


def test_a_file_of_comments_has_no_rows(tmp_path):
    (tmp_path / "a.svm").write_text("# nothing\n")
    with pytest.raises(ValueError, match=r"^a.svm: the file has no rows.$"):
        read_svmlight(tmp_path / "a.svm")
    assert list(open_stream(tmp_path / "a.svm")) == []


# ---------------------------------------------------------------------------------------------------------- streams


@pytest.mark.parametrize(
    "block", [16, 1000, 1 << 21]
)  # smaller than a line, smaller than a batch, larger than the file
@pytest.mark.parametrize("batch_size", [1, 64, 523, 10_000])
def test_batches_are_the_file_cut_into_pieces(problem, svm_file, batch_size, block, monkeypatch):
    monkeypatch.setattr(_source, "_BLOCK", block)
    stream = open_stream(svm_file, batch_size=batch_size, n_features=90)
    for _ in range(2):  # a stream can be read again
        batches = list(stream)
        assert [len(batch) for batch in batches] == [batch_size] * (523 // batch_size) + [523 % batch_size] * (
            523 % batch_size > 0
        )
        assert_same_rows(sparse.vstack([batch.X for batch in batches]), load_svmlight_file(svm_file, n_features=90)[0])
        assert_array_equal(np.concatenate([batch.y for batch in batches]), problem[1])
        assert stream.bytes_read == stream.n_bytes == svm_file.stat().st_size


def test_a_batch_says_where_it_stands_in_the_file(svm_file, monkeypatch):
    monkeypatch.setattr(_source, "_BLOCK", 500)
    text, begin = svm_file.read_bytes(), 0
    stream = open_stream(svm_file, batch_size=50)
    assert stream.start == Position(0, 0, 0, 1)
    for batch in stream:
        end = batch.position.offset
        part = text[begin:end]
        assert batch.path == svm_file
        assert batch.first_line == text[:begin].count(b"\n") + 1
        assert batch.position == (0, 0, end, len(text[:end].splitlines()) + 1, 0)
        assert stream.bytes_read == end
        expected, targets = load_svmlight_file(io.BytesIO(part))
        assert_same_rows(batch.X, expected)  # and as wide as its own largest column
        assert_array_equal(batch.y, targets)
        begin = end
    assert begin == len(text)
    assert stream.bytes_read == stream.n_bytes


def test_an_error_names_file_line_and_column(tmp_path):
    path = tmp_path / "data.svm"
    path.write_text("1 1:1 2:1\n" * 16 + "1 1:1 2:1 abc\n")
    message = r'^data.svm, line 17, column 11: expected "index:value", got "abc".$'
    with pytest.raises(ValueError, match=message):
        read_svmlight(path)
    batches = iter(open_stream(path, batch_size=5))
    assert [batch.first_line for batch in itertools.islice(batches, 3)] == [1, 6, 11]
    with pytest.raises(ValueError, match=message):
        next(batches)
    stream = open_stream(path, batch_size=5, skip_malformed=True)
    for _ in range(2):
        assert sum(len(batch) for batch in stream) == 16
        assert stream.n_skipped == 1


def test_memory_is_bounded_by_the_batch(tmp_path):
    text = ("1 " + " ".join(f"{j}:0.12345" for j in range(1, 100)) + "\n").encode() * 1000
    with open(tmp_path / "large.svm", "wb") as file:
        for _ in range(60):
            file.write(text)
    assert (tmp_path / "large.svm").stat().st_size > 50e6
    script = """if True:
        import resource, sys
        from thresher.streams import open_stream
        peak = lambda: resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        batches = iter(open_stream(sys.argv[1], batch_size=1000))
        for _ in range(3):
            next(batches)
        before = peak()
        print(sum(len(batch) for batch in batches), peak() - before)
    """
    done = subprocess.run(
        [sys.executable, "-c", script, tmp_path / "large.svm"], capture_output=True, text=True, check=True
    )
    n_rows, grown = map(int, done.stdout.split())
    assert n_rows == 57_000
    assert grown < 10_000  # kilobytes; the batches after the first hold 90 MB


# -------------------------------------------------------------------------------------------------------------- CSV


def csv_file(tmp_path, text, name="data.csv"):
    path = tmp_path / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


@pytest.mark.parametrize("block", [8, 1 << 21])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("suffix, delimiter", [(".csv", ","), (".TSV", "\t")])
def test_a_table_reads_as_the_csv_module_reads_it(tmp_path, dtype, suffix, delimiter, block, monkeypatch):
    monkeypatch.setattr(_source, "_BLOCK", block)
    rng = np.random.default_rng(3)
    table = rng.normal(size=(101, 5))
    path = tmp_path / f"data{suffix}"
    with open(path, "w", newline="") as file:
        writer = csv.writer(file, delimiter=delimiter)
        writer.writerow(["a", f"b{delimiter}b", 'c "quoted"', " d ", "größe"])
        writer.writerows(table.tolist())
    stream = open_stream(path, batch_size=10, target=f"b{delimiter}b", dtype=dtype)
    assert stream.feature_names == ["a", 'c "quoted"', "d", "größe"]
    batches = list(stream)
    assert [len(batch) for batch in batches] == [10] * 10 + [1]
    assert [batch.first_line for batch in batches] == list(range(2, 103, 10))
    assert all(isinstance(batch.X, Table) and batch.X.columns == stream.feature_names for batch in batches)
    assert_array_equal(np.vstack([batch.X.numbers for batch in batches]), np.delete(table, 1, axis=1).astype(dtype))
    assert_array_equal(np.concatenate([batch.y for batch in batches]), table[:, 1])
    assert all(batch.X.numbers.dtype == dtype and batch.y.dtype == np.float64 for batch in batches)
    assert batches[-1].position.offset == stream.bytes_read == stream.n_bytes


@pytest.mark.parametrize(
    "text, header, names, rows",
    [
        ("a,b\n1,2\n", "auto", ["a"], [[1]]),
        ("1,2\n3,4\n", "auto", None, [[1], [3]]),
        ("1,2\n3,4\n", False, None, [[1], [3]]),
        ("1,2\n3,4\n", True, ["1"], [[3]]),
        (",2\n3,4\n", "auto", None, [[np.nan], [3]]),
        ("\n  \na,b\n1,2", "auto", ["a"], [[1]]),
        (b"\xef\xbb\xbfa,b\r\n1,2\r\n", "auto", ["a"], [[1]]),
        (b"\xef\xbb\xbf1,2\n", "auto", None, [[1]]),
        (b"gr\xf6sse,b\n1,2\n", "auto", ["gr\xf6sse"], [[1]]),
        ("a,b", True, ["a"], []),
    ],
)
def test_a_first_line_without_a_number_is_a_header(tmp_path, text, header, names, rows):
    stream = open_stream(csv_file(tmp_path, text), header=header)
    assert stream.feature_names == names
    batches = list(stream)
    assert all(isinstance(batch.X, np.ndarray if names is None else Table) for batch in batches)
    assert_array_equal([row for batch in batches for row in np.asarray(batch.X)], rows)


def test_words_are_columns_of_text_and_welcome_as_targets(tmp_path):
    text = 'town,size,kind\nKöln,1,big\n"a, b",2,small\n,3,big\n'
    stream = open_stream(csv_file(tmp_path, text), batch_size=2)
    assert stream.feature_names == ["town", "size"]
    first, last = stream
    assert_array_equal(first.y, np.array(["big", "small"], dtype=object))
    assert first.y.dtype == last.y.dtype == object
    assert [*first.X["town"].to_list(), *last.X["town"].to_list()] == ["Köln", "a, b", ""]
    assert_array_equal(np.vstack([first.X.numbers, last.X.numbers]), [[1], [2], [3]])
    with pytest.raises(TypeError, match=r"^column 'town' holds text; encode it first"):
        np.asarray(first.X)


def test_no_target_no_y(tmp_path):
    (batch,) = open_stream(csv_file(tmp_path, "a,b\n1,2\n3,4\n"), target=None)
    assert batch.y is None
    assert_array_equal(batch.X.numbers, [[1, 2], [3, 4]])


@pytest.mark.parametrize("target, column", [(-1, 2), (0, 0), (1, 1), (-3, 0), ("b", 1), (np.int64(2), 2)])
def test_the_target_is_chosen_by_number_or_name(tmp_path, target, column):
    (batch,) = open_stream(csv_file(tmp_path, "a,b,c\n1,2,3\n4,5,6\n"), target=target)
    table = np.array([[1, 2, 3], [4, 5, 6]])
    assert_array_equal(batch.y, table[:, column])
    assert_array_equal(batch.X, np.delete(table, column, axis=1))


def test_a_large_whole_target_is_not_rounded_with_the_features(tmp_path):
    (batch,) = open_stream(csv_file(tmp_path, "0.5,16777217\n"), dtype=np.float32)
    assert batch.y[0] == 16777217


@pytest.mark.parametrize(
    "text, options, message",
    [
        ("a,b\n1,2\n", {"target": "c"}, r"^data.csv: target='c', but no column has this name; the columns are a, b.$"),
        ("a,b,a\n1,2,3\n", {"target": "a"}, r"^data.csv: target='a', but several columns have this name"),
        ("1,2\n", {"target": "a"}, r"^data.csv: target='a' is a name, but the file has no header"),
        ("1,2\n", {"target": 2}, r"^data.csv: target must be a column name or a number below 2, got 2.$"),
        ("1,2\n", {"target": True}, r"^data.csv: target must be a column name"),
        ("1\n2\n", {}, r"^data.csv: a target and at least one feature are needed"),
        ("1;2\n", {"delimiter": ","}, r"^data.csv: a target and at least one feature are needed"),
        ("1,2\n", {"n_features": 2}, r"^data.csv: n_features=2, but the file has 1 features.$"),
        ("1,2\n", {"header": "yes"}, r'^open_stream: header must be True, False or "auto", got \'yes\'.$'),
        ("1,2\n", {"delimiter": "::"}, r"^open_stream: delimiter must be one ASCII character"),
        ("1,2\n", {"zero_based": True}, r"^open_stream: zero_based is for svmlight files.$"),
        ("1,2\n", {"dtype": int}, r"^open_stream: dtype must be float32 or float64"),
        ("1,2\n", {"batch_size": 0}, r"^open_stream: batch_size must be an integer of at least 1, got 0.$"),
        ("1,2\n", {"format": "arff"}, r"^open_stream: format must be"),
        ('"a,b\n1,2\n', {}, r"^data.csv, line 1, field 1: the quote that opens here is not closed.$"),
        ("\n \n", {}, r"^data.csv: the file has no rows.$"),
        (
            "a,b\n" + "1,2\n" * 1000 + "1,x\n",
            {},
            r'^data.csv, line 1002, field 2: expected a number, got "x"; if this word stands for a missing value, name '
            r"it in missing; if this column holds text, name it in",
        ),
        ("a,b\n1,2\n1\n", {}, r"^data.csv, line 3: expected 2 fields, got 1.$"),
    ],
)
def test_what_cannot_be_a_table_is_refused_in_one_sentence(tmp_path, text, options, message):
    with pytest.raises(ValueError, match=message) as refusal:
        list(open_stream(csv_file(tmp_path, text), **options))
    assert str(refusal.value).count("\n") == 0
    assert str(refusal.value).endswith(".")


def test_the_format_is_told_by_the_suffix_the_user_or_the_first_line(tmp_path):
    for name in ("a.svm", "a.svmlight", "a.libsvm", "a.txt", "a.SVM", "a.dat", "a", "a.svm.2024"):
        (batch,) = open_stream(csv_file(tmp_path, "# comment\n\n-1\n1 qid:3 1:2 # more\n", name))
        assert_array_equal(batch.X.toarray(), [[0], [2]])
        assert_array_equal(batch.y, [-1, 1])
    for name in ("a.dat", "a", "a.txt"):
        (batch,) = open_stream(csv_file(tmp_path, "1;2\n", name))
        assert_array_equal(batch.X, [[1]])
    path = csv_file(tmp_path, "1;2\n", "a.dat")
    stream = open_stream(path, format="csv", delimiter=";")
    assert isinstance(stream, Stream)
    assert repr(stream) == "Stream('a.dat', batch_size=4096, n_bytes=4)"
    (batch,) = stream
    assert isinstance(batch, Batch)
    assert_array_equal(batch.X, [[1]])
    for options in ({"delimiter": ";"}, {"target": 0}, {"header": True}, {"text_columns": [0]}, {"drop": ["a"]}):
        ((name, value),) = options.items()
        said = rf"^a.dat: {re.escape(f'{name}={value!r}')} is for tables, but the format is svmlight[^.]*\.$"
        with pytest.raises(ValueError, match=said):
            open_stream(path, format="svmlight", **options)


@pytest.mark.parametrize(
    "text, from_zero",
    [
        ("1 1:5\n1 0:6\n", True),
        ("1 1:5\n1\t00:6\n", True),
        ("1 1:5 # at 0:6\n", False),
        ("# 0:6\n1 1:5\n", False),
        ("1 10:0 2:5\n", False),
    ],
)
def test_indices_count_from_zero_if_there_is_an_index_zero(tmp_path, text, from_zero):
    path = csv_file(tmp_path, text, "a.svm")
    assert_array_equal(
        next(iter(open_stream(path))).X.indices.max(), read_svmlight(path, zero_based=from_zero)[0].indices.max()
    )
    assert open_stream(path).layout() == {"zero_based": from_zero}
    if from_zero:
        with pytest.raises(ValueError, match=r"^a.svm, line 2, column"):
            list(open_stream(path, zero_based=False))


# ------------------------------------------------------------------------------------------------- borders and ends


@pytest.mark.parametrize("batch_size", [1, 2, 3, 4])
@pytest.mark.parametrize("end", ["", "\n", "\n\n\n", "\r\n", "\n# end", "\n \t\r\n"])
@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_the_end_of_a_file_makes_no_rows(tmp_path, batch_size, end, newline):
    path = csv_file(tmp_path, newline.join(["1 1:1", "2 2:1", "3 1:3"]) + end, "a.svm")
    stream = open_stream(path, batch_size=batch_size, n_features=2)
    batches = list(stream)
    assert [len(batch) for batch in batches] == {1: [1, 1, 1], 2: [2, 1], 3: [3], 4: [3]}[batch_size]
    assert_array_equal(np.concatenate([batch.y for batch in batches]), [1, 2, 3])
    assert_array_equal(np.vstack([batch.X.toarray() for batch in batches]), [[1, 0], [0, 1], [3, 0]])
    assert stream.bytes_read == stream.n_bytes == path.stat().st_size


@pytest.mark.parametrize("prefetch", [True, False])
def test_a_stream_can_be_read_twice_and_by_two_at_once(svm_file, prefetch):
    stream = open_stream(svm_file, batch_size=37, prefetch=prefetch)
    once = all_bits(stream)
    pairs = list(zip(stream, stream, strict=True))
    assert all_bits(first for first, _ in pairs) == all_bits(second for _, second in pairs) == once
    assert all_bits(stream) == once


def test_a_line_may_be_longer_than_any_block(tmp_path):
    n = 400_000
    line = "1 " + " ".join(f"{j}:1" for j in range(1, n + 1))
    assert len(line) > 3e6
    for name in ("a.svm", "a.dat"):  # the second is looked at to tell its format
        batches = list(open_stream(csv_file(tmp_path, f"{line}\n2 7:1\n", name), batch_size=1))
        assert [batch.X.nnz for batch in batches] == [n, 1]
        assert [batch.first_line for batch in batches] == [1, 2]
    names = ",".join(f"column{j:0250}" for j in range(9000))
    assert len(names) > 2 << 20
    row = ",".join(["0"] * 9000)
    (batch,) = open_stream(csv_file(tmp_path, f"{names}\n{row}\n{row}\n"))
    assert batch.X.shape == (2, 8999)
    assert batch.first_line == 2


def test_a_line_without_an_end_is_refused_before_memory_is_full(tmp_path, monkeypatch):
    monkeypatch.setattr(_source, "_LONGEST_LINE", 4 << 20)
    path = csv_file(tmp_path, b"1 1:1\n1 1:1\n" + b"1" * (12 << 20), "a.svm")
    batches = iter(open_stream(path, batch_size=1))
    assert [batch.first_line for batch in itertools.islice(batches, 2)] == [1, 2]
    with pytest.raises(ValueError, match=r"^a.svm, line 3: the line does not end within 4 MB.$"):
        next(batches)


def test_skipped_lines_are_counted_as_the_batches_come(tmp_path):
    path = csv_file(tmp_path, "1 1:1\nbad\n2 1:1\n3 1:1\nbad\nbad\n4 1:1\nbad\n", "a.svm")
    stream = open_stream(path, batch_size=2, skip_malformed=True)
    seen = [(batch.y.tolist(), batch.first_line, stream.n_skipped) for batch in stream]
    assert seen == [([1, 2], 1, 1), ([3, 4], 4, 3)]
    assert stream.n_skipped == 4  # one behind the last row


def test_what_is_no_file_is_refused_at_once(tmp_path):
    os.mkfifo(tmp_path / "pipe.svm")
    os.mkfifo(tmp_path / "pipe")
    for name in ("pipe.svm", "pipe"):
        with pytest.raises(ValueError, match=rf"^{name}: a pipe or device cannot be read"):
            open_stream(tmp_path / name)
    with pytest.raises(ValueError, match=r"^pipe.svm: a pipe or device cannot be read"):
        read_svmlight(tmp_path / "pipe.svm")
    (tmp_path / "folder").mkdir()
    with pytest.raises(ValueError, match=r"^folder: this is a folder, not a file of rows.$"):
        open_stream(tmp_path / "folder", format="csv")
    with pytest.raises(ValueError, match=r"^data.csv: documents are read from a folder"):
        open_stream(csv_file(tmp_path, "1,2\n"), format="documents")


@pytest.mark.parametrize(
    "options, message",
    [
        ({"max_iter": 0}, "max_iter must be an integer of at least 1, got 0."),
        ({"shuffle": -1}, "shuffle must be an integer of at least 0, got -1."),
        ({"random_state": -1}, "random_state must be an integer of at least 0, got -1."),
        ({"prefetch": 1}, "prefetch must be True or False, got 1."),
        ({"zero_based": "no"}, "zero_based must be None or True or False, got 'no'."),
        ({"skip_malformed": None}, "skip_malformed must be True or False, got None."),
        ({"text_columns": "a"}, "text_columns must be a list of column names or numbers, got 'a'."),
        ({"drop": 3}, "drop must be a list of column names or numbers, got 3."),
        ({"layout": []}, "layout must be None or the layout() of another stream, got []."),
        ({"n_features": 0}, "n_features must be None or an integer of at least 1, got 0."),
    ],
)
def test_a_wrong_argument_is_named(tmp_path, options, message):
    with pytest.raises(ValueError, match=f"^open_stream: {re.escape(message)}$"):
        open_stream(csv_file(tmp_path, "1,2\n"), **options)


def test_a_stream_is_read_in_another_way_without_opening_it_anew(tmp_path, monkeypatch):
    path = tmp_path / "data.csv"
    path.write_text("a,b,y\n" + "".join(f"{i},{i % 3},{i % 2}\n" for i in range(40)))
    stream = open_stream(path, batch_size=16)
    expected = [batch.y for batch in open_stream(path, batch_size=8, max_iter=2, shuffle=24, random_state=3)]
    monkeypatch.setattr("thresher.streams._files.read_head", None)  # nobody looks again
    other = stream.replace(batch_size=8, max_iter=2, shuffle=24, random_state=3)
    for batch, y in zip(other, expected, strict=True):
        assert_array_equal(batch.y, y)
    assert (other.n_bytes, other.layout(), other.columns) == (2 * stream.n_bytes, stream.layout(), ["a", "b", "y"])
    assert len(list(stream)) == 3  # as it was
    with pytest.raises(ValueError, match=r"^open_stream: max_iter must be an integer of at least 1, got 0.$"):
        stream.replace(max_iter=0)
