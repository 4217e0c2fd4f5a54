"""Data frames of any library: names kept and checked, dates and times by their types, the same rows as from pandas."""

from __future__ import annotations

import datetime
import subprocess
import sys
from inspect import signature

import duckdb
import narwhals
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.dataset
import pytest
from numpy.testing import assert_array_equal

from thresher import registry
from thresher.dual_averaging import GroupRDAClassifier
from thresher.online import AROWClassifier
from thresher.preprocessing import RunningScaler, StreamingPipeline, TableEncoder
from thresher.streams import Table
from variants import rows_for

FRAMES = {
    "polars": pl.from_pandas,
    "polars, lazy": lambda frame: pl.from_pandas(frame).lazy(),
    "pyarrow": pa.Table.from_pandas,
    "record batch": pa.RecordBatch.from_pandas,
    "narwhals": lambda frame: narwhals.from_native(pa.Table.from_pandas(frame)),
    "narwhals, of pandas": narwhals.from_native,
    "narwhals, lazy": lambda frame: narwhals.from_native(pl.from_pandas(frame).lazy()),
    "duckdb": lambda frame: duckdb.from_arrow(pa.Table.from_pandas(frame)),
    "reader": lambda frame: pa.Table.from_pandas(frame).to_reader(),
    "capsule": lambda frame: Capsule(pa.Table.from_pandas(frame)),
    "interchange": lambda frame: Interchange(pa.Table.from_pandas(frame)),
    "Table": Table.from_frame,
}


class Capsule:
    """A frame of which nothing is known but Arrow's C interface."""

    def __init__(self, table):
        self.table = table

    def __arrow_c_stream__(self, requested_schema=None):
        return self.table.__arrow_c_stream__(requested_schema)


class Interchange:
    """A frame that speaks the data frame interchange protocol alone."""

    def __init__(self, table):
        self.table = table

    def __dataframe__(self, nan_as_null=False, allow_copy=True):
        return self.table.__dataframe__(nan_as_null, allow_copy)


@pytest.fixture
def frame():
    X = np.random.default_rng(0).normal(size=(60, 3))
    return pd.DataFrame(X, columns=["age", "dose", "weight"])


@pytest.mark.parametrize("make", FRAMES.values(), ids=FRAMES)
def test_names_are_kept_and_checked_as_for_pandas(make, frame):
    y = (frame["age"] > 0).astype(int)
    model = AROWClassifier(random_state=0).fit(make(frame), y)
    same = AROWClassifier(random_state=0).fit(frame, y)
    assert model.feature_names_in_.tolist() == ["age", "dose", "weight"]
    assert_array_equal(model.coef_, same.coef_)
    assert_array_equal(model.predict(make(frame)), same.predict(frame))
    swapped = frame[["dose", "age", "weight"]]
    with pytest.raises(ValueError) as as_pandas:
        same.predict(swapped)
    with pytest.raises(ValueError, match="must be in the same order as they were in fit") as refusal:
        model.predict(make(swapped))
    assert str(refusal.value) == str(as_pandas.value)
    with pytest.raises(ValueError, match="unseen at fit time:\n- size"):
        model.partial_fit(make(frame.rename(columns={"dose": "size"})), y)


@pytest.mark.parametrize("name", registry.estimators())
def test_every_estimator_takes_a_pyarrow_table_for_a_frame(name):
    model = registry.estimators()[name]()
    if "tasks" in signature(model.fit).parameters:
        pytest.skip("needs a task for each row")
    X, y = rows_for(model)
    frame = pd.DataFrame(X, columns=[f"c{j}" for j in range(X.shape[1])])
    table = pa.Table.from_pandas(frame)
    model.fit(table, y)
    assert list(model.feature_names_in_) == table.column_names
    ask = getattr(model, "predict", None) or model.transform
    with pytest.raises(ValueError, match="same order as they were in fit"):
        ask(table.select(table.column_names[::-1]))


def test_groups_find_columns_of_a_table_by_name(frame):
    y = (frame["age"] > 0).astype(int)
    groups = {"body": ["age", "weight"], "drug": ["dose"]}
    fits = [
        GroupRDAClassifier(groups=groups, random_state=0).fit(make(frame), y)
        for make in (pd.DataFrame, FRAMES["pyarrow"])
    ]
    assert_array_equal(fits[0].coef_, fits[1].coef_)


@pytest.mark.parametrize("make", FRAMES.values(), ids=FRAMES)
def test_a_pipeline_finds_columns_by_name(make, frame):
    frame["town"] = np.where(frame["dose"] > 0, "Köln", "Gent")
    y = np.where(frame["dose"] > 0, "yes", "no")

    def pipeline():
        return StreamingPipeline([("e", TableEncoder()), ("s", RunningScaler()), ("m", AROWClassifier(random_state=0))])

    model, same = pipeline().fit(make(frame), y), pipeline().fit(frame, y)
    assert_array_equal(model[-1].coef_, same[-1].coef_)
    assert_array_equal(model.predict(make(frame[["town", "weight", "dose", "age"]])), y)
    batches = pipeline().partial_fit(make(frame), y, classes=["no", "yes"])
    assert_array_equal(batches.predict(make(frame)), y)


# ------------------------------------------------------------------------------------------------------ dates and times

MOMENTS = [datetime.datetime(2024, 2, 29, 18, 30), None, datetime.datetime(1969, 12, 31)]
DAYS = [19782 + 18.5 / 24, np.nan, -1]


@pytest.mark.parametrize(
    "column",
    [
        *(pd.Series(MOMENTS).astype(f"datetime64[{unit}]") for unit in ("s", "ms", "us", "ns")),
        pd.Series(MOMENTS).dt.tz_localize("UTC").dt.tz_convert("Asia/Tokyo"),
        pd.Series(MOMENTS, dtype=object),
        pd.Series([m and m.replace(tzinfo=datetime.UTC) for m in MOMENTS], dtype=object),
        pd.Series(MOMENTS).astype("timestamp[us][pyarrow]"),
        pl.Series(MOMENTS, dtype=pl.Datetime("ms")),
        pl.Series(MOMENTS, dtype=pl.Datetime("ns", "UTC")),
        *(pa.array(MOMENTS, pa.timestamp(unit)) for unit in ("s", "ms", "us", "ns")),
        pa.array(MOMENTS, pa.timestamp("us", "America/New_York")),
    ],
    ids=lambda column: f"{type(column).__module__.partition('.')[0]} {getattr(column, 'dtype', None)}",
)
def test_points_in_time_are_days_since_1970_in_utc(column):
    kind = {"pandas": pd.DataFrame, "polars": pl.DataFrame}.get(type(column).__module__.partition(".")[0], pa.table)
    table = Table.from_frame(kind({"n": [1, 2, 3], "when": column}))
    assert table.dates == ("when",)
    assert_array_equal(table["when"], DAYS)
    assert_array_equal(table["n"], [1, 2, 3])


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame, pa.table])
def test_dates_durations_and_times_of_day(make):
    table = Table.from_frame(
        make(
            {
                "day": [datetime.date(2024, 2, 29), None],
                "lasted": [datetime.timedelta(days=1, hours=12), None],
                "at": [datetime.time(18, 45), None],
            }
        )
    )
    assert table.dates == ("day",)
    assert_array_equal(table.numbers, [[19782, 1.5, 18.75], [np.nan] * 3])


def test_other_types_of_pandas_and_arrow():
    frame = pd.DataFrame(
        {
            "month": pd.period_range("2020-01", periods=2, freq="M"),
            "grade": pd.Categorical([3, None], categories=[1, 3]),
            "price": pd.array([1, None], dtype="Int64"),
            "town": pd.array(["Köln", None], dtype="string"),
            "old": np.array(["1970-01-03", "NaT"], dtype="datetime64[D]"),
        }
    )
    table = Table.from_frame(frame)
    assert table.dates == ("month", "old")
    assert_array_equal(table.numbers, [[18262, 1, 2], [18293, np.nan, np.nan]])
    assert (table["grade"].to_list(), table["town"].to_list()) == (["3", ""], ["Köln", ""])
    assert Table.from_frame(pa.table({"a": [2**60 + 1]}))["a"].tolist() == [float(2**60)]
    assert_array_equal(Table.from_frame(pa.table({"d": pa.array([86_400_000], pa.date64())}))["d"], [1])


def test_an_estimator_without_an_encoder_refuses_dates(frame):
    frame["when"] = pd.Timestamp("2024-01-01")
    for make in (FRAMES["pyarrow"], FRAMES["duckdb"]):
        with pytest.raises(TypeError, match=r"^column 'when' holds dates; encode it first"):
            AROWClassifier().fit(make(frame), np.arange(60) % 2)


def test_what_is_no_table_is_refused_in_one_sentence():
    with pytest.raises(ValueError, match=r"^Table: Capsule cannot be read as a table by pyarrow \(.*\)\.$"):
        Table.from_frame(Capsule(pa.chunked_array([[1, 2]])))


def test_pandas_needs_no_pyarrow():
    code = """if True:
        import sys
        sys.modules["pyarrow"] = None
        import pandas as pd
        from thresher.streams import Table
        frame = pd.DataFrame({"a": [1, 2], "t": ["x", None], "d": pd.to_datetime(["1970-01-02", None])})
        print(Table.from_frame(frame), Table.from_frame(frame)["t"].to_list())
        try:
            import polars
            Table.from_frame(polars.DataFrame({"t": ["x"]}))
        except ValueError as refusal:
            print(refusal)
        """
    printed = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert printed.splitlines() == [
        "Table(2 rows: a, t (text), d (date)) ['x', '']",
        'a DataFrame needs pyarrow: pip install "thresher[lab]".',
    ]
