"""The smallest change that changes an answer, against a search over all values."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from thresher._gate import Table, Text
from thresher.dual_averaging import L1RDARegressor
from thresher.inspection import smallest_change
from thresher.kernels import LSSVC
from thresher.online import AROWClassifier
from thresher.preprocessing import ColumnSplines, prepared


def rows(n=800):
    rng = np.random.default_rng(0)
    X = rng.uniform(0, 1, size=(n, 4)) * [1, 10, 1, 5]
    X[:, 3] = np.rint(X[:, 3])
    return X


def unit(column):
    return np.quantile(column, 0.9, method="nearest") - np.quantile(column, 0.1, method="nearest")


def test_a_linear_model_changes_at_its_border():
    X = rows()
    model = AROWClassifier(random_state=0).fit(X, X[:, 0] + 0.2 * X[:, 1] > 1.5)
    w, b = model.coef_[0], model.intercept_[0]
    for row in X[:40]:
        change = smallest_change(model, row, X)
        assert model.predict(change.row.numbers)[0] != model.predict(row[None])[0]
        if len(change.columns) > 1:
            continue
        exact = row - (row @ w + b) / w  # where each column alone meets the border
        possible = (exact >= X.min(axis=0)) & (exact <= X.max(axis=0))
        possible[3] = False  # whole numbers stay whole
        sizes = np.abs(exact - row) / [unit(column) for column in X.T]
        if "x4" not in change.columns:
            name = f"x{int(np.argmin(np.where(possible, sizes, np.inf))) + 1}"
            assert list(change.columns) == [name]
            then = change.columns[name][1]
            assert then == pytest.approx(exact[int(name[1]) - 1], rel=1e-6)
            assert change.size == pytest.approx(sizes[possible].min(), rel=1e-6)
        else:
            assert change.columns["x4"][1] == np.rint(change.columns["x4"][1])


def test_an_additive_model_changes_no_later_than_a_search_over_all_values():
    X = rows()
    model = prepared(AROWClassifier(random_state=0), X, splines=True).fit(X, (X[:, 0] - 0.5) ** 2 > 0.006 * X[:, 1])
    for row in X[:15]:
        change = smallest_change(model, row, X, max_columns=1)
        best = np.inf
        for j in range(4):
            grid = np.unique(X[:, 3]) if j == 3 else np.linspace(X[:, j].min(), X[:, j].max(), 3001)
            tried = np.repeat(row[None], len(grid), axis=0)
            tried[:, j] = grid
            other = model.predict(tried) != model.predict(row[None])[0]
            best = min([best, *(np.abs(grid[other] - row[j]) / unit(X[:, j]))])
        assert change is not None or best == np.inf
        assert change.size <= best + 1e-9
        assert change.size > best - 0.002  # a step of that search
        assert model.predict(change.row.numbers)[0] == change.after != change.before


def test_two_columns_change_where_one_is_not_enough():
    X = rows()
    model = AROWClassifier(random_state=0).fit(X, X[:, 0] + 0.1 * X[:, 1] + X[:, 2] > 2.2)
    row = np.array([0.1, 1.0, 0.1, 2.0])
    assert smallest_change(model, row, X, max_columns=1) is None
    change = smallest_change(model, row, X)
    assert len(change.columns) in (2, 3)
    assert model.predict(change.row.numbers)[0] != model.predict(row[None])[0]
    for name, (_, then) in change.columns.items():
        column = X[:, int(name[1]) - 1]
        assert column.min() <= then <= column.max()
    assert change.size < 3
    # with linear costs and linear gains it is best to use up the columns that gain most
    at_end = [np.isclose(then, X[:, int(name[1]) - 1].max()) for name, (_, then) in change.columns.items()]
    assert sum(at_end) >= len(at_end) - 1


def people(n=600):
    rng = np.random.default_rng(0)
    job, age = rng.integers(0, 3, n), rng.integers(20, 70, n).astype(float)
    jobs = Text.from_list(np.array(["cook", "clerk", "smith"])[job].tolist())
    return Table(["age", "job"], age[:, None], {"job": jobs}), np.where(job == 2, "yes", "no")


def test_a_category_becomes_another_one_that_is_known():
    X, y = people()
    model = prepared(AROWClassifier(random_state=0), X).fit(X, y)
    i = int(np.argmax(y == "no"))
    for data in (X, None):
        change = smallest_change(model, X[i : i + 1], data)
        assert change.columns == {"job": (X["job"][i], "smith")}
        assert (change.before, change.after, change.size) == ("no", "yes", 1.0)
    assert smallest_change(model, X[i : i + 1], X, keep=["job"]) is None


def test_several_classes_change_to_the_nearest():
    X = rows()
    model = prepared(AROWClassifier(random_state=0), X, splines=True).fit(X, np.digitize(X[:, 0], [0.4, 0.7]))
    for row in X[:10]:
        change = smallest_change(model, row, X)
        assert model.predict(change.row.numbers)[0] == change.after != change.before
        assert "x1" in change.columns


def test_pairs_and_kernels_are_verified_by_the_model_itself():
    X = rows(200)
    y = (X[:, 0] - 0.5) * (X[:, 2] - 0.5) > 0
    paired = prepared(AROWClassifier(random_state=0), X, splines=ColumnSplines(pairs=[(0, 2)])).fit(X, y)
    for model in (paired, LSSVC().fit(X, y)):
        for row in X[:5]:
            change = smallest_change(model, row, X)
            assert model.predict(change.row.numbers)[0] != model.predict(row[None])[0]


def test_a_missing_number_is_left_alone():
    X = rows()
    X[:30, 1] = np.nan
    model = prepared(AROWClassifier(random_state=0), X).fit(X, X[:, 0] > 0.5)
    change = smallest_change(model, X[0], X)
    assert list(change.columns) == ["x1"]


def test_what_is_refused():
    X = rows(100)
    model = AROWClassifier(random_state=0).fit(X, X[:, 0] > 0.5)
    with pytest.raises(ValueError, match="row must be one row, got 2"):
        smallest_change(model, X[:2], X)
    with pytest.raises(ValueError, match="keep must name columns of the row, got 'age'"):
        smallest_change(model, X[0], X, keep=["age"])
    with pytest.raises(ValueError, match="max_columns must be 1, 2 or 3, got 4"):
        smallest_change(model, X[0], X, max_columns=4)
    with pytest.raises(ValueError, match="data must be given"):
        smallest_change(model, X[0])
    with pytest.raises(ValueError, match="must be a classifier with scores, got L1RDARegressor"):
        smallest_change(L1RDARegressor().fit(X, X[:, 0]), X[0], X)


def test_rows_that_are_one_long_text_have_no_smallest_change():
    rng = np.random.default_rng(0)
    texts = [" ".join(rng.choice(["good", "bad", "fair", "poor", "fine"], 9)) + f" n{i}" for i in range(200)]
    X = pd.DataFrame({"text": texts})
    model = prepared(AROWClassifier(random_state=0), X).fit(X, ["bad" in text for text in texts])
    assert smallest_change(model, X[:1], X) is None


def test_dates_are_written_as_dates():
    rng = np.random.default_rng(0)
    days = rng.integers(18000, 20000, 300).astype(float)
    X = Table(["sold", "price"], np.stack([days, rng.normal(size=300)], axis=1), dates=["sold"])
    y = np.where(days > 19000, "late", "early")
    model = prepared(AROWClassifier(random_state=0), X).fit(X, y)
    change = smallest_change(model, X[:1], X)
    assert list(change.columns) == ["sold"]
    now, then = change.columns["sold"]
    assert now == str(np.datetime64("1970-01-01") + int(days[0]))
    assert (then > "2022-01-08") != (now > "2022-01-08")  # the day 19,000, or near it


def test_whole_numbers_and_days_stay_whole_over_a_wide_range():
    """Against a search over every whole number between the value and the end of the column."""
    rng = np.random.default_rng(0)
    days, count = rng.integers(15000, 20000, 300).astype(float), rng.integers(0, 40000, 300).astype(float)
    X = Table(["sold", "count"], np.stack([days, count], axis=1), dates=["sold"])
    y = np.where((days - 15000) / 5000 + count / 40000 + rng.normal(0, 0.05, 300) > 1, "late", "early")
    model = prepared(AROWClassifier(random_state=0), X).fit(X, y)
    (now,) = model.predict(X[:1])
    change = smallest_change(model, X[:1], X, keep=["sold"], max_columns=1)
    then = change.columns["count"][1]
    tried = np.arange(count.min(), count.max() + 1)
    other = tried[
        model.predict(Table(X.columns, np.stack([np.full_like(tried, days[0]), tried], 1), dates=["sold"])) != now
    ]
    assert then == other[np.argmin(np.abs(other - count[0]))]
    change = smallest_change(model, X[:1], X, keep=["count"], max_columns=1)
    assert "T" not in change.columns["sold"][1]  # no time of day where the column has none
