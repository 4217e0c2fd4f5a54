"""Dates become years since 2000, months, weekdays and hours."""

import datetime

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from thresher._gate import Table
from thresher.online import AROWClassifier
from thresher.persistence import load_model, save_model
from thresher.preprocessing import DateEncoder, prepared


def table(moments, **more):
    epoch = datetime.datetime(1970, 1, 1)
    days = [np.nan if m is None else (m - epoch) / datetime.timedelta(days=1) for m in moments]
    numbers = np.array([days, *more.values()], dtype=np.float64).T
    return Table(["when", *more], numbers, dates=["when"])


MOMENTS = [
    datetime.datetime(1969, 12, 31, 23),
    None,
    datetime.datetime(2024, 2, 29),
    datetime.datetime(2100, 5, 7, 6, 59),
]


def test_parts_are_those_of_the_calendar():
    made = DateEncoder().fit(table(MOMENTS)).transform(table(MOMENTS))
    known = [moment for moment in MOMENTS if moment is not None]
    assert made.columns == ["when", "when month", "when weekday", "when hour"]
    for part, shape in (("month", "%B"), ("weekday", "%A"), ("hour", "%H")):
        assert [word for word in made[f"when {part}"] if word] == [moment.strftime(shape) for moment in known]
        assert made[f"when {part}"][1] == ""
    years = [(moment - datetime.datetime(2000, 1, 1)).total_seconds() / 86400 / 365.2425 for moment in known]
    assert_allclose(made["when"][[0, 2, 3]], years, rtol=1e-12)
    assert np.isnan(made["when"][1])


def test_days_without_times_have_no_hours_and_other_columns_pass():
    rows = table([datetime.datetime(2020, 1, k) for k in (1, 2, 3)], price=[1.0, np.nan, 3.0])
    made = DateEncoder().fit(rows).transform(rows)
    assert made.columns == ["when", "when month", "when weekday", "price"]
    assert_array_equal(made["price"], [1, np.nan, 3])
    assert made.dates == ()


def test_columns_are_found_by_name_and_must_stay_dates():
    rows = table([datetime.datetime(2020, 1, 1)] * 2, price=[1.0, 2.0])
    encoder = DateEncoder().fit(rows)
    assert encoder.transform(rows.select(["price", "when"])).columns == encoder.get_feature_names_out().tolist()
    with pytest.raises(
        ValueError, match="DateEncoder: X must have the columns of the first rows, but 'when' is missing"
    ):
        encoder.transform(rows.select(["price"]))
    with pytest.raises(ValueError, match="DateEncoder: column 'when' held dates in the first rows"):
        encoder.transform(Table(rows.columns, rows.numbers))


def test_a_model_of_dates_is_saved_and_learns_the_season(tmp_path):
    rng = np.random.default_rng(0)
    days = np.datetime64("2015-01-01") + rng.integers(0, 3000, 600)
    frame = pd.DataFrame({"sold": days.astype("datetime64[ns]"), "price": rng.normal(size=600)})
    y = np.where(np.isin(frame["sold"].dt.month, (6, 7, 8)), "summer", "other")
    model = prepared(AROWClassifier(random_state=0), frame)
    assert [name for name, _ in model.steps] == ["dates", "scale", "encode", "learn"]
    model.fit(frame[:400], y[:400])
    assert model.score(frame[400:], y[400:]) > 0.97
    save_model(model, tmp_path / "m.thresher")
    assert_array_equal(load_model(tmp_path / "m.thresher").predict(frame), model.predict(frame))


def test_tables_of_dates_are_no_arrays():
    with pytest.raises(TypeError, match="column 'when' holds dates"):
        np.asarray(table(MOMENTS))
