"""JSON lines, spreadsheets and folders of tables; what is none of them is refused by what it is."""

from __future__ import annotations

import datetime
import gzip
import io
import json
import re
import time
import zipfile

import numpy as np
import openpyxl
import pandas as pd
import pyarrow as pa
import pyarrow.parquet
import pytest
from numpy.testing import assert_array_equal

from stream_files import write
from thresher.online import AROWClassifier
from thresher.streams import open_stream
from thresher.training import train


def only(stream):
    (batch,) = stream
    return batch


# ---------------------------------------------------------------------------------------------------------- JSON lines


def test_keys_are_columns_and_missing_keys_missing_values(tmp_path):
    path = write(
        tmp_path / "a.jsonl",
        '{"n": 1, "t": "x", "b": true, "in": {"side": 2, "word": "u"}, "when": "2024-02-29", "y": "no"}\n'
        '\n{"t": null, "in": {"side": 2.5}, "y": "yes", "new": 3}\n{"n": 1.5, "y": "no"}',
    )
    stream = open_stream(path, target="y", drop=["new"])
    assert stream.columns == ["n", "t", "b", "in.side", "in.word", "when", "y", "new"]
    assert stream.layout()["kinds"] == "ntnntd"
    batch = only(stream)
    nan = np.nan
    assert_array_equal(batch.X.numbers, [[1, 1, 2, 19782], [nan, nan, 2.5, nan], [1.5, nan, nan, nan]])
    assert batch.X["in.word"].to_list() == ["u", "", ""]
    assert batch.y.tolist() == ["no", "yes", "no"]
    assert [len(b) for b in open_stream(path, target="y", batch_size=2)] == [2, 1]


def test_fractions_and_values_may_come_late(tmp_path):
    """The types are found in the first two megabytes."""
    lines = [f'{{"a": {7 * i % 1000}, "b": null, "y": {i % 2}}}\n' for i in range(90_000)]
    path = write(tmp_path / "late.jsonl.gz", gzip.compress("".join([*lines, '{"a": 0.5, "b": 2, "y": 1}\n']).encode()))
    batches = list(open_stream(path, batch_size=30_000))
    assert [len(batch) for batch in batches] == [30_000, 30_000, 30_000, 1]
    assert batches[-1].X.numbers.tolist() == [[0.5, 2]]
    again = list(open_stream(path, batch_size=30_000).batches(batches[1].position))
    assert_array_equal(again[0].X.numbers, batches[2].X.numbers)


def test_text_that_looks_like_dates_or_numbers_can_stay_text(tmp_path):
    path = write(tmp_path / "a.jsonl", '{"d": "2024-01-01", "n": 7, "y": 1}\n{"d": "soon", "n": 8, "y": 0}\n')
    with pytest.raises(ValueError, match=r"neither numbers, dates nor text"):
        open_stream(write(tmp_path / "l.jsonl", '{"d": [1], "y": 1}\n'))
    batch = only(open_stream(path, text_columns=["d", "n"]))
    assert (batch.X["d"].to_list(), batch.X["n"].to_list()) == (["2024-01-01", "soon"], ["7", "8"])


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('[{"a": 1, "y": 2}]', "one object on each line, but the first line is not an object"),
        ('{"a": 1, "y": 2}\n{"a": 1, "y": \n', r"line 2: not readable as JSON \("),
        (
            '{"a": 1, "y": 2}\n\n{"a": "x", "y": 1}\n',
            r"line 3: not readable as JSON \(Column\(/a\) changed from number to",
        ),
        ('{"a": 1, "y": 2} {"a": 1, "y": 2}\n', "line 1: not readable as JSON .a line has several objects"),
        ('{"a": {"b": {"c": 1}}, "y": 2}\n', r"column 'a.b' is of type struct<c: int64>"),
        ('{"a": {"b": 1}, "a.b": 2, "y": 2}\n', "several columns have the same name"),
    ],
)
def test_lines_that_cannot_be_read_are_named(tmp_path, text, message):
    path = write(tmp_path / "a.json", text)
    with pytest.raises(ValueError, match=message):
        list(open_stream(path))


def test_malformed_lines_are_skipped_and_counted(tmp_path):
    good = '{"a": 1, "y": 2}\n' * 200_000  # beyond the first look
    path = write(tmp_path / "a.jsonl", good + 'no\n{"a": "x", "y": 1}\n{"a": 3, "y": 1}\n')
    with pytest.raises(ValueError, match=r"^a.jsonl, line 200001: not readable as JSON"):
        list(open_stream(path, batch_size=100_000))
    stream = open_stream(path, batch_size=100_000, skip_malformed=True)
    assert [len(batch) for batch in stream] == [100_000, 100_000, 1]
    assert stream.n_skipped == 2


# -------------------------------------------------------------------------------------------------------- spreadsheets


def sheet(path, *rows):
    book = openpyxl.Workbook()
    for row in rows:
        book.active.append(row)
    book.save(path)
    return path


def test_cells_have_types(tmp_path):
    when = datetime.datetime(2024, 2, 29, 12)
    path = sheet(
        tmp_path / "a.xlsx",
        ["n", "t", "when", "at", "mixed", "n", "y"],
        [1, "x", when, datetime.time(18, 30), 3, True, "no"],
        [2.5, None, when.date(), None, "three", False, "yes"],
        [None] * 7,
        ["n/a", "01234", None, None, None, 1, "no"],
    )
    stream = open_stream(path)
    assert stream.feature_names == ["n", "t", "when", "at", "mixed", "n_2"]
    assert stream.layout()["kinds"] == "ntdntn"
    batch, nan = only(stream), np.nan
    assert_array_equal(batch.X.numbers, [[1, 19782.5, 18.5, 1], [2.5, 19782, nan, 0], [nan, nan, nan, 1]])
    assert batch.X["t"].to_list() == ["x", "", "01234"]
    assert batch.X["mixed"].to_list() == ["3", "three", ""]
    assert batch.y.tolist() == ["no", "yes", "no"]


def test_a_sheet_without_names(tmp_path):
    path = sheet(tmp_path / "a.xlsx", [1, 2.0, "no"], [3, 4.0, "yes"])
    batch = only(open_stream(path))
    assert (batch.X.columns, batch.X.numbers.tolist()) == (["x1", "x2"], [[1, 2], [3, 4]])
    with pytest.raises(ValueError, match=r"^b.xlsx: the sheet 'Sheet' is empty\.$"):
        open_stream(sheet(tmp_path / "b.xlsx"))
    with pytest.raises(ValueError, match=r"^c.xlsx: not a readable spreadsheet \(.*\)\.$"):
        open_stream(write(tmp_path / "c.xlsx", b"PK\3\4 and nothing"))


# ------------------------------------------------------------------------------------------------------------- folders


@pytest.fixture
def frame():
    rng = np.random.default_rng(0)
    X = pd.DataFrame(
        {"a": rng.normal(size=40).round(3), "year": np.repeat([2023, 2024], 20), "town": ["Köln", "Gent"] * 20}
    )
    X["y"] = np.where(X["a"] > 0, "yes", "no")
    return X


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('{"a": 1, "y": 0}{"a": 2, "y": 1}\n\n{"a": 3, "y": 0}\n', "line 1: not readable as JSON (a line has several"),
        ('{"a": 1, "y": 0}\n{"a": 2,\n"y": 1}\n', "line 2: not readable as JSON (Missing a name for object member"),
        (
            '{"a": 1, "y": 0}\n' * 20_000 + '{"a": "x", "y": 0}\n',
            "line 20001: not readable as JSON (Column(/a) changed",
        ),
        (
            '{"a": ' + "[" * 20_000 + "]" * 20_000 + ', "y": 0}\n',
            "line 1: not readable as JSON (more than 100 nested objects",
        ),
        ('{"y": 0}\n{"a":\n' + "[\n" * 20_000, "line 2: not readable as JSON (Invalid value"),
        (b'{"a": 1, "y": 0}\n{"\xc3(": 2, "y": 1}\n', "line 2: not readable as JSON (Invalid encoding in string"),
    ],
    ids=["two objects", "half an object", "late text", "deep", "deep over lines", "a name in no encoding"],
)
@pytest.mark.parametrize("batch_size", [1, 4096])
def test_objects_that_are_no_lines_are_refused_in_batches_of_any_size(tmp_path, text, said, batch_size):
    path = write(tmp_path / "a.jsonl", text)
    begin = time.process_time()
    with pytest.raises(ValueError, match=re.escape(f"a.jsonl, {said}")):
        list(open_stream(path, batch_size=batch_size, prefetch=False))
    assert time.process_time() - begin < 5


def test_brackets_in_strings_are_no_lists(tmp_path):
    texts = ["[" * 300, '\\"' + "{" * 300, "\\\\"]
    lines = [json.dumps({"a": i, "note": text, "y": i % 2}) for i, text in enumerate(texts * 2)]
    (batch,) = open_stream(write(tmp_path / "a.jsonl", "\n".join(lines)), text_columns=["note"])
    assert batch.X.text["note"].to_list() == texts * 2


@pytest.mark.parametrize("suffix", ["parquet", "csv", "json"])
def test_folders_of_keys_add_columns_in_front(tmp_path, frame, suffix):
    folder = tmp_path / "table"
    for (year, town), part in frame.groupby(["year", "town"], sort=True):
        place = folder / f"year={year}" / f"town={town}"
        place.mkdir(parents=True)
        rest = part[["a", "y"]]
        if suffix == "parquet":
            rest.to_parquet(place / "part-0.parquet")
        elif suffix == "csv":
            rest.to_csv(place / "part-0.csv", index=False)
        else:
            rest.to_json(place / "part-0.json", orient="records", lines=True, double_precision=15)
    write(folder / "_SUCCESS", "")
    stream = open_stream(folder)
    assert stream.columns == ["year", "town", "a", "y"]
    assert stream.feature_names == ["year", "town", "a"]
    assert (stream.layout()["kinds"], stream.layout()["target"]) == ("ntn", "y")
    sorted_ = frame.sort_values(["year", "town"], kind="stable")
    batches = list(stream)
    assert len(batches) == 4
    assert np.concatenate([batch.y for batch in batches]).tolist() == sorted_["y"].tolist()
    for name in ("year", "a"):
        assert_array_equal(np.concatenate([batch.X[name] for batch in batches]), sorted_[name])
    assert [text for batch in batches for text in batch.X["town"]] == sorted_["town"].tolist()
    assert_array_equal(next(stream.batches(batches[1].position)).X["a"], batches[2].X["a"])
    flat = tmp_path / "flat.csv"
    frame[["town", "year", "a"]].to_csv(flat, index=False)
    assert only(open_stream(flat, layout=stream.layout())).X.columns == ["year", "town", "a"]
    flat = open_stream(write(tmp_path / "small.csv", "a,town,y\n1,Gent,no\n2,Köln,yes\n")).layout()
    assert next(iter(open_stream(folder, layout=flat))).X.columns == ["a", "town"]
    target = open_stream(folder, target="town", drop=["y", 0])
    assert target.feature_names == ["a"]
    assert {label for batch in target for label in batch.y} == {"Köln", "Gent"}
    assert open_stream(folder, text_columns=["year"]).layout()["kinds"] == "ttn"
    assert open_stream(folder, target=2).layout()["target"] == "a"


def test_keys_may_be_dates_or_missing(tmp_path):
    for day in ("2024-02-29", "1970-01-02", "__HIVE_DEFAULT_PARTITION__"):
        (tmp_path / "t" / f"day={day}").mkdir(parents=True)
        write(tmp_path / "t" / f"day={day}" / "part.csv", "1,2,0\n3,4,1\n")
    stream = open_stream(tmp_path / "t")
    batches = list(stream)
    assert batches[0].X.dates == ("day",)
    assert_array_equal([batch.X["day"][0] for batch in batches], [1, 19782, np.nan])
    assert_array_equal(batches[0].X.numbers, [[1, 1, 2], [1, 3, 4]])
    again = list(open_stream(tmp_path / "t", layout=stream.layout()))
    assert_array_equal(again[0].X.numbers, batches[0].X.numbers)


def test_a_folder_of_parts_without_a_header_is_one_table(tmp_path):
    (tmp_path / "out").mkdir()
    for i in (10, 2):
        write(tmp_path / "out" / f"part-{i}.csv", f"{i},1,0\n{i},2,1\n")
    assert [batch.X[:, 0].tolist() for batch in open_stream(tmp_path / "out")] == [[2, 2], [10, 10]]


def test_folders_of_anything_else_are_refused(tmp_path):
    folder = tmp_path / "mixed"
    (folder / "sub").mkdir(parents=True)
    pa.parquet.write_table(pa.table({"a": [1]}), folder / "a.parquet")
    write(folder / "sub" / "b.csv", "1,2\n")
    with pytest.raises(ValueError, match=r"^mixed: the folder holds files of several kinds \(1 .* and 1 .*\); name"):
        open_stream(folder)
    (tmp_path / "keys" / "a=1").mkdir(parents=True)
    write(tmp_path / "keys" / "a=1" / "b.csv", "1,2\n")
    write(tmp_path / "keys" / "b.csv", "1,2\n")
    with pytest.raises(ValueError, match=r"^keys: all files must be in folders with the same keys"):
        open_stream(tmp_path / "keys")
    (tmp_path / "photos" / "cats").mkdir(parents=True)
    write(tmp_path / "photos" / "cats" / "1.jpg", b"\xff\xd8\xff\xe0\0\x10JFIF\0" + bytes(range(256)))
    with pytest.raises(ValueError, match=r"^1\.jpg: the file is a JPEG image, not a document\.$"):
        open_stream(tmp_path / "photos")


# -------------------------------------------------------------------------------------------------------- binary files


def zipped():
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("a.csv", "1,2\n")
    return file.getvalue()


BINARY = {
    "a PNG image": b"\x89PNG\r\n\x1a\n" + b"\0\0\0\rIHDR",
    "a JPEG image": b"\xff\xd8\xff\xe0\0\x10JFIF",
    "a GIF image": b"GIF89a\1\0\1\0",
    "a PDF document": b"%PDF-1.7\n1 0 obj\n",
    "a program": b"\x7fELF\2\1\1\0",
    "a SQLite database": b"SQLite format 3\0",
    "a NumPy array": b"\x93NUMPY\1\0v\0",
    "a pickle": b"\x80\x04\x95\x10\0\0\0\0\0\0\0.",
    "binary": b"1,2\n3,\0\0\0\0\0\n",
}


@pytest.mark.parametrize("name", ["data", "data.csv", "data.jsonl", "data.txt"])
@pytest.mark.parametrize("what", BINARY)
def test_binary_files_are_never_taken_for_tables(tmp_path, what, name):
    path = write(tmp_path / name, BINARY[what] * 3)
    with pytest.raises(ValueError, match=rf"^{name}: the file is {what}, not a table in a format that can be read\.$"):
        open_stream(path)


def test_zip_archives_are_no_spreadsheets(tmp_path):
    with pytest.raises(ValueError, match="zip archives are not read"):
        open_stream(write(tmp_path / "data", zipped()))


# ----------------------------------------------------------------------------------------------- rows that come once


def test_rows_that_come_once_need_their_classes_and_cannot_be_resumed(tmp_path):
    table = pa.table({"a": [1.0, -1.0] * 10, "y": ["u", "v"] * 10})
    with pytest.raises(
        ValueError,
        match=r"^train: classes must be given, because the rows of <RecordBatchReader> can be read only once",
    ):
        train(AROWClassifier(), open_stream(table.to_reader()))
    with pytest.raises(
        ValueError, match=r"^train: resume must be False, because <RecordBatchReader> may return different rows"
    ):
        train(AROWClassifier(), open_stream(table.to_reader()), classes=["u", "v"], resume=True)
    run = train(AROWClassifier(), open_stream(table.to_reader()), classes=["u", "v"])
    assert run.model.feature_names_in_.tolist() == ["a"]
    assert run.facts.n_rows == 20


def test_batches_must_have_one_form():
    with pytest.raises(ValueError, match=r"^<batches>: the batch from row 2 on has no column 'a'\.$"):
        list(open_stream([pa.table({"a": [1], "y": [1]}), pa.table({"b": [1], "y": [1]})]))
    with pytest.raises(
        ValueError, match=r"^<batches>: the column 'a' must be of one type, but is string from row 2 on"
    ):
        list(open_stream([pa.table({"a": [1], "y": [1]}), pa.table({"a": ["x"], "y": [1]})]))
    mixed = open_stream([pa.table({"a": [1], "y": [1]}), pd.DataFrame({"a": [0.5], "y": [2]})])
    assert only(mixed).X.numbers.tolist() == [[1], [0.5]]
    with pytest.raises(ValueError, match=r"^open_stream: batches must be data frames or record batches .*, got int\.$"):
        open_stream(iter([1, 2]))
    with pytest.raises(ValueError, match=r"^<batches>: there are no rows\.$"):
        open_stream(iter([]))
    with pytest.raises(ValueError, match=r"^open_stream: either path or sql must be given"):
        open_stream()


@pytest.mark.parametrize(("option", "value"), [("dtype", ","), ("encoding", "\0")])
def test_options_that_python_reads_in_its_own_way_are_refused_in_ours(tmp_path, option, value):
    with pytest.raises(ValueError, match=f"^open_stream: {option} must be"):
        open_stream(write(tmp_path / "a.csv", "a,y\n1,2\n"), **{option: value})


def test_malformed_json_is_skipped_from_the_first_lines_on(tmp_path):
    stream = open_stream(write(tmp_path / "a.jsonl", '{"a": 1, "y": 0}\nno\n{"a": 2, "y": 1}\n'), skip_malformed=True)
    assert_array_equal(only(stream).y, [0, 1])
    assert stream.n_skipped == 1
