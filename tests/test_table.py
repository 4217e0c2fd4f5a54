"""Tables and columns of text."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from thresher._gate._table import Table, Text

WORDS = ["Köln", "", "Gent", "x" * 50, "東京", "a b"]


@pytest.fixture
def table():
    numbers = np.array([[1.0, 2.0], [3.0, np.nan], [5.0, 6.0]])
    return Table(["a", "town", "b"], numbers, {"town": Text.from_list(["Köln", None, "Gent"])})


# ------------------------------------------------------------------------------------------------------------- text


@given(st.lists(st.text(st.characters(codec="utf-8"))), st.data())
def test_a_text_column_behaves_as_a_list_of_strings(values, data):
    column = Text.from_list(values)
    assert len(column) == len(values)
    assert column.to_list() == list(column) == values
    rows = data.draw(st.slices(len(values)))
    assert column[rows].to_list() == values[rows]
    assert column[rows][::-1].to_list() == values[rows][::-1]  # a slice of a slice
    if values:
        places = data.draw(st.lists(st.integers(-len(values), len(values) - 1)))
        assert column.take(places).to_list() == [values[place] for place in places]
        assert column[np.array(places, dtype=np.int64)] == column.take(places)
        mask = np.array(data.draw(st.lists(st.booleans(), min_size=len(values), max_size=len(values))))
        assert column[mask].to_list() == [value for value, kept in zip(values, mask, strict=True) if kept]
        assert column[-1] == values[-1]
        assert column[np.int64(0)] == values[0]
    parts = [column[rows], column, column[:0]]
    assert Text.concat(parts).to_list() == values[rows] + values


def test_slices_share_their_bytes():
    column = Text.from_list(WORDS)
    assert np.shares_memory(column[2:4].data, column.data)
    assert Text.concat([column]) is column


def test_what_is_no_utf8_is_replaced_and_shape_is_checked():
    column = Text(np.array([0, 2, 3]), np.frombuffer(b"a\xffb", np.uint8))
    assert column.to_list() == ["a\ufffd", "b"]
    assert Text.from_list(["\ud800"]).to_list() == ["?"]
    for offsets, data in (([0, 1], np.int8), ([], np.uint8)):
        with pytest.raises(ValueError, match="Text: offsets"):
            Text(np.array(offsets, dtype=np.int64), np.zeros(1, data))
    with pytest.raises(IndexError):
        column[2]
    with pytest.raises(IndexError, match="one entry per row"):
        column[np.array([True])]
    assert repr(Text.from_list(WORDS)) == "Text(['Köln', '', 'Gent', ...], n=6)"
    assert Text.from_list(["a"]) != Text.from_list(["b"])


# ------------------------------------------------------------------------------------------------------------ table


def test_columns_and_rows_of_a_table(table):
    assert table.shape == (3, 3)
    assert (len(table), table.ndim, table.number_names) == (3, 2, ["a", "b"])
    assert_array_equal(table["b"], [2, np.nan, 6])
    assert table["town"].to_list() == ["Köln", "", "Gent"]
    for rows in (slice(1, None), [1, 2], np.array([False, True, True]), slice(-2, None)):
        part = table[rows]
        assert part.columns == table.columns
        assert_array_equal(part.numbers, table.numbers[1:])
        assert part["town"].to_list() == ["", "Gent"]
    assert_array_equal(table[::-1].numbers, table.numbers[::-1])
    assert table.take([-1])["town"].to_list() == ["Gent"]
    again = Table.concat([table[:1], table[1:]])
    assert_array_equal(again.numbers, table.numbers)
    assert again.text == table.text
    chosen = table.select(["b", "town"])
    assert chosen.columns == ["b", "town"]
    assert_array_equal(chosen.numbers, table.numbers[:, 1:])
    assert repr(table) == "Table(3 rows: a, town (text), b)"


def test_only_a_table_of_numbers_is_an_array(table):
    numbers = table.select(["b", "a"])
    assert_array_equal(np.asarray(numbers), table.numbers[:, ::-1])
    assert np.asarray(numbers, dtype=np.float32).dtype == np.float32
    assert not np.shares_memory(np.array(numbers), numbers.numbers)
    with pytest.raises(
        TypeError, match=r"^column 'town' holds text; encode it first, with thresher.preprocessing.TableEncoder"
    ):
        np.asarray(table)


@pytest.mark.parametrize(
    "columns, numbers, text, message",
    [
        (["a", "a"], np.zeros((1, 2)), {}, "columns must have different names, got 'a' twice"),
        (["a"], np.zeros((1, 2)), {}, "do not fit 2 columns of numbers"),
        (["a"], np.zeros((1, 1)), {"b": Text.from_list(["x"])}, "do not fit"),
        (["a", "b"], np.zeros((2, 1)), {"b": Text.from_list(["x"])}, "equally long"),
        (["a"], np.zeros((1, 1), int), {}, "must be float64 or float32"),
        (["a"], np.zeros(1), {}, "of two dimensions"),
    ],
)
def test_parts_that_do_not_fit_are_refused(columns, numbers, text, message):
    with pytest.raises(ValueError, match=f"^Table: .*{message}"):
        Table(columns, numbers, text)


# ----------------------------------------------------------------------------------------------------------- frames


FRAMES = {
    "pandas": pd.DataFrame,
    "pandas dtypes": lambda data: pd.DataFrame(data).convert_dtypes(),
    "pandas category": lambda data: pd.DataFrame(data).astype({"t": "category"}),
    "polars": pl.DataFrame,
    "polars category": lambda data: pl.DataFrame(data, schema_overrides={"t": pl.Categorical}),
    "pyarrow": pa.table,
    "pyarrow dictionary": lambda data: pa.table(data | {"t": pa.array(data["t"]).dictionary_encode()}),
    "pyarrow chunks": lambda data: pa.concat_tables([pa.table(data).slice(0, 1), pa.table(data).slice(1)]),
}


@pytest.mark.parametrize("make", FRAMES.values(), ids=FRAMES)
def test_frames_of_other_libraries_become_tables(make):
    table = Table.from_frame(
        make({"n": [1, None, 3], "t": ["x", None, "ü"], "b": [True, False, None], "f": [0.5, 1.5, 2.5]})
    )
    assert table.columns == ["n", "t", "b", "f"]
    assert_array_equal(table.numbers, [[1, 1, 0.5], [np.nan, 0, 1.5], [3, np.nan, 2.5]])
    assert table.numbers.dtype == np.float64
    assert table["t"].to_list() == ["x", "", "ü"]


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame, pa.table])
def test_float32_columns_stay_float32(make):
    table = Table.from_frame(make({"a": np.ones(2, np.float32), "b": np.zeros(2, np.float32)}))
    assert table.numbers.dtype == np.float32


def test_mixed_objects_and_strange_names_of_pandas():
    frame = pd.DataFrame({0: [1, "two", None], "none": [None, None, None], "big": pd.Series([1, 2, 3], dtype=object)})
    table = Table.from_frame(frame)
    assert table.columns == ["0", "none", "big"]
    assert table["0"].to_list() == ["1", "two", ""]
    assert_array_equal(table.numbers, [[np.nan, 1], [np.nan, 2], [np.nan, 3]])
    assert Table.from_frame(frame[:0]).shape == (0, 3)


@pytest.mark.parametrize(
    ("make", "values"),
    [
        (pd.DataFrame, [[1], [2]]),
        (pl.DataFrame, [[1], [2]]),
        (pa.table, [[1], [2]]),
        (pd.DataFrame, [1j, 2j]),
    ],
)
def test_columns_of_anything_else_are_refused_by_name(make, values):
    with pytest.raises(ValueError, match=r"^Table: column 'when' must hold numbers, dates or text, got .*first\.$"):
        Table.from_frame(make({"when": values}))


def test_columns_of_one_name_are_refused():
    with pytest.raises(ValueError, match=r"^Table: columns must have different names, got 'a' twice.$"):
        Table.from_frame(pd.DataFrame([[1, 2]], columns=["a", "a"]))


def test_other_numbers_leave_columns_and_text_as_they_are():
    table = Table(["day", "t", "n"], np.ones((2, 2)), {"t": Text.from_list(["x", "y"])}, ["day"])
    made = table.with_numbers(np.arange(4.0).reshape(2, 2).T)
    assert (made.columns, made.number_names, made.dates) == (["day", "t", "n"], ["day", "n"], ())
    assert (made["n"].tolist(), made["t"].to_list(), made.numbers.flags.c_contiguous) == ([2.0, 3.0], ["x", "y"], True)
    assert (table.dates, table.numbers.sum()) == (("day",), 4)
    for numbers in (np.ones((2, 3)), np.ones((3, 2)), np.ones((2, 2), np.float32)):
        with pytest.raises(ValueError, match=r"^Table: numbers must be float64 of shape \(2, 2\), got float"):
            table.with_numbers(numbers)
