"""Parquet and Arrow files: numbers and text by their types, the same rows as from CSV."""

from __future__ import annotations

import decimal
import re
import subprocess
import sys

import numpy as np
import pandas
import polars
import pyarrow as pa
import pyarrow.csv
import pyarrow.feather
import pyarrow.ipc
import pyarrow.parquet
import pytest
from numpy.testing import assert_array_equal

from stream_files import all_bits, csv_text, rows_of, write
from thresher.streams import Table, _arrow_files, has_target, open_stream


def write_ipc(open_writer):
    def write_rows(rows, path, n=9):
        with open_writer(path, rows.schema) as writer:
            writer.write_table(rows, n)

    return write_rows


WRITERS = {
    "parquet": (".parquet", lambda rows, path: pa.parquet.write_table(rows, path, row_group_size=9)),
    "parquet, no dictionaries": (
        ".pq",
        lambda rows, path: pa.parquet.write_table(
            rows, path, row_group_size=50, use_dictionary=False, compression="gzip"
        ),
    ),
    "arrow file": (".arrow", write_ipc(pa.ipc.new_file)),
    "arrow stream": (".ipc", write_ipc(pa.ipc.new_stream)),
    "feather": (".feather", lambda rows, path: pa.feather.write_feather(rows, path, chunksize=9)),
    "feather, compressed": (".feather", lambda rows, path: pa.feather.write_feather(rows, path, "zstd", chunksize=20)),
}


@pytest.fixture(params=WRITERS)
def save(request, tmp_path):
    suffix, write_rows = WRITERS[request.param]

    def save(rows, name="data"):
        path = tmp_path / f"{name}{suffix}"
        write_rows(rows if isinstance(rows, pa.Table) else pa.table(rows), path)
        return path

    return save


def read_csv(text):
    return pa.csv.read_csv(pa.py_buffer(text), parse_options=pa.csv.ParseOptions(newlines_in_values=True))


# ------------------------------------------------------------------------------------------------------ the same rows


@pytest.mark.parametrize("options", [{}, {"target": None, "dtype": np.float32}, {"drop": ["note"], "target": "width"}])
@pytest.mark.parametrize("batch_size", [1, 9, 10, 50, 1000])
def test_rows_are_those_of_the_csv_file(tmp_path, save, batch_size, options, monkeypatch):
    monkeypatch.setattr(_arrow_files, "ROWS_AT_ONCE", 7)
    rows = read_csv(csv_text(58))
    if options.get("target") == "width":
        rows = rows.filter(pa.compute.is_valid(rows["width"]))
    pa.csv.write_csv(rows, tmp_path / "data.csv")
    path = save(rows)
    stream = open_stream(path, batch_size=batch_size, **options)
    expected = open_stream(tmp_path / "data.csv", batch_size=batch_size, **options)
    assert stream.feature_names == expected.feature_names
    batches = list(stream)
    assert [b[:2] for b in all_bits(batches)] == [b[:2] for b in all_bits(expected)]
    firsts = [1 + i * batch_size for i in range(len(batches))]
    assert [batch.first_line for batch in batches] == firsts
    assert [batch.position for batch in batches] == [(0, 0, n - 1, n, 0) for n in [*firsts[1:], len(rows) + 1]]
    assert stream.bytes_read == stream.n_bytes == path.stat().st_size


def test_every_kind_of_number_is_a_number(save):
    columns = {
        "int8": pa.array([1, -2, None], pa.int8()),
        "uint64": pa.array([2**64 - 1, 0, None], pa.uint64()),
        "int64": pa.array([2**53 + 1, -(2**60) - 1, 3]),  # rounded as text is
        "float16": pa.array(np.array([0.5, 1, 2], np.float16)),
        "float32": pa.array([0.1, None, np.nan], pa.float32()),
        "float64": pa.array([0.1, None, -0.0]),
        "bool": pa.array([True, False, None]),
        "decimal": pa.array([decimal.Decimal("1.25"), None, decimal.Decimal("-3.00")]),
        "codes": pa.array([7, 7, None]).dictionary_encode(),
        "nothing": pa.nulls(3),
        "y": pa.array([True, False, True]),
    }
    table = pa.table(columns)
    path = save(table.cast(table.schema))
    (batch,) = open_stream(path)
    assert batch.X.columns == list(columns)[:-1]
    assert batch.X.text == {}
    expected = [
        [1, -2, np.nan],
        [2.0**64, 0, np.nan],
        [float(2**53 + 1), float(-(2**60) - 1), 3],
        [0.5, 1, 2],
        [np.float32(0.1), np.nan, np.nan],
        [0.1, np.nan, -0.0],
        [1, 0, np.nan],
        [1.25, np.nan, -3],
        [7, 7, np.nan],
        [np.nan] * 3,
    ]
    assert_array_equal(batch.X.numbers, np.array(expected).T)
    assert_array_equal(batch.y, [1.0, 0.0, 1.0])
    assert batch.y.dtype == np.float64
    batch.y[:] = 0  # one's own to change, as from other files
    batch.X.numbers[:] = 0


@pytest.mark.parametrize(
    "kind", [pa.string(), pa.large_string(), pa.string_view(), pa.dictionary(pa.int8(), pa.string())]
)
def test_every_kind_of_text_is_text(tmp_path, kind):
    words, path = ["Köln", None, "", "a\nb", "x" * 100], tmp_path / "a.arrow"
    for values in (words, list("uvwxy")):
        table = pa.table({"word": pa.array(values).cast(kind), "x": range(5), "y": pa.array(list("abcde")).cast(kind)})
        for n, batch_size in ((2, 3), (5, 2), (5, 5)):
            write_ipc(pa.ipc.new_file)(table, path, n)
            batches = list(open_stream(path, batch_size=batch_size))
            assert [word for batch in batches for word in batch.X["word"].to_list()] == [word or "" for word in values]
            assert [y for batch in batches for y in batch.y] == list("abcde")
            assert all(batch.y.dtype == object for batch in batches)


def test_a_missing_text_is_empty_whatever_lies_beneath(tmp_path):
    buffers = [pa.py_buffer(b"\x05"), pa.py_buffer(np.array([0, 1, 4, 5], np.int32)), pa.py_buffer(b"abbbc")]
    word = pa.StringArray.from_buffers(3, buffers[1], buffers[2], buffers[0])  # the second one is missing
    assert word.to_pylist() == ["a", None, "c"]
    write_ipc(pa.ipc.new_file)(pa.table({"word": word, "y": [1, 2, 3]}), tmp_path / "a.arrow")
    (batch,) = open_stream(tmp_path / "a.arrow")
    assert batch.X["word"].to_list() == ["a", "", "c"]


def test_text_columns_are_text_whatever_their_type(save):
    path = save({"zip": [1000, 2000, None], "flag": [True, None, False], "x": [1.0, 2.0, 3.0], "y": [0, 1, 0]})
    (batch,) = open_stream(path, text_columns=["zip", 1])
    assert batch.X["zip"].to_list() == ["1000", "2000", ""]
    assert batch.X["flag"].to_list() == ["true", "", "false"]
    assert batch.X.numbers.tolist() == [[1], [2], [3]]


def test_what_pandas_and_polars_write_is_read(tmp_path):
    frame = pandas.DataFrame({"a": [1.5, 2.5], "s": ["u", None], "c": pandas.Categorical(["p", "q"]), "y": [0, 1]})
    frame.to_parquet(tmp_path / "pandas.parquet")
    frame.set_index(pandas.Index([4, 4])).to_parquet(
        tmp_path / "index.parquet"
    )  # with a column for the index behind all others
    frame.to_feather(tmp_path / "pandas.feather")
    other = polars.DataFrame(
        {"a": [1.5, 2.5], "s": ["u", None], "c": polars.Series(["p", "q"], dtype=polars.Categorical), "y": [0, 1]}
    )
    other.write_parquet(tmp_path / "polars.parquet")
    other.write_ipc(tmp_path / "polars.arrow")
    for name in ("pandas.parquet", "pandas.feather", "polars.parquet", "polars.arrow", "index.parquet"):
        stream = open_stream(tmp_path / name)
        assert stream.feature_names == ["a", "s", "c"]
        rows = rows_of(stream)
        assert sorted(rows) == ["((1.5, 'u', 'p'), 0.0)", "((2.5, '', 'q'), 1.0)"]


def test_the_first_bytes_tell_the_format(tmp_path):
    table = pa.table({"a": [1], "y": [2]})
    pa.parquet.write_table(table, tmp_path / "a.data")
    pa.feather.write_feather(table, tmp_path / "b")
    for name in ("a.data", "b"):
        (batch,) = open_stream(tmp_path / name)
        assert (batch.X.numbers.tolist(), batch.y.tolist()) == ([[1]], [2])


# ---------------------------------------------------------------------------------------------------- columns, layout


@pytest.mark.parametrize("target, column", [(-1, 2), (0, 0), (-3, 0), ("b", 1), (np.int64(1), 1)])
def test_the_target_is_chosen_by_number_or_name(save, target, column):
    (batch,) = open_stream(save({"a": [1, 4], "b": [2, 5], "c": [3, 6]}), target=target)
    table = np.array([[1, 2, 3], [4, 5, 6]])
    assert_array_equal(batch.y, table[:, column])
    assert_array_equal(batch.X.numbers, np.delete(table, column, axis=1))
    assert batch.X.columns == [name for i, name in enumerate("abc") if i != column]


def test_a_stream_opened_alike_finds_its_columns(save):
    learned = open_stream(save({"a": [1], "w": ["u"], "b": [2], "kind": ["yes"]}, "first"))
    assert learned.layout() == {"columns": ["a", "w", "b"], "kinds": "ntn", "target": "kind", "target_kind": "t"}
    layout = learned.layout()
    (batch,) = open_stream(save({"b": [5], "w": [7], "more": [[1]], "a": [3]}, "second"), layout=layout)
    assert isinstance(batch.X, Table)
    assert batch.X.columns == ["a", "w", "b"]
    assert batch.X.numbers.tolist() == [[3, 5]]
    assert batch.X["w"].to_list() == ["7"]
    assert batch.y is None
    path = save({"kind": ["no"], "b": [5], "w": ["v"], "a": [3]}, "third")
    assert next(iter(open_stream(path, layout=layout))).y.tolist() == ["no"]
    assert next(iter(open_stream(path, layout=layout, target=None))).y is None


@pytest.mark.parametrize(
    "columns, options, message",
    [
        ({"a": [1], "b": [2]}, {"target": "c"}, "target='c', but no column has this name; the columns are a, b"),
        ({"a": [1], "b": [2]}, {"target": 2}, "target must be a column name or a number below 2, got 2"),
        ({"a": [1], "b": [2]}, {"target": True}, "target must be a column name or a number below 2, got True"),
        ({"a": [1], "b": [2]}, {"drop": ["c"]}, "drop='c', but no column has this name; the columns are a, b"),
        ({"a": [1], "b": [2]}, {"text_columns": [5]}, "text_columns must be a column name or a number below 2, got 5"),
        ({"a": [1], "b": [2]}, {"drop": ["b"]}, "drop must not hold the target 'b'"),
        ({"a": [1], "b": [2]}, {"drop": ["a"]}, "a target and at least one feature are needed"),
        ({"a": [1]}, {}, "a target and at least one feature are needed"),
        ({"a": [1], "b": [2]}, {"n_features": 2}, "n_features=2, but the file has 1 features"),
        (
            {"a": [[1, 2]], "b": [2]},
            {},
            r"column 'a' is of type list<\w+: int64>, which holds neither numbers, dates nor text; add it to drop",
        ),
        (
            {"a": [{"x": 1}], "b": [2]},
            {},
            r"column 'a' is of type struct<x: int64>, which holds neither numbers, dates nor text; add it to drop",
        ),
        (
            {"a": [b"x"], "b": [2]},
            {},
            "column 'a' is of type binary, which holds neither numbers, dates nor text; add it to drop",
        ),
        (
            {"a": [1], "b": [2]},
            {"layout": {"columns": ["a", "z"], "kinds": "nn", "target": None}},
            "the column 'z' that the model needs is missing",
        ),
        (
            {"a": ["u"], "b": [2]},
            {"layout": {"columns": ["a"], "kinds": "n", "target": "b"}},
            "the column 'a' holds text, but numbers are needed, as in the previous file",
        ),
    ],
)
def test_what_cannot_be_a_table_is_refused_in_one_sentence(tmp_path, columns, options, message):
    path = tmp_path / "data.parquet"
    pa.parquet.write_table(pa.table(columns), path)
    with pytest.raises(ValueError, match=rf"^data\.parquet: {message}\.$"):
        open_stream(path, **options)


def test_options_of_other_formats_are_refused(save):
    path = save({"a": [1], "b": [2]})
    with pytest.raises(ValueError, match=r"^open_stream: zero_based is for svmlight files\.$"):
        open_stream(path, zero_based=True)
    for layout in ({}, {"columns": ["a"]}, {"columns": ["a"], "kinds": "nn", "target": None}):
        with pytest.raises(ValueError, match=r"^open_stream: layout must be the layout\(\) of another stream"):
            open_stream(path, layout=layout)


def test_columns_that_cannot_be_read_may_be_dropped(save):
    path = save({"when": pa.array([0, 1], pa.timestamp("us")), "list": [[1], [2, 3]], "a": [1, 2], "y": ["u", "v"]})
    (batch,) = open_stream(path, drop=["when", 1])
    assert batch.X.columns == ["a"]
    assert batch.y.tolist() == ["u", "v"]


def test_columns_of_one_name_are_refused(tmp_path):
    table = pa.table([pa.array([1]), pa.array([2]), pa.array([3])], names=["a", "a", "y"])
    with pa.ipc.new_file(tmp_path / "a.arrow", table.schema) as writer:
        writer.write_table(table)
    with pytest.raises(ValueError, match=r"^a\.arrow: several columns have the same name\.$"):
        open_stream(tmp_path / "a.arrow")


# --------------------------------------------------------------------------------------------- rows that are not there


def test_empty_row_groups_and_batches_make_no_rows(tmp_path):
    rows = pa.table({"a": pa.array([1, 2, 3]), "y": pa.array(["u", "v", "w"])})
    parts = [rows[:0], rows[:2], rows[:0], rows[:0], rows[2:], rows[:0]]
    with pa.parquet.ParquetWriter(tmp_path / "a.parquet", rows.schema) as writer:
        for part in parts:
            writer.write_table(part)
    for name, open_writer in (("a.arrow", pa.ipc.new_file), ("b.arrow", pa.ipc.new_stream)):
        with open_writer(tmp_path / name, rows.schema) as writer:
            for part in parts:
                for chunk in part.to_batches() or [pa.record_batch([[], []], schema=rows.schema)]:
                    writer.write_batch(chunk)
    assert pa.parquet.ParquetFile(tmp_path / "a.parquet").num_row_groups == 6
    for name in ("a.parquet", "a.arrow", "b.arrow"):
        for batch_size in (1, 2, 3, 4):
            stream = open_stream(tmp_path / name, batch_size=batch_size)
            assert [y for batch in stream for y in batch.y] == ["u", "v", "w"]
            assert all(len(batch) > 0 for batch in stream)
            assert stream.bytes_read == stream.n_bytes


def test_a_file_without_rows_may_stand_between_others(save):
    schema = pa.schema({"a": pa.float64(), "w": pa.string(), "y": pa.int64()})
    files = [save(pa.table({"a": [1.0] * n, "w": ["u"] * n, "y": [n] * n}, schema=schema), str(n)) for n in (1, 0, 2)]
    stream = open_stream(files)
    assert [batch.y.tolist() for batch in stream] == [[1], [2, 2]]
    assert stream.bytes_read == stream.n_bytes
    assert list(open_stream(files[1])) == []
    stream = open_stream(files[::2] + files[1:2])
    assert len(list(stream)) == 2
    assert stream.bytes_read == stream.n_bytes


@pytest.mark.parametrize(
    "y, kind",
    [
        ([1.0] * 14 + [None], pa.float64()),
        ([1.0] * 14 + [np.nan], pa.float64()),
        (["u"] * 14 + [None], pa.string()),
        (["u"] * 14 + [""], pa.string()),
    ],
)
def test_a_missing_target_is_seen_as_such(save, y, kind):
    *whole, last = open_stream(save({"a": range(15), "y": pa.array(y, kind)}), batch_size=4)
    assert all(has_target(batch.y).all() for batch in whole)
    assert has_target(last.y).tolist() == [True, True, False]


def test_points_in_time_are_dates(save):
    when = pa.array([0, 86_400_000_000, None], pa.timestamp("us"))
    path = save({"a": [1, 2, 3], "when": when, "at": pa.array([0, 3600, None], pa.time32("s")), "y": [0, 1, 0]})
    stream = open_stream(path)
    assert stream.layout()["kinds"] == "ndn"
    (batch,) = stream
    assert batch.X.dates == ("when",)
    assert_array_equal(batch.X.numbers, [[1, 0, 0], [2, 1, 1], [3, np.nan, np.nan]])
    (again,) = open_stream(path, layout=stream.layout())
    assert_array_equal(again.X.numbers, batch.X.numbers)
    other = save({"a": [1], "when": ["monday"], "at": [3.5]}, "other")
    with pytest.raises(
        ValueError, match=r"the column 'when' holds text, but dates are needed, as in the previous file\.$"
    ):
        open_stream(other, layout=stream.layout())
    assert next(iter(open_stream(path, target="when"))).y.tolist()[:2] == [0, 1]


def test_what_is_not_finite_is_refused_by_row(save):
    path = save({"a": [0.0] * 10 + [np.inf], "y": [0] * 11})
    with pytest.raises(ValueError, match=rf"^{path.name}, row 11: 'a' must be finite\.$"):
        list(open_stream(path, batch_size=4))
    path = save({"a": [0.0] * 10 + [1e300], "y": [1e300] * 11})
    assert [len(batch) for batch in open_stream(path)] == [11]
    with pytest.raises(ValueError, match=rf"^{path.name}, row 11: 'a' must be finite\.$"):  # as float32 it is not
        list(open_stream(path, dtype=np.float32))


# ----------------------------------------------------------------------------------------------------------- damage


def test_without_pyarrow_it_is_asked_for(tmp_path, monkeypatch):
    for name in ("a.parquet", "a.arrow", "a.feather"):
        write(tmp_path / name, b"PAR1")
        monkeypatch.setitem(sys.modules, "pyarrow", None)
        message = rf'^{name}: (a parquet|an arrow) file needs pyarrow: pip install "thresher\[lab\]"\.$'
        with pytest.raises(ValueError, match=message):
            open_stream(tmp_path / name)


@pytest.mark.parametrize(
    "content", [b"", b"\0", b"PAR1", b"ARROW1", b"PAR1" + bytes(50) + b"PAR1", b"a,b\n1,2\n", b"x" * 1000]
)
@pytest.mark.parametrize("name", ["a.parquet", "a.arrow"])
def test_what_is_no_such_file_is_refused(tmp_path, name, content):
    with pytest.raises(ValueError, match=rf"^{name}: not a readable {name[2:]} file \([^\n]*\)\.$"):
        open_stream(write(tmp_path / name, content))


def test_a_file_cut_short_is_refused(save):
    path = save(read_csv(csv_text(50)))
    content = path.read_bytes()
    whole = all_bits(open_stream(path, batch_size=5))
    n_told = 0
    for cut in range(0, len(content), 41):
        write(path, content[:cut])
        batches: list = []
        try:
            batches.extend(open_stream(path, batch_size=5))
        except ValueError as refusal:
            n_told += re.fullmatch(rf"{path.name}: [^\n]+ \([^\n]+\)\.", str(refusal)) is not None
        else:  # a stream that is cut between two messages is a stream
            assert path.suffix == ".ipc"
            n_told += 1
        assert [b[:2] for b in all_bits(batches)] == [b[:2] for b in whole[: len(batches)]]
    assert n_told == len(range(0, len(content), 41))


def test_damage_is_refused_and_never_a_crash(tmp_path):
    """Thousands of damaged files, in a process of their own. Arrow itself trusts what it reads."""
    script = """if True:
        import pathlib, sys
        import numpy as np
        import pyarrow as pa, pyarrow.ipc, pyarrow.parquet
        from thresher.streams import has_target, open_stream
        words = pa.array(["alpha", "beta", None, "gamma"] * 25)
        rows = pa.table({"s": words, "d": words.dictionary_encode(), "x": np.arange(100.0), "y": ["a", "b"] * 50})
        rng = np.random.default_rng(0)
        told = 0
        for kind in ("parquet", "file", "stream"):
            path = pathlib.Path(sys.argv[1], "a.parquet" if kind == "parquet" else "a.arrow")
            if kind == "parquet":
                pa.parquet.write_table(rows, path, row_group_size=30, compression="none")
            else:
                with (pa.ipc.new_file if kind == "file" else pa.ipc.new_stream)(path, rows.schema) as writer:
                    writer.write_table(rows, 30)
            good = path.read_bytes()
            for _ in range(400):
                bad = bytearray(good)
                for place in rng.integers(len(bad), size=rng.integers(1, 4)):
                    bad[place] = rng.choice([0, 127, 128, 255, rng.integers(256)])
                path.write_bytes(bad)
                try:
                    for batch in open_stream(path, batch_size=40, prefetch=False):
                        [text.to_list() for text in batch.X.text.values()]
                except ValueError as refusal:
                    assert str(refusal).startswith(path.name) and str(refusal).endswith("."), refusal
                    told += 1
        print(told)
    """
    done = subprocess.run([sys.executable, "-c", script, tmp_path], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) > 500
