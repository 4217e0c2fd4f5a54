"""Several files as one stream: which ones, in which order, read alike, counted together."""

from __future__ import annotations

import itertools
import os
import re
import sys
import threading
from pathlib import Path

import numpy as np
import pyarrow
import pyarrow.parquet
import pytest

from stream_files import COMPRESSORS, all_bits, svmlight_text, write
from thresher.streams import Table, open_stream


def names_of(stream):
    return [path.name for path in stream.paths]


@pytest.fixture
def three(tmp_path):
    """1 + 2 + 3 rows with the targets 0 to 5."""
    targets = iter(range(6))
    return [
        write(tmp_path / f"{name}.svm", "".join(f"{y} {y + 1}:1\n" for y in itertools.islice(targets, n)))
        for name, n in (("x", 1), ("a", 2), ("m", 3))
    ]


# ------------------------------------------------------------------------------------------ which, and in what order


def test_a_list_is_read_in_its_order(three):
    for files in (three, tuple(three), iter(three), [str(path) for path in three]):
        stream = open_stream(files, batch_size=2)
        assert names_of(stream) == ["x.svm", "a.svm", "m.svm"]
        batches = list(stream)
        assert [batch.y.tolist() for batch in batches] == [[0], [1, 2], [3, 4], [5]]  # a batch ends with its file
        assert [batch.path.name for batch in batches] == ["x.svm", "a.svm", "m.svm", "m.svm"]
        assert [batch.first_line for batch in batches] == [1, 1, 1, 3]
        assert [batch.position.file for batch in batches] == [0, 1, 2, 2]
        assert stream.path == three[0]
    assert repr(stream) == "Stream(3 files, batch_size=2, n_bytes=36)"


def test_a_file_may_be_listed_twice(three):
    assert [batch.y.tolist() for batch in open_stream([three[1], three[0], three[1]])] == [[1, 2], [0], [1, 2]]


def test_patterns_match_in_natural_order(tmp_path):
    names = [
        "day2.svm",
        "day10.svm",
        "day1.svm",
        "day100.svm",
        "day01.svm",
        "dayb.svm",
        "day.svm",
        "day²3.svm",
        "day3²4.svm",
    ]
    for name in names:
        write(tmp_path / name, "1 1:1\n")
    write(tmp_path / "night1.svm", "1 1:1\n")
    found = names_of(open_stream(str(tmp_path / "day*.svm")))
    assert sorted(found) == sorted(names)
    numbered = [name for name in found if re.fullmatch(r"day\d+\.svm", name)]
    assert numbered == ["day01.svm", "day1.svm", "day2.svm", "day10.svm", "day100.svm"]


def test_patterns_may_reach_into_folders_of_numbers(tmp_path):
    for month, day in itertools.product([2, 10], [9, 11]):
        (tmp_path / f"{month}").mkdir(exist_ok=True)
        write(tmp_path / f"{month}" / f"{day}.svm", f"{month * 100 + day} 1:1\n")
    for pattern in ("*/*.svm", "**/*.svm", "[0-9]*/?*.svm"):
        targets = [batch.y.tolist() for batch in open_stream(str(tmp_path / pattern))]
        assert targets == [[209], [211], [1009], [1011]]


def test_a_file_whose_name_looks_like_a_pattern_is_that_file(tmp_path):
    write(tmp_path / "a[1].svm", "7 1:1\n")
    write(tmp_path / "a1.svm", "8 1:1\n")
    (batch,) = open_stream(str(tmp_path / "a[1].svm"))
    assert batch.y == [7]
    with pytest.raises(FileNotFoundError):
        open_stream(Path(tmp_path / "a*.svm"))  # a Path is a file, never a pattern


def test_what_is_not_there_is_told_before_anything_is_read(tmp_path, three):
    with pytest.raises(FileNotFoundError, match=r"^No file matches '.*none-\*\.svm'\.$"):
        open_stream(str(tmp_path / "none-*.svm"))
    with pytest.raises(FileNotFoundError, match=r"missing.svm: no such file\.$"):
        open_stream([*three, tmp_path / "missing.svm"])
    with pytest.raises(FileNotFoundError, match=r"missing.svm: no such file\.$"):
        open_stream(tmp_path / "missing.svm")
    with pytest.raises(ValueError, match=r"^open_stream: the list of files is empty\.$"):
        open_stream([])


def test_what_can_be_told_of_later_files_is_told_at_once(tmp_path, three):
    with pytest.raises(ValueError, match=r"^empty.svm: the file is empty\.$"):
        open_stream([*three, write(tmp_path / "empty.svm", "")])
    os.mkfifo(tmp_path / "pipe.svm")
    with pytest.raises(ValueError, match=r"^pipe.svm: a pipe or device cannot be read"):
        open_stream([*three, tmp_path / "pipe.svm"])
    (tmp_path / "folder").mkdir()
    with pytest.raises(ValueError, match=r"^folder: the folder holds no documents"):
        open_stream([*three, tmp_path / "folder"])


@pytest.mark.parametrize("prefetch", [True, False])
def test_a_malformed_line_names_its_file(three, prefetch):
    write(three[2], "3 1:1\n4 1:1\n5 1:x\n")
    batches = iter(open_stream(three, batch_size=1, prefetch=prefetch))
    assert [batch.y.tolist() for batch in itertools.islice(batches, 5)] == [[0], [1], [2], [3], [4]]
    with pytest.raises(ValueError, match=r"^m.svm, line 3, column 5: expected .*, got \"x\"\.$"):
        next(batches)


def test_plain_and_compressed_files_may_be_mixed(tmp_path):
    texts = [svmlight_text(10, seed) for seed in range(4)]
    files = [
        write(tmp_path / f"{i}.svm{suffix}", COMPRESSORS.get(suffix, bytes)(text))
        for i, (text, suffix) in enumerate(zip(texts, ["", *COMPRESSORS], strict=True))
    ]
    plain = [write(tmp_path / f"plain{i}.svm", text) for i, text in enumerate(texts)]
    mixed = all_bits(open_stream(files, batch_size=4))
    assert [b[:2] + b[3:] for b in mixed] == [b[:2] + b[3:] for b in all_bits(open_stream(plain, batch_size=4))]


# --------------------------------------------------------------------------------------------------------- read alike


def test_columns_are_found_by_name(tmp_path):
    files = [
        write(tmp_path / "1.csv", "a,b,word,kind\n1,2,x,yes\n3,,y,no\n"),
        write(tmp_path / "2.csv", "kind;extra;word;b;a\nyes;?;z;5;4\n"),  # reordered, one more, another delimiter
        write(tmp_path / "3.csv", "6,7,v,no\n"),  # no header: by place
    ]
    stream = open_stream(files)
    assert stream.feature_names == ["a", "b", "word"]
    batches = list(stream)
    assert all(isinstance(batch.X, Table) and batch.X.columns == ["a", "b", "word"] for batch in batches)
    assert [batch.X.text["word"].to_list() for batch in batches] == [["x", "y"], ["z"], ["v"]]
    assert [batch.y.tolist() for batch in batches] == [["yes", "no"], ["yes"], ["no"]]
    np.testing.assert_array_equal(np.vstack([b.X.numbers for b in batches]), [[1, 2], [3, np.nan], [4, 5], [6, 7]])
    assert [batch.first_line for batch in batches] == [2, 2, 1]


def test_a_column_that_the_first_file_has_must_be_there(tmp_path):
    files = [write(tmp_path / "1.csv", "a,b,y\n1,2,3\n"), write(tmp_path / "2.csv", "a,c,y\n1,2,3\n")]
    batches = iter(open_stream(files))
    assert next(batches).y == [3]
    with pytest.raises(ValueError, match=r"^2.csv: the column 'b' that the model needs is missing\.$"):
        next(batches)


def test_choices_hold_for_all_files(tmp_path):
    files = [
        write(tmp_path / "1.csv", "id,zip,a,y\n1,010,2,3\n"),
        write(tmp_path / "2.csv", "y,a,zip,id\n6,5,020,4\n"),
    ]
    stream = open_stream(files, target="a", drop=["id"], text_columns=["zip"], dtype=np.float32)
    first, second = stream
    assert first.X.columns == second.X.columns == stream.feature_names == ["zip", "y"]
    assert first.X.text["zip"].to_list() + second.X.text["zip"].to_list() == ["010", "020"]
    assert (first.X.numbers.tolist(), second.X.numbers.tolist()) == ([[3]], [[6]])
    assert (first.y, second.y) == ([2], [5])
    assert second.X.numbers.dtype == np.float32


def test_another_stream_can_be_opened_alike(tmp_path):
    learned = open_stream(write(tmp_path / "1.csv", "a,b,word,kind\n1,2,x,yes\n3,,y,no\n"))
    unlabelled = write(tmp_path / "2.csv", "word,b,a\n5,6,7\n")
    (batch,) = open_stream(unlabelled, layout=learned.layout())
    assert batch.y is None
    assert batch.X.columns == ["a", "b", "word"]
    assert batch.X.text["word"].to_list() == ["5"]
    assert batch.X.numbers.tolist() == [[7, 6]]


def test_svmlight_files_count_as_the_first_one_does(tmp_path):
    files = [write(tmp_path / "1.svm", "1 0:1 2:1\n"), write(tmp_path / "2.svm", "1 1:1\n")]
    assert [batch.X.indices.tolist() for batch in open_stream(files)] == [[0, 2], [1]]
    with pytest.raises(ValueError, match=r"^1.svm, line 1, column 3: "):
        list(open_stream(files[::-1]))
    assert [b.X.indices.tolist() for b in open_stream(files[1], layout=open_stream(files[0]).layout())] == [[1]]


def test_tables_of_other_formats_may_be_mixed(tmp_path):
    write(tmp_path / "1.csv", "a,word,kind\n1,x,yes\n")
    pyarrow.parquet.write_table(
        pyarrow.table({"kind": ["no"], "more": [9], "word": ["y"], "a": [2]}), tmp_path / "2.parquet"
    )
    for order in ([0, 1], [1, 0]):
        files = [[tmp_path / "1.csv", tmp_path / "2.parquet"][i] for i in order]
        batches = list(open_stream(files, target="kind", drop=[] if order[0] == 0 else ["more"]))
        assert [batch.y.tolist() for batch in batches] == [[["yes"], ["no"]][i] for i in order]
        assert [batch.X["a"].tolist() for batch in batches] == [[[1], [2]][i] for i in order]
        assert [batch.X["word"].to_list() for batch in batches] == [[["x"], ["y"]][i] for i in order]
        assert len({tuple(batch.X.columns) for batch in batches}) == 1


def test_what_cannot_be_read_alike_is_refused(tmp_path):
    svm = write(tmp_path / "a.svm", "1 1:1\n")
    csv = write(tmp_path / "a.csv", "a,b\n1,2\n")
    pyarrow.parquet.write_table(pyarrow.table({"a": [1], "b": [2]}), tmp_path / "a.parquet")
    (tmp_path / "texts").mkdir()
    write(tmp_path / "texts" / "1", "hello")
    for files in (
        [svm, csv],
        [svm, tmp_path / "a.parquet"],
        [svm, tmp_path / "texts"],
        [csv, svm],
        [csv, tmp_path / "texts"],
        [tmp_path / "texts", svm],
    ):
        batches = iter(open_stream(files))
        assert len(next(batches)) == 1
        with pytest.raises(
            ValueError,
            match=rf"^{files[1].name}: the format is \w+, but (a )?\w+ is needed, as in the files read before",
        ):
            next(batches)


def test_files_without_rows_are_passed_over(tmp_path):
    texts = ["a,b,y\n", "a,b,y\n1,2,3\n", "b,a,y\n", "y,b,a\n6,5,4\n", "a,b,y"]
    files = [write(tmp_path / f"{i}.csv", text) for i, text in enumerate(texts)]
    stream = open_stream(files)
    assert stream.feature_names == ["a", "b"]
    assert [(batch.X.numbers.tolist(), batch.y.tolist()) for batch in stream] == [([[1, 2]], [3]), ([[4, 5]], [6])]
    assert stream.bytes_read == stream.n_bytes == sum(map(len, texts))


# --------------------------------------------------------------------------------------------------- counted together


@pytest.mark.parametrize("max_iter", [1, 3])
@pytest.mark.parametrize("prefetch", [True, False])
def test_progress_never_goes_back_and_ends_at_the_end(tmp_path, prefetch, max_iter):
    files = [
        write(tmp_path / f"{i}.svm{s}", COMPRESSORS.get(s, bytes)(svmlight_text(20, i)))
        for i, s in enumerate(["", ".gz"] * 2)
    ]
    for shuffle in (0, 8):
        stream = open_stream(files, batch_size=3, max_iter=max_iter, prefetch=prefetch, shuffle=shuffle)
        assert stream.n_bytes == max_iter * sum(path.stat().st_size for path in files)
        assert stream.bytes_read == 0
        seen = [stream.bytes_read for _ in stream]
        assert seen == sorted(seen)
        assert 0 < seen[0] < files[0].stat().st_size
        assert seen[-1] <= stream.bytes_read == stream.n_bytes


def test_passes_follow_one_another(three):
    stream = open_stream(three, batch_size=10, max_iter=3)
    batches = list(stream)
    assert [batch.y.tolist() for batch in batches] == [[0], [1, 2], [3, 4, 5]] * 3
    assert [batch.position[:2] for batch in batches] == [(n, file) for n in range(3) for file in range(3)]


def test_skipped_lines_of_all_files_and_passes_are_counted(tmp_path):
    texts = ["1 1:1\nbad\n", "bad\nbad\n", "2 1:1\n", "3 1:1\nbad"]
    files = [write(tmp_path / f"{i}.svm", text) for i, text in enumerate(texts)]
    stream = open_stream(files, batch_size=1, max_iter=2, skip_malformed=True)
    seen = [(batch.y.tolist(), stream.n_skipped) for batch in stream]
    assert seen == [([1], 0), ([2], 3), ([3], 3), ([1], 4), ([2], 7), ([3], 7)]
    assert stream.n_skipped == 8
    assert stream.bytes_read == stream.n_bytes
    assert len(list(stream)) == 6  # and anew
    assert stream.n_skipped == 8


@pytest.fixture
def hasty_threads():
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(before)


@pytest.mark.usefixtures("hasty_threads")
def test_iterators_in_many_threads_do_not_disturb_each_other(tmp_path):
    files = [write(tmp_path / f"{i}.csv", f"a,b\n{i},1\n{i},2\n") for i in range(12)]
    stream = open_stream(files, batch_size=1, max_iter=3)
    expected = all_bits(stream)
    found = []

    def read():
        try:
            found.append(all_bits(stream) == expected)
        except BaseException as error:
            found.append(error)

    threads = [threading.Thread(target=read) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [True] * 8
